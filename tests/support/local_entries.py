"""The ``tools/list`` entries of a compiled endpoint, without a server."""

from __future__ import annotations

import asyncio

from handler.commands.local.local_endpoint import local_endpoint
from handler.compiler.compile import Compiled
from handler.server.asgi.response_size import MAX_PAGE_BYTES
from handler.server.auth.principal import ANONYMOUS, DEVELOPMENT
from handler.server.mcp.tools_list import list_entries
from handler.strict_json import Entry, JSONObject


def listed_entries(compiled: Compiled) -> list[JSONObject]:
    """The entries that a caller who skips policies gets, which the budget may shorten."""
    entries = [Entry.of(each) for each in local_entries(compiled)]
    return list(local_endpoint(compiled).short_list(entries, MAX_PAGE_BYTES))


def local_entries(compiled: Compiled, *, unrestricted: bool = True) -> list[JSONObject]:
    """The entries for a caller who skips policies, or for an anonymous one."""
    endpoint = local_endpoint(compiled)
    principal = DEVELOPMENT if unrestricted else ANONYMOUS
    return asyncio.run(list_entries(endpoint, endpoint.evaluation_of(principal), principal=principal))
