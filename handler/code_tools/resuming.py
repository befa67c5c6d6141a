"""The parameters of ``resume`` for the tag, the outcome and the context, found before any work is done."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

from handler.code_tools.boundary import AuthorFailed
from handler.code_tools.context import Context
from handler.code_tools.return_values import Err, Ok
from handler.code_tools.signature import NO_DEFAULT, alternatives, is_context, resolved_hint, yields
from handler.code_tools.source_location import SourceLocation, place_of, plain_function
from handler.cold.records import record

EXPECTED = "expected resume(tag, outcome), and a parameter of the type Context if it needs the context"

TAG, OUTCOME, CONTEXT = SLOTS = ("tag", "outcome", "the context")
NAMES: Mapping[str, str] = {"tag": TAG, "outcome": OUTCOME, "ctx": CONTEXT, "context": CONTEXT}

OUTCOME_TEXT = r"\b(Ok|Err)\b"
CONTEXT_TEXT = r"\bContext\b"
"""Types in hints that stay texts, such as types that only type checkers import."""

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@record(frozen=True, slots=True, kw_only=True)
class Resume:
    """A tool's ``resume``, with the slot of each parameter; a positional parameter may keep its default instead."""

    function: Callable[..., Any]
    args: tuple[tuple[str, Any], ...]  # slot and default; the default counts if the slot is an empty string
    kwargs: Mapping[str, str]

    def call(self, tag: Any, outcome: Ok | Err, ctx: Context) -> Callable[[], Any]:
        """Return the function with its arguments bound."""
        values = {TAG: tag, OUTCOME: outcome, CONTEXT: ctx}
        args = [values[slot] if slot else default for slot, default in self.args]
        return partial(self.function, *args, **{name: values[slot] for name, slot in self.kwargs.items()})


def read_resume(function: Callable[..., Any], names: Mapping[str, Any], place: SourceLocation) -> Resume:
    """Find the slot of each parameter of ``resume``: by its type, else by its name, else by its order.

    ``names`` are the local names where the tool was written.

    Raises:
        ToolDefinitionError: not a plain function in Python; no parameter for the tag or the outcome, two for one slot,
            one of an unfitting type, or one that no slot fills.
    """
    if isinstance(function, staticmethod):  # inside the body of a class
        function = function.__func__
    written = place_of(function, f"{place.label}: resume")
    place = written if written.line else SourceLocation(label=written.label, file=place.file, line=place.line)
    plain = plain_function(function)
    if yields(function):
        place.refuse(f"it yields, and one result is needed: {EXPECTED}")
    parameters = _parameters(function, place)
    if parameters and parameters[0].name in ("self", "cls"):
        place.refuse(f"it waits for its instance: {EXPECTED}; a method resume of a Tool has its instance")
    slots = _slots(parameters, _hints(plain, names), place)
    return _filled(function, parameters, slots)


def _parameters(function: Callable[..., Any], place: SourceLocation) -> Sequence[inspect.Parameter]:
    """Return the outermost decorator's parameters, or the wrapped function's if it takes ``*args`` or ``**kwargs``."""
    try:
        return _signature(function)
    except (TypeError, ValueError) as exc:
        place.refuse(f"expected a function written in Python: {exc}", cause=exc)


def _signature(function: Callable[..., Any]) -> Sequence[inspect.Parameter]:
    below = list(inspect.signature(function).parameters.values())
    try:
        own = list(inspect.signature(function, follow_wrapped=False).parameters.values())
    except (TypeError, ValueError):  # a decorator written in C, such as functools.cache
        return below
    return below if any(each.kind in VARIABLE for each in own) else own


