"""The shared methods of dataclasses do what the standard library's generated ones do."""

from __future__ import annotations

import ast
import copy
import dataclasses
import pickle
import pkgutil
import typing
from collections.abc import Callable, Iterator
from dataclasses import InitVar, field
from functools import partial
from importlib import import_module
from typing import Any, ClassVar

import pytest

import handler
from handler.cold import records
from tests.conftest import ROOT


def _plain() -> Any:
    class Point:
        """A point."""

        x: int
        y: int = 2
        tags: list[str] = field(default_factory=list)
        secret: str = field(default="hidden", repr=False)
        note: str = field(default="", compare=False)

        def double(self) -> int:
            return self.x * 2

    return Point


def _twice(**options: Any) -> tuple[Any, Any]:
    """The same class made by the standard library and by ours."""
    make: Any = records.record
    return (
        dataclasses.dataclass(frozen=True, slots=True, **options)(_plain()),
        make(frozen=True, slots=True, **options)(_plain()),
    )


STANDARD, OURS = _twice(kw_only=True)


@pytest.mark.parametrize(
    "given", [{"x": 1}, {"x": 1, "y": 3}, {"y": 0, "x": None, "tags": ["a"], "secret": "s", "note": "n"}]
)
def test_values_defaults_and_representation_are_the_standard_ones(given: dict[str, Any]) -> None:
    standard, ours = STANDARD(**given), OURS(**given)

    assert dataclasses.asdict(ours) == dataclasses.asdict(standard)
    assert repr(ours) == repr(standard)
    assert ours.double() if given["x"] else True


@pytest.mark.parametrize("options", [{}, {"kw_only": True}])
@pytest.mark.parametrize("changes", [{}, {"x": 5}, {"tags": ["b"], "note": "other"}, {"secret": None, "y": 0, "x": 0}])
def test_replaced_is_what_dataclasses_replaces(options: dict[str, Any], changes: dict[str, Any]) -> None:
    standard, ours = (cls(x=1, tags=["a"], note="n") for cls in _twice(**options))

    assert dataclasses.asdict(records.replaced(ours, **changes)) == dataclasses.asdict(
        dataclasses.replace(standard, **changes)
    )
    assert ours.x == 1
    with pytest.raises(TypeError):
        records.replaced(ours, gone=1, **changes)


def test_fields_are_given_with_their_annotations() -> None:
    assert list(records.record_fields(OURS)) == [
        ("x", "int", False),
        ("y", "int", True),
        ("tags", "list[str]", True),
        ("secret", "str", True),
        ("note", "str", True),
    ]


def test_each_gets_a_default_of_its_own() -> None:
    assert OURS(x=1).tags is not OURS(x=1).tags


@pytest.mark.parametrize("given", [{}, {"y": 1}, {"x": 1, "z": 1}, {"x": 1, "z": 1, "a": 2}])
def test_missing_and_unknown_fields_are_refused(given: dict[str, Any]) -> None:
    for cls in (STANDARD, OURS):
        with pytest.raises(TypeError):
            cls(**given)


def test_positional_arguments_are_taken_in_order_and_only_where_they_may_be() -> None:
    standard, ours = _twice()

    assert dataclasses.asdict(ours(1, 3, note="n")) == dataclasses.asdict(standard(1, 3, note="n"))
    for cls, positional, given in (
        (standard, (1, 2, [], "s", "n", 6), {}),
        (ours, (1, 2, [], "s", "n", 6), {}),
        (standard, (1,), {"x": 2}),
        (ours, (1,), {"x": 2}),
        (STANDARD, (1,), {}),
        (OURS, (1,), {}),
    ):
        with pytest.raises(TypeError):
            cls(*positional, **given)


def test_equal_are_those_of_one_class_whose_compared_fields_are() -> None:
    assert OURS(x=1) == OURS(x=1, note="another")
    assert OURS(x=1) != OURS(x=2)
    assert OURS(x=1) != STANDARD(x=1)
    assert OURS(x=1) != (1, 2)


def test_equal_ones_have_one_hash_and_those_with_lists_none() -> None:
    @records.record(frozen=True, slots=True)
    class Pair:
        a: int
        b: int

    assert len({Pair(1, 2), Pair(1, 2), Pair(2, 1)}) == 2
    with pytest.raises(TypeError, match="unhashable"):
        hash(OURS(x=1))


