"""Facts that the author of an endpoint reads at `stile call` and `stile dev`, and that no caller reads."""

from __future__ import annotations

import io
import json
import re
import ssl
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jwt
import pytest
import urllib3

from tests.commands.running import CONFIG, FILES, Ran, Stile, ran
from tests.commands.test_dev import Dev, running_dev
from tests.commands.test_dev_doors import post, ready
from tests.support.api import Reply, running_api
from tests.support.authority import Authority
from tests.support.endpoints import compiled, write_endpoint
from tests.support.function import running_function
from tests.support.raw_http import Peer, answer, answering, running_server
from tests.support.secrecy import SESSION

CALL = {"method": "tools/call", "params": {"name": "a", "arguments": {}}}
KEY = "correct-horse-battery-staple"
IN_URL = "staple-battery-horse"


def config(url: str, upstream: str = "") -> str:
    named = f"upstream: {{url: '{url}'{upstream}}}"
    return re.sub(r"^upstream: .*$", lambda _: named, CONFIG, flags=re.M)


def called(stile: Stile, url: str, upstream: str = "", **files: str) -> Ran:
    """A call of the endpoint's tool, whose API is at the URL."""
    write_endpoint(Path(), {**FILES, "config.yaml": config(url, upstream), **files})
    return stile("call", ".", "a")


def closing(peer: Peer) -> None:
    peer.read_request()
    peer.reset()


def silent(peer: Peer) -> None:
    peer.read_request()
    peer.wait()


