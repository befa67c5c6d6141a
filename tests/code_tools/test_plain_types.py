"""Plain types against pydantic: the same schemas, the same values, and nothing accepted that pydantic refuses."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import datetime as dt
import inspect
import json
import typing
import uuid
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Flag
from typing import Annotated, Any, Literal, NewType, TypeVar

import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handler.code_tools.definition import ToolDefinition, define
from handler.code_tools.dispatch import run_tool
from handler.code_tools.field import LightField
from handler.code_tools.loading import as_published, digest_of
from handler.code_tools.plain_hints import HintReader, PlainArguments, PlainValue
from handler.code_tools.plain_types import Doubt
from handler.code_tools.signature import Parameter
from handler.code_tools.source_location import SourceLocation
from handler.code_tools.type_schemas import ArgumentsModel, Misfits, ValueType
from handler.errors.authoring import ToolDefinitionError
from handler.strict_json import to_json_bytes
from stile import Context, Field
from tests.code_tools.test_hints import HINTS
from tests.support.examples import examples
from tests.support.hints import Color, Level, MadeHint, Point, Tree, told

PLACE = SourceLocation(label="tool it")


@settings(max_examples=examples(200), deadline=None, derandomize=True, database=None)
@given(st.integers(0, 2**40))
def test_plain_arguments_are_what_pydantic_makes_of_them_or_a_doubt(seed: int) -> None:
    made = MadeHint(seed)
    parameters = made.parameters()
    try:
        exact = ArgumentsModel(parameters, PLACE)
        listed = exact.schema()
        plain = PlainArguments(parameters, PLACE)
    except (Doubt, ToolDefinitionError):
        return
    assert to_json_bytes(plain.schema()) == to_json_bytes(listed)
    for _ in range(8):
        arguments = made.arguments(parameters)
        before = told(arguments)
        with contextlib.suppress(Doubt):
            got = plain.members.cast(arguments)
            assert told(got) == told(exact.cast(arguments))
        assert told(arguments) == before


@settings(max_examples=examples(200), deadline=None, derandomize=True, database=None)
@given(st.integers(0, 2**40))
def test_plain_results_are_the_json_that_pydantic_writes_or_a_doubt(seed: int) -> None:
    made = MadeHint(seed)
    try:
        exact = ValueType(made.hint, "return", PLACE)
        listed = exact.schema("serialization")
        plain = PlainValue(made.hint, "return", PLACE)
    except (Doubt, ToolDefinitionError):
        return
    assert to_json_bytes(plain.schema("serialization")) == to_json_bytes(listed)
    for _ in range(8):
        value: Any = made.value()
        with contextlib.suppress(Misfits):
            value = exact.cast(value)
        with contextlib.suppress(Doubt):
            got = plain.type.dump(value)
            assert told(got) == told(exact.to_json(value))


@settings(max_examples=examples(60), deadline=None, derandomize=True, database=None)
@given(st.integers(0, 2**40))
def test_call_of_a_tool_has_the_same_result_with_plain_types(seed: int) -> None:
    made = MadeHint(seed)
    parameters, box = made.parameters(), [None]
    seen: list[Any] = []

    def it(**arguments: Any) -> Any:
        seen.append(told(arguments))
        return box[0]

    it.__annotations__ = {each.name: each.hint for each in parameters} | {"return": made.hint}
    kind = inspect.Parameter.KEYWORD_ONLY
    taken = [inspect.Parameter(each.name, kind, default=each.default) for each in parameters]
    vars(it)["__signature__"] = inspect.Signature(taken)
    exact = define(it, {})
    try:
        assert exact.entry
    except ToolDefinitionError:
        return
    for _ in range(4):
        sent = json.dumps(made.arguments(parameters), default=repr, skipkeys=True)
        box[0] = made.value()
        results = [asyncio.run(_called(each, sent)) for each in (exact, exact.plain)]
        assert (results[0], *seen[:1]) == (results[1], *seen[1:])
        seen.clear()


async def _called(tool: ToolDefinition, sent: str) -> str:
    return repr(await run_tool(tool, json.loads(sent), Context()))


LEFT_TO_PYDANTIC = (dt.datetime, dt.date, dt.time, dt.timedelta, uuid.UUID, bytes)


@pytest.mark.parametrize("hint", [each[0] for each in HINTS], ids=str)
def test_ordinary_hints_are_plain(hint: Any) -> None:
    parameters = [Parameter(name="value", hint=hint)]
    if hint in LEFT_TO_PYDANTIC:
        with pytest.raises(Doubt):
            PlainArguments(parameters, PLACE)
    else:
        plain, exact = PlainArguments(parameters, PLACE), ArgumentsModel(parameters, PLACE)
        assert to_json_bytes(plain.schema()) == to_json_bytes(exact.schema())


@pytest.mark.parametrize(("hint", "_schema", "sent", "got"), HINTS, ids=[str(each[0]) for each in HINTS])
def test_value_in_doubt_is_cast_by_pydantic(hint: Any, _schema: Any, sent: Any, got: Any) -> None:
    parameters = [Parameter(name="value", hint=hint)]
    if hint not in LEFT_TO_PYDANTIC:
        assert told(PlainArguments(parameters, PLACE).cast({"value": sent})["value"]) == told(got)


def test_refusal_of_plain_arguments_is_pydantics() -> None:
    parameters = [Parameter(name="value", hint=list[Annotated[int, LightField({"ge": 2})]])]

    with pytest.raises(Misfits, match=r"^/value/1: Input should be greater than or equal to 2$"):
        PlainArguments(parameters, PLACE).cast({"value": [2, 1]})


@dataclass
class Checked:
    low: int

    def __post_init__(self) -> None:
        if self.low > 5:
            raise ValueError("too high")


@dataclass
class Masked:
    low: int

    def __getattribute__(self, name: str) -> Any:
        return "***" if name == "low" else super().__getattribute__(name)


@dataclass
class Odd:
    low: int = LightField({"default": 1, "description": "Low"})  # type: ignore[assignment] # as Field is


class Model(pydantic.BaseModel):
    low: Annotated[int, LightField({"ge": 1, "description": "Low"})]
    high: int = LightField({"default": 3, "le": 9})  # type: ignore[assignment] # as Field is


class SameName:
    @dataclass
    class Checked:
        low: int


T = TypeVar("T")


@dataclass
class Generic(typing.Generic[T]):
    value: T


@dataclass
class Hidden:
    init: dataclasses.InitVar[int]
    low: int = 1


@dataclass
class Named:
    low: int = field(default=1, metadata={"description": "Low"})


@dataclass
class Valid:
    low: int

    @pydantic.field_validator("low")
    @classmethod
    def _even(cls, value: int) -> int:
        return value - value % 2


@dataclass
class Hooked:
    low: int

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        return handler(source)


@dataclass
class OlderHook:
    low: int

    @classmethod
    def __get_validators__(cls) -> Any:
        yield int


class Label(str):
    """A text that tells pydantic what to do."""

    __slots__ = ()

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return handler(source)


class Mask(Flag):
    ONE = 1
    TWO = 2


@pytest.mark.parametrize(
    "hint",
    [
        Checked,
        Masked,
        Odd,
        Model,
        tuple[Checked, SameName.Checked],
        Generic[int],
        Hidden,
        Named,
        Valid,
        Hooked,
        OlderHook,
        Annotated[int, Label("a text")],
        Mask,
        Decimal,
        list[Model],
        NewType("Id", int),
        frozenset[int],
        complex,
        Literal["a", 1],
        Literal[True],
        Annotated[int, Field(strict=True)],
        Annotated[int, Field(alias="other")],
        Annotated[int, pydantic.AfterValidator(abs)],
        Annotated[str, Field(pattern="a", max_length=3, coerce_numbers_to_str=True)],
        Annotated[str, Field(pattern=r"^\W$")],
        Annotated[str, Field(pattern=r"^[^a\d]$")],
        Annotated[str, Field(pattern="^[a&&b]$")],
        Annotated[int, LightField({"ge": 1.5})],
        Annotated[int, LightField({"ge": True})],
        Annotated[bool, LightField({"ge": 1})],
        Annotated[int, LightField({"ge": 1}), LightField({"ge": 2})],
        Annotated[int | str, LightField({"ge": 1})],
        Annotated[int, LightField({"default": 1})],
        dict[int, str],
        int | list[int],
        "int",
        TypeVar("T"),
    ],
    ids=str,
)
def test_hint_that_needs_more_is_left_to_pydantic(hint: Any) -> None:
    with pytest.raises(Doubt):
        HintReader().read(hint)


def test_dataclass_in_a_function_is_left_to_pydantic() -> None:
    @dataclass
    class Local:
        low: int

    with pytest.raises(Doubt):
        HintReader().read(Local)


def shop(limit: Annotated[int, LightField({"ge": 1})] = 3, at: Point | None = None) -> list[Tree]:
    raise NotImplementedError


def test_definition_as_published_has_plain_types_and_a_changed_one_is_not_there() -> None:
    published = define(shop, {})
    digest = digest_of(published)

    found = as_published(published, digest)

    assert found is published.plain
    assert digest_of(found) == digest
    assert found.entry == published.entry
    for hint in (
        Annotated[int, LightField({"ge": 2})],
        Annotated[int, LightField({"ge": 1, "le": 9})],
        float,
        int | None,
    ):

        def changed(limit: Any = 3, at: Point | None = None) -> list[Tree]:
            raise NotImplementedError

        changed.__annotations__["limit"] = hint
        assert as_published(define(changed, {"name": "shop"}), digest) is None
    assert as_published(define(shop, {}), digest_of(define(lambda: None, {"name": "shop"}))) is None


def test_definition_that_is_not_plain_is_as_published_by_pydantics_schemas() -> None:
    def given(value: Checked) -> Decimal:
        raise NotImplementedError

    published = define(given, {})

    found = as_published(published, digest_of(published))

    assert found is published.plain
    assert (found.arguments, found.output) == (published.arguments, published.output)


HOSTILE: list[tuple[Any, Any]] = [
    (Point, {"x": 1, "\ud800": 1}),
    (Point, {"x": 1, 1: 1}),
    (Point, {"x": True}),
    (Point, {"x": 1, "kind": "other", "__class__": "int", "__dict__": {}}),
    (Tree, {"children": [{"children": [{"name": "\ud800"}]}]}),
    (int, True),
    (int, 1.0),
    (int, "1"),
    (int, 10**400),
    (float, 10**400),
    (float, 2**53 + 1),
    (float, True),
    (bool, 1),
    (str, 1),
    (str, "\udfff"),
    (dict[str, int], {"\ud800": 1}),
    (Color, "AZURE"),
    (Color, Color.RED),
    (Level, True),
    (Level, 1.0),
    (Literal[1, 2], True),
    (int | str | None, True),
    (int | float, 1),
    (float | str, 1),
    (set[int], [1, 1]),
    (set[int], [1, True]),
    (tuple[int, ...], (1,)),
    (tuple[int, str], [1]),
    (Annotated[list[int], LightField({"max_length": 1})], [1, 2]),
    (Annotated[str, LightField({"pattern": "^a$"})], "a\n"),
    (Annotated[float, LightField({"lt": 1})], 0.9999999999999999),
]


@pytest.mark.parametrize(("hint", "value"), HOSTILE, ids=[f"{hint} {value!r:.20}" for hint, value in HOSTILE])
def test_value_at_the_edge_of_a_type_is_judged_as_pydantic_judges_it(hint: Any, value: Any) -> None:
    parameters = [Parameter(name="value", hint=hint)]

    plain, exact = (_judged(each(parameters, PLACE), value) for each in (PlainArguments, ArgumentsModel))

    assert plain == exact


def _judged(model: Any, value: Any) -> Any:
    try:
        return told(model.cast({"value": value}))
    except Misfits as exc:
        return exc.sentences


class Row(typing.TypedDict):
    name: str
    total: int
    note: typing.NotRequired[str]


def test_dictionary_is_cast_without_members_that_it_lacks_or_that_no_type_names() -> None:
    plain = PlainArguments([Parameter(name="row", hint=Row)], PLACE)

    assert plain.members.cast({"row": {"total": 1, "name": "a", "other": 2}}) == {"row": {"name": "a", "total": 1}}
    with pytest.raises(Doubt):
        plain.members.cast({"row": {"total": 1, "name": "a", "\ud800": 2}})


def test_members_of_a_dictionary_are_written_in_its_own_order() -> None:
    rows = [{"total": 1, "name": "a"}, {"name": "b", "total": 2}]

    plain = PlainValue(list[Row], "return", PLACE).type.dump(rows)

    assert json.dumps(plain) == json.dumps(rows)


def test_default_is_made_anew_for_each_call() -> None:
    parameters = [Parameter(name="tags", hint=list[str], default=["a"])]
    plain = PlainArguments(parameters, PLACE)

    plain.cast({})["tags"].append("b")

    assert plain.cast({}) == {"tags": ["a"]}
    assert parameters[0].default == ["a"]
