"""Read the author's operations from all their sources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

from graphql import (
    DirectiveNode,
    DocumentNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    Node,
    OperationDefinitionNode,
    OperationType,
    VariableDefinitionNode,
    parse,
    print_ast,
)

from handler.compiler.compile_context import CompileContext
from handler.compiler.operations.author_operations import (
    AuthorDocument,
    AuthorOperation,
    McpTool,
    Operations,
    OperationText,
)
from handler.compiler.operations.kept_operations import DeprecatedUse, KeptOperations, SentDocument, SentOperation
from handler.compiler.operations.sources import operation_texts
from handler.compiler.operations.validation import (
    Refuse,
    validate_document,
    warn_of_deprecations,
)
from handler.compiler.problems import Problems, node_location, place_text
from handler.compiler.schema.directives import BELONGS, nodes_in, read_arguments
from handler.compiler.schema.schema import AuthorSchema, has_no_definition, syntax_fault
from handler.compiler.schema.tool_options import NO_OPTIONS, read_author_options
from handler.compiler.source.files import EndpointFiles
from handler.graph.documents.operation import fragments_of

TOOL_ARGUMENT = "mcpToolArg"

ADOPTED = McpTool(name=None, description=None, options=NO_OPTIONS)
"""The tool of an operation without ``@mcpTool``: its name and description are the operation's."""

NOT_SENT = SentOperation(text="", asks="", optional_conditions=(), unsent=())
"""An operation of a document with errors."""

NO_OPERATION = "it has no operation"

Fragments = Mapping[str, FragmentDefinitionNode]


def read_operations(
    context: CompileContext, author: AuthorSchema, *, kept: KeptOperations, refuse: Refuse = lambda _: False
) -> Operations:
    """Read every operation of all sources. If the schema is ``None``, only errors that need no schema are reported."""
    problems = context.problems
    reader = _OperationReader(context, author)
    # Files take fragments from each other.
    parsed = {text: _parse(text, problems) for text in operation_texts(context, author)}
    sharing = {text: document for text, document in parsed.items() if document and text.shares_fragments}
    parsed |= dict(zip(sharing, complete_documents(list(sharing.values()), problems), strict=True))
    operations: list[AuthorOperation] = []
    documents: list[AuthorDocument] = []
    deprecated: list[DeprecatedUse] = []
    for text, document in parsed.items():
        if document is None or not document.definitions:  # all of its fragments are for other files
            continue
        key = kept.key_of("document", text.file, text.id, _definitions(document, context.files))
        validate = partial(validate_document, document, context, author, refuse=refuse, file=text.file)
        sent = kept.use_or_make(key, SentDocument, validate)
        deprecated += sent.deprecated
        nodes = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
        own = [replace(each, written=document, key=key) for each in reader.operations(nodes, text, sent.operations)]
        operations += [operation for operation in own if operation.name]
        if text.persisted:
            names = tuple(node.name.value for node in nodes if node.name)
            anonymous = next((operation for operation in own if not operation.name), None)
            documents.append(AuthorDocument(file=text.file, id=text.id, operations=names, anonymous=anonymous))
    warn_of_deprecations(deprecated, problems)
    unique = _uniquely_named(operations, problems)
    return Operations(
        valid=tuple(operation for operation in unique if operation.text),
        documents=tuple(documents),
        refused=frozenset(operation.name for operation in unique if not operation.text),
        complete=all(parsed.values()),
    )


def _definitions(document: DocumentNode, files: EndpointFiles) -> list[tuple[str, str, int]]:
    """Return the places of the definitions of a document: file, its SHA-256, and offset."""
    locations = [node.loc for node in document.definitions if node.loc]
    return [(each.source.name, files.sha256(each.source.name), each.start) for each in locations]


def _parse(text: OperationText, problems: Problems) -> DocumentNode | None:
    try:
        return parse(text.source, allow_empty_selection_sets=False) if text.source else None
    except GraphQLError as exc:
        if text.source and has_no_definition(text.source):
            problems.add(text.place, NO_OPERATION, code="no-operation")
        else:
            problems.add(exc, syntax_fault(exc), code="syntax-error")
    return None


