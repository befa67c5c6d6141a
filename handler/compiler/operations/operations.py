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
    """What ``@mcpTool`` on an operation says; without a name the operation's is taken."""

    name: str | None
    description: str | None
    options: AuthorOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorOperation:
    """One operation of the author's."""

    name: str  # empty where it has none
    kind: str  # query | mutation
    node: OperationDefinitionNode  # as it was written, but for variables that are not sent
    document: DocumentNode  # it and the fragments it uses, bare of descriptions and our directives; empty: refused
    text: str  # what is sent: the author's own where nothing had to be taken out of it
    optional_conditions: frozenset[str]  # variables whose null is sent as if they were absent
    persisted: bool
    tool: McpTool | None
    descriptions: Mapping[str, str]  # variable -> its description

    @property
    def callable(self) -> bool:
        """Whether its name is taken: a tool or a request can run it."""
        return self.persisted or self.tool is not None

    @property
    def bound(self) -> list[VariableDefinitionNode]:
        """The variables that ``@mcpBind`` fills, and no model may see."""
        return [node for node in self.node.variable_definitions or () if _is_bound(node)]

    @property
    def filled_by_model(self) -> list[VariableDefinitionNode]:
        """The other ones."""
        return [node for node in self.node.variable_definitions or () if not _is_bound(node)]

    @property
    def variables(self) -> list[str]:
        """The names of the variables that a model fills."""
        return [node.variable.name.value for node in self.filled_by_model]

    @property
    def description(self) -> str:
        """The text before the operation."""
        return self.node.description.value if self.node.description else ""


TOOL_ARGUMENT = "mcpToolArg"

TOO_MUCH = "it has too many mistakes, fields or fragments to be judged to its end"


class _Sent(NamedTuple):
    """What is sent of one operation."""

    document: DocumentNode = DocumentNode()
    text: str = ""
    optional_conditions: frozenset[str] = frozenset()
    unsent: frozenset[str] = frozenset()


NOTHING = _Sent()


@dataclass(frozen=True, slots=True, kw_only=True)
class PersistedDocument:
    """A file whose operations may be asked for by the file's id: ``sha256:`` and the SHA-256 of its bytes.

    Source: IBM API Connect for GraphQL, "Executable documents"; GraphQL over HTTP, "Persisted Documents".
    """

    file: str
    id: str
    operations: tuple[str, ...]  # their names
    anonymous: AuthorOperation | None = None  # the only one, where it has no name: its document is enough to call it


@dataclass(frozen=True, slots=True, kw_only=True)
class Operations:
    """What the author's files of operations hold."""

    valid: tuple[AuthorOperation, ...]
    documents: tuple[PersistedDocument, ...]
    refused: frozenset[str]  # names of those with mistakes, which have been reported
    complete: bool  # False: a file could not be read, so there may be more


Refused = Callable[[DocumentNode, Problems], bool]


def _nothing_refused(_document: DocumentNode, _problems: Problems) -> bool:
    return False


def with_folder(
    executables: Iterable[ExecutableFile], files: EndpointFiles, folder: str, problems: Problems
) -> list[ExecutableFile]:
    """Each file once, with those of ``folder``, which are read without being named. Persisted anywhere is persisted."""
    found: dict[str, ExecutableFile] = {}
    for one in executables:
        first = found.setdefault(one.name, one)
        found[one.name] = replace(first, persisted=first.persisted or one.persisted)
    for name in operation_files(files, folder, problems):
        found.setdefault(name, ExecutableFile(name=name, persisted=True, named_at=Place(name)))
    return list(found.values())


