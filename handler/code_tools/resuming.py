"""The parameters of ``resume`` for the tag, the outcome and the context, found before any work is done."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

from handler.code_tools.context import Context
from handler.code_tools.return_values import Err, Ok
from handler.code_tools.signature import NO_DEFAULT, alternatives, is_context, resolve_hints, yields
from handler.code_tools.source_location import SourceLocation, place_of
from handler.cold.records import record

EXPECTED = "expected resume(tag, outcome), and a parameter of the type Context if it needs the context"

TAG, OUTCOME, CONTEXT = SLOTS = ("tag", "outcome", "the context")
NAMES: Mapping[str, str] = {"tag": TAG, "outcome": OUTCOME, "ctx": CONTEXT, "context": CONTEXT}

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
    own_place = place_of(function, f"{place.label}: resume")
    place = own_place if own_place.line else SourceLocation(label=own_place.label, file=place.file, line=place.line)
    if yields(function):
        place.refuse(f"it yields, and one result is needed: {EXPECTED}")
    try:
        parameters = _parameters(function)
    except (TypeError, ValueError) as exc:
        place.refuse(f"expected a function written in Python: {exc}", cause=exc)
    if parameters and parameters[0].name in ("self", "cls"):
        place.refuse(f"it waits for its instance: {EXPECTED}; a method resume of a Tool has its instance")
    slots = _Slots(parameters, resolve_hints(function, names, None), place).by_parameter
    # Arguments go by position where possible, since decorators may pass on no names.
    by_position = [each for each in parameters if each.kind in POSITIONAL]
    takes_any = _takes_any(parameters)
    while by_position and by_position[-1].name not in slots and not takes_any:
        by_position.pop()
    args = [(slots.get(each.name, ""), each.default) for each in by_position]
    args += [(slot, None) for slot in SLOTS if slot not in slots.values()] if takes_any else []
    by_name = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY and each.name in slots]
    return Resume(function=function, args=tuple(args), kwargs={name: slots[name] for name in by_name})


def _parameters(function: Callable[..., Any]) -> Sequence[inspect.Parameter]:
    """Return the outermost decorator's parameters, or the wrapped function's if it takes ``*args`` or ``**kwargs``."""
    below = list(inspect.signature(function).parameters.values())
    try:
        own = list(inspect.signature(function, follow_wrapped=False).parameters.values())
    except (TypeError, ValueError):  # a decorator written in C, such as functools.cache
        return below
    return below if any(each.kind in VARIABLE for each in own) else own


def _takes_any(parameters: Sequence[inspect.Parameter]) -> bool:
    return any(each.kind is each.VAR_POSITIONAL for each in parameters)


class _Slots:
    """The slots of parameters that get one, by the parameters' names."""

    def __init__(
        self, parameters: Sequence[inspect.Parameter], hints: Mapping[str, Any], place: SourceLocation
    ) -> None:
        self.by_parameter: dict[str, str] = {}
        self._hints = hints
        self._place = place
        single = [each for each in parameters if each.kind not in VARIABLE]
        by_type = [(each, _slot_by_type(hints.get(each.name, Any))) for each in single]
        by_name = [(each, NAMES.get(each.name, "")) for each, slot in by_type if not slot]
        for each, slot in (*by_type, *by_name):
            if slot:
                self._take(each, slot)
        takes_any = _takes_any(parameters)
        for slot in (TAG, OUTCOME):  # the first parameter without a slot; one with a default only without ``*args``
            free = [each for each in single if each.name not in self.by_parameter]
            needed = [each for each in free if each.default is NO_DEFAULT]
            for each in (needed or ([] if takes_any else free))[:1]:
                if slot not in self.by_parameter.values():
                    self._take(each, slot)
        self._take_context([each for each in single if each.name not in self.by_parameter], takes_any=takes_any)
        for slot in (TAG, OUTCOME):
            if slot not in self.by_parameter.values() and not takes_any:
                place.refuse(f"it has no parameter for the {slot}: {EXPECTED}")
        for name, slot in self.by_parameter.items():
            self._require_fitting(name, slot, hints.get(name, Any))

    def _take(self, parameter: inspect.Parameter, slot: str) -> None:
        if slot in self.by_parameter.values():
            self._place.refuse(f"its parameter {parameter} is one more for {slot}: {EXPECTED}")
        self.by_parameter[parameter.name] = slot

    def _take_context(self, parameters: Sequence[inspect.Parameter], *, takes_any: bool) -> None:
        """Give the context to the first parameter without a hint. Other parameters keep their defaults."""
        for each in parameters:
            is_free = each.name not in self._hints and each.default in (NO_DEFAULT, None)
            if is_free and not takes_any and CONTEXT not in self.by_parameter.values():
                self._take(each, CONTEXT)
            elif each.default is NO_DEFAULT:
                self._place.refuse(f"nothing fills its parameter {each}: {EXPECTED}")

    def _require_fitting(self, name: str, slot: str, hint: Any) -> None:
        is_type = hint is not Any and not isinstance(hint, str)
        if slot == OUTCOME and not any(map(_may_be_outcome, alternatives(hint))):
            value = "Ok or Err"
        elif slot == CONTEXT and is_type and _slot_by_type(hint) != CONTEXT:
            value = "the context"
        else:
            return
        annotation = hint if isinstance(hint, str) else inspect.formatannotation(hint)
        self._place.refuse(f"its parameter {name} gets {value}, and is annotated as {annotation}: {EXPECTED}")


def _slot_by_type(hint: Any) -> str:
    if isinstance(hint, str):  # a hint that stays a text, such as a type that only type checkers import
        return CONTEXT if re.search(r"\bContext\b", hint) else OUTCOME if re.search(r"\b(Ok|Err)\b", hint) else ""
    if is_context(hint):
        return CONTEXT
    return OUTCOME if any(each in (Ok, Err) for each in alternatives(hint)) else ""


def _may_be_outcome(hint: Any) -> bool:
    kind = typing.get_origin(hint) or hint
    if kind in (Any, Literal) or not isinstance(kind, type):
        return kind is not Literal
    return kind in (*Ok.__mro__, *Err.__mro__) or getattr(kind, "_is_protocol", False)
