"""The standing of an author's operation, as a tool or persisted, for one caller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from handler.bundle.operations import PersistedOperation
from handler.bundle.tools import PrescribedTool
from handler.errors.access import AccessError, CredentialRequired
from handler.policy.evaluation import Evaluation
from handler.policy.operands import UNKNOWN
from handler.server.auth.principal import Principal
from handler.server.auth.scopes import require_scopes
from handler.server.endpoints.endpoint import Endpoint
from handler.server.upstream.bound_variables import find_claim

VERDICTS = ("yes", "no", "call", "refused", "403", "401")


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """An entrance for one caller.

    ``verdict`` is ``yes``, ``no`` (the entrance does not exist for the caller), ``call`` (values of variables decide),
    ``refused`` (listed, and every call is refused), ``403`` (scopes are missing) or ``401``. ``note`` is the reason in
    words. ``fields`` counts the visible fields and all fields behind a GraphQL entrance, if they differ.
    """

    verdict: str
    note: str = ""
    fields: tuple[int, int] | None = None


def operation_standing(
    endpoint: Endpoint, fixed: PrescribedTool | PersistedOperation, *, principal: Principal, evaluation: Evaluation
) -> Standing:
    """Return the standing of an operation for a caller."""
    variables = fixed.operation.variables
    if not evaluation.may_meet(fixed.mask, variables):
        return Standing(verdict="no")
    name = fixed.name if isinstance(fixed, PrescribedTool) else fixed.operation.name
    scopes = fixed.options.scopes if isinstance(fixed, PrescribedTool) else fixed.scopes
    lacking = lacking_scopes(name, scopes, principal)
    if lacking:
        return lacking
    known, missing = _bound(endpoint, fixed, principal)
    if missing:
        return Standing(verdict="refused", note=f"it needs the claim {missing}")
    values = {**dict.fromkeys(variables, UNKNOWN), **known}
    if evaluation.meets_with(fixed.mask, values):
        return Standing(verdict="yes")
    if evaluation.may_meet_with(fixed.mask, values):
        return Standing(verdict="call", note="the values of $variables decide at the call")
    return Standing(verdict="refused", note="no call meets its condition with the bound values")


def lacking_scopes(name: str, scopes: Sequence[str], principal: Principal) -> Standing | None:
    """Return the standing of a caller who lacks scopes; ``None`` if the caller has them."""
    try:
        require_scopes(name, tuple(scopes), principal)
    except AccessError as exc:
        lacking = " ".join(scope for scope in scopes if scope not in principal.scopes)
        verdict = "401" if isinstance(exc, CredentialRequired) else "403"
        return Standing(verdict=verdict, note=f"it needs the scopes {lacking}")
    return None


def _bound(
    endpoint: Endpoint, fixed: PrescribedTool | PersistedOperation, principal: Principal
) -> tuple[Mapping[str, Any], str]:
    """Return the values of variables bound to constants and claims, and a claim that is missing or does not fit."""
    values: dict[str, Any] = {}
    for binding in fixed.bindings:
        if binding.source == "value":
            values[binding.variable] = binding.value
        elif binding.source == "claim":
            values[binding.variable] = find_claim(principal.claims or {}, binding.name)
    misfits = set(endpoint.bound_validator(fixed).misfits(values)) if values else set()
    for binding in fixed.bindings:
        if binding.source == "claim" and (values[binding.variable] is None or binding.variable in misfits):
            return values, binding.name
    return values, ""
