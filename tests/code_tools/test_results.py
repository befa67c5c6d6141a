"""What functions return, and what a client gets."""

from __future__ import annotations

import base64
import json
import logging
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any

import pytest
from pydantic import BaseModel
from typing_extensions import TypedDict

from handler.errors.authoring import ToolDefinitionError
from stile import (
    Async,
    Audio,
    EmbeddedResource,
    Field,
    Image,
    InputRequired,
    ResourceLink,
    Text,
    ToolResult,
    describe,
    tool,
    tool_fail,
)
from stile.testing import TestClient
from tests.code_tools.cases import case
from tests.code_tools.echo import Mode, client_of

JSON = dict[str, Any]
FAILED = {"content": [{"type": "text", "text": "Tool execution failed"}], "isError": True}


@dataclass
class Hits:
    count: int
    titles: list[str]


class Weather(TypedDict):
    temperature: float
    sky: str


class Order(BaseModel):
    number: int


def returning(value: Any, hint: Any = None, **options: Any) -> TestClient:
    """A client of a tool ``get`` that returns a value."""

    def get() -> Any:
        return value

    get.__annotations__["return"] = Any if hint is None else hint
    return client_of(tool(**options)(get))


def texts(*texts: str) -> list[JSON]:
    return [{"type": "text", "text": text} for text in texts]


@case("R-001")
def test_text_is_one_block_and_no_structured_content() -> None:
    client = returning("sunny", str)

    assert client.call("get").json == {"content": texts("sunny")}
    assert "outputSchema" not in client.list_tools()[0]


def test_text_is_wrapped_where_structured_output_is_forced() -> None:
    client = returning("sunny", str, structured_output=True)

    assert client.call("get").json == {"content": texts("sunny"), "structuredContent": {"result": "sunny"}}
    assert client.list_tools()[0]["outputSchema"] == {
        "type": "object",
        "properties": {"result": {"type": "string"}},
        "required": ["result"],
    }


@case("R-002")
@pytest.mark.parametrize(
    ("value", "hint", "json_value"),
    [
        ({"temperature": 21.5, "sky": "clear"}, Weather, {"temperature": 21.5, "sky": "clear"}),
        (Hits(2, ["é", "b"]), Hits, {"count": 2, "titles": ["é", "b"]}),
        ({"count": 2, "titles": []}, Hits, {"count": 2, "titles": []}),
        (Order(number=7), Order, {"number": 7}),
        ({"a": 1}, dict[str, int], {"a": 1}),
    ],
)
def test_object_is_structured_content_and_its_json_as_text(value: Any, hint: Any, json_value: JSON) -> None:
    client = returning(value, hint)
    answer = client.call("get")

    assert answer.json["structuredContent"] == json_value
    assert answer.text == json.dumps(json_value, ensure_ascii=False, separators=(",", ":"))
    assert client.list_tools()[0]["outputSchema"]["type"] == "object"


@pytest.mark.parametrize(
    ("value", "json_value"),
    [({"a": 1}, {"a": 1}), (Hits(1, []), {"count": 1, "titles": []}), (Order(number=7), {"number": 7})],
)
def test_object_without_a_hint_is_structured_content_without_a_schema(value: Any, json_value: JSON) -> None:
    for hint in (Any, dict):
        client = returning(value, hint)

        assert client.call("get").data == json_value
        assert "outputSchema" not in client.list_tools()[0]


@case("R-003")
@pytest.mark.parametrize(
    ("value", "blocks"),
    [
        (Text("a"), texts("a")),
        ([Text("a"), "b"], texts("a", "b")),
        ((Text("a"), Text("b")), texts("a", "b")),
    ],
)
def test_blocks_are_the_content_and_nothing_else(value: Any, blocks: list[JSON]) -> None:
    assert returning(value).call("get").json == {"content": blocks}