@dataclass(frozen=True, slots=True)
class _OperationReader:
    """Reader of the operations of a text.

    Operations of some kinds become tools without ``@mcpTool``, by ``tools`` in ``config.yaml``.

    Source: Apollo MCP Server, "Define tools", and Cosmo router, "MCP": every named operation is a tool.
    """

    context: CompileContext
    author: AuthorSchema

    def operations(
        self, nodes: Sequence[OperationDefinitionNode], text: OperationText, sent_by_name: Mapping[str, SentOperation]
    ) -> Iterator[AuthorOperation]:
        """Yield the operations that may become tools, or that requests may run."""
        if not nodes:
            self.context.problems.add(text.place, NO_OPERATION, code="no-operation")
        names = [(node.operation.value, node.name.value if node.name else "") for node in nodes]
        if text.declares and nodes and names != [text.declares]:
            kind, name = text.declares
            sentence = f'the manifest calls this the {kind} "{name:.80}": expected this operation and no other'
            self.context.problems.add(nodes[0], sentence, code="invalid-manifest")
        for node in nodes:
            if node.name is None and not self._is_called_by_id(node, text, alone=len(nodes) == 1):
                continue
            name = node.name.value if node.name else ""
            operation = sent_by_name.get(name, NOT_SENT)
            if node.operation is OperationType.SUBSCRIPTION:
                sentence = f'"{name}" is a subscription: a tool is one request and one answer'
                if not self._leaves_out(node, sentence):
                    self.context.problems.add(node, sentence, code="subscription")
                operation = NOT_SENT
            if node.name or operation is not NOT_SENT:
                yield self._operation(node, operation, persisted=text.persisted)

    def _is_called_by_id(self, node: OperationDefinitionNode, text: OperationText, *, alone: bool) -> bool:
        """Return whether requests may run an unnamed operation by its document's id alone; report it if not."""
        callable_ = text.called_by_id and alone and not _has_mcp_tool(node)
        left_out = self._leaves_out(node, "an operation without a name is not a tool: name it")
        sentence = "an operation without a name cannot be called: name it"
        if not callable_ and not left_out:
            self.context.problems.add(node, sentence, code="anonymous-operation")
        elif callable_ and not text.persisted:
            self.context.problems.warn(node, sentence, code="uncallable-operation")
        return callable_ and text.persisted

    def _leaves_out(self, node: OperationDefinitionNode, sentence: str) -> bool:
        """Warn that an operation is not a tool. False, without a warning, if it had to become one by ``@mcpTool``."""
        if not self.context.config.adopted or _has_mcp_tool(node):
            return False
        about = [node.name.value] if node.name else []
        self.context.problems.warn(node, sentence, code="left-out-operation", about=about)
        return True

    def _operation(
        self, node: OperationDefinitionNode, operation: SentOperation, *, persisted: bool
    ) -> AuthorOperation:
        problems = self.context.problems
        _refuse_misplaced(node, problems)
        variables = node.variable_definitions or ()
        remaining = tuple(each for each in variables if each.variable.name.value not in operation.unsent)
        texts = {each.variable.name.value: _variable_description(each, problems) for each in variables}
        return AuthorOperation(
            name=node.name.value if node.name else "",
            kind=node.operation.value,
            node=replace(node, variable_definitions=remaining),
            parsed=cache(partial(parse, operation.text, no_location=True)),
            text=operation.text,
            asks=operation.asks,
            optional_conditions=frozenset(operation.optional_conditions),
            persisted=persisted,
            tool=_mcp_tool(node, problems) if _has_mcp_tool(node) else self._adopt(node, operation.asks),
            descriptions={name: text for name, text in texts.items() if text.strip() and name not in operation.unsent},
            task=only_directive(node, "mcpTask", "an operation", problems),
        )

    def _adopt(self, node: OperationDefinitionNode, asks: str) -> McpTool | None:
        """Return the tool of a named query or mutation without ``@mcpTool``; ``None`` if it does not become one."""
        if not self.context.config.adopted or node.name is None or node.operation is OperationType.SUBSCRIPTION:
            return None
        name, kind = node.name.value, node.operation.value
        if name in [tool.prescribed for tool in self.author.tools]:
            return None
        if kind not in self.context.config.adopted:
            remedy = "expected @mcpTool on it, or tools: {operations: queries_and_mutations}"
            self._leaves_out(node, f'"{name}" is a {kind}, so it is not a tool: {remedy}')
            return None
        if asks:
            self._leaves_out(node, f'"{name}" asks the API for {asks}, so it is not a tool')
            return None
        return ADOPTED


def _has_mcp_tool(node: OperationDefinitionNode) -> bool:
    return any(directive.name.value == "mcpTool" for directive in node.directives or ())


def _mcp_tool(node: OperationDefinitionNode, problems: Problems) -> McpTool | None:
    """Read ``@mcpTool`` of an operation; ``None`` after reporting that it is invalid."""
    directive = only_directive(node, "mcpTool", "an operation", problems)
    values = read_arguments(directive, problems) if directive else None
    if directive is None or values is None:
        return None
    options = read_author_options(directive, values, problems)
    return McpTool(name=values.get("name"), description=values.get("description"), options=options)


