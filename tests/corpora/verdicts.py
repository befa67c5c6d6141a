"""What graphql-core alone says of each operation, as the oracle for what the compiler says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from graphql import (
    DocumentNode,
    GraphQLError,
    GraphQLInputObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    NoUnusedVariablesRule,
    OperationDefinitionNode,
    OperationType,
    Source,
    build_schema,
    get_named_type,
    parse,
    specified_rules,
    type_from_ast,
    validate,
)

VALID = "valid"
INVALID = "invalid"
NO_NAME = "no name"
SAME_NAME = "same name"
SUBSCRIPTION = "subscription"
UPLOAD = "Upload"

RULES = tuple(rule for rule in specified_rules if rule is not NoUnusedVariablesRule)
"""A variable that is not used is a doubt: APIs answer all the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """On one file with one operation. ``places`` are lines and columns where something is wrong with it."""

    kind: str
    name: str = ""
    places: frozenset[tuple[int, int]] = frozenset()


def read_sdl(folder: Path) -> GraphQLSchema:
    """The schema of a corpus, taken as it is: published ones break the newest rules."""
    text = (folder / "index.graphql").read_text(encoding="utf-8")
    return build_schema(text, assume_valid=True, assume_valid_sdl=True, no_location=True)


def judge(folder: Path, schema: GraphQLSchema) -> dict[str, Verdict]:
    """Each file of operations, by its path in the endpoint folder, in the order in which the compiler reads them."""
    verdicts: dict[str, Verdict] = {}
    taken: set[str] = set()
    for file in sorted((folder / "operations").iterdir()):
        name = file.relative_to(folder).as_posix()
        verdict = _judge_text(Source(file.read_text(encoding="utf-8"), name), schema)
        if verdict.kind in (VALID, UPLOAD) and verdict.name in taken:
            verdict = replace(verdict, kind=SAME_NAME)
        taken.add(verdict.name)
        verdicts[name] = verdict
    return verdicts


def _judge_text(source: Source, schema: GraphQLSchema) -> Verdict:
    try:
        document = parse(source, allow_empty_selection_sets=False)
    except GraphQLError as error:
        return Verdict(kind=INVALID, places=frozenset(_places([error])))
    (operation,) = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    errors = validate(schema, _without_tool(document), rules=RULES)
    return Verdict(
        kind=INVALID if errors else _kind(operation, schema),
        name=operation.name.value if operation.name else "",
        places=frozenset(_places(errors)),
    )


def _kind(operation: OperationDefinitionNode, schema: GraphQLSchema) -> str:
    if operation.name is None:
        return NO_NAME
    if operation.operation is OperationType.SUBSCRIPTION:
        return SUBSCRIPTION
    return UPLOAD if UPLOAD in _input_types(operation, schema) else VALID


def _without_tool(document: DocumentNode) -> DocumentNode:
    """The document without ``@mcpTool``, which no schema knows; what remains keeps its places."""
    return replace(
        document,
        definitions=tuple(
            replace(node, directives=tuple(each for each in node.directives or () if each.name.value != "mcpTool"))
            if isinstance(node, OperationDefinitionNode)
            else node
            for node in document.definitions
        ),
    )


def _input_types(operation: OperationDefinitionNode, schema: GraphQLSchema) -> set[str]:
    """The names of all types that a value of a variable can hold."""
    waiting = [get_named_type(type_from_ast(schema, node.type)) for node in operation.variable_definitions or ()]
    found: dict[str, object] = {}
    while waiting:
        match waiting.pop():
            case GraphQLInputObjectType(name=name) as taken if name not in found:
                found[name] = taken
                waiting += [get_named_type(field.type) for field in taken.fields.values()]
            case GraphQLScalarType(name=name) as taken:
                found[name] = taken
    return set(found)


def _places(errors: Iterable[GraphQLError]) -> Iterator[tuple[int, int]]:
    """Where each error is; the other places that it names are there to compare."""
    yield from ((error.locations[0].line, error.locations[0].column) for error in errors if error.locations)