ANSWERS: dict[str, tuple[bytes, str]] = {
    "401": (
        answer(b'{"message": "Bad credentials"}', status="401 Unauthorized", content_type="application/json"),
        (
            'UpstreamRefused: POST URL answered 401 with application/json: "Bad credentials". '
            "config.yaml has no upstream.auth, so no credential was sent: name one there"
        ),
    ),
    "html": (
        answer(b"\n\n <html>\n<title>Login</title>", content_type="text/html; charset=utf-8"),
        (
            'UpstreamHtml: POST URL answered 200 with text/html: "Login". '
            "Expected JSON: is upstream.url the URL of the GraphQL API?"
        ),
    ),
    "protection against CSRF": (
        answer(
            b"<!DOCTYPE html>\n<html><head><title>403 Forbidden</title><style>p { a: b }</style></head><body>"
            b"<h1>Forbidden <span>(403)</span></h1><p>CSRF verification failed. Request aborted.</p></body></html>",
            status="403 Forbidden",
            content_type="text/html",
        ),
        (
            'UpstreamCsrf: POST URL answered 403 with text/html: "403 Forbidden Forbidden (403) CSRF verification '
            'failed. Request aborted.". The API wants a CSRF token, which browsers have: exempt its GraphQL view from '
            "the check (Django: csrf_exempt), or name the header that it accepts in upstream.headers"
        ),
    ),
    "a page of a firewall": (
        answer(b"<html><h1>You are blocked</h1> Call us", status="403 Forbidden", content_type="text/html"),
        'UpstreamHtml: POST URL answered 403 with text/html: "You are blocked Call us"',
    ),
    "redirect": (
        answer(status="301 Moved", location="https://me:pass@things.example/v2?key=secret"),
        (
            "UpstreamRedirect: POST URL answered 301, a redirect to https://things.example/v2?key=…. "
            "Redirects are not followed: set upstream.url to the final URL"
        ),
    ),
    "500": (
        answer(b"\x1b[31mboom\x00 " + b"x" * 900, status="500 Oops", content_type="text/plain"),
        f'UpstreamStatus: POST URL answered 500 with text/plain: "[31mboom {"x" * 190}…"',
    ),
    "no JSON": (
        answer(b"hello", content_type="application/json"),
        'UpstreamBadJson: POST URL answered 200 with application/json: "hello"',
    ),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_answer_that_is_no_answer_is_shown_to_the_author(workplace: Path, stile: Stile, name: str) -> None:
    raw, said = ANSWERS[name]
    with running_server(answering(raw)) as api:
        done = called(stile, api.url)

    lines = done.err.splitlines()
    assert (done.code, done.out) == (1, "")
    assert re.sub("x{9,}", lambda found: found[0], lines[0]) == said.replace("URL", api.url, 1)
    assert api.url not in "\n".join(lines[1:])  # what the model reads


TRY_HTTPS = "if the server expects TLS, try https:// in upstream.url"


@pytest.mark.parametrize(
    ("script", "upstream", "said"),
    [
        (closing, "", f"UpstreamBroken: POST URL: connection closed before the answer was complete: {TRY_HTTPS}"),
        (silent, ", timeout_s: 0.2", "UpstreamTimeout: POST URL: no complete answer within 0.2 s (upstream.timeout_s)"),
    ],
)
def test_cause_of_a_missing_answer_is_shown_to_the_author(
    workplace: Path, stile: Stile, script: Callable[[Peer], None], upstream: str, said: str
) -> None:
    with running_server(script) as api:
        done = called(stile, api.url, upstream)

    assert done.err.splitlines()[0] == said.replace("URL", api.url)


def test_cause_of_a_failed_verification_of_tls_is_shown(workplace: Path, stile: Stile, tls: Any) -> None:
    with running_server(answering(answer(b"{}")), tls=tls) as api:
        done = called(stile, api.url)

    assert f"UpstreamUnreachable: POST {api.url}: TLS verification failed (" in done.err.splitlines()[0]


def test_secrets_are_in_nothing_that_is_shown(workplace: Path, stile: Stile) -> None:
    SESSION.keep("a secret of an API", KEY)
    body = json.dumps({"message": f"the key {KEY} is wrong", "again": f"Bearer {KEY}"}).encode()
    with running_server(
        answering(answer(body, status="403 No", content_type="application/json")), takes_secrets=True
    ) as api:
        url = f"{api.url}graphql?key={KEY}"
        done = called(stile, url, ", auth: {bearer: 'secret:API.TOKEN'}", **{".env": f"STILE_SECRET_API_TOKEN={KEY}"})
        loud = stile("call", ".", "a", "-v")

    for each in (done, loud):
        assert KEY not in each.out + each.err
    assert "graphql?key=… answered 403" in done.err
    assert "the key … is wrong" in done.err
    assert "upstream.auth sent secret:API.TOKEN, which the API refuses" in done.err
    assert "authorization: …" in loud.err


@pytest.mark.parametrize("query", [f"key={IN_URL}", IN_URL, f"v=1&k={IN_URL.replace('-', '%2D')}"])
def test_secrets_in_the_query_of_the_url_are_in_nothing_that_is_shown_to_the_author(
    workplace: Path, stile: Stile, query: str
) -> None:
    body = json.dumps({"message": f"no page /graphql?{query}, {IN_URL}"}).encode()
    reply = answering(answer(body, status="404 No", content_type="application/json"))
    with running_server(reply) as api:
        done = called(stile, f"{api.url}graphql?{query}")
        loud = stile("call", ".", "a", "-v")

    told = [line for line in (done.err + loud.err).splitlines() if line.startswith(("Upstream", "sent ", "answered "))]
    assert len(told) == 4
    assert all("graphql?" in line for line in told)
    assert not [line for line in told if IN_URL in line or IN_URL.replace("-", "%2D") in line]


def test_verbose_call_shows_the_request_and_the_answer(workplace: Path, stile: Stile) -> None:
    with running_api(lambda _: Reply({"data": {"a": "y" * 5_000}})) as api:
        write_endpoint(workplace, {**FILES, "config.yaml": config(api.url)})
        done = stile("call", ".", "a", "-v")

    assert done.code == 0
    sent, headers, *document, answered = done.err.splitlines()
    assert sent == f"sent POST {api.url}"
    assert "content-type: application/json" in headers
    assert document == ["  query A {", "    a", "  }", '  {"operationName": "A"}'] or "query A" in document[0]
    assert re.match(r"answered 200 \([\d.]+ ms\): \{\"data\": \{\"a\": \"y+… \(\d+ bytes\)$", answered)
    assert len(answered) < 2_200


@pytest.mark.parametrize("reference", ["secret:TOKEN", "ssm:TOKEN", "env:TOKEN"])
def test_missing_secret_is_named_as_it_works_here(workplace: Path, stile: Stile, reference: str) -> None:
    done = called(stile, "http://127.0.0.1:9/", f", auth: {{bearer: '{reference}'}}")

    first = done.err.splitlines()[0]
    assert "STILE_SECRET_TOKEN is not set here: set it in the environment, or in api/things/.env." in first
    assert f"The function reads {reference} from" in first


def test_arguments_come_from_a_file_or_standard_input(
    workplace: Path, stile: Stile, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "index.graphql": "type Query { find(n: Int, s: String): String }",
        "operations/f.graphql": 'query F($n: Int, $s: String) @mcpTool(name: "f") { find(n: $n, s: $s) }',
    }
    (workplace / "arguments.json").write_text('{"n": 1, "s": "file"}', encoding="utf-8")
    with running_api(lambda _: Reply({"data": {"find": "x"}})) as api:
        write_endpoint(workplace, {**files, "config.yaml": f"upstream: {{url: '{api.url}'}}"})

        assert stile("call", ".", "f", "--arguments", "arguments.json", "s=word").code == 0
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"n": 2}')))
        assert stile("call", ".", "f", "--arguments", "-").code == 0

    assert [each.json["variables"] for each in api.asked] == [{"n": 1, "s": "word"}, {"n": 2}]


