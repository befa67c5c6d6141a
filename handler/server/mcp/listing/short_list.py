"""The list of tools that an endpoint's catalog shortens: pinned tools, and the tools of the catalog."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from handler.bundle.tools import CatalogTool, only_reads
from handler.code_tools.catalog_search import Listed
from handler.list_entries.listed_sizes import BYTES_PER_TOKEN
from handler.list_entries.param_headers import ANNOTATION
from handler.strict_json import Entry

_IN_HEADERS = f'"{ANNOTATION}":'.encode()


def shortened(found: Sequence[Listed], catalog: CatalogTool) -> list[Listed]:
    """Return the entries of a caller, with those ``hidden`` that the catalog keeps from the list.

    ``found`` are all entries that the caller may use. If the catalog keeps nothing from the list, they stay as they
    are. Otherwise the tools of the catalog are listed, and the one for tools that write only if the caller has some.
    Tools with arguments that clients repeat in headers stay listed, because a call by name cannot repeat them.
    """
    if catalog.unlisted == "never" or (catalog.unlisted != "always" and _tokens(found) <= catalog.list_budget):
        return list(found)
    writes = any(not each.role and not each.pinned and not only_reads(each.entry) for each in found)
    roles = ("search", "call", "call-mutation") if writes else ("search", "call")
    return [replace(each, hidden=not (each.role in roles or _stays(each))) for each in found]


def _stays(listed: Listed) -> bool:
    return listed.pinned or (not listed.hidden and not listed.role and _IN_HEADERS in _json(listed))


def _tokens(found: Sequence[Listed]) -> int:
    return sum(len(_json(each)) for each in found if not each.hidden) // BYTES_PER_TOKEN


def _json(listed: Listed) -> bytes:
    return (listed.entry if isinstance(listed.entry, Entry) else Entry(listed.entry)).json
