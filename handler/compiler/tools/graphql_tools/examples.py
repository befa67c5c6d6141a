"""``examples`` of an author: calls of a tool, whose values become ``examples`` of the variables in its input schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphql import (
    DirectiveNode,
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    Node,
    ObjectValueNode,
)

from handler.compiler.json_schemas.defaults import fits, json_of
from handler.compiler.json_schemas.inputs import Inputs
from handler.compiler.operations.author_operations import AuthorOperation
from handler.compiler.problems import Problems
from handler.compiler.schema.directives import items_of
from handler.strict_json import JSONObject
from handler.text.sentences import did_you_mean

MAX_EXAMPLES = 5
MAX_EXAMPLE_BYTES = 1_000
"""A model reads the list of tools at every turn."""


@dataclass(frozen=True, kw_only=True)
class ExampleReader:
    """Reader of the examples of one tool. ``advertised`` and ``enforced`` are the schemas of its variables."""

    operation: AuthorOperation
    inputs: Inputs
    advertised: JSONObject
    enforced: JSONObject
    definitions: tuple[JSONObject, JSONObject]  # of both schemas
    problems: Problems

    def with_examples(self, node: DirectiveNode, examples: Sequence[Any]) -> JSONObject:
        """Return the advertised schema of the variables with the examples that fit, after reporting the others."""
        if len(examples) > MAX_EXAMPLES:
            self._refuse(node, f"{len(examples)} are given: expected at most {MAX_EXAMPLES}")
        found: dict[str, list[Any]] = {}
        for at, example in zip(items_of(node, "examples"), examples, strict=False):
            for name, value in self._fitting(at, example).items():
                texts = {json.dumps(each) for each in found.setdefault(name, [])}  # true is not 1
                if json.dumps(value) not in texts:
                    found[name].append(value)
        properties = self.advertised["properties"]
        filled = {name: {**properties[name], "examples": values} for name, values in found.items()}
        return {**self.advertised, "properties": {**properties, **filled}}

    def _fitting(self, at: Node, example: Any) -> JSONObject:
        if isinstance(at, ObjectValueNode):  # literals are those of the types: 5 may be an ID
            types = self.inputs.types
            example = {each.name.value: json_of(each.value, types.get(each.name.value)) for each in at.fields}
        faults = list(self._faults(example))
        for fault in faults:
            self._refuse(at, fault)
        return {} if faults else dict(example)

    def _refuse(self, at: Node, sentence: str) -> None:
        self.problems.add(at, f"examples: {sentence}", code="invalid-example")

    def _faults(self, example: Any) -> Iterator[str]:
        """Yield the faults of one example. No sentence shows a value."""
        if not isinstance(example, dict):
            yield "expected an object of variables and their values"
            return
        try:
            size = len(json.dumps(example, ensure_ascii=False, allow_nan=False).encode())
        except (TypeError, ValueError):
            yield "a value cannot be written as JSON"
            return
        if size > MAX_EXAMPLE_BYTES:
            yield f"it has {size:,} bytes: expected at most {MAX_EXAMPLE_BYTES:,}"
        bound = {node.variable.name.value for node in self.operation.bound}
        known = self.advertised["properties"]
        yield from (f"${name} is required" for name in self.enforced.get("required", ()) if name not in example)
        for name, value in example.items():
            if name in bound:
                yield f"${name} is bound: its value never comes from a call"
            elif name not in known:
                yield f"there is no variable ${name}{did_you_mean(name, list(known))}"
            else:
                yield from self._faults_of(name, value)

    def _faults_of(self, name: str, value: Any) -> Iterator[str]:
        type_ = self.inputs.types[name]
        schemas = zip((self.advertised, self.enforced), self.definitions, strict=True)
        if not all(fits(value, {**whole["properties"][name], "$defs": below}) for whole, below in schemas):
            yield f"the value of ${name} does not fit its type {type_}"
        for coordinate in dict.fromkeys(_members_in(value, type_)):
            owner, _, member = coordinate.partition(".")
            if member in self._guarded(owner):
                yield f"${name} uses {coordinate}, which some callers of the tool may not know"

    def _guarded(self, owner: str) -> Mapping[str, Any]:
        types = {type_.name: type_ for type_ in self.inputs.defined}
        return self.inputs.guards(types[owner]) if owner in types else {}


def _members_in(value: Any, type_: Any) -> Iterator[str]:
    """Yield the coordinates of the input fields and enum values in a JSON value."""
    match type_:
        case GraphQLNonNull():
            yield from _members_in(value, type_.of_type)
        case GraphQLList():
            for item in value if isinstance(value, list) else [value]:
                yield from _members_in(item, type_.of_type)
        case GraphQLInputObjectType() if isinstance(value, dict):
            for name, below in value.items():
                if name in type_.fields:
                    yield f"{type_.name}.{name}"
                    yield from _members_in(below, type_.fields[name].type)
        case GraphQLEnumType() if isinstance(value, str):
            yield f"{type_.name}.{value}"