@pytest.mark.parametrize(
    "hint",
    [
        *(Image, list[Image], list[Text | Image], list[str | Text], tuple[Text, ...], Text | None, ToolResult),
        *(Text | Hits, Annotated[Text, "a"], Any, str, None, dict, list, InputRequired, Async | InputRequired),
    ],
)
def test_hint_of_blocks_or_of_nothing_certain_lists_no_output_schema(hint: Any) -> None:
    assert "outputSchema" not in returning(None, hint, resume=lambda tag, outcome: None).list_tools()[0]


@case("R-004")
def test_full_result_is_sent_as_it_is() -> None:
    result = ToolResult([Text("a", annotations={"priority": 1.0})], is_error=True, meta={"example.com/k": 1})

    assert returning(result).call("get").json == {
        "content": [{"type": "text", "text": "a", "annotations": {"priority": 1.0}}],
        "isError": True,
        "_meta": {"example.com/k": 1},
    }


@case("R-005")
@pytest.mark.parametrize("result", [ToolResult(["summary"], data={"rows": 3}), ToolResult(["summary", {"rows": 3}])])
def test_data_of_a_full_result_is_also_its_last_text(result: ToolResult) -> None:
    assert returning(result).call("get").json == {
        "content": texts("summary", '{"rows":3}'),
        "structuredContent": {"rows": 3},
    }


@case("R-006")
def test_mirror_may_be_left_out() -> None:
    result = ToolResult("summary", data={"rows": 3}, mirror=False)

    assert returning(result).call("get").json == {"content": texts("summary"), "structuredContent": {"rows": 3}}


@case("R-007")
def test_data_alone_has_no_content() -> None:
    assert returning(ToolResult(data={"rows": 3}, mirror=False)).call("get").json == {
        "content": [],
        "structuredContent": {"rows": 3},
    }


@case("R-008")
def test_two_structured_contents_are_refused_in_the_authors_code() -> None:
    with pytest.raises(ValueError, match="a result has one structured content"):
        ToolResult([{"a": 1}], data={"b": 2})
    with pytest.raises(ValueError, match="a result has one structured content"):
        ToolResult([{"a": 1}, {"b": 2}])


@case("R-009")
def test_success_does_not_speak_of_errors() -> None:
    for value in ("a", {"a": 1}, None, [1], ToolResult("a")):
        assert "isError" not in returning(value).call("get").json


