"""Values for variables that neither a model nor its user fills."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handler.bundle.model import Binding, JSONObject, PersistedOperation, PrescribedTool
from handler.errors import BindingMissing
from handler.server.context.caller import Caller
from handler.strict_json import parse_json


def fill_bound(caller: Caller, bound: PrescribedTool | PersistedOperation, *, name: str) -> JSONObject:
    """The bound variables of a tool or a persisted operation; ``name`` is what an error calls it.

    No argument of a call fills these, so nothing is overridden.

    Raises:
        BindingMissing: what a variable is filled from is missing, or does not fit the variable's type.
    """
    values = bound_values(name, bound.bindings, headers=caller.headers, claims=caller.principal.claims or {})
    wrong = next(iter(caller.endpoint.bound_validator(bound).misfits(values)), "") if values else ""
    binding = next((each for each in bound.bindings if each.variable == wrong), None)
    if binding:
        raise BindingMissing(name, binding.source, binding.name, misfit=True)
    return values


def bound_values(
    tool: str, bindings: tuple[Binding, ...], *, headers: Mapping[str, str], claims: Mapping[str, Any]
) -> JSONObject:
    """Variable -> its value. ``headers`` have lower-case names; ``claims`` are verified.

    Raises:
        BindingMissing: the request does not carry what a variable is filled from, or carries it in another form.
    """
    return {binding.variable: _value(tool, binding, headers, claims) for binding in bindings}


def _value(tool: str, binding: Binding, headers: Mapping[str, str], claims: Mapping[str, Any]) -> Any:
    match binding.source:
        case "value":
            return binding.value
        case "header" if binding.name in headers:
            try:
                return _read(headers[binding.name], binding.read_as)
            except ValueError as exc:
                raise BindingMissing(tool, binding.source, binding.name, misfit=True) from exc
        case "claim":
            found = find_claim(claims, binding.name)
            if found is not None:
                return found
    raise BindingMissing(tool, binding.source, binding.name)


def _read(text: str, read_as: str) -> Any:
    """A header's text as JSON, where a text it is not: whether it fits is judged with the other values."""
    match read_as:
        case "string":
            return text
        case "boolean":
            return parse_json(text.lower().encode())
        case _:
            return parse_json(text.encode())


def find_claim(claims: Any, name: str) -> Any:
    """A claim by its name, or by a path with dots: names with dots in them come first; ``None`` where there is none."""
    if not isinstance(claims, Mapping):
        return None
    if name in claims:
        return claims[name]
    first, _, rest = name.partition(".")
    return find_claim(claims.get(first), rest) if rest else None
