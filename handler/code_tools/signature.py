"""An author's function as a tool sees it: its parameters, its docstring, and the parameters of its ``resume``."""

from __future__ import annotations

import inspect
import re
import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise, takewhile
from typing import Any, Literal

from handler.code_tools.boundary import AuthorFailed, authors_code
from handler.code_tools.context import Context
from handler.code_tools.return_values import Err, Ok
from handler.code_tools.source_location import SourceLocation, plain_function, source_location
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

    def context_argument(self, ctx: Context) -> dict[str, Context]:
        """Return the context as an argument, if the function takes it."""
        return {self.context: ctx} if self.context else {}


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


EXPECTED_RESUME = "expected resume(tag, outcome), and a parameter of the type Context if it needs the context"

TAG, OUTCOME, CONTEXT = SLOTS = ("tag", "outcome", "the context")
NAMES: Mapping[str, str] = {"tag": TAG, "outcome": OUTCOME, "ctx": CONTEXT, "context": CONTEXT}

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


Resume = Callable[[Any, Ok | Err, Context], Callable[[], Any]]
"""A function that binds the tag, the outcome and the context to a tool's ``resume``."""


def read_resume(function: Callable[..., Any], names: Mapping[str, Any], place: SourceLocation) -> Resume:
    """Find the slot of each parameter of ``resume``: by its type, else by its name, else by its order.

    ``names`` are the local names where the tool was written.

    Raises:
        ToolDefinitionError: not a plain function in Python; no parameter for the tag or the outcome, two for one slot,
            one of an unfitting type, or one that no slot fills.
    """
    if isinstance(function, staticmethod):  # inside the body of a class
        function = function.__func__
    own_place = source_location(function, f"{place.label}: resume")
    place = own_place if own_place.line else SourceLocation(label=own_place.label, file=place.file, line=place.line)
    if yields(function):
        place.refuse(f"it yields, and one result is needed: {EXPECTED_RESUME}")
    try:
        parameters = _parameters(function)
    except (TypeError, ValueError) as exc:
        place.refuse(f"expected a function written in Python: {exc}", cause=exc)
    if parameters and parameters[0].name in ("self", "cls"):
        place.refuse(f"it waits for its instance: {EXPECTED_RESUME}; a method resume of a Tool has its instance")
    takes_any = any(each.kind is each.VAR_POSITIONAL for each in parameters)
    hints = resolve_hints(function, names, None)
    slots = _slots_of(parameters, hints, place, takes_any=takes_any)
    for slot in (TAG, OUTCOME):
        if slot not in slots and not takes_any:
            place.refuse(f"it has no parameter for the {slot}: {EXPECTED_RESUME}")
    for slot, name in slots.items():
        _require_fitting(slot, name, hints.get(name, Any), place)
    # Arguments go by position where possible, since decorators may pass on no names.
    by_position = [each for each in parameters if each.kind in POSITIONAL]
    by_parameter = {name: slot for slot, name in slots.items()}
    while by_position and by_position[-1].name not in by_parameter and not takes_any:
        by_position.pop()
    args = [(by_parameter.get(each.name, ""), each.default) for each in by_position]
    args += [(slot, None) for slot in SLOTS if slot not in slots] if takes_any else []
    by_name = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY and each.name in by_parameter]

    def resume(tag: Any, outcome: Ok | Err, ctx: Context) -> Callable[[], Any]:
        values = {TAG: tag, OUTCOME: outcome, CONTEXT: ctx}
        positional = [values[slot] if slot else default for slot, default in args]  # without a slot, its default
        return partial(function, *positional, **{name: values[by_parameter[name]] for name in by_name})

    return resume


def _parameters(function: Callable[..., Any]) -> Sequence[inspect.Parameter]:
    """Return the outermost decorator's parameters, or the wrapped function's if it takes ``*args`` or ``**kwargs``."""
    below = list(inspect.signature(function).parameters.values())
    try:
        own = list(inspect.signature(function, follow_wrapped=False).parameters.values())
    except (TypeError, ValueError):  # a decorator written in C, such as functools.cache
        return below
    return below if any(each.kind in VARIABLE for each in own) else own


def _slots_of(
    parameters: Sequence[inspect.Parameter], hints: Mapping[str, Any], place: SourceLocation, *, takes_any: bool
) -> dict[str, str]:
    """Return slot -> the name of its parameter."""
    slots: dict[str, str] = {}
    single = [each for each in parameters if each.kind not in VARIABLE]
    by_type = [(each, _slot_by_type(hints.get(each.name, Any))) for each in single]
    by_name = [(each, NAMES.get(each.name, "")) for each, slot in by_type if not slot]
    for each, slot in (*by_type, *by_name):
        if slot in slots:
            place.refuse(f"its parameter {each} is one more for {slot}: {EXPECTED_RESUME}")
        if slot:
            slots[slot] = each.name
    for slot in (TAG, OUTCOME):  # the first parameter without a slot; one with a default only without ``*args``
        free = [each for each in single if each.name not in slots.values()]
        needed = [each for each in free if each.default is NO_DEFAULT]
        first = next(iter(needed or ([] if takes_any else free)), None)
        if first and slot not in slots:
            slots[slot] = first.name
    for each in [each for each in single if each.name not in slots.values()]:
        is_free = each.name not in hints and each.default in (NO_DEFAULT, None)
        if is_free and not takes_any and CONTEXT not in slots:
            slots[CONTEXT] = each.name
        elif each.default is NO_DEFAULT:  # others keep their defaults
            place.refuse(f"nothing fills its parameter {each}: {EXPECTED_RESUME}")
    return slots


