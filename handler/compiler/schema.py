from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from graphql import (
    ConstDirectiveNode,
    DefinitionNode,
    DocumentNode,
    ExecutableDefinitionNode,
    GraphQLError,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    SchemaDefinitionNode,
    SchemaExtensionNode,
    build_ast_schema,
    parse,
    validate_schema,
)
from graphql.validation.validate import validate_sdl

from handler.compiler.directives import SdlDirective, ToolDirective, read_includes, read_tools
from handler.compiler.files import ENTRY, EndpointFiles, join
from handler.compiler.foreign import coordinates_of, inaccessible, missing_definitions, without_foreign
from handler.compiler.merge import merge_definitions
from handler.compiler.problems import Place, Problems, place_of
from handler.compiler.questions import reachable
from handler.compiler.visibility import hidden_by_patterns


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutableFile:
    """A file of operations, which an ``@sdl`` names or which lies where such files are found."""

    name: str
    persisted: bool
    named_at: Place

    @property
    def by_sdl(self) -> bool:
        """Whether an author named it, and it was not found."""
        return self.named_at.file != self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorSchema:
    """What the author's SDL files say: the schema, its tools, and where operations stand."""

    schema: GraphQLSchema | None  # None: it has mistakes, which have been reported
    tools: tuple[ToolDirective, ...]
    executables: tuple[ExecutableFile, ...]
    hidden: Mapping[str, str]  # coordinates that no client of the API has, each with the directive that says so


def read_schema(files: EndpointFiles, problems: Problems, entry: str = ENTRY) -> AuthorSchema:
    """Read ``index.graphql`` and all that it includes."""
    reader = _Reader(files, problems)
    reader.include(entry, chain=(), named_at=None)
    schema = _build(reader.definitions, problems) if reader.complete else None
    return AuthorSchema(
        schema=schema,
        tools=tuple(reader.tools),
        executables=tuple(reader.executables),
        hidden=_hidden(reader, schema, problems) if schema else {},
    )


class _Reader:
    """Gathers what the files say, depth first in the order in which they are named."""

    def __init__(self, files: EndpointFiles, problems: Problems) -> None:
        self._files = files
        self._problems = problems
        self._seen: set[str] = set()
        self.complete = True  # False: a file is missing, and half a schema would bring false reports
        self.definitions: list[DefinitionNode] = []
        self.tools: list[ToolDirective] = []
        self.executables: list[ExecutableFile] = []
        self.includes: dict[str, list[str]] = {}  # file -> those that it names
        self.scopes: list[tuple[SdlDirective, list[str]]] = []  # with patterns, for the files that it names

    def include(self, name: str, *, chain: tuple[str, ...], named_at: Place | None) -> None:
        """Read one file and those it includes. ``chain`` are the files that led here."""
        if name in chain:
            cycle = " -> ".join((*chain, name))
            self._problems.add(named_at or Place(name), f"files include each other: {cycle}")
            return
        if name in self._seen:
            return
        self._seen.add(name)
        document = self._parse(name, named_at)
        if document is None:
            self.complete = False
            return
        directives = list(_schema_directives(document))
        self.tools += read_tools(directives, self._problems)
        self.definitions += document.definitions
        for sdl in read_includes(directives, self._problems):
            self.executables += _executables(name, sdl)
            included = [join(name, each) for each in sdl.files]
            self.includes.setdefault(name, []).extend(included)
            self.scopes += [(sdl, included)] if sdl.visibility else []
            for each in included:
                self.include(each, chain=(*chain, name), named_at=place_of(sdl.node))

    def _parse(self, name: str, named_at: Place | None) -> DocumentNode | None:
        source = self._files.source(name, named_at=named_at)
        if source is None:
            return None
        try:
            return parse(source)
        except GraphQLError as exc:
            self._problems.add(exc, exc.message)
        return None


def _schema_directives(document: DocumentNode) -> Iterator[ConstDirectiveNode]:
    for node in document.definitions:
        if isinstance(node, SchemaDefinitionNode | SchemaExtensionNode):
            yield from node.directives or ()


def _executables(including: str, sdl: SdlDirective) -> list[ExecutableFile]:
    at = place_of(sdl.node)
    return [
        ExecutableFile(name=join(including, name), persisted=persisted, named_at=at)
        for name, persisted in sdl.executables
    ]


def _hidden(reader: _Reader, schema: GraphQLSchema, problems: Problems) -> dict[str, str]:
    """What the API keeps to itself. Patterns judge what is defined in the files of their own ``@sdl``, and below those.

    A field that is hidden in one scope stays hidden, whatever the scopes around it say.
    """
    hidden = dict.fromkeys(inaccessible(reader.definitions), "@inaccessible")
    for sdl, included in reader.scopes:
        files = reachable(included, reader.includes)
        within = {name for node in reader.definitions if _file_of(node) in files for name in coordinates_of(node)}
        found = hidden_by_patterns(schema, sdl.visibility, problems, within=within) or {}
        hidden |= dict.fromkeys(found, "@sdl(visibility:)")
    return hidden


def _file_of(node: DefinitionNode) -> str:
    return place_of(node).file


def _build(definitions: Sequence[DefinitionNode], problems: Problems) -> GraphQLSchema | None:
    for node in definitions:
        if isinstance(node, ExecutableDefinitionNode):
            problems.add(node, "this is an operation: expected type definitions; operations belong in operations/")
    merged = merge_definitions(
        [node for node in definitions if not isinstance(node, ExecutableDefinitionNode)], problems
    )
    own = [node for node in without_foreign(merged, problems) if not _says_nothing(node)]
    document = DocumentNode(definitions=(*own, *missing_definitions(own)))
    errors = validate_sdl(document)
    for error in errors:
        problems.add(error, error.message)
    if errors:
        return None
    try:
        schema = build_ast_schema(document, assume_valid_sdl=True)
        faults = validate_schema(schema)
    except (GraphQLError, TypeError, RecursionError) as exc:
        problems.add(Place(ENTRY), f"this is no schema: {exc}")
        return None
    for fault in faults:
        # Published schemas of large APIs break the newest rules; their operations work all the same.
        problems.warn(fault, fault.message)
    if not _has_roots(schema, problems):
        return None
    return build_ast_schema(document, assume_valid=True, assume_valid_sdl=True) if faults else schema


def _has_roots(schema: GraphQLSchema, problems: Problems) -> bool:
    if schema.query_type is None:
        problems.add(Place(ENTRY), "the schema has no query type")
    roots: list[GraphQLNamedType | None] = [schema.query_type, schema.mutation_type, schema.subscription_type]
    wrong = [root for root in roots if root and not isinstance(root, GraphQLObjectType)]
    for root in wrong:
        at = root.ast_node or schema.ast_node or Place(ENTRY)
        problems.add(at, f'"{root.name}" is no object type, so no operation can start with it')
    return schema.query_type is not None and not wrong


def _says_nothing(node: DefinitionNode) -> bool:
    """Whether only directives that are not GraphQL's stood in it: ``extend schema @tool(…)`` once they are taken."""
    return isinstance(node, SchemaExtensionNode) and not (node.directives or node.operation_types)