@pytest.mark.parametrize(("text", "said"), [("[1]", "expected a JSON object"), ("{", "invalid JSON")])
def test_file_without_arguments_is_wrong_usage(workplace: Path, stile: Stile, text: str, said: str) -> None:
    write_endpoint(workplace, FILES)
    (workplace / "arguments.json").write_text(text, encoding="utf-8")

    done = stile("call", ".", "a", "--arguments", "arguments.json")

    assert done.code == 2
    assert said in done.err


def test_call_without_the_claim_of_a_variable_names_the_option(workplace: Path, stile: Stile) -> None:
    files = {
        "index.graphql": "type Query { pay(of: ID!): String }",
        "operations/p.graphql": 'query P($of: ID! @mcpBind(claim: "sub")) @mcpTool(name: "pay") { pay(of: $of) }',
        "config.yaml": "upstream: {url: 'http://127.0.0.1:9/'}",
    }
    write_endpoint(workplace, files)
    (workplace / "emp.json").write_text('{"sub": "e5"}', encoding="utf-8")

    assert "--as claims.json" in stile("call", ".", "pay").err
    assert "--as claims.json" not in stile("call", ".", "pay", "--as", "emp.json").err


MODULE = """\
from stile import Toolkit

kit = Toolkit()

def deeper(text):
    return {}[text]

@kit.tool
def one(text: str) -> str:
    "One."
    return deeper(text)
"""


