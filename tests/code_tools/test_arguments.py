from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel

from handler.code_tools.options import ToolOptions
from stile import Field, McpError, Toolkit, tool
from stile.testing import TestClient
from tests.code_tools.cases import case
from tests.code_tools.echo import Mode, client_of, echo


@case("A-001")
def test_defaults_are_applied() -> None:
    assert client_of(echo).call("echo", message="hi").json == {"content": [{"type": "text", "text": "hi"}]}


@case("A-002")
def test_enum_arrives_as_its_member() -> None:
    seen: list[Any] = []

    def spy(message: str, mode: Mode = Mode.PLAIN) -> None:
        seen.append(mode)

    assert client_of(echo).call("echo", message="hi", repeat=2, mode="loud").text == "HIHI"
    client_of(spy).call("spy", message="hi", mode="loud")
    client_of(spy).call("spy", message="hi")
    assert seen == [Mode.LOUD, Mode.PLAIN]


@case("A-003")
def test_missing_argument_is_an_error_that_names_it() -> None:
    answer = client_of(echo).call("echo")

    assert answer.is_error
    assert answer.text == "Invalid arguments for tool echo: /message: required, but missing"


@case("A-004")
@pytest.mark.parametrize(
    ("arguments", "violation"),
    [
        ({"repeat": 99}, "/repeat: expected at most 10, got integer 99"),
        ({"repeat": 0}, "/repeat: expected at least 1, got integer 0"),
        ({"mode": "whisper"}, '/mode: expected one of "plain", "loud", got string "whisper"'),
    ],
)
def test_value_outside_its_schema_is_an_error(arguments: dict[str, Any], violation: str) -> None:
    answer = client_of(echo).call("echo", message="a", **arguments)

    assert answer.is_error
    assert answer.text == f"Invalid arguments for tool echo: {violation}"


@case("A-005")
def test_all_violations_are_reported_with_their_pointers() -> None:
    text = client_of(echo).call("echo", message=7, repeat=99).text

    assert text == (
        "Invalid arguments for tool echo: /message: expected string, got integer 7; "
        "/repeat: expected at most 10, got integer 99"
    )


@case("A-006")
def test_name_that_is_not_declared_is_dropped() -> None:
    seen: list[Any] = []

    @tool(input_schema=Options)
    def take(options: Options) -> None:
        seen.append(options)

    assert client_of(echo).call("echo", message="hi", __proto__="evil").text == "hi"
    client_of(take).call("take", size=1, __proto__="evil")
    assert seen == [Options(size=1)]


@case("A-007")
def test_closed_tool_refuses_names_that_are_not_declared() -> None:
    kit = Toolkit(extra="forbid")
    kit.add(echo)
    client = TestClient(kit)

    assert client.list_tools()[0]["inputSchema"]["additionalProperties"] is False
    refused = client.call("echo", message="hi", __proto__="evil")
    assert refused.is_error
    assert (
        refused.text == "Invalid arguments for tool echo: /__proto__: unknown name; known here: message, repeat, mode"
    )


def raw_client(seen: list[Any]) -> TestClient:
    schema = {
        "type": "object",
        "properties": {"query": {"type": "string", "minLength": 2}, "limit": {"type": "integer", "default": 10}},
        "required": ["query"],
    }

    @tool(input_schema=schema)
    def raw(arguments: dict[str, Any]) -> str:
        seen.append(arguments)
        return "found"

    return client_of(raw)


@case("A-008")
def test_tool_with_a_schema_of_its_own_gets_what_was_sent() -> None:
    seen: list[Any] = []

    assert raw_client(seen).call("raw", query="ab", other=1).text == "found"
    assert seen == [{"query": "ab", "other": 1}]


@case("A-009")
def test_violation_of_a_schema_of_its_own_keeps_the_function_from_running() -> None:
    seen: list[Any] = []

    refused = raw_client(seen).call("raw", query="a", limit="7")

    assert refused.is_error
    assert refused.text == (
        'Invalid arguments for tool raw: /query: expected a length of at least 2, got string "a"; '
        '/limit: expected integer, got string "7"'
    )
    assert seen == []


@case("A-010")
def test_no_arguments_are_an_empty_object() -> None:
    def ping() -> str:
        return "pong"

    answer = client_of(ping).ask("ping")

    assert getattr(answer, "text", None) == "pong"


@case("A-011")
@pytest.mark.parametrize("arguments", [[], "x", 7, True])
def test_arguments_that_are_no_object_are_a_protocol_error(arguments: Any) -> None:
    with pytest.raises(McpError) as caught:
        client_of(echo).ask("echo", arguments)

    assert caught.value.code == -32602
    assert str(caught.value) == "arguments of tool echo: expected an object"


@case("A-012")
def test_formats_are_checked_unless_the_tool_says_no() -> None:
    def when(at: Annotated[str, Field(json_schema_extra={"format": "date-time"})]) -> str:
        return at

    strict, loose = Toolkit(), Toolkit(formats=False)
    strict.add(when)
    loose.add(when)

    refused = TestClient(strict).call("when", at="not a date")
    assert refused.is_error
    assert "/at: expected a date and time, as 2026-01-31T09:30:00Z" in refused.text
    assert TestClient(strict).call("when", at="2026-01-31T09:30:00Z").text == "2026-01-31T09:30:00Z"
    assert TestClient(loose).call("when", at="not a date").text == "not a date"


