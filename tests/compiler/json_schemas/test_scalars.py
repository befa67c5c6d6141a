from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from handler.compiler.json_schemas.scalars import KNOWN
from handler.errors.calls import InvalidArguments
from handler.json_schema.formats import STANDARD_FORMATS
from handler.server.endpoints.arguments_validator import ArgumentsValidator
from tests.support.endpoints import compiled, prescribed_tool, problems_of, reported

# Advertised, values that are taken, values that are not.
BRANCHES: list[dict[str, Any]] = [
    {"type": "string"},
    {"type": "integer"},
    {"type": "number"},
    {"type": "boolean"},
    {"type": "object", "additionalProperties": True},
]
NULL = {"type": "null"}
ANY_LIST: dict[str, Any] = {"type": "array", "items": {"anyOf": [*BRANCHES, NULL]}}
ANY_VALUE: dict[str, Any] = {"anyOf": [*BRANCHES, ANY_LIST]}

EXAMPLES: dict[str, tuple[dict[str, Any], list[Any], list[Any]]] = {
    "DateTime": (
        {"type": "string", "format": "date-time"},
        ["2026-01-31T09:30:00Z", "2026-01-31T09:30:00.123+05:30"],
        ["now", 5],
    ),
    "ISO8601DateTime": ({"type": "string", "format": "date-time"}, ["2026-01-31T09:30:00Z"], ["now"]),
    "timestamptz": ({"type": "string", "format": "date-time"}, ["2026-01-31 09:30:00+00"], ["now-ish"]),
    "AWSDateTime": ({"type": "string", "format": "date-time"}, ["2026-01-31T09:30:00.000Z"], ["now"]),
    "Date": ({"type": "string", "format": "date"}, ["2026-01-31", "2026-01-31T00:00:00.000Z"], ["31.1.2026", 5]),
    "date": ({"type": "string", "format": "date"}, ["2026-01-31"], ["today"]),
    "LocalDate": ({"type": "string", "format": "date"}, ["2026-01-31"], ["today", "2026-01-31T00:00:00Z"]),
    "AWSDate": ({"type": "string", "format": "date"}, ["2026-01-31", "2026-01-31Z"], ["today"]),
    "Time": (
        {
            "type": "string",
            "description": "Time: a time of day, as 09:30:00Z, in some APIs with its date, as 2026-01-31T09:30:00Z.",
        },
        ["09:30:00Z", "09:30", "2026-01-31T09:30:00Z"],
        ["noon", 5],
    ),
    "AWSTime": ({"type": "string", "format": "time"}, ["09:30:00.000"], ["noon"]),
    "UUID": ({"type": "string", "format": "uuid"}, ["123e4567-e89b-12d3-a456-426614174000"], ["123", 5]),
    "Guid": ({"type": "string", "format": "uuid"}, ["123e4567-e89b-12d3-a456-426614174000"], ["123"]),
    "URL": ({"type": "string", "format": "uri"}, ["https://example.com", "/path?a=b"], ["", "no url"]),
    "URI": ({"type": "string", "format": "uri"}, ["urn:a:b"], ["no url", 5]),
    "AWSURL": ({"type": "string", "format": "uri"}, ["https://example.com"], ["no url"]),
    "EmailAddress": ({"type": "string", "format": "email"}, ["a@example.com"], ["a"]),
    "AWSEmail": ({"type": "string", "format": "email"}, ["a@example.com"], ["a"]),
    "JSON": ({**ANY_VALUE, "description": "JSON: any JSON value."}, [{"a": 1}, [1], "a", 1, True], []),
    "JSONObject": ({"type": "object", "additionalProperties": True}, [{"a": 1}], [[1], "a"]),
    "AWSJSON": ({"type": "string", "description": "AWSJSON: JSON, written as text."}, ['{"a": 1}'], [{"a": 1}]),
    "BigInt": (
        {
            "anyOf": [{"type": "string"}, {"type": "integer"}],
            "description": "BigInt: a whole number of any size, written as text.",
        },
        ["9223372036854775808", 5],
        ["five", 1.5],
    ),
    "Long": ({"type": "integer"}, [2**62, str(2**62)], ["five", 1.5]),
    "Decimal": ({"type": "number"}, [1.5, 2, "1.50"], ["1,5", True]),
    "AWSTimestamp": (
        {"type": "integer", "description": "AWSTimestamp: seconds since 1970-01-01T00:00:00Z."},
        [1769851800, -1],
        ["now"],
    ),
    "AWSPhone": (
        {"type": "string", "description": "AWSPhone: a phone number, as +14155550123."},
        ["+14155550123"],
        [14155550123],
    ),
    "AWSIPAddress": (
        {"type": "string", "description": "AWSIPAddress: an IPv4 or IPv6 address."},
        ["192.0.2.1", "192.0.2.0/24", "2001:db8::1"],
        [1],
    ),
    "PositiveInt": ({"type": "integer", "exclusiveMinimum": 0}, [1], [0]),
    "NonEmptyString": ({"type": "string", "minLength": 1}, ["a"], [""]),
    "Opaque": ({**ANY_VALUE, "description": "Opaque: any JSON value."}, [{"a": 1}, [1], "a", 1, True], []),
}


