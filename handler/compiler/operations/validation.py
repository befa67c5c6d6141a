"""Validation of an author's documents by GraphQL's rules, and their normalization to text that the API accepts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from graphql import (
    REMOVE,
    BooleanValueNode,
    DirectiveNode,
    DocumentNode,
    ExecutableDefinitionNode,
    GraphQLError,
    GraphQLSchema,
    LoneAnonymousOperationRule,
    Node,
    NoDeprecatedCustomRule,
    NonNullTypeNode,
    NoUnusedVariablesRule,
    OperationDefinitionNode,
    UniqueOperationNamesRule,
    VariableDefinitionNode,
    VariableNode,
    Visitor,
    print_ast,
    separate_operations,
    specified_rules,
    validate,
    visit,
)

from handler.compiler.compile_context import CompileContext
from handler.compiler.operations.author_operations import is_bound
from handler.compiler.operations.kept_operations import DeprecatedUse, SentDocument, SentOperation
from handler.compiler.operations.used_coordinates import asked_of_the_schema
from handler.compiler.problems import Place, Problems, where
from handler.compiler.schema.directives import BELONGS, FOR_PARTS, ON_OPERATIONS, nodes_in
from handler.compiler.schema.schema import AuthorSchema
from handler.compiler.schema.schema_building import coded, rule_code, sentence_of
from handler.graph.documents.operation import INTROSPECTION, bare
from handler.text.sentences import some

NAME_RULES = (LoneAnonymousOperationRule, UniqueOperationNamesRule)
"""Not among ``RULES``: ``read.py`` checks names over all files, and unnamed operations."""

RULES = coded(rule for rule in specified_rules if rule not in (*NAME_RULES, NoUnusedVariablesRule))
"""All other rules of GraphQL, except that unused variables are valid: ``normalize`` removes them."""

UNKNOWN_FIELD = re.compile(r"Cannot query field '\w+' on type '(\w+)'\.")
"""graphql-core's message about an unknown field, without suggestions."""

MAX_DEPRECATIONS = 20
"""The number of deprecated coordinates that get a warning each."""

TOO_MUCH = "it has too many errors, fields or fragments to be checked completely"

FOR_CLIENTS = ("connection", "nonreactive", "unmask")
"""Directives of GraphQL clients, not sent unless the API defines one of that name."""

CONDITIONS = frozenset({"skip", "include"})

NOTHING = SentDocument(operations={})
"""A document with an error."""

Refuse = Callable[[DocumentNode], bool]
"""Report the parts of a valid document that clients of the API do not have; true if there are any."""


def validate_document(
    document: DocumentNode, context: CompileContext, author: AuthorSchema, *, refuse: Refuse, file: str
) -> SentDocument:
    """Report the mistakes in a document, and return its operations. Without a schema, errors that need one are not."""
    problems, schema = context.problems, author.schema
    foreign = [node for node in document.definitions if not isinstance(node, ExecutableDefinitionNode)]
    for node in foreign:
        sentence = "this is a type definition: expected operations and fragments"
        problems.add(node, sentence, code="misplaced-definition")
    if schema is None:
        return NOTHING
    try:
        sendable, operations, unused = normalize(document, schema, problems, known=not context.takes_any_document)
    except RecursionError:  # fragments nested too deeply
        problems.add(Place(file), TOO_MUCH, code="too-complex")
        return NOTHING
    deprecated: list[GraphQLError] = []

    class Gathering(NoDeprecatedCustomRule):
        def report_error(self, error: GraphQLError) -> None:
            deprecated.append(error)

    mistakes = validate(schema, sendable, rules=(*RULES, Gathering))
    for error in mistakes:
        _report(error, author, schema, problems, file=file)
    if mistakes or refuse(sendable) or foreign:
        return NOTHING
    _warn_of_unused(unused, document, problems)
    places = [(error.message, where(error)) for error in deprecated]
    uses = (DeprecatedUse(message=each, file=at.file, line=at.line, column=at.column) for each, at in places)
    return SentDocument(operations=operations, deprecated=tuple(uses))


