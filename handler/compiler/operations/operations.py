"""The author's operations, read from files and validated against the schema."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from graphql import (
    DirectiveNode,
    DocumentNode,
    ExecutableDefinitionNode,
    GraphQLError,
    OperationDefinitionNode,
    OperationType,
    VariableDefinitionNode,
    parse,
    print_ast,
    separate_operations,
)

from handler.compiler.operations.normalize import Unused, sendable
from handler.compiler.operations.operation_files import operation_files
from handler.compiler.operations.validation import judge, warn_of_deprecations
from handler.compiler.problems import Place, Problems, place_of
from handler.compiler.schema.directives import BELONGS, ON_OPERATIONS, read_arguments
from handler.compiler.schema.rule_codes import code_of
from handler.compiler.schema.schema import AuthorSchema, ExecutableFile
from handler.compiler.schema.tool_options import AuthorOptions, read_options
from handler.compiler.source.files import EndpointFiles


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTool:
    """The arguments of ``@mcpTool``. Without a ``name``, the tool has the operation's."""

    name: str | None
    description: str | None
    options: AuthorOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorOperation:
    """One operation of the author."""

    name: str  # empty if anonymous
    kind: str  # query | mutation
    node: OperationDefinitionNode  # as written, without the variables that are not sent
    document: DocumentNode  # with its fragments, without descriptions and Stile's directives; empty: invalid
    text: str  # as sent: the file's own text if unchanged and its only operation, else printed
    optional_conditions: frozenset[str]  # variables whose null is sent as absent
    persisted: bool
    tool: McpTool | None
    descriptions: Mapping[str, str]  # variable -> its description

    @property
    def callable(self) -> bool:
        """Tell if a tool or a request can run the operation, so that its name is taken."""
        return self.persisted or self.tool is not None

    @property
    def bound(self) -> list[VariableDefinitionNode]:
        """Return the variables that ``@mcpBind`` fills. Models do not see them."""
        return [node for node in self.node.variable_definitions or () if _is_bound(node)]

    @property
    def filled_by_model(self) -> list[VariableDefinitionNode]:
        """Return the variables without ``@mcpBind``."""
        return [node for node in self.node.variable_definitions or () if not _is_bound(node)]

    @property
    def variables(self) -> list[str]:
        """Return the names of the variables that a model fills."""
        return [node.variable.name.value for node in self.filled_by_model]

    @property
    def description(self) -> str:
        """Return the description before the operation; empty string if there is none."""
        return self.node.description.value if self.node.description else ""


TOOL_ARGUMENT = "mcpToolArg"

TOO_MUCH = "it has too many errors, fields or fragments to be checked completely"


class _Sent(NamedTuple):
    """One operation as the API gets it."""

    document: DocumentNode = DocumentNode()
    text: str = ""
    optional_conditions: frozenset[str] = frozenset()
    unsent: frozenset[str] = frozenset()


NOTHING = _Sent()


@dataclass(frozen=True, slots=True, kw_only=True)
class PersistedDocument:
    """A file whose operations requests may run by the file's id: ``sha256:`` and the SHA-256 of its bytes.

    Source: IBM API Connect for GraphQL, "Executable documents"; GraphQL over HTTP, "Persisted Documents".
    """

    file: str
    id: str
    operations: tuple[str, ...]  # their names
    anonymous: AuthorOperation | None = None  # the file's only operation, if unnamed: the id alone calls it


@dataclass(frozen=True, slots=True, kw_only=True)
class Operations:
    """The content of the author's files of operations."""

    valid: tuple[AuthorOperation, ...]
    documents: tuple[PersistedDocument, ...]
    refused: frozenset[str]  # names of operations with errors, which are reported
    complete: bool  # False: a file could not be read, so there may be more


Refused = Callable[[DocumentNode, Problems], bool]


def _nothing_refused(_document: DocumentNode, _problems: Problems) -> bool:
    return False


def with_folder(
    executables: Iterable[ExecutableFile], files: EndpointFiles, folder: str, problems: Problems
) -> list[ExecutableFile]:
    """Add the files of ``folder``, each once. Persisted: files that an ``@sdl`` persists, or in the folder alone."""
    found: dict[str, ExecutableFile] = {}
    for one in executables:
        first = found.setdefault(one.name, one)
        found[one.name] = replace(first, persisted=first.persisted or one.persisted)
    for name in operation_files(files, folder, problems):
        found.setdefault(name, ExecutableFile(name=name, persisted=True, named_at=Place(name)))
    return list(found.values())