def test_format_of_the_authors_is_checked_beside_the_known_ones() -> None:
    kit = Toolkit(formats={"even": lambda text: len(text) % 2 == 0})

    @kit.tool(input_schema={"type": "object", "properties": {"a": {"format": "even"}, "b": {"format": "date"}}})
    def take() -> str:
        return "taken"

    client = TestClient(kit)

    assert client.call("take", a="ab", b="2026-01-31").text == "taken"
    assert client.call("take", a="abc", b="soon").text == (
        'Invalid arguments for tool take: /a: expected a text of the format even, got string "abc"; '
        '/b: expected a date, as 2026-01-31, got string "soon"'
    )


@case("A-013")
def test_text_that_is_no_number_is_an_error_and_the_function_does_not_run() -> None:
    seen: list[int] = []

    def take(foo: int) -> None:
        seen.append(foo)

    refused = client_of(take).call("take", foo="not_an_int")

    assert refused.text == 'Invalid arguments for tool take: /foo: expected integer, got string "not_an_int"'
    assert seen == []


@case("A-014")
def test_number_as_text_is_taken_unless_the_tool_is_strict() -> None:
    def take(limit: int) -> int:
        return limit

    assert client_of(take).call("take", limit="7").data == {"result": 7}
    strict = Toolkit(strict=True)
    strict.add(take)
    assert TestClient(strict).call("take", limit="7").is_error


@pytest.mark.parametrize(
    ("hint", "sent", "got"),
    [
        (list[int], "[1,2]", "[1, 2]"),
        (dict[str, int], '{"a":1}', "{'a': 1}"),
        (bool, "true", "True"),
        (int | None, "null", "None"),
        (int | None, "3", "3"),
        (str, "7", "7"),
        (str | int, "7", "7"),
        (Any, "7", "7"),
    ],
)
def test_json_in_a_text_is_read_only_where_no_text_is_wanted(hint: Any, sent: str, got: str) -> None:
    def take(value: Any) -> str:
        return str(value)

    take.__annotations__["value"] = hint

    assert client_of(take).call("take", value=sent).text == got


@pytest.mark.parametrize(
    ("hint", "sent"),
    [(int, "[1]"), (int, "1.5x"), (list[int], "{}"), (bool, "1"), (int, "true"), (float, "1e400"), (float, "NaN")],
)
def test_json_of_another_type_in_a_text_is_refused(hint: Any, sent: str) -> None:
    def take(value: Any) -> str:
        return str(value)

    take.__annotations__["value"] = hint

    assert "got string" in client_of(take).call("take", value=sent).text


def test_number_in_a_text_that_breaks_a_bound_is_reported_as_the_number() -> None:
    assert "/repeat: expected at most 10, got integer 99" in client_of(echo).call("echo", message="", repeat="99").text


@dataclass
class Inner:
    depth: int = 3
    tags: list[str] = field(default_factory=lambda: ["x"])


@dataclass
class Options:
    size: int
    inner: Inner = field(default_factory=Inner)


@case("A-015")
def test_defaults_inside_an_argument_are_filled() -> None:
    def take(options: Options) -> str:
        return f"{options.size} {options.inner.depth} {options.inner.tags}"

    assert client_of(take).call("take", options={"size": 1}).text == "1 3 ['x']"
    assert client_of(take).call("take", options={"size": 1, "inner": {"depth": 4}}).text == "1 4 ['x']"


@case("A-016")
def test_type_as_the_schema_makes_the_argument_an_instance() -> None:
    seen: list[Any] = []

    @tool(input_schema=Options)
    def take(options: Options) -> None:
        seen.append(options)

    client = client_of(take)

    assert list(client.list_tools()[0]["inputSchema"]["properties"]) == ["size", "inner"]
    client.call("take", size="1", inner={})
    assert seen == [Options(size=1)]
    assert client.call("take").text == "Invalid arguments for tool take: /size: required, but missing"


@case("A-017")
def test_true_is_no_number() -> None:
    text = client_of(echo).call("echo", message="a", repeat=True).text

    assert text == "Invalid arguments for tool echo: /repeat: expected integer, got boolean true"


def test_arguments_nested_too_deeply_are_refused() -> None:
    deep: Any = []
    for _ in range(100):
        deep = [deep]

    def take(value: Any) -> None: ...

    assert "nested more than 64 deep" in client_of(take).call("take", value=deep).text


def test_option_of_the_tool_is_stronger_than_the_kits() -> None:
    options: ToolOptions = {"extra": "ignore"}
    kit = Toolkit(extra="forbid")

    @kit.tool(**options)
    def take(a: int) -> int:
        return a

    assert TestClient(kit).call("take", a=1, b=2).data == {"result": 1}


def refuse(_: int) -> int:
    raise ValueError("not this one")


def test_misfits_of_types_are_told_only_so_far() -> None:
    def take(values: list[Annotated[int, AfterValidator(refuse)]]) -> int:
        return len(values)

    text = client_of(take).call("take", values=[1] * 200).text

    assert text.count("not this one") == 50
    assert text.endswith("; and more")


def test_arguments_have_as_many_values_as_the_context_says() -> None:
    def take(values: list[int]) -> int:
        return len(values)

    assert client_of(take).call("take", values=[1] * 9_999).data == {"result": 9_999}
    assert "/: 10,001 values" in client_of(take).call("take", values=[1] * 10_000).text


@dataclass
class Zebra:
    name: str


@dataclass
class Apple:
    first: Zebra
    second: Zebra


class Basket(BaseModel):
    apples: list[Apple]


def test_definitions_of_a_tool_in_python_stand_after_those_that_they_refer_to() -> None:
    def take(apple: Apple, other: Apple, zebra: Zebra) -> None: ...

    def pack(basket: Basket, other: Basket) -> None: ...

    for function, expected in ((take, ["Zebra", "Apple"]), (pack, ["Zebra", "Apple", "Basket"])):
        assert [*client_of(function).list_tools()[0]["inputSchema"]["$defs"]] == expected
