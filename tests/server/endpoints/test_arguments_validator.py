"""What a model reads when its arguments do not fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from handler.errors.calls import InvalidArguments
from handler.json_schema.checker import MAX_VIOLATIONS
from handler.server.endpoints.arguments_validator import ArgumentsValidator
from tests.support.endpoints import READABLE, compiled
from tests.support.function import running_function

SCHEMA = """
schema { query: Query }
enum Size { SMALL LARGE }
input Part { name: String! size: Size = SMALL weight: Float }
input Tree { value: Int! left: Tree right: Tree }
input Key @oneOf { id: ID name: String }
scalar DateTime
scalar BigInt
scalar Decimal
scalar Opaque
scalar Code
scalar Grade
scalar Share
type Query {
  find(id: ID, count: Int!, part: Part, parts: [Part!], tree: Tree, deep: [[Int!]!]): Int
  keys(key: Key, keys: [Key!], key2: Key): Int
  sizes(sizes: [Size!], opaque: Opaque!): Int
  scalars(at: DateTime, ats: [DateTime!], big: BigInt, price: Decimal, code: Code, grade: Grade, share: Share): Int
}
"""
OPERATION = """
query Find($id: ID, $count: Int!, $part: Part, $parts: [Part!], $tree: Tree, $deep: [[Int!]!]) @mcpTool {
  find(id: $id, count: $count, part: $part, parts: $parts, tree: $tree, deep: $deep)
}
"""

CONFIG = r"""
scalars:
  Code: {type: string, pattern: '^[A-Z]+-\d+$', minLength: 4, maxLength: 20}
  Grade: {type: string, enum: [A, B]}
  Share: {type: number, exclusiveMinimum: 0, exclusiveMaximum: 1}
