"""Values are the judge of schemas: if one fitted and fits no more, a difference has to be breaking."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from random import Random
from typing import Any

from jsonschema import Draft202012Validator

from handler.commands.changes.schema_comparison import ARGUMENT_CODES, schema_differences
from handler.compiler.codes import CHANGE_CODES
from tests.support.examples import examples

NOT_NULL = {"not": {"type": "null"}}
NAMES = ("p", "q", "r")
TYPES = ("D", "E")
MEMBERS = ("required", "enum", "const", "minLength", "maxLength", "minimum", "maximum", "pattern", "uniqueItems")
LEAVES: tuple[Mapping[str, Any], ...] = (
    {"type": "string"},
    {"type": "string", "minLength": 1},
    {"type": "string", "pattern": "^a"},
    {"type": "integer", "minimum": 1},
    {"type": "integer", "maximum": 3},
    {"type": "number", "minimum": 1},
    {"type": "boolean"},
    {"enum": ["A", "B"]},
    {"enum": ["A", None]},
    {"enum": ["B", "C"], "type": "string"},
    {"const": "A"},
    {"const": 1},
    {"type": ["string", "null"]},
    {"type": ["string", "integer"]},
    {},
)
TRIED: tuple[Any, ...] = (None, "A", "a", "abcd", 1, 4, 2.5, True, [], ["A"], {}, {"p": "A"})


def leaf(random: Random) -> Any:
    return deepcopy(random.choice(LEAVES))


def schema(random: Random, depth: int) -> Any:
    """A schema in a form of the compiler's or of a tool in Python."""
    reference = {"$ref": f"#/$defs/{random.choice(TYPES)}"}
    match random.randrange(10) if depth else 0:
        case 0 | 1:
            return leaf(random)
        case 2:
            return reference
        case 3:
            return {"anyOf": [schema(random, depth - 1) for _ in range(random.randint(2, 3))]}
        case 4:
            return {"anyOf": [reference, {"type": "null"}]}
        case 5:
            return random.choice([{"if": NOT_NULL, "then": reference}, {"allOf": [reference]}])
        case 6:
            items, single = schema(random, depth - 1), leaf(random)
            return {"if": {"type": "array"}, "then": {"items": items}, "else": single}
        case 7:
            return {"type": ["array", "null"], "items": schema(random, depth - 1), "uniqueItems": True}
        case 8:
            return {"type": "array", "prefixItems": [schema(random, depth - 1)], "minItems": 1, "maxItems": 1}
        case _:
            return members(random, depth)


def members(random: Random, depth: int) -> Any:
    names = random.sample(NAMES, random.randint(1, 3))
    properties = {name: schema(random, depth - 1) for name in names}
    required = [name for name in names if random.random() < 0.4]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def places(part: Any) -> Iterator[tuple[Any, Any]]:
    """Each container with a key of a part that an edit can replace."""
    for key, inner in part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ():
        if key in ("properties", "$defs", "anyOf", "prefixItems"):
            inside = list(inner) if isinstance(inner, dict) else range(len(inner))
            yield from ((inner, each) for each in inside)
        elif key in ("items", "else", *MEMBERS):
            yield part, key
        yield from places(inner)


def edited(before: Any, random: Random) -> Any:
    after = deepcopy(before)
    container, key = random.choice(list(places(after)))
    match key:
        case "required":
            container[key] = [name for name in container["properties"] if random.random() < 0.5]
        case "enum":
            container[key] = random.sample(["A", "B", "C", None], random.randint(1, 4))
        case "const":
            container[key] = "C"
        case "pattern":
            container[key] = "^b"
        case "uniqueItems":
            container[key] = False
        case "minLength" | "maxLength" | "minimum" | "maximum":
            container[key] = random.choice([1, 2, 3, 5])
        case _:
            container[key] = members(random, 2) if container is after["$defs"] else schema(random, 1)
    return after


def value(part: Any, root: Any, random: Random, depth: int = 0) -> Any:
    """A value that fits a part, or nearly."""
    match part:
        case _ if depth > 8 or not part or random.random() < 0.04:
            return deepcopy(random.choice(TRIED))
        case {"$ref": reference}:
            return value(root["$defs"][reference.rpartition("/")[2]], root, random, depth + 1)
        case {"anyOf": branches} | {"allOf": branches}:
            return value(random.choice(branches), root, random, depth + 1)
        case {"if": condition, "then": then, **rest} if condition == NOT_NULL or random.random() < 0.5:
            return [value(then["items"], root, random, depth + 1)] if rest else value(then, root, random, depth + 1)
        case {"else": single}:
            return value(single, root, random, depth + 1)
        case _:
            return plain(part, root, random, depth + 1)


def plain(part: Any, root: Any, random: Random, depth: int) -> Any:
    match part:
        case {"const": found}:
            return found
        case {"enum": found}:
            return random.choice(found)
        case {"properties": properties, "required": required}:
            chosen = [name for name in properties if name in required or random.random() < 0.6]
            return {name: value(properties[name], root, random, depth) for name in chosen}
        case {"prefixItems": positions}:
            return [value(each, root, random, depth) for each in positions]
        case {"items": items}:
            return [value(items, root, random, depth) for _ in range(random.randint(0, 2))]
        case _:
            return random.choice(TRIED[1:8])


def test_value_that_fits_no_more_is_a_breaking_difference() -> None:
    """Another value that newly fits is a difference, too."""
    random = Random("schemas")
    lost = 0
    for _ in range(examples(4_000, share=20)):
        before = {**members(random, 3), "$defs": {name: members(random, 2) for name in TYPES}}
        after = edited(before, random)
        found = [each for each in schema_differences(before, after) if each.kind in ARGUMENT_CODES]
        breaks = any(CHANGE_CODES[ARGUMENT_CODES[each.kind][0]].breaking for each in found)
        fits = [Draft202012Validator(each) for each in (before, after)]

        values = [value(before, before, random) for _ in range(0 if breaks else 10)]
        values += [value(after, after, random) for _ in range(0 if found else 10)]
        for each in values:
            is_lost, is_won = (fits[side].is_valid(each) and not fits[1 - side].is_valid(each) for side in (0, 1))
            told = json.dumps([before, after, each])
            assert not is_lost or breaks, told
            assert not is_won or found, told
        lost += breaks

    assert lost