def test_tool_in_python_that_raises_prints_the_frames_of_its_author(
    workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STILE_CODE_MODULES", "raising_once")
    (workplace / "raising_once.py").write_text(MODULE, encoding="utf-8")
    write_endpoint(workplace, {"config.yaml": 'access: {anonymous: allow}\ncode: [{use: "raising_once:kit"}]\n'})

    short, long = ran("call", ".", "one", "text=x"), ran("call", ".", "one", "text=x", "-v")

    assert short.err.count("Traceback") == 1
    frames = re.findall(r'File ".*/(\w+\.py)", line (\d+)', short.err)
    assert frames == [("raising_once.py", "11"), ("raising_once.py", "6")]
    assert "return {}[text]" in short.err
    assert "KeyError: 'x'" in short.err
    assert "AuthorFailed" not in short.err
    assert "AuthorFailed" in long.err
    assert len(long.err) > 2 * len(short.err)


# stile dev

IDENTITY = (
    "identity: {issuer: 'https://login.example', audience: 'https://api.example', "
    "keys: [{algorithm: HS256, key: env:CORP}]}\n"
)
SECRET = "a secret of thirty-two bytes at least"


def signed(**claims: Any) -> str:
    usual = {"iss": "https://login.example", "aud": "https://api.example", "exp": time.time() + 60}
    given = {name: value for name, value in {**usual, **claims}.items() if value is not None}
    return SESSION.keep("a token", jwt.encode(given, SECRET))


def status(dev: Dev, text: str) -> int:
    return post(f"{dev.url}/api/things/mcp", CALL, authorization=text).status


def test_dev_tells_what_a_refused_token_has_and_what_was_expected(workplace: Path) -> None:
    files = {**FILES, "config.yaml": CONFIG + IDENTITY, ".env": f"STILE_SECRET_CORP='{SECRET}'\n"}
    write_endpoint(workplace, files)
    refused = {
        signed(iss="https://evil.example/\x1b[2J"): (
            r'token has iss "https://evil.example/ \[2J"; expected https://login.example'
        ),
        signed(aud="https://other.example"): (
            r'the token has aud "https://other.example"; expected https://api.example'
        ),
        signed(exp=1): r"the token has exp 1970-01-01 00:00:01 UTC; it is .* now: ask its issuer for a new one",
        signed(exp=None): "the token has no exp",
        signed()[:-4] + "AAAA": "no key in identity.keys made its signature",
    }
    with running_dev(".") as dev:
        ready(dev)
        for text, said in refused.items():
            assert status(dev, f"Bearer {text}") == 401
            dev.wait_for(r"^refused: POST /api/things/mcp 401 denied \w+")
            dev.wait_for(said)
        assert status(dev, f"Basic {signed()}") == 401
        dev.wait_for('Authorization has the scheme "Basic"; expected Bearer or Apikey')
        assert status(dev, f"Bearer {signed()}") == 200


def test_dev_reads_keys_of_tokens_from_env_files_and_names_those_that_are_not_set(workplace: Path) -> None:
    endpoint = write_endpoint(workplace, {**FILES, "config.yaml": CONFIG + IDENTITY})
    with running_dev(".") as dev:
        dev.wait_for(r"identity.keys\[0\]: STILE_SECRET_CORP is not set here: .* in api/things/\.env$")
        ready(dev)
        assert status(dev, f"Bearer {signed()}") == 401
        dev.wait_for("denied no_secret")
        dev.wait_for("STILE_SECRET_CORP is not set here")
        (endpoint / ".env").write_text(f"STILE_SECRET_CORP='{SECRET}'\n", encoding="utf-8")
        assert status(dev, f"Bearer {signed()}") == 200


def test_dev_shows_the_cause_below_the_line_and_no_caller_reads_it(workplace: Path) -> None:
    write_endpoint(workplace, {**FILES, "config.yaml": config("http://127.0.0.1:9/graphql")})
    with running_dev(".") as dev:
        answered = post(f"{ready(dev).url}/api/things/mcp", CALL).data.decode()
        dev.wait_for(r"^error: POST /api/things/mcp tools/call a 200 tool_error UpstreamUnreachable")
        said = "connection refused: start the API, or correct upstream.url"
        dev.wait_for(f"^  UpstreamUnreachable: POST http://127.0.0.1:9/graphql: {said}$")

    assert "127.0.0.1:9" not in answered
    assert "refused" not in answered


def test_verbose_dev_shows_arguments_request_and_answer(workplace: Path) -> None:
    files = {
        "index.graphql": "type Query { find(n: Int): String }",
        "operations/f.graphql": 'query F($n: Int) @mcpTool(name: "f") { find(n: $n) }',
    }
    with running_api(lambda _: Reply({"data": {"find": "x"}})) as api:
        write_endpoint(workplace, {**files, "config.yaml": f"upstream: {{url: '{api.url}'}}"})
        with running_dev(".", "-v") as dev:
            post(f"{ready(dev).url}/api/things/mcp", {**CALL, "params": {"name": "f", "arguments": {"n": 7}}})
            dev.wait_for(r"^POST /api/things/mcp tools/call f 200 ok ")
            dev.wait_for(r'^  arguments \{"n": 7\}$')
            dev.wait_for(rf"^  sent POST {re.escape(api.url)}$")
            dev.wait_for(r"^    query F\(\$n: Int\) \{$")
            dev.wait_for(r'^    variables \{"n": 7\}$')
            dev.wait_for(r'^  answered 200 \([\d.]+ ms\): \{"data": \{"find": "x"\}\}$')


ROLES = """\
upstream: {url: "https://things.example/graphql"}
access:
  anonymous: challenge
  policies: [{type: Query, policyDefault: {condition: '$jwt.role:String == "manager"'}}]
identity: {api_keys: [{name: partner, sha256: "%s", claims: {role: manager}}]}
""" % ("ab" * 32)


@pytest.mark.parametrize(
    ("caller", "tools"), [("anonymous", 401), ("manager.json", ["a"]), ("clerk.json", []), ("key:partner", ["a"])]
)
def test_dev_answers_requests_without_a_credential_as_the_named_caller(
    workplace: Path, caller: str, tools: list[str] | int
) -> None:
    write_endpoint(workplace, {**FILES, "config.yaml": ROLES})
    for role in ("manager", "clerk"):
        (workplace / f"{role}.json").write_text(json.dumps({"role": role}), encoding="utf-8")
    with running_dev(".", "--as", caller) as dev:
        assert ready(dev).tools() == tools
        assert f"Without a credential you are {caller}." in "\n".join(dev.printed)


def test_dev_refuses_callers_by_a_key_that_the_endpoint_does_not_have(workplace: Path) -> None:
    write_endpoint(workplace, {**FILES, "config.yaml": ROLES})
    with running_dev(".", "--as", "key:partnr") as dev:
        assert ready(dev).tools() == 401
        assert 'there is no API key "partnr"; did you mean partner?' in "\n".join(dev.printed)


def test_dev_as_deployed_takes_no_caller(workplace: Path, stile: Stile) -> None:
    write_endpoint(workplace, FILES)

    done = stile("dev", ".", "--as-deployed", "--as", "anonymous")

    assert done.code == 2
    assert "use one of them" in done.err


def test_usual_get_of_a_client_is_not_called_a_failure(workplace: Path) -> None:
    write_endpoint(workplace, FILES)
    with running_dev(".") as dev, urllib3.PoolManager(retries=False) as http:
        url = f"{ready(dev).url}/api/things/mcp"
        assert http.request("GET", url, headers={"accept": "text/event-stream"}).status == 405
        line = dev.wait_for(r"^GET /api/things/mcp 405: ")
        assert "rejected" not in line.string
        assert http.request("DELETE", url).status == 405
        dev.wait_for(r"^DELETE /api/things/mcp 405: ")
        assert http.request("GET", f"{dev.url}/nowhere").status == 404
        dev.wait_for(r"^refused: GET /nowhere 404 rejected Not Found")


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/nowhere", "Not Found: MCP clients find URL/api/things/mcp"),
        ("/api/things/other", "Not Found: did you mean URL/api/things/mcp?"),
        ("/api/things/other/", "Not Found: did you mean URL/api/things/mcp?"),
        ("/api/thing/mcp", "Method Not Allowed: did you mean URL/api/things/mcp?"),
        ("/api/things/mcp", "Method Not Allowed: MCP clients send POST requests to URL/api/things/mcp"),
        ("/x" * 4_000, "Not Found: MCP clients find URL/api/things/mcp"),
    ],
)
def test_browser_is_told_where_the_endpoint_is(workplace: Path, path: str, said: str) -> None:
    write_endpoint(workplace, FILES)
    with running_dev(".") as dev, urllib3.PoolManager(retries=False) as http:
        answered = http.request("GET", f"{ready(dev).url}{path}")

    assert answered.json()["error"] == said.replace("URL", dev.url)