def read_operations(  # noqa: PLR0913 - files, their readers, and two options
    executables: Sequence[ExecutableFile],
    files: EndpointFiles,
    author: AuthorSchema,
    problems: Problems,
    *,
    refused: Refused = _nothing_refused,
    known: bool = False,
) -> Operations:
    """Read every operation of the files. If the schema is ``None``, only errors that need no schema are reported.

    ``known``: the API accepts only known texts, so a text changes as little as possible.
    ``refused`` reports the parts of a valid document that clients of the API do not have; true if there were any.
    """
    parsed = [(executable, _parse(executable, files, problems)) for executable in executables]
    found: list[AuthorOperation] = []
    deprecated: list[GraphQLError] = []
    judge_file = partial(
        _separate_if_valid, author=author, problems=problems, refused=refused, deprecated=deprecated, known=known
    )
    for executable, document in parsed:
        if document is not None:
            found += _operations(document, executable, judge_file(document, executable), problems)
    warn_of_deprecations(deprecated, problems)
    unique = _uniquely_named([operation for operation in found if operation.name], problems)
    anonymous = {place_of(operation.node).file: operation for operation in found if not operation.name}
    return Operations(
        valid=tuple(operation for operation in unique if operation.document.definitions),
        documents=tuple(
            PersistedDocument(
                file=executable.name,
                id=f"sha256:{files.sha256(executable.name)}",
                operations=_names(document),
                anonymous=anonymous.get(executable.name),
            )
            for executable, document in parsed
            if document and executable.persisted
        ),
        refused=frozenset(operation.name for operation in unique if not operation.document.definitions),
        complete=all(document for _, document in parsed),
    )


def _is_bound(node: VariableDefinitionNode) -> bool:
    return any(directive.name.value == "mcpBind" for directive in node.directives or ())


def _names(document: DocumentNode) -> tuple[str, ...]:
    """Return the names of a document's operations. The document's id alone calls an unnamed one."""
    nodes = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    return tuple(node.name.value for node in nodes if node.name)


def _parse(executable: ExecutableFile, files: EndpointFiles, problems: Problems) -> DocumentNode | None:
    source = files.source(executable.name, named_at=executable.named_at)
    if source is None:
        return None
    try:
        return parse(source, allow_empty_selection_sets=False)
    except GraphQLError as exc:
        problems.add(exc, exc.message, code="syntax-error")
    return None


def _operations(
    document: DocumentNode, executable: ExecutableFile, documents: Mapping[str, _Sent], problems: Problems
) -> Iterator[AuthorOperation]:
    nodes = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    if not nodes:
        problems.add(Place(executable.name), "it has no operation", code="no-operation")
    for node in nodes:
        if node.name is None and not _is_called_by_document(node, nodes, executable, problems):
            continue
        name = node.name.value if node.name else ""
        sent = documents.get(name, NOTHING)
        if node.operation is OperationType.SUBSCRIPTION:
            problems.add(node, f'"{name}" is a subscription: a tool is one request and one answer', code="subscription")
            sent = NOTHING
        if node.name or sent is not NOTHING:
            yield _operation(node, sent, executable, problems)


def _is_called_by_document(
    node: OperationDefinitionNode,
    nodes: Sequence[OperationDefinitionNode],
    executable: ExecutableFile,
    problems: Problems,
) -> bool:
    """Tell if requests may run an unnamed operation by its document's id alone; report it if not."""
    is_tool = any(directive.name.value == "mcpTool" for directive in node.directives or ())
    alone = executable.by_sdl and len(nodes) == 1 and not is_tool
    sentence = "an operation without a name cannot be called: name it"
    if not alone:
        problems.add(node, sentence, code="anonymous-operation")
    elif not executable.persisted:
        problems.warn(node, sentence, code="uncallable-operation")
    return alone and executable.persisted


def _separate_if_valid(  # noqa: PLR0913 - a file, its schema, and two outputs
    document: DocumentNode,
    executable: ExecutableFile,
    *,
    author: AuthorSchema,
    problems: Problems,
    refused: Refused,
    deprecated: list[GraphQLError],
    known: bool,
) -> dict[str, _Sent]:
    """Return operation -> its own document, for all operations of a file; empty if the file has an error.

    The deprecated coordinates that a valid file uses are added to ``deprecated``.
    """
    own = [node for node in document.definitions if isinstance(node, ExecutableDefinitionNode)]
    foreign = [node for node in document.definitions if not isinstance(node, ExecutableDefinitionNode)]
    for node in foreign:
        problems.add(node, "this is a type definition: expected operations and fragments", code="misplaced-definition")
    if author.schema is None:
        return {}
    try:
        sent = sendable(DocumentNode(definitions=tuple(own)), author.schema, problems, known=known)
    except RecursionError:  # fragments nested too deeply
        problems.add(Place(executable.name), TOO_MUCH, code="too-complex")
        return {}
    verdict = judge(sent.document, author.schema)
    for error in verdict.mistakes:
        _report(error, executable, author, problems)
    if verdict.mistakes or refused(sent.document, problems) or foreign:
        return {}
    deprecated += verdict.deprecated
    _tell_of_unused(sent.unused, own, problems)
    alone = separate_operations(sent.document)
    # A lone, unchanged operation is sent as its file's text, so that its digest is the file's.
    text = document.loc.source.body if document.loc and sent.unchanged and len(alone) == 1 else ""
    return {
        name: _Sent(each, text or print_ast(each), sent.optional_conditions[name], sent.unsent[name])
        for name, each in alone.items()
    }


