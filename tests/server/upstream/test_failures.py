"""An API that fails: what the model is told, of a query and of a mutation, and what whoever maintains the tool."""

from __future__ import annotations

import dataclasses
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.utils import formatdate
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from handler.aws.sigv4 import Credentials, CredentialSource
from handler.http.client import HttpClient
from handler.server.asgi.request_log import FOR_MAINTAINERS, INFO, WARNING, level_of
from handler.server.outgoing.circuit_breaker import MAX_FAILURES
from handler.server.outgoing.outgoing_services import OutgoingServices
from handler.server.upstream.graphql_errors import MAX_ERRORS
from tests.conftest import ROOT
from tests.server.outgoing.serving import asking, identity_with, with_token
from tests.support.api import Asked, Reply, running_api
from tests.support.endpoints import PUBLIC, compiled
from tests.support.function import Context, Function, running_function
from tests.support.issuers import AUDIENCE
from tests.support.kits import MODULES, TOOLS, with_kit
from tests.support.raw_http import Peer, answer, answering, running_server

SDL = """
type Query { things(first: Int, color: Color): [Thing] order(id: ID!): Order }
type Mutation { pay(id: ID): String }
type Thing { name: String }
type Order { total: Int }
enum Color { RED GREEN }
"""
UNCUT = "limits: {max_result_bytes: 0}"
FILES = {
    "index.graphql": SDL,
    "operations/things.graphql": "query Things @mcpTool { things(first: 3, color: RED) { name } }",
    "operations/pay.graphql": "mutation Pay @mcpTool { pay(id: 1) }",
    "operations/careful.graphql": "mutation Careful @mcpTool(confirm: required) { pay(id: 2) }",
}
JSON = {"content_type": "application/json"}
DOUBT = (
    "The mutation was sent and may have been carried out: find out whether it was before anything is sent once more."
)


@contextmanager
def serving(folder: Path, url: str, upstream: str = "", **services: Any) -> Iterator[Function]:
    config = f"upstream: {{url: '{url}', timeout_s: 1, max_bytes: 100000{upstream}}}\n{PUBLIC}"
    with running_function(compiled(folder, {**FILES, "config.yaml": config}), **services) as function:
        yield function


@contextmanager
def answered(folder: Path, script: Callable[[Peer], None], **services: Any) -> Iterator[Function]:
    with running_server(script) as server, serving(folder, f"{server.url}graphql", **services) as function:
        yield function


def body(content: Any, *, status: str = "200 OK", **headers: str) -> Callable[[Peer], None]:
    return answering(answer(json.dumps(content).encode(), status=status, **{**JSON, **headers}))


def _silent(peer: Peer) -> None:
    peer.read_request()
    peer.wait()


def _hangs_up(peer: Peer) -> None:
    peer.read_request()


