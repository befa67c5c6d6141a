"""The schema that is built of an author's definitions: their faults are reported, and it is mended for later checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import fields
from functools import cache
from pathlib import PurePosixPath
from typing import Any, TypeGuard

from graphql import (
    ASTValidationRule,
    DefinitionNode,
    DirectiveDefinitionNode,
    DirectiveNode,
    DocumentNode,
    EnumTypeDefinitionNode,
    EnumTypeExtensionNode,
    GraphQLError,
    GraphQLObjectType,
    GraphQLSchema,
    InputObjectTypeDefinitionNode,
    InputObjectTypeExtensionNode,
    InterfaceTypeDefinitionNode,
    InterfaceTypeExtensionNode,
    NamedTypeNode,
    NameNode,
    Node,
    ObjectTypeDefinitionNode,
    ObjectTypeExtensionNode,
    ScalarTypeDefinitionNode,
    ScalarTypeExtensionNode,
    TypeDefinitionNode,
    TypeExtensionNode,
    UnionTypeDefinitionNode,
    UnionTypeExtensionNode,
    build_ast_schema,
    specified_scalar_types,
    validate_schema,
)
from graphql.language.visitor import EnterLeaveVisitor
from graphql.validation import KnownDirectivesRule, KnownTypeNamesRule, PossibleTypeExtensionsRule
from graphql.validation.specified_rules import specified_sdl_rules
from graphql.validation.validate import validate_sdl

from handler.compiler.problems import Place, Problems, author_place, where
from handler.compiler.schema.directives import ON_SCHEMA, nodes_in
from handler.compiler.schema.vendor_directives import INACCESSIBLE, without_directives
from handler.compiler.source.files import SCHEMA_FILE
from handler.text.sentences import nearest

RULES_OF_A_PART = tuple(
    rule
    for rule in specified_sdl_rules
    if rule not in (KnownDirectivesRule, KnownTypeNamesRule, PossibleTypeExtensionsRule)
)
"""The rules if a file is missing: all except those on undefined names, which that file may define."""


def build_schema_of(
    document: DocumentNode, problems: Problems, *, entry: Place, complete: bool
) -> tuple[GraphQLSchema | None, frozenset[str]]:
    """Build the schema; also return its unclear types. A schema with errors is mended to validate the other files.

    Problems without a place of their own are reported at ``entry``.
    """
    rules = coded(specified_sdl_rules if complete else RULES_OF_A_PART)
    errors = [*validate_sdl(document, rules=rules), *_wrong_kinds(document.definitions)]
    defined = [node.name.value for node in document.definitions if isinstance(node, DirectiveDefinitionNode)]
    undeclared: dict[str, list[GraphQLError]] = {}
    for error in errors:
        undeclared.setdefault(_undeclared_by_the_api(error), []).append(error)
    errors = undeclared.pop("", [])
    carriers = directive_carriers(document) if undeclared else []
    for name, uses in undeclared.items():
        sentence = (
            f"@{name} is not declared, so it has no effect: index.graphql may have {declaration_of(name, carriers)}"
        )
        more = f" ({len(uses)} uses in all)" if len(uses) > 1 else ""
        problems.warn(uses[0], f"{sentence}{more}", code="undeclared-directive", about=[name])
    for error in errors:
        sentence = sentence_of(error, (*ON_SCHEMA, INACCESSIBLE, *defined))
        problems.add(author_place(error, otherwise=entry), sentence, code=rule_code(error))
    if not complete:
        return None, frozenset()
    sound = None if errors else _valid_schema(document, problems, entry=entry)
    schema, unclear = (sound, frozenset[str]()) if sound else mend(document.definitions, errors)
    return schema if schema and _has_roots(schema, problems, entry=entry) else None, unclear


def _undeclared_by_the_api(error: GraphQLError) -> str:
    """Return the name of a directive that the API's own schema uses and does not declare; else an empty string."""
    node = next(iter(error.nodes or ()), None)
    if not _is_unknown_directive(node, error) or PurePosixPath(where(error).file).name != SCHEMA_FILE:
        return ""
    # What a misspelt directive of Stile's would hide is not left open.
    return "" if nearest(node.name.value, (*ON_SCHEMA, INACCESSIBLE), likeness=0.8) else node.name.value


VALUES = {"boolean_value": "Boolean", "float_value": "Float", "int_value": "Int", "string_value": "String"}
LOCATIONS = {"field": "FIELD_DEFINITION", "input_value": "ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION"}


