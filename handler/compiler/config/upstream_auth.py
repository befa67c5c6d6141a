"""Read ``upstream.auth``, the credential for the API. It has one mode, so that modes cannot contradict each other."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from handler.bundle.identity import Identity
from handler.bundle.upstream import (
    SIGNED_SERVICES,
    BearerAuth,
    ClientCredentialsAuth,
    HeaderAuth,
    NoAuth,
    OAuthClient,
    PassthroughAuth,
    SecretText,
    SigV4Auth,
    TokenExchangeAuth,
    UpstreamAuth,
    is_reference,
    parse_reference,
)
from handler.compiler.config.upstream_headers import FORBIDDEN, FORBIDDEN_PREFIXES, NAME, is_printable_ascii
from handler.compiler.config.urls import is_http_url, read_https_url
from handler.compiler.problems import Place, Problems
from handler.compiler.source.yaml_section import Section

NONE = "none"
CREDENTIAL_HEADERS = frozenset({"authorization", "x-api-key"})
"""Headers that ``headers`` refuses because they belong in ``auth``."""

AWS_HOST = re.compile(
    r".+\.(appsync|execute|vpc-lattice-svcs)(?:-api)?\.([a-z]{2}[a-z-]*-\d)\.(?:amazonaws\.com|on\.aws)"
)
REGION = re.compile(r"[a-z]{2}[a-z-]*-\d")


def read_auth(upstream: Section, problems: Problems, *, url: str) -> UpstreamAuth:
    """Read the mode of ``upstream.auth``; ``NoAuth`` if it is missing or is not exactly one mode."""
    if not upstream.is_mapping("auth"):
        if upstream.text("auth") not in ("", NONE):
            # Not shown: it may be the secret itself.
            problems.add(
                upstream.place("auth"),
                f'"upstream.auth": expected {NONE}, or a mapping with {_MODES}',
                code="invalid-auth-mode",
            )
        return NoAuth()
    section = upstream.section("auth")
    modes = [key for key in section.keys() if key in READERS]  # noqa: SIM118 - a Section is not a dict
    section.expect(*READERS, *(("value",) if "header" in modes else ()))
    if len(modes) != 1:
        problems.add(section.place(), f'"upstream.auth": expected one mode, of {_MODES}', code="invalid-auth-mode")
        return NoAuth()
    return READERS[modes[0]](section, problems, url)


def judge_passthrough(auth: UpstreamAuth, identity: Identity, *, at: Place, problems: Problems) -> None:
    """Report unsafe passthrough of callers' tokens: MCP forbids it if their audience does not include the API.

    Source: MCP 2026-07-28, basic/authorization ("Access Token Privilege Restriction").
    """
    if not isinstance(auth, PassthroughAuth):
        return
    if not identity.issuers or not all(auth.audience in issuer.audiences for issuer in identity.issuers):
        sentence = (
            '"upstream.auth.passthrough": a token may be passed on only to its audience: expected this audience in the '
            "audience of every issuer in identity"
        )
        problems.add(at, sentence, code="passthrough-audience")
    problems.warn(
        at,
        "the tokens of callers are passed on to the API, which can use them for everything their owners may do: "
        "token_exchange gives the API a token of its own",
        code="token-passthrough",
    )


def _bearer(section: Section, problems: Problems, _: str) -> BearerAuth:
    return BearerAuth(token=_secret(section, "bearer", problems))


def _header(section: Section, problems: Problems, _: str) -> HeaderAuth:
    name = section.text("header").lower()
    spelt = name.replace("_", "-")
    forbidden = (spelt in FORBIDDEN and name not in CREDENTIAL_HEADERS) or spelt.startswith(FORBIDDEN_PREFIXES)
    if forbidden or not NAME.fullmatch(name):
        section.refuse("header", "the name of a header that the API takes its key in, such as x-api-key")
    return HeaderAuth(header=name, value=_secret(section, "value", problems))


def _passthrough(section: Section, _: Problems, __: str) -> PassthroughAuth:
    inner = section.section("passthrough")
    inner.expect()
    if not inner.text("audience"):
        inner.refuse("audience", "the audience that the API expects in the claim aud of a token")
    return PassthroughAuth(audience=inner.text("audience"))


def _client_credentials(section: Section, problems: Problems, _: str) -> ClientCredentialsAuth:
    inner = section.section("client_credentials")
    inner.expect()
    return ClientCredentialsAuth(client=_client(inner, problems))


def _token_exchange(section: Section, problems: Problems, _: str) -> TokenExchangeAuth:
    inner = section.section("token_exchange")
    inner.expect()
    if "actor_token_type" in inner and "actor_token" not in inner:
        problems.add(
            inner.place("actor_token_type"),
            f"{inner.name('actor_token_type')}: actor_token is missing",
            code="missing-actor-token",
        )
    return TokenExchangeAuth(
        client=_client(inner, problems),
        subject_type=inner.choice("subject_token_type"),
        actor_token=_secret(inner, "actor_token", problems) if "actor_token" in inner else SecretText(""),
        actor_type=inner.choice("actor_token_type"),
    )


def _client(section: Section, problems: Problems) -> OAuthClient:
    if not section.text("client_id") or not is_printable_ascii(section.text("client_id")):
        section.refuse("client_id", "the id that the identity provider knows the endpoint by")
    return OAuthClient(
        token_url=read_https_url(section, "token_url", "the https URL of the token endpoint", problems),
        client_id=section.text("client_id"),
        client_secret=_secret(section, "client_secret", problems),
        client_auth=section.choice("client_auth"),
        scope=" ".join(text for text, _ in section.texts("scope")),
        audience=section.text("audience"),
        resource=_resource(section),
    )


def _resource(section: Section) -> str:
    """Read the API's absolute URI without a fragment. Source: RFC 8707, section 2."""
    resource = section.text("resource")
    if resource and (not is_printable_ascii(resource) or not urlsplit(resource).scheme or "#" in resource):
        section.refuse("resource", "the absolute URI of the API, without a fragment")
    return resource


