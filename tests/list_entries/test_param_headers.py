"""Which arguments of a tool are repeated in headers, and where a schema may not say so."""

from __future__ import annotations

from typing import Any

import pytest
from mcp.shared.inbound import find_invalid_x_mcp_header, x_mcp_header_map

from handler.errors.authoring import ToolDefinitionError
from handler.list_entries import mirrored_in
from handler.server.asgi.headers import decoded, find_mismatch
from stile import Toolkit

REGION = {"type": "string", "x-mcp-header": "Region"}


def with_properties(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


FINE: dict[str, tuple[dict[str, Any], dict[tuple[str, ...], str]]] = {
    "none": ({"type": "object"}, {}),
    "one": (with_properties(region=REGION, query={"type": "string"}), {("region",): "Region"}),
    "nested": (
        with_properties(options=with_properties(limit={"type": "integer", "x-mcp-header": "Limit"})),
        {("options", "limit"): "Limit"},
    ),
    "all types": (
        with_properties(
            a=REGION, b={"type": "boolean", "x-mcp-header": "B!"}, c={"type": "integer", "x-mcp-header": "c"}
        ),
        {("a",): "Region", ("b",): "B!", ("c",): "c"},
    ),
    "a property of that name": (with_properties(**{"x-mcp-header": {"type": "number"}}), {}),
    "a value of that name": ({**with_properties(), "default": {"x-mcp-header": 1}, "enum": [{"x-mcp-header": 2}]}, {}),
}

BAD: dict[str, dict[str, Any]] = {
    "no text": with_properties(region={"type": "string", "x-mcp-header": 7}),
    "empty": with_properties(region={"type": "string", "x-mcp-header": ""}),
    "a space": with_properties(region={"type": "string", "x-mcp-header": "My Region"}),
    "a line end": with_properties(region={"type": "string", "x-mcp-header": "Region\n"}),
    "a colon": with_properties(region={"type": "string", "x-mcp-header": "Region:"}),
    "no ASCII": with_properties(region={"type": "string", "x-mcp-header": "Größe"}),
    "a number": with_properties(region={"type": "number", "x-mcp-header": "Region"}),
    "an object": with_properties(region={"type": "object", "x-mcp-header": "Region"}),
    "two types": with_properties(region={"type": ["string", "null"], "x-mcp-header": "Region"}),
    "no type": with_properties(region={"x-mcp-header": "Region"}),
    "twice": with_properties(a=REGION, b=with_properties(c={"type": "string", "x-mcp-header": "REGION"})),
    "the root": {"type": "object", "x-mcp-header": "Region"},
    "items": with_properties(all={"type": "array", "items": REGION}),
    "below items": with_properties(all={"type": "array", "items": with_properties(region=REGION)}),
    "anyOf": {"type": "object", "anyOf": [with_properties(region=REGION)]},
    "a property's anyOf": with_properties(region={"anyOf": [REGION]}),
    "if": {"type": "object", "if": with_properties(region=REGION)},
    "$defs": {"type": "object", "$defs": {"Region": REGION}},
    "additionalProperties": {"type": "object", "additionalProperties": REGION},
    "patternProperties": {"type": "object", "patternProperties": {".": REGION}},
    "prefixItems": with_properties(all={"type": "array", "prefixItems": [REGION]}),
    "not": {"type": "object", "not": with_properties(region=REGION)},
}

SECRET = {
    "a password": with_properties(region={**REGION, "format": "password"}),
    "write-only": with_properties(region={**REGION, "writeOnly": True}),
}


@pytest.mark.parametrize("name", FINE)
def test_mirrored_arguments_are_those_that_clients_repeat(name: str) -> None:
    schema, expected = FINE[name]

    assert {each.path: each.name for each in mirrored_in(schema)} == expected
    assert find_invalid_x_mcp_header(schema) is None
    assert x_mcp_header_map(schema) == expected


@pytest.mark.parametrize("name", BAD)
def test_what_makes_clients_drop_a_tool_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="x-mcp-header"):
        mirrored_in(BAD[name])
    assert find_invalid_x_mcp_header(BAD[name])


@pytest.mark.parametrize("name", SECRET)
def test_secrets_are_not_mirrored(name: str) -> None:
    with pytest.raises(ValueError, match="x-mcp-header would put a secret where logs and proxies see it"):
        mirrored_in(SECRET[name])


def test_a_tool_with_a_bad_annotation_is_no_tool() -> None:
    kit = Toolkit()

    @kit.tool(input_schema=BAD["a number"])
    def bad(arguments: dict[str, Any]) -> str:
        return ""

    with pytest.raises(ToolDefinitionError, match="input_schema: region: x-mcp-header is for one of the types string"):
        assert [each.entry for each in kit.tools]


SCHEMA = with_properties(
    region=REGION,
    limit={"type": "integer", "x-mcp-header": "Limit"},
    options=with_properties(fast={"type": "boolean", "x-mcp-header": "Fast"}),
)

