"""The author's schema, read from ``index.graphql`` and its included files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from graphql import (
    DefinitionNode,
    DirectiveNode,
    DocumentNode,
    ExecutableDefinitionNode,
    GraphQLError,
    GraphQLSchema,
    GraphQLSyntaxError,
    Lexer,
    SchemaDefinitionNode,
    SchemaExtensionNode,
    Source,
    Token,
    TokenKind,
    parse,
)
from graphql.language.block_string import dedent_block_string_lines
from graphql.language.parser import Parser

from handler.compiler.problems import Place, Problems, node_location
from handler.compiler.schema.directives import (
    ToolDirective,
    VisibilityPattern,
    argument_items,
    patterns_of,
    read_arguments,
    read_tool,
)
from handler.compiler.schema.merge import merge_definitions
from handler.compiler.schema.name_graph import reachable
from handler.compiler.schema.schema_building import build_schema_of, built_of
from handler.compiler.schema.schema_cache import LEAST_BYTES, HeldSchema, SchemaCache, key_of
from handler.compiler.schema.vendor_directives import (
    coordinates_of,
    declared_costs,
    forget_places,
    inaccessible,
    missing_definitions,
    types_named,
    without_foreign,
)
from handler.compiler.schema.visibility import hidden_by_patterns, schema_fields
from handler.compiler.source.files import ENTRY, EndpointFiles, Project, join
from handler.errors.authoring import Problem
from handler.strict_json import JSONObject


@dataclass(frozen=True, slots=True)
class ExecutableFile:
    """A file of operations that an ``@sdl`` names or that is in the folder of operations."""

    name: str
    persisted: bool
    named_at: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorSchema:
    """The content of the author's SDL files: the schema, ``@tool`` directives, and the files of operations."""

    schema: GraphQLSchema | None  # None: its errors, all reported, leave nothing to validate against
    unclear: frozenset[str]  # types that are incomplete because their definitions have errors
    tools: tuple[ToolDirective, ...]
    executables: tuple[ExecutableFile, ...]
    hidden: Mapping[str, str]  # coordinate hidden from clients of the API -> the directive that hides it
    costs: Mapping[str, JSONObject]  # coordinate of a type or field -> its cost entry for the schema index
    key: str = ""  # of the files' content, in the cache of schemas; empty without one


def read_schema(
    files: EndpointFiles, project: Project, *, problems: Problems, cache: SchemaCache | None = None
) -> AuthorSchema:
    """Read ``index.graphql`` and its included files. In StepZen's projects, StepZen's own types need no definition."""
    entry, stepzen = project.path(ENTRY), project.stepzen
    earlier = cache.find_schema(files, entry, stepzen=stepzen) if cache else None
    if earlier:
        problems.warn_again(earlier.warnings)
        author: AuthorSchema = earlier.author
        return author
    own = Problems()
    reader = _Reader(files, own)
    reader.include(entry, chain=(), named_at=None)
    is_large = reader.complete and sum(len(files.read(name) or "") for name in reader.names) >= LEAST_BYTES
    digests = {name: files.sha256(name) for name in sorted(reader.names)} if cache and is_large else {}
    key = key_of("schema", entry, stepzen, digests) if digests else ""
    for node in filter(lambda node: isinstance(node, ExecutableDefinitionNode), reader.definitions):
        sentence = "this is an operation: expected type definitions; operations belong in operations/"
        own.add(node, sentence, code="misplaced-operation")
    types = [node for node in reader.definitions if not isinstance(node, ExecutableDefinitionNode)]
    definitions = without_foreign(merge_definitions(types, own, stepzen=stepzen), own)
    # ``extend schema @tool(…)`` is empty without its directives.
    definitions = [
        node
        for node in definitions
        if not isinstance(node, SchemaExtensionNode) or node.directives or node.operation_types
    ]
    document = DocumentNode(definitions=(*definitions, *missing_definitions(definitions, stepzen=stepzen)))
    schema, unclear = _built(document, own, entry=Place(entry), complete=reader.complete, cache=cache, key=key)
    author = AuthorSchema(
        schema=schema,
        unclear=unclear,
        tools=tuple(reader.tools),
        executables=tuple(reader.executables),
        hidden=_hidden(reader, schema, own) if schema else {},
        costs=declared_costs(reader.definitions, own),
        key=key,
    )
    problems.take(own)
    forget_places(definitions)
    if cache and digests and schema and not own.errors:
        cache.keep_schema(entry, HeldSchema(author=author, warnings=own.warnings, digests=digests), stepzen=stepzen)
    return author


