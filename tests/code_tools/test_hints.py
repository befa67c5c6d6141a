"""What type hints say in JSON Schema, and what functions get."""

from __future__ import annotations

import datetime as dt
import decimal
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal, NotRequired, Optional

import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict
from typing_extensions import TypedDict

from handler.code_tools.signature import is_context
from stile import Context, Field, describe, tool
from tests.code_tools.echo import client_of


class Level(IntEnum):
    LOW = 1
    HIGH = 2
    TOP = 2  # another name of HIGH


class Only(Enum):
    ONE = "one"


class Options(TypedDict):
    size: int
    color: NotRequired[str]


class Order(BaseModel):
    """An order."""

    number: int
    note: str = Field(default="", title="A note")


@dataclass
class Node:
    name: str
    children: list[Node] = field(default_factory=list)


HINTS: list[tuple[Any, dict[str, Any], Any, Any]] = [
    # hint, schema, what is sent, what the function gets
    (str, {"type": "string"}, "a", "a"),
    (int, {"type": "integer"}, 3.0, 3),
    (float, {"type": "number"}, 3, 3.0),
    (bool, {"type": "boolean"}, True, True),
    (None, {"type": "null"}, None, None),
    (Any, {}, {"a": [1]}, {"a": [1]}),
    (Literal["b", "a"], {"type": "string", "enum": ["b", "a"]}, "a", "a"),
    (Literal["a"], {"type": "string", "const": "a"}, "a", "a"),
    (Level, {"type": "integer", "enum": [1, 2]}, 2, Level.HIGH),
    (Only, {"type": "string", "enum": ["one"]}, "one", Only.ONE),
    (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}, None, None),
    (Optional[Level], {"anyOf": [{"type": "integer", "enum": [1, 2]}, {"type": "null"}]}, 1, Level.LOW),  # noqa: UP045
    (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "7", "7"),
    (list[int], {"type": "array", "items": {"type": "integer"}}, [1], [1]),
    (Sequence[int], {"type": "array", "items": {"type": "integer"}}, [1], [1]),
    (set[int], {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}, [1, 2], {1, 2}),
    (
        tuple[int, str],
        {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 2, "maxItems": 2},
        [1, "a"],
        (1, "a"),
    ),
    (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}, [1, 2], (1, 2)),
    (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}, {"a": 1}, {"a": 1}),
    (dt.datetime, {"type": "string", "format": "date-time"}, "2026-01-31T09:30:00", dt.datetime(2026, 1, 31, 9, 30)),
    (dt.date, {"type": "string", "format": "date"}, "2026-01-31", dt.date(2026, 1, 31)),
    (dt.time, {"type": "string", "format": "time"}, "09:30:00", dt.time(9, 30)),
    (dt.timedelta, {"type": "string", "format": "duration"}, "PT90S", dt.timedelta(seconds=90)),
    (uuid.UUID, {"type": "string", "format": "uuid"}, str(uuid.UUID(int=7)), uuid.UUID(int=7)),
    (bytes, {"type": "string", "format": "binary"}, "é", "é".encode()),
    (Annotated[str, Field(min_length=2, max_length=4)], {"type": "string", "minLength": 2, "maxLength": 4}, "ab", "ab"),
    (Annotated[str, Field(pattern="^a$")], {"type": "string", "pattern": "^a$"}, "a", "a"),
    (Annotated[str, Field(pattern=r"^(\w+)$")], {"type": "string", "pattern": r"^(\w+)$"}, "a", "a"),
    (Annotated[float, Field(gt=0, lt=1)], {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, 0.5, 0.5),
    (Annotated[int, Field(multiple_of=5)], {"type": "integer", "multipleOf": 5}, 10, 10),
    (Annotated[str, Field(title="T", examples=["e"])], {"type": "string", "title": "T", "examples": ["e"]}, "a", "a"),
    (Annotated[str, "a text"], {"type": "string", "description": "a text"}, "a", "a"),
]


@pytest.mark.parametrize(("hint", "schema", "sent", "got"), HINTS, ids=[str(each[0]) for each in HINTS])
def test_hint_is_listed_and_cast(hint: Any, schema: dict[str, Any], sent: Any, got: Any) -> None:
    seen: list[Any] = []

    def take(value: Any) -> None:
        seen.append(value)

    take.__annotations__["value"] = hint
    client = client_of(take)

    assert client.list_tools()[0]["inputSchema"]["properties"]["value"] == schema
    assert not client.call("take", value=sent).is_error
    assert [(type(each), each) for each in seen] == [(type(got), got)]