def _type_of(value: Any) -> str:
    """Return the type of a literal; an enum or an object stands as a blank."""
    items = getattr(value, "values", None)
    type_ = VALUES.get(items[0].kind if items else value.kind, "…")
    return f"[{type_}]" if items is not None else type_


def directive_carriers(*nodes: Node) -> list[Any]:
    """Return the nodes in or below ``nodes`` that have directives."""
    return [node for node in nodes_in(*nodes) if getattr(node, "directives", None)]


def declaration_of(
    name: str, carriers: Iterable[Any], *, type_of: Callable[[Any], str] = _type_of, repeatable: bool = False
) -> str:
    """Return the line that declares a directive as it is used. ``type_of`` returns the type of an argument's value."""
    arguments: dict[str, str] = {}
    places: dict[str, None] = {}
    for node in carriers:
        uses = [each for each in node.directives if each.name.value == name]
        repeatable |= len(uses) > 1
        arguments |= {each.name.value: type_of(each.value) for use in uses for each in use.arguments or ()}
        if uses:
            kind = re.sub(r"(_type)?_(definition|extension)$", "", node.kind)
            places[LOCATIONS.get(kind, kind.upper())] = None
    inner = ", ".join(f"{argument}: {type_}" for argument, type_ in arguments.items())
    return f"directive @{name}{inner and f'({inner})'} {'repeatable ' if repeatable else ''}on {' | '.join(places)}"


MEMBERS: Mapping[str, tuple[type, str]] = {
    "interfaces": (InterfaceTypeDefinitionNode, "an interface, so no type can implement it"),
    "types": (ObjectTypeDefinitionNode, "an object type, so no union can have it"),
}
"""The part of a definition that names types -> their kind, and the fault of another one."""


def _wrong_kinds(definitions: Sequence[DefinitionNode]) -> Iterator[GraphQLError]:
    """Yield errors for types that implement anything but interfaces, and unions of anything but object types.

    No operation can be validated against such a schema. Undefined names are reported elsewhere.
    """
    kinds: dict[str, type] = dict.fromkeys(specified_scalar_types, ScalarTypeDefinitionNode)
    kinds |= {node.name.value: type(node) for node in definitions if isinstance(node, TypeDefinitionNode)}
    for part, (kind, reason) in MEMBERS.items():
        for node in (node for type_ in definitions for node in getattr(type_, part, None) or ()):
            if kinds.get(node.name.value, kind) is not kind:
                yield with_code(GraphQLError(f"'{node.name.value}' is not {reason}.", node), "wrong-kind")


def _valid_schema(document: DocumentNode, problems: Problems, *, entry: Place) -> GraphQLSchema | None:
    try:
        schema = build_ast_schema(document, assume_valid_sdl=True)
        faults = validate_schema(schema)
    except (GraphQLError, TypeError, RecursionError) as exc:
        cause = exc.__cause__ or exc  # graphql-core wraps the error of a field
        at, reason = (
            (author_place(cause, otherwise=entry), cause.message) if isinstance(cause, GraphQLError) else (entry, cause)
        )
        sentence = f"not a valid schema: {reason}"
        problems.add(at, sentence, code="invalid-schema")
        return None
    for fault in faults:
        # Published schemas of large APIs break the newest rules, but their operations work.
        problems.warn(author_place(fault, otherwise=entry), fault.message, code="schema-fault")
    faults.clear()  # graphql-core holds this list, and would validate no operation against a schema with faults
    return schema


def built_of(document: DocumentNode) -> GraphQLSchema:
    """Build a schema that is known to be valid, or whose faults are known."""
    return build_ast_schema(document, assume_valid=True, assume_valid_sdl=True)


def _has_roots(schema: GraphQLSchema, problems: Problems, *, entry: Place) -> bool:
    if schema.query_type is None:
        sentence = "the schema definition leads to no query type" if schema.ast_node else "the schema has no query type"
        problems.add(schema.ast_node or entry, sentence, code="missing-query-type")
    roots: tuple[Any, ...] = (schema.query_type, schema.mutation_type, schema.subscription_type)
    wrong = [root for root in roots if root and not isinstance(root, GraphQLObjectType)]
    for root in wrong:
        at = root.ast_node or schema.ast_node or entry
        problems.add(at, f'"{root.name}" is not an object type, so it cannot be a root type', code="wrong-kind")
    if schema.mutation_type and schema.mutation_type.name == "Query":
        sentence = (
            '"Query" is the mutation type here: expected another name, because rules for Query would open mutations'
        )
        problems.add(schema.mutation_type.ast_node or entry, sentence, code="wrong-kind")
        return False
    return schema.query_type is not None and not wrong