def _hints(plain: Any, names: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, hint in getattr(plain, "__annotations__", {}).items():
        try:
            found[name] = resolved_hint(plain, name, hint, names)
        except AuthorFailed:  # the hint of a result is not needed
            found[name] = hint
    return found


def _slots(parameters: Sequence[inspect.Parameter], hints: Mapping[str, Any], place: SourceLocation) -> dict[str, str]:
    """Return the slots by parameter, for parameters that get one."""
    found: dict[str, str] = {}
    known = [each for each in parameters if each.kind not in VARIABLE]
    by_type = [(each, _slot_by_type(hints.get(each.name, Any))) for each in known]
    by_name = [(each, NAMES.get(each.name, "")) for each, slot in by_type if not slot]
    for each, slot in (*by_type, *by_name):
        if slot:
            _take(found, each, slot, place)
    takes_any = any(each.kind is each.VAR_POSITIONAL for each in parameters)
    for slot in (TAG, OUTCOME):
        if slot not in found.values() and (left := _by_order(known, found, takes_any=takes_any)):
            _take(found, left, slot, place)
    _take_context(found, known, hints, place, takes_any=takes_any)
    _require_fitting(found, hints, place, takes_any=takes_any)
    return found


def _take_context(
    found: dict[str, str],
    known: Sequence[inspect.Parameter],
    hints: Mapping[str, Any],
    place: SourceLocation,
    *,
    takes_any: bool,
) -> None:
    """Give the context to the first remaining parameter without a hint. Other parameters keep their defaults."""
    for each in known:
        if each.name in found:
            continue
        is_free = each.name not in hints and each.default in (NO_DEFAULT, None)
        if is_free and not takes_any and CONTEXT not in found.values():
            _take(found, each, CONTEXT, place)
        elif each.default is NO_DEFAULT:
            place.refuse(f"nothing fills its parameter {each}: {EXPECTED}")


def _by_order(
    known: Sequence[inspect.Parameter], found: Mapping[str, str], *, takes_any: bool
) -> inspect.Parameter | None:
    """Return the first parameter without a slot, or ``None``; one with a default only if there is no ``*args``."""
    free = [each for each in known if each.name not in found]
    needed = [each for each in free if each.default is NO_DEFAULT]
    return next(iter(needed or ([] if takes_any else free)), None)


def _slot_by_type(hint: Any) -> str:
    if isinstance(hint, str):
        return CONTEXT if re.search(CONTEXT_TEXT, hint) else OUTCOME if re.search(OUTCOME_TEXT, hint) else ""
    if is_context(hint):
        return CONTEXT
    return OUTCOME if any(each in (Ok, Err) for each in alternatives(hint)) else ""


def _take(found: dict[str, str], parameter: inspect.Parameter, slot: str, place: SourceLocation) -> None:
    if slot in found.values():
        place.refuse(f"its parameter {parameter} is one more for {slot}: {EXPECTED}")
    found[parameter.name] = slot


def _require_fitting(
    found: Mapping[str, str], hints: Mapping[str, Any], place: SourceLocation, *, takes_any: bool
) -> None:
    for slot in (TAG, OUTCOME):
        if slot not in found.values() and not takes_any:
            place.refuse(f"it has no parameter for the {slot}: {EXPECTED}")
    for name, slot in found.items():
        hint = hints.get(name, Any)
        if slot == OUTCOME and not any(map(_may_be_outcome, alternatives(hint))):
            place.refuse(f"its parameter {name} gets Ok or Err, and is annotated as {_written(hint)}: {EXPECTED}")
        is_known = hint is not Any and not isinstance(hint, str)
        if slot == CONTEXT and is_known and _slot_by_type(hint) != CONTEXT:
            place.refuse(f"its parameter {name} gets the context, and is annotated as {_written(hint)}: {EXPECTED}")


def _written(hint: Any) -> str:
    return hint if isinstance(hint, str) else inspect.formatannotation(hint)


def _may_be_outcome(hint: Any) -> bool:
    kind = typing.get_origin(hint) or hint
    if kind in (Any, Literal) or not isinstance(kind, type):
        return kind is not Literal
    return kind in (*Ok.__mro__, *Err.__mro__) or getattr(kind, "_is_protocol", False)


def _filled(function: Callable[..., Any], parameters: Sequence[inspect.Parameter], slots: Mapping[str, str]) -> Resume:
    """Return the ``Resume``. Arguments go by position where possible, since decorators may pass on no names."""
    by_position = [each for each in parameters if each.kind in POSITIONAL]
    left = [slot for slot in SLOTS if slot not in slots.values()]
    takes_any = any(each.kind is each.VAR_POSITIONAL for each in parameters)
    while by_position and by_position[-1].name not in slots and not takes_any:
        by_position.pop()
    args = [(slots.get(each.name, ""), each.default) for each in by_position]
    args += [(slot, None) for slot in left] if takes_any else []
    named = {
        each.name: slots[each.name] for each in parameters if each.kind is each.KEYWORD_ONLY and each.name in slots
    }
    return Resume(function=function, args=tuple(args), kwargs=named)
