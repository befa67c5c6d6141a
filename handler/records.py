"""``dataclass`` for what loads at a cold start: the same, but that its methods are shared.

The standard library writes and compiles six functions for each frozen dataclass. For the sixty classes of a cold start
that takes longer than all else that is imported of ours.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(*, frozen: bool, slots: bool, kw_only: bool = False) -> Callable[[type], type]:
        """``dataclasses.dataclass(frozen=True, slots=True, kw_only=...)``."""
        if not (frozen and slots):
            raise TypeError("only frozen dataclasses with slots share their methods")

        def decorate(plain: type) -> type:
            options = {"init": False, "repr": False, "eq": False, "slots": True, "kw_only": kw_only}
            cls = dataclasses.dataclass(plain, **options)
            fields = dataclasses.fields(cls)
            compared = [field.name for field in fields if field.compare]
            cls.__positional__ = () if kw_only else tuple(field.name for field in fields)
            cls.__layout__ = tuple((field.name, getattr(cls, field.name).__set__, _default(field)) for field in fields)
            cls.__compared__ = attrgetter(*compared) if compared else _nothing
            for name, method in _METHODS.items():
                if name not in plain.__dict__:
                    setattr(cls, name, method)
            return cls

        return decorate


_REQUIRED = object()


def _default(field: dataclasses.Field[Any]) -> Callable[[], Any] | None:
    """What makes the value of a field that is not given; nothing: it has to be."""
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory
    return None if field.default is dataclasses.MISSING else lambda: field.default


def _nothing(_: object) -> tuple[()]:
    return ()


class _Shared:
    """The methods, for any class that has a layout."""

    __layout__: tuple[tuple[str, Callable[[Any, Any], None], Callable[[], Any] | None], ...]
    __positional__: tuple[str, ...]
    __compared__: Callable[[Any], Any]
    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    def __init__(self, /, *positional: Any, **given: Any) -> None:
        cls = type(self)
        if positional:
            given |= _by_name(cls, positional, given)
        unknown = len(given)
        for name, put, default in cls.__layout__:
            value = given.get(name, _REQUIRED)
            if value is not _REQUIRED:
                unknown -= 1
            elif default is not None:
                value = default()
            else:
                raise TypeError(f"{cls.__name__} needs {name}")
            put(self, value)
        if unknown:
            names = given.keys() - cls.__dataclass_fields__.keys()
            raise TypeError(f"{cls.__name__} has no {', '.join(sorted(names))}")

    def __repr__(self) -> str:
        shown = (f"{each.name}={getattr(self, each.name)!r}" for each in dataclasses.fields(self) if each.repr)
        return f"{type(self).__qualname__}({', '.join(shown)})"

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
        for (_, put, _), value in zip(type(self).__layout__, state, strict=True):
            put(self, value)


def _by_name(cls: type[_Shared], positional: tuple[Any, ...], given: dict[str, Any]) -> dict[str, Any]:
    named = dict(zip(cls.__positional__, positional, strict=False))
    if len(named) < len(positional) or named.keys() & given.keys():
        raise TypeError(f"{cls.__name__} takes {len(cls.__positional__)} positional arguments, each of them once")
    return named


_METHODS = {name: method for name, method in vars(_Shared).items() if callable(method)}