@case("R-010")
@pytest.mark.parametrize(
    ("value", "hint", "schema"),
    [
        ([1, 2], list[int], {"type": "array", "items": {"type": "integer"}}),
        (3, int, {"type": "integer"}),
        (True, bool, {"type": "boolean"}),
        (None, int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (Mode.LOUD, Mode, {"type": "string", "enum": ["plain", "loud"]}),
    ],
)
def test_list_or_single_value_is_wrapped_in_result(value: Any, hint: Any, schema: JSON) -> None:
    client = returning(value, hint)
    plain = value.value if isinstance(value, Enum) else value

    assert client.call("get").json == {
        "content": texts(json.dumps(plain, separators=(",", ":"))),
        "structuredContent": {"result": plain},
    }
    assert client.list_tools()[0]["outputSchema"] == {
        "type": "object",
        "properties": {"result": schema},
        "required": ["result"],
    }


def test_list_without_a_hint_is_wrapped_without_a_schema() -> None:
    client = returning([1], list)

    assert client.call("get").json == {"content": texts("[1]"), "structuredContent": {"result": [1]}}
    assert "outputSchema" not in client.list_tools()[0]


def test_object_that_may_be_missing_is_wrapped_whether_it_is_there_or_not() -> None:
    for value, plain in ((Order(number=1), {"number": 1}), (None, None)):
        client = returning(value, Order | None)

        assert client.call("get").data == {"result": plain}
        assert client.list_tools()[0]["outputSchema"]["$defs"]["Order"]["required"] == ["number"]


@case("R-011")
def test_nothing_is_no_content() -> None:
    for hint in (None, Any, str):
        assert returning(None, hint).call("get").json == {"content": []}


@case("R-012")
def test_bytes_of_images_and_sounds_become_base64() -> None:
    encoded = base64.b64encode(b"\x00\xff").decode()

    assert returning([Image(b"\x00\xff", "image/webp"), Audio(b"\x00\xff"), Image(encoded)]).call("get").json == {
        "content": [
            {"type": "image", "data": encoded, "mimeType": "image/webp"},
            {"type": "audio", "data": encoded, "mimeType": "audio/wav"},
            {"type": "image", "data": encoded, "mimeType": "image/png"},
        ]
    }


@case("R-013")
def test_links_and_embedded_resources_have_their_shapes_and_no_nulls() -> None:
    blocks = [
        ResourceLink("docs://a"),
        ResourceLink("docs://a", "A", description="d", mime_type="text/plain", size=3, meta={"k": 1}),
        EmbeddedResource("docs://a", text="t", mime_type="text/plain"),
        EmbeddedResource("docs://a", blob=b"\x01", annotations={"last_modified": "2026-01-31", "audience": ["user"]}),
    ]

    assert returning(blocks).call("get").json["content"] == [
        {"type": "resource_link", "uri": "docs://a", "name": "docs://a"},
        {
            "type": "resource_link",
            "uri": "docs://a",
            "name": "A",
            "description": "d",
            "mimeType": "text/plain",
            "size": 3,
            "_meta": {"k": 1},
        },
        {"type": "resource", "resource": {"uri": "docs://a", "mimeType": "text/plain", "text": "t"}},
        {
            "type": "resource",
            "resource": {"uri": "docs://a", "blob": "AQ=="},
            "annotations": {"lastModified": "2026-01-31", "audience": ["user"]},
        },
    ]


def test_block_that_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="resource docs://a: expected text or blob, and not both"):
        EmbeddedResource("docs://a")
    with pytest.raises(ValueError, match="expected text or blob"):
        EmbeddedResource("docs://a", text="", blob=b"")
    with pytest.raises(ValueError, match="unknown annotation prio: expected one of audience, priority"):
        Text("a", annotations={"prio": 1}).to_json()


@case("R-014")
@pytest.mark.parametrize(
    "value",
    [
        object(),
        {"a": object()},
        b"bytes",
        (each for each in [1]),
        math.nan,
        {"a": math.inf},
        ToolResult([7]),  # type: ignore[list-item] # what this test is about
        ToolResult(data={"a": math.nan}, mirror=False),
        ToolResult(data=(1, math.inf), mirror=False),
        ToolResult("a", meta={"k": object()}),
        Text("a", meta={"k": object()}),
    ],
)
def test_what_is_no_json_is_a_failure_that_says_nothing(value: Any, caplog: pytest.LogCaptureFixture) -> None:
    assert returning(value).call("get").json == FAILED
    assert "tool get failed" in caplog.text


def test_generator_is_a_failure_also_with_a_hint() -> None:
    def get() -> Iterator[int]:
        return (each for each in [1])

    assert client_of(get).call("get").json == FAILED


def test_structured_output_may_be_turned_off() -> None:
    client = returning(Hits(1, []), Hits, structured_output=False)

    assert client.call("get").json == {"content": texts('{"count":1,"titles":[]}')}
    assert "outputSchema" not in client.list_tools()[0]


@pytest.mark.parametrize("hint", [Text, ToolResult])
def test_structured_output_of_blocks_is_refused(hint: Any) -> None:
    with pytest.raises(ToolDefinitionError, match="structured_output: expected a return annotation"):
        returning(None, hint, structured_output=True).list_tools()


def test_return_type_without_a_schema_is_refused() -> None:
    def get() -> Callable[[], int]: ...  # type: ignore[empty-body]

    with pytest.raises(ToolDefinitionError, match="tool get: return: expected a type that JSON Schema can describe"):
        describe(get)