def test_parameter_without_a_hint_takes_any_json() -> None:
    @tool
    def take(value):  # type: ignore[no-untyped-def] # what this test is about
        return str(value)

    assert describe(take)["inputSchema"] == {"type": "object", "properties": {"value": {}}, "required": ["value"]}
    assert client_of(take).call("take", value=[1]).text == "[1]"


def test_typed_dict_and_model_are_definitions_and_arrive_as_what_they_are() -> None:
    seen: list[Any] = []

    def buy(options: Options, order: Order) -> None:
        seen.extend([options, order])

    client = client_of(buy)

    assert client.list_tools()[0]["inputSchema"]["$defs"] == {
        "Options": {
            "type": "object",
            "properties": {"size": {"type": "integer"}, "color": {"type": "string"}},
            "required": ["size"],
        },
        "Order": {
            "type": "object",
            "description": "An order.",
            "properties": {
                "number": {"type": "integer"},
                "note": {"type": "string", "default": "", "title": "A note"},
            },
            "required": ["number"],
        },
    }
    client.call("buy", options={"size": 1}, order={"number": 2})
    assert seen == [{"size": 1}, Order(number=2)]


def test_type_that_holds_itself_is_a_reference() -> None:
    seen: list[Any] = []

    def grow(node: Node) -> Node:
        seen.append(node)
        return node

    client = client_of(grow)
    (entry,) = client.list_tools()

    assert entry["inputSchema"]["properties"]["node"] == {"$ref": "#/$defs/Node"}
    assert entry["outputSchema"]["type"] == "object"
    assert entry["outputSchema"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Node"}
    answer = client.call("grow", node={"name": "a", "children": [{"name": "b"}]})
    assert seen == [Node("a", [Node("b")])]
    assert answer.data == {"name": "a", "children": [{"name": "b", "children": []}]}


def test_alias_is_the_name_of_the_argument() -> None:
    def travel(from_: Annotated[str, Field(alias="from")], to: str = "home") -> str:
        return f"{from_} {to}"

    client = client_of(travel)

    assert list(client.list_tools()[0]["inputSchema"]["properties"]) == ["from", "to"]
    assert client.call("travel", **{"from": "work"}).text == "work home"


@pytest.mark.parametrize("name", ["schema", "json", "copy", "model_config", "_private", "self_", "validate", "ctx"])
def test_parameter_may_have_any_name(name: str) -> None:
    scope: dict[str, Any] = {}
    exec(f"def take({name}: int) -> int:\n    return {name}", scope)
    client = client_of(scope["take"])

    assert list(client.list_tools()[0]["inputSchema"]["properties"]) == [name]
    assert client.call("take", **{name: 3}).data == {"result": 3}


def test_decimal_takes_a_number_or_a_text() -> None:
    def double(amount: decimal.Decimal) -> str:
        return str(amount * 2)

    client = client_of(double)

    assert client.call("double", amount="1.10").text == "2.20"
    assert client.call("double", amount=2).text == "4"
    assert "/amount: " in client.call("double", amount="much").text


def test_validator_beside_a_hint_is_a_violation_with_its_sentence() -> None:
    def even(number: int) -> int:
        if number % 2:
            raise ValueError("expected an even number")
        return number

    @tool
    def halve(number: Annotated[int, AfterValidator(even)]) -> int:
        return number // 2

    client = client_of(halve)

    assert client.call("halve", number=4).data == {"result": 2}
    refused = client.call("halve", number=3)
    assert refused.is_error
    assert refused.text == "Invalid arguments for tool halve: /number: Value error, expected an even number"


def test_mutable_default_is_not_shared_between_calls() -> None:
    def collect(item: str, items: list[str] = []) -> list[str]:  # noqa: B006 - what this test is about
        items.append(item)
        return items

    client = client_of(collect)

    assert client.call("collect", item="a").data == {"result": ["a"]}
    assert client.call("collect", item="b").data == {"result": ["b"]}


def test_default_that_is_no_json_is_not_listed_and_holds() -> None:
    nothing = object()

    def take(value: Any = nothing) -> bool:
        return value is nothing

    client = client_of(take)

    assert client.list_tools()[0]["inputSchema"] == {"type": "object", "properties": {"value": {}}}
    assert client.call("take").data == {"result": True}


@pytest.mark.parametrize("hint", [Context, Context | None, Optional[Context], Annotated[Context, "c"]])  # noqa: UP045
def test_context_is_no_argument_whatever_its_name(hint: Any) -> None:
    def who(anyone: Any, here: Any = None) -> str:
        return str(here.headers)

    who.__annotations__["here"] = hint
    client = client_of(who, headers={"X-A": "1"})

    assert is_context(hint)
    assert list(client.list_tools()[0]["inputSchema"]["properties"]) == ["anyone"]
    assert client.call("who", anyone=1).text == "{'x-a': '1'}"


def test_title_of_the_authors_stays_and_names_of_classes_go() -> None:
    class Titled(BaseModel):
        model_config = ConfigDict(title="What it is called")

        a: int

    class Plain(BaseModel):
        a: int

    def take(one: Titled, other: Plain) -> None: ...

    definitions = describe(take)["inputSchema"]["$defs"]

    assert definitions["Titled"]["title"] == "What it is called"
    assert "title" not in definitions["Plain"]


DOCUMENTED = {
    "google": """Find orders.

        They are sorted.

        Args:
            number: The number on
                the invoice.
            status (str): How far it has come.

        Returns:
            The orders.
        """,
    "numpy": """Find orders.

        They are sorted.

        Parameters
        ----------
        number : str
            The number on
            the invoice.
        status
            How far it has come.

        Returns
        -------
        str
            The orders.
        """,
    "sphinx": """Find orders.

        They are sorted.

        :param number: The number on
            the invoice.
        :param str status: How far it has come.
        :returns: The orders.
        :rtype: str
        """,
}


@pytest.mark.parametrize("form", DOCUMENTED)
def test_docstring_describes_tool_and_parameters(form: str) -> None:
    def find(number: str, status: str = "open") -> str:
        return number + status

    find.__doc__ = DOCUMENTED[form]
    entry = describe(find)

    assert entry["description"] == "Find orders.\n\nThey are sorted."
    assert {name: each["description"] for name, each in entry["inputSchema"]["properties"].items()} == {
        "number": "The number on the invoice.",
        "status": "How far it has come.",
    }


def test_other_sections_of_a_docstring_stay() -> None:
    def find() -> None:
        """Find orders.

        Example:
            find()

        Raises:
            ValueError: never.

        Note: they are sorted.
        """

    assert describe(find)["description"] == "Find orders.\n\nExample:\n    find()\n\nNote: they are sorted."


def test_field_is_stronger_than_the_text_beside_and_that_than_the_docstring() -> None:
    def take(
        one: Annotated[str, "beside", Field(description="field")],
        two: Annotated[str, "beside"],
        three: Level,
    ) -> None:
        """Take.

        Args:
            one: doc
            two: doc
            three: doc
        """

    properties = describe(take)["inputSchema"]["properties"]

    assert [each["description"] for each in properties.values()] == ["field", "beside", "doc"]


def test_description_that_is_given_is_stronger_than_the_docstring() -> None:
    @tool(description="Given")
    def take() -> None:
        """Told."""

    assert describe(take)["description"] == "Given"


def test_default_that_its_own_type_refuses_is_not_listed_and_holds() -> None:
    nothing: Any = None

    def take(name: str = nothing, sizes: Sequence[int] = (1,), mode: Level = Level.LOW) -> str:
        return f"{name} {sizes}"

    client = client_of(take)
    properties = client.list_tools()[0]["inputSchema"]["properties"]

    assert properties["name"] == {"type": "string"}
    assert properties["sizes"] == {"type": "array", "items": {"type": "integer"}, "default": [1]}
    assert properties["mode"]["default"] == 1
    assert client.call("take").text == "None (1,)"


def test_kind_of_a_discriminated_union_is_told_by_its_constant() -> None:
    class Circle(BaseModel):
        kind: Literal["circle"]
        radius: float

    class Square(BaseModel):
        kind: Literal["square"]
        side: float

    @tool
    def area(shape: Annotated[Circle | Square, Field(discriminator="kind")]) -> str:
        return type(shape).__name__

    client = client_of(area)
    start = "Invalid arguments for tool area: "

    assert client.call("area", shape={"kind": "square", "side": 1}).text == "Square"
    assert client.call("area", shape={"kind": "circle"}).text == f"{start}/shape/radius: required, but missing"
    assert client.call("area", shape={"kind": "round", "radius": 1}).text == (
        f'{start}/shape/kind: expected "circle" or "square", got string "round"'
    )
