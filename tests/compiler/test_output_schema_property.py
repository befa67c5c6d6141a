"""Output schemas against graphql-core's executor: they take every answer that it gives, and none that is wrong."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLEnumType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLSchema,
    OperationDefinitionNode,
    SelectionSetNode,
    get_named_type,
    is_composite_type,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from handler.compiler.output_schema import output_schema
from tests.compiler.random_answers import possible_types, random_answer, random_request

Path = tuple[str | int, ...]
Selected = list[tuple[SelectionSetNode, bool]]
"""Selection sets of one object, and of each whether it stands under a condition."""

SOMETHING_ELSE: tuple[Any, ...] = (None, 7, 1.5, "wrong", True, [], {})
SCALARS = {"Int": (int,), "Float": (int, float), "String": (str,), "Boolean": (bool,), "ID": (str,)}


@settings(max_examples=300, derandomize=True, deadline=None, database=None)
@given(st.randoms(use_true_random=False), st.sampled_from([0, 0.05, 0.3]))
def test_whatever_is_answered_fits(random: Random, failures: float) -> None:
    asked = random_request(random)
    schema = output_schema(asked.document, asked.schema)
    Draft202012Validator.check_schema(schema)

    answer = random_answer(asked, random, failures=failures)

    Draft202012Validator(schema).validate(answer)


@settings(max_examples=300, derandomize=True, deadline=None, database=None)
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


class Oracle:
    """What may be answered, straight from the rules, one value at a time.

    Takes what the product's schemas take although no server should answer it, and nothing else:

    - anything for a custom scalar, null for a non-null one among it: nothing says how it is serialized;
    - an object without a key that is selected under a condition, or by one of several selections of the object that
      stands under one: conditions are not compared;
    - for an interface or a union, an object that would be right for another type than it is of: where ``__typename`` is
      not selected, nothing tells which it is;
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
                return isinstance(value, str) and value in type_.values
            case _ if is_composite_type(type_):
                possible = possible_types(self._schema, get_named_type(type_))
                if not isinstance(value, dict):
                    return False
                return not possible or any(self._is_of(name, value, selected) for name in possible)
            case _:
                name = get_named_type(type_).name
                return isinstance(value, SCALARS[name]) and (name == "Boolean" or not isinstance(value, bool))

    def _is_of(self, name: str, value: dict[str, Any], selected: Selected) -> bool:
        type_ = self._schema.type_map[name]
        assert isinstance(type_, GraphQLObjectType)
        fields: dict[str, list[tuple[FieldNode, bool]]] = {}
        for node, conditional in self._collected(name, selected):
            fields.setdefault((node.alias or node.name).value, []).append((node, conditional))
        required = {key for key, nodes in fields.items() if not all(conditional for _, conditional in nodes)}
        if not required <= value.keys() or not (self._further_keys or value.keys() <= fields.keys()):
            return False
        return all(self._fits_field(type_, value[key], fields[key]) for key in value.keys() & fields.keys())

    def _fits_field(self, type_: GraphQLObjectType, value: Any, nodes: list[tuple[FieldNode, bool]]) -> bool:
        name = nodes[0][0].name.value
        if name == "__typename":
            return bool(value == type_.name)
        below: dict[int, tuple[SelectionSetNode, bool]] = {}
        for node, conditional in sorted(nodes, key=lambda each: not each[1]):
            if node.selection_set:
                below[id(node.selection_set)] = (node.selection_set, conditional)
        # An object that is there was selected: where there is one selection, by this one.
        selected = list(below.values()) if len(below) > 1 else [(each, False) for each, _ in below.values()]
        return self._fits(value, type_.fields[name].type, selected)

    def _collected(self, name: str, selected: Selected) -> Iterator[tuple[FieldNode, bool]]:
        for selections, above in selected:
            for node in selections.selections:
                conditional = above or bool(node.directives)
                if isinstance(node, FieldNode):
                    yield node, conditional
                    continue
                fragment: Any = self._fragments[node.name.value] if isinstance(node, FragmentSpreadNode) else node
                on = fragment.type_condition
                if on is None or name in possible_types(self._schema, self._schema.type_map[on.name.value]):
                    yield from self._collected(name, [(fragment.selection_set, conditional)])


def _nullable(type_: GraphQLOutputType) -> GraphQLOutputType:
    return type_.of_type if isinstance(type_, GraphQLNonNull) else type_