def test_nothing_is_assigned_deleted_or_added() -> None:
    ours = OURS(x=1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
        ours.x = 2
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'x'"):
        del ours.x
    with pytest.raises(dataclasses.FrozenInstanceError):
        ours.z = 2
    assert not hasattr(ours, "__dict__")


def test_class_without_fields_is_equal_to_its_like() -> None:
    @records.record(frozen=True, slots=True)
    class Nothing:
        """Nothing."""

    assert Nothing() == Nothing()
    assert (repr(Nothing()), hash(Nothing())) == (f"{Nothing.__qualname__}()", hash(Nothing()))


def test_subclass_has_the_fields_of_both_and_methods_of_its_own_stay() -> None:
    @records.record(frozen=True, slots=True, kw_only=True)
    class Base:
        a: int

        def __repr__(self) -> str:
            return "mine"

    @records.record(frozen=True, slots=True, kw_only=True)
    class Derived(Base):
        b: int = 2

    assert dataclasses.asdict(Derived(a=1)) == {"a": 1, "b": 2}
    assert repr(Base(a=1)) == "mine"


@records.record(frozen=True, slots=True)
class Kept:
    """One that pickle finds."""

    a: int
    b: str = ""


def test_copies_equal_what_they_are_of() -> None:
    kept = Kept(1, "b")

    assert dataclasses.replace(kept, a=2) == Kept(2, "b")
    with pytest.raises(dataclasses.FrozenInstanceError):
        kept.a = 2  # type: ignore[misc] # mypy knows that it is frozen
    with pytest.raises(TypeError):
        Kept()  # type: ignore[call-arg] # and what it needs
    assert copy.copy(kept) == copy.deepcopy(kept) == pickle.loads(pickle.dumps(kept)) == kept


def test_pattern_finds_positions() -> None:
    match Kept(1, "b"):
        case Kept(a, b):
            assert (a, b) == (1, "b")


def test_only_frozen_ones_with_slots_are_made() -> None:
    make: Any = records.record
    with pytest.raises(TypeError, match="a record is frozen and has slots"):
        make(frozen=True, slots=False)


def test_what_dataclasses_knows_of_fields_is_the_standard_one() -> None:
    @records.record(frozen=True, slots=True, kw_only=True)
    class Base:
        a: int
        b: str = field(default="", compare=False)

    @records.record(frozen=True, slots=True, kw_only=True)
    class Derived(Base):
        b: str = "b"
        c: list[int] = field(default_factory=list, repr=False)

    described = [(each.name, each.type, each.default, each.compare, each.repr) for each in dataclasses.fields(Derived)]
    missing = dataclasses.MISSING
    assert described == [
        ("a", "int", missing, True, True),
        ("b", "str", "b", True, True),
        ("c", "list[int]", missing, True, False),
    ]
    assert Base(a=1, b="x") == Base(a=1)
    assert Derived(a=1, b="x") != Derived(a=1)
    assert repr(Derived(a=1)).endswith("Derived(a=1, b='b')")
    assert dataclasses.is_dataclass(Derived)


def _recorded(annotations: dict[str, Any], *bases: type, kw_only: bool = True, **own: Any) -> Any:
    make: Any = records.record
    namespace = {"__annotations__": annotations, "__qualname__": "Point", **own}
    return make(frozen=True, slots=True, kw_only=kw_only)(type("Point", bases, namespace))


def _method(*_: object) -> None: ...


@dataclasses.dataclass(frozen=True)
class Standard:
    """One of the standard library."""

    a: int


REFUSED: dict[str, Callable[[], Any]] = {
    "ClassVar": lambda: _recorded({"a": "int", "b": "ClassVar[int]"}, b=1),
    "typing.ClassVar": lambda: _recorded({"b": "typing.ClassVar[int]"}, b=1),
    "typing.ClassVar ": lambda: _recorded({"b": ClassVar[int]}, b=1),
    "t.ClassVar": lambda: _recorded({"b": "t.ClassVar"}, b=1),
    "InitVar": lambda: _recorded({"b": "InitVar[int]"}),
    "dataclasses.InitVar": lambda: _recorded({"a": int, "b": InitVar[int]}),
    "KW_ONLY": lambda: _recorded({"_": "KW_ONLY", "a": "int"}),
    "<dataclasses._KW_ONLY_TYPE": lambda: _recorded({"_": dataclasses.KW_ONLY, "a": "int"}),
    "init=, hash= or kw_only= at the field a": lambda: _recorded({"a": "int"}, a=field(default=1, init=False)),
    "init=, hash= or kw_only= at the field a ": lambda: _recorded({"a": "int"}, a=field(hash=False)),
    "init=, hash= or kw_only= at the field a  ": lambda: _recorded({"a": "int"}, a=field(kw_only=False)),
    "a mutable default at the field a": lambda: _recorded({"a": "list[int]"}, a=[]),
    "a mutable default at the field a ": lambda: _recorded({"a": "list[int]"}, a=field(default={})),
    "a field without an annotation": lambda: _recorded({}, a=field(default=1)),
    "the field b without a default behind one that has it": lambda: _recorded(
        {"a": "int", "b": "int"}, a=1, kw_only=False
    ),
    "the field c without a default behind one that has it": lambda: _recorded({"c": "int"}, Kept, kw_only=False),
    "a field of its base again, by position": lambda: _recorded({"a": "int"}, Kept, kw_only=False),
    "a field of its base again, by position ": lambda: _recorded({"a": "int"}, Kept),
    "two records as its bases": lambda: _recorded({}, Kept, _recorded({})),
    "a dataclass as its base that is not a record": lambda: _recorded({"b": "int"}, Standard),
    "__slots__": lambda: _recorded({"a": "int"}, __slots__=("a",)),
    "__setattr__": lambda: _recorded({"a": "int"}, __setattr__=_method),
    "__delattr__": lambda: _recorded({"a": "int"}, __delattr__=_method),
    "__eq__ without __hash__": lambda: _recorded({"a": "int"}, __eq__=_method),
    "__dataclass_fields__": lambda: records.record(frozen=True, slots=True)(dataclasses.dataclass(_plain())),
}


@pytest.mark.parametrize("what", REFUSED)
def test_class_that_asks_for_more_is_refused(what: str) -> None:
    with pytest.raises(TypeError) as caught:
        REFUSED[what]()

    assert str(caught.value).partition(" may not have ")[2].startswith(what.rstrip())


def test_name_that_only_looks_like_one_of_no_field_is_a_field() -> None:
    made = _recorded({"a": "InitVariables", "b": "list[ClassVar]", "c": "VarMap"})

    assert [each.name for each in dataclasses.fields(made)] == ["a", "b", "c"]


def test_field_may_say_what_the_decorator_says() -> None:
    assert _recorded({"a": "int"}, a=field(kw_only=True, metadata={"of": "the test"}))(a=1).a == 1


def _block() -> Any:
    class Block:
        text: str
        note: str | None = field(default=None, kw_only=True)
        size: int = 0
        tags: list[str] = field(default_factory=list, kw_only=True)

        def __post_init__(self) -> None:
            if self.size < 0:
                raise ValueError("negative")
            object.__setattr__(self, "size", self.size + 1)

    return Block


def test_fields_by_name_alone_and_a_second_step_are_the_standard_ones() -> None:
    make: Any = records.record
    pair = [each(frozen=True, slots=True)(_block()) for each in (dataclasses.dataclass, make)]

    def told(call: Callable[[Any], Any]) -> list[Any]:
        return [_outcome(partial(call, cls)) for cls in pair]

    for call in (
        lambda cls: cls("a"),
        lambda cls: cls("a", 2, note="n", tags=["t"]),
        lambda cls: dataclasses.replace(cls("a", 2), size=4),
        lambda cls: pickle.PickleError if cls("a", 1) == cls("a", 1, note="n") else hash(cls("a", 1).text),
        lambda cls: cls.__match_args__,
        lambda cls: cls("a", -1),
        lambda cls: cls("a", 1, "n"),
        lambda cls: cls(),
    ):
        standard, ours = told(call)
        assert ours == standard


def _outcome(call: Callable[[], Any]) -> Any:
    try:
        return repr(call())
    except (TypeError, ValueError) as exc:
        return type(exc)


def test_second_step_of_a_base_is_taken_in_a_derived_record() -> None:
    make: Any = records.record
    base = make(frozen=True, slots=True)(_block())
    derived = make(frozen=True, slots=True)(type("More", (base,), {"__annotations__": {}}))

    with pytest.raises(ValueError, match="negative"):
        derived("a", -1)
    assert derived("a").size == 1


def test_own_methods_and_patterns_stay() -> None:
    def of_two(self: Any, a: int, b: int) -> None:
        object.__setattr__(self, "a", a + b)

    made = _recorded({"a": "int"}, __init__=of_two, __match_args__=("twice",), __hash__=lambda _: 7, __eq__=_method)

    assert (made(1, 2).a, made.__match_args__, hash(made(1, 2))) == (3, ("twice",), 7)


def _records_of(package: Any) -> Iterator[type]:
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if module.name not in ("handler.lambda_function", "handler.__main__"):  # they start something
            found = vars(import_module(module.name)).values()
            yield from (each for each in found if isinstance(each, type) and "__layout__" in vars(each))


def test_every_record_has_the_fields_that_the_standard_library_sees() -> None:
    found = {*_records_of(handler)}

    assert len(found) > 80
    for each in typing.cast("set[Any]", found):
        assert [field.name for field in dataclasses.fields(each)] == [name for name, _, _ in each.__layout__], each


def test_no_module_gives_what_makes_no_field_another_name() -> None:
    """``record`` reads the texts of annotations, and would take a renamed ``ClassVar`` for a field."""
    renamed = [
        f"{file.name}:{node.lineno}"
        for file in sorted((ROOT / "handler").rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom)
        for each in node.names
        if each.name in {"ClassVar", "InitVar", "KW_ONLY"} and each.asname
    ]

    assert renamed == []