"""


@pytest.fixture
def validator(tmp_path: Path) -> ArgumentsValidator:
    (tool,) = compiled(tmp_path, {"index.graphql": SCHEMA, "operations/find.graphql": OPERATION}).bundle.tools
    return ArgumentsValidator("Find", tool.arguments)


def validator_of(folder: Path, operation: str) -> ArgumentsValidator:
    files = {"index.graphql": SCHEMA, "operations/o.graphql": operation, "config.yaml": CONFIG}
    (tool,) = compiled(folder, files).bundle.tools
    return ArgumentsValidator(tool.name, tool.arguments)


def violations_of(validator: ArgumentsValidator, arguments: dict[str, Any]) -> list[str]:
    with pytest.raises(InvalidArguments) as caught:
        validator.check(arguments)
    return list(caught.value.violations)


FITTING: list[dict[str, Any]] = [
    {"count": 1},
    {"count": -(2**31), "id": "a"},
    {"count": 1, "id": 7, "part": None},
    {"count": 1, "part": {"name": "x", "size": "LARGE", "weight": 1}},
    {"count": 1, "part": {"name": "x", "size": None, "weight": 1.5}},
    {"count": 1, "parts": [], "deep": [[], [1, 2]]},
    {"count": 1, "tree": {"value": 1, "left": {"value": 2, "right": None}}},
]

VIOLATIONS: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ["/count: required, but missing"]),
    ({"count": None}, ["/count: expected integer, got null"]),
    ({"count": True}, ["/count: expected integer, got boolean true"]),
    ({"count": "1"}, ['/count: expected integer, got string "1"']),
    ({"count": 2**31}, ["/count: expected at most 2147483647, got integer 2147483648"]),
    ({"count": -(2**31) - 1}, ["/count: expected at least -2147483648, got integer -2147483649"]),
    ({"count": 1, "id": 1.5}, ["/id: expected string or integer or null, got number 1.5"]),
    ({"count": 1, "part": {}}, ["/part/name: required, but missing"]),
    ({"count": 1, "part": "x"}, ['/part: expected object, got string "x"']),
    (
        {"count": 1, "part": {"name": "x", "size": "small"}},
        ['/part/size: expected one of "SMALL", "LARGE", null, got string "small"'],
    ),
    ({"count": 1, "part": {"name": "x", "wieght": 1}}, ["/part/wieght: unknown name; did you mean weight?"]),
    ({"count": 1, "parts": [{"name": "x"}, {"name": 1}]}, ["/parts/1/name: expected string, got integer 1"]),
    ({"count": 1, "parts": [None]}, ["/parts/0: expected object, got null"]),
    ({"count": 1, "deep": [[1], ["x"]]}, ['/deep/1/0: expected integer, got string "x"']),
    ({"count": 1, "tree": {"value": 1, "left": {}}}, ["/tree/left/value: required, but missing"]),
    ({"count": 1, "a/b~c": 1}, ["/a~1b~0c: unknown name; known here: id, count, part, parts, tree, deep"]),
    ({"count": "x", "id": [], "zzz": 1}, [
        "/id: expected string or integer or null, got array",
        '/count: expected integer, got string "x"',
        "/zzz: unknown name; known here: id, count, part, parts, tree, deep",
    ]),
]  # fmt: skip


@pytest.mark.parametrize("arguments", FITTING)
def test_arguments_that_fit_pass(validator: ArgumentsValidator, arguments: dict[str, Any]) -> None:
    validator.check(arguments)


@pytest.mark.parametrize(("arguments", "violations"), VIOLATIONS)
def test_every_violation_is_named(
    validator: ArgumentsValidator, arguments: dict[str, Any], violations: list[str]
) -> None:
    with pytest.raises(InvalidArguments) as caught:
        validator.check(arguments)

    assert list(caught.value.violations) == violations
    assert str(caught.value) == "Invalid arguments for tool Find: " + "; ".join(violations)


KEYS = "query Keys($key: Key, $keys: [Key!], $key2: Key) @mcpTool { keys(key: $key, keys: $keys, key2: $key2) }"


@pytest.mark.parametrize(
    ("arguments", "violations"),
    [
        ({"key": {}}, ["/key: expected exactly one of id, name, got none"]),
        ({"key": {"id": 1, "name": "a"}}, ["/key: expected exactly one of id, name, got id, name"]),
        ({"key": {"id": None}}, ["/key/id: expected string or integer, got null"]),
        ({"key": {"nam": "a"}}, ["/key/nam: unknown name; did you mean name?"]),
        ({"key": 5}, ["/key: expected object, got integer 5"]),
        ({"keys": 5}, ["/keys: expected array or object, got integer 5"]),
        ({"keys": {}}, ["/keys: expected exactly one of id, name, got none"]),
        (
            {"keys": [{"id": 1}, {}, None]},
            ["/keys/1: expected exactly one of id, name, got none", "/keys/2: expected object, got null"],
        ),
    ],
)
def test_violation_of_a_reference_or_a_one_of_reads_as_well(
    tmp_path: Path, arguments: dict[str, Any], violations: list[str]
) -> None:
    assert violations_of(validator_of(tmp_path, KEYS), arguments) == violations


SIZES = "query Sizes($sizes: [Size!], $opaque: Opaque!) @mcpTool { sizes(sizes: $sizes, opaque: $opaque) }"


@pytest.mark.parametrize(
    ("arguments", "violations"),
    [
        ({"sizes": "small"}, ['/sizes: expected an array or one of "SMALL", "LARGE", null, got string "small"']),
        ({"sizes": ["small"]}, ['/sizes/0: expected one of "SMALL", "LARGE", got string "small"']),
        ({"sizes": [None]}, ['/sizes/0: expected one of "SMALL", "LARGE", got null']),
        ({"sizes": 5}, ['/sizes: expected an array or one of "SMALL", "LARGE", null, got integer 5']),
        ({"opaque": None}, ["/opaque: expected a value, got null"]),
    ],
)
def test_violation_of_a_branch_reads_as_well(tmp_path: Path, arguments: dict[str, Any], violations: list[str]) -> None:
    assert violations_of(validator_of(tmp_path, SIZES), {"opaque": 1, **arguments}) == violations


SCALARS = """
query Scalars(
  $at: DateTime, $ats: [DateTime!], $big: BigInt, $price: Decimal, $code: Code, $grade: Grade, $share: Share
) @mcpTool { scalars(at: $at, ats: $ats, big: $big, price: $price, code: $code, grade: $grade, share: $share) }
"""


@pytest.mark.parametrize(
    ("arguments", "violations"),
    [
        ({"at": "now"}, ['/at: expected a date and time, as 2026-01-31T09:30:00Z, got string "now"']),
        ({"at": 5}, ["/at: expected string or null, got integer 5"]),
        ({"ats": "now"}, ['/ats: expected a date and time, as 2026-01-31T09:30:00Z, got string "now"']),
        ({"ats": 5}, ["/ats: expected array or string or null, got integer 5"]),
        ({"ats": [None]}, ["/ats/0: expected string, got null"]),
        ({"big": "x"}, ['/big: expected a whole number, as 12, got string "x"']),
        ({"big": 1.5}, ["/big: expected integer or string or null, got number 1.5"]),
        ({"price": "1,5"}, ['/price: expected a decimal number, as 12.5, got string "1,5"']),
        ({"code": "A-1"}, ['/code: expected a length of at least 4, got string "A-1"']),
        (
            {"code": "ABCDEFGHIJKLMNOPQR-12"},
            ['/code: expected a length of at most 20, got string "ABCDEFGHIJKLMNOPQR-12"'],
        ),
        (
            {"code": "A" * 1_001},
            [f'/code: expected a length of at most 20, got string "{"A" * 78}…'],
        ),
        ({"grade": "C"}, ['/grade: expected one of "A", "B", null, got string "C"']),
        ({"grade": 5}, ['/grade: expected one of "A", "B", null, got integer 5']),
        ({"share": 0}, ["/share: expected more than 0, got integer 0"]),
        ({"share": 1.0}, ["/share: expected less than 1, got number 1.0"]),
    ],
)
def test_violation_of_a_scalar_says_what_it_looks_like(
    tmp_path: Path, arguments: dict[str, Any], violations: list[str]
) -> None:
    assert violations_of(validator_of(tmp_path, SCALARS), arguments) == violations


@pytest.mark.parametrize("text", ["AB-1\n", "AB-１", "?", "A" * 1_500 + "!"])
def test_pattern_of_a_scalar_is_for_clients_alone(tmp_path: Path, text: str) -> None:
    config = "scalars: {Code: {type: string, pattern: '^(A+)+$'}}"
    files = {"index.graphql": SCHEMA, "operations/o.graphql": SCALARS, "config.yaml": config}
    (tool,) = compiled(tmp_path, files).bundle.tools
    code = {"type": "string", "pattern": r"^(A+)+\Z", "$comment": "^(A+)+$"}
    earlier = {**tool.arguments, "properties": {**tool.arguments["properties"], "code": code}}

    assert tool.entry["inputSchema"]["properties"]["code"] == {"type": "string", "pattern": "^(A+)+$"}
    for schema in (tool.arguments, earlier):  # a bundle that was stored before has the pattern here, too
        validator = ArgumentsValidator("O", schema)
        validator.check({"code": text})
        assert validator.read({"code": text}) == {"code": text}
        assert validator.misfits({"code": text, "at": "now"}) == ["at"]
        assert violations_of(validator, {"code": text, "at": 5}) == ["/at: expected string or null, got integer 5"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"at": "2026-01-31T09:30:00+01:00", "ats": "2026-01-31T09:30:00.5Z", "big": 2**70, "price": 1.5},
        {"at": None, "ats": ["2026-01-31 09:30:00"], "big": str(2**70), "price": "1.50"},
        {"code": "ABC-12", "grade": "A", "share": 0.5},
        {"code": None, "grade": None, "share": None, "ats": None},
    ],
)
def test_scalars_that_fit_pass(tmp_path: Path, arguments: dict[str, Any]) -> None:
    validator_of(tmp_path, SCALARS).check(arguments)


def test_value_of_a_long_enum_is_suggested(tmp_path: Path) -> None:
    values = " ".join(f"VALUE_{n}" for n in range(40))
    files = {
        "index.graphql": f"enum Place {{ {values} }} type Query {{ a(place: Place!): Int }}",
        "operations/o.graphql": "query O($place: Place!) @mcpTool { a(place: $place) }",
    }
    (tool,) = compiled(tmp_path, files).bundle.tools
    validator = ArgumentsValidator("O", tool.arguments)

    (near,) = violations_of(validator, {"place": "value_33"})
    (far,) = violations_of(validator, {"place": "?"})

    assert near.startswith('/place: expected one of "VALUE_0", "VALUE_1", ')
    assert near.endswith('"VALUE_29" and 10 more (did you mean "VALUE_33"?), got string "value_33"')
    assert far.endswith('"VALUE_29" and 10 more, got string "?"')


@pytest.mark.parametrize(
    ("schema", "value", "violation"),
    [
        ({"contains": {"const": 1}}, [], '/x: expected contains {"const": 1}, got array'),
        ({"not": {"const": "b"}}, "b", '/x: expected not {"const": "b"}, got string "b"'),
        ({"minProperties": 2}, {"a": 1}, "/x: expected at least 2 of any members, got object"),
        ({"not": {"enum": [5, "a" * 100]}}, 5, f'/x: expected not {{"enum": [5, "{"a" * 65}…, got integer 5'),
    ],
)
def test_violation_of_any_other_keyword_names_it(schema: dict[str, Any], value: Any, violation: str) -> None:
    validator = ArgumentsValidator("t", {"type": "object", "properties": {"x": schema}})

    assert violations_of(validator, {"x": value}) == [violation]


def test_format_that_nobody_checks_takes_every_text() -> None:
    ArgumentsValidator("t", {"properties": {"x": {"format": "color"}}}).check({"x": "?"})


HUGE = "x" * 1_000_000


@pytest.mark.parametrize(
    "arguments",
    [
        {"count": HUGE},
        {"count": 1, HUGE: 1},
        {"count": 1, "part": {"name": "a", HUGE: 1}},
        {"count": 1, "part": {"name": "a", "size": HUGE}},
        {"count": 1, "part": {"name": 10**4_000}},
        {"count": 1, "part": {"name": {HUGE: HUGE}}},
    ],
)
def test_no_more_than_a_piece_of_a_value_or_name_is_quoted(
    validator: ArgumentsValidator, arguments: dict[str, Any]
) -> None:
    assert len("".join(violations_of(validator, arguments))) < 250


def test_names_given_to_a_one_of_are_quoted_in_pieces(tmp_path: Path) -> None:
    given = {f"{n}{HUGE}": 1 for n in range(3)}

    assert len("".join(violations_of(validator_of(tmp_path, KEYS), {"key": given}))) < 1_000


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("EMAIL", "email"),
        ("ID", "id"),
        ("Id", "id"),
        ("FIRST_NAME", "firstName"),
        ("first_name", "firstName"),
        ("FirstNam", "firstName"),
        ("userid", "userId"),
        ("USER_ID", "user_id"),
        ("emial", "email"),
    ],
)
def test_nearest_name_is_found_whatever_its_case(name: str, meant: str) -> None:
    names = ["d", "id", "email", "firstName", "userId", "user_id"]
    schema = {"type": "object", "properties": {each: {} for each in names}, "additionalProperties": False}

    assert violations_of(ArgumentsValidator("t", schema), {name: 1}) == [
        f"/{name}: unknown name; did you mean {meant}?"
    ]


@pytest.mark.parametrize(
    ("arguments", "count", "more"),
    [
        ({"count": 1, "parts": [{"name": 5}] * MAX_VIOLATIONS}, MAX_VIOLATIONS, False),
        ({"count": 1, "parts": [{"name": 5}] * (MAX_VIOLATIONS + 1)}, MAX_VIOLATIONS, True),
        ({"count": 1, **{f"?{n}": 1 for n in range(MAX_VIOLATIONS)}}, MAX_VIOLATIONS, False),
        ({"count": 1, **{f"?{n}": 1 for n in range(MAX_VIOLATIONS + 1)}}, MAX_VIOLATIONS, True),
    ],
)
def test_violations_beyond_a_bounded_number_are_more(
    validator: ArgumentsValidator, arguments: dict[str, Any], count: int, more: bool
) -> None:
    violations = violations_of(validator, arguments)

    assert len([each for each in violations if each.startswith("/")]) == count
    assert violations[count:] == (["and more"] if more else [])


def test_very_many_violations_are_cut_to_a_bounded_text(validator: ArgumentsValidator) -> None:
    with pytest.raises(InvalidArguments) as caught:
        validator.check({"count": 1, "parts": [{"name": 5}] * 100_000})

    assert len(str(caught.value)) <= InvalidArguments.MAX_CHARS


@pytest.mark.parametrize("levels", [65, 300, 700])  # a thousand frames are all that Python has, and tests take some
def test_arguments_nested_too_deeply_are_refused_for_tools_of_every_kind(tmp_path: Path, levels: int) -> None:
    files = {
        "index.graphql": f"{SCHEMA} extend schema @tool(name: "
        '"all", graphql: {expose: true, types: "Query", fields: ".*"})',
        "operations/find.graphql": OPERATION,
        "config.yaml": READABLE,
    }
    tree: dict[str, Any] = {"value": 1}
    for _ in range(levels):
        tree = {"value": 1, "left": tree}
    with running_function(compiled(tmp_path, files), development=True) as function:
        prescribed = function.call("Find", {"count": 1, "tree": tree})
        graphql = function.query("all", "query($t: Tree) { find(count: 1, tree: $t) }", variables={"t": tree})

    assert prescribed.text == "Invalid arguments for tool Find: /: nested more than 64 deep"
    assert graphql.text == "Invalid arguments for tool all: /: nested more than 64 deep"


def test_arguments_nested_as_deep_as_allowed_are_judged(validator: ArgumentsValidator) -> None:
    tree: dict[str, Any] = {"value": 1}
    for _ in range(62):
        tree = {"value": 1, "left": tree}

    validator.check({"count": 1, "tree": tree})
