"""The catalog: a tool that finds what an endpoint has, hidden entries among them, as its caller may use it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from handler.bundle import JSONObject
from handler.tools.context import Context, settled
from handler.tools.decorator import tool
from handler.tools.definition import ToolDefinition, define

SECTIONS = ("tools", "prompts", "resources", "resource_templates")
SEARCHED = ("name", "description", "uri", "uriTemplate")

Type = Literal["all", "tools", "prompts", "resources", "resource_templates"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One entry of a list, and whether that list leaves it out."""

    entry: JSONObject
    hidden: bool = False


Sections = Mapping[str, Iterable[Listed]]
"""What a caller may use, by ``SECTIONS``."""

SectionsFor = Callable[[Context], Awaitable[Sections] | Sections]


def find_in_catalog(
    sections: Sections,
    *,
    type: Type = "all",  # noqa: A002 - what the argument is called
    query: str | None = None,
    category: str | None = None,
    include_hidden: bool = True,
) -> JSONObject:
    """The entries asked for, by section, each with ``hidden`` and, for tools, its ``category``."""
    return {
        name: [
            _shown(listed, is_tool=name == "tools")
            for listed in sections.get(name, ())
            if (include_hidden or not listed.hidden)
            and _speaks_of(listed.entry, query)
            and _is_of(listed.entry, category)
        ]
        for name in (SECTIONS if type == "all" else (type,))
    }


def _shown(listed: Listed, *, is_tool: bool) -> JSONObject:
    category = _category_of(listed.entry) if is_tool else ""
    return {**listed.entry, **({"category": category} if category else {}), "hidden": listed.hidden}


def _speaks_of(entry: JSONObject, query: str | None) -> bool:
    texts = (str(entry.get(name, "")).lower() for name in SEARCHED)
    return not query or any(query.lower() in text for text in texts)


def _is_of(entry: JSONObject, category: str | None) -> bool:
    return not category or _category_of(entry).lower() == category.lower()


def _category_of(entry: JSONObject) -> str:
    return str(entry.get("_meta", {}).get("category", ""))


def catalog_tool(sections_for: SectionsFor, *, name: str = "catalog", hidden: bool = True) -> ToolDefinition:
    """The catalog as a tool over what ``sections_for`` gives each caller: what that caller may use, and no more."""

    @tool(annotations={"read_only_hint": True})
    async def catalog(
        ctx: Context,
        type: Type = "all",  # noqa: A002 - what the argument is called
        query: str | None = None,
        category: str | None = None,
        include_hidden: bool = True,  # noqa: FBT001, FBT002 - it comes by name
    ) -> dict[str, Any]:
        """Find tools, prompts and resources, also those that lists leave out.

        Args:
            ctx: Who asks.
            type: What to find.
            query: A text in the name, description or URI, in either case.
            category: The category that a tool has, in either case.
            include_hidden: Whether to show what lists leave out.
        """
        sections = await settled(sections_for(ctx))
        return find_in_catalog(sections, type=type, query=query, category=category, include_hidden=include_hidden)

    return define(catalog, {"name": name, "hidden": hidden})
