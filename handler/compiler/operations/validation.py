"""Validation of an author's documents by GraphQL's rules: errors and deprecation warnings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from graphql import (
    ASTValidationRule,
    DirectiveNode,
    DocumentNode,
    ExecutableDefinitionNode,
    GraphQLError,
    GraphQLSchema,
    LoneAnonymousOperationRule,
    NoDeprecatedCustomRule,
    NoUnusedVariablesRule,
    OperationDefinitionNode,
    UniqueOperationNamesRule,
    print_ast,
    separate_operations,
    specified_rules,
    validate,
)

from handler.compiler.compile_context import CompileContext
from handler.compiler.operations.author_operations import is_bound
from handler.compiler.operations.normalize import Sendable, Unused, sendable
from handler.compiler.problems import Place, Problems
from handler.compiler.schema.directives import BELONGS, ON_OPERATIONS
from handler.compiler.schema.rule_codes import code_of, coded, sentence_of
from handler.compiler.schema.schema import AuthorSchema
from handler.text.sentences import some

NAME_RULES = (LoneAnonymousOperationRule, UniqueOperationNamesRule)
"""Not among ``RULES``: ``read.py`` checks names over all files, and unnamed operations."""

RULES = coded(rule for rule in specified_rules if rule not in (*NAME_RULES, NoUnusedVariablesRule))
"""All other rules of GraphQL, except that unused variables are valid: ``normalize.py`` removes them."""

UNKNOWN_FIELD = re.compile(r"Cannot query field '\w+' on type '(\w+)'\.")
"""graphql-core's message about an unknown field, without suggestions."""

MAX_DEPRECATIONS = 20
"""The number of deprecated coordinates that get a warning each."""


TOO_MUCH = "it has too many errors, fields or fragments to be checked completely"