def tool_of(folder: Path, sdl: str, config: str = "", type_: str = "X") -> Any:
    files = {
        "index.graphql": f"{sdl} type Query {{ a(x: {type_}): Int }}",
        "operations/o.graphql": f"query O($x: {type_}!) @mcpTool {{ a(x: $x) }}",
        "config.yaml": config,
    }
    return prescribed_tool(compiled(folder, files), "O")


def takes(tool: Any, value: Any) -> bool:
    try:
        ArgumentsValidator("O", tool.arguments).check({"x": value})
    except InvalidArguments:
        return False
    return True


@pytest.mark.parametrize("name", EXAMPLES)
def test_scalar_is_known_by_its_name(tmp_path: Path, name: str) -> None:
    advertised, fitting, others = EXAMPLES[name]

    tool = tool_of(tmp_path, f"scalar {name}", type_=name)

    assert tool.entry["inputSchema"]["properties"]["x"] == advertised
    assert [value for value in fitting if not takes(tool, value)] == []
    assert [value for value in [*others, None] if takes(tool, value)] == []


def test_spelling_of_a_name_makes_no_difference(tmp_path: Path) -> None:
    for spelling in ("DateTime", "Datetime", "date_time", "DATETIME"):
        tool = tool_of(tmp_path, f"scalar {spelling}", type_=spelling)

        assert tool.entry["inputSchema"]["properties"]["x"] == {"type": "string", "format": "date-time"}


def test_every_schema_of_the_table_is_valid_and_advertises_standard_formats_only() -> None:
    for scalar in KNOWN.values():
        for schema in (scalar.advertised, scalar.enforced):
            Draft202012Validator.check_schema(schema)
        assert scalar.advertised.get("format", "date") in STANDARD_FORMATS


@pytest.mark.parametrize(
    "declared",
    [
        '"Takes `2021` for its first day, and `-P2W1D` for two weeks and a day ago." scalar DateTime',
        'scalar DateTime @specifiedBy(url: "https://example.com/dates")',
    ],
)
def test_formats_of_a_known_scalar_are_left_to_the_api_that_documents_its_own(tmp_path: Path, declared: str) -> None:
    tool = tool_of(tmp_path, declared, type_="DateTime")

    assert tool.entry["inputSchema"]["properties"]["x"]["format"] == "date-time"
    others: list[Any] = [5, [], None]
    assert all(takes(tool, text) for text in ("2021", "-P2W1D", "2026-01-31T09:30:00Z"))
    assert not any(takes(tool, value) for value in others)


