"""Read ``oauth_proxy``, below its issuer: the OAuth proxy for clients that cannot register with the provider."""

from __future__ import annotations

import re

from handler.bundle.identity import AssertionClient, OAuthProxy
from handler.bundle.upstream import parse_reference
from handler.compiler.config.urls import is_http_url, read_https_url
from handler.compiler.problems import Place, Problems
from handler.compiler.source.yaml_section import Section

MAX_SECRETS = 2
"""Secrets of one client: the new one, and the old one until the client has the new one."""

SHA256 = re.compile(r"[0-9a-f]{64}")

SCOPE = re.compile(r"[\x21\x23-\x5B\x5D-\x7E]+")
"""The form of a scope. Source: RFC 6749, section 3.3."""

SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):.")
OWN_MACHINE = re.compile(r"http://(127\.0\.0\.1|localhost|\[::1\])(:[0-9]{1,5})?([/?]|$)")

ACTIVE_SCHEMES = ("about", "blob", "data", "file", "filesystem", "ftp", "javascript", "vbscript", "view-source")
"""Schemes that browsers run or open themselves. Any other is an app's own (RFC 8252, section 7.1)."""

_EXPECTED_URL = "an https URL of the provider"


def read_oauth_proxy(section: Section, issuer: str, problems: Problems) -> OAuthProxy:
    """Read the OAuth proxy to the provider of one issuer."""
    section.expect()
    if not issuer:
        problems.add(
            section.place(),
            "an OAuth proxy leads to the provider of an issuer: give that its name, issuer",
            code="missing-issuer",
        )
    return OAuthProxy(
        issuer=issuer,
        authorize_url=read_https_url(section, "authorize_url", _EXPECTED_URL, problems, fragment=False),
        token_url=read_https_url(section, "token_url", _EXPECTED_URL, problems, fragment=False),
        client_id=_client_id(section),
        client_secret=_client_secret(section, problems),
        redirect_uris=_redirect_uris(section, problems),
        client_metadata_documents=_documents(section, problems),
        scope_prefix=_scope_prefix(section),
        extra_scopes=_extra_scopes(section, problems),
        resource=section.choice("resource"),
        assertion_clients=_assertion_clients(section, issuer, problems),
    )


def _assertion_clients(section: Section, issuer: str, problems: Problems) -> tuple[AssertionClient, ...]:
    """Read the clients that exchange identity assertions. Their ids are not those that public clients get."""
    public = [section.text("client_id"), *(url for url, _ in section.texts("client_metadata_documents"))]
    clients: list[AssertionClient] = []
    for entry in section.sections("assertion_clients"):
        entry.expect()
        client = _assertion_client(entry, issuer, problems)
        if client.id in public:
            entry.refuse("id", "an id of its own: clients without a secret have this one")
        if client.id in [other.id for other in clients]:
            problems.add(
                entry.place("id"), f'two clients have the id "{client.id:.80}"', code="duplicate-assertion-client"
            )
        clients.append(client)
    return tuple(clients)


def _assertion_client(entry: Section, issuer: str, problems: Problems) -> AssertionClient:
    """Read one client. A message does not show an invalid digest: it may be the secret itself."""
    client_id = entry.text("id")
    if not client_id or not client_id.isascii() or not client_id.isprintable():
        entry.refuse("id", "the id of a client, as the provider writes it into the claim client_id")
    digests = tuple(text.lower() for text, _ in entry.texts("sha256"))
    if not 1 <= len(digests) <= MAX_SECRETS or not all(map(SHA256.fullmatch, digests)):
        expected = "the SHA-256 of one or two secrets in hexadecimal, as `stile key NAME` prints it"
        problems.add(entry.place("sha256"), f"{entry.name('sha256')}: expected {expected}", code="invalid-value")
    return AssertionClient(id=client_id, sha256=digests, issuer=entry.text("issuer", issuer))


def _client_id(section: Section) -> str:
    client_id = section.text("client_id")
    if not client_id or not client_id.isascii() or not client_id.isprintable():
        section.refuse("client_id", "the id of the one client that the provider knows")
    return client_id


def _client_secret(section: Section, problems: Problems) -> str:
    """Read a secret reference. A message does not show an invalid one: it may be the secret itself."""
    text = section.text("client_secret")
    if text and parse_reference(text) is None:
        name = section.name("client_secret")
        problems.add(
            section.place("client_secret"),
            f"{name}: expected env:NAME, secret:NAME or ssm:NAME",
            code="invalid-secret-reference",
        )
    return text


def _redirect_uris(section: Section, problems: Problems) -> tuple[str, ...]:
    uris = section.texts("redirect_uris")
    if not uris:
        section.refuse("redirect_uris", "the URIs that clients may be sent back to")
    for uri, place in uris:
        if fault := _redirect_fault(uri):
            problems.add(place, f"{section.name('redirect_uris')}: {fault}", code="invalid-redirect-uri")
    return tuple(uri for uri, _ in uris)


def _redirect_fault(uri: str) -> str:
    """Return why a redirect URI is invalid, or an empty string.

    Source: RFC 8252, section 7; RFC 9700, section 2.1.
    """
    scheme = SCHEME.match(uri)
    if not scheme or not uri.isascii() or not uri.isprintable() or re.search(r'[ #\\<>"]', uri):
        return "expected an absolute URI without spaces and fragment"
    if "*" in uri:
        return "expected a whole URI: codes that go where a pattern leads may go to anybody"
    if scheme[1] in ACTIVE_SCHEMES:
        return f"expected https, http on loopback or an app's own scheme, not {scheme[1]}"
    if scheme[1] == "http" and not OWN_MACHINE.match(uri):
        return "http is for 127.0.0.1, localhost and [::1] only: expected https"
    if scheme[1] in ("http", "https") and ("@" in uri or not is_http_url(uri)):
        return "expected a URL without a user in it"
    return ""


def _documents(section: Section, problems: Problems) -> tuple[str, ...]:
    urls = section.texts("client_metadata_documents")
    for url, place in urls:
        if not is_http_url(url) or not url.startswith("https:") or url.count("/") < 3 or "#" in url:
            problems.add(
                place,
                f"{section.name('client_metadata_documents')}: expected the https URL of a client ID metadata document",
                code="invalid-client-id",
            )
    return tuple(url for url, _ in urls)


def _scope_prefix(section: Section) -> str:
    prefix = section.text("scope_prefix")
    if prefix and not SCOPE.fullmatch(prefix):
        section.refuse(
            "scope_prefix", "the prefix that the provider puts before the names of scopes, such as api://ID/"
        )
    return prefix


def _extra_scopes(section: Section, problems: Problems) -> tuple[str, ...]:
    scopes: list[tuple[str, Place]] = section.texts("extra_scopes")
    for scope, place in scopes:
        if not SCOPE.fullmatch(scope):
            problems.add(
                place,
                f"{section.name('extra_scopes')}: expected a scope, characters without spaces and quotes",
                code="invalid-scope",
            )
    return tuple(scope for scope, _ in scopes)