def _require_fitting(slot: str, name: str, hint: Any, place: SourceLocation) -> None:
    is_type = hint is not Any and not isinstance(hint, str)
    if slot == OUTCOME and not any(map(_may_be_outcome, alternatives(hint))):
        value = "Ok or Err"
    elif slot == CONTEXT and is_type and _slot_by_type(hint) != CONTEXT:
        value = "the context"
    else:
        return
    annotation = hint if isinstance(hint, str) else inspect.formatannotation(hint)
    place.refuse(f"its parameter {name} gets {value}, and is annotated as {annotation}: {EXPECTED_RESUME}")


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


PARAMETERS = {"args", "arguments", "parameters", "params", "other parameters", "keyword args", "keyword arguments"}
OTHERS = {"returns", "return", "yields", "yield", "raises", "raise"}

_GOOGLE_HEADER = re.compile(r"([A-Z][A-Za-z ]*):\s*")
_NUMPY_HEADER = re.compile(r"([A-Z][A-Za-z ]*)\s*")
_NUMPY_RULE = re.compile(r"-{3,}\s*")
_GOOGLE_ITEM = re.compile(r"\s+\*{0,2}(\w+)\s*(?:\(.*?\))?\s*:\s*(.*)")
_NUMPY_ITEM = re.compile(r"\*{0,2}(\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?()")
_SPHINX_ITEM = re.compile(r":(\w+)(?:\s+([^:]*?))?\s*:\s*(.*)")
_SPHINX_PARAMETERS = {"param", "parameter", "arg", "argument", "key", "keyword"}
_SPHINX_OTHERS = {"type", "return", "returns", "rtype", "raise", "raises", "except", "exception", "yield", "yields"}


@record(frozen=True, slots=True, kw_only=True)
class Docstring:
    """The text without its sections on parameters and results, and the text on each parameter."""

    description: str
    parameters: Mapping[str, str]


def parse_docstring(text: str) -> Docstring:
    """Parse a docstring. Sections on returns and raises are left out: they are for readers of the code."""
    description: list[str] = []
    parameters: dict[str, str] = {}
    lines = inspect.cleandoc(text).splitlines()
    while lines:
        length, texts = _section(lines)
        if not length:
            description.append(lines.pop(0))
            continue
        parameters |= texts
        del lines[:length]
    whole = re.sub(r"\n{3,}", "\n\n", "\n".join(description))
    return Docstring(description=whole.strip(), parameters=parameters)


def _section(lines: Sequence[str]) -> tuple[int, dict[str, str]]:
    """Return the number of lines of a section at the start, 0 if there is no section, and the described parameters."""
    if field := _SPHINX_ITEM.fullmatch(lines[0]):
        kind, subject, text = field.groups()
        if kind not in _SPHINX_PARAMETERS | _SPHINX_OTHERS:
            return 0, {}
        body = _indented(lines[1:])
        is_parameter = kind in _SPHINX_PARAMETERS and subject
        texts = {subject.split()[-1].lstrip("*"): _joined([text, *body])} if is_parameter else {}
        return 1 + len(body), texts
    if header := _GOOGLE_HEADER.fullmatch(lines[0]):
        title, start, form, body = header[1], 1, _GOOGLE_ITEM, _indented(lines[1:])
    elif len(lines) > 1 and _NUMPY_RULE.fullmatch(lines[1]) and (header := _NUMPY_HEADER.fullmatch(lines[0])):
        below = enumerate(pairwise(lines[2:]), 2)
        end = next((at for at, (line, rule) in below if line.strip() and _NUMPY_RULE.fullmatch(rule)), len(lines))
        title, start, form, body = header[1], 2, _NUMPY_ITEM, lines[2:end]
    else:
        return 0, {}
    title = title.strip().lower()
    if title not in PARAMETERS | OTHERS:
        return 0, {}
    return start + len(body), _items(body, form) if title in PARAMETERS else {}


def _indented(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines below a header: indented lines, and empty lines among them."""
    below = list(takewhile(lambda line: not line or line[0].isspace(), lines))
    while below and not below[-1].strip():
        below.pop()
    return below


def _items(lines: Sequence[str], form: re.Pattern[str]) -> dict[str, str]:
    """Return the text of each item. Lines that are indented more than an item continue it."""
    texts: dict[str, list[str]] = {}
    names: list[str] = []
    indent = min((_indent(line) for line in lines if line.strip()), default=0)
    for line in lines:
        item = form.fullmatch(line) if _indent(line) == indent else None
        if item:
            names = [name.strip().lstrip("*") for name in item[1].split(",")]
            texts |= {name: [item[2]] for name in names}
        else:
            for name in names:
                texts[name].append(line)
    return {name: _joined(parts) for name, parts in texts.items()}


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _joined(lines: Sequence[str]) -> str:
    return " ".join(line.strip() for line in lines if line.strip())