@pytest.mark.parametrize("name", ["UnixDateTime", "Money", "country_code", "HTML", "DATETIME_TIMEZONE", "OrderID"])
def test_scalar_whose_name_ends_in_a_word_for_one_value_is_advertised_as_that(tmp_path: Path, name: str) -> None:
    tool = tool_of(tmp_path, f"scalar {name}", type_=name)

    assert tool.entry["inputSchema"]["properties"]["x"]["anyOf"] == [
        {"type": "string"},
        {"type": "integer"},
        {"type": "number"},
    ]
    others: list[Any] = [1769851800, "x", {}, [], True]
    assert all(takes(tool, value) for value in others)


@pytest.mark.parametrize("name", ["Anything", "Point", "Grid", "DateRange", "Metadata", "JSONValue", "_"])
def test_any_other_scalar_that_is_not_known_may_be_anything(tmp_path: Path, name: str) -> None:
    tool = tool_of(tmp_path, f"scalar {name}", type_=name)

    assert tool.entry["inputSchema"]["properties"]["x"]["anyOf"] == ANY_VALUE["anyOf"]


def test_link_of_a_scalar_stands_in_the_description(tmp_path: Path) -> None:
    link = 'scalar X @specifiedBy(url: "https://example.com/x")'
    known = 'scalar UUID @specifiedBy(url: "https://example.com/uuid")'
    described = f'"A part number." {link}'

    def description(sdl: str, type_: str) -> object:
        return tool_of(tmp_path, sdl, type_=type_).entry["inputSchema"]["properties"]["x"]["description"]

    assert description(link, "X") == "X: any JSON value, see https://example.com/x."
    assert description(known, "UUID") == "UUID: see https://example.com/uuid."
    assert description(described, "[X!]") == "A part number.\nX: any JSON value, see https://example.com/x."


OVERRIDES: list[tuple[str, dict[str, Any], list[Any], list[Any]]] = [
    (
        r"{type: string, pattern: '^\d+\.\d{2}$'}",
        {"type": "string", "pattern": r"^\d+\.\d{2}$"},
        ["12.99", "12.9", "1" * 2_000 + ".00"],
        [12.99],
    ),
    ("{type: string, format: date, maxLength: 10}", {"type": "string", "format": "date", "maxLength": 10},
     ["2026-01-31"], ["2026-01-31Z", "today"]),
    ("{type: string, format: uri}", {"type": "string", "format": "uri"}, ["https://example.com"], ["example.com"]),
    ("{type: string, format: time}", {"type": "string", "format": "time"}, ["09:30:00"], ["2026-01-31T09:30:00Z"]),
    ("{type: string, format: ipv4}", {"type": "string", "format": "ipv4"}, ["192.0.2.1"], ["::1"]),
    ("{type: string, enum: [A, '1', true]}", {"type": "string", "enum": ["A", "1", "true"]}, ["A", "true"],
     ["B", 1, True]),
    ("{type: string, minLength: 2}", {"type": "string", "minLength": 2}, ["ab"], ["a"]),
    ("{type: integer, minimum: -1, maximum: 1}", {"type": "integer", "minimum": -1, "maximum": 1}, [0], [2, "0"]),
    ("{type: number, exclusiveMinimum: 0.5, exclusiveMaximum: 1e3}",
     {"type": "number", "exclusiveMinimum": 0.5, "exclusiveMaximum": 1000}, [1, 0.6], [0.5, 1000]),
    ("{type: integer, exclusiveMinimum: 5, maximum: 6}", {"type": "integer", "exclusiveMinimum": 5, "maximum": 6},
     [6], [5]),
    ("{type: boolean}", {"type": "boolean"}, [True], ["true"]),
    ("{type: object}", {"type": "object", "additionalProperties": True}, [{}], [[]]),
    ("{type: array}", ANY_LIST, [[1]], [{}]),
    ("{}", ANY_VALUE, [1, "a", {}], []),
]  # fmt: skip


