"""Names of a module that are imported at their first use.

The build puts calls of ``name_lazily`` into packages (``infra/deferred_imports.py``).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

Origin = tuple[str, str]
"""A module, and the name of its member; empty string: the module itself."""


def name_lazily(module: str, names: Mapping[str, Origin]) -> None:
    """Give a module names whose values are imported when somebody reads them."""
    made = sys.modules[module]
    made.__dict__["__lazy_names__"] = names
    made.__class__ = LazyNames


class LazyNames(ModuleType):
    """The class of modules with such names."""

    __lazy_names__: Mapping[str, Origin]

    def __getattr__(self, name: str) -> Any:
        if name not in self.__lazy_names__:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        origin, member = self.__lazy_names__[name]
        __import__(origin)
        value: Any = sys.modules[origin]
        if member:
            value = getattr(value, member) if hasattr(value, member) else import_module(f"{origin}.{member}")
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        # An import sets a submodule on its package. Where a member of the submodule has the same name, as in
        # graphql.validation.validate, the package's own import would have replaced the submodule.
        if not (isinstance(value, ModuleType) and self.__lazy_names__.get(name, ("", ""))[1]):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *self.__lazy_names__} - {"__lazy_names__"})
