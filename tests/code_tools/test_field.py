"""``Field``: the same to pydantic, whether pydantic was loaded when an author wrote it, or not."""

from __future__ import annotations

import copy
import subprocess
import sys
from dataclasses import dataclass
from typing import Annotated, Any

import pydantic
import pytest
from pydantic.fields import FieldInfo

from handler.code_tools.field import LightField, options_of, pydantic_field
from tests.conftest import ROOT

OPTIONS: list[dict[str, Any]] = [
    {"ge": 1, "lt": 9, "description": "it"},
    {"default": 3, "title": "It", "examples": [1]},
    {"default_factory": lambda: 4, "multiple_of": 2},
    {"gt": 0, "le": 7},
]


@pytest.mark.parametrize("options", OPTIONS, ids=["bounds", "default", "factory", "limits"])
def test_light_field_is_a_field_to_pydantic_wherever_it_stands(options: dict[str, Any]) -> None:
    def schemas(made: Any) -> list[Any]:
        @dataclass
        class Plain:
            value: int = made

        class Model(pydantic.BaseModel):
            value: int = made

        class Annotations(pydantic.BaseModel):
            value: Annotated[int, made]

        hints: list[Any] = [Plain, Model, Annotations, Annotated[int, made], list[Annotated[int, made]]]
        adapters: list[Any] = [pydantic.TypeAdapter(hint) for hint in hints]
        results = [
            [_result(adapter, value) for value in ({}, {"value": 4}, {"value": 0}, 4, [4, 11])] for adapter in adapters
        ]
        return [[adapter.json_schema() for adapter in adapters], results]

    assert schemas(LightField(options)) == schemas(pydantic.Field(**options))


def _result(adapter: Any, value: Any) -> Any:
    try:
        made = adapter.validate_python(value)
    except pydantic.ValidationError as exc:
        return exc.errors(include_url=False, include_input=False)
    return getattr(made, "value", made)


def test_light_field_becomes_one_field_of_pydantic() -> None:
    made: Any = LightField({"default": 3, "ge": 1})

    assert isinstance(made, FieldInfo)
    assert pydantic_field(made) is pydantic_field(made)
    assert (made.default, made.is_required()) == (3, False)
    assert type(copy.copy(made)) is type(copy.deepcopy(made)) is FieldInfo
    made.title = "It"
    assert pydantic_field(made).title == "It"
    assert repr(made) == "Field(default=3, ge=1)"
    assert options_of(made) == options_of(pydantic.Field(3, ge=1)) == {"default": 3, "ge": 1}


@pytest.mark.parametrize("options", [{"alias": "other"}, {"strict": True}, {"max_digits": 3, "pattern": "a"}], ids=str)
def test_field_that_says_more_is_not_a_light_one(options: dict[str, Any]) -> None:
    assert options_of(pydantic.Field(**options)) is None


def loaded_by(code: str) -> str:
    program = f"import sys\nfrom stile import Field\n{code}\nprint('pydantic.fields' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    return (done.stdout + done.stderr).strip()


@pytest.mark.parametrize(
    ("code", "loads"),
    [
        ("Field(3, ge=1, description='it'); Field(..., pattern='a'); Field(default_factory=list)", False),
        ("Field(alias='other')", True),
        ("import pydantic.fields; assert type(Field(3)) is pydantic.fields.FieldInfo", True),
    ],
)
def test_field_loads_pydantic_only_if_it_says_more(code: str, loads: bool) -> None:
    assert loaded_by(code) == str(loads)


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("Field(1, default_factory=list)", "TypeError: cannot specify both default and default_factory"),
        ("Field(const=1)", "PydanticUserError: `const` is removed"),
        ("Field(1, 2)", "TypeError: Field() takes from 0 to 1 positional arguments but 2 were given"),
        ("Field(1, default=2)", "TypeError: Field() got multiple values for argument 'default'"),
    ],
)
def test_field_that_pydantic_refuses_is_refused_where_it_is_written(code: str, error: str) -> None:
    assert error in loaded_by(code)


def test_model_takes_a_field_that_was_made_before_pydantic_was_loaded() -> None:
    code = """
from typing import Annotated
Count = Annotated[int, Field(ge=2, description="How many")]
from pydantic import BaseModel, ValidationError
class Order(BaseModel):
    count: Count
    note: str = Field(default="", title="A note")
properties = Order.model_json_schema()["properties"]
assert properties["count"] == {"description": "How many", "minimum": 2, "title": "Count", "type": "integer"}, properties
assert properties["note"] == {"default": "", "title": "A note", "type": "string"}, properties
try:
    Order(count=1)
except ValidationError as exc:
    assert exc.errors()[0]["type"] == "greater_than_equal"
"""

    assert loaded_by(code) == "True"