def _breaks_off(peer: Peer) -> None:
    peer.read_request()
    peer.send(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{")


HTML = {"content_type": "text/html; charset=utf-8"}
PAGE = b"<html>The service is down</html>"
LARGE = b'{"data": "' + b"x" * 200_000 + b'"}'

UNANSWERED: dict[str, tuple[Callable[[Peer], None], str, str, str]] = {
    "timeout": (_silent, "The API did not answer within 1 s.", "Ask for less, or try later.", "UpstreamTimeout"),
    "dropped": (
        _hangs_up,
        "The API's answer broke off, or could not be read.",
        "Try later.",
        "UpstreamBroken: connection closed before the answer was complete",
    ),
    "cut": (
        _breaks_off,
        "The API's answer broke off, or could not be read.",
        "Try later.",
        "UpstreamBroken: connection closed before the answer was complete",
    ),
    "too large": (
        answering(answer(LARGE, **JSON)),
        "The API's answer is larger than 100000 bytes.",
        "Ask for fewer rows or fields.",
        "UpstreamTooLarge",
    ),
    "a page of status 200": (
        answering(answer(PAGE, **HTML)),
        "The API answered with status 200 and no GraphQL response: it is a web page.",
        "",
        "UpstreamHtml",
    ),
    "a page of status 502": (
        answering(answer(PAGE, status="502 Bad Gateway", **HTML)),
        "The API answered with status 502 and no GraphQL response.",
        "Try later.",
        "UpstreamStatus: 502",
    ),
    "bad JSON": (
        answering(answer(b'{"data":', **JSON)),
        "The API answered with status 200 and no GraphQL response: it is not valid JSON.",
        "",
        "UpstreamBadJson",
    ),
    "another JSON": (
        answering(answer(b"[1]", **JSON)),
        "The API answered with status 200 and no GraphQL response.",
        "",
        "UpstreamNotGraphQL",
    ),
    "a redirect": (
        answering(answer(status="302 Found", location="/")),
        "The API answered with a redirect, which is not followed.",
        "This tool's maintainer has to fix the problem.",
        "UpstreamRedirect: 302",
    ),
    "another encoding": (
        answering(answer(b"\x00", content_encoding="br", **JSON)),
        "The API's answer has the encoding br, which was not requested.",
        "This tool's maintainer has to fix the problem.",
        "UpstreamEncoding: br",
    ),
    "parts": (
        answering(answer(b"--x", content_type='multipart/mixed; boundary="x"')),
        (
            "The API answered with status 200 and no GraphQL response: it comes in parts (multipart), as for "
            "@defer and @stream."
        ),
        "",
        "UpstreamMediaType: multipart/mixed",
    ),
    "events": (
        answering(answer(b"event: next", content_type="text/event-stream")),
        "The API answered with status 200 and no GraphQL response: it is a stream of events, as for subscriptions.",
        "",
        "UpstreamMediaType: text/event-stream",
    ),
    "503 with a time": (
        answering(answer(PAGE, status="503 Service Unavailable", retry_after="30", **HTML)),
        "The API answered with status 503 and no GraphQL response. The API asks to wait 30 s.",
        "Try again then.",
        "UpstreamStatus: 503",
    ),
    "503 with words": (
        body({"error": {"message": "Down \n for   repairs"}}, status="503 Service Unavailable"),
        'The API answered with status 503 and no GraphQL response. The API says: "Down for repairs"',
        "Try later.",
        "UpstreamStatus: 503",
    ),
}


@pytest.mark.parametrize("failure", UNANSWERED)
def test_query_without_an_answer_is_told_what_happened_and_what_may_help(tmp_path: Path, failure: str) -> None:
    script, said, advice, reason = UNANSWERED[failure]
    with answered(tmp_path, script) as function:
        called = function.call("Things", {})

    assert called.result["isError"] is True
    assert called.text == f"{said} {advice}".strip()
    assert function.lines[-1]["reason"] == reason
    assert level_of(function.lines[-1]) == WARNING


MAINTAINER = "This tool's maintainer has to fix the problem."


@pytest.mark.parametrize("failure", sorted(UNANSWERED.keys() - {"a redirect"}))
def test_mutation_without_an_answer_may_have_been_carried_out(tmp_path: Path, failure: str) -> None:
    script, said, advice, reason = UNANSWERED[failure]
    with answered(tmp_path, script) as function:
        called = function.call("Pay", {})

    then = f" {MAINTAINER}" if advice == MAINTAINER else ""
    assert called.text == f"{said} {DOUBT}{then}"
    assert function.lines[-1]["reason"] == reason


@pytest.mark.parametrize(
    ("status", "was_surely_not_carried_out"), [(301, True), (302, True), (303, False), (307, True), (308, True)]
)
def test_mutation_that_was_redirected_is_the_maintainers_matter(
    tmp_path: Path, status: int, was_surely_not_carried_out: bool
) -> None:
    with answered(tmp_path, answering(answer(status=f"{status} X", location="/"))) as function:
        text = function.call("Pay", {}).text

    doubt = "" if was_surely_not_carried_out else f"{DOUBT} "
    assert text == f"The API answered with a redirect, which is not followed. {doubt}{MAINTAINER}"


def test_mutation_that_a_user_agreed_to_names_its_idempotency_key(tmp_path: Path) -> None:
    elicits: dict[str, Any] = {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
    with running_server(_hangs_up) as server, serving(tmp_path, server.url, states=_states()) as function:
        asked = _modern(function, {"name": "Careful", "arguments": {}}, elicits).result
        agreed = {"confirm": {"action": "accept", "content": {"confirm": True}}}
        params = {"name": "Careful", "arguments": {}, "inputResponses": agreed, "requestState": asked["requestState"]}
        text = _modern(function, params, elicits).text

        (sent,) = server.requests
    key = next(line[17:] for line in sent.decode().splitlines() if line.startswith("idempotency-key: "))
    assert text.endswith(f"{DOUBT} It was sent with the idempotency key {key}.")


def _states() -> Any:
    from handler.server.auth.sealed_state import RequestStates

    return RequestStates(["a key for states that only this test has"])


def _modern(function: Function, params: dict[str, Any], meta: dict[str, Any]) -> Any:
    from tests.support.function import META, MODERN

    headers = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": params["name"]}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {**params, "_meta": {**META, **meta}}}
    return function.post(message, headers=headers)


@pytest.mark.lambda_alone
def test_mutation_that_outlasts_the_call_may_have_been_carried_out(tmp_path: Path) -> None:
    with answered(tmp_path, _silent) as function:
        text = dataclasses.replace(function, context=Context(remaining_ms=800)).call("Pay", {}).text

    assert text.startswith("The API did not answer within 0.")
    assert text.endswith(DOUBT)


class _SlowCredentials(CredentialSource):
    """Credentials that the platform takes its time to give."""

    def current(self) -> Credentials:
        time.sleep(0.3)
        return Credentials(access_key="of the test", secret_key="of the test, too")


def test_mutation_that_outlasts_the_call_was_sent_however_long_its_credentials_took(tmp_path: Path) -> None:
    signed = "timeout_s: 20, auth: {sigv4: {service: appsync, region: eu-central-1}}"
    with running_server(_silent) as server:
        made = compiled(tmp_path, {**FILES, "config.yaml": f"upstream: {{url: '{server.url}', {signed}}}\n{PUBLIC}"})
        with running_function(made, outgoing=OutgoingServices(aws=_SlowCredentials({}, http=HttpClient()))) as function:
            text = dataclasses.replace(function, context=Context(remaining_ms=1_200)).call("Pay", {}).text

    assert text.endswith(DOUBT)


def test_mutation_whose_result_cannot_be_told_is_not_to_be_repeated(tmp_path: Path) -> None:
    large = json.dumps({"data": {"pay": "x" * 4_000_000}}).encode()
    config = f"upstream: {{url: 'URL', timeout_s: 10, max_bytes: 20000000}}\n{UNCUT}\n{PUBLIC}"
    with running_server(answering(answer(large, **JSON))) as server:
        made = compiled(tmp_path, {**FILES, "config.yaml": config.replace("URL", server.url)})
        with running_function(made) as function:
            text = function.call("Pay", {}).text

    assert "do not send it once more" in text
    assert "Ask for fewer" not in text


@pytest.mark.parametrize(("field", "repeatable"), [("things", True), ("pay", False)])
def test_answer_that_a_graphql_route_cannot_tell_is_a_reason_to_repeat_queries_alone(
    tmp_path: Path, field: str, repeatable: bool
) -> None:
    kind = "query" if repeatable else "mutation"
    large = {"data": {field: "x" * 6_500_000}}
    config = f"upstream: {{url: 'URL', max_bytes: 20000000}}\ngraphql: 'on'\n{PUBLIC}"
    with running_server(body(large)) as server:
        made = compiled(tmp_path, {**FILES, "config.yaml": config.replace("URL", server.url)})
        with running_function(made) as function:
            selected = "{ name }" if repeatable else ""
            (error,) = function.graphql({"query": f"{kind} {{ {field} {selected} }}"}).json["errors"]

    assert ("Ask for fewer" in error["message"]) == repeatable
    assert ("do not send it once more" in error["message"]) != repeatable
    assert function.lines[-1]["reason"] == "UpstreamTooLarge"


@pytest.mark.parametrize(
    ("value", "excess"),
    [
        (b"[" + b"[[]]," * 900_000 + b"[]]", "more than 500,000 lists, objects and members"),
        (b"[" + b"9" * 4_000 + b"," + b'"x",' * 200_000 + b"1]", "a number of more than 1,000 digits"),
    ],
)
@pytest.mark.parametrize(("tool", "then"), [("Things", "Ask for fewer rows or fields."), ("Pay", "may have been")])
def test_answer_that_would_take_too_much_to_read_is_not_read(
    tmp_path: Path, value: bytes, excess: str, tool: str, then: str
) -> None:
    raw = answer(b'{"data": {"things": ' + value + b"}}", content_type="application/json")
    with running_server(answering(raw)) as server:
        made = compiled(tmp_path, {**FILES, "config.yaml": f"upstream: {{url: '{server.url}'}}\n{PUBLIC}"})
        with running_function(made) as function:
            text = function.call(tool, {}).text

    assert text.startswith(f"The API's answer has {excess}, so it is not read. ")
    assert then in text
    assert function.lines[-1]["reason"] == f"UpstreamTooLarge: {excess}"


@pytest.mark.parametrize("tool", ["Things", "Pay"])
def test_request_that_was_not_sent_says_so(tmp_path: Path, tool: str) -> None:
    with serving(tmp_path, "http://127.0.0.1:1/graphql") as function:
        first = function.call(tool, {}).text
        reasons = [function.lines[-1]["reason"]]
        for _ in range(MAX_FAILURES):
            last = function.call(tool, {}).text
        reasons.append(function.lines[-1]["reason"])

    assert first == "The API cannot be reached at the moment, so nothing was sent. Try later."
    assert "Nothing was sent." in last
    assert reasons == ["UpstreamUnreachable: connection refused", "CircuitOpen"]


FORGERY = (
    "The API's protection against cross-site request forgery refused the request (status {}). "
    "This tool's maintainer has to fix the problem."
)
DJANGO = b"""
<!DOCTYPE html>
<html lang="en">
<head>
  <meta http-equiv="content-type" content="text/html; charset=utf-8">
  <title>403 Forbidden</title>
  <style>html * { padding:0; margin:0; } body { font:small sans-serif; background:#eee; }</style>
</head>
<body>
<div id="summary">
  <h1>Forbidden <span>(403)</span></h1>
  <p>CSRF verification failed. Request aborted.</p>
</div>
</body>
</html>
"""
STATUSES: dict[str, tuple[Callable[[Peer], None], str, str]] = {
    "GitHub's 401": (
        body({"message": "Bad credentials", "documentation_url": "x"}, status="401 Unauthorized"),
        (
            "The API refused this endpoint, which has no credential for it (status 401). "
            'This tool\'s maintainer has to fix the problem. The API says: "Bad credentials"'
        ),
        "UpstreamRefused: 401",
    ),
    "a page of status 403": (
        answering(answer(b"<html><title>403 Forbidden</title></html>", status="403 Forbidden", **HTML)),
        (
            "The API refused this endpoint, which has no credential for it (status 403). "
            "This tool's maintainer has to fix the problem."
        ),
        "UpstreamRefused: 403",
    ),
    "a page of status 403 about something else": (
        answering(answer(PAGE, status="403 Forbidden", **HTML)),
        ("The API refused the request with a web page (status 403). This tool's maintainer has to fix the problem."),
        "UpstreamHtml: 403",
    ),
    "Django's protection against CSRF": (
        answering(answer(DJANGO, status="403 Forbidden", **HTML)),
        FORGERY.format(403),
        "UpstreamCsrf: 403",
    ),
    "Laravel's protection against CSRF": (
        body({"message": "CSRF token mismatch."}, status="419 X"),
        FORGERY.format(419),
        "UpstreamCsrf: 419",
    ),
    "gorilla's protection against CSRF": (
        answering(answer(b"Forbidden - CSRF token invalid\n", status="403 X", content_type="text/plain")),
        FORGERY.format(403),
        "UpstreamCsrf: 403",
    ),
    "GitHub's second rate limit": (
        body({"message": "You have exceeded a secondary rate limit."}, status="403 Forbidden", retry_after="60"),
        (
            "The API answered with status 403 and no GraphQL response. "
            'The API says: "You have exceeded a secondary rate limit." The API asks to wait 60 s. Try again then.'
        ),
        "UpstreamLimit: 403",
    ),
    "429": (
        answering(answer(PAGE, status="429 Too Many Requests", retry_after="7", **HTML)),
        "The API answered with status 429 and no GraphQL response. The API asks to wait 7 s. Try again then.",
        "UpstreamLimit: 429",
    ),
    "429 without a time": (
        answering(answer(b"", status="429 Too Many Requests", retry_after="soon")),
        "The API answered with status 429 and no GraphQL response. Try later.",
        "UpstreamLimit: 429",
    ),
    "404": (
        body({"title": "Not Found", "detail": "No such route", "status": 404}, status="404 Not Found"),
        'The API answered with status 404 and no GraphQL response. The API says: "No such route"',
        "UpstreamStatus: 404",
    ),
}


@pytest.mark.parametrize("tool", ["Things", "Pay"])
@pytest.mark.parametrize("failure", STATUSES)
def test_status_of_a_refusal_is_told_with_its_words_and_nothing_was_carried_out(
    tmp_path: Path, failure: str, tool: str
) -> None:
    script, text, reason = STATUSES[failure]
    with answered(tmp_path, script) as function:
        called = function.call(tool, {})

    assert called.text == text
    (line,) = function.lines
    assert line["reason"] == reason
    assert line["upstream_status"] == int(reason[-3:])


def test_date_to_wait_for_is_told_in_seconds(tmp_path: Path) -> None:
    later = formatdate(time.time() + 100, usegmt=True)
    with answered(tmp_path, answering(answer(b"", status="429 Too Many Requests", retry_after=later))) as function:
        text = function.call("Things", {}).text

    told = int(text.partition("The API asks to wait ")[2].partition(" s.")[0])
    assert 80 < told <= 100


@pytest.mark.parametrize(
    "words", ["<html>down</html>", "", 7, None, {"message": ["x"]}, {"other": "x"}, ["x"], {"message": {"a": 1}}]
)
def test_words_that_are_no_plain_text_are_not_told(tmp_path: Path, words: Any) -> None:
    with answered(tmp_path, body({"message": words}, status="500 Internal Server Error")) as function:
        text = function.call("Things", {}).text

    assert text == "The API answered with status 500 and no GraphQL response. Try later."


def test_words_are_told_cut_and_without_suggestions(tmp_path: Path) -> None:
    for said, told in {
        "x" * 9_000: "x" * 299 + "…",
        "No /grahpql.\x1b[31m Did you mean /salary?": "No /grahpql. [31m",
    }.items():
        with answered(tmp_path, body({"message": said}, status="404 Not Found")) as function:
            assert function.call("Things", {}).text.endswith(f'The API says: "{told}"')


REFUSED = {"errors": [{"message": "Who are you?", "extensions": {"code": "UNAUTHENTICATED"}}]}


@pytest.mark.parametrize("content", [REFUSED, {"message": "Who are you?"}])
@pytest.mark.parametrize("status", [401, 403])
def test_endpoints_own_credential_that_is_refused_is_its_maintainers_matter(
    tmp_path: Path, status: int, content: Any
) -> None:
    with running_api(lambda _: Reply(content, status=status)) as api:
        auth = f"{{url: '{api.url}', auth: {{bearer: env:KEY}}}}"
        with asking(tmp_path, auth, **_secret("Qv8Zt3Lr1Tb6Wn5Kd")) as function:
            text = function.call("Me", {}).text

    assert f"The API refused the endpoint's own credential (status {status})." in text
    assert "Who are you?" in text
    assert "Qv8Zt3Lr1Tb6Wn5Kd" not in text
    assert function.lines[-1]["reason"] == f"UpstreamRefused: {status}"
    assert level_of(function.lines[-1]) == WARNING


def _given(reply: Reply, _: Asked) -> Reply:
    return reply


@pytest.mark.parametrize("auth", ["bearer: env:KEY", "header: x-api-key, value: env:KEY"])
def test_credential_that_an_error_repeats_is_not_told(tmp_path: Path, auth: str) -> None:
    repeated = {"message": "There is no key of-the-endpoint here"}
    for content in (repeated, {"errors": [repeated]}):
        reply = Reply(content, status=403)
        with running_api(partial(_given, reply)) as api:
            upstream = f"{{url: '{api.url}', auth: {{{auth}}}}}"
            with asking(tmp_path, upstream, **_secret("of-the-endpoint")) as function:
                text = function.call("Me", {}).text

        assert "There is no key … here" in text


@pytest.mark.parametrize("status", [200, 400, 401, 403, 500])
@pytest.mark.parametrize(
    "content",
    [{"message": "Not valid: Bearer {}"}, {"errors": [{"message": "Not valid: {}", "extensions": {"code": "{}"}}]}],
)
def test_credential_that_an_api_repeats_is_told_to_nobody(tmp_path: Path, status: int, content: Any) -> None:
    secret = "sk-of-the-endpoint-alone"
    said = json.loads(json.dumps(content).replace("{}", secret))
    with running_api(lambda _: Reply(said, status=status)) as api:
        auth = f"{{url: '{api.url}', auth: {{bearer: env:KEY}}}}"
        with asking(tmp_path, auth, **_secret(secret)) as function:
            text = function.call("Me", {}).text

    assert "Not valid: " in text
    assert secret not in text + str(function.lines)


@pytest.mark.parametrize("escape", ["\\/", "\\u002F", "\\u002f"])
def test_credential_that_an_api_repeats_with_escapes_is_told_to_nobody(tmp_path: Path, escape: str) -> None:
    repeated = '{"data": {"me": "sk-of/the/endpoint"}}'.replace("/", escape)
    with running_api(lambda _: Reply(repeated.encode())) as api:
        auth = f"{{url: '{api.url}', auth: {{bearer: env:KEY}}}}"
        with asking(tmp_path, auth, **_secret("sk-of/the/endpoint")) as function:
            text = function.call("Me", {}).text

    assert '{"me":"…"}' in text


def test_key_in_the_url_that_an_api_repeats_is_told_to_nobody(tmp_path: Path) -> None:
    secret = "sk-of-the-url-alone"
    told = {"errors": [{"message": f"Not valid: {secret} of 2026-10-01"}]}
    with running_api(lambda _: Reply(told, status=400)) as api:
        upstream = f"{{url: '{api.url}?version=2026-10-01&apiKey={secret}'}}"
        with asking(tmp_path, upstream) as function:
            text = function.call("Me", {}).text

    assert "Not valid: … of 2026-10-01" in text
    assert secret not in text + str(function.lines)


def test_callers_token_that_is_refused_is_the_callers_matter(tmp_path: Path) -> None:
    with running_api(lambda _: Reply(REFUSED, status=401)) as api:
        passthrough = f"{{url: '{api.url}', auth: {{passthrough: {{audience: '{AUDIENCE}'}}}}}}"
        with asking(tmp_path, passthrough, identity=identity_with()) as function:
            text = function.request(
                "tools/call", {"name": "Me", "arguments": {}}, headers=with_token(aud=AUDIENCE)
            ).text

    assert "The API refused the token of this tool's caller (status 401). Tell your user to sign in again" in text
    assert function.lines[-1]["reason"] == "CallerTokenRefused: 401"
    assert level_of(function.lines[-1]) == INFO


def _secret(value: str) -> dict[str, Any]:
    return {"secrets": {"KEY": value}}


def test_time_to_wait_is_told_beside_graphql_errors(tmp_path: Path) -> None:
    limited = {"errors": [{"message": "Too many requests"}]}
    with answered(tmp_path, body(limited, status="429 Too Many Requests", retry_after="30")) as function:
        errors = function.call("Things", {}).result["structuredContent"]["errors"]

    assert errors == [{"message": "The API asks to wait 30 s."}, {"message": "Too many requests"}]
    assert function.lines[-1]["reason"] == "UpstreamLimit: 429"


@pytest.mark.parametrize(("status", "reason"), [("429 X", "UpstreamLimit: 429"), ("504 X", "UpstreamStatus: 504")])
def test_status_beside_graphql_errors_is_the_reason(tmp_path: Path, status: str, reason: str) -> None:
    with answered(tmp_path, body({"errors": [{"message": "Slow down"}]}, status=status)) as function:
        errors = function.call("Things", {}).result["structuredContent"]["errors"]

    assert errors == [{"message": "Slow down"}]
    assert function.lines[-1]["reason"] == reason


def test_gateway_that_gave_a_mutation_up_may_have_passed_it_on(tmp_path: Path) -> None:
    with answered(tmp_path, body({"errors": [{"message": "Gateway timeout"}]}, status="504 X")) as function:
        errors = function.call("Pay", {}).result["structuredContent"]["errors"]

    assert errors == [{"message": DOUBT}, {"message": "Gateway timeout"}]


def test_graphql_client_reads_that_a_mutation_was_answered(tmp_path: Path) -> None:
    large = json.dumps({"data": {"pay": '"' * 2_500_000}}).encode()
    with running_server(answering(answer(large, **JSON))) as server:
        config = f"upstream: {{url: '{server.url}', max_bytes: 20000000}}\ngraphql: 'on'\n{UNCUT}\n{PUBLIC}"
        with running_function(compiled(tmp_path, {**FILES, "config.yaml": config})) as function:
            (error,) = function.graphql({"query": "mutation { pay(id: 1) }"}).json["errors"]

    assert "do not send it once more" in error["message"]


LIMITED = {"errors": [{"message": "Throttled", "extensions": {"code": "THROTTLED"}}]}


@pytest.mark.parametrize(
    ("content", "status", "reason"),
    [
        (LIMITED, "200 OK", "UpstreamLimit: 200"),
        ({"data": {"things": None}, **LIMITED}, "429 Too Many Requests", "UpstreamLimit: 429"),
        ({"message": "You have exceeded a secondary rate limit."}, "200 OK", "UpstreamNotGraphQL"),
    ],
)
def test_time_to_wait_is_told_whatever_the_status_and_the_form_of_the_answer(
    tmp_path: Path, content: Any, status: str, reason: str
) -> None:
    with answered(tmp_path, body(content, status=status, retry_after="12")) as function:
        called = function.call("Things", {})

    assert "The API asks to wait 12 s." in called.text
    assert called.result["isError"] is True
    assert function.lines[-1]["reason"] == reason


@pytest.mark.parametrize("status", [401, 403])
def test_credential_that_is_refused_beside_a_null_is_told_too(tmp_path: Path, status: int) -> None:
    content = {"data": {"things": None}, "errors": [{"message": "Who are you?", "path": ["things"]}]}
    with answered(tmp_path, body(content, status=f"{status} No")) as function:
        text = function.call("Things", {}).text

    assert f"which has no credential for it (status {status})" in text
    assert "Who are you?" in text
    assert function.lines[-1]["reason"] == f"UpstreamRefused: {status}"


@pytest.mark.parametrize("status", [408, 500, 502, 503, 504])
def test_mutation_that_a_gateway_gave_up_in_graphql_may_have_been_carried_out(tmp_path: Path, status: int) -> None:
    content = {"errors": [{"message": "timeout", "extensions": {"code": "REQUEST_TIMEOUT"}}]}
    with answered(tmp_path, body(content, status=f"{status} No")) as function:
        paid = function.call("Pay", {}).result["structuredContent"]["errors"]
        reason = function.lines[-1]["reason"]
        asked = function.call("Things", {}).result["structuredContent"]["errors"]

    assert paid == [{"message": DOUBT}, *asked]
    assert asked == content["errors"]
    assert reason == f"UpstreamStatus: {status}"


def test_mutation_that_the_apis_schema_does_not_allow_was_not_carried_out_whatever_the_status(tmp_path: Path) -> None:
    error = {"message": 'Cannot query field "pay" on type "Mutation".', "locations": AT}
    with answered(tmp_path, body({"errors": [error]}, status="500 No")) as function:
        text = function.call("Pay", {}).text

    assert "carried out" not in text
    assert function.lines[-1]["reason"] == "Drift: Mutation.pay"


RUN = "The API has run {}, and its answer has errors: find out what was carried out before anything is sent once more."
NULLED = {"message": "Cannot return null for non-nullable field Receipt.id.", "path": ["buy", "id"]}
FAILED = {"message": "No money", "path": ["pay"]}
BEGUN: dict[str, tuple[Any, str]] = {
    "a null that went up to the root field": (
        {"data": {"pay": None, "buy": None}, "errors": [NULLED]},
        RUN.format("buy"),
    ),
    "a null that went up to the root": ({"data": None, "errors": [NULLED]}, RUN.format("buy")),
    "a null that went up, without data": ({"errors": [NULLED]}, RUN.format("buy")),
    "an error of the root field": ({"data": {"pay": None, "buy": None}, "errors": [FAILED]}, DOUBT),
    "an error of a root field that is not null": ({"data": None, "errors": [FAILED]}, DOUBT),
    "an error without a path beside a null": (
        {"data": {"pay": None, "buy": None}, "errors": [{"message": "Oops"}]},
        DOUBT,
    ),
    "an error without a path or data": ({"data": None, "errors": [{"message": "Oops"}]}, DOUBT),
    "a first field that ran before the second failed": (
        {"data": {"pay": "paid", "buy": None}, "errors": [{"message": "Sold out", "path": ["buy"]}]},
        RUN.format("pay"),
    ),
    "a first field that ran beside a null that went up to the root field": (
        {"data": {"pay": "paid", "buy": None}, "errors": [NULLED]},
        RUN.format("pay, buy"),
    ),
    "a part that failed": (
        {
            "data": {"pay": "paid", "buy": {"id": 1, "note": None}},
            "errors": [{"message": "x", "path": ["buy", "note"]}],
        },
        RUN.format("pay, buy"),
    ),
}
MUTATION = "mutation Both @mcpTool { pay(id: 1) buy { id note } }"
WRITING = {
    "index.graphql": 'extend schema @tool(name: "t", graphql: {expose: true, types: ".*", fields: ".*"})\n'
    "type Query { a: Int }\ntype Mutation { pay(id: ID): String buy: Receipt }\n"
    "type Receipt { id: Int! note: String }\n",
    "operations/both.graphql": MUTATION,
}


@contextmanager
def writing(folder: Path, script: Callable[[Peer], None]) -> Iterator[Function]:
    with running_server(script) as server:
        config = f"upstream: {{url: '{server.url}'}}\ngraphql: 'on'\n{PUBLIC}"
        made = with_kit(compiled(folder, {**WRITING, "config.yaml": config}), TOOLS)
        with running_function(made, code_modules=MODULES) as function:
            yield function


@pytest.mark.parametrize("status", ["200 OK", "500 No"])
@pytest.mark.parametrize("case", BEGUN)
def test_mutation_that_may_have_run_is_told_so_in_every_way_that_it_is_called(
    tmp_path: Path, case: str, status: str
) -> None:
    content, warning = BEGUN[case]
    with writing(tmp_path, body(content, status=status)) as function:
        text = MUTATION.replace(" @mcpTool", "")
        prescribed = json.loads(function.call("Both", {}).text)["errors"]
        document = json.loads(function.call("t", {"query": text}).text)["errors"]
        in_python = function.call("ask_graphql", {"query": text}).text
        over_graphql = function.graphql({"query": text}).json["errors"]

    expected = [{"message": warning}, *content["errors"]]
    assert prescribed == document == over_graphql == expected
    assert warning in in_python


def test_type_name_of_a_mutation_says_nothing_of_what_has_run(tmp_path: Path) -> None:
    content = {"data": {"__typename": "Mutation", "pay": None}, "errors": [FAILED]}
    with writing(tmp_path, body(content)) as function:
        errors = json.loads(function.call("t", {"query": "mutation { __typename pay }"}).text)["errors"]

    assert errors == [{"message": DOUBT}, FAILED]


NOT_BEGUN: dict[str, Any] = {
    "a request error": {"errors": [{"message": "Oops"}]},
    "an unknown field": {"errors": [{"message": 'Cannot query field "pay" on type "Mutation".', "locations": [{}]}]},
    "an unknown field, with a null": {
        "data": None,
        "errors": [
            {"message": 'Cannot query field "pay" on type "Mutation".', "locations": [{"line": 1, "column": 2}]}
        ],
    },
    "a value, with a null": {
        "data": None,
        "errors": [{"message": "Variable '$x' got invalid value 1; Expected type 'Day'.", "locations": [{}]}],
    },
    "a limit, with a null": {"data": None, "errors": [{"message": "Throttled", "extensions": {"code": "THROTTLED"}}]},
    "a path through the document": {"errors": [{"message": "x", "path": ["mutation Both", "pay"]}]},
}


@pytest.mark.parametrize("case", NOT_BEGUN)
def test_mutation_that_surely_did_not_run_is_told_without_a_doubt(tmp_path: Path, case: str) -> None:
    with writing(tmp_path, body(NOT_BEGUN[case])) as function:
        text = function.call("Both", {}).text

    assert "carried out" not in text


@pytest.mark.parametrize("case", BEGUN)
def test_query_with_errors_is_told_as_they_are(tmp_path: Path, case: str) -> None:
    content = json.loads(json.dumps(BEGUN[case][0]).replace('"buy"', '"things"').replace('"pay"', '"things"'))
    with answered(tmp_path, body(content)) as function:
        text = function.call("Things", {}).text

    assert "carried out" not in text
    assert "has run" not in text


@pytest.mark.parametrize("content", [{"data": None}, {"data": None, "errors": []}, {"data": None, "errors": None}])
def test_null_without_an_error_is_no_response(tmp_path: Path, content: Any) -> None:
    with answered(tmp_path, body(content)) as function:
        called = function.call("Pay", {})

    assert called.result["isError"] is True
    assert called.text.endswith(DOUBT)
    assert function.lines[-1]["reason"] == "UpstreamNotGraphQL"


def test_mark_before_json_is_read_over(tmp_path: Path) -> None:
    with answered(tmp_path, answering(answer(b'\xef\xbb\xbf{"data": {"things": []}}', **JSON))) as function:
        assert function.call("Things", {}).result["structuredContent"] == {"data": {"things": []}}


AT = [{"line": 1, "column": 9}]
ERRORS: dict[str, tuple[dict[str, Any], str, str]] = {
    "drift": (
        {"message": 'Cannot query field "things" on type "Query". Did you mean "salary"?', "locations": AT},
        ("The API refused a request that its published schema allows: its schema has changed since. "
        "This tool's maintainer has to publish the tool again."),
        "Drift: Query.things",
    ),
    "drift of a value": (
        {"message": 'Value "RED" does not exist in "Color" enum.', "locations": AT},
        ("The API refused a request that its published schema allows: its schema has changed since. "
        "This tool's maintainer has to publish the tool again."),
        "Drift: Color.RED",
    ),
    "a limit with a code of validation": (
        {
            "message": "'Things' exceeds maximum operation depth of 3",
            "locations": AT,
            "extensions": {"code": "GRAPHQL_VALIDATION_FAILED"},
        },
        "'Things' exceeds maximum operation depth of 3",
        "UpstreamLimit",
    ),
    "a limit in words alone": (
        {"message": "'Things' exceeds maximum operation depth of 3", "locations": AT},
        "'Things' exceeds maximum operation depth of 3",
        "UpstreamLimit",
    ),
    "introspection": (
        {
            "message": "GraphQL introspection is not allowed by Apollo Server, but the query contained __schema or "
            "__type. To enable introspection, pass introspection: true in production",
            "locations": AT,
            "extensions": {"code": "GRAPHQL_VALIDATION_FAILED"},
        },
        ("GraphQL introspection is not allowed by Apollo Server, but the query contained __schema or __type. To enable "
        "introspection, pass introspection: true in production"),
        "GraphQLErrors: GRAPHQL_VALIDATION_FAILED",
    ),
    "access": (
        {"message": "Access denied for field things", "locations": AT},
        "Access denied for field things",
        "GraphQLErrors",
    ),
    "access to what was not asked for": (
        {"message": "Access denied for field salary of Employee.bonus, baseSalary and 'wage'", "locations": AT},
        "Access denied for field … of ….…, … and '…'",
        "GraphQLErrors",
    ),
    "a field that was not asked for": (
        {"message": 'Cannot query field "salary" on type "Employee".', "locations": AT, "path": ["salary"],
         "extensions": {"code": "HC0020", "specifiedBy": "https://spec.graphql.org/draft/#x"}},
        'Cannot query field "…" on type "…".',
        "GraphQLErrors: HC0020",
    ),
    "a business rule": (
        {"message": 'Order 500 exceeds the credit limit of "Ada", a request of many', "path": ["things"]},
        'Order 500 exceeds the credit limit of "Ada", a request of many',
        "GraphQLErrors",
    ),
    "documents as text only": (
        {"message": "PersistedQueryNotSupported", "extensions": {"code": "PERSISTED_QUERY_NOT_SUPPORTED"}},
        "The API does not take operations by their id. This tool's maintainer has to send operations as text.",
        "UpstreamDocuments: as text only",
    ),
    "documents by id only": (
        {"message": "PersistedQueryOnly"},
        ("The API runs only operations that it knows by their id, and this one was sent as text. "
        "This tool's maintainer has to send the operation by its id."),
        "UpstreamDocuments: by id only",
    ),
}  # fmt: skip


@pytest.mark.parametrize("data", [{}, {"data": None}, {"data": {}}])
@pytest.mark.parametrize("error", ERRORS)
def test_error_of_a_request_is_told_to_the_model_and_its_reason_to_the_maintainer(
    tmp_path: Path, error: str, data: Any
) -> None:
    sent, message, reason = ERRORS[error]
    with answered(tmp_path, body({**data, "errors": [sent]})) as function:
        told = function.call("Things", {}).result

    assert told["structuredContent"]["errors"][0]["message"] == message
    assert "salary" not in json.dumps(told)
    (line,) = function.lines
    assert (line["outcome"], line["reason"]) == ("tool_error", reason)
    assert level_of(line) == WARNING
    assert line.get("no_data", False) is reason.startswith("GraphQLErrors")


def test_errors_beside_data_keep_their_words(tmp_path: Path) -> None:
    message = 'Cannot query field "things" on type "Query". Did you mean "these"?'
    with answered(tmp_path, body({"data": {"things": []}, "errors": [{"message": message}]})) as function:
        told = function.call("Things", {}).result["structuredContent"]

    assert told == {"data": {"things": []}, "errors": [{"message": message}]}


def test_error_of_the_document_beside_a_null_names_nothing_that_was_not_asked_for(tmp_path: Path) -> None:
    message = 'Cannot query field "thing" on type "Query". Did you mean "salary"?'
    of_place = {"message": "Unknown city. Did you mean Berlin?", "path": ["things"]}
    content = {"data": {"things": None}, "errors": [{"message": message, "locations": AT}, of_place]}
    with answered(tmp_path, body(content)) as function:
        told = function.call("Things", {}).result["structuredContent"]["errors"]

    assert told == [{"message": 'Cannot query field "…" on type "Query".'}, of_place]


@pytest.mark.parametrize("data", [None, {"things": []}])
def test_errors_are_bounded_in_number_and_size(tmp_path: Path, data: Any) -> None:
    long = "é" * 3_000
    error = {"message": long, "path": ["things", long, *range(500)], "extensions": {"code": long}}
    config = {"data": data, "errors": [error] * 200}
    with running_server(body(config)) as server:
        made = compiled(
            tmp_path,
            {**FILES, "config.yaml": f"upstream: {{url: '{server.url}', max_bytes: 50000000}}\n{UNCUT}\n{PUBLIC}"},
        )
        with running_function(made) as function:
            told = function.call("Things", {}).result["structuredContent"]["errors"]

    assert len(told) == MAX_ERRORS + 1
    assert told[-1] == {"message": "The API reported 190 more errors."}
    assert len(json.dumps(told[0], ensure_ascii=False)) < 2_000
    assert told[0]["message"] == "é" * 999 + "…"


@pytest.mark.parametrize("step", [10**4_000, -1, True, 1.5, None, [0]], ids=lambda step: f"{step!r:.10}")
def test_path_is_left_out_if_it_has_a_step_that_no_answer_has(tmp_path: Path, step: Any) -> None:
    with answered(tmp_path, body({"errors": [{"message": "No.", "path": ["things", step]}]})) as function:
        told = function.call("Things", {}).result["structuredContent"]["errors"]

    assert told == [{"message": "No."}]


@pytest.mark.parametrize("message", ["", " ", 'Did you mean "salary"?'])
def test_error_of_which_no_word_can_be_told_is_not_blank(tmp_path: Path, message: str) -> None:
    with answered(tmp_path, body({"errors": [{"message": message}]})) as function:
        told = function.call("Things", {}).result["structuredContent"]["errors"]

    assert told == [{"message": "The API reported an error."}]


@pytest.mark.parametrize("filler", [" ", "(", "did you mea ", "\n", '"a" '])
def test_foreign_text_costs_no_more_time_than_reading_it(tmp_path: Path, filler: str) -> None:
    said = "No user with the address " + filler * 40_000
    with answered(tmp_path, body({"errors": [{"message": said, "locations": AT}]})) as function:
        function.call("Things", {})
        started = time.process_time()
        function.call("Things", {})

    assert time.process_time() - started < 2


def test_line_names_times_status_bundle_and_version(tmp_path: Path) -> None:
    from handler import __version__

    with answered(tmp_path, body({"data": {"things": []}})) as function:
        function.call("Things", {})

    (line,) = function.lines
    assert line["upstream_status"] == 200
    assert 0 < line["upstream_ms"] <= line["duration_ms"]
    assert line["stile"] == __version__
    assert len(line["bundle"]) == 12
    assert set(line["bundle"]) <= set("0123456789abcdef")


def test_every_reason_for_maintainers_is_a_word_that_is_noted() -> None:
    modules = (ROOT / "handler").rglob("*.py")
    code = "".join(path.read_text("utf-8") for path in modules if path.name != "request_log.py")

    assert [word for word in FOR_MAINTAINERS if word not in code] == []


def test_reason_of_one_call_of_a_batch_is_the_lines_level() -> None:
    assert level_of({"calls": [{"reason": "GraphQLErrors"}, {"reason": "Drift: Query.things"}]}) == WARNING
    assert level_of({"calls": [{"outcome": "ok"}]}) == INFO
    assert level_of({}) == INFO


class _Stuck:
    """An API that answers some, and others never."""

    def __init__(self) -> None:
        self.over = threading.Event()

    def __call__(self, asked: Asked) -> Reply:
        if asked.json.get("operationName") == "Pay":
            self.over.wait(20)
        return Reply({"data": {"me": "you", "pay": "paid"}})


@pytest.mark.parametrize("claim", ["sub", "client_id"])
def test_slow_answers_that_one_caller_provokes_do_not_rest_the_api_for_others(tmp_path: Path, claim: str) -> None:
    stuck = _Stuck()
    ada, ben = (with_token(**{"sub": None, claim: name}) for name in ("ada", "ben"))
    with running_api(stuck) as api, asking(tmp_path, f"{{url: '{api.url}', timeout_s: 0.2}}") as function:
        provoked = [function.call("Pay", {}, headers=ada).text for _ in range(MAX_FAILURES + 1)]
        others = function.call("Me", {}, headers=ben).result
        anonymous = function.call("Me", {}).result
        stuck.over.set()

    assert "nothing was sent" not in provoked[0]
    assert "Nothing was sent." in provoked[-1]
    assert "isError" not in others
    assert "isError" not in anonymous


def test_slow_answers_to_one_request_of_nobody_do_not_rest_another(tmp_path: Path) -> None:
    stuck = _Stuck()
    with running_api(stuck) as api, asking(tmp_path, f"{{url: '{api.url}', timeout_s: 0.2}}") as function:
        for _ in range(MAX_FAILURES + 1):
            provoked = function.call("Pay", {}).text
        other = function.call("Me", {}).result
        stuck.over.set()

    assert "Nothing was sent." in provoked
    assert "isError" not in other


def test_connections_that_cannot_be_made_rest_the_api_for_everybody(tmp_path: Path) -> None:
    with asking(tmp_path, "{url: 'http://127.0.0.1:1/'}") as function:
        for _ in range(MAX_FAILURES):
            function.call("Me", {}, headers=with_token(sub="ada"))
        text = function.call("Pay", {}, headers=with_token(sub="ben")).text

    assert "Nothing was sent." in text


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (_hangs_up, "UpstreamBroken: connection closed before the answer was complete"),
        (body({"errors": [ERRORS["drift"][0]]}), "Drift: Query.things"),
    ],
)
def test_reason_is_that_of_the_api_where_a_tool_in_python_asks_it(
    tmp_path: Path, script: Callable[[Peer], None], reason: str
) -> None:
    with running_server(script) as server:
        config = f"upstream: {{url: '{server.url}'}}\n{PUBLIC}"
        made = with_kit(compiled(tmp_path, {**FILES, "config.yaml": config}), TOOLS)
        with running_function(made, code_modules=MODULES) as function:
            function.call("ask_graphql", {"query": "{ things(first: 3, color: RED) { name } }"})

    assert (function.lines[-1]["decision"], function.lines[-1]["reason"]) == ("allowed", reason)


UNREADABLE: dict[str, tuple[bytes, str]] = {
    "many digits": (b'{"data": {"pay": ' + b"7" * 5_000 + b"}}", "a number has too many digits"),
    "many levels": (b'{"data": ' + b"[" * 20_000 + b"]" * 20_000 + b"}", "nested too deeply"),
    "no number": (b'{"data": {"pay": NaN}}', "NaN is no JSON"),
    "no end": (b'{"data": {"pay": -Infinity}}', "-Infinity is no JSON"),
    "bad UTF-8": ('{"data": {"pay": "café'.encode() + b'\xff"}}', "it is not UTF-8 (byte 0xff at 23)"),
    "Latin-1": (
        '{"data": {"pay": "café"}}'.encode("latin-1"),
        "it is not UTF-8 (byte 0xe9 at 21; it may be Latin-1)",
    ),
    "UTF-16": ('{"data": {"pay": "é"}}'.encode("utf-16"), "it is UTF-16 or UTF-32, not UTF-8"),
    "UTF-16 without a mark": ('{"data": {"pay": "e"}}'.encode("utf-16-le"), "it is UTF-16 or UTF-32, not UTF-8"),
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_cause_is_told_of_an_answer_that_cannot_be_read(tmp_path: Path, case: str) -> None:
    content, cause = UNREADABLE[case]
    with answered(tmp_path, answering(answer(content, **JSON))) as function:
        text = function.call("Things", {}).text

    assert text == f"The API answered with status 200 and no GraphQL response that can be read: {cause}."
    assert function.lines[-1]["reason"] == f"UpstreamBadJson: {cause}"


@pytest.mark.parametrize(
    "head", [b"".join(b"x-%d: 1\r\n" % number for number in range(101)), b"x: " + b"a" * 65_536 + b"\r\n"]
)
@pytest.mark.parametrize(("tool", "doubt"), [("Things", ""), ("Pay", f" {DOUBT}")])
def test_head_that_is_too_large_is_told_as_that(tmp_path: Path, head: bytes, tool: str, doubt: str) -> None:
    script = answering(b"HTTP/1.1 200 OK\r\n" + head + b"content-length: 2\r\n\r\n{}")
    with answered(tmp_path, script) as function:
        text = function.call(tool, {}).text

    said = "The API's answer cannot be read: it has too many headers, or too long ones."
    assert text == f"{said}{doubt} {MAINTAINER}"
    what = "a line too long" if len(head) > 65_536 else "too many headers"
    assert function.lines[-1]["reason"] == f"UpstreamBroken: the answer has {what}"


def test_first_part_of_an_answer_is_not_taken_for_the_whole(tmp_path: Path) -> None:
    with answered(tmp_path, body({"data": {"things": []}, "hasNext": True})) as function:
        text = function.call("Things", {}).text
        reason = function.lines[-1]["reason"]
    with answered(tmp_path / "last", body({"data": {"things": []}, "hasNext": False})) as function:
        whole = function.call("Things", {}).result["structuredContent"]

    assert "it is the first of several parts, as for @defer and @stream" in text
    assert reason == "UpstreamMediaType: hasNext"
    assert whole == {"data": {"things": []}}


@pytest.mark.parametrize("seconds", [12, 11.2, "12"])
@pytest.mark.parametrize("where", ["errors", "answer"])
def test_time_to_wait_in_the_extensions_counts(tmp_path: Path, where: str, seconds: Any) -> None:
    stated = {"extensions": {"retryAfter": seconds}}
    content = {"errors": [{"message": "Slow down", **(stated if where == "errors" else {})}]}
    with answered(tmp_path, body({**content, **(stated if where == "answer" else {})})) as function:
        first = function.call("Things", {}).result["structuredContent"]["errors"][0]

    assert first == {"message": "The API asks to wait 12 s."}
    assert function.lines[-1]["reason"] == "UpstreamLimit: 200"


@pytest.mark.parametrize("content", [{"errors": {}}, {"errors": 5}, {"errors": [7], "extensions": []}])
@pytest.mark.parametrize("seconds", [{}, [30], True, 1e300, -5])
def test_time_to_wait_is_a_number_of_seconds(tmp_path: Path, content: Any, seconds: Any) -> None:
    answer_of_it = {"extensions": {"retryAfter": seconds}, **content}
    with answered(tmp_path, body(answer_of_it)) as function:
        called = function.call("Things", {})

    assert called.result["isError"] is True
    assert "asks to wait" not in called.text


@pytest.mark.parametrize("data", [None, {"things": None}, {"things": []}])
def test_invisible_characters_of_an_error_do_not_pass(tmp_path: Path, data: Any) -> None:
    hidden = "all \u202eyrev\u202c \u200bwell\U000e0041\x1b[31m"
    error = {"message": hidden, "path": ["things", hidden], "extensions": {"code": hidden}}
    with answered(tmp_path, body({"data": data, "errors": [error]})) as function:
        text = function.call("Things", {}).text

    (told,) = json.loads(text)["errors"]
    shown = r"all \u202eyrev\u202c \u200bwell\U000e0041\x1b[31m"
    assert told == {"message": shown, "path": ["things", shown], "extensions": {"code": shown}}
