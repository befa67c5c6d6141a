"""A function's signature as a tool sees it: parameters for the model, bound parameters, and the context."""

from __future__ import annotations

import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from handler.code_tools.boundary import AuthorFailed, authors_code
from handler.code_tools.context import Context
from handler.code_tools.docstrings import parse_docstring
from handler.code_tools.source_location import SourceLocation, plain_function
from handler.cold.records import record

NO_DEFAULT = inspect.Parameter.empty

REFUSED: Mapping[Any, str] = {
    inspect.Parameter.POSITIONAL_ONLY: "it is positional-only, and arguments come by name",
    inspect.Parameter.VAR_POSITIONAL: "a model gives arguments by name: write one parameter for each",
    inspect.Parameter.VAR_KEYWORD: "arguments have to be known; with input_schema they come as one mapping",
}


@record(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter that a model fills."""

    name: str
    hint: Any
    default: Any = NO_DEFAULT
    description: str = ""  # from Annotated or the docstring


@record(frozen=True, slots=True, kw_only=True)
class Signature:
    """The parameters and the return type of a function."""

    parameters: tuple[Parameter, ...]
    context: str = ""  # the parameter that takes the context; empty if there is none
    returns: Any = NO_DEFAULT


def caller_names() -> dict[str, Any]:
    """Return the local names where an author calls our API: types may be defined in a function or class."""
    frame = sys._getframe(1)  # noqa: SLF001 - the only way to a caller's names
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("handler.code_tools"):
        frame = frame.f_back
    return {} if frame.f_locals is frame.f_globals else dict(frame.f_locals)


def resolve_hints(
    function: Callable[..., Any], names: Mapping[str, Any], place: SourceLocation | None
) -> dict[str, Any]:
    """Resolve the hints of a function where it is defined; ``names`` are the local names there.

    Without a ``place`` for errors, a hint that cannot be resolved stays as it is.

    Raises:
        ToolDefinitionError: a hint that cannot be resolved, with its parameter.
    """
    plain = plain_function(function)
    hints: dict[str, Any] = {}
    for name, hint in getattr(plain, "__annotations__", {}).items():
        holder = types.SimpleNamespace(__annotations__={name: hint})
        module_names = getattr(plain, "__globals__", {})
        try:
            with authors_code():  # a hint in quotes may run any code
                hints |= typing.get_type_hints(holder, module_names, {**names}, include_extras=True)
        except AuthorFailed as exc:
            if place:
                place.refuse(f"{name}: expected a type, got {hint!r}: {exc.error}", cause=exc.error)
            hints[name] = hint
    return hints


def read_signature(
    function: Callable[..., Any], hints: Mapping[str, Any], *, bound: Mapping[str, Any], place: SourceLocation
) -> Signature:
    """Read a function's signature.

    Raises:
        ToolDefinitionError: a parameter that no argument can fill, a second one for the context, an unknown bound name,
            or a function not written in Python.
    """
    texts = parse_docstring(plain_function(function).__doc__ or "").parameters
    parameters, context = [], ""
    for each in _unbound_parameters(function, bound, place):
        name, hint = each.name, hints.get(each.name, Any)
        if is_context(hint):
            if context:
                place.refuse(f"parameter {name}: the context is in {context} already")
            context = name
        elif each.kind in REFUSED:
            place.refuse(f"parameter {each}: {REFUSED[each.kind]}")
        else:  # the text beside the type, as in Annotated[str, "The number on the invoice"], or that of the docstring
            beside = hint.__metadata__ if typing.get_origin(hint) is typing.Annotated else ()
            text = next((part for part in beside if isinstance(part, str)), "") or texts.get(name, "")
            parameters.append(Parameter(name=name, hint=hint, default=each.default, description=text))
    return Signature(parameters=tuple(parameters), context=context, returns=hints.get("return", NO_DEFAULT))


def read_raw_signature(
    function: Callable[..., Any], hints: Mapping[str, Any], *, bound: Mapping[str, Any], place: SourceLocation
) -> Sequence[str]:
    """Read the parameters of a function with ``input_schema``, in order: ``arguments``, ``context``, both, or neither.

    Raises:
        ToolDefinitionError: the function takes other parameters, a bound name is unknown, or it is not in Python.
    """
    slots: list[str] = []
    for each in _unbound_parameters(function, bound, place):
        if each.kind in (each.KEYWORD_ONLY, each.VAR_POSITIONAL, each.VAR_KEYWORD):
            if each.default is NO_DEFAULT and each.kind is each.KEYWORD_ONLY:
                place.refuse(f"parameter {each.name}: with input_schema a function takes (arguments, context)")
        elif is_context(hints.get(each.name, Any)) or "arguments" in slots:
            slots.append("context")
        else:
            slots.append("arguments")
    if len(slots) != len(set(slots)):
        place.refuse(f"with input_schema a function takes (arguments, context), got {len(slots)} parameters")
    return slots


def yields(function: Callable[..., Any]) -> bool:
    """Return whether a function is a generator. A decorated one is not: the decorator may make one result of it."""
    called = (function, inspect.getattr_static(type(function), "__call__", None))
    return any(inspect.isgeneratorfunction(each) or inspect.isasyncgenfunction(each) for each in called)


def is_context(hint: Any) -> bool:
    """Return whether a hint is ``Context``, or a union with it."""
    parts = alternatives(hint)
    if parts != (hint,):
        return any(map(is_context, parts))
    return isinstance(hint, type) and issubclass(hint, Context)


def alternatives(hint: Any) -> tuple[Any, ...]:
    """Return the types in a union, or the hint itself if it is not a union."""
    if typing.get_origin(hint) is typing.Annotated:
        return alternatives(hint.__origin__)
    is_union = typing.get_origin(hint) in (typing.Union, types.UnionType)
    return typing.get_args(hint) if is_union else (hint,)


def _unbound_parameters(
    function: Callable[..., Any], bound: Mapping[str, Any], place: SourceLocation
) -> list[inspect.Parameter]:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError) as exc:
        place.refuse(f"expected a function written in Python: {exc}", cause=exc)
    for name in bound:
        if name not in parameters:
            place.refuse(f"bind: the function has no parameter {name}; it has {', '.join(parameters) or 'none'}")
    return [each for name, each in parameters.items() if name not in bound]
