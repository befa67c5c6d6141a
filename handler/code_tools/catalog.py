"""The catalog: a tool that finds the entries of an endpoint that its caller may use, hidden entries included."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from handler.code_tools.catalog_search import Sections, Type, find_in_catalog
from handler.code_tools.context import Context, settled
from handler.code_tools.definition import ToolDefinition, define, tool

SectionsFor = Callable[[Context], Awaitable[Sections] | Sections]


def catalog_tool(sections_for: SectionsFor, *, name: str = "catalog", hidden: bool = True) -> ToolDefinition:
    """Return the catalog as a tool. ``sections_for`` gives the entries that a caller may use, and no others."""

    @tool(annotations={"read_only_hint": True})
    async def catalog(
        ctx: Context,
        type: Type = "all",  # noqa: A002 - the argument's name
        query: str | None = None,
        category: str | None = None,
        include_hidden: bool = True,  # noqa: FBT001, FBT002 - passed by name
    ) -> dict[str, Any]:
        """Find tools, prompts and resources, including those that lists leave out.

        Args:
            ctx: The request and its caller.
            type: The kind of entries to find.
            query: A text in the name, description or URI, ignoring case.
            category: The category of a tool, ignoring case.
            include_hidden: If false, entries that lists leave out are not found.
        """
        sections = await settled(sections_for(ctx))
        return find_in_catalog(sections, type=type, query=query, category=category, include_hidden=include_hidden)

    return define(catalog, {"name": name, "hidden": hidden})
