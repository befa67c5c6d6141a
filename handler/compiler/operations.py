from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from graphql import (
    DocumentNode,
    ExecutableDefinitionNode,
    GraphQLEnumType,
    GraphQLError,
    GraphQLSchema,
    LoneAnonymousOperationRule,
    Node,
    NoDeprecatedCustomRule,
    NoUnusedVariablesRule,
    OperationDefinitionNode,
    OperationType,
    TypeInfo,
    TypeInfoVisitor,
    UniqueOperationNamesRule,
    Visitor,
    get_named_type,
    parse,
    separate_operations,
    specified_rules,
    validate,
    visit,
)
from graphql.language import ArgumentNode, EnumValueNode, FieldNode, ObjectFieldNode

from handler.compiler.directives import ON_OPERATIONS, read_arguments
from handler.compiler.files import EndpointFiles
from handler.compiler.problems import Place, Problems, place_of
from handler.compiler.schema import AuthorSchema, ExecutableFile
from handler.compiler.tool_options import AuthorOptions, read_options
from handler.graph.document import bare

OPERATIONS_FOLDER = "operations"

NAME_RULES = (LoneAnonymousOperationRule, UniqueOperationNamesRule)
"""Names are judged over all files, and an operation without one cannot be a tool."""

DOUBTS = (NoUnusedVariablesRule, NoDeprecatedCustomRule)
"""What may be published: the operation is as well as its upstream finds it."""

RULES = tuple(rule for rule in specified_rules if rule not in (*NAME_RULES, *DOUBTS))

NOTHING = DocumentNode()


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTool:
    """What ``@mcpTool`` on an operation says; without a name the operation's is taken."""

    name: str | None
    description: str | None
    options: AuthorOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorOperation:
    """One operation of the author's."""

    name: str
    kind: str  # query | mutation
    node: OperationDefinitionNode
    document: DocumentNode  # it and the fragments it uses, bare of descriptions and our directives; empty: refused
    persisted: bool
    tool: McpTool | None
    descriptions: Mapping[str, str]  # variable -> its description

    @property
    def callable(self) -> bool:
        """Whether its name is taken: a tool or a request can run it."""
        return self.persisted or self.tool is not None

    @property
    def variables(self) -> list[str]:
        """The names of its variables."""
        return [node.variable.name.value for node in self.node.variable_definitions or ()]

    @property
    def description(self) -> str:
        """The text before the operation."""
        return self.node.description.value if self.node.description else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersistedDocument:
    """A file whose operations may be asked for by the file's id: ``sha256:`` and the SHA-256 of its bytes.

    Source: IBM API Connect for GraphQL, "Executable documents"; GraphQL over HTTP, "Persisted Documents".
    """

    file: str
    id: str
    operations: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operations:
    """What the author's files of operations hold."""

    valid: tuple[AuthorOperation, ...]
    documents: tuple[PersistedDocument, ...]
    refused: frozenset[str]  # names of those with mistakes, which have been reported
    complete: bool  # False: a file could not be read, so there may be more


def with_folder(executables: Iterable[ExecutableFile], files: EndpointFiles, folder: str) -> list[ExecutableFile]:
    """Each file once, with those of ``folder``, which are read without being named. Persisted anywhere is persisted."""
    found: dict[str, ExecutableFile] = {}
    for one in executables:
        first = found.setdefault(one.name, one)
        found[one.name] = replace(first, persisted=first.persisted or one.persisted)
    for name in files.names(folder, "*.graphql"):
        found.setdefault(name, ExecutableFile(name=name, persisted=True, named_at=Place(name)))
    return list(found.values())


