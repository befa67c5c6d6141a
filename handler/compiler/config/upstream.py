"""Read ``upstream`` of ``config.yaml``: the API's URL, its credential, and the headers of requests.

``auth`` has one mode, so that modes cannot contradict each other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from handler.bundle.identity import Identity
from handler.bundle.model import MAX_ANSWER_S
from handler.bundle.upstream import (
    OF_THE_CONNECTION,
    SAMPLE,
    SIGNED_SERVICES,
    SLASHES_OF_A_HOST,
    BearerAuth,
    ClientCredentialsAuth,
    HeaderAuth,
    NoAuth,
    OAuthClient,
    PassthroughAuth,
    SecretText,
    SigV4Auth,
    TenantPart,
    TokenExchangeAuth,
    Upstream,
    UpstreamAuth,
    is_reference,
    parse_reference,
)
from handler.compiler.config.values import claim_fault, is_http_url, is_on_loopback, is_printable_ascii, read_https_url
from handler.compiler.problems import Place, Problems
from handler.compiler.source.yaml_section import Section
from handler.http.addresses import keys_in
from handler.json_schema.formats import SIMPLE


def read_upstream(section: Section, problems: Problems) -> Upstream:
    """Read the API behind the endpoint. ``judge_passthrough`` checks ``passthrough``, which needs ``identity``."""
    url = _url(section)
    tenant = _tenant(section, problems, url=url)
    auth = _auth(section, problems, url=PLACE.sub(SAMPLE, url))
    credential = auth.header if isinstance(auth, HeaderAuth) else ""
    headers, claim_headers, forward_headers = _headers(section, problems, credential=credential)
    timeout_s = section.number("timeout_s")
    if timeout_s > MAX_ANSWER_S:
        sentence = f"callers get an answer within {MAX_ANSWER_S:g} s, so a longer timeout has no effect"
        section.warn("timeout_s", sentence, code="ineffective-timeout")
    return Upstream(
        url=url,
        timeout_s=timeout_s,
        max_bytes=section.integer("max_bytes"),
        headers=headers,
        claim_headers=claim_headers,
        forward_headers=forward_headers,
        documents=section.choice("documents"),
        auth=auth,
        tenant=tenant,
    )


PLACE = re.compile(r"\{claim:([^{}\s]{1,200})\}")
"""The place for a tenant in the URL."""

VARIABLE = re.compile(r"[$%]|\{\{|^(env|secret|ssm):|\benv\.")  # as shells, templates and languages write it


def _url(section: Section) -> str:
    url = section.text("url")
    sample = PLACE.sub(SAMPLE, url)
    if "@" in url:  # not shown: it may hold a password
        section.fault("url", "expected a URL without credentials in it", code="credentials-in-url")
    elif url and not is_http_url(sample):
        hint = " (no variable is replaced; config.STAGE.yaml has the URL of a stage)" if VARIABLE.search(url) else ""
        section.refuse("url", f"the http(s) URL of a GraphQL API, such as https://api.example.com/graphql{hint}")
    for name in keys_in(url) if is_http_url(sample) else ():
        sentence = (
            f'the bundle stores the value of "{name}": expected a key in upstream.auth, if the API takes it in a header'
        )
        section.warn("url", sentence, code="key-in-url")
    return url


def _tenant(section: Section, problems: Problems, *, url: str) -> TenantPart | None:
    """Read the place for the tenant and the pattern of its name; ``None`` if the URL has no place, or a wrong one."""
    if not PLACE.search(url):
        if "tenant_pattern" in section:
            sentence = (
                'expected a place for the tenant in "upstream.url", such as https://{claim:tenant}.example.com/graphql'
            )
            section.fault("tenant_pattern", sentence, code="invalid-tenant-url")
        return None
    before, claim, after = PLACE.split(url, maxsplit=1)
    if fault := _tenant_fault(before, after) or claim_fault(claim):
        section.fault("url", fault, code="invalid-tenant-url")
        return None
    pattern = _tenant_pattern(section, problems)
    return TenantPart(before=before, claim=claim, after=after, pattern=pattern) if pattern else None


def _tenant_fault(before: str, after: str) -> str:
    """Return why a place is refused; empty string if it is a label below a domain, or a segment of the path."""
    sample = f"{before}{SAMPLE}{after}"
    if PLACE.search(after):
        return "expected one claim, got more"
    in_host = before.count("/") == SLASHES_OF_A_HOST
    if not is_http_url(sample) or not (_LABEL if in_host else _SEGMENT).fullmatch(f"{before}|{after}"):
        return "expected {claim:…} as a whole label of the host, or as a whole segment of the path"
    if in_host and not _DOMAIN.match(after) and not is_on_loopback(sample):
        return "expected the claim below a domain of your own, as in {claim:tenant}.example.com"
    return ""


_LABEL = re.compile(r"https?://([\w-]+\.)*\|\.[^|]+")
_SEGMENT = re.compile(r"https?://[^/?#|]+/([^/?#|]+/)*\|([/?][^#|]*)?")
_DOMAIN = re.compile(r"(\.[\w-]+)*\.[\w-]+\.[a-zA-Z][\w-]*\.?([:/?]|$)")
_SIMPLE_NAMES = re.compile(rf"\^?{SIMPLE}\$?(?:\|\^?{SIMPLE}\$?)*", re.DOTALL)
"""Names have 100 characters at most, so ``re`` tries few ways to match one (``bundle/upstream.py``)."""


def _tenant_pattern(section: Section, problems: Problems) -> str:
    pattern, at = section.text("tenant_pattern"), section.place("tenant_pattern")
    if not pattern:
        sentence = (
            '"upstream.url" has a place for the tenant: expected the pattern of its name in "upstream.tenant_pattern", '
            "such as [a-z0-9-]+"
        )
        problems.add(section.place("url"), sentence, code="missing-tenant-pattern")
        return ""
    try:
        if _SIMPLE_NAMES.fullmatch(pattern):
            re.compile(pattern, re.ASCII)
            return pattern
        reason = (
            "expected characters and classes, one of which at most has a ?, *, + or {1,30}, "
            "as in [a-z][a-z0-9-]{1,30} or acme|beta[0-9]; groups are not taken"
        )
    except (re.error, OverflowError) as exc:
        reason = f"not a regular expression: {exc}"
    problems.add(at, f'the pattern "{pattern:.60}": {reason}', code="invalid-pattern")
    return ""


NONE = "none"
CREDENTIAL_HEADERS = frozenset({"authorization", "x-api-key"})
"""Headers that ``headers`` refuses because they belong in ``auth``."""

AWS_HOST = re.compile(
    r".+\.(appsync|execute|vpc-lattice-svcs)(?:-api)?\.([a-z]{2}[a-z-]*-\d)\.(?:amazonaws\.com|on\.aws)"
)


def _auth(upstream: Section, problems: Problems, *, url: str) -> UpstreamAuth:
    """Read the mode of ``upstream.auth``; ``NoAuth`` if it is missing or is not exactly one mode."""
    if not upstream.is_mapping("auth"):
        if upstream.text("auth") not in ("", NONE):  # not shown: it may be the secret itself
            upstream.fault("auth", f"expected {NONE}, or a mapping with {_MODES}", code="invalid-auth-mode")
        return NoAuth()
    section = upstream.section("auth")
    modes = [key for key in section if key in READERS]
    if len(modes) != 1:
        sentence = f'"upstream.auth": expected one mode, as in {{bearer: secret:TOKEN}}; the modes are {_MODES}'
        problems.add(section.place(), sentence, code="invalid-auth-mode")
        return NoAuth()
    return READERS[modes[0]](section, url)


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
    sentence = (
        "the tokens of callers are passed on to the API, which can use them for everything their owners may do: "
        "token_exchange gives the API a token of its own"
    )
    problems.warn(at, sentence, code="token-passthrough")


def _header(section: Section, _: str) -> HeaderAuth:
    name = section.text("header").lower()
    if not may_carry_key(name):
        section.refuse("header", "the name of a header that the API takes its key in, such as x-api-key")
    return HeaderAuth(header=name, value=_secret(section, "value"))


def may_carry_key(name: str) -> bool:
    """Return whether ``upstream.auth`` may name a header (in lower case)."""
    normal = _normal(name)
    forbidden = (normal in FORBIDDEN and name not in CREDENTIAL_HEADERS) or normal.startswith(FORBIDDEN_PREFIXES)
    return not forbidden and NAME.fullmatch(name) is not None


def _token_exchange(section: Section, _: str) -> TokenExchangeAuth:
    inner = section.section("token_exchange")
    if "actor_token_type" in inner and "actor_token" not in inner:
        inner.fault("actor_token_type", "actor_token is missing", code="missing-actor-token")
    return TokenExchangeAuth(
        client=_client(inner),
        subject_type=inner.choice("subject_token_type"),
        actor_token=_secret(inner, "actor_token") if "actor_token" in inner else SecretText(""),
        actor_type=inner.choice("actor_token_type"),
    )


def _client(section: Section) -> OAuthClient:
    return OAuthClient(
        token_url=read_https_url(section, "token_url", "the https URL of the token endpoint"),
        client_id=section.text("client_id"),
        client_secret=_secret(section, "client_secret"),
        client_auth=section.choice("client_auth"),
        scope=" ".join(section.values("scope")),
        audience=section.text("audience"),
        resource=section.text("resource"),
    )


def _sigv4(section: Section, url: str) -> SigV4Auth:
    inner = section.section("sigv4")
    host = AWS_HOST.fullmatch(urlsplit(url).hostname or "") if is_http_url(url) else None
    host_service = {"appsync": "appsync", "execute": "execute-api"}.get(host[1], host[1]) if host else ""
    service = inner.text("service", host_service)
    if service not in SIGNED_SERVICES:
        inner.refuse("service", f"one of {', '.join(SIGNED_SERVICES)}")
    return SigV4Auth(service=service, region=inner.text("region", host[2] if host else ""))


def _secret(section: Section, key: str) -> SecretText:
    """Read a secret's reference, or the secret itself, which cannot be published. The messages do not show it."""
    text = section.text(key)
    if is_reference(text):
        if parse_reference(text) is None:
            sentence = f"expected {_REFERENCES}, with letters, digits, _ and, but for env, - and . in NAME"
            section.fault(key, sentence, code="invalid-secret-reference")
    elif not text or not is_printable_ascii(text):
        section.fault(key, f"expected {_REFERENCES}", code="invalid-secret-reference")
    else:
        sentence = f"a literal secret cannot be published: expected {_REFERENCES}"
        if parse_reference(reference := text.rpartition(" ")[2]):
            sentence = f"{reference} is within a text: expected bearer: {reference}, or it alone, for the whole text"
        section.warn(key, sentence, code="literal-secret")
    return SecretText(text)