def _tell_of_unused(unused: Iterable[Unused], nodes: Iterable[ExecutableDefinitionNode], problems: Problems) -> None:
    """Warn of unused variables. An unused bound variable is an error: its author relies on it."""
    operations = [node for node in nodes if isinstance(node, OperationDefinitionNode)]
    bound = {
        (node.name.value if node.name else "", each.variable.name.value)
        for node in operations
        for each in node.variable_definitions or ()
        if _is_bound(each)
    }
    for one in unused:
        if (one.operation, one.name) in bound:
            problems.add(
                one.node,
                f"${one.name} is bound, but the operation does not use it: use it or remove it",
                code="unused-binding",
            )
        else:
            problems.warn(one.node, one.sentence, code="unused-variable", about=[one.operation])


def _report(error: GraphQLError, executable: ExecutableFile, author: AuthorSchema, problems: Problems) -> None:
    if not error.nodes:  # validation gave up
        problems.add(Place(executable.name), TOO_MUCH, code="too-complex")
        return
    directive = next(iter(error.nodes))
    if isinstance(directive, DirectiveNode) and directive.name.value in BELONGS:
        name = directive.name.value
        hint = "; an operation becomes a tool with @mcpTool" if name == "tool" else ""
        problems.add(
            directive, f"@{name} is not allowed here: expected it on {BELONGS[name]}{hint}", code="misplaced-directive"
        )
    elif author.unclear.isdisjoint(re.findall(r"\w+", error.message)):
        problems.add(error, error.message, code=code_of(error))


def _operation(
    node: OperationDefinitionNode, sent: _Sent, executable: ExecutableFile, problems: Problems
) -> AuthorOperation:
    declared = [each for each in node.variable_definitions or () if each.variable.name.value not in sent.unsent]
    _refuse_misplaced(node, problems)
    texts = {each.variable.name.value: _described(each, problems) for each in node.variable_definitions or ()}
    return AuthorOperation(
        name=node.name.value if node.name else "",
        kind=node.operation.value,
        node=replace(node, variable_definitions=tuple(declared)),
        document=sent.document,
        text=sent.text,
        optional_conditions=sent.optional_conditions,
        persisted=executable.persisted,
        tool=_mcp_tool(node, problems),
        descriptions={name: text for name, text in texts.items() if text.strip() and name not in sent.unsent},
    )


def _refuse_misplaced(node: OperationDefinitionNode, problems: Problems) -> None:
    """Report misplaced directives of Stile. Validation reports those on fields and fragments."""
    for directive in node.directives or ():
        name = directive.name.value
        if name in ON_OPERATIONS and name != "mcpTool":
            expected = f"it on a variable, as in $id: ID! @{name}(...)"
            problems.add(
                directive,
                f"@{name} is on a {node.operation.value}: expected {expected}",
                code="misplaced-directive",
            )
    for variable in node.variable_definitions or ():
        for directive in variable.directives or ():
            if directive.name.value == "mcpTool":
                problems.add(
                    directive,
                    "@mcpTool is on a variable: expected it on a query or mutation",
                    code="misplaced-directive",
                )


def _described(variable: VariableDefinitionNode, problems: Problems) -> str:
    """Return ``@mcpToolArg``'s description of a variable, else the variable's own; empty string if both are blank.

    Source: Cosmo, ``@mcpToolArg``: "Directive location is VARIABLE_DEFINITION"; it is not repeatable.
    """
    directives = [directive for directive in variable.directives or () if directive.name.value == TOOL_ARGUMENT]
    for extra in directives[1:]:
        problems.add(extra, f"@{TOOL_ARGUMENT} may appear only once on a variable", code="repeated-directive")
    values = read_arguments(directives[0], problems) if directives else None
    texts = [values["description"] if values else "", variable.description.value if variable.description else ""]
    return next((text for text in texts if text.strip()), "")


def _mcp_tool(node: OperationDefinitionNode, problems: Problems) -> McpTool | None:
    directives = [directive for directive in node.directives or () if directive.name.value == "mcpTool"]
    for extra in directives[1:]:
        problems.add(extra, "@mcpTool may appear only once on an operation", code="repeated-directive")
    values = read_arguments(directives[0], problems) if directives else None
    if values is None:
        return None
    options = read_options(directives[0], values, problems)
    return McpTool(name=values.get("name"), description=values.get("description"), options=options)


def _uniquely_named(operations: Sequence[AuthorOperation], problems: Problems) -> list[AuthorOperation]:
    """Return one operation per name, callable ones first. Report a second callable one, or a second in one file."""
    first: dict[str, AuthorOperation] = {}
    for operation in sorted(operations, key=lambda operation: not operation.callable):
        other = first.setdefault(operation.name, operation)
        at = place_of(other.node)
        if other is not operation and (operation.callable or at.file == place_of(operation.node).file):
            problems.add(
                operation.node,
                f'an operation named "{operation.name}" is also defined at {at.file}:{at.line}:{at.column}',
                code="duplicate-operation",
            )
    return [operation for operation in operations if first[operation.name] is operation]
