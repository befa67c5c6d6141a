"""No request, whatever is wrong with it, is answered with a 5xx, with internals, or in another form than JSON-RPC's.

``STILE_FUZZ_CASES`` asks for another number of cases; ``make fuzz`` for many.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.fuzz.judge import Wrong, judge
from tests.fuzz.mutations import Case
from tests.fuzz.run import run_cases
from tests.support.examples import examples

CASES = int(os.environ.get("STILE_FUZZ_CASES", examples(10_000)))

HEADERS = {"content-type": "application/json", "x-request-id": "r", "cache-control": "no-store"}
PING = Case(body=b'{"jsonrpc": "2.0", "id": 7, "method": "ping"}')
ANSWER = '{"jsonrpc":"2.0","id":7,"result":{}}'


def test_whatever_is_wrong_is_answered_as_documented() -> None:
    tally = run_cases(CASES, seed=2)

    assert not tally.wrong, [*tally.wrong.items()][:3]
    for kind in ("result", "error of a tool", "batch", "202", "415", "-32700", "-32600", "-32602", "-32601", "-32020"):
        assert tally.kinds[kind] >= CASES / 10_000, kind


def test_the_same_seed_makes_the_same_requests() -> None:
    assert run_cases(100, seed=3).kinds == run_cases(100, seed=3).kinds


@pytest.mark.parametrize(
    ("response", "why"),
    [
        ({"statusCode": 502, "body": "{}"}, "status 502"),
        ({"statusCode": 200, "body": ANSWER.replace("7", "8")}, "id 8 for 7"),
        ({"statusCode": 200, "body": ANSWER.replace("7", '"7"')}, "id '7' for 7"),
        ({"statusCode": 200, "body": '{"error": "x"}'}, "status 200 without JSON-RPC"),
        ({"statusCode": 200, "body": '{"jsonrpc":"2.0","id":7}'}, "neither a result nor an error, or both"),
        ({"statusCode": 400, "body": ANSWER}, "a result with status 400"),
        ({"statusCode": 400, "body": '{"error": "KeyError: x"}'}, "internals in the body"),
        ({"statusCode": 200, "body": '{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"x"}}'}, "code -32603"),
        ({"statusCode": 202, "body": "{}"}, "202 with a body"),
        ({"statusCode": 405, "body": '{"error": "x"}'}, "405 without Allow"),
        ({"statusCode": 401, "body": '{"error": "x"}'}, "401 without a challenge"),
        ({"statusCode": 200, "body": ANSWER, "isBase64Encoded": True}, "the body is in base64"),
        ({"statusCode": 200, "body": ANSWER, "headers": {}}, "headers that all answers have"),
    ],
)
def test_what_may_not_be_answered_is_seen(response: dict[str, Any], why: str) -> None:
    assert judge(PING, {"headers": HEADERS, "statusCode": 200, "body": ANSWER}) == "result"
    with pytest.raises(Wrong) as caught:
        judge(PING, {"headers": HEADERS, **response})
    assert str(caught.value) == why
