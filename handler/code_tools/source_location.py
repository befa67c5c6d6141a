"""The source location of an author's function or class, for errors that name it."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any, NoReturn

from handler.cold.records import record
from handler.errors.authoring import ToolDefinitionError

MAX_WRAPPERS = 100
"""The limit of wrappers around one function: a function may wrap itself."""


@record(frozen=True, slots=True, kw_only=True)
class SourceLocation:
    """A definition, such as ``tool search_docs``, and its place. ``line`` counts from 1; 0 means unknown."""

    label: str
    file: str = ""
    line: int = 0

    def refuse(self, sentence: str, *, cause: BaseException | None = None) -> NoReturn:
        """Raise the definition error that says ``sentence`` about this place.

        Raises:
            ToolDefinitionError: always.
        """
        raise ToolDefinitionError(self.label, sentence, file=self.file, line=self.line) from cause


def source_location(target: Any, label: str) -> SourceLocation:
    """Return the place of ``target``: the first line of a function, with its decorators, or of a class."""
    plain = plain_function(target)
    code = getattr(plain, "__code__", None)
    if isinstance(code, types.CodeType):
        return SourceLocation(label=label, file=code.co_filename, line=code.co_firstlineno)
    kind = plain if isinstance(plain, type) else type(plain)
    try:
        return SourceLocation(label=label, file=inspect.getsourcefile(kind) or "", line=inspect.getsourcelines(kind)[1])
    except (OSError, TypeError):  # typed into a console, or written in C
        return SourceLocation(label=label)


def plain_function(target: Any) -> Any:
    """Return the function below partials, methods, wrappers and callable instances; else ``target`` itself."""
    for _ in range(MAX_WRAPPERS):
        if isinstance(target, functools.partial):
            target = target.func
        elif isinstance(target, staticmethod | classmethod) or inspect.ismethod(target):
            target = target.__func__
        elif inspect.getattr_static(target, "__wrapped__", None) is not None:  # a proxy has any attribute
            target = target.__wrapped__
        elif not isinstance(target, type) and inspect.isfunction(
            inspect.getattr_static(type(target), "__call__", None)
        ):
            target = type(target).__call__
        else:
            return target
    return target


def function_name(target: Callable[..., Any]) -> str:
    """Return the name of a function; empty string for a lambda."""
    function = target.func if isinstance(target, functools.partial) else target
    name = getattr(function, "__name__", None) or type(function).__name__
    return "" if name == "<lambda>" else str(name)