def read_operations(
    executables: Sequence[ExecutableFile], files: EndpointFiles, author: AuthorSchema, problems: Problems
) -> Operations:
    """Every operation of the files. Without a schema only what can be judged without one is reported."""
    parsed = [(executable, _parse(executable, files, problems)) for executable in executables]
    found: list[AuthorOperation] = []
    for executable, document in parsed:
        if document is not None:
            found += _operations(document, executable, author, problems)
    unique = _uniquely_named(found, problems)
    return Operations(
        valid=tuple(operation for operation in unique if operation.document.definitions),
        documents=tuple(
            PersistedDocument(
                file=executable.name, id=f"sha256:{files.sha256(executable.name)}", operations=_names(document)
            )
            for executable, document in parsed
            if document and executable.persisted
        ),
        refused=frozenset(operation.name for operation in unique if not operation.document.definitions),
        complete=all(document for _, document in parsed),
    )


def coordinates_used(document: DocumentNode, schema: GraphQLSchema) -> dict[str, Node]:
    """Every schema coordinate that a document uses (types, fields, arguments, input fields, enum values), with where.

    ``@skip`` and ``@include`` are ignored: what may be selected counts.
    """
    type_info = TypeInfo(schema)
    collector = _Coordinates(type_info)
    visit(document, TypeInfoVisitor(type_info, collector))
    return dict(sorted(collector.found.items()))


def _names(document: DocumentNode) -> tuple[str, ...]:
    """The names of a document's operations; one without a name is called by its document alone."""
    nodes = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    return tuple(node.name.value for node in nodes if node.name)


def _parse(executable: ExecutableFile, files: EndpointFiles, problems: Problems) -> DocumentNode | None:
    source = files.source(executable.name, named_at=executable.named_at)
    if source is None:
        return None
    try:
        return parse(source, allow_empty_selection_sets=False)
    except GraphQLError as exc:
        problems.add(exc, exc.message)
    return None


def _operations(
    document: DocumentNode, executable: ExecutableFile, author: AuthorSchema, problems: Problems
) -> Iterator[AuthorOperation]:
    nodes = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    if not nodes:
        problems.add(Place(executable.name), "it has no operation")
    documents = _separate_if_valid(document, executable, author, problems)
    for node in nodes:
        if node.name is None:
            # Requests may still run it by its document, where an @sdl names that.
            report = problems.warn if executable.by_sdl and len(nodes) == 1 else problems.add
            report(node, "an operation without a name cannot be called: name it")
            continue
        name, document = node.name.value, documents.get(node.name.value, NOTHING)
        if node.operation is OperationType.SUBSCRIPTION:
            problems.add(node, f'"{name}" is a subscription: a tool is one request and one answer')
            document = NOTHING
        yield _operation(node, document, executable, problems)


def _separate_if_valid(
    document: DocumentNode, executable: ExecutableFile, author: AuthorSchema, problems: Problems
) -> dict[str, DocumentNode]:
    """Operation -> its own document, for all of a file or, with a mistake anywhere in it, for none."""
    own = [node for node in document.definitions if isinstance(node, ExecutableDefinitionNode)]
    foreign = [node for node in document.definitions if not isinstance(node, ExecutableDefinitionNode)]
    for node in foreign:
        problems.add(node, "this is a type definition: expected operations and fragments")
    if author.schema is None:
        return {}
    stripped = bare(DocumentNode(definitions=tuple(own)), without_directives=ON_OPERATIONS)
    errors = validate(author.schema, stripped, rules=RULES)
    for error in errors:
        _report(error, executable, author, problems)
    if errors or _uses_hidden(stripped, author.hidden, author.schema, problems) or foreign:
        return {}
    for doubt in validate(author.schema, stripped, rules=DOUBTS):
        problems.warn(doubt if doubt.nodes else Place(executable.name), doubt.message)
    return separate_operations(stripped)


def _report(error: GraphQLError, executable: ExecutableFile, author: AuthorSchema, problems: Problems) -> None:
    if not error.nodes:  # validation gave up
        problems.add(Place(executable.name), "it has too many mistakes, fields or fragments to be judged to its end")
    elif author.unclear.isdisjoint(re.findall(r"\w+", error.message)):
        problems.add(error, error.message)


