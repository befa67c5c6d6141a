"""The decorator ``@tool`` in its four forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, Unpack, overload

from handler.code_tools.definitions.definition import declare
from handler.code_tools.functions.options import ToolOptions
from handler.code_tools.functions.signature import caller_names

F = TypeVar("F", bound=Callable[..., Any])


@overload
def tool(function: F, /, **options: Unpack[ToolOptions]) -> F: ...
@overload
def tool(name: str | None = None, /, **options: Unpack[ToolOptions]) -> Callable[[F], F]: ...
def tool(target: Any = None, /, **options: Any) -> Any:
    """Declare a function as a tool, and return the function unchanged.

    The forms are ``@tool``, ``@tool()``, ``@tool("name")`` and ``@tool(name="name", …)``. A toolkit takes the function
    with ``kit.add``.

    Raises:
        ToolDefinitionError: an option that does not fit, or a function that cannot be a tool.
    """
    names = caller_names()
    if target is not None and not isinstance(target, str):
        declare(target, options, names)
        return target
    said = {"name": target, **options} if target is not None else options

    def decorate(function: F) -> F:
        declare(function, said, names)
        return function

    return decorate
