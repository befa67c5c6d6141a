"""The input schemas of prescribed tools as lists have them: within ``limits.max_schema_bytes``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from handler.bundle.listed_entry import MAX_WHOLE_BYTES, ListedEntries
from handler.bundle.tools import CompanionTool, GraphQLTool, PrescribedTool, Shortening
from handler.compiler.api_context import ApiContext
from handler.compiler.tools.declaration import CompiledTool
from handler.graph.tool_entry import graphql_entry
from handler.json_schema.input_types import SharedTypes, plain
from handler.json_schema.shortening import shortened, size_of
from handler.policy.evaluation import Mask
from handler.policy.guarded_schema import GuardedSchemas


def with_listed_schemas(tools: Sequence[CompiledTool], context: ApiContext | None) -> Iterator[CompiledTool]:
    """Yield the tools of an API; the entries of those that run one operation are as callers are listed them.

    A schema of which parts are hidden from some callers stays whole: it is shortened for each caller, so that its size
    tells nobody of hidden parts.
    """
    if context is not None:
        schemas = _Schemas(context, tools)
        for each in tools:
            yield schemas.listed(each, each.tool) if isinstance(each.tool, PrescribedTool) else each


@dataclass(frozen=True)
class _Schemas:
    context: ApiContext
    tools: Sequence[CompiledTool]
    _types: dict[tuple[str, Mask], tuple[str, frozenset[str]]] = field(default_factory=dict)
    _entries: ListedEntries = field(default_factory=lambda: ListedEntries(GuardedSchemas()))
    _shared: SharedTypes = field(default_factory=SharedTypes)

    def listed(self, made: CompiledTool, tool: PrescribedTool) -> CompiledTool:
        """Return a tool with the input schema that callers are listed."""
        config = self.context.endpoint.config
        limits, schema = config.schemas, tool.entry["inputSchema"]
        if not limits.max_schema_bytes:
            return replace(made, tool=replace(tool, entry={**tool.entry, "inputSchema": plain(schema)}))
        shown_by = self._shown_by(tool)
        rules = Shortening(max_bytes=limits.max_schema_bytes, recursive=limits.recursive, shown_by=shown_by)
        guarded = replace(tool, shortening=rules)
        entry = self._entries.listed(guarded, tool.conditions)
        whole = size_of(plain(schema))
        sizes = {"inputSchema": whole} if size_of(entry["inputSchema"]) < whole else {}
        made = replace(made, shortened_from={**made.shortened_from, **sizes})
        if tool.conditions:
            return replace(made, tool=guarded, listed=entry)
        kept = (
            shortened(schema, max_bytes=MAX_WHOLE_BYTES, recursive=limits.recursive, shared=self._shared)
            if config.catalog
            else {}
        )
        kept = kept if kept != entry["inputSchema"] else {}
        return replace(made, tool=replace(tool, entry=entry, whole=kept))

    def _shown_by(self, tool: PrescribedTool) -> dict[str, tuple[str, ...]]:
        """Return the ways to see types of a tool's arguments that every caller of the tool has."""
        names = set(self._shared.types_in(tool.entry["inputSchema"])[1])
        found: dict[str, tuple[str, ...]] = {}
        mask = self._of_claims(tool.mask)
        for each in self.tools:
            if isinstance(each.tool, GraphQLTool) and _is_listed_beside(each.tool, tool):
                way, types = self._types_of(each.tool, mask)
                found |= {way: tuple(sorted(names & types))} if names & types else {}
                names -= types
        catalog = self.context.endpoint.config.catalog
        if catalog and names and catalog.unlisted != "never":
            # Without the name of the tool: texts that are equal in all tools are stored once.
            found[f"{catalog.name}, by the name of this tool"] = tuple(sorted(names))
        return found

    def _types_of(self, tool: GraphQLTool, mask: Mask) -> tuple[str, frozenset[str]]:
        """Return how callers who meet a mask see types through a GraphQL tool, and those that all of them see."""
        key = (tool.name, mask)
        if key not in self._types:
            view = self.context.view_of(mask, tool.guards)
            entry, large = graphql_entry(tool.entry, view)
            companions = [each.tool for each in self.tools if isinstance(each.tool, CompanionTool)]
            describing = [each.name for each in companions if each.of == tool.name and each.does == "describe"]
            way = describing[0] if large and describing else f"__definitions in {tool.name}"
            self._types[key] = way, frozenset(view.members) if entry else frozenset()
        return self._types[key]

    def _of_claims(self, mask: Mask) -> Mask:
        """Return the conditions of a mask that hold for each caller who is listed a tool with this mask."""
        conditions = tuple(self.context.conditions)
        return frozenset(number for number in mask if not _may_be_unknown(json.dumps(conditions[number])))


def _may_be_unknown(condition: str) -> bool:
    """Tell if a condition may depend on values of variables, which a list does not know."""
    return '"variables"' in condition or '"any"' in condition


def _is_listed_beside(graphql: GraphQLTool, tool: PrescribedTool) -> bool:
    return not graphql.options.hidden and set(graphql.options.scopes) <= set(tool.options.scopes)