Refuse = Callable[[DocumentNode], bool]
"""Report the parts of a valid document that clients of the API do not have; true if there are any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentOperation:
    """One operation as the API gets it."""

    document: DocumentNode
    text: str
    optional_conditions: frozenset[str]
    unsent: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Validated:
    """The operations of a document, by name, and its uses of deprecated coordinates; empty if it has an error."""

    sent: Mapping[str, SentOperation] = field(default_factory=dict)
    deprecated: Sequence[GraphQLError] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Validator:
    """Validator of the author's documents. Without a schema, it reports only errors that need none."""

    context: CompileContext
    author: AuthorSchema
    refuse: Refuse

    def validate(self, document: DocumentNode, *, file: str) -> Validated:
        """Report the mistakes in a document, and separate its operations."""
        own = [node for node in document.definitions if isinstance(node, ExecutableDefinitionNode)]
        foreign = [node for node in document.definitions if not isinstance(node, ExecutableDefinitionNode)]
        for node in foreign:
            self.context.problems.add(
                node, "this is a type definition: expected operations and fragments", code="misplaced-definition"
            )
        schema = self.author.schema
        sent = self._sendable(own, schema, file=file) if schema else None
        if sent is None or schema is None:
            return Validated()
        verdict = judge(sent.document, schema)
        for error in verdict.mistakes:
            self._report(error, file=file)
        if verdict.mistakes or self.refuse(sent.document) or foreign:
            return Validated()
        _tell_of_unused(sent.unused, own, self.context.problems)
        return Validated(sent=dict(_separated(sent, document)), deprecated=verdict.deprecated)

    def _sendable(
        self, nodes: Sequence[ExecutableDefinitionNode], schema: GraphQLSchema, *, file: str
    ) -> Sendable | None:
        problems, known = self.context.problems, not self.context.takes_any_document
        try:
            return sendable(DocumentNode(definitions=tuple(nodes)), schema, problems, known=known)
        except RecursionError:  # fragments nested too deeply
            problems.add(Place(file), TOO_MUCH, code="too-complex")
        return None

    def _report(self, error: GraphQLError, *, file: str) -> None:
        problems = self.context.problems
        if not error.nodes:  # validation gave up
            problems.add(Place(file), TOO_MUCH, code="too-complex")
            return
        directive = next(iter(error.nodes))
        if isinstance(directive, DirectiveNode) and directive.name.value in BELONGS:
            name = directive.name.value
            hint = "; an operation becomes a tool with @mcpTool" if name == "tool" else ""
            problems.add(
                directive,
                f"@{name} is not allowed here: expected it on {BELONGS[name]}{hint}",
                code="misplaced-directive",
            )
        elif self.author.unclear.isdisjoint(re.findall(r"\w+", error.message)):
            known = self.author.schema.directives if self.author.schema else ()
            sentence = sentence_of(error, (*ON_OPERATIONS, *(each.name for each in known)))
            kind = getattr(error.nodes[0], "operation", None)
            hint = problems.warned("unnamed-root-type", [kind.value.title()]) if kind else self._fields_instead(error)
            problems.add(error, f"{sentence.rstrip('.') if kind and hint else sentence}{hint}", code=code_of(error))

    def _fields_instead(self, error: GraphQLError) -> str:
        """Name some fields of the type that an unknown field was asked of, if graphql-core suggests none."""
        found = UNKNOWN_FIELD.fullmatch(error.message)
        type_ = self.author.schema.type_map.get(found[1]) if found and self.author.schema else None
        fields = (
            [name for name in getattr(type_, "fields", ()) if f"{found[1]}.{name}" not in self.author.hidden]
            if found
            else []
        )
        return f" '{found[1]}' has {some(fields, most=5)}." if found and fields else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The errors and deprecations in one document."""

    mistakes: list[GraphQLError]
    deprecated: list[GraphQLError]


def judge(document: DocumentNode, schema: GraphQLSchema) -> Verdict:
    """Validate a document in one pass: all rules and deprecations."""
    deprecated: list[GraphQLError] = []
    gathering = _gathering(NoDeprecatedCustomRule, deprecated)
    return Verdict(mistakes=validate(schema, document, rules=(*RULES, gathering)), deprecated=deprecated)


def _separated(sent: Sendable, document: DocumentNode) -> Iterator[tuple[str, SentOperation]]:
    """Yield each operation of a valid document by its name. ``document`` is the document as written."""
    alone = separate_operations(sent.document)
    # A lone, unchanged operation is sent as its file's text, so that its digest is the file's.
    text = document.loc.source.body if document.loc and sent.unchanged and len(alone) == 1 else ""
    for name, each in alone.items():
        yield (
            name,
            SentOperation(
                document=each,
                text=text or print_ast(each),
                optional_conditions=sent.optional_conditions[name],
                unsent=sent.unsent[name],
            ),
        )


def _tell_of_unused(unused: Iterable[Unused], nodes: Iterable[ExecutableDefinitionNode], problems: Problems) -> None:
    """Warn of unused variables. An unused bound variable is an error: its author relies on it."""
    operations = [node for node in nodes if isinstance(node, OperationDefinitionNode)]
    bound = {
        (node.name.value if node.name else "", each.variable.name.value)
        for node in operations
        for each in node.variable_definitions or ()
        if is_bound(each)
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


def warn_of_deprecations(found: Iterable[GraphQLError], problems: Problems) -> None:
    """Warn of each deprecated coordinate once, at its first use, most used first."""
    places: dict[str, list[GraphQLError]] = {}
    for error in found:
        places.setdefault(error.message, []).append(error)
    often = sorted(places.items(), key=lambda each: -len(each[1]))
    for message, errors in often[:MAX_DEPRECATIONS]:
        more = f" ({len(errors)} uses)" if len(errors) > 1 else ""
        problems.warn(errors[0], f"{message}{more}", code="deprecated")
    rest = often[MAX_DEPRECATIONS:]
    if rest:
        uses = sum(len(errors) for _, errors in rest)
        problems.warn(
            rest[0][1][0],
            f"{len(rest)} more that are deprecated are used {uses} times, this among them",
            code="deprecated",
        )


def _gathering(rule: type[ASTValidationRule], found: list[GraphQLError]) -> type[ASTValidationRule]:
    """Return a copy of a rule that adds its errors to ``found``."""

    class Gathering(rule):  # type: ignore[misc, valid-type]
        def report_error(self, error: GraphQLError) -> None:
            found.append(error)

    return Gathering
