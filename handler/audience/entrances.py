"""The entrances of an endpoint: the tools and GraphQL operations through which callers reach its API."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from handler.bundle.operations import PersistedOperation
from handler.bundle.tools import CodeTool, GraphQLTool, PrescribedTool, Tool
from handler.compiler.compile import Compiled
from handler.compiler.operations.author_operations import AuthorOperation
from handler.compiler.problems import Place, where
from handler.compiler.tools.declarations.declaration import CompiledTool

OWN_GRAPHQL = "/graphql"
"""The name of the endpoint's own GraphQL route among the entrances."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrance:
    """A tool, the GraphQL route for any document, or a persisted operation at this route.

    An entrance has at most one of ``tool`` and ``persisted``; the GraphQL route has neither.
    """

    name: str
    kind: str  # graphql | prescribed | code | catalog | route | persisted
    place: Place | None = None
    tool: Tool | None = None
    made: CompiledTool | None = None
    persisted: PersistedOperation | None = None
    author: AuthorOperation | None = None

    @property
    def view_of(self) -> GraphQLTool | None:
        """The GraphQL tool whose view holds behind the entrance; ``None``: the view of the whole endpoint."""
        return self.tool if isinstance(self.tool, GraphQLTool) else None

    @property
    def scopes(self) -> Sequence[str]:
        """The scopes that callers need."""
        if self.persisted is not None:
            return self.persisted.scopes
        return self.tool.options.scopes if self.tool else ()

    @property
    def takes_documents(self) -> bool:
        """True if callers write documents themselves."""
        return self.kind in ("graphql", "route")

    @property
    def fixed(self) -> PrescribedTool | PersistedOperation | None:
        """The operation of the author that runs behind the entrance, if any."""
        return self.tool if isinstance(self.tool, PrescribedTool) else self.persisted


def entrances_of(compiled: Compiled) -> Iterator[Entrance]:
    """Yield the tools in the bundle's order, then the GraphQL route and the persisted operations that it runs."""
    for made in compiled.made:
        yield Entrance(
            name=made.tool.name,
            kind=made.tool.KIND,
            place=where(made.at),
            tool=made.tool,
            made=made,
            author=made.operation,
        )
    graphql = compiled.bundle.graphql
    if graphql.mode == "on":
        yield Entrance(name=OWN_GRAPHQL, kind="route")
    if graphql.mode == "off":
        return
    known = {each.name: each for each in compiled.operations}
    named = {
        persisted.operation.name or document.id: (document.id, persisted)
        for document in graphql.documents
        for persisted in document.operations
    }
    files = {document.id: document for document in compiled.documents}
    for name, (id_, persisted) in named.items():
        author = known.get(persisted.operation.name) or files[id_].anonymous
        yield Entrance(
            name=f"{OWN_GRAPHQL} {name}",
            kind="persisted",
            place=where(author.node) if author else None,
            persisted=persisted,
            author=author,
        )


def asks_for_its_caller(entrance: Entrance) -> bool:
    """Tell if an entrance runs code of the author, which may ask the API for all that its caller may."""
    return isinstance(entrance.tool, CodeTool)
