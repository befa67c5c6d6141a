"""The answers that a model gets when it searches an endpoint, for one caller."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass

from handler.bundle.tools import CompanionTool, GraphQLTool
from handler.commands.local.callers import NamedCaller
from handler.commands.local.local_endpoint import local_endpoint, stored
from handler.commands.local.local_server import local_http, local_services
from handler.compiler.compile import Compiled
from handler.graph.view import View
from handler.list_entries import BYTES_PER_TOKEN
from handler.search.matches import Match
from handler.server.context import Caller
from handler.server.mcp.catalog import found_tools
from handler.server.mcp.jsonrpc import Request
from handler.server.mcp.method_call import Call
from handler.server.mcp.revisions import MODERN
from handler.server.mcp.tools_call import answer_of
from handler.server.mcp.tools_list import entry_for, list_entries, list_tools
from handler.strict_json import JSONObject, to_well_formed_json

MOST = 10
"""Matches of a question that count as found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaAnswer:
    """The answer about the schema of one GraphQL tool."""

    tool: str
    by: str  # the companion that answers so; empty if the tool shows its whole schema
    text: str
    matches: Sequence[Match]

    @property
    def tokens(self) -> int:
        """The size of the answer, about."""
        return len(self.text.encode()) // BYTES_PER_TOKEN


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsAnswer:
    """The answer of the catalog; of the one that the endpoint could have, if it has none."""

    by: str
    names: Sequence[str]
    text: str

    @property
    def tokens(self) -> int:
        """The size of the answer, about."""
        return len(self.text.encode()) // BYTES_PER_TOKEN


class Finder:
    """Searches an endpoint as its caller's model would."""

    def __init__(self, call: Call) -> None:
        self._call = call

    def in_schema(self, question: str) -> list[SchemaAnswer]:
        """Return an answer for each GraphQL tool that the caller may use."""
        return [self.about(tool, question) for tool in self.graphql_tools]

    @property
    def graphql_tools(self) -> list[GraphQLTool]:
        """The GraphQL tools that the caller may use."""
        tools = self._call.caller.endpoint.bundle.tools
        graphql = [tool for tool in tools if isinstance(tool, GraphQLTool)]
        return [tool for tool in graphql if asyncio.run(entry_for(self._call.caller, tool)) is not None]

    def views(self) -> list[View]:
        """Return what the caller may use through each GraphQL tool."""
        return [self._view(tool) for tool in self.graphql_tools]

    def among_tools(self, question: str) -> ToolsAnswer:
        """Return the tools that answer a question best."""
        catalog = self._call.caller.endpoint.catalog
        found = asyncio.run(found_tools(self._call, question, search=catalog.name if catalog else "catalog"))
        text = to_well_formed_json(found).decode()
        return ToolsAnswer(by=catalog.name if catalog else "", names=[each["name"] for each in found], text=text)

    def about(self, tool: GraphQLTool, question: str) -> SchemaAnswer:
        """Return the answer about the schema of one tool."""
        caller = self._call.caller
        matches = caller.endpoint.schema.search(tool, caller.evaluation).search(question, MOST)
        companion = self.companion_of(tool)
        text = answer_of(caller, tool, "search", {"question": question})
        return SchemaAnswer(tool=tool.name, by=companion.name if companion else "", text=text, matches=matches)

    def companion_of(self, tool: GraphQLTool) -> CompanionTool | None:
        """Return the companion that searches the schema of a tool; ``None`` if the tool shows it whole."""
        tools = self._call.caller.endpoint.bundle.tools
        found = (each for each in tools if isinstance(each, CompanionTool) and each.does == "search")
        return next((each for each in found if each.of == tool.name), None)

    @property
    def has_catalog(self) -> bool:
        """True if the endpoint has tools that find others."""
        return self._call.caller.endpoint.catalog is not None

    def root_fields(self, tool: GraphQLTool) -> list[str]:
        """Return the names of the root fields that the caller may use through a tool."""
        return [name for names in self._view(tool).root_fields().values() for name in names]

    def sdl_tokens(self, tool: GraphQLTool) -> int:
        """Return the size of the SDL that the caller may use through a tool, about."""
        caller = self._call.caller
        return len(caller.endpoint.schema.sdl(tool, caller.evaluation).encode()) // BYTES_PER_TOKEN

    def list_tokens(self) -> tuple[int, int]:
        """Return the size of the list with all tools that are not hidden, and as the catalog leaves it, about."""
        caller = self._call.caller
        whole = asyncio.run(list_entries(caller.endpoint, caller.evaluation, principal=caller.principal))
        return _tokens(whole), _tokens(asyncio.run(list_tools(self._call)))

    def _view(self, tool: GraphQLTool) -> View:
        caller = self._call.caller
        return caller.endpoint.schema.view(tool, caller.evaluation.outcome(tool.conditions))


def _tokens(entries: Sequence[JSONObject]) -> int:
    return sum(len(to_well_formed_json(each)) for each in entries) // BYTES_PER_TOKEN


@contextmanager
def finder_for(compiled: Compiled, caller: NamedCaller) -> Iterator[Finder]:
    """Give the search of one endpoint as one caller.

    Raises:
        UnknownCaller: the endpoint has no such caller.
        AccessError: the endpoint does not let the caller in.
        SettingsError: an environment variable that does not fit.
    """
    endpoint = local_endpoint(compiled)
    principal = caller.admitted(endpoint.bundle, now=time.time())
    with closing(local_http()) as http:
        services = local_services(stored(compiled), http, find=lambda _: compiled, development=True)
        evaluation = endpoint.evaluation_of(principal)
        one = Caller(endpoint=endpoint, principal=principal, evaluation=evaluation, services=services)
        request = Request(id=1, method="tools/call", params={}, revision=MODERN[0])
        yield Finder(Call(request=request, caller=one))