def _report(error: GraphQLError, author: AuthorSchema, schema: GraphQLSchema, problems: Problems, *, file: str) -> None:
    if not error.nodes:  # validation gave up
        problems.add(Place(file), TOO_MUCH, code="too-complex")
        return
    directive = next(iter(error.nodes))
    if isinstance(directive, DirectiveNode) and directive.name.value in BELONGS:
        name = directive.name.value
        hint = "; an operation becomes a tool with @mcpTool" if name == "tool" else ""
        sentence = f"@{name} is not allowed here: expected it on {BELONGS[name]}{hint}"
        problems.add(directive, sentence, code="misplaced-directive")
    elif author.unclear.isdisjoint(re.findall(r"\w+", error.message)):
        sentence = sentence_of(error, (*ON_OPERATIONS, *(each.name for each in schema.directives)))
        kind = getattr(error.nodes[0], "operation", None)
        match = UNKNOWN_FIELD.fullmatch(error.message)
        hint = problems.warned("unnamed-root-type", [kind.value.title()]) if kind else ""
        if match and not kind:  # name some fields of the type, as graphql-core suggests none
            fields = getattr(schema.type_map.get(match[1]), "fields", ())
            fields = [name for name in fields if f"{match[1]}.{name}" not in author.hidden]
            hint = f" '{match[1]}' has {some(fields, most=5)}." if fields else ""
        problems.add(error, f"{sentence.rstrip('.') if kind and hint else sentence}{hint}", code=rule_code(error))


Unused = tuple[str, VariableDefinitionNode, str]
"""The name of an operation, a variable that it declares and never uses, and the sentence of the warning."""


def normalize(
    document: DocumentNode, schema: GraphQLSchema, problems: Problems, *, known: bool
) -> tuple[DocumentNode, dict[str, SentOperation], list[Unused]]:
    """Return a document as the API gets it, its operations by name, and the unused variables of its author.

    Descriptions, which older servers reject, are removed, and directives of Stile, of clients and for partial
    responses. A variable that was used only in removed directives is removed, with a warning. An unused variable is
    removed too, unless the API accepts only ``known`` texts: then it stays in the text, and callers give it only if it
    is required. A nullable variable that is used only in ``@skip`` and ``@include`` gets the default ``false``, with a
    warning: GraphQL rejects nullable variables there, yet published operations have them. Nothing else is added.
    """
    definitions = [node for node in document.definitions if isinstance(node, ExecutableDefinitionNode)]
    executable = DocumentNode(definitions=tuple(definitions))
    own = bare(executable, without_directives=ON_OPERATIONS)
    left_out: dict[int, Any] = {}
    for node in nodes_in(own):
        if isinstance(node, DirectiveNode):
            name = node.name.value
            if name in FOR_PARTS:
                sentence = f"@{name} is not sent: a tool has one answer"
                problems.warn(node, sentence, code="unsent-directive", about=[f"@{name}"])
            if name in FOR_PARTS or (name in FOR_CLIENTS and not schema.get_directive(name)):
                left_out[id(node)] = REMOVE
    stripped = visit(own, _Replacing(left_out)) if left_out else own
    after = separate_operations(stripped)
    before = separate_operations(own) if left_out else after
    optional: dict[str, set[str]] = {operation: set() for operation in after}
    unsent: dict[str, set[str]] = {operation: set() for operation in after}
    unused: list[Unused] = []
    replacements: dict[int, Any] = {}  # by the identity of a variable's definition
    for operation, alone in after.items():
        uses_left = _uses(alone)
        uses = _uses(before[operation]) if left_out else uses_left
        for node in (each for each in nodes_in(alone) if isinstance(each, VariableDefinitionNode)):
            name = node.variable.name.value
            if name not in uses:
                is_required = isinstance(node.type, NonNullTypeNode) and node.default_value is None
                sentence = f"${name} {_fate_of_unused(known=known, is_required=is_required)}"
                unused.append((operation, node, sentence))
                if not known:
                    replacements[id(node)] = REMOVE
                if not known or not is_required:
                    unsent[operation].add(name)
            elif name not in uses_left:
                directives = " and ".join(f"@{each}" for each in dict.fromkeys(uses[name]))
                sentence = f"${name} is not taken: only {directives} uses it, and that is not sent"
                problems.warn(node, sentence, code="unsent-variable", about=[f"${name}"])
                replacements[id(node)] = REMOVE
                unsent[operation].add(name)
            elif (
                print_ast(node.type) == "Boolean" and not node.default_value and CONDITIONS.issuperset(uses_left[name])
            ):
                sentence = f"${name} may be null, which @skip and @include reject: null is sent as false"
                problems.warn(node, sentence, code="nullable-condition", about=[f"${name}"])
                replacements[id(node)] = replace(node, default_value=BooleanValueNode(value=False))
                optional[operation].add(name)
    changed = visit(stripped, _Replacing(replacements)) if replacements else stripped
    separate = separate_operations(changed) if replacements else after
    # A lone, unchanged operation is sent as its file's text, so that its digest is the file's.
    is_whole = len(separate) == 1 and not (left_out or replacements or _has_own(executable))
    text = document.loc.source.body if document.loc and is_whole else ""
    texts = {name: text or print_ast(alone) for name, alone in separate.items()}
    operations = {
        name: SentOperation(
            text=texts[name],
            asks=asked_of_the_schema(alone) if any(each in texts[name] for each in INTROSPECTION) else "",
            optional_conditions=tuple(sorted(optional[name])),
            unsent=tuple(sorted(unsent[name])),
        )
        for name, alone in separate.items()
    }
    return changed, operations, unused


