"""The tokens that a model reads of an endpoint: of the list, of a search, and of the SDL that searches replace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from handler.bundle.tools import GraphQLTool
from handler.commands.finding.model_answers import Finder, finder_for
from handler.commands.local.callers import SKIPS_POLICIES
from handler.compiler.compile import Compiled
from handler.search.words import split

MAX_SEARCHES = 10
"""Searches of which the median is typical."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaCosts:
    """A GraphQL tool with companions: the tokens of its SDL, and of a typical answer of its search."""

    tool: str
    sdl: int
    search: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingCosts:
    """Tokens, about, for a caller who may everything."""

    all_tools: int  # the list of all tools that are not hidden
    listed: int  # the list as the catalog leaves it
    catalog_search: int | None  # ``None``: there is no catalog
    schemas: tuple[SchemaCosts, ...]

    def plain(self) -> dict[str, Any]:
        """Return the member of a report."""
        return {
            "allTools": self.all_tools,
            "listed": self.listed,
            "catalogSearch": self.catalog_search,
            "schemas": [{"tool": each.tool, "sdl": each.sdl, "search": each.search} for each in self.schemas],
        }

    def sentences(self) -> list[str]:
        """Return a sentence for the catalog and for each schema that a model searches."""
        found = []
        if self.catalog_search is not None:
            shorter = f"of about {self.all_tools} tokens with all tools" if self.listed < self.all_tools else "whole"
            found.append(
                f"Catalog: the list takes about {self.listed} tokens ({shorter}), a search about {self.catalog_search}."
            )
        found += [
            f"Search of {each.tool}: about {each.search} tokens, for a schema of about {each.sdl}."
            for each in self.schemas
        ]
        return found


def reading_costs(compiled: Compiled) -> ReadingCosts | None:
    """Return the tokens that models read of an endpoint; ``None`` if it has neither a catalog nor companions."""
    with finder_for(compiled, SKIPS_POLICIES) as finder:
        searched = [tool for tool in finder.graphql_tools if finder.companion_of(tool)]
        if not searched and not finder.has_catalog:
            return None
        all_tools, listed = finder.list_tokens()
        return ReadingCosts(
            all_tools=all_tools,
            listed=listed,
            catalog_search=_search_among_tools(finder, compiled) if finder.has_catalog else None,
            schemas=tuple(_schema_costs(finder, tool) for tool in searched),
        )


def _search_among_tools(finder: Finder, compiled: Compiled) -> int:
    """Search for the words of tools' names."""
    return _median(finder.among_tools(each).tokens for each in _some([tool.name for tool in compiled.bundle.tools]))


def _schema_costs(finder: Finder, tool: GraphQLTool) -> SchemaCosts:
    """Search for the words of root fields: a typical question is about one of them."""
    searches = _median(finder.about(tool, each).tokens for each in _some(finder.root_fields(tool)))
    return SchemaCosts(tool=tool.name, sdl=finder.sdl_tokens(tool), search=searches)


def _some(names: Sequence[str]) -> list[str]:
    """Return the words of some names, taken evenly from all of them."""
    step = max(1, len(names) // MAX_SEARCHES)
    return [" ".join(split(name)) for name in names[::step][:MAX_SEARCHES]]


def _median(values: Iterable[int]) -> int:
    return round(median(values))
