"""The list of tools that an endpoint's catalog shortens: pinned tools, and the tools of the catalog."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from handler.bundle.tools import CatalogTool, only_reads
from handler.code_tools.catalog_search import Listed
from handler.listed_sizes import BYTES_PER_TOKEN
from handler.strict_json import Entry


def shortened(found: Sequence[Listed], catalog: CatalogTool) -> list[Listed]:
    """Return the entries of a caller, with those ``hidden`` that the catalog keeps from the list.

    ``found`` are all entries that the caller may use. If the catalog keeps nothing from the list, they stay as they
    are. Otherwise the tools of the catalog are listed, and the one for tools that write only if the caller has some.
    """
    if catalog.unlisted != "always" and _tokens(found) <= catalog.list_budget:
        return list(found)
    writes = any(not each.role and not each.pinned and not only_reads(each.entry) for each in found)
    roles = ("search", "call", "call-mutation") if writes else ("search", "call")
    return [replace(each, hidden=not (each.pinned or each.role in roles)) for each in found]


def _tokens(found: Sequence[Listed]) -> int:
    listed = (each.entry for each in found if not each.hidden)
    sizes = (len((each if isinstance(each, Entry) else Entry(each)).json) for each in listed)
    return sum(sizes) // BYTES_PER_TOKEN