READERS: Mapping[str, Callable[[Section, str], UpstreamAuth]] = {
    "bearer": lambda auth, _: BearerAuth(token=_secret(auth, "bearer")),
    "header": _header,
    "passthrough": lambda auth, _: PassthroughAuth(audience=auth.section("passthrough").text("audience")),
    "client_credentials": lambda auth, _: ClientCredentialsAuth(client=_client(auth.section("client_credentials"))),
    "token_exchange": _token_exchange,
    "sigv4": _sigv4,
}
"""Mode of ``upstream.auth`` -> its reader, which takes the section and the URL of the API."""

_MODES = ", ".join(READERS)
_REFERENCES = "secret:NAME, ssm:NAME or env:NAME"

FORBIDDEN = OF_THE_CONNECTION | {
    *("authorization", "content-encoding", "content-type", "cookie", "expect", "forwarded", "keep-alive", "x-api-key"),
}
"""Headers that authors cannot use: credentials have their own setting, the rest belongs to the connection."""

FORBIDDEN_PREFIXES = ("x-forwarded-", "x-amz-", "x-amzn-", "proxy-")

NEVER_FORWARDED = frozenset({"accept", "accept-encoding", "user-agent", "x-authorization"})
"""Headers that Stile sets itself, or that may hold a credential."""

