"""``record``: frozen, slotted dataclasses with shared methods, for classes that load at a cold start.

The standard library writes and compiles six functions for each frozen dataclass, and inspects each of its fields. For
the eighty classes of a cold start, this takes longer than all other imports of our modules. A record's standard
metadata is therefore made only when ``dataclasses`` asks for it.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter
from typing import Any, ClassVar, Literal, TypeVar, dataclass_transform

__all__ = ["record", "record_fields", "replaced"]

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def record(*, frozen: Literal[True], slots: Literal[True], kw_only: bool = False) -> Callable[[type[T]], type[T]]:
    """``dataclasses.dataclass(frozen=True, slots=True, kw_only=...)`` with shared methods: every annotation is a field.

    ``dataclasses.field`` may give a field ``default``, ``default_factory``, ``repr``, ``compare``, ``metadata``, and
    ``kw_only`` if true. One base may be a record.

    Raises:
        TypeError: the class uses another feature of dataclasses, or the standard library would refuse it.
    """
    if (frozen, slots) != (True, True):
        raise TypeError("a record is frozen and has slots")
    return lambda plain: _record(plain, kw_only=kw_only)


def record_fields(cls: Any) -> Iterator[tuple[str, str, bool]]:
    """Yield each field of a record: its name, the text of its annotation, and true if it has a default.

    ``dataclasses.fields`` would first make the standard metadata.
    """
    for name, _, default in cls.__layout__:
        yield name, cls.__annotations__[name], default is not None


def replaced(instance: T, /, **changes: Any) -> T:
    """Return a record with some of its fields changed, as ``dataclasses.replace`` does with the standard metadata.

    To make the metadata of two records is 1 % of a cold start.

    Raises:
        TypeError: the record does not have such a field.
    """
    cls: Any = type(instance)
    values = {name: getattr(instance, name) for name, _, _ in cls.__layout__ if name not in changes}
    copy: T = cls(**values, **changes)
    return copy


def _record(plain: Any, *, kw_only: bool) -> Any:
    _require_no_more(plain)
    own = plain.__dict__
    declared = {name: own.get(name, _REQUIRED) for name in plain.__annotations__}
    defaults = {
        name: None if value is _REQUIRED else _default(plain, name, value, kw_only=kw_only)
        for name, value in declared.items()
    }
    above: dict[str, _Place] = {place[0]: place for place in getattr(plain, "__layout__", ())}
    # A class without slots has two attributes for its instances.
    members = {name: own[name] for name in own if name not in declared and name not in ("__dict__", "__weakref__")}
    if dataclasses.Field in map(type, members.values()):
        raise _refusal(plain, "a field without an annotation")
    positional = _positional(plain, above, defaults, kw_only=kw_only)
    uncompared = getattr(plain, "__uncompared__", frozenset()) - declared.keys() | {
        name for name, value in declared.items() if isinstance(value, dataclasses.Field) and not value.compare
    }
    compared = [name for name in {**above, **declared} if name not in uncompared]
    namespace = {
        **_METHODS,
        "__match_args__": positional,
        **({"__init__": _init_and_post} if hasattr(plain, "__post_init__") else {}),
        **members,
        "__qualname__": plain.__qualname__,
        "__slots__": tuple(name for name in declared if name not in above) if above else tuple(declared),
        "__plain__": (plain, kw_only),
        "__positional__": positional,
        "__uncompared__": uncompared,
        "__compared__": attrgetter(*compared) if compared else lambda _: (),
    }
    cls = type(plain)(plain.__name__, plain.__bases__, namespace)
    own_places = {name: (name, getattr(cls, name).__set__, default) for name, default in defaults.items()}
    cls.__layout__ = tuple((above | own_places).values())
    return cls


def _require_no_more(plain: Any) -> None:
    """Refuse features of dataclasses that records do not have, and those that ``dataclasses`` itself refuses."""
    own, annotations = plain.__dict__, plain.__annotations__.values()
    try:
        text = "\n".join(annotations)
    except TypeError:  # a module without ``from __future__ import annotations``
        text = "\n".join(map(str, annotations))
    if any(word in text for word in ("Var", "KW_ONLY")) and (word := re.search(_NO_FIELD, text, re.MULTILINE)):
        raise _refusal(plain, word[0])
    if not _REFUSED.isdisjoint(own):
        raise _refusal(plain, min(_REFUSED & own.keys()))
    if own.get("__hash__", _REQUIRED) is None:
        raise _refusal(plain, "__eq__ without __hash__")
    if plain.__bases__ != (object,):
        others = [base for base in plain.__bases__ if not hasattr(base, "__layout__")]
        if len(others) < len(plain.__bases__) - 1:
            raise _refusal(plain, "two records as its bases")
        if any(map(dataclasses.is_dataclass, others)):
            raise _refusal(plain, "a dataclass as its base that is not a record")


def _default(plain: Any, name: str, value: Any, *, kw_only: bool) -> Callable[[], Any] | None:
    """Return the factory of a field's default; ``None`` if the field is required."""
    if isinstance(value, dataclasses.Field):
        if not value.init or value.hash is not None or (kw_only and value.kw_only is False):
            raise _refusal(plain, f"init=, hash= or kw_only= at the field {name}")
        if value.default_factory is not dataclasses.MISSING:
            return value.default_factory
        value = value.default
        if value is dataclasses.MISSING:
            return None
    if type(value).__hash__ is None:
        raise _refusal(plain, f"a mutable default at the field {name}, which takes a default_factory")
    return lambda: value


