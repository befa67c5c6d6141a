"""Output schemas against graphql-core's executor: they take every answer that it gives, and none that is wrong."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any, NamedTuple

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLEnumType,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLOutputType,
    GraphQLSchema,
    OperationDefinitionNode,
    SelectionSetNode,
    extend_schema,
    get_named_type,
    is_abstract_type,
    is_composite_type,
    parse,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from handler.compiler.json_schemas.output_schema import output_schema
from tests.compiler.json_schemas.random_answers import INTERFACES, Asked, possible_types, random_answer, random_request
from tests.support.examples import examples

Path = tuple[str | int, ...]
Selected = list[tuple[SelectionSetNode, bool]]
"""Selection sets of one object, and of each whether it stands under a condition."""

SOMETHING_ELSE: tuple[Any, ...] = (None, 7, 1.5, "wrong", True, [], {})
SCALARS = {"Int": (int,), "Float": (int, float), "String": (str,), "Boolean": (bool,), "ID": (str, int)}


@settings(max_examples=examples(300), derandomize=True, deadline=None, database=None)
@given(st.randoms(use_true_random=False), st.sampled_from([0, 0.05, 0.3]))
def test_whatever_is_answered_fits(random: Random, failures: float) -> None:
    asked = random_request(random)
    schema = output_schema(asked.document, asked.schema)
    Draft202012Validator.check_schema(schema)

    answer = random_answer(asked, random, failures=failures)

    Draft202012Validator(schema).validate(answer)


@settings(max_examples=examples(300), derandomize=True, deadline=None, database=None)
@given(st.randoms(use_true_random=False))
def test_whatever_is_answered_by_an_api_that_has_grown_fits(random: Random) -> None:
    asked = random_request(random)
    schema = output_schema(asked.document, asked.schema)

    answer = random_answer(grown(asked), random, failures=0.05)

    Draft202012Validator(schema).validate(answer)


def test_grown_api_answers_with_what_it_has_added() -> None:
    """Or the test above would be about nothing."""
    random = Random(1)
    answers = [str(random_answer(grown(random_request(random)), random, failures=0)) for _ in range(100)]

    assert any("T9" in answer for answer in answers)
    assert any("LATER" in answer for answer in answers)


@settings(max_examples=examples(300), derandomize=True, deadline=None, database=None)
@given(st.randoms(use_true_random=False))
def test_what_cannot_be_answered_is_refused(random: Random) -> None:
    asked = random_request(random)
    validator = Draft202012Validator(output_schema(asked.document, asked.schema))
    exact = Oracle(asked.schema, asked.document)
    loose = Oracle(asked.schema, asked.document, further_keys=True)
    answer = random_answer(asked, random, failures=0)
    assert exact.may_be(answer["data"])

    for _ in range(5):
        wrong = changed(answer, random)
        assert exact.may_be(wrong["data"]) <= validator.is_valid(wrong) <= loose.may_be(wrong["data"]), wrong


def test_oracle_tells_wrong_answers_from_right_ones() -> None:
    """Most changes make an answer wrong, so that the test above is about refusing."""
    random = Random(1)
    refused = 0
    for _ in range(60):
        asked = random_request(random)
        wrong = changed(random_answer(asked, random, failures=0), random)
        refused += not Oracle(asked.schema, asked.document, further_keys=True).may_be(wrong["data"])
    assert refused > 30


def changed(answer: dict[str, Any], random: Random) -> dict[str, Any]:
    """The answer with one value replaced, or one key of an object gone, anywhere in its data."""
    wrong = copy.deepcopy(answer)
    *above, last = random.choice(list(places({"data": wrong["data"]})))
    holder: Any = wrong
    for key in above:
        holder = holder[key]
    if above and isinstance(holder, dict) and random.random() < 0.4:
        del holder[last]
    else:
        holder[last] = copy.deepcopy(random.choice(SOMETHING_ELSE))
    return wrong


def places(value: Any) -> Iterator[Path]:
    """The paths of all values that stand in a value."""
    inner: Sequence[tuple[str | int, Any]] = ()
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    for key, below in inner:
        yield (key,)
        yield from ((key, *path) for path in places(below))


class Node(NamedTuple):
    """A field of a selection set, its type, and whether it stands under a condition."""

    field: FieldNode
    type: Any
    conditional: bool


def grown(asked: Asked) -> Asked:
    """The same request to an API that has an object and a value more."""
    interfaces = [asked.schema.type_map[name] for name in INTERFACES]
    fields = {
        name: field.type
        for each in interfaces
        if isinstance(each, GraphQLInterfaceType)
        for name, field in each.fields.items()
    }
    more = " ".join(f"{name}: {type_}" for name, type_ in {"own": "Int", **fields}.items())
    added = f"type T9 implements {' & '.join(INTERFACES)} {{ {more} }} extend union U0 = T9 extend enum E0 {{ LATER }}"
    return replace(asked, schema=extend_schema(asked.schema, parse(added)))


class Oracle:
    """What may be answered, straight from the rules, one value at a time.

    Takes what the product's schemas take although no server should answer it, and nothing else:

    - anything for a custom scalar, null for a non-null one among it: nothing says how it is serialized;
    - an object without a key that is selected under a condition, or by one of several selections of the object that
      stands under one: conditions are not compared;
    - for an interface or a union, an object that would be right for another type than it is of: where ``__typename`` is
      not selected, nothing tells which it is;
    - any text for an enum, and objects of types that are not there yet, with what is selected of the interface or of
      others that they may implement;
    - any object for an interface that no object implements: JSON Schema's way to say "none" is one clients stumble at.

    Schemas are closed to keys that are not selected where types differ, and open elsewhere. So there are two oracles:
    what takes no further keys is the least that a schema has to take, and with ``further_keys`` it is the most.
    """

    def __init__(self, schema: GraphQLSchema, document: DocumentNode, *, further_keys: bool = False) -> None:
        self._schema = schema
        self._further_keys = further_keys
        (self._operation,) = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
        self._fragments = {
            node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)
        }

    def may_be(self, data: Any) -> bool:
        """Whether this may stand as ``data``, which is null when an error got that far."""
        assert self._schema.query_type
        return self._fits(data, self._schema.query_type, [(self._operation.selection_set, False)])

    def _fits(self, value: Any, type_: GraphQLOutputType, selected: Selected) -> bool:
        if get_named_type(type_).name == "S0" and not isinstance(_nullable(type_), GraphQLList):
            return True
        if isinstance(type_, GraphQLNonNull):
            return value is not None and self._fits(value, type_.of_type, selected)
        match type_:
            case _ if value is None:
                return True
            case GraphQLList():
                return isinstance(value, list) and all(self._fits(each, type_.of_type, selected) for each in value)
            case GraphQLEnumType():
                return isinstance(value, str)
            case _ if is_composite_type(type_):
                possible = possible_types(self._schema, get_named_type(type_))
                if not isinstance(value, dict):
                    return False
                named = get_named_type(type_)
                later = is_abstract_type(named) and self._is_of(named.name, value, selected)
                return not possible or later or any(self._is_of(name, value, selected) for name in possible)
            case _:
                name = get_named_type(type_).name
                return isinstance(value, SCALARS[name]) and (name == "Boolean" or not isinstance(value, bool))

    def _is_of(self, name: str, value: dict[str, Any], selected: Selected) -> bool:
        """The name of an abstract type stands for an object that is added to it later."""
        fields: dict[str, list[Node]] = {}
        for node in self._collected(name, name, selected):
            fields.setdefault((node.field.alias or node.field.name).value, []).append(node)
        required = {key for key, nodes in fields.items() if not all(node.conditional for node in nodes)}
        if not required <= value.keys() or not (self._further_keys or value.keys() <= fields.keys()):
            return False
        return all(self._fits_field(name, value[key], fields[key]) for key in value.keys() & fields.keys())

    def _fits_field(self, of: str, value: Any, nodes: list[Node]) -> bool:
        name = nodes[0].field.name.value
        if name == "__typename":
            return isinstance(value, str) if is_abstract_type(self._schema.type_map[of]) else bool(value == of)
        types = {str(node.type): node.type for node in nodes}
        if len(types) > 1:
            return True
        below: dict[int, tuple[SelectionSetNode, bool]] = {}
        for node in sorted(nodes, key=lambda each: not each.conditional):
            if node.field.selection_set:
                below[id(node.field.selection_set)] = (node.field.selection_set, node.conditional)
        # An object that is there was selected: where there is one selection, by this one.
        selected = list(below.values()) if len(below) > 1 else [(each, False) for each, _ in below.values()]
        return self._fits(value, next(iter(types.values())), selected)

    def _collected(self, name: str, within: str, selected: Selected) -> Iterator[Node]:
        later = is_abstract_type(self._schema.type_map[name])
        for selections, above in selected:
            for node in selections.selections:
                conditional = above or bool(node.directives)
                if isinstance(node, FieldNode):
                    fields: Any = getattr(self._schema.type_map[within], "fields", {})
                    yield Node(node, getattr(fields.get(node.name.value), "type", None), conditional)
                    continue
                fragment: Any = self._fragments[node.name.value] if isinstance(node, FragmentSpreadNode) else node
                on = self._schema.type_map[fragment.type_condition.name.value] if fragment.type_condition else None
                if later and (on is None or is_abstract_type(on)):
                    inner = on.name if on else within
                    maybe = conditional or not self._has_all_of(inner, name)
                    yield from self._collected(name, inner, [(fragment.selection_set, maybe)])
                elif not later and (on is None or name in possible_types(self._schema, on)):
                    yield from self._collected(name, name, [(fragment.selection_set, conditional)])

    def _has_all_of(self, wide: str, narrow: str) -> bool:
        """Whether whatever is of one abstract type is of another: no interface here implements another one."""
        return wide == narrow


def _nullable(type_: GraphQLOutputType) -> GraphQLOutputType:
    return type_.of_type if isinstance(type_, GraphQLNonNull) else type_
