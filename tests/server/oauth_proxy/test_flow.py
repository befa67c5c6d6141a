"""The endpoint's own authorization server: it gives all clients the one that the provider knows, and keeps nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from handler.aws.json_client import AwsJson
from handler.aws.sigv4 import CredentialSource
from handler.http.addresses import STRICT
from handler.http.client import HttpClient
from handler.server.outgoing.outgoing_services import OutgoingServices
from handler.server.outgoing.secret_store import SecretStore
from handler.settings import read_settings
from tests.server.asgi.test_public_url import load_balancer
from tests.support.api import Reply, running_api
from tests.support.endpoints import compiled
from tests.support.function import Answer, Function, answer_of, running_function
from tests.support.raw_http import Peer, RawServer, answer, answering, running_server
from tests.support.secrecy import SESSION

SECRET = SESSION.keep("what the provider knows the client by", "the secret of the one client")
URL = "https://mcp.example.com/api/things"
CALLBACK = f"{URL}/oauth/callback"
CLIENT_DOCUMENT = "https://client.example/client.json"
REDIRECT = "https://client.example/callback?from=stile"
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

CONFIG = """\
access: {policies: [{type: Query, policyDefault: {condition: true}}]}
identity:
  issuer: https://login.example
  jwksendpoint: https://login.example/jwks
  audience: api
  oauth_proxy:
    authorize_url: https://login.example/authorize?policy=one
    token_url: TOKEN_URL
    client_id: the-one
    client_secret: env:PROVIDER
    redirect_uris:
      - https://client.example/callback?from=stile
      - http://127.0.0.1/cb
      - http://[::1]/cb
      - app.cli:/cb
    client_metadata_documents: [https://client.example/client.json]
    scope_prefix: api://things/
    extra_scopes: [offline_access]
"""
FILES = {
    "index.graphql": "type Query { a: Int }",
    "operations/a.graphql": 'query A @mcpTool(name: "a", scopes: ["things:read"]) { a }',
    "operations/b.graphql": 'query B @mcpTool(name: "b", scopes: ["things:write"], hidden: true) { b: a }',
}
TOKENS = {
    "access_token": "opaque",
    "token_type": "Bearer",
    "expires_in": 60,
    "scope": "api://things/things:read openid",
}

DEEP = b'{"access_token": "a", "token_type": "b", "c": ' + b"[" * 500 + b"]" * 500 + b"}"

ASKED = {
    "response_type": "code",
    "client_id": "the-one",
    "redirect_uri": REDIRECT,
    "state": "a state & more",
    "code_challenge": CHALLENGE,
    "code_challenge_method": "S256",
    "scope": "things:read openid api://things/things:write other",
    "resource": f"{URL}/mcp",
}
EXCHANGED = {
    "grant_type": "authorization_code",
    "client_id": "the-one",
    "redirect_uri": REDIRECT,
    "code": "one code",
    "code_verifier": VERIFIER,
}


def proxied(folder: Path, **more: Any) -> Any:
    config = CONFIG.replace("TOKEN_URL", more.pop("token_url", "https://login.example/token"))
    for old, new in more.pop("changes", {}).items():
        config = config.replace(old, new)
    endpoint = compiled(folder, {**FILES, "config.yaml": config})
    given = {"public_url": "https://mcp.example.com", "secrets": {"PROVIDER": SECRET}, **more}
    return running_function(endpoint, **given)


@pytest.fixture
def function(tmp_path: Path) -> Iterator[Function]:
    with proxied(tmp_path) as running:
        yield running


@pytest.fixture
def keeping(tmp_path: Path) -> Iterator[Function]:
    """One whose provider is told which API a token is for."""
    with proxied(tmp_path, changes={"extra_scopes: [offline_access]": "resource: keep"}) as running:
        yield running


def authorize(function: Function, **changes: str | None) -> Answer:
    asked = {name: value for name, value in {**ASKED, **changes}.items() if value is not None}
    return function.send("GET", f"/api/things/oauth/authorize?{urlencode(asked)}")


def location(answered: Answer) -> tuple[str, dict[str, str]]:
    """Where an answer redirects to, without what was added to its query, and that."""
    assert answered.status == 302, answered.body
    parts = urlsplit(answered.headers["location"])
    query = {name: value for name, (value,) in parse_qs(parts.query, strict_parsing=True).items()}
    return f"{parts.scheme}:{'//' if parts.netloc else ''}{parts.netloc}{parts.path}", query


def register(function: Function, metadata: Any) -> Answer:
    return function.post(metadata, path="/api/things/oauth/register")


def token(function: Function, form: Mapping[str, str] | str) -> Answer:
    body = form if isinstance(form, str) else urlencode(form)
    headers = {"content-type": "application/x-www-form-urlencoded"}
    return function.send("POST", "/api/things/oauth/token", body=body, headers=headers)


def form_of(request: bytes) -> dict[str, str]:
    body = request.partition(b"\r\n\r\n")[2].decode()
    return {name: value for name, (value,) in parse_qs(body, strict_parsing=True).items()}


class TestMetadata:
    @pytest.mark.parametrize(
        "path",
        [
            "/.well-known/oauth-authorization-server/api/things",
            "/.well-known/openid-configuration/api/things",
            "/api/things/.well-known/oauth-authorization-server",
            "/api/things/.well-known/openid-configuration",
        ],
    )
    def test_is_wherever_clients_look_for_it(self, function: Function, path: str) -> None:
        answered = function.send("GET", path, headers={"origin": "https://any.example"})

        assert answered.status == 200
        assert answered.headers["access-control-allow-origin"] == "*"
        assert answered.json == {
            "issuer": URL,
            "authorization_endpoint": f"{URL}/oauth/authorize",
            "token_endpoint": f"{URL}/oauth/token",
            "registration_endpoint": f"{URL}/oauth/register",
            "scopes_supported": ["things:read", "offline_access"],
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_methods_supported": ["none"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
            "client_id_metadata_document_supported": True,
            "jwks_uri": "https://login.example/jwks",
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
        }

    def test_of_the_resource_names_the_oauth_proxy_and_not_who_is_behind_it(self, function: Function) -> None:
        answered = function.send("GET", "/.well-known/oauth-protected-resource/api/things/mcp")

        assert answered.json["authorization_servers"] == [URL]

    @pytest.mark.parametrize("base", ["/tools", "/a/b", "/api"])
    def test_names_urls_below_the_base_path_of_a_mapped_domain(self, tmp_path: Path, base: str) -> None:
        url = f"https://mcp.example.com{base}/api/things"
        names = ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration")
        with proxied(tmp_path, public_url=f"https://mcp.example.com{base}") as function:
            paths = [path for name in names for path in (f"{name}{base}/api/things", f"{base}/api/things{name}")]
            documents = [function.send("GET", path).json for path in paths]
            answered = function.send(
                "GET", f"{base}/api/things/oauth/authorize?{urlencode({**ASKED, 'resource': f'{url}/mcp'})}"
            )

        assert [document["issuer"] for document in documents] == [url] * 4
        assert {document["token_endpoint"] for document in documents} == {f"{url}/oauth/token"}
        assert location(answered)[1]["redirect_uri"] == f"{url}/oauth/callback"

    def test_names_the_setting_that_is_missing_behind_a_load_balancer(self, tmp_path: Path) -> None:
        event = load_balancer("GET", "/api/things/.well-known/oauth-authorization-server")
        with proxied(tmp_path, public_url="") as function:
            answered = answer_of(function.handler(event, function.context))

        assert answered.status == 404
        assert "has to set STILE_PUBLIC_URL" in answered.json["error"]
        assert function.lines[-1]["unset"] == "STILE_PUBLIC_URL"

    def test_is_not_there_without_an_oauth_proxy(self, tmp_path: Path) -> None:
        config = CONFIG.partition("  oauth_proxy:")[0]
        with running_function(
            compiled(tmp_path, {**FILES, "config.yaml": config}), public_url="https://mcp.example.com"
        ) as function:
            answered = function.send("GET", "/.well-known/oauth-authorization-server/api/things")
            resource = function.send("GET", "/.well-known/oauth-protected-resource/api/things/mcp")

        assert (answered.status, answered.code) == (404, "not-found")
        assert resource.json["authorization_servers"] == ["https://login.example"]

    def test_other_origins_may_read_nothing_but_metadata(self, function: Function) -> None:
        headers = {"origin": "https://any.example"}

        assert function.send("POST", "/api/things/oauth/token", headers=headers).status == 403
        assert function.send("GET", "/api/things/oauth/authorize", headers=headers).status == 403


class TestRegistration:
    def test_gives_every_client_the_one_that_the_provider_knows(self, function: Function) -> None:
        uris = [REDIRECT, "http://127.0.0.1:49152/cb", "http://[::1]:8080/cb", "app.cli:/cb"]

        answered = register(
            function, {"redirect_uris": uris, "client_name": "c", "token_endpoint_auth_method": "client_secret_basic"}
        )

        assert answered.status == 201
        assert answered.headers["cache-control"] == "no-store"
        assert answered.json == {
            "client_id": "the-one",
            "redirect_uris": uris,
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        }

    @pytest.mark.parametrize(
        "uri",
        [
            "https://evil.example/callback",
            "https://client.example/callback",
            "https://client.example/callback?from=stile&to=evil",
            "https://client.example/callback?from=stile#",
            "https://client.example:443/callback?from=stile",
            "https://client.example@evil.example/callback?from=stile",
            "HTTPS://client.example/callback?from=stile",
            "http://127.0.0.1:1/cb/../other",
            "http://127.0.0.1:1/cb?x=1",
            "http://127.0.0.1:1@evil.example/cb",
            "http://127.0.0.1.evil.example/cb",
            "http://localhost/cb",
            "http://127.0.0.1:/cb",
            "http://127.0.0.1:123456/cb",
            "https://127.0.0.1/cb",
            "app.cli:/cb2",
            "",
            17,
        ],
    )
    def test_of_another_redirect_uri_is_refused(self, function: Function, uri: object) -> None:
        answered = register(function, {"redirect_uris": [REDIRECT, uri]})

        assert (answered.status, answered.json) == (
            400,
            {
                "error": "invalid_redirect_uri",
                "error_description": "the owner of this server does not allow this redirect URI",
            },
        )

    def test_of_another_redirect_uri_is_in_the_log_for_its_owner(self, function: Function) -> None:
        uri = "http://localhost:3334/oauth/callback"
        register(function, {"redirect_uris": [REDIRECT, uri]})
        authorize(function, redirect_uri=f"https://client.example/{'x' * 1_000}")
        register(function, {"redirect_uris": [REDIRECT]})

        registered, authorized, fine = function.lines
        assert (registered["reason"], registered["redirect_uri"]) == ("invalid_redirect_uri", uri)
        assert authorized["redirect_uri"].startswith("https://client.example/xxx")
        assert len(authorized["redirect_uri"]) == 200
        assert "redirect_uri" not in fine

    @pytest.mark.parametrize(
        ("metadata", "code"),
        [
            ({}, "invalid_redirect_uri"),
            ({"redirect_uris": []}, "invalid_redirect_uri"),
            ({"redirect_uris": [REDIRECT] * 21}, "invalid_redirect_uri"),
            ({"redirect_uris": REDIRECT}, "invalid_redirect_uri"),
            ("{", "invalid_client_metadata"),
            ("[]", "invalid_client_metadata"),
            (b"\xff", "invalid_client_metadata"),
        ],
    )
    def test_that_is_none_is_refused(self, function: Function, metadata: Any, code: str) -> None:
        answered = register(function, metadata)

        assert (answered.status, answered.json["error"]) == (400, code)
        assert (function.lines[0]["route"], function.lines[0]["reason"]) == ("oauth_register", code)

    def test_of_more_than_64_kib_is_not_read(self, function: Function) -> None:
        assert register(function, {"redirect_uris": [REDIRECT], "client_name": "x" * 65_536}).status == 413

    def test_has_to_be_said_to_be_json(self, function: Function) -> None:
        answered = function.send(
            "POST", "/api/things/oauth/register", body="{}", headers={"content-type": "text/plain"}
        )

        assert (answered.status, answered.json["error_description"]) == (400, "expected application/json")


class TestAuthorization:
    def test_goes_on_to_the_provider_as_its_own_client(self, function: Function) -> None:
        answered = authorize(function, prompt="consent", login_hint="ada", nonce="n", unknown="u")

        place, query = location(answered)
        state = query.pop("state")
        assert place == "https://login.example/authorize"
        assert query == {
            "policy": "one",
            "response_type": "code",
            "client_id": "the-one",
            "redirect_uri": CALLBACK,
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            "scope": "api://things/things:read api://things/things:write offline_access",
            "prompt": "consent",
            "login_hint": "ada",
        }
        assert "a state" not in state
        assert answered.headers["referrer-policy"] == "no-referrer"
        assert answered.headers["cache-control"] == "no-store"

    def test_of_a_client_that_wants_no_scope_asks_for_those_of_the_tools(self, function: Function) -> None:
        _, query = location(authorize(function, scope=None))

        assert query["scope"] == "api://things/things:read offline_access"

    @pytest.mark.parametrize(
        ("scope", "sent"),
        [
            ("things:write", "api://things/things:write offline_access"),
            ("openid profile email", "api://things/things:read offline_access"),
            ("other api://other/all things:read", "api://things/things:read offline_access"),
            ("api://things/other", "api://things/things:read offline_access"),
            ("things:read api://things/things:read", "api://things/things:read offline_access"),
            ("offline_access", "offline_access"),
        ],
    )
    def test_asks_for_scopes_of_its_tools_and_of_its_owner_and_no_others(
        self, function: Function, scope: str, sent: str
    ) -> None:
        assert location(authorize(function, scope=scope))[1]["scope"] == sent

    @pytest.mark.parametrize(
        ("extra", "scope", "sent"),
        [
            ("", "things:read offline_access", "things:read"),
            ("", "offline_access", "things:read"),
            ("", "anything:at.all things:write", "things:write"),
            ("extra_scopes: [openid]", "openid offline_access things:read", "openid things:read"),
        ],
    )
    def test_without_a_prefix_and_offline_access_among_the_owners_asks_for_neither(
        self, tmp_path: Path, extra: str, scope: str, sent: str
    ) -> None:
        changes = {"    scope_prefix: api://things/\n": "", "extra_scopes: [offline_access]": extra}
        with proxied(tmp_path, changes=changes) as function:
            assert location(authorize(function, scope=scope))[1]["scope"] == sent

    def test_says_for_which_api_only_where_the_provider_is_to_know(self, function: Function, keeping: Function) -> None:
        assert "resource" not in location(authorize(function))[1]
        assert location(authorize(keeping))[1]["resource"] == f"{URL}/mcp"
        assert location(authorize(keeping, resource=None))[1]["resource"] == f"{URL}/mcp"

    def test_takes_the_url_of_a_client_document_for_a_client(self, function: Function) -> None:
        _, query = location(authorize(function, client_id=CLIENT_DOCUMENT))

        assert query["client_id"] == "the-one"

    @pytest.mark.parametrize("client_id", ["another", "https://evil.example/client.json", "", None])
    def test_of_an_unknown_client_sends_nobody_anywhere(self, function: Function, client_id: str | None) -> None:
        answered = authorize(function, client_id=client_id)

        assert (answered.status, answered.json["error"]) == (401, "invalid_client")
        assert "location" not in answered.headers

    @pytest.mark.parametrize(
        "uri",
        ["https://evil.example/", "https://client.example.evil.example/callback?from=stile", "//evil.example", None],
    )
    def test_with_another_redirect_uri_sends_nobody_anywhere(self, function: Function, uri: str | None) -> None:
        answered = authorize(function, redirect_uri=uri)

        assert (answered.status, answered.json["error"]) == (400, "invalid_request")
        assert "location" not in answered.headers

    @pytest.mark.parametrize(
        ("changes", "code"),
        [
            ({"response_type": "token"}, "unsupported_response_type"),
            ({"response_type": None}, "unsupported_response_type"),
            ({"code_challenge": None}, "invalid_request"),
            ({"code_challenge": "short"}, "invalid_request"),
            ({"code_challenge_method": "plain"}, "invalid_request"),
            ({"code_challenge_method": None}, "invalid_request"),
            ({"request": "e30.e30."}, "request_not_supported"),
            ({"request_uri": "https://evil.example/"}, "request_not_supported"),
            ({"resource": "https://mcp.example.com/api/others/mcp"}, "invalid_target"),
        ],
    )
    def test_that_does_not_fit_is_told_to_the_client(
        self, function: Function, changes: dict[str, str | None], code: str
    ) -> None:
        place, query = location(authorize(function, **changes))

        assert place == "https://client.example/callback"
        assert (query["from"], query["error"], query["state"], query["iss"]) == ("stile", code, ASKED["state"], URL)

    @pytest.mark.parametrize(
        "query",
        [
            f"{urlencode(ASKED)}&redirect_uri=https%3A%2F%2Fevil.example",
            f"{urlencode(ASKED)}&state=again",
            f"{urlencode(ASKED)}&x=%FF",
            "&".join(f"p{number}=1" for number in range(41)),
            f"{urlencode(ASKED)}&x={'x' * 16_384}",
            urlencode({**ASKED, "state": "s" * 4_097}),
        ],
        ids=["two redirect URIs", "two states", "no UTF-8", "too many", "too long", "long state"],
    )
    def test_that_cannot_be_read_sends_nobody_anywhere(self, function: Function, query: str) -> None:
        answered = function.send("GET", f"/api/things/oauth/authorize?{query}")

        assert (answered.status, answered.json["error"]) == (400, "invalid_request")

    def test_replaces_nothing_that_the_owner_tells_the_sign_in_page(self, tmp_path: Path) -> None:
        with proxied(tmp_path, changes={"?policy=one": "?prompt=select_account"}) as function:
            _, query = location(authorize(function, prompt="none", login_hint="ada@example.com"))

        assert (query["prompt"], query["login_hint"]) == ("select_account", "ada@example.com")

    def test_writes_nothing_of_a_request_to_the_log(self, function: Function) -> None:
        authorize(function, login_hint="ada@example.com")

        (line,) = function.lines
        assert "ada@example.com" not in str(line)
        assert {line[name] for name in ("route", "outcome")} == {"oauth_authorize", "ok"}


class TestCallback:
    def state(self, function: Function, **changes: str | None) -> str:
        return location(authorize(function, **changes))[1]["state"]

    def back(self, function: Function, **answered: str) -> Answer:
        return function.send("GET", f"/api/things/oauth/callback?{urlencode(answered)}")

    @pytest.mark.parametrize("uri", [REDIRECT, "http://127.0.0.1:49152/cb", "app.cli:/cb"])
    def test_goes_on_to_the_client_with_its_own_state_and_our_name(self, function: Function, uri: str) -> None:
        state = self.state(function, redirect_uri=uri)

        place, query = location(self.back(function, code="one code", state=state, iss="https://login.example"))

        assert place == uri.partition("?")[0]
        query.pop("from", None)
        assert query == {"code": "one code", "state": "a state & more", "iss": URL}

    def test_of_a_client_without_a_state_has_none(self, function: Function) -> None:
        _, query = location(self.back(function, code="c", state=self.state(function, state=None)))

        assert "state" not in query

    def test_tells_the_client_what_the_provider_refused(self, function: Function) -> None:
        refused = {"error": "access_denied", "error_description": "They said no.", "error_uri": "https://x.example"}

        _, query = location(self.back(function, **refused, state=self.state(function)))

        assert (query["error"], query["error_description"]) == ("access_denied", "They said no.")
        assert "error_uri" not in query

    @pytest.mark.parametrize("refused", [{}, {"error": "Not A Code"}, {"error": "x", "error_description": 'a "b"'}])
    def test_passes_no_error_on_that_is_none(self, function: Function, refused: dict[str, str]) -> None:
        _, query = location(self.back(function, **refused, state=self.state(function)))

        assert query["error"] in ("server_error", "x")
        assert "error_description" not in query

    def test_of_another_provider_is_refused(self, function: Function) -> None:
        answered = self.back(function, code="c", state=self.state(function), iss="https://evil.example")

        assert answered.status == 400
        assert answered.json["error_description"] == "the answer is another provider's"

    @pytest.mark.parametrize(
        "state",
        [
            "",
            "a state & more",
            "WyJodHRwczovL2V2aWwuZXhhbXBsZS8iLG51bGxd",  # ["https://evil.example/",null]
            "W10=",
            "WyJodHRwOi8vMTI3LjAuMC4xL2NiIiwxXQ==",  # a state that is a number
            "e30=",
            "WyJhcHAuY2xpOi9jYiIsIlx1ZDgwMCJd",  # half of a surrogate pair
            "\N{SNOWMAN}",
            "/w==",
        ],
    )
    def test_leads_nowhere_but_where_the_owner_allows(self, function: Function, state: str) -> None:
        answered = self.back(function, code="c", state=state)

        assert (answered.status, answered.json["error"]) == (400, "invalid_request")
        assert "location" not in answered.headers

    def test_writes_no_code_to_the_log(self, function: Function) -> None:
        self.back(function, code="one code", state=self.state(function))

        assert "one code" not in str(function.lines)


class TestTokens:
    def asked(
        self, folder: Path, script: Any, form: Mapping[str, str] | str, **more: Any
    ) -> tuple[Answer, RawServer, Any]:
        with (
            running_server(script, takes_secrets=True) as provider,
            proxied(folder, token_url=f"{provider.url}token", **more) as function,
        ):
            return token(function, form), provider, function.lines[-1]

    def test_are_asked_for_as_the_one_client(self, tmp_path: Path) -> None:
        answered, provider, line = self.asked(
            tmp_path, answering(answer(json.dumps(TOKENS).encode())), {**EXCHANGED, "unknown": "u"}
        )

        assert answered.status == 200
        assert answered.headers["cache-control"] == "no-store"
        assert answered.json == {**TOKENS, "scope": "things:read openid"}
        assert form_of(provider.requests[0]) == {
            "grant_type": "authorization_code",
            "code": "one code",
            "code_verifier": VERIFIER,
            "redirect_uri": CALLBACK,
            "client_id": "the-one",
            "client_secret": SECRET,
        }
        assert (line["route"], line["outcome"]) == ("oauth_token", "ok")
        assert not {"opaque", "one code", VERIFIER} & set(map(str, line.values()))

    @pytest.mark.parametrize("scope", ["offline_access:all", "api://other/all openid", ""])
    def test_are_never_refreshed_with_scopes_of_others(self, tmp_path: Path, scope: str) -> None:
        form = {"grant_type": "refresh_token", "client_id": "the-one", "refresh_token": "one", "scope": scope}
        _, provider, _ = self.asked(tmp_path, answering(answer(json.dumps(TOKENS).encode())), form)

        assert "scope" not in form_of(provider.requests[0])

    def test_are_refreshed_with_the_scopes_that_the_provider_knows(self, tmp_path: Path) -> None:
        form = {
            "grant_type": "refresh_token",
            "client_id": CLIENT_DOCUMENT,
            "refresh_token": "r",
            "scope": "things:read",
            "resource": f"{URL}/mcp",
        }
        answered, provider, _ = self.asked(tmp_path, answering(answer(json.dumps(TOKENS).encode())), form)

        assert answered.status == 200
        assert form_of(provider.requests[0]) == {
            "grant_type": "refresh_token",
            "refresh_token": "r",
            "scope": "api://things/things:read",
            "client_id": "the-one",
            "client_secret": SECRET,
        }

    def test_are_got_without_the_redirect_uri_that_oauth_2_1_has_no_more(self, tmp_path: Path) -> None:
        form = {name: value for name, value in EXCHANGED.items() if name != "redirect_uri"}

        answered, provider, _ = self.asked(tmp_path, answering(answer(json.dumps(TOKENS).encode())), form)

        assert answered.status == 200
        assert form_of(provider.requests[0])["redirect_uri"] == CALLBACK

    def test_of_a_public_client_are_asked_for_without_a_secret(self, tmp_path: Path) -> None:
        changes = {"    client_secret: env:PROVIDER\n": "", "extra_scopes: [offline_access]": "resource: keep"}
        script = answering(answer(json.dumps({**TOKENS, "scope": None, "more": 1}).encode()))

        answered, provider, _ = self.asked(
            tmp_path, script, {**EXCHANGED, "resource": f"{URL}/mcp"}, changes=changes, secrets={}
        )

        assert answered.json == {"access_token": "opaque", "token_type": "Bearer", "expires_in": 60}
        assert "client_secret" not in form_of(provider.requests[0])
        assert form_of(provider.requests[0])["resource"] == f"{URL}/mcp"

    @pytest.mark.parametrize(
        ("changes", "status", "code"),
        [
            ({"client_id": "another"}, 401, "invalid_client"),
            ({"redirect_uri": "https://evil.example/"}, 400, "invalid_request"),
            ({"resource": "https://mcp.example.com/api/others/mcp"}, 400, "invalid_target"),
            ({"code": ""}, 400, "invalid_request"),
            ({"code_verifier": ""}, 400, "invalid_request"),
            ({"code_verifier": "short"}, 400, "invalid_request"),
            ({"grant_type": "client_credentials"}, 400, "unsupported_grant_type"),
            ({"grant_type": "password"}, 400, "unsupported_grant_type"),
            ({"grant_type": ""}, 400, "unsupported_grant_type"),
            ({"grant_type": "refresh_token"}, 400, "invalid_request"),
        ],
    )
    def test_are_not_asked_for_where_the_request_does_not_fit(
        self, tmp_path: Path, changes: dict[str, str], status: int, code: str
    ) -> None:
        answered, provider, line = self.asked(tmp_path, answering(answer()), {**EXCHANGED, **changes})

        assert (answered.status, answered.json["error"]) == (status, code)
        assert provider.accepted == 0
        assert (line["outcome"], line["reason"]) == ("rejected", code)

    @pytest.mark.parametrize("form", [f"{urlencode(EXCHANGED)}&code=two", "a=\N{SNOWMAN}", "&".join(["a=1"] * 41)])
    def test_are_not_asked_for_where_the_form_cannot_be_read(self, tmp_path: Path, form: str) -> None:
        answered, provider, _ = self.asked(tmp_path, answering(answer()), form)

        assert (answered.status, answered.json["error"]) == (400, "invalid_request")
        assert provider.accepted == 0

    def test_are_not_asked_for_with_more_than_64_kib(self, tmp_path: Path) -> None:
        answered, provider, _ = self.asked(tmp_path, answering(answer()), {**EXCHANGED, "code": "c" * 65_536})

        assert answered.status == 413
        assert provider.accepted == 0

    def test_that_the_provider_refuses_are_refused(self, tmp_path: Path) -> None:
        refusal = json.dumps({"error": "invalid_grant", "error_description": "Too late.", "trace": "internal"}).encode()

        answered, _, line = self.asked(tmp_path, answering(answer(refusal, status="400 Bad Request")), EXCHANGED)

        assert (answered.status, answered.json) == (400, {"error": "invalid_grant", "error_description": "Too late."})
        assert (line["outcome"], line["reason"]) == ("errors", "invalid_grant")

    @pytest.mark.parametrize(
        ("raw", "reason"),
        [
            (answer(b'{"error": "invalid_client"}', status="401 Unauthorized"), "invalid_client"),
            (answer(b'{"error": "invalid_client"}', status="400 Bad Request"), "invalid_client"),
            (answer(b"<html>", status="200 OK"), "no_token_answer"),
            (answer(b"[]", status="200 OK"), "no_token_answer"),
            (answer(b'{"access_token": 1, "token_type": "Bearer"}'), "no_token_answer"),
            (answer(b'{"access_token": "a"}'), "no_token_answer"),
            (answer(b'{"error": "invalid_grant"}', status="500 Internal Server Error"), "no_token_answer"),
            (answer(b"", status="400 Bad Request"), "no_token_answer"),
            (answer(b"", status="302 Found", Location="https://evil.example/"), "no_token_answer"),
            (answer(b"x" * 65_537), "HttpTooLarge"),
            (answer(DEEP), "no_token_answer"),
        ],
        ids=[
            "our client",
            "our client, by 400",
            "HTML",
            "list",
            "no text",
            "no type",
            "500",
            "nothing",
            "redirect",
            "large",
            "deep",
        ],
    )
    def test_that_do_not_come_are_not_the_clients_fault(self, tmp_path: Path, raw: bytes, reason: str) -> None:
        answered, _, line = self.asked(tmp_path, answering(raw), EXCHANGED)

        assert (answered.status, answered.json["error"]) == (502, "temporarily_unavailable")
        assert (line["outcome"], line["reason"]) == ("errors", reason)

    def test_are_not_asked_for_without_the_secret(self, tmp_path: Path) -> None:
        answered, provider, line = self.asked(tmp_path, answering(answer()), EXCHANGED, secrets={})

        assert (answered.status, line["reason"]) == (
            502,
            "CredentialUnavailable: env:PROVIDER: there is no such variable for api/things",
        )
        assert provider.accepted == 0

    @pytest.mark.parametrize("reference", ["secret:PROVIDER", "env:PROVIDER"])
    @pytest.mark.parametrize("status", ["401 Unauthorized", "400 Bad Request"])
    def test_are_asked_for_with_the_secret_read_again_once_it_was_refused(
        self, tmp_path: Path, status: str, reference: str
    ) -> None:
        refusal = answer(b'{"error": "invalid_client"}', status=status)
        kept = iter(["the old secret of the client", "the new secret of the client"])
        environ = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "eu-central-1"}
        with (
            running_api(lambda _: Reply({"SecretString": next(kept)}), takes_secrets=True) as aws,
            running_server(answering(refusal, answer(json.dumps(TOKENS).encode())), takes_secrets=True) as provider,
            closing(HttpClient()) as http,
        ):
            arn = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:stile/PROVIDER-AbC123"
            credentials = CredentialSource(environ, http=http)
            store = SecretStore(
                aws=AwsJson(http, {**environ, "AWS_ENDPOINT_URL": aws.url}, credentials=credentials),
                prefix="stile",
                environ=read_settings({"STILE_BUNDLES": "folder", "STILE_SECRET_ARNS": arn}).secrets,
            )
            with proxied(
                tmp_path,
                token_url=f"{provider.url}token",
                changes={"env:PROVIDER": reference},
                outgoing=OutgoingServices(secrets=store),
            ) as function:
                assert [token(function, EXCHANGED).status for _ in range(2)] == [502, 200]

        said = [form_of(request)["client_secret"] for request in provider.requests]
        assert said == ["the old secret of the client", "the new secret of the client"]

    def test_are_asked_for_only_where_the_rules_of_addresses_allow(self, tmp_path: Path) -> None:
        answered, provider, line = self.asked(tmp_path, answering(answer()), EXCHANGED, addresses=STRICT)

        assert (answered.status, line["reason"]) == (502, "AddressRefused")
        assert provider.accepted == 0

    def test_are_asked_for_once_though_the_provider_hangs_up(self, tmp_path: Path) -> None:
        """A code is good once: a second request with it would have the first one's tokens revoked."""

        def hang_up(peer: Peer) -> None:
            peer.read_request()

        answered, provider, line = self.asked(tmp_path, hang_up, EXCHANGED)

        assert (answered.status, line["reason"]) == (502, "HttpUnreachable")
        assert len(provider.requests) == 1
