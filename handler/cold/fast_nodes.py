"""graphql-core, loaded in half the time. Packages that need it call ``load`` before all of their modules.

graphql-core makes dataclasses of its 64 classes of nodes. The standard library writes five methods for each of them as
text and compiles these, which is half of the time of importing graphql-core. The methods differ only in the names of
the fields, so here all nodes share them, as records do. In all else the nodes are
graphql-core's own classes. If graphql-core ever declares them in another way, the standard library makes them again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import get_annotations
from operator import attrgetter
from typing import Any

from handler.cold.records import FROZEN, STANDARD_METADATA

NODES = "graphql.language.ast"

set_attribute = object.__setattr__

DECLARED: Mapping[str, Any] = {"frozen": True, "kw_only": True, "repr": False}
"""How graphql-core 3.3 declares its nodes."""


def load() -> None:
    """Import graphql-core, unless it is imported already.

    During the import, ``dataclasses.dataclass`` is a function that makes the nodes. It leaves all other classes, of any
    thread, to the standard function.
    """
    standard = dataclasses.dataclass

    def dataclass(cls: Any = None, /, **options: Any) -> Any:
        if cls is None:
            return lambda cls: dataclass(cls, **options)
        if cls.__module__ == NODES and options == DECLARED and not hasattr(cls, "__post_init__"):
            own = _own_fields(cls)
            if dataclasses.Field not in map(type, own.values()):  # a feature that only the standard library has
                return _node(cls, own, standard)
        return standard(cls, **options)

    dataclasses.dataclass = dataclass
    try:
        import_module(NODES)
    finally:
        dataclasses.dataclass = standard


def _own_fields(cls: Any) -> dict[str, Any]:
    """Return the fields that a class adds to those of its bases, each with its default."""
    return {
        name: getattr(cls, name, dataclasses.MISSING)  # or the default of a base, as in the standard library
        for name, annotation in get_annotations(cls).items()
        if not str(annotation).startswith("ClassVar")
    }


def _node(cls: Any, own: dict[str, Any], standard: Callable[..., Any]) -> Any:
    fields: dict[str, Any] = {}
    for base in reversed(cls.__mro__[1:]):
        fields |= base.__dict__.get("__node_fields__", {})
    fields |= own
    cls.__node_fields__ = fields
    cls.__node_defaults__ = {name: default for name, default in fields.items() if default is not dataclasses.MISSING}
    cls.__node_calls__ = set()  # valid tuples of argument names
    cls.__compared__ = attrgetter(*fields)
    for name in STANDARD_METADATA:
        setattr(cls, name, _Metadata(cls, name, standard))
    if not hasattr(cls.__base__, "__node_fields__"):  # others inherit them
        for name, method in _METHODS.items():
            setattr(cls, name, method)
    return cls


class _Metadata:
    """Metadata attributes of ``dataclasses``, made at their first use from a class that has only the fields."""

    def __init__(self, cls: Any, name: str, standard: Callable[..., Any]) -> None:
        self._cls = cls
        self._name = name
        self._standard = standard

    def __get__(self, _: object, owner: type) -> Any:
        cls = self._cls
        annotations: dict[str, Any] = {}
        for base in reversed(cls.__mro__):
            annotations |= get_annotations(base)
        own = {"__annotations__": annotations, "__module__": cls.__module__, "__doc__": cls.__doc__}
        plain = type(cls.__name__, (), {**cls.__node_defaults__, **own})
        self._standard(plain, init=False, repr=False, eq=False, kw_only=True)  # so there is nothing to compile
        params: Any = plain.__dict__["__dataclass_params__"]
        params.init = params.eq = params.frozen = True
        for name in STANDARD_METADATA:
            setattr(cls, name, getattr(plain, name))
        return getattr(cls, self._name)


def _init(self: Any, /, **arguments: Any) -> None:
    cls = type(self)
    for name, value in (values := cls.__node_defaults__ | arguments).items():
        set_attribute(self, name, value)  # a node whose ``__dict__`` is used takes three times the memory
    # A few sets of argument names make all nodes, and comparing names takes longer than everything else here.
    if (call := tuple(arguments)) not in cls.__node_calls__:
        if wrong := values.keys() ^ cls.__node_fields__.keys():
            raise TypeError(f"{cls.__name__}: missing or unknown: {', '.join(sorted(wrong))}")
        cls.__node_calls__.add(call)


_METHODS = {**FROZEN, "__init__": _init, "__replace__": dataclasses.replace, "__match_args__": ()}
"""Equivalent to the methods that the standard library writes."""
