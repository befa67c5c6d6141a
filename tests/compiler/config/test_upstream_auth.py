"""``upstream.auth``, headers from claims and forwarded headers, as authors write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from handler.bundle.upstream import (
    BearerAuth,
    ClientCredentialsAuth,
    HeaderAuth,
    NoAuth,
    OAuthClient,
    PassthroughAuth,
    SecretText,
    SigV4Auth,
    TokenExchangeAuth,
    Upstream,
    UpstreamAuth,
    parse_reference,
)
from tests.compiler.config.test_config import QUERY
from tests.support.diagnostics import Reported
from tests.support.endpoints import compiled, doubted, reported

TOKEN_URL = "https://login.example.com/token"
LITERAL = "literal-0815-4711-secret"
IDENTITY = (
    "identity: [{issuer: a, audience: [me, api], jwksendpoint: 'https://a.b/'},"
    " {issuer: b, audience: AUDIENCE, jwksendpoint: 'https://a.b/'}]"
)


def read(folder: Path, upstream: str, *, more: str = "") -> Upstream:
    return compiled(folder, {"index.graphql": QUERY, "config.yaml": f"upstream: {upstream}\n{more}"}).bundle.upstream


def auth_of(folder: Path, auth: str, *, url: str = "https://a.b/", more: str = "") -> UpstreamAuth:
    return read(folder, f"{{url: '{url}', auth: {auth}}}", more=more).auth


def refused(folder: Path, upstream: str, *, more: str = "") -> list[Reported]:
    return reported(folder, {"index.graphql": QUERY, "config.yaml": f"upstream: {upstream}\n{more}"})


def warned(folder: Path, upstream: str, *, more: str = "") -> list[Reported]:
    config = f"upstream: {upstream}\n{more}"
    lines = doubted(folder, {"index.graphql": QUERY, "config.yaml": config})
    return [line for line in lines if line.startswith("config.yaml")]


def client(**more: str) -> OAuthClient:
    known = {
        "token_url": TOKEN_URL,
        "client_id": "c",
        "client_auth": "basic",
        "scope": "",
        "audience": "",
        "resource": "",
    }
    return OAuthClient(client_secret=SecretText("secret:K"), **{**known, **more})


def oauth(mode: str, more: str = "", *, client: str = "") -> str:
    return f"{{{mode}: {{{client or CLIENT}{more}}}}}"


CLIENT = f"token_url: '{TOKEN_URL}', client_id: c, client_secret: secret:K"


@pytest.mark.parametrize(
    ("auth", "expected"),
    [
        ("none", NoAuth()),
        ("", NoAuth()),
        ("{bearer: secret:K}", BearerAuth(token=SecretText("secret:K"))),
        ("{bearer: ssm:api.key-2}", BearerAuth(token=SecretText("ssm:api.key-2"))),
        ("{header: X-Api-Key, value: env:API_KEY}", HeaderAuth(header="x-api-key", value=SecretText("env:API_KEY"))),
        ("{header: authorization, value: secret:K}", HeaderAuth(header="authorization", value=SecretText("secret:K"))),
        (oauth("client_credentials"), ClientCredentialsAuth(client=client())),
        (
            oauth("client_credentials", ", client_auth: post, scope: 'a b', audience: x, resource: 'urn:y'"),
            ClientCredentialsAuth(client=client(client_auth="post", scope="a b", audience="x", resource="urn:y")),
        ),
        (
            oauth("token_exchange"),
            TokenExchangeAuth(
                client=client(), subject_type="access_token", actor_token=SecretText(""), actor_type="access_token"
            ),
        ),
        (
            oauth(
                "token_exchange", ", scope: [a, b], subject_token_type: jwt, actor_token: env:A, actor_token_type: jwt"
            ),
            TokenExchangeAuth(
                client=client(scope="a b"), subject_type="jwt", actor_token=SecretText("env:A"), actor_type="jwt"
            ),
        ),
        ("{sigv4: {service: appsync, region: eu-central-1}}", SigV4Auth(service="appsync", region="eu-central-1")),
    ],
)
def test_mode_is_read(tmp_path: Path, auth: str, expected: UpstreamAuth) -> None:
    assert auth_of(tmp_path, auth) == expected
    assert warned(tmp_path, f"{{auth: {auth}}}") == []


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("abc.appsync-api.eu-central-1.amazonaws.com", SigV4Auth(service="appsync", region="eu-central-1")),
        ("abc.execute-api.us-gov-west-1.amazonaws.com", SigV4Auth(service="execute-api", region="us-gov-west-1")),
        ("a-0.7d67968.vpc-lattice-svcs.us-west-2.on.aws", SigV4Auth(service="vpc-lattice-svcs", region="us-west-2")),
    ],
)
def test_host_of_aws_tells_service_and_region(tmp_path: Path, host: str, expected: SigV4Auth) -> None:
    assert auth_of(tmp_path, "{sigv4: {}}", url=f"https://{host}/graphql") == expected


MODES = "bearer, header, passthrough, client_credentials, token_exchange, sigv4"


@pytest.mark.parametrize(
    ("auth", "line"),
    [
        ("some-secret", f'invalid-auth-mode: "upstream.auth" & {MODES}'),
        ("{}", f'invalid-auth-mode: "upstream.auth" & one mode & {MODES}'),
        ("{bearer: secret:K, sigv4: {}}", f'invalid-auth-mode: "upstream.auth" & one mode & {MODES}'),
        ("{bearer: secret:K, value: x}", f'unknown-key: "upstream.auth.value" & {MODES}'),
        ("{bearer: ''}", 'invalid-secret-reference: "upstream.auth.bearer"'),
        ('{bearer: "a\\nb"}', 'invalid-secret-reference: "upstream.auth.bearer"'),
        ("{bearer: größer}", 'invalid-secret-reference: "upstream.auth.bearer"'),
        ("{bearer: 'secret:'}", 'invalid-secret-reference: "upstream.auth.bearer" & letters'),
        ("{bearer: secret:a/b}", 'invalid-secret-reference: "upstream.auth.bearer" & letters'),
        ("{bearer: secret:../orders/K}", 'invalid-secret-reference: "upstream.auth.bearer" & letters'),
        ("{bearer: 'ssm:a..b'}", 'invalid-secret-reference: "upstream.auth.bearer" & letters'),
        ("{bearer: env:A-B}", 'invalid-secret-reference: "upstream.auth.bearer" & letters'),
        ("{header: x-key}", 'invalid-secret-reference: "upstream.auth.value"'),
        (
            "{header: host, value: secret:K}",
            'invalid-value: "upstream.auth.header"',
        ),
        (oauth("client_credentials", client=CLIENT.replace("https", "http")),
         ('invalid-value: "upstream.auth.client_credentials.token_url"')),
        (oauth("client_credentials", client=CLIENT.replace("login", "a:b@login")),
         'credentials-in-url: "upstream.auth.client_credentials.token_url"'),
        (oauth("client_credentials", client=CLIENT.replace("client_id: c", "client_id: ''")),
         ('invalid-value: "upstream.auth.client_credentials.client_id"')),
        (oauth("client_credentials", ", resource: 'https://a/#b'"),
         ('invalid-value: "upstream.auth.client_credentials.resource"')),
        (oauth("token_exchange", ", actor_token_type: jwt"),
         'missing-actor-token: "upstream.auth.token_exchange.actor_token_type"'),
        ("{sigv4: {region: eu-central-1, service: s3}}",
         'invalid-value: "upstream.auth.sigv4.service"'),
        ("{sigv4: {service: appsync}}",
         'invalid-value: "upstream.auth.sigv4.region"'),
        ("{passthrough: {}}",
         ('invalid-value: "upstream.auth.passthrough.audience"')),
    ],
)  # fmt: skip
def test_mode_that_cannot_be_is_reported(tmp_path: Path, auth: str, line: str) -> None:
    assert line in refused(tmp_path, f"{{auth: {auth}}}")


def test_headers_and_auth_do_not_set_the_same_header(tmp_path: Path) -> None:
    lines = refused(tmp_path, "{auth: {header: X-Key, value: secret:K}, headers: {x_key: a}, forward_headers: [x-key]}")

    assert lines == [
        'invalid-header: "x_key" & "upstream.auth"',
        'invalid-header: "x-key" & "upstream.headers"',
    ]


@pytest.mark.parametrize(
    ("audience", "wrong"), [("[api]", False), ("[other, api]", False), ("[me]", True), ("[]", True), ("api2", True)]
)
def test_token_may_be_passed_on_only_where_every_issuer_makes_it_for_the_api(
    tmp_path: Path, audience: str, wrong: bool
) -> None:
    auth, identity = "{passthrough: {audience: api}}", IDENTITY.replace("AUDIENCE", audience)
    if wrong:
        (line,) = refused(tmp_path, f"{{auth: {auth}}}", more=identity)
        assert line == 'passthrough-audience: "upstream.auth.passthrough" & this audience'
    else:
        assert auth_of(tmp_path, auth, more=identity) == PassthroughAuth(audience="api")


def test_passing_tokens_on_needs_issuers_and_is_doubted(tmp_path: Path) -> None:
    assert len(refused(tmp_path, "{auth: {passthrough: {audience: api}}}")) == 1
    assert warned(tmp_path, "{auth: {passthrough: {audience: api}}}", more=IDENTITY.replace("AUDIENCE", "api")) == [
        "token-passthrough"
    ]


@pytest.mark.parametrize("auth", [f"{{bearer: {LITERAL}}}", f"{{header: x-key, value: {LITERAL}}}"])
def test_literal_secret_is_doubted_without_being_shown(tmp_path: Path, auth: str) -> None:
    (line,) = warned(tmp_path, f"{{auth: {auth}}}")

    assert line == "literal-secret: secret:NAME, ssm:NAME or env:NAME"
    assert LITERAL not in line


def test_headers_from_claims_and_forwarded_ones_are_read(tmp_path: Path) -> None:
    upstream = read(
        tmp_path,
        "{headers: {X-Hasura-Role: 'claim:https://hasura.io/role', x-org: claim:org.id, x-a: b},"
        " forward_headers: [X-Request-Id, traceparent]}",
    )

    assert upstream.headers == {"x-a": "b"}
    assert upstream.claim_headers == {"x-hasura-role": "https://hasura.io/role", "x-org": "org.id"}
    assert upstream.forward_headers == ("x-request-id", "traceparent")


@pytest.mark.parametrize(
    "name",
    ["authorization", "Cookie", "host", "forwarded", "x-forwarded-for", "X-Amz-Date", "x-amzn-trace-id", "connection",
     "te", "x-api-key", "proxy-authorization", "content-type", "expect", "x_api_key"],
)  # fmt: skip
def test_header_of_a_credential_or_the_connection_is_not_forwarded(tmp_path: Path, name: str) -> None:
    (line,) = refused(tmp_path, f"{{forward_headers: [{name}]}}")

    assert line == f'invalid-header: upstream.forward_headers "{name}"'


@pytest.mark.parametrize("name", ["accept", "Accept-Encoding", "user-agent", "x-authorization"])
def test_header_that_stile_says_itself_is_not_forwarded(tmp_path: Path, name: str) -> None:
    assert refused(tmp_path, f"{{forward_headers: [{name}]}}") == [
        f'invalid-header: upstream.forward_headers "{name}" & forwarded'
    ]


def test_header_is_set_or_forwarded_and_once(tmp_path: Path) -> None:
    lines = refused(
        tmp_path, "{headers: {x-role: claim:role, x-a: b}, forward_headers: [X_Role, x-a, x-b, X-B, 'x y']}"
    )

    assert lines == [
        'invalid-header: "X_Role" & "upstream.headers"',
        'invalid-header: "x-a" & "upstream.headers"',
        'invalid-header: "X-B" & twice',
        "invalid-header: upstream.forward_headers & header name",
    ]


@pytest.mark.parametrize(
    "text",
    ["", "K", "env", "env:", "env:../K", "secret:a/b", "secret:.", "secret:..", "secret:.a", "secret:a.", "ssm:/a",
     "other:K", "secret:a\n", "secret:" + "a" * 129],
)  # fmt: skip
def test_reference_that_could_lead_elsewhere_is_none(text: str) -> None:
    assert parse_reference(text) is None


@pytest.mark.parametrize("text", ["Bearer secret:TOKEN", "JWT env:TOKEN"])
def test_reference_within_a_text_is_doubted_with_the_mode_that_takes_it(tmp_path: Path, text: str) -> None:
    reference = text.partition(" ")[2]

    lines = warned(tmp_path, f"{{url: 'https://a.b/', auth: {{header: authorization, value: '{text}'}}}}")

    assert lines == [f"config.yaml:1:70 literal-secret: {reference} is within a text & bearer: {reference}"]


@pytest.mark.parametrize("claim", ["$jwt.org.id", "$org.id", "claim:org.id"])
def test_sign_before_the_name_of_a_claim_is_reported(tmp_path: Path, claim: str) -> None:
    lines = refused(tmp_path, f"{{url: 'https://a.b/', headers: {{x-org: 'claim:{claim}'}}}}")

    assert lines == [f'invalid-header: "{claim}" is not the name of a claim & expected org.id']


def test_sign_before_the_claim_of_the_tenant_is_reported(tmp_path: Path) -> None:
    url = "https://{claim:$jwt.tenant}.example.com/graphql"

    assert refused(tmp_path, f"{{url: '{url}', tenant_pattern: '[a-z]+'}}") == [
        "config.yaml:1:17 invalid-tenant-url: expected tenant"
    ]