def test_url_of_the_page_answers_curl_with_a_sentence_and_the_log_says_the_reason(workplace: Path) -> None:
    write_endpoint(workplace, FILES)
    with running_dev(".") as dev, urllib3.PoolManager(retries=False) as http:
        answered = http.request("GET", f"{ready(dev).url}/")
        dev.wait_for(r"^GET / 200 ok no Accept: text/html, so no page")

    said = f"The page at {dev.url}/ is for browsers; MCP clients find {dev.url}/api/things/mcp.\n"
    assert (answered.status, answered.data.decode()) == (200, said)


@pytest.fixture
def tls(tmp_path: Path) -> ssl.SSLContext:
    """A server's side of TLS with a certificate that nobody trusts."""
    return Authority(tmp_path).server_context


def test_lines_for_clients_have_a_header_for_a_token_where_one_is_needed(workplace: Path) -> None:
    write_endpoint(workplace, FILES)
    with running_dev(".", "--as-deployed") as dev:
        ready(dev)

    lines = [line for line in dev.printed if line.startswith("  ")]
    assert len(lines) == 6
    assert all("API_THINGS_TOKEN" in line for line in lines)


def test_function_says_the_same_of_an_endpoint_that_exists_and_of_one_that_does_not(tmp_path: Path) -> None:
    with running_function(compiled(tmp_path, FILES)) as function:
        there, absent = (function.send("GET", path) for path in ("/api/things/other", "/no/such/other"))

    assert (there.status, there.body) == (absent.status, absent.body)
    assert b"things" not in there.body