def test_alias_of_a_field_is_its_name_in_schema_and_result() -> None:
    class Aliased(BaseModel):
        from_: str = Field(alias="from")

    client = returning(Aliased.model_validate({"from": "a"}), Aliased)

    assert client.call("get").data == {"from": "a"}
    assert list(client.list_tools()[0]["outputSchema"]["properties"]) == ["from"]


HITS_SCHEMA: JSON = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}


@case("O-001")
@pytest.mark.parametrize(
    ("value", "options"),
    [
        ({"count": "secret"}, {"output_schema": HITS_SCHEMA}),
        ({"count": "secret"}, {"output_schema": json.dumps(HITS_SCHEMA)}),
        ({"count": "secret", "titles": []}, {"output_schema": Hits}),
        (ToolResult(data={"count": "secret"}), {"output_schema": HITS_SCHEMA}),
        ({"other": "secret"}, {"output_schema": HITS_SCHEMA}),
    ],
)
def test_result_against_its_output_schema_is_an_error_that_does_not_leak_it(
    value: Any, options: JSON, caplog: pytest.LogCaptureFixture
) -> None:
    answer = returning(value, **options).call("get")

    assert answer.json == {
        "content": texts("Tool get returned a result that does not match its output schema"),
        "isError": True,
    }
    assert "secret" not in caplog.text
    assert "the result does not match the output schema: /" in caplog.text


def test_result_against_its_return_hint_is_an_error() -> None:
    assert returning({"count": 1, "titles": "none"}, Hits).call("get").is_error
    assert returning(["a"], list[int]).call("get").is_error
    assert not returning([1], list[int]).call("get").is_error


@case("O-002")
def test_result_against_its_output_schema_may_be_sent_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    client = returning({"count": "x"}, output_schema=HITS_SCHEMA, output_validation="warn")

    assert client.call("get").json == {"content": texts('{"count":"x"}'), "structuredContent": {"count": "x"}}
    (record,) = caplog.records
    assert (record.levelno, "/count: type" in record.getMessage()) == (logging.WARNING, True)


def test_result_against_its_output_schema_may_be_sent_silently(caplog: pytest.LogCaptureFixture) -> None:
    client = returning({"count": "x"}, output_schema=HITS_SCHEMA, output_validation="off")

    assert client.call("get").data == {"count": "x"}
    assert caplog.records == []


@case("O-003")
@pytest.mark.parametrize("value", ["text", Text("text"), ToolResult("text"), None])
def test_text_where_an_output_schema_is_declared_is_an_error(value: Any) -> None:
    answer = returning(value, output_schema=HITS_SCHEMA).call("get")

    assert answer.is_error
    assert answer.text == "Tool get has an output schema, and no structuredContent"


@case("O-004")
def test_error_is_not_held_against_the_output_schema() -> None:
    client = returning(ToolResult("no such order", is_error=True), output_schema=HITS_SCHEMA)

    assert client.call("get").json == {"content": texts("no such order"), "isError": True}


@case("F-001")
def test_error_objects_are_made_of_defaults() -> None:
    fail = tool_fail(ok=False, items=None)

    made = fail("bad")
    made["ok"] = True

    assert fail("bad") == {"ok": False, "items": None, "error": "bad"}
    assert tool_fail(error="none")("bad") == {"error": "bad"}


@case("F-002")
def test_error_object_is_a_result_like_any_other_unless_it_says_so() -> None:
    content = texts('{"ok":false,"error":"bad"}')
    structured = {"ok": False, "error": "bad"}

    made = tool_fail(ok=False)("bad")
    assert returning(made).call("get").json == {"content": content, "structuredContent": structured}
    made = tool_fail(ok=False, is_error=True)("bad")
    assert returning(made).call("get").json == {"content": content, "structuredContent": structured, "isError": True}