def _variable_description(variable: VariableDefinitionNode, problems: Problems) -> str:
    """Return ``@mcpToolArg``'s description of a variable, else the variable's own; empty string if both are blank.

    Source: Cosmo, ``@mcpToolArg``: "Directive location is VARIABLE_DEFINITION"; it is not repeatable.
    """
    directive = only_directive(variable, TOOL_ARGUMENT, "a variable", problems)
    values = read_arguments(directive, problems) if directive else None
    texts = [values["description"] if values else "", variable.description.value if variable.description else ""]
    return next((text for text in texts if text.strip()), "")


def only_directive(
    node: OperationDefinitionNode | VariableDefinitionNode, name: str, place: str, problems: Problems
) -> DirectiveNode | None:
    """Return the directive of a name on a node, if any. Report repetitions: ``place`` names the node in a sentence."""
    directives = [each for each in node.directives or () if each.name.value == name]
    for extra in directives[1:]:
        problems.add(extra, f"@{name} may appear only once on {place}", code="repeated-directive")
    return directives[0] if directives else None


def _refuse_misplaced(node: OperationDefinitionNode, problems: Problems) -> None:
    """Report misplaced directives of Stile. Validation reports those on fields and fragments."""
    starting = () if node.operation is OperationType.MUTATION else ("mcpTask",)
    places: list[tuple[Sequence[DirectiveNode], str, Sequence[str]]] = [
        (node.directives or (), f"a {node.operation.value}", ("mcpToolArg", "mcpBind", *starting)),
        *((each.directives or (), "a variable", ("mcpTool", "mcpTask")) for each in node.variable_definitions or ()),
    ]
    for directives, place, unfitting in places:
        for directive in directives:
            if (name := directive.name.value) in unfitting:
                sentence = f"@{name} is on {place}: expected it on {BELONGS[name]}"
                problems.add(directive, sentence, code="misplaced-directive")


def _uniquely_named(operations: Sequence[AuthorOperation], problems: Problems) -> list[AuthorOperation]:
    """Return one operation per name, callable ones first. Report a second callable one, or a second in one file."""
    first: dict[str, AuthorOperation] = {}
    for operation in sorted(operations, key=lambda operation: not operation.callable):
        other = first.setdefault(operation.name, operation)
        at = node_location(other.node)
        if other is not operation and (operation.callable or at.file == node_location(operation.node).file):
            sentence = f'an operation named "{operation.name}" is also defined at {place_text(at)}'
            problems.add(operation.node, sentence, code="duplicate-operation")
    return [operation for operation in operations if first[operation.name] is operation]


def complete_documents(documents: Sequence[DocumentNode], problems: Problems) -> list[DocumentNode]:
    """Return the documents, each with the fragments that it takes and without those that only others take.

    An operation takes a fragment of its own file first, and then of the other files. The completed document has each
    fragment once, so two fragments of one name that differ are an error in it. A document without a change is returned
    as it is. The others have no place, so that they are printed anew.
    """
    homes = [fragments_of(document) for document in documents]
    triples = [
        (document, own, _fragments_for(document, own, homes, problems))
        for document, own in zip(documents, homes, strict=True)
    ]
    lent = {id(node) for _, own, needed in triples for name, node in needed.items() if own.get(name) is not node}
    completed: list[DocumentNode] = []
    for document, own, needed in triples:
        ids = {id(node) for node in needed.values()}
        remaining = [node for node in document.definitions if id(node) not in lent or id(node) in ids]
        added = [node for name, node in needed.items() if own.get(name) is not node]
        is_whole = not added and len(remaining) == len(document.definitions)
        completed.append(document if is_whole else DocumentNode(definitions=(*remaining, *added)))
    return completed


def _fragments_for(document: DocumentNode, own: Fragments, homes: Sequence[Fragments], problems: Problems) -> Fragments:
    """Return the fragments, of those of all documents, that a document reaches. Missing ones are left to validation."""
    fragments: dict[str, FragmentDefinitionNode] = {}
    operations = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    waiting = [(name, own) for node in operations for name in _spreads(node)]
    while waiting:
        name, user = waiting.pop()
        # The fragments of the file that uses it come first.
        having = [user] if name in user else [each for each in homes if name in each]
        if having:
            _refuse_difference([home[name] for home in having], problems)
            node = having[0][name]
            if name not in fragments:
                fragments[name] = node
                waiting += [(each, having[0]) for each in _spreads(node)]
            _refuse_difference((fragments[name], node), problems)
    return fragments


def _refuse_difference(fragments: Sequence[FragmentDefinitionNode], problems: Problems) -> None:
    first = fragments[0]
    for other in fragments[1:]:
        if other is not first and print_ast(other) != print_ast(first):
            sentence = f'a fragment "{first.name.value}" is also defined at {place_text(node_location(first))}'
            problems.add(other, f"{sentence}, and an operation reaches both", code="duplicate-definition")


def _spreads(node: Node) -> list[str]:
    return list(dict.fromkeys(each.name.value for each in nodes_in(node) if isinstance(each, FragmentSpreadNode)))