def _has_own(document: DocumentNode) -> bool:
    """Return whether a document has descriptions or directives that ``bare`` removes."""
    definitions: list[Any] = list(document.definitions)
    variables = (each for node in definitions for each in getattr(node, "variable_definitions", None) or ())
    return any(
        node.description or any(each.name.value in ON_OPERATIONS for each in node.directives or ())
        for node in (*definitions, *variables)
    )


def _uses(document: DocumentNode) -> dict[str, list[str]]:
    """Return variable -> the directive of each use; an empty string for a use outside directives."""
    uses: dict[str, list[str]] = {}
    directive_of: dict[int, str] = {}
    definitions: set[int] = set()
    for node in nodes_in(document):
        match node:
            case DirectiveNode():
                directive_of |= {id(part): node.name.value for part in nodes_in(node)}
            case VariableDefinitionNode():
                definitions.add(id(node.variable))
            case VariableNode() if id(node) not in definitions:
                uses.setdefault(node.name.value, []).append(directive_of.get(id(node), ""))
    return uses


def _fate_of_unused(*, known: bool, is_required: bool) -> str:
    if not known:
        return "is not taken: the operation does not use it, so it is not sent"
    if is_required:
        return "is not used in the operation: it is asked for because the text that the API knows declares it"
    return "is not taken: the operation does not use it, and its text stays as the API knows it"


class _Replacing(Visitor):
    """Visitor that replaces or removes nodes, by their identities."""

    def __init__(self, replacements: Mapping[int, Any]) -> None:
        super().__init__()
        self._replacements = replacements

    def enter(self, node: Node, *_: object) -> Any:
        return self._replacements.get(id(node))


def _warn_of_unused(unused: Iterable[Unused], document: DocumentNode, problems: Problems) -> None:
    """Warn of unused variables. An unused bound variable is an error: its author relies on it."""
    bound = {
        (node.name.value if node.name else "", each.variable.name.value)
        for node in document.definitions
        if isinstance(node, OperationDefinitionNode)
        for each in node.variable_definitions or ()
        if is_bound(each)
    }
    for operation, variable, warning in unused:
        name = variable.variable.name.value
        if (operation, name) in bound:
            sentence = f"${name} is bound, but the operation does not use it: use it or remove it"
            problems.add(variable, sentence, code="unused-binding")
        else:
            problems.warn(variable, warning, code="unused-variable", about=[operation])


def warn_of_deprecations(found: Iterable[DeprecatedUse], problems: Problems) -> None:
    """Warn of each deprecated coordinate once, at its first use, most used first."""
    uses: dict[str, list[Place]] = {}
    for each in found:
        uses.setdefault(each.message, []).append(Place(each.file, each.line, each.column))
    often = sorted(uses.items(), key=lambda each: -len(each[1]))
    for message, same in often[:MAX_DEPRECATIONS]:
        more = f" ({len(same)} uses)" if len(same) > 1 else ""
        problems.warn(same[0], f"{message}{more}", code="deprecated")
    rest = often[MAX_DEPRECATIONS:]
    if rest:
        count = sum(len(same) for _, same in rest)
        sentence = f"{len(rest)} more that are deprecated are used {count} times, this among them"
        problems.warn(rest[0][1][0], sentence, code="deprecated")