def test_error_object_against_an_output_schema_is_an_error_and_keeps_its_words() -> None:
    answer = returning(tool_fail(ok=False)("no such order"), Hits).call("get")

    assert answer.is_error
    assert answer.data == {"ok": False, "error": "no such order"}


VERSION = {"version": "1.2.0", "last_update": "2026-01-01"}


@case("V-001")
def test_version_is_in_structured_content_and_text_after_the_tools_keys() -> None:
    answer = returning({"ok": True}, **VERSION).call("get")

    assert answer.text == '{"ok":true,"tool_version":"1.2.0","tool_last_update":"2026-01-01"}'
    assert answer.data == {"ok": True, "tool_version": "1.2.0", "tool_last_update": "2026-01-01"}


def test_version_is_in_the_list_too() -> None:
    assert returning({"ok": True}, **VERSION).list_tools()[0]["_meta"] == {
        "tool_version": "1.2.0",
        "tool_last_update": "2026-01-01",
    }


@case("V-002")
def test_version_alone_is_alone() -> None:
    assert returning({"ok": True}, version="1").call("get").data == {"ok": True, "tool_version": "1"}


@case("V-003")
def test_full_result_is_not_touched_by_the_version() -> None:
    answer = returning(ToolResult(data={"ok": True}), **VERSION).call("get")

    assert answer.json == {"content": texts('{"ok":true}'), "structuredContent": {"ok": True}}


@case("V-004")
def test_closed_output_schema_allows_the_version() -> None:
    closed = {**HITS_SCHEMA, "additionalProperties": False}
    client = returning({"count": 1}, output_schema=closed, **VERSION)

    listed = client.list_tools()[0]["outputSchema"]
    assert listed["properties"] == {
        "count": {"type": "integer"},
        "tool_version": {"type": "string"},
        "tool_last_update": {"type": "string"},
    }
    assert listed["required"] == ["count"]
    assert not client.call("get").is_error
    assert returning({"count": 1, "tool_version": "1"}, output_schema=closed).call("get").is_error


@case("V-005")
def test_error_object_has_the_version() -> None:
    assert returning(tool_fail(ok=False)("bad"), version="1").call("get").data == {
        "ok": False,
        "error": "bad",
        "tool_version": "1",
    }


@pytest.mark.parametrize(
    ("block", "mime_type"),
    [
        (Image(data=b"a", format="png"), "image/png"),
        (Image(data=b"a", format="JPG"), "image/jpeg"),
        (Image(b"a", format="svg"), "image/svg+xml"),
        (Image(b"a", "image/webp"), "image/webp"),
        (Audio(data=b"a", format="mp3"), "audio/mpeg"),
        (Audio(data=b"a", format="flac"), "audio/flac"),
    ],
)
def test_format_of_a_block_stands_for_its_mime_type_as_in_fastmcp(block: Image | Audio, mime_type: str) -> None:
    assert block.to_json()["mimeType"] == mime_type


MIXED = ["hello", Image(b"\x89PNG", "image/png"), {"a": 1}]
HINTS: list[Any] = [
    list[Any],
    list,
    Any,
    object,
    list[object],
    list[Any] | None,
    list[str | Image | dict[str, int]],
    Annotated[list[Any], "rows"],
    Sequence[Any],
]


@pytest.mark.parametrize("hint", HINTS, ids=str)
def test_list_with_a_block_is_content_under_any_hint_that_allows_one(hint: Any) -> None:
    def get() -> Any:
        return MIXED

    get.__annotations__["return"] = hint

    assert client_of(get).call("get").json == {
        "content": [
            {"type": "text", "text": "hello"},
            {"type": "image", "data": "iVBORw==", "mimeType": "image/png"},
            {"type": "text", "text": '{"a":1}'},
        ]
    }


def test_list_of_any_values_is_data_without_a_block() -> None:
    def get() -> list[Any]:
        return [1, {"a": 2}]

    assert client_of(get).call("get").json["structuredContent"] == {"result": [1, {"a": 2}]}
