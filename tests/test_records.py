"""The shared methods of dataclasses do what the standard library's generated ones do."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import field
from typing import Any

import pytest

from handler import records


class Plain:
    """A point."""

    x: int
    y: int = 2
    tags: list[str] = field(default_factory=list)
    secret: str = field(default="hidden", repr=False)
    note: str = field(default="", compare=False)

    def double(self) -> int:
        return self.x * 2


def _twice(**options: Any) -> tuple[Any, Any]:
    """The same class made by the standard library and by ours."""
    made: list[Any] = []
    for decorate in (dataclasses.dataclass, records.dataclass):
        # Defaults of fields move out of a class that is decorated, so each gets one of its own.
        namespace = {name: value for name, value in vars(Plain).items() if name not in ("__dict__", "__weakref__")}
        made.append(decorate(frozen=True, slots=True, **options)(type("Point", (), namespace)))
    return made[0], made[1]


STANDARD, OURS = _twice(kw_only=True)


@pytest.mark.parametrize(
    "given", [{"x": 1}, {"x": 1, "y": 3}, {"y": 0, "x": None, "tags": ["a"], "secret": "s", "note": "n"}]
)
def test_values_defaults_and_representation_are_the_standard_ones(given: dict[str, Any]) -> None:
    standard, ours = STANDARD(**given), OURS(**given)

    assert dataclasses.asdict(ours) == dataclasses.asdict(standard)
    assert repr(ours) == repr(standard)
    assert ours.double() if given["x"] else True


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
    @records.dataclass(frozen=True, slots=True)
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
    @records.dataclass(frozen=True, slots=True)
    class Nothing:
        """Nothing."""

    assert Nothing() == Nothing()
    assert (repr(Nothing()), hash(Nothing())) == (f"{Nothing.__qualname__}()", hash(Nothing()))


def test_subclass_has_the_fields_of_both_and_methods_of_its_own_stay() -> None:
    @records.dataclass(frozen=True, slots=True, kw_only=True)
    class Base:
        a: int

        def __repr__(self) -> str:
            return "mine"

    @records.dataclass(frozen=True, slots=True, kw_only=True)
    class Derived(Base):
        b: int = 2

    assert dataclasses.asdict(Derived(a=1)) == {"a": 1, "b": 2}
    assert repr(Base(a=1)) == "mine"


@records.dataclass(frozen=True, slots=True)
class Kept:
    """One that pickle finds."""

    a: int
    b: str = ""


def test_copies_equal_what_they_are_of() -> None:
    kept = Kept(1, "b")

    assert dataclasses.replace(kept, a=2) == Kept(2, "b")
    assert copy.copy(kept) == copy.deepcopy(kept) == pickle.loads(pickle.dumps(kept)) == kept


def test_pattern_finds_positions() -> None:
    match Kept(1, "b"):
        case Kept(a, b):
            assert (a, b) == (1, "b")


def test_only_frozen_ones_with_slots_are_made() -> None:
    make: Any = records.dataclass
    with pytest.raises(TypeError, match="only frozen dataclasses with slots"):
        make(frozen=True, slots=False)


def test_what_dataclasses_knows_of_fields_is_the_standard_one() -> None:
    @records.dataclass(frozen=True, slots=True, kw_only=True)
    class Base:
        a: int
        b: str = field(default="", compare=False)

    @records.dataclass(frozen=True, slots=True, kw_only=True)
    class Derived(Base):
        b: str = "b"
        c: list[int] = field(default_factory=list, repr=False)

    assert dataclasses.is_dataclass(Derived)
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
