"""Requests of persisted operations, with values of bound variables, which neither a model nor its user fills."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handler.bundle.tools import Binding, PersistedOperation, PrescribedTool
from handler.errors.calls import BindingMissing, ValuesRefused
from handler.server.context import Caller
from handler.server.upstream.graphql_request import GraphQLRequest
from handler.strict_json import JSONObject, parse_json


def persisted_request(
    caller: Caller, persisted: PrescribedTool | PersistedOperation, values: Mapping[str, Any], *, name: str
) -> GraphQLRequest:
    """Return the request of a tool or persisted operation with validated values of its callers' variables.

    Raises:
        BindingMissing: the request lacks the value of a bound variable.
        ValuesRefused: a policy does not let this caller give these values.
    """
    operation = persisted.operation
    variables = {**operation.sendable(values), **fill_bound(caller, persisted, name=name)}
    if not caller.evaluation.meets_with(persisted.mask, operation.coerced(variables)):
        raise ValuesRefused
    return GraphQLRequest(
        text=operation.text,
        sha256=operation.sha256,
        operation_name=operation.name or None,
        variables=variables,
        is_query=operation.kind == "query",
    )


def fill_bound(caller: Caller, bound: PrescribedTool | PersistedOperation, *, name: str) -> JSONObject:
    """Return the values of the bound variables of a tool or persisted operation. Errors call it ``name``.

    No argument of a call can fill a bound variable, so no argument is overridden.

    Raises:
        BindingMissing: the source of a variable is missing, or does not fit the variable's type.
    """
    claims = caller.principal.claims or {}
    values = {each.variable: bound_value(name, each, headers=caller.headers, claims=claims) for each in bound.bindings}
    wrong = next(iter(caller.endpoint.bound_validator(bound).misfits(values)), "") if values else ""
    binding = next((each for each in bound.bindings if each.variable == wrong), None)
    if binding:
        raise BindingMissing(name, binding.source, binding.name, misfit=True)
    return values


def bound_value(tool: str, binding: Binding, *, headers: Mapping[str, str], claims: Mapping[str, Any]) -> Any:
    """Return the value of one variable. ``headers`` have lower-case names; ``claims`` are verified.

    Raises:
        BindingMissing: the request lacks the source of the variable, or has it in another form.
    """
    match binding.source:
        case "value":
            return binding.value
        case "header" if binding.name in headers:
            text = headers[binding.name]
            if binding.read_as == "string":
                return text
            try:  # ``fill_bound`` checks the types of all values
                return parse_json((text.lower() if binding.read_as == "boolean" else text).encode())
            except ValueError as exc:
                raise BindingMissing(tool, binding.source, binding.name, misfit=True) from exc
        case "claim":
            claim = find_claim(claims, binding.name)
            if claim is not None:
                return claim
    raise BindingMissing(tool, binding.source, binding.name)


def find_claim(claims: Any, name: str) -> Any:
    """Return a claim by its name, else by the name as a dotted path; ``None`` if there is no such claim."""
    if not isinstance(claims, Mapping):
        return None
    if name in claims:
        return claims[name]
    first, _, rest = name.partition(".")
    return find_claim(claims.get(first), rest) if rest else None