def _built(
    document: DocumentNode, problems: Problems, *, entry: Place, complete: bool, cache: SchemaCache | None, key: str
) -> tuple[GraphQLSchema | None, frozenset[str]]:
    """Build the schema as ``build_schema_of`` does, without a validation if an earlier one is kept."""
    earlier = cache.find(key) if cache and key else None
    if earlier is not None:
        problems.warn_again(Problem(**{**each, "about": tuple(each["about"])}) for each in json.loads(earlier))
        return built_of(document), frozenset()
    own = Problems()
    built = build_schema_of(document, own, entry=entry, complete=complete)
    problems.take(own)
    if cache and key and not own.errors:
        cache.keep(key, json.dumps([asdict(each) for each in own.warnings]).encode())
    return built


class _Reader:
    """Collector of the files' definitions and directives, depth first in the order of inclusion."""

    def __init__(self, files: EndpointFiles, problems: Problems) -> None:
        self._files = files
        self._problems = problems
        self.names: set[str] = set()  # of the files that were read
        self.complete = True  # False: part of the schema is missing, so validation would report false errors
        self.definitions: list[DefinitionNode] = []
        self.tools: list[ToolDirective] = []
        self.executables: list[ExecutableFile] = []
        self.includes: dict[str, list[str]] = {}  # file -> its included files
        # Each @sdl with patterns, and its included files.
        self.scopes: list[tuple[DirectiveNode, Sequence[VisibilityPattern], list[str]]] = []

    def include(self, name: str, *, chain: tuple[str, ...], named_at: Place | None) -> None:
        """Read one file and its included files. ``chain`` has the including files, outermost first."""
        if name in chain:
            cycle = " -> ".join((*chain, name))
            self._problems.add(named_at or Place(name), f"files include each other: {cycle}", code="include-cycle")
            return
        if name in self.names:
            return
        self.names.add(name)
        document = self._parse(name, named_at)
        if document is None:
            self.complete = False
            return
        self.definitions += document.definitions
        parts = (node for node in document.definitions if isinstance(node, SchemaDefinitionNode | SchemaExtensionNode))
        directives = [directive for part in parts for directive in part.directives or ()]
        tools = (read_tool(node, self._problems) for node in directives if node.name.value == "tool")
        self.tools += filter(None, tools)
        for sdl in (node for node in directives if node.name.value == "sdl"):
            values = read_arguments(sdl, self._problems)
            if values is None:
                self.complete = False
                continue
            for at, entry in zip(argument_items(sdl, "executables"), values["executables"], strict=False):
                file = join(name, entry["document"])
                self.executables.append(ExecutableFile(file, persisted=entry["persist"], named_at=node_location(at)))
            included = [join(name, each) for each in values["files"]]
            self.includes.setdefault(name, []).extend(included)
            patterns = patterns_of(sdl, "visibility", values)
            self.scopes += [(sdl, patterns, included)] if patterns else []
            for each, at in zip(included, argument_items(sdl, "files"), strict=False):
                self.include(each, chain=(*chain, name), named_at=node_location(at))

    def _parse(self, name: str, named_at: Place | None) -> DocumentNode | None:
        source = self._files.source(name, named_at=named_at)
        if source is None:
            return None
        try:
            return parse_sdl(source)
        except GraphQLError as exc:
            begin = source.body[:MAX_JSON_BEGIN].lstrip()
            if has_no_definition(source):
                self._problems.add(exc, "it is empty: expected type definitions", code="empty-file")
            elif begin.startswith("{") and '"__schema"' in begin:
                self._problems.add(Place(name, 1, 1), INTROSPECTION, code="syntax-error")
            else:
                self._problems.add(exc, syntax_fault(exc), code="syntax-error")
        return None