TypePart = TypeDefinitionNode | TypeExtensionNode
EXTENSION_OF: Mapping[type, type] = {
    EnumTypeDefinitionNode: EnumTypeExtensionNode,
    InputObjectTypeDefinitionNode: InputObjectTypeExtensionNode,
    InterfaceTypeDefinitionNode: InterfaceTypeExtensionNode,
    ObjectTypeDefinitionNode: ObjectTypeExtensionNode,
    ScalarTypeDefinitionNode: ScalarTypeExtensionNode,
    UnionTypeDefinitionNode: UnionTypeExtensionNode,
}
DEFINITION_OF = {kind: kind for kind in EXTENSION_OF} | {part: kind for kind, part in EXTENSION_OF.items()}
"""The class of a definition or an extension -> the definition's class."""


def mend(
    definitions: Sequence[DefinitionNode], errors: Iterable[GraphQLError]
) -> tuple[GraphQLSchema | None, frozenset[str]]:
    """Build a schema from definitions with ``errors``, already reported; also return the types that stay unclear.

    All directives are removed. A second definition of a type extends the first, an extension without a definition
    defines the type, and an undefined type becomes a scalar, which any value fits. The schema is ``None`` if it still
    cannot be built.
    """
    whole = [without_directives(node, lambda _: True) for node in definitions]
    others = [node for node in whole if not isinstance(node, TypePart)]
    types: list[Any] = [node for node in whole if isinstance(node, TypePart)]
    types.sort(key=lambda node: isinstance(node, TypeExtensionNode))  # definitions, then extensions
    kinds: dict[str, list[type]] = {}  # of the parts of each type, which differ only by mistake
    for node in types:
        kinds.setdefault(node.name.value, []).append(DEFINITION_OF[type(node)])
    references = (node for error in errors for node in error.nodes or () if isinstance(node, NamedTypeNode))
    missing = {node.name.value for node in references} - kinds.keys()
    scalars = [ScalarTypeDefinitionNode(name=NameNode(value=name)) for name in sorted(missing)]
    document = DocumentNode(definitions=(*others, *_one_definition_each(types, kinds), *scalars))
    several = {name for name, own_kinds in kinds.items() if len(set(own_kinds)) > 1}
    try:
        return built_of(document), frozenset(missing | several)
    except (GraphQLError, TypeError, RecursionError):
        return None, frozenset()


def _one_definition_each(types: Iterable[Any], kinds: Mapping[str, Sequence[type]]) -> Iterator[Any]:
    """Yield the parts of each type that have its first kind: one definition, then extensions.

    Only interfaces remain in ``implements``, and object types in a union.
    """
    begun: set[str] = set()
    for node in types:
        name = node.name.value
        kind = kinds[name][0]
        if DEFINITION_OF[type(node)] is not kind:
            continue
        part_kind = EXTENSION_OF[kind] if name in begun else kind
        begun.add(name)
        own = {field.name: getattr(node, field.name) for field in fields(part_kind) if hasattr(node, field.name)}
        for part, (member_kind, _) in MEMBERS.items():
            if own.get(part):
                own[part] = tuple(each for each in own[part] if member_kind in kinds.get(each.name.value, ())[:1])
        yield part_kind(**own)


