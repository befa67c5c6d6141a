from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request as HttpCall

from handler.errors import StileError
from handler.errors.access import AccessError, CredentialRefused
from handler.errors.calls import CallError, DeadlinePassed, ValuesRefused
from handler.errors.upstream import UpstreamError
from handler.server.asgi.content_negotiation import GRAPHQL_RESPONSE
from handler.server.asgi.request_log import _FACTS
from handler.server.denials import DENIALS, STATUSES, challenge, status_of
from handler.server.graphql_route import _refuse
from tests.support.endpoints import compiled


class Unheard(CallError):
    """One of which no table knows."""


class UnheardUpstream(UpstreamError):
    """The same of the API's."""


def below(error: type[StileError]) -> Iterator[type[StileError]]:
    for each in error.__subclasses__():
        yield each
        yield from below(each)


def made(error: type[StileError]) -> Any:
    """An error of a class, with something for each argument that it needs."""
    something = {"str": "a", "int": 1, "float": 1.0, "Sequence[str]": ["/a: b"]}
    given = inspect.signature(error).parameters.values() if error.__init__ is not Exception.__init__ else ()
    needed = [each for each in given if each.default is each.empty and each.kind is not each.VAR_POSITIONAL]
    keywords = {each.name: something.get(each.annotation) for each in needed if each.kind is each.KEYWORD_ONLY}
    return error(*(something.get(each.annotation, []) for each in needed if each.name not in keywords), **keywords)


# Test modules of the same process may have classes of their own below it.
CALL_ERRORS = sorted(
    (each for each in {*below(CallError), CallError} if each.__module__.startswith("handler.")),
    key=lambda error: error.__name__,
)


@pytest.mark.parametrize("error", CALL_ERRORS)
def test_every_error_of_a_call_is_a_graphql_response(error: type[CallError]) -> None:
    facts: dict[str, Any] = {}
    exc = made(error)
    response = _refuse(HttpCall({"type": "http", _FACTS: facts}), exc, GRAPHQL_RESPONSE)

    assert response.status_code == status_of(exc)
    assert 400 <= response.status_code < 600
    assert response.status_code != 500
    assert "errors" in json.loads(bytes(response.body))
    assert "failure" not in facts


def test_every_denial_has_a_row_and_a_word() -> None:
    denials = {each for each in below(AccessError) if each.__module__ == AccessError.__module__}

    assert denials < STATUSES.keys()
    assert {STATUSES[each] for each in denials} == DENIALS.keys()


def test_error_without_a_row_has_the_status_of_the_nearest_class_above_it() -> None:
    assert [status_of(each) for each in (Unheard(), UnheardUpstream(), ValuesRefused(), DeadlinePassed())] == [
        400,
        502,
        403,
        504,
    ]
    assert {status_of(error.__new__(error)) for error in below(StileError)} <= {400, 401, 403, 404, 500, 502, 503, 504}


class RefusedElsewhere(CredentialRefused):
    """One of which no table knows, among denials."""


def test_denial_without_a_row_is_challenged_as_the_nearest_class_above_it(tmp_path: Path) -> None:
    bundle = compiled(tmp_path, {"index.graphql": "type Query { a: Int }"}).bundle
    known, unknown = (challenge(each("signature"), bundle, "") for each in (CredentialRefused, RefusedElsewhere))

    assert unknown == known == 'Bearer realm="api/things", error="invalid_token"'


def test_error_without_a_code_has_that_of_the_nearest_class_above_it() -> None:
    assert [each.stile_code for each in (RefusedElsewhere("a"), UnheardUpstream(), Unheard())] == [
        "credential-refused",
        "upstream-error",
        "internal-error",
    ]
