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
    SigV4Auth,
    TokenExchangeAuth,
    Upstream,
    UpstreamAuth,
    parse_reference,
)
from tests.compiler.config.test_config import QUERY
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


def refused(folder: Path, upstream: str, *, more: str = "") -> list[str]:
    lines = reported(folder, {"index.graphql": QUERY, "config.yaml": f"upstream: {upstream}\n{more}"})
    return [line.partition(": ")[2] for line in lines]


def warned(folder: Path, upstream: str, *, more: str = "") -> list[str]:
    config = f"upstream: {upstream}\n{more}"
    lines = doubted(folder, {"index.graphql": QUERY, "config.yaml": config})
    return [line.partition(": ")[2] for line in lines if line.startswith("config.yaml")]


def client(**more: str) -> OAuthClient:
    known = {"token_url": TOKEN_URL, "client_id": "c", "client_secret": "secret:K", "client_auth": "basic"}
    return OAuthClient(**{**known, "scope": "", "audience": "", "resource": "", **more})


def oauth(mode: str, more: str = "", *, client: str = "") -> str:
    return f"{{{mode}: {{{client or CLIENT}{more}}}}}"


CLIENT = f"token_url: '{TOKEN_URL}', client_id: c, client_secret: secret:K"


@pytest.mark.parametrize(
    ("auth", "expected"),
    [
        ("none", NoAuth()),
        ("", NoAuth()),
        ("{bearer: secret:K}", BearerAuth(token="secret:K")),
        ("{bearer: ssm:api.key-2}", BearerAuth(token="ssm:api.key-2")),
        ("{header: X-Api-Key, value: env:API_KEY}", HeaderAuth(header="x-api-key", value="env:API_KEY")),
        ("{header: authorization, value: secret:K}", HeaderAuth(header="authorization", value="secret:K")),
        (oauth("client_credentials"), ClientCredentialsAuth(client=client())),
        (
            oauth("client_credentials", ", client_auth: post, scope: 'a b', audience: x, resource: 'urn:y'"),
            ClientCredentialsAuth(client=client(client_auth="post", scope="a b", audience="x", resource="urn:y")),
        ),
        (
            oauth("token_exchange"),
            TokenExchangeAuth(client=client(), subject_type="access_token", actor_token="", actor_type="access_token"),
        ),
        (
            oauth(
                "token_exchange", ", scope: [a, b], subject_token_type: jwt, actor_token: env:A, actor_token_type: jwt"
            ),
            TokenExchangeAuth(client=client(scope="a b"), subject_type="jwt", actor_token="env:A", actor_type="jwt"),
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


REFERENCES = "expected secret:NAME, ssm:NAME or env:NAME"
NAMES = f"{REFERENCES}, with letters, digits, _ and, but for env, - and . in NAME"
MODES = "bearer, header, passthrough, client_credentials, token_exchange, sigv4"


@pytest.mark.parametrize(
    ("auth", "line"),
    [
        ("some-secret", f'"upstream.auth": expected none, or a mapping with {MODES}'),
        ("{}", f'"upstream.auth": expected one mode, of {MODES}'),
        ("{bearer: secret:K, sigv4: {}}", f'"upstream.auth": expected one mode, of {MODES}'),
        ("{bearer: secret:K, value: x}", f'unknown key "upstream.auth.value": expected one of {MODES}'),
        ("{bearer: ''}", f'"upstream.auth.bearer": {REFERENCES}'),
        ('{bearer: "a\\nb"}', f'"upstream.auth.bearer": {REFERENCES}'),
        ("{bearer: größer}", f'"upstream.auth.bearer": {REFERENCES}'),
        ("{bearer: 'secret:'}", f'"upstream.auth.bearer": {NAMES}'),
        ("{bearer: secret:a/b}", f'"upstream.auth.bearer": {NAMES}'),
        ("{bearer: secret:../orders/K}", f'"upstream.auth.bearer": {NAMES}'),
        ("{bearer: 'ssm:a..b'}", f'"upstream.auth.bearer": {NAMES}'),
        ("{bearer: env:A-B}", f'"upstream.auth.bearer": {NAMES}'),
        ("{header: x-key}", f'"upstream.auth.value": {REFERENCES}'),
        (
            "{header: host, value: secret:K}",
            ("\"upstream.auth.header\": expected the name of a header that the API takes its key in, such as "
            "x-api-key, got 'host'"),
        ),
        (oauth("client_credentials", client=CLIENT.replace("https", "http")),
         ("\"upstream.auth.client_credentials.token_url\": expected the https URL of the token endpoint, "
         "got 'http://login.example.com/token'")),
        (oauth("client_credentials", client=CLIENT.replace("login", "a:b@login")),
         '"upstream.auth.client_credentials.token_url": expected a URL without credentials in it'),
        (oauth("client_credentials", client=CLIENT.replace("client_id: c", "client_id: ''")),
         ("\"upstream.auth.client_credentials.client_id\": expected the id that the identity provider knows the "
         "endpoint by, got ''")),
        (oauth("client_credentials", ", resource: 'https://a/#b'"),
         ("\"upstream.auth.client_credentials.resource\": expected the absolute URI of the API, without a fragment, "
         "got 'https://a/#b'")),
        (oauth("token_exchange", ", actor_token_type: jwt"),
         '"upstream.auth.token_exchange.actor_token_type": there is no actor_token'),
        ("{sigv4: {region: eu-central-1, service: s3}}",
         "\"upstream.auth.sigv4.service\": expected one of appsync, execute-api, vpc-lattice-svcs, got 's3'"),
        ("{sigv4: {service: appsync}}",
         '"upstream.auth.sigv4.region": expected the region of the API, such as eu-central-1'),
        ("{passthrough: {}}",
         ('"upstream.auth.passthrough.audience": '
         "expected whom the API takes tokens for: what it asks the claim aud for")),
    ],
)  # fmt: skip
def test_mode_that_cannot_be_is_reported(tmp_path: Path, auth: str, line: str) -> None:
    assert line in refused(tmp_path, f"{{auth: {auth}}}")


def test_headers_and_auth_do_not_set_the_same_header(tmp_path: Path) -> None:
    lines = refused(tmp_path, "{auth: {header: X-Key, value: secret:K}, headers: {x_key: a}, forward_headers: [x-key]}")

    assert lines == [
        'upstream.headers "x_key": "upstream.auth" sets it',
        'upstream.forward_headers "x-key": "upstream.headers" sets it',
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
        assert line == (
            '"upstream.auth.passthrough": a token may be passed on only to whom it is for: expected "api" among the '
            "audience of every issuer in identity"
        )
    else:
        assert auth_of(tmp_path, auth, more=identity) == PassthroughAuth(audience="api")


def test_passing_tokens_on_needs_issuers_and_is_doubted(tmp_path: Path) -> None:
    assert len(refused(tmp_path, "{auth: {passthrough: {audience: api}}}")) == 1
    assert warned(tmp_path, "{auth: {passthrough: {audience: api}}}", more=IDENTITY.replace("AUDIENCE", "api")) == [
        (
            "the tokens of callers are passed on to the API, which can do with them whatever their owners can: "
            "token_exchange gives it one of its own"
        )
    ]


@pytest.mark.parametrize("auth", [f"{{bearer: {LITERAL}}}", f"{{header: x-key, value: {LITERAL}}}"])
def test_literal_secret_is_doubted_without_being_shown(tmp_path: Path, auth: str) -> None:
    (line,) = warned(tmp_path, f"{{auth: {auth}}}")

    assert line.endswith(f"a secret stands here, which cannot be published: {REFERENCES}")
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

    assert line.startswith(f'upstream.forward_headers "{name}": this header cannot be used')


@pytest.mark.parametrize("name", ["accept", "Accept-Encoding", "user-agent", "x-authorization"])
def test_header_that_stile_says_itself_is_not_forwarded(tmp_path: Path, name: str) -> None:
    assert refused(tmp_path, f"{{forward_headers: [{name}]}}") == [
        f'upstream.forward_headers "{name}": this header cannot be forwarded'
    ]


def test_header_is_set_or_forwarded_and_once(tmp_path: Path) -> None:
    lines = refused(
        tmp_path, "{headers: {x-role: claim:role, x-a: b}, forward_headers: [X_Role, x-a, x-b, X-B, 'x y']}"
    )

    assert lines == [
        'upstream.forward_headers "X_Role": "upstream.headers" sets it',
        'upstream.forward_headers "x-a": "upstream.headers" sets it',
        'upstream.forward_headers "X-B": it stands here twice',
        'upstream.forward_headers "x y": this is no header name: expected letters, digits, - and _',
    ]


@pytest.mark.parametrize(
    "text",
    ["", "K", "env", "env:", "env:../K", "secret:a/b", "secret:.", "secret:..", "secret:.a", "secret:a.", "ssm:/a",
     "other:K", "secret:a\n", "secret:" + "a" * 129],
)  # fmt: skip
def test_reference_that_could_lead_elsewhere_is_none(text: str) -> None:
    assert parse_reference(text) is None