@pytest.mark.parametrize(("said", "advertised", "fitting", "others"), OVERRIDES)
def test_author_says_what_a_scalar_looks_like(
    tmp_path: Path, said: str, advertised: dict[str, Any], fitting: list[Any], others: list[Any]
) -> None:
    tool = tool_of(tmp_path, "scalar X", f"scalars: {{X: {said}}}")

    assert tool.entry["inputSchema"]["properties"]["x"] == advertised
    assert [value for value in fitting if not takes(tool, value)] == []
    assert [value for value in [*others, None] if takes(tool, value)] == []


def test_author_has_the_last_word_on_a_known_scalar(tmp_path: Path) -> None:
    tool = tool_of(tmp_path, "scalar DateTime", "scalars: {DateTime: {type: integer}}", type_="DateTime")

    assert tool.entry["inputSchema"]["properties"]["x"] == {"type": "integer"}
    assert takes(tool, 1769851800)


def test_author_s_enum_and_pattern_take_null_where_graphql_does(tmp_path: Path) -> None:
    files = {
        "index.graphql": "scalar X scalar Y type Query { a(x: X, y: Y): Int }",
        "operations/o.graphql": "query O($x: X, $y: Y) @mcpTool { a(x: $x, y: $y) }",
        "config.yaml": "scalars: {X: {type: string, enum: [A]}, Y: {type: string, pattern: b}}",
    }
    validator = ArgumentsValidator("O", prescribed_tool(compiled(tmp_path, files), "O").arguments)

    validator.check({"x": None, "y": None})
    validator.check({"x": "A", "y": "b"})


UNKNOWN_KEY = 'unknown-key: "scalars.Money.$ref"'


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("Mony: {}", 'unknown-scalar: "Mony" & did you mean Money?'),
        ("Thing: {}", 'unknown-scalar: "Thing"'),
        ("ID: {}", 'unknown-scalar: "ID"'),
        ("Money: string", "invalid-value: \"scalars.Money\" & 'string'"),
        (
            "Money: {type: text}",
            "invalid-value: \"scalars.Money.type\" & 'text'",
        ),
        ("Money: {pattern: a}", "invalid-value: \"scalars.Money.pattern\" & 'a'"),
        (
            "Money: {type: integer, pattern: a}",
            "invalid-value: \"scalars.Money.pattern\" & type string & 'a'",
        ),
        (
            "Money: {type: object, minimum: 1}",
            "invalid-value: \"scalars.Money.minimum\" & integer or number & '1'",
        ),
        (
            "Money: {type: string, format: d}",
            f"invalid-value: \"scalars.Money.format\" & {' or '.join(sorted(STANDARD_FORMATS))} & 'd'",
        ),
        (
            "Money: {type: string, minLength: -1}",
            "invalid-value: \"scalars.Money.minLength\" & 0 to 1000000 & '-1'",
        ),
        (
            "Money: {type: string, pattern: a, maxLength: 1000001}",
            "invalid-value: \"scalars.Money.maxLength\" & 0 to 1000000 & '1000001'",
        ),
        ("Money: {type: string, maxLength: 1.5}", "invalid-value: \"scalars.Money.maxLength\" & '1.5'"),
        (
            "Money: {type: number, minimum: x}",
            "invalid-value: \"scalars.Money.minimum\" & -1e+300 to 1e+300 & 'x'",
        ),
        (
            "Money: {type: string, minLength: 3, maxLength: 2}",
            "invalid-value: \"scalars.Money.maxLength\" & minLength & '2'",
        ),
        (
            "Money: {type: integer, minimum: 3, maximum: -2}",
            "invalid-value: \"scalars.Money.maximum\" & minimum & '-2'",
        ),
        (
            "Money: {type: number, exclusiveMinimum: 5, exclusiveMaximum: 5}",
            "invalid-value: \"scalars.Money.exclusiveMaximum\" & exclusiveMinimum & '5'",
        ),
        (
            "Money: {type: number, minimum: 5, exclusiveMaximum: 5}",
            "invalid-value: \"scalars.Money.exclusiveMaximum\" & minimum & '5'",
        ),
        (
            "Money: {type: number, exclusiveMinimum: 5, maximum: 4}",
            "invalid-value: \"scalars.Money.maximum\" & exclusiveMinimum & '4'",
        ),
        (
            "Money: {type: integer, exclusiveMinimum: 5, exclusiveMaximum: 6}",
            "invalid-value: \"scalars.Money.exclusiveMaximum\" & whole number & exclusiveMinimum & '6'",
        ),
        (
            "Money: {type: integer, minimum: 0.2, maximum: 0.8}",
            "invalid-value: \"scalars.Money.maximum\" & whole number & minimum & '0.8'",
        ),
        ("Money: {type: string, enum: []}", 'invalid-value: "scalars.Money.enum"'),
        (
            "Money: {type: string, pattern: (a+}",
            'invalid-pattern: "(a+"',
        ),
        (
            "Money: {type: string, $ref: a}",
            UNKNOWN_KEY,
        ),
    ],
)
def test_what_an_author_says_wrongly_is_reported_at_its_place(tmp_path: Path, said: str, problem: str) -> None:
    files = {
        "index.graphql": "scalar Money type Query { a(m: Money): Thing } type Thing { b: Int }",
        "config.yaml": f"scalars:\n  {said}\n",
    }

    (line,) = reported(tmp_path, files)

    assert line == problem
    assert line.startswith("config.yaml:2:")