CLAIM = "claim:"
NAME = re.compile(r"[a-z0-9_-]+")


def _headers(
    section: Section, problems: Problems, *, credential: str
) -> tuple[dict[str, str], dict[str, str], tuple[str, ...]]:
    """Return the fixed headers, header -> claim, and the forwarded headers, with names in lower case.

    ``credential`` is the header that ``upstream.auth`` names; empty if none.
    """
    fixed: dict[str, str] = {}
    claims: dict[str, str] = {}
    forwarded: list[str] = []
    faults = {_normal(credential): '"upstream.auth" sets it'} if credential else {}
    entries = section.section("headers")
    for key in entries:
        name, value = key.lower(), entries.text(key)
        fault = header_fault(name) or _value_fault(value) or faults.get(_normal(name), "")
        if fault:
            problems.add(entries.place(key), f"upstream.headers{_quoted(key)}: {fault}", code="invalid-header")
        faults[_normal(name)] = "it appears twice"
        if value.startswith(CLAIM):
            claims[name] = value.removeprefix(CLAIM)
        else:
            fixed[name] = value
    faults = {name: '"upstream.headers" sets it' if fault.startswith("it") else fault for name, fault in faults.items()}
    for text, place in section.texts("forward_headers"):
        name = text.lower()
        fault = header_fault(name) or faults.get(_normal(name), "")
        if not fault and _normal(name) in NEVER_FORWARDED:
            fault = "this header cannot be forwarded"
        if fault:
            problems.add(place, f"upstream.forward_headers{_quoted(text)}: {fault}", code="invalid-header")
        faults[_normal(name)] = "it appears twice"
        forwarded.append(name)
    return fixed, claims, tuple(forwarded)


def header_fault(name: str) -> str:
    """Return why a header (name in lower case) is refused, or an empty string. Some servers take ``_`` for ``-``."""
    normal = _normal(name)
    if normal in FORBIDDEN or normal.startswith(FORBIDDEN_PREFIXES):
        credential = normal in ("authorization", "cookie", "x-api-key")
        return "this header cannot be used" + (": credentials belong in upstream.auth" if credential else "")
    if not NAME.fullmatch(name):
        return "not a header name: expected letters, digits, - and _"
    return ""


def _value_fault(value: str) -> str:
    if not is_printable_ascii(value):
        return "expected printable ASCII"
    if is_reference(value):
        return "a reference to a secret belongs in upstream.auth, as {header: NAME, value: secret:NAME}"
    return claim_fault(value.removeprefix(CLAIM)) if value.startswith(CLAIM) else ""


def _quoted(name: str) -> str:
    """Quote a name for a sentence; empty string if it is none, as "authorization: bearer 8f3c…" would show a secret."""
    return f' "{name}"' if NAME.fullmatch(name.lower()) else ""


def _normal(name: str) -> str:
    """Normalize a name as servers do that turn headers into variables: for them ``x_role`` is ``x-role``."""
    return name.lower().replace("_", "-")