@pytest.mark.parametrize(
    ("status", "body", "hint"),
    [
        (
            "400 Bad Request",
            b"<title>400 The plain HTTP request was sent to HTTPS port</title>",
            "The server expects TLS: try https://",
        ),
        ("400 Bad Request", b"Client sent an HTTP request to an HTTPS server.", "The server expects TLS: try https://"),
        ("500 Internal Server Error", b"you have APPEND_SLASH set", "Django expects the URL with a final slash"),
    ],
)
def test_remedy_of_an_address_that_is_almost_right_is_shown(
    workplace: Path, stile: Stile, status: str, body: bytes, hint: str
) -> None:
    with running_server(answering(answer(body, status=status))) as api:
        done = called(stile, api.url)

    assert f". {hint} in upstream.url" in done.err.splitlines()[0]


@pytest.mark.parametrize(
    "error",
    [
        {"message": "no", "extensions": {"code": "UNAUTHENTICATED"}},
        {"message": "Not authenticated"},
        {"message": "Unauthorized."},
    ],
)
def test_refused_credential_in_a_graphql_response_is_explained(
    workplace: Path, stile: Stile, error: dict[str, Any]
) -> None:
    body = json.dumps({"data": None, "errors": [error]}).encode()
    with running_server(answering(answer(body))) as api:
        done = called(stile, api.url)

    assert "config.yaml has no upstream.auth" in done.err.splitlines()[0]


def test_other_errors_of_graphql_are_not_explained(workplace: Path, stile: Stile) -> None:
    body = json.dumps({"data": None, "errors": [{"message": "no such order"}]}).encode()
    with running_server(answering(answer(body))) as api:
        done = called(stile, api.url)

    assert api.url not in done.err