def _hidden(reader: _Reader, schema: GraphQLSchema, problems: Problems) -> dict[str, str]:
    """Return hidden coordinate -> its directive. Patterns apply to all files that their ``@sdl`` leads to.

    A field that one scope hides stays hidden, whatever outer scopes say. A built-in type, which has no definition,
    is in a scope unless a file outside the scope names the type.
    """
    hidden = dict.fromkeys(inaccessible(reader.definitions), "@inaccessible")
    if not reader.scopes:
        return hidden
    defined = {name for node in reader.definitions for name in coordinates_of(node)}
    fields = {f"{type_.name}.{name}": type_.name for type_, name, _ in schema_fields(schema)}
    undefined = {coordinate: name for coordinate, name in fields.items() if coordinate not in defined}
    for sdl, patterns, included in reader.scopes:
        if not included:
            sentence = "visibility applies to the files that this @sdl includes, and it includes none"
            problems.warn(sdl, sentence, code="visibility-without-files")
            continue
        files = reachable(included, reader.includes)
        own = [node for node in reader.definitions if node_location(node).file in files]
        within = {name for node in own for name in coordinates_of(node)}
        elsewhere = types_named(node for node in reader.definitions if node_location(node).file not in files)
        within |= {coordinate for coordinate, name in undefined.items() if name not in elsewhere}
        masks = hidden_by_patterns(schema, patterns, problems, within=within) or {}
        hidden |= dict.fromkeys(masks, "@sdl(visibility:)")
    return hidden


T = TypeVar("T")

INTROSPECTION = (
    "this is the JSON of an introspection: expected SDL; `stile init FOLDER/NAME --from FILE` makes an endpoint of it"
)
MAX_JSON_BEGIN = 1_000
"""The characters at the beginning of a file in which an introspection is found."""


def parse_sdl(source: Source) -> DocumentNode:
    """Parse a file of definitions: ``type A {}`` is ``type A``, and ``extend type A {}`` adds nothing.

    Raises:
        GraphQLError: the file has a syntax error.
    """
    try:
        return _SdlParser(source, lexer=SdlLexer(source)).parse_document()
    except RecursionError:
        return parse(source)  # raises a syntax error instead


def has_no_definition(source: Source) -> bool:
    """Return whether a file has comments and white space only."""
    try:
        return Lexer(source).advance().kind is TokenKind.EOF
    except GraphQLSyntaxError:
        return False


QUOTES, SPACES = "\u201c\u201d\u201e\u00ab\u00bb\u2018\u2019\u201a", "\u00a0\u2007\u202f\u3000"
"""Typographic characters, which word processors and web pages have in place of ``"`` and of a space."""


def syntax_fault(exc: GraphQLError) -> str:
    """Return the sentence of a syntax error, which names another language if the file is in one."""
    body = exc.source.body if exc.source else ""
    rest = body[next(iter(exc.positions or ()), len(body)) :]
    if rest and rest[0] in QUOTES + SPACES:
        instead = "a plain space" if rest[0] in SPACES else 'a straight "'
        return f"{rest[0]} is a typographic character (U+{ord(rest[0]):04X}): write {instead} in its place"
    if rest.startswith(("import ", "export ", "const ", "//", "/*")) and "`" in rest:
        return "this is JavaScript or TypeScript: expected GraphQL alone, which is the text between the backticks"
    return "this is HTML or XML: expected GraphQL" if body.lstrip().startswith("<") else exc.message


class SdlLexer(Lexer):
    """graphql-core's lexer, with a short way to usual descriptions."""

    def advance(self) -> Token:
        last, token = self.token, super().advance()
        last.next = token.prev = None  # links are cycles, so tokens would stay in memory
        return token

    def read_block_string(self, start: int) -> Token:
        begin, end = start + 3, self.source.body.find('"""', start + 3)
        text = self.source.body[begin:end]
        if end < 0 or not text.isascii() or "\\" in text or "\r" in text:
            return super().read_block_string(start)
        lines = text.split("\n")
        token = self.create_token(TokenKind.BLOCK_STRING, start, end + 3, "\n".join(dedent_block_string_lines(lines)))
        if len(lines) > 1:
            self.line, self.line_start = self.line + len(lines) - 1, end - len(lines[-1])
        return token


class _SdlParser(Parser):
    def optional_many(
        self, open_kind: TokenKind, parse_fn: Callable[[], T], close_kind: TokenKind
    ) -> tuple[T, ...] | None:
        if open_kind is not TokenKind.BRACE_L or not self.peek(open_kind):
            return super().optional_many(open_kind, parse_fn, close_kind)
        return self.any(open_kind, parse_fn, close_kind) or _NoMembers()


class _NoMembers(tuple[Any, ...]):
    """An empty tuple that is true: graphql-core's parser rejects an extension without members by truth value."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return True