def _positional(
    plain: Any, above: Mapping[str, _Place], defaults: Mapping[str, Callable[[], Any] | None], *, kw_only: bool
) -> tuple[str, ...]:
    """Return the fields that a call may give by position, in order."""
    inherited: tuple[str, ...] = getattr(plain, "__positional__", ())
    by_name = {name for name, value in plain.__dict__.items() if getattr(value, "kw_only", None) is True}
    if not defaults.keys().isdisjoint(inherited if kw_only else above):
        raise _refusal(plain, "a field of its base again, by position")
    if kw_only:
        return inherited
    positional = (*inherited, *(name for name in defaults if name not in by_name))
    required = [name for name in positional if (above[name][2] if name in above else defaults[name]) is None]
    if required and required[-1] != positional[len(required) - 1]:
        raise _refusal(plain, f"the field {required[-1]} without a default behind one that has it")
    return positional


def _refusal(plain: Any, feature: str) -> TypeError:
    return TypeError(f"the record {plain.__qualname__} may not have {feature}")


class _Standard:
    """One metadata attribute of ``dataclasses``, made from the class as it was declared."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, _: object, owner: Any) -> Any:
        plain, kw_only = owner.__plain__
        if self._name not in plain.__dict__:
            dataclasses.dataclass(plain, init=False, repr=False, eq=False, kw_only=kw_only)
        return getattr(plain, self._name)


_Place = tuple[str, Callable[[Any, Any], None], Callable[[], Any] | None]
"""A field's name, its setter, and its default factory or ``None``."""

_NO_FIELD = r"^(?:\w+\.)*(?:ClassVar|InitVar|KW_ONLY)\b|^<dataclasses\._KW_ONLY_TYPE\b"
"""Annotations that make no field; the standard library matches text, too. Compiled only if a class may have one."""

_REFUSED = frozenset({"__slots__", "__setattr__", "__delattr__", "__dataclass_fields__"})

_REQUIRED = object()


class _Shared:
    """The methods of every class that has a layout."""

    __layout__: tuple[_Place, ...]
    __positional__: tuple[str, ...]
    __compared__: Callable[[Any], Any]
    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    def __init__(self, /, *positional: Any, **arguments: Any) -> None:
        cls = type(self)
        if positional:
            names = dict(zip(cls.__positional__, positional, strict=False))
            if len(names) < len(positional) or names.keys() & arguments.keys():
                most = len(cls.__positional__)
                raise TypeError(f"{cls.__name__} takes {most} positional arguments, each of them once")
            arguments |= names
        unknown = len(arguments)
        for name, store, default in cls.__layout__:
            if name in arguments:
                store(self, arguments[name])
                unknown -= 1
            elif default is not None:
                store(self, default())
            else:
                raise TypeError(f"{cls.__name__} needs {name}")
        if unknown:
            others = arguments.keys() - {name for name, _, _ in cls.__layout__}
            raise TypeError(f"{cls.__name__} has no {', '.join(sorted(others))}")

    def __repr__(self) -> str:
        fields = (f"{each.name}={getattr(self, each.name)!r}" for each in dataclasses.fields(self) if each.repr)
        return f"{type(self).__qualname__}({', '.join(fields)})"

    def __eq__(self, other: object) -> bool:
        cls = type(self)
        if type(other) is not cls:
            return NotImplemented
        return bool(cls.__compared__(self) == cls.__compared__(other))

    def __hash__(self) -> int:
        return hash(type(self).__compared__(self))

    def __setattr__(self, name: str, _: object) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    def __getstate__(self) -> list[Any]:
        return [getattr(self, name) for name, _, _ in type(self).__layout__]

    def __setstate__(self, state: list[Any]) -> None:
        for (_, store, _), value in zip(type(self).__layout__, state, strict=True):
            store(self, value)


def _init_and_post(self: Any, /, *positional: Any, **arguments: Any) -> None:
    _Shared.__init__(self, *positional, **arguments)
    self.__post_init__()


FROZEN: Mapping[str, Any] = {name: vars(_Shared)[name] for name in ("__eq__", "__hash__", "__setattr__", "__delattr__")}
"""Methods of a frozen class, which compare by its ``__compared__``."""

STANDARD_METADATA = ("__dataclass_fields__", "__dataclass_params__")

_METHODS: Mapping[str, Any] = {
    **{name: method for name, method in vars(_Shared).items() if callable(method)},
    **{name: _Standard(name) for name in STANDARD_METADATA},
}
