"""The input schemas of prescribed tools as lists have them: within ``limits.max_schema_bytes``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from handler.bundle.listed_entry import MAX_WHOLE_BYTES, ListedEntries
from handler.bundle.tools import CompanionTool, GraphQLTool, PrescribedTool, Shortening
from handler.compiler.api_context import ApiContext
from handler.compiler.operations.kept_operations import KeptListing
from handler.compiler.tools.declaration import CompiledTool
from handler.graph.tool_entry import graphql_entry
from handler.json_schema.input_types import SharedTypes, plain
from handler.json_schema.shortening import schema_bytes, shorten_schema
from handler.policy.evaluation import Mask
from handler.policy.guarded_schema import GuardedSchemas


def with_listed_schemas(tools: Sequence[CompiledTool], context: ApiContext | None) -> Iterator[CompiledTool]:
    """Yield the tools of an API; the entries of those that run one operation are as callers are listed them.

    A schema of which parts are hidden from some callers stays whole: it is shortened for each caller, so that its size
    does not reveal hidden parts.
    """
    if context is not None:
        schemas = _Schemas(context, tools)
        for each in tools:
            yield schemas.listed(each, each.tool) if isinstance(each.tool, PrescribedTool) else each
        context.kept.save()


@dataclass(frozen=True)
class _Schemas:
    context: ApiContext
    tools: Sequence[CompiledTool]
    _types: dict[tuple[str, Mask], tuple[str, frozenset[str]]] = field(default_factory=dict)
    _entries: ListedEntries = field(default_factory=lambda: ListedEntries(GuardedSchemas()))
    _shared: SharedTypes = field(default_factory=SharedTypes)

    @cached_property
    def _graphql_tools(self) -> list[GraphQLTool]:
        tools = (each.tool for each in self.tools)
        return [tool for tool in tools if isinstance(tool, GraphQLTool) and not tool.options.hidden]

    def listed(self, compiled: CompiledTool, tool: PrescribedTool) -> CompiledTool:
        """Return a tool with the input schema that callers are listed."""
        config = self.context.endpoint.config
        limits, schema = config.schemas, tool.entry["inputSchema"]
        if not limits.max_schema_bytes:
            return replace(compiled, tool=replace(tool, entry={**tool.entry, "inputSchema": plain(schema)}))
        shown_by = self._ways_to_types(tool)
        rules = Shortening(max_bytes=limits.max_schema_bytes, recursive=limits.recursive, shown_by=shown_by)
        guarded = replace(tool, shortening=rules)
        kept = self.context.kept
        key = kept.key_of("listing", compiled.key, sorted(shown_by.items()))
        made = kept.use_or_make(key, KeptListing, lambda: self._listing(guarded))
        entry = {**tool.entry, "inputSchema": made.schema}
        sizes = {"inputSchema": made.whole_bytes} if schema_bytes(made.schema) < made.whole_bytes else {}
        compiled = replace(compiled, shortened_from={**compiled.shortened_from, **sizes})
        if tool.conditions:
            return replace(compiled, tool=guarded, listed=entry)
        return replace(compiled, tool=replace(tool, entry=entry, whole=made.whole))

    def _listing(self, tool: PrescribedTool) -> KeptListing:
        """Return the schemas of a tool with the rules of its listing."""
        schema, whole = tool.entry["inputSchema"], dict[str, Any]()
        listed = self._entries.listed(tool, tool.conditions)["inputSchema"]
        config = self.context.endpoint.config
        if config.catalog and not tool.conditions:
            recursive = config.schemas.recursive
            whole = shorten_schema(schema, max_bytes=MAX_WHOLE_BYTES, recursive=recursive, shared=self._shared)
        return KeptListing(
            schema=listed, whole={} if whole == listed else whole, whole_bytes=schema_bytes(plain(schema))
        )

    def _ways_to_types(self, tool: PrescribedTool) -> dict[str, tuple[str, ...]]:
        """Return the ways to see types of a tool's arguments that every caller of the tool has."""
        catalog, graphql_tools = self.context.endpoint.config.catalog, self._graphql_tools
        if not (catalog or graphql_tools):
            return {}
        names = set(self._shared.types_in(tool.entry["inputSchema"])[1])
        ways: dict[str, tuple[str, ...]] = {}
        mask = self.context.conditions.without_variables(tool.mask)
        for graphql in graphql_tools:
            if set(graphql.options.scopes) <= set(tool.options.scopes):
                way, types = self._types_of(graphql, mask)
                ways |= {way: tuple(sorted(names & types))} if names & types else {}
                names -= types
        if catalog and names and catalog.unlisted != "never":
            # Without the name of the tool: texts that are equal in all tools are stored once.
            ways[f"{catalog.name}, by the name of this tool"] = tuple(sorted(names))
        return ways

    def _types_of(self, tool: GraphQLTool, mask: Mask) -> tuple[str, frozenset[str]]:
        """Return the way to see types through a GraphQL tool, and those that all callers with a mask see."""
        key = (tool.name, mask)
        if key not in self._types:
            view = self.context.view_of(mask, tool.guards)
            entry, large = graphql_entry(tool.entry, view)
            companions = [each.tool for each in self.tools if isinstance(each.tool, CompanionTool)]
            describing = [each.name for each in companions if each.of == tool.name and each.does == "describe"]
            way = describing[0] if large and describing else f"__definitions in {tool.name}"
            self._types[key] = way, frozenset(view.members) if entry else frozenset()
        return self._types[key]