def test_problem_stands_at_the_key_or_the_value_that_is_wrong(tmp_path: Path) -> None:
    files = {
        "index.graphql": "scalar Money type Query { a(m: Money): Int }",
        "config.yaml": "scalars:\n  Mony: {type: text}\n  Money:\n    type: string\n    pattern: '(a'\n",
    }

    assert reported(tmp_path, files) == [
        'config.yaml:2:3 unknown-scalar: "Mony" & did you mean Money?',
        "config.yaml:2:16 invalid-value: \"scalars.Mony.type\" & 'text'",
        'config.yaml:5:14 invalid-pattern: "(a"',
    ]


@pytest.mark.parametrize(
    "pattern",
    [
        "(?=a)b", "(?!a)b", "(?<=a)b", r"(a)\1", "(?i)a", "(?P<n>a)", "(?>a)", "a++", "a{2}{3}", "a{,3}", "a{1,", "{",
        "}", "]", "[[:alpha:]]", "[]a]", "[]", r"\p{L}", r"\A", r"\Z", r"\u0041", r"\-", r"\8", r"\x4", "*", "\\",
        "(", "[z-a]", "a" * 201, "a{2,1}",
    ],
)  # fmt: skip
def test_pattern_that_a_client_could_not_read_is_refused(tmp_path: Path, pattern: str) -> None:
    """A client that cannot compile a pattern loses the tool, and some lose the whole list."""
    files = {
        "index.graphql": "scalar X type Query { a(x: X): Int }",
        "config.yaml": f"scalars: {{X: {{type: string, pattern: {json.dumps(pattern)}}}}}",
    }

    assert [each.code for each in problems_of(tmp_path, files)] == ["invalid-pattern"]


@pytest.mark.parametrize(
    ("pattern", "fits"),
    [(r"^\d+$", True), ("^(5|6)$", True), (r"^(\d+\s?)*$", True), (r"^[^\d]", False), ("^(a+)+$", False)],
)
def test_default_is_listed_if_a_client_would_take_it(tmp_path: Path, pattern: str, *, fits: bool) -> None:
    files = {
        "index.graphql": "scalar X type Query { a(x: X): Int }",
        "operations/o.graphql": 'query O($x: X = "5") @mcpTool { a(x: $x) }',
        "config.yaml": f"scalars: {{X: {{type: string, pattern: '{pattern}'}}}}",
    }
    tool = prescribed_tool(compiled(tmp_path, files), "O")

    assert ("default" in tool.entry["inputSchema"]["properties"]["x"]) is fits