def _sigv4(section: Section, _: Problems, url: str) -> SigV4Auth:
    inner = section.section("sigv4")
    inner.expect()
    host = AWS_HOST.fullmatch(urlsplit(url).hostname or "") if is_http_url(url) else None
    host_service = {"appsync": "appsync", "execute": "execute-api"}.get(host[1], host[1]) if host else ""
    service, region = inner.text("service", host_service), inner.text("region", host[2] if host else "")
    if service not in SIGNED_SERVICES:
        inner.refuse("service", f"one of {', '.join(SIGNED_SERVICES)}")
    if not REGION.fullmatch(region):
        inner.refuse("region", "the region of the API, such as eu-central-1")
    return SigV4Auth(service=service, region=region)


def _secret(section: Section, key: str, problems: Problems) -> SecretText:
    """Read a secret's reference, or the secret itself, which cannot be published. The messages do not show it."""
    text, place, name = section.text(key), section.place(key), section.name(key)
    if is_reference(text):
        if parse_reference(text) is None:
            problems.add(
                place,
                f"{name}: expected {_REFERENCES}, with letters, digits, _ and, but for env, - and . in NAME",
                code="invalid-secret-reference",
            )
    elif not text or not is_printable_ascii(text):
        problems.add(place, f"{name}: expected {_REFERENCES}", code="invalid-secret-reference")
    else:
        problems.warn(
            place,
            f"{name}: a literal secret cannot be published: expected {_REFERENCES}",
            code="literal-secret",
        )
    return SecretText(text)


Reader = Callable[[Section, Problems, str], UpstreamAuth]

READERS: Mapping[str, Reader] = {
    "bearer": _bearer,
    "header": _header,
    "passthrough": _passthrough,
    "client_credentials": _client_credentials,
    "token_exchange": _token_exchange,
    "sigv4": _sigv4,
}
_MODES = ", ".join(READERS)
_REFERENCES = "secret:NAME, ssm:NAME or env:NAME"