CODE_OF_RULE: Mapping[str, str] = {
    "DeferStreamDirectiveLabel": "wrong-value",
    "DeferStreamDirectiveOnRootField": "misplaced-directive",
    "DeferStreamDirectiveOnValidOperationsRule": "misplaced-directive",
    "ExecutableDefinitionsRule": "misplaced-definition",
    "FieldsOnCorrectTypeRule": "unknown-field",
    "FragmentsOnCompositeTypesRule": "wrong-kind",
    "KnownArgumentNamesRule": "unknown-argument",
    "KnownArgumentNamesOnDirectivesRule": "unknown-argument",
    "KnownDirectivesRule": "unknown-directive",
    "KnownFragmentNamesRule": "unknown-fragment",
    "KnownOperationTypesRule": "missing-operation-type",
    "KnownTypeNamesRule": "unknown-type",
    "LoneAnonymousOperationRule": "anonymous-operation",
    "LoneSchemaDefinitionRule": "duplicate-schema",
    "MaxIntrospectionDepthRule": "too-complex",
    "NoFragmentCyclesRule": "fragment-cycle",
    "NoUndefinedVariablesRule": "undefined-variable",
    "NoUnusedFragmentsRule": "unused-fragment",
    "OverlappingFieldsCanBeMergedRule": "conflicting-fields",
    "PossibleFragmentSpreadsRule": "impossible-fragment",
    "PossibleTypeExtensionsRule": "impossible-extension",
    "ProvidedRequiredArgumentsRule": "missing-argument",
    "ProvidedRequiredArgumentsOnDirectivesRule": "missing-argument",
    "ScalarLeafsRule": "wrong-selection",
    "SingleFieldSubscriptionsRule": "subscription",
    "StreamDirectiveOnListField": "misplaced-directive",
    "UniqueArgumentDefinitionNamesRule": "duplicate-definition",
    "UniqueArgumentNamesRule": "duplicate-argument",
    "UniqueDirectiveNamesRule": "duplicate-definition",
    "UniqueDirectivesPerLocationRule": "repeated-directive",
    "UniqueEnumValueNamesRule": "duplicate-definition",
    "UniqueFieldDefinitionNamesRule": "duplicate-definition",
    "UniqueFragmentNamesRule": "duplicate-definition",
    "UniqueInputFieldNamesRule": "duplicate-argument",
    "UniqueOperationNamesRule": "duplicate-operation",
    "UniqueOperationTypesRule": "conflicting-root-types",
    "UniqueTypeNamesRule": "duplicate-definition",
    "UniqueVariableNamesRule": "duplicate-definition",
    "ValuesOfCorrectTypeRule": "wrong-value",
    "VariablesAreInputTypesRule": "wrong-kind",
    "VariablesInAllowedPositionRule": "wrong-variable-type",
}
"""Rule name -> code."""

OTHER = "invalid-graphql"
"""The code of all other rules, which later versions of graphql-core add."""

_KEY = "code"

NO_VISIT = EnterLeaveVisitor(None, None)


def coded(rules: Iterable[Any]) -> tuple[type[Any], ...]:
    """Wrap rules of graphql-core so that their errors carry a code."""
    return tuple(_coded(rule) for rule in rules)


def rule_code(error: GraphQLError) -> str:
    """Return the code of an error; ``OTHER`` if no coded rule reported it."""
    return str((error.extensions or {}).get(_KEY, OTHER))


def sentence_of(error: GraphQLError, directives: Iterable[str]) -> str:
    """Return an error's sentence. That of an unknown directive names the one of ``directives`` that may be meant."""
    node = next(iter(error.nodes or ()), None)
    if not _is_unknown_directive(node, error):
        return error.message
    nearest_name = nearest(node.name.value, list(directives))
    arguments = ", ".join(f"{each.name.value}: …" for each in node.arguments or ())
    declaration = f'"directive @{node.name.value}{arguments and f"({arguments})"} on …"'
    remedy = f"; did you mean @{nearest_name}?" if nearest_name else f": declare it, as in {declaration}, or remove it"
    return error.message.rstrip(".") + remedy


def _is_unknown_directive(node: Node | None, error: GraphQLError) -> TypeGuard[DirectiveNode]:
    return error.message.startswith("Unknown directive") and isinstance(node, DirectiveNode)


def with_code(error: GraphQLError, code: str) -> GraphQLError:
    """Set the code of an error."""
    error.extensions = {**(error.extensions or {}), _KEY: code}
    return error


@cache
def _coded(rule: type[ASTValidationRule]) -> type[ASTValidationRule]:
    code, methods = CODE_OF_RULE.get(rule.__name__, OTHER), frozenset(dir(rule))

    class Coded(rule):  # type: ignore[misc, valid-type]
        def __init__(self, context: Any) -> None:
            own = copy(context)  # some rules report to the context directly
            own.report_error = lambda error: context.report_error(with_code(error, code))
            super().__init__(own)

        def get_enter_leave_for_kind(self, kind: str) -> EnterLeaveVisitor:
            visits = not methods.isdisjoint(("enter", "leave", f"enter_{kind}", f"leave_{kind}"))
            return super().get_enter_leave_for_kind(kind) if visits else NO_VISIT

    return Coded
