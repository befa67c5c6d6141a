"""The catalog's search among the entries that a caller may use. Pure, because the function also calls it directly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from handler.cold.records import record
from handler.strict_json import JSONObject

SECTIONS = ("tools", "prompts", "resources", "resource_templates")
SEARCHED = ("name", "description", "uri", "uriTemplate")

Type = Literal["all", "tools", "prompts", "resources", "resource_templates"]


@record(frozen=True, slots=True, kw_only=True)
class Listed:
    """One entry; ``hidden`` if its list leaves it out, ``pinned`` if a catalog keeps it listed.

    A search reads ``aliases``, the further names of a tool, and does not show them. ``role`` is that of a tool of the
    catalog itself: see ``CatalogTool``.
    """

    entry: JSONObject
    hidden: bool = False
    pinned: bool = False
    role: str = ""
    aliases: tuple[str, ...] = ()


Sections = Mapping[str, Iterable[Listed]]
"""The entries that a caller may use, by ``SECTIONS``."""


def find_in_catalog(
    sections: Sections,
    *,
    type: Type = "all",  # noqa: A002 - the argument's name
    query: str | None = None,
    category: str | None = None,
    include_hidden: bool = True,
) -> JSONObject:
    """Return the matching entries by section, each with ``hidden`` and, for tools, ``category`` if it has one."""
    return {
        name: [
            _shown(listed, is_tool=name == "tools")
            for listed in sections.get(name, ())
            if (include_hidden or not listed.hidden) and _speaks_of(listed, query) and _is_of(listed.entry, category)
        ]
        for name in (SECTIONS if type == "all" else (type,))
    }


def _shown(listed: Listed, *, is_tool: bool) -> JSONObject:
    category = category_of(listed.entry) if is_tool else ""
    return {**listed.entry, **({"category": category} if category else {}), "hidden": listed.hidden}


def _speaks_of(listed: Listed, query: str | None) -> bool:
    texts = (*(str(listed.entry.get(name, "")) for name in SEARCHED), *listed.aliases)
    return not query or any(query.lower() in text.lower() for text in texts)


def _is_of(entry: JSONObject, category: str | None) -> bool:
    return not category or category_of(entry).lower() == category.lower()


def category_of(entry: JSONObject) -> str:
    """Return the category of a tool; empty if it has none."""
    return str(entry.get("_meta", {}).get("category", ""))