def read_operations(  # noqa: PLR0913 - what is read, by what, and what is refused
    executables: Sequence[ExecutableFile],
    files: EndpointFiles,
    author: AuthorSchema,
    problems: Problems,
    *,
    refused: Refused = _nothing_refused,
    known: bool = False,
) -> Operations:
    """Every operation of the files. Without a schema only what can be judged without one is reported.

    ``known``: the API takes only texts that it knows, so what can stay of a text does.
    ``refused`` reports what of a valid document clients of the API do not have, and tells whether there was something.
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
    """Whether requests may run an operation without a name, by its document's id alone; the others are reported."""
    is_tool = any(directive.name.value == "mcpTool" for directive in node.directives or ())
    alone = executable.by_sdl and len(nodes) == 1 and not is_tool
    sentence = "an operation without a name cannot be called: name it"
    if not alone:
        problems.add(node, sentence, code="anonymous-operation")
    elif not executable.persisted:
        problems.warn(node, sentence, code="uncallable-operation")
    return alone and executable.persisted


def _separate_if_valid(  # noqa: PLR0913 - what is judged, by what, and where the findings go
    document: DocumentNode,
    executable: ExecutableFile,
    *,
    author: AuthorSchema,
    problems: Problems,
    refused: Refused,
    deprecated: list[GraphQLError],
    known: bool,
) -> dict[str, _Sent]:
    """Operation -> its own document, for all of a file or, with a mistake anywhere in it, for none.

    What a valid file uses that is deprecated is added to ``deprecated``.
    """
    own = [node for node in document.definitions if isinstance(node, ExecutableDefinitionNode)]
    foreign = [node for node in document.definitions if not isinstance(node, ExecutableDefinitionNode)]
    for node in foreign:
        problems.add(node, "this is a type definition: expected operations and fragments", code="misplaced-definition")
    if author.schema is None:
        return {}
    try:
        sent = sendable(DocumentNode(definitions=tuple(own)), author.schema, problems, known=known)
    except RecursionError:  # fragments in fragments without end
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
    # One operation that says what its file says is sent as the file is: so its digest is the file's.
    text = document.loc.source.body if document.loc and sent.unchanged and len(alone) == 1 else ""
    return {
        name: _Sent(each, text or print_ast(each), sent.optional_conditions[name], sent.unsent[name])
        for name, each in alone.items()
    }


def _tell_of_unused(unused: Iterable[Unused], nodes: Iterable[ExecutableDefinitionNode], problems: Problems) -> None:
    """Warn of variables that an operation does not use. One that is bound is a mistake: its author relies on it."""
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
                f"${one.name} is bound and stands nowhere in the operation: use it, or remove it",
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
            directive, f"@{name} cannot stand here: expected it on {BELONGS[name]}{hint}", code="misplaced-directive"
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
    """Report Stile's directives where nothing reads them. Validation reports those of fields and fragments."""
    for directive in node.directives or ():
        name = directive.name.value
        if name in ON_OPERATIONS and name != "mcpTool":
            expected = f"a variable, as in $id: ID! @{name}(...)"
            problems.add(
                directive,
                f"@{name} stands on a {node.operation.value}: expected {expected}",
                code="misplaced-directive",
            )
    for variable in node.variable_definitions or ():
        for directive in variable.directives or ():
            if directive.name.value == "mcpTool":
                problems.add(
                    directive, "@mcpTool stands on a variable: expected a query or mutation", code="misplaced-directive"
                )


def _described(variable: VariableDefinitionNode, problems: Problems) -> str:
    """The description of a variable: that of ``@mcpToolArg`` before its own, and a blank one last.

    Source: Cosmo, ``@mcpToolArg``: "Directive location is VARIABLE_DEFINITION"; it is not repeatable.
    """
    directives = [directive for directive in variable.directives or () if directive.name.value == TOOL_ARGUMENT]
    for extra in directives[1:]:
        problems.add(extra, f"@{TOOL_ARGUMENT} can stand on a variable once", code="repeated-directive")
    values = read_arguments(directives[0], problems) if directives else None
    texts = [values["description"] if values else "", variable.description.value if variable.description else ""]
    return next((text for text in texts if text.strip()), "")


def _mcp_tool(node: OperationDefinitionNode, problems: Problems) -> McpTool | None:
    directives = [directive for directive in node.directives or () if directive.name.value == "mcpTool"]
    for extra in directives[1:]:
        problems.add(extra, "@mcpTool can stand on an operation once", code="repeated-directive")
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
                code="duplicate-operation",
            )
    return [operation for operation in operations if first[operation.name] is operation]