AGREEING: list[tuple[dict[str, Any], dict[str, str]]] = [
    ({}, {}),
    ({"region": "eu"}, {"mcp-param-region": "eu"}),
    ({"region": "eu"}, {"mcp-param-region": " eu\t", "mcp-param-other": "x"}),
    ({"region": "größe"}, {"mcp-param-region": "=?base64?Z3LDtsOfZQ==?="}),
    ({"region": ""}, {"mcp-param-region": ""}),
    ({"region": None, "limit": None}, {}),
    ({"limit": 42}, {"mcp-param-limit": "42"}),
    ({"limit": 42}, {"mcp-param-limit": "42.0"}),
    ({"limit": 42.0}, {"mcp-param-limit": "42"}),
    ({"limit": -7}, {"mcp-param-limit": "-7"}),
    ({"limit": 2**60 + 1}, {"mcp-param-limit": str(2**60 + 1)}),
    ({"limit": 1.5}, {"mcp-param-limit": "1.5"}),
    ({"options": {"fast": True}}, {"mcp-param-fast": "true"}),
    ({"options": {"fast": False}}, {"mcp-param-fast": "false"}),
    ({"options": {}}, {}),
    ({"options": 7}, {}),
    ({"region": ["eu"]}, {}),
]

DISAGREEING: list[tuple[dict[str, Any], dict[str, str], str]] = [
    ({"region": "eu"}, {}, "mcp-param-region is missing"),
    ({"region": ""}, {}, "mcp-param-region is missing"),
    ({"region": "eu"}, {"mcp-param-region": "us"}, "mcp-param-region differs from the body"),
    ({"region": "eu"}, {"mcp-param-region": "EU"}, "mcp-param-region differs from the body"),
    ({"region": "eu"}, {"mcp-param-region": "eu, eu"}, "mcp-param-region differs from the body"),
    ({"region": "größe"}, {"mcp-param-region": "größe"}, "mcp-param-region differs from the body"),
    ({"region": "größe"}, {"mcp-param-region": "=?base64?Z3LDtsOfZR==?="}, "mcp-param-region differs from the body"),
    ({"region": "größe"}, {"mcp-param-region": "=?base64?Z3LDtsOfZQ?="}, "mcp-param-region differs from the body"),
    ({}, {"mcp-param-region": "eu"}, "mcp-param-region has no argument that it repeats"),
    ({"region": None}, {"mcp-param-region": ""}, "mcp-param-region has no argument that it repeats"),
    ({"region": ["eu"]}, {"mcp-param-region": "eu"}, "mcp-param-region has no argument that it repeats"),
    ({"limit": 42}, {"mcp-param-limit": "43"}, "mcp-param-limit differs from the body"),
    ({"limit": 42}, {"mcp-param-limit": "42.5"}, "mcp-param-limit differs from the body"),
    ({"limit": 42}, {"mcp-param-limit": "42, 42"}, "mcp-param-limit differs from the body"),
    ({"limit": 42}, {"mcp-param-limit": "0x2a"}, "mcp-param-limit differs from the body"),
    ({"limit": 42}, {"mcp-param-limit": "٤٢"}, "mcp-param-limit differs from the body"),
    ({"limit": 1}, {"mcp-param-limit": "true"}, "mcp-param-limit differs from the body"),
    ({"limit": 2**60 + 1}, {"mcp-param-limit": str(2**60)}, "mcp-param-limit differs from the body"),
    ({"options": {"fast": True}}, {"mcp-param-fast": "True"}, "mcp-param-fast differs from the body"),
    ({"options": {"fast": True}}, {"mcp-param-fast": "1"}, "mcp-param-fast differs from the body"),
]


@pytest.mark.parametrize(("arguments", "headers"), AGREEING)
def test_headers_that_say_what_the_arguments_say_agree(arguments: dict[str, Any], headers: dict[str, str]) -> None:
    assert find_mismatch(SCHEMA, arguments, headers) == ""


@pytest.mark.parametrize(("arguments", "headers", "why"), DISAGREEING)
def test_headers_that_say_something_else_do_not(arguments: dict[str, Any], headers: dict[str, str], why: str) -> None:
    assert find_mismatch(SCHEMA, arguments, headers) == why


def test_a_number_in_other_digits_or_of_any_length_is_told_without_an_error() -> None:
    for text in ("9" * 5_000, "9" * 400 + "." + "9" * 400, "-", ".5", "1e3"):
        assert find_mismatch(SCHEMA, {"limit": 1}, {"mcp-param-limit": text}) == "mcp-param-limit differs from the body"


def test_values_are_plain_text_or_base64() -> None:
    assert decoded(" a b\t") == "a b"
    assert decoded("=?base64?=") is None
    assert decoded("=?base64??=") == ""
    assert decoded("=?BASE64?YQ==?=") == "=?BASE64?YQ==?="
    assert decoded("=?base64?YQ==?=") == "a"
    assert [decoded(bad) for bad in ("=?base64?YQ=?=", "=?base64?Y Q==?=", "=?base64?/w==?=", "a\x00", "\x7f")] == [
        None
    ] * 5