def _uses_hidden(document: DocumentNode, hidden: Mapping[str, str], schema: GraphQLSchema, problems: Problems) -> bool:
    """Whether it uses what the API keeps from its clients, which is reported: persisted operations are clients'."""
    used = {coordinate: at for coordinate, at in coordinates_used(document, schema).items() if coordinate in hidden}
    for coordinate, at in used.items():
        problems.add(at, f'"{coordinate}" cannot be used: {hidden[coordinate]} hides it')
    return bool(used)


def _operation(
    node: OperationDefinitionNode, document: DocumentNode, executable: ExecutableFile, problems: Problems
) -> AuthorOperation:
    descriptions: dict[str, str] = {}
    for variable in node.variable_definitions or ():
        texts = [variable.description.value] if variable.description else []
        for directive in variable.directives or ():
            values = read_arguments(directive, problems) if directive.name.value == "mcpToolArg" else None
            texts += [values["description"]] if values else []
        if texts:
            descriptions[variable.variable.name.value] = texts[-1]
    return AuthorOperation(
        name=node.name.value if node.name else "",
        kind=node.operation.value,
        node=node,
        document=document,
        persisted=executable.persisted,
        tool=_mcp_tool(node, problems),
        descriptions=descriptions,
    )


def _mcp_tool(node: OperationDefinitionNode, problems: Problems) -> McpTool | None:
    directives = [directive for directive in node.directives or () if directive.name.value == "mcpTool"]
    for extra in directives[1:]:
        problems.add(extra, "@mcpTool can stand on an operation once")
    values = read_arguments(directives[0], problems) if directives else None
    if values is None:
        return None
    options = read_options(directives[0], values, problems)
    return McpTool(name=values.get("name"), description=values.get("description"), options=options)


def _uniquely_named(operations: Sequence[AuthorOperation], problems: Problems) -> list[AuthorOperation]:
    """Those that a name stands for. Of files that are only validated, several may use the same one."""
    first: dict[str, AuthorOperation] = {}
    for operation in sorted(operations, key=lambda operation: not operation.callable):
        other = first.setdefault(operation.name, operation)
        at = place_of(other.node)
        if other is not operation and (operation.callable or at.file == place_of(operation.node).file):
            problems.add(
                operation.node,
                f'an operation named "{operation.name}" stands at {at.file}:{at.line}:{at.column} too',
            )
    return [operation for operation in operations if first[operation.name] is operation]


class _Coordinates(Visitor):
    def __init__(self, type_info: TypeInfo) -> None:
        super().__init__()
        self._types = type_info
        self.found: dict[str, Node] = {}  # with the first place of each

    def enter_field(self, node: FieldNode, *_: object) -> None:
        parent = self._types.get_parent_type()
        if parent:
            self.found.setdefault(parent.name, node)
        if parent and not node.name.value.startswith("__"):
            self.found.setdefault(f"{parent.name}.{node.name.value}", node)

    def enter_argument(self, node: ArgumentNode, *_: object) -> None:
        parent, field, directive = (
            self._types.get_parent_type(),
            self._types.get_field_def(),
            self._types.get_directive(),
        )
        if parent and field and directive is None and field.ast_node:
            self.found.setdefault(f"{parent.name}.{field.ast_node.name.value}({node.name.value}:)", node)

    def enter_object_field(self, node: ObjectFieldNode, *_: object) -> None:
        parent = get_named_type(self._types.get_parent_input_type())
        if parent:
            self.found.setdefault(f"{parent.name}.{node.name.value}", node)

    def enter_enum_value(self, node: EnumValueNode, *_: object) -> None:
        type_ = get_named_type(self._types.get_input_type())
        if isinstance(type_, GraphQLEnumType):
            self.found.setdefault(f"{type_.name}.{node.value}", node)
