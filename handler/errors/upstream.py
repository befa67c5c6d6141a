"""Errors of the request to the API behind an endpoint."""

from __future__ import annotations

from collections.abc import Mapping

from handler.errors.calls import CallError

FAILURE_CODES: Mapping[str, str] = {
    "CallerTokenRefused": "caller-token-refused",
    "UpstreamBadJson": "upstream-bad-json",
    "UpstreamBroken": "upstream-broken",
    "UpstreamCsrf": "upstream-csrf",
    "UpstreamEncoding": "upstream-encoding",
    "UpstreamHtml": "upstream-html",
    "UpstreamLimit": "upstream-limit",
    "UpstreamMediaType": "upstream-media-type",
    "UpstreamNotGraphQL": "upstream-not-graphql",
    "UpstreamRedirect": "upstream-redirect",
    "UpstreamRefused": "upstream-refused",
    "UpstreamStatus": "upstream-status",
    "UpstreamTimeout": "upstream-timeout",
    "UpstreamTooLarge": "upstream-too-large",
    "UpstreamUnreachable": "upstream-unreachable",
}
"""The log's word for a failed request, and the code of the failure."""


class CallerTokenRequired(CallError):
    """The API needs the caller's own token, and this caller has none that the API may have."""

    stile_code = "caller-token-required"

    def __init__(self, *, audience: str = "") -> None:
        lack = f"the token of this caller is not for {audience}" if audience else "this caller has no such token"
        super().__init__(
            f"This tool sends its caller's own token to the API, and {lack}. Nothing was sent. No argument replaces "
            "the token: tell your user to sign in with their own account."
        )
        self.audience = audience


class ClaimMissing(CallError):
    """The caller's claims lack one that is sent to the API, or (``misfit``) have it in a form that cannot be sent."""

    stile_code = "claim-missing"

    def __init__(self, claim: str, *, misfit: bool = False) -> None:
        fault = "this claim cannot be sent as it is" if misfit else "this caller does not have the claim"
        super().__init__(
            f"This tool sends the verified claim {claim} of its caller to the API, and {fault}. Nothing was sent. "
            "No argument replaces the claim: tell your user that their account has to be set up for this tool."
        )
        self.claim = claim
        self.misfit = misfit


class HeaderRefused(CallError):
    """A header of the caller's request that is to be forwarded and cannot be sent."""

    stile_code = "header-refused"

    def __init__(self, name: str) -> None:
        super().__init__(f"The request header {name} cannot be forwarded as it is. Nothing was sent.")
        self.name = name


class UpstreamError(CallError):
    """No usable answer from the GraphQL API behind the endpoint."""

    stile_code = "upstream-error"

    reason = ""
    """For the log."""

    @property
    def log_reason(self) -> str:
        """The class name, with the reason, which the caller does not see."""
        return f"{type(self).__name__}: {self.reason}" if self.reason else type(self).__name__


class AnswerMisfit(UpstreamError):
    """An answer of the API that violates its published schema.

    ``rule`` is the location and the violation, ``coordinate`` the location alone: neither has a value of the answer.
    ``answer`` is the whole response as JSON. ``advice`` is for a model that may not repeat the call.
    """

    stile_code = "answer-misfit"

    def __init__(self, rule: str, *, coordinate: str, answer: str, advice: str = "") -> None:
        super().__init__(f"{advice}{' ' if advice else ''}The API's answer violates its published schema ({rule}):")
        self.rule = rule
        self.coordinate = coordinate
        self.answer = answer
        self.advice = advice

    @property
    def log_reason(self) -> str:
        """The code that alarms match."""
        return "answer_schema"


class ResultTooLarge(UpstreamError):
    """An answer above the limit of results that cannot be cut to it. ``message`` says how to ask for less."""

    stile_code = "result-too-large"

    def __init__(self, message: str, *, size: int, max_bytes: int) -> None:
        super().__init__(message)
        self.size = size
        self.max_bytes = max_bytes


class UpstreamFailure(UpstreamError):
    """A failed request to the API. ``reason`` is for the log: a word for the failure, and mostly a detail."""

    def __init__(self, message: str, *, reason: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.stile_code = FAILURE_CODES.get(reason.partition(":")[0], UpstreamError.stile_code)

    @property
    def log_reason(self) -> str:
        """``reason``."""
        return self.reason


class UpstreamForbidden(UpstreamError):
    """The endpoint's API is at an address that requests may not go to. ``reason`` is for the log."""

    stile_code = "upstream-forbidden"

    def __init__(self, reason: str) -> None:
        super().__init__(
            "The API is at an address that is not allowed, so nothing was sent. This tool's maintainer has to "
            "change the address."
        )
        self.reason = reason


class CircuitOpen(UpstreamError):
    """The API did not answer several times in a row, so no request is sent for ``pause_s`` seconds."""

    stile_code = "circuit-open"

    def __init__(self, *, pause_s: float) -> None:
        super().__init__(
            f"The API did not answer several times in a row, so it is not asked for {pause_s:g} s. Nothing was sent. "
            "Try later."
        )
        self.pause_s = pause_s


class CredentialUnavailable(UpstreamError):
    """The credential for the API was not available, so nothing was sent. ``reason`` is for the log.

    ``refused``: the issuer of credentials refuses one for this caller.
    """

    stile_code = "credential-unavailable"

    def __init__(self, reason: str, *, refused: bool = False) -> None:
        advice = (
            "The token of this tool's caller was not accepted for the API, so nothing was sent. "
            "Tell your user to sign in again; if that does not help, they may not use this API."
            if refused
            else "The credential for the API was not available, so nothing was sent. Try later; if that does not help, "
            "this tool's maintainer has to fix the problem."
        )
        super().__init__(advice)
        self.reason = reason
        self.refused = refused
