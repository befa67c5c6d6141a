"""Read the author's operations from all their sources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from graphql import DocumentNode, GraphQLError, OperationDefinitionNode, OperationType, parse

from handler.compiler.compile_context import CompileContext
from handler.compiler.operations.adoption import Adoption, has_mcp_tool
from handler.compiler.operations.author_operations import AuthorDocument, AuthorOperation, Operations, OperationText
from handler.compiler.operations.shared_fragments import complete_documents
from handler.compiler.operations.sources import operation_texts
from handler.compiler.operations.tool_directives import read_mcp_tool, refuse_misplaced, variable_description
from handler.compiler.operations.validation import (
    Refuse,
    SentOperation,
    Validator,
    warn_of_deprecations,
)
from handler.compiler.problems import Problems, place_of
from handler.compiler.schema.schema import AuthorSchema
from handler.compiler.schema.sdl_parser import is_empty

NOT_SENT = SentOperation(
    document=DocumentNode(), text="", optional_conditions=frozenset[str](), unsent=frozenset[str]()
)
"""An operation of a document with errors."""

NO_OPERATION = "it has no operation"


def read_operations(context: CompileContext, author: AuthorSchema, *, refuse: Refuse = lambda _: False) -> Operations:
    """Read every operation of all sources. If the schema is ``None``, only errors that need no schema are reported."""
    reader = _TextReader(
        problems=context.problems,
        validator=Validator(context=context, author=author, refuse=refuse),
        adoption=Adoption(
            kinds=context.config.adopted,
            prescribed=frozenset(each.prescribed for each in author.tools if each.prescribed),
            problems=context.problems,
        ),
    )
    read = [reader.read(text, document) for text, document in _documents(context, author)]
    warn_of_deprecations([error for each in read for error in each.deprecated], context.problems)
    named = [operation for each in read for operation in each.operations if operation.name]
    unique = _uniquely_named(named, context.problems)
    return Operations(
        valid=tuple(operation for operation in unique if operation.document.definitions),
        documents=tuple(
            each.persisted() for each in read if each.document and each.document.definitions and each.text.persisted
        ),
        refused=frozenset(operation.name for operation in unique if not operation.document.definitions),
        complete=all(each.document for each in read),
    )


def _documents(context: CompileContext, author: AuthorSchema) -> list[tuple[OperationText, DocumentNode | None]]:
    """Parse the texts of all sources. Files take fragments from each other."""
    parsed = {text: _parse(text, context.problems) for text in operation_texts(context, author)}
    sharing = {text: document for text, document in parsed.items() if document and text.shares_fragments}
    completed = complete_documents(list(sharing.values()), context.problems)
    return list((parsed | dict(zip(sharing, completed, strict=True))).items())


def _parse(text: OperationText, problems: Problems) -> DocumentNode | None:
    try:
        return parse(text.source, allow_empty_selection_sets=False) if text.source else None
    except GraphQLError as exc:
        if text.source and is_empty(text.source):
            problems.add(text.place, NO_OPERATION, code="no-operation")
        else:
            problems.add(exc, exc.message, code="syntax-error")
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReadText:
    """A text that was read, with its operations. ``document`` is ``None`` if the text cannot be parsed."""

    text: OperationText
    document: DocumentNode | None
    operations: tuple[AuthorOperation, ...] = ()
    deprecated: Sequence[GraphQLError] = ()

    def persisted(self) -> AuthorDocument:
        """Return the document that requests may name by its id. The id alone calls an unnamed operation."""
        names = [node.name.value for node in _operation_nodes(self.document) if node.name] if self.document else []
        anonymous = next((operation for operation in self.operations if not operation.name), None)
        return AuthorDocument(file=self.text.file, id=self.text.id, operations=tuple(names), anonymous=anonymous)


@dataclass(frozen=True, slots=True, kw_only=True)
class _TextReader:
    """Reader of texts with operations."""

    problems: Problems
    validator: Validator
    adoption: Adoption

    def read(self, text: OperationText, document: DocumentNode | None) -> _ReadText:
        if document is None:
            return _ReadText(text=text, document=None)
        if not document.definitions:  # all of its fragments are for other files
            return _ReadText(text=text, document=document)
        validated = self.validator.validate(document, file=text.file)
        operations = tuple(self._operations(document, text, validated.sent))
        return _ReadText(text=text, document=document, operations=operations, deprecated=validated.deprecated)

    def _operations(
        self, document: DocumentNode, text: OperationText, found: Mapping[str, SentOperation]
    ) -> Iterator[AuthorOperation]:
        nodes = _operation_nodes(document)
        if not nodes:
            self.problems.add(text.place, NO_OPERATION, code="no-operation")
        self._refuse_other_than_declared(nodes, text)
        for node in nodes:
            if node.name is None and not self._is_called_by_id(node, text, alone=len(nodes) == 1):
                continue
            name = node.name.value if node.name else ""
            sent = found.get(name, NOT_SENT)
            if node.operation is OperationType.SUBSCRIPTION:
                sentence = f'"{name}" is a subscription: a tool is one request and one answer'
                if not self.adoption.leaves_out(node, sentence):
                    self.problems.add(node, sentence, code="subscription")
                sent = NOT_SENT
            if node.name or sent is not NOT_SENT:
                yield self._operation(node, sent, persisted=text.persisted)

    def _refuse_other_than_declared(self, nodes: Sequence[OperationDefinitionNode], text: OperationText) -> None:
        found = [(node.operation.value, node.name.value if node.name else "") for node in nodes]
        if text.declares and nodes and found != [text.declares]:
            kind, name = text.declares
            sentence = f'the manifest calls this the {kind} "{name:.80}": expected this operation and no other'
            self.problems.add(nodes[0], sentence, code="invalid-manifest")

    def _is_called_by_id(self, node: OperationDefinitionNode, text: OperationText, *, alone: bool) -> bool:
        """Tell if requests may run an unnamed operation by its document's id alone; report it if not."""
        callable_ = text.called_by_id and alone and not has_mcp_tool(node)
        left_out = self.adoption.leaves_out(node, "an operation without a name is not a tool: name it")
        sentence = "an operation without a name cannot be called: name it"
        if not callable_ and not left_out:
            self.problems.add(node, sentence, code="anonymous-operation")
        elif callable_ and not text.persisted:
            self.problems.warn(node, sentence, code="uncallable-operation")
        return callable_ and text.persisted

    def _operation(self, node: OperationDefinitionNode, sent: SentOperation, *, persisted: bool) -> AuthorOperation:
        declared = [each for each in node.variable_definitions or () if each.variable.name.value not in sent.unsent]
        refuse_misplaced(node, self.problems)
        texts = {
            each.variable.name.value: variable_description(each, self.problems)
            for each in node.variable_definitions or ()
        }
        return AuthorOperation(
            name=node.name.value if node.name else "",
            kind=node.operation.value,
            node=replace(node, variable_definitions=tuple(declared)),
            document=sent.document,
            text=sent.text,
            optional_conditions=sent.optional_conditions,
            persisted=persisted,
            tool=read_mcp_tool(node, self.problems)
            if has_mcp_tool(node)
            else self.adoption.tool_of(node, sent.document),
            descriptions={name: text for name, text in texts.items() if text.strip() and name not in sent.unsent},
        )


def _operation_nodes(document: DocumentNode) -> list[OperationDefinitionNode]:
    return [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]


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
