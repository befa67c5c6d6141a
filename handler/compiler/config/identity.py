"""Read ``identity``, the authentication of callers: issuers, API keys, trusted APIs, and the OAuth proxy."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from handler.bundle.identity import (
    SECRET_REFERENCE,
    ApiKey,
    AssertionClient,
    Identity,
    Issuer,
    OAuthProxy,
    VerificationKey,
    is_for_trials,
)
from handler.bundle.upstream import SECRET_SOURCES
from handler.compiler.config.table import FOR_TRIALS, ISSUER
from handler.compiler.config.values import PUBLIC_ALGORITHMS, SHA256, public_key_pem, read_https_url
from handler.compiler.problems import Problems
from handler.compiler.source.yaml_section import Section
from handler.errors.authoring import KeyRefused

PROXY_KEY, OLD_PROXY_KEY = "oauth_proxy", "bridge"

MAX_SECRETS = 2
"""Secrets of one client: the new one, and the old one until the client has the new one."""

MIN_SECRET_BYTES = 32
"""The least size of an HS256 secret. Source: RFC 7518, section 3.2."""

SECRET_NAME = re.compile(r"[A-Za-z0-9_]+")


def read_identity(sections: Sequence[Section], problems: Problems) -> Identity:
    """Read issuers, API keys, trusted APIs and the OAuth proxy. A section has an issuer, or API keys, or both."""
    issuers: list[Issuer] = []
    for section in sections:
        if not section.accept(*ISSUER):
            continue
        issuer = _issuer(section, problems)
        if issuer.issuer in [other.issuer for other in issuers]:
            which = f'the issuer "{issuer.issuer}"' if issuer.issuer else "an issuer without a name"
            sentence = f"{which} appears twice: give it one entry with all keys"
            problems.add(section.place("issuer"), sentence, code="duplicate-issuer")
        issuers.append(issuer)
    trusted_apis = [entry for section in sections for entry in section.sections("trust_authorizer")]
    return Identity(
        issuers=tuple(issuers),
        api_keys=tuple(_api_keys(sections, problems)),
        trusted_apis=tuple(entry.text("api") for entry in trusted_apis),
        # their authorizers read the token from the header that the function reads
        typed_apis=tuple(entry.text("api") for entry in trusted_apis if entry.text("identity_source")),
        oauth_proxy=_oauth_proxy(sections, issuers, problems),
    )


def _issuer(section: Section, problems: Problems) -> Issuer:
    keys = _keys(section, problems)
    audiences = section.values("audience")
    if not keys and "jwksendpoint" not in section:
        sentence = "an issuer needs the keys of its tokens: expected jwksendpoint or keys"
        problems.add(section.place(), sentence, code="missing-keys")
    if not audiences:
        sentence = "no audience: any token of this issuer is taken, also one made for another API"
        problems.warn(section.key_place(section.accept(*ISSUER)[0]), sentence, code="no-audience")
    if "algorithms" in section and not section.has_items("algorithms"):
        section.refuse("algorithms", f"some of {', '.join(PUBLIC_ALGORITHMS)}")
    if section.text("jwksendpoint").endswith(("/openid-configuration", "/oauth-authorization-server")):
        section.refuse("jwksendpoint", "the URL of the keys, which this discovery document has as jwks_uri")
    return Issuer(
        issuer=section.text("issuer"),
        audiences=audiences,
        subject=section.text("subject"),
        required_claims=section.values("claims"),
        algorithms=section.values("algorithms") if "algorithms" in section else PUBLIC_ALGORITHMS,
        jwks_url=read_https_url(section, "jwksendpoint", "the https URL of a JSON Web Key Set")
        if "jwksendpoint" in section
        else "",
        keys=keys,
        leeway_s=section.integer("leeway_s"),
    )


def _keys(section: Section, problems: Problems) -> tuple[VerificationKey, ...]:
    entries = section.sections("keys")
    keys: list[VerificationKey] = []
    for entry in entries:
        algorithm, text, id_ = entry.text("algorithm"), entry.text("key"), entry.text("keyid")
        if algorithm == "HS256":
            _judge_secret(entry, text)
        elif algorithm not in PUBLIC_ALGORITHMS:
            entry.refuse("algorithm", f"one of HS256, {', '.join(PUBLIC_ALGORITHMS)}")
        else:
            try:
                text = public_key_pem(text, algorithm=algorithm)
            except KeyRefused as exc:
                entry.fault("key", str(exc), code="invalid-key")
        if not id_ and (len(entries) > 1 or "jwksendpoint" in section):
            entry.refuse("keyid", "the id that tokens name this key by, as it is not the only one")
        elif id_ and id_ in [other.id for other in keys]:
            problems.add(entry.place("keyid"), f'two keys have the id "{id_:.80}"', code="duplicate-key-id")
        keys.append(VerificationKey(id=id_, algorithm=algorithm, key=text))
    return tuple(keys)


def _judge_secret(entry: Section, text: str) -> None:
    """Report a text that is not a valid secret for HS256. The messages do not show it."""
    source, colon, _ = text.strip().partition(":")
    if text.startswith(SECRET_REFERENCE):
        if not SECRET_NAME.fullmatch(text.removeprefix(SECRET_REFERENCE)):
            sentence = "expected env:NAME, with letters, digits and _ in NAME"
            entry.fault("key", sentence, code="invalid-secret-reference")
    elif is_for_trials(key=text):
        entry.fault("key", FOR_TRIALS, code="development-issuer")
    elif colon and source.lower() in ("arn", *SECRET_SOURCES):  # as the secret itself, it could be guessed
        sentence = (
            "expected env:NAME for a key of HS256; the function takes the ARN of a secret in Secrets Manager as "
            "STILE_SECRET_NAME, or among its STILE_SECRET_ARNS"
        )
        entry.fault("key", sentence, code="invalid-secret-reference")
    elif not text:
        sentence = "expected the secret, or env:NAME, which refers to STILE_SECRET_NAME"
        entry.fault("key", sentence, code="invalid-secret")
    elif "-----BEGIN" in text:
        entry.fault("key", "HS256 takes a secret, not a PEM block", code="invalid-secret")
    elif len(text.encode()) < MIN_SECRET_BYTES:
        sentence = (
            f"a secret of less than {MIN_SECRET_BYTES} bytes can be guessed from one token: expected env:NAME, "
            f"for {MIN_SECRET_BYTES} random bytes or more"
        )
        entry.warn("key", sentence, code="weak-secret")


def _api_keys(sections: Iterable[Section], problems: Problems) -> list[ApiKey]:
    """Read the keys of all sections of ``identity``."""
    keys: list[ApiKey] = []
    for entry in (entry for section in sections for entry in section.sections("api_keys")):
        name = entry.text("name")
        if name and name in [other.name for other in keys]:
            problems.add(entry.place("name"), f'two keys are named "{name}"', code="duplicate-api-key")
        claims = entry.json_object("claims") if "claims" in entry else None
        keys.append(ApiKey(name=name, sha256=entry.text("sha256").lower(), expires=_expires(entry), claims=claims))
    return keys


def _expires(entry: Section) -> int:
    text = entry.text("expires")
    if not text:
        return 0
    try:
        expires = expiry_in(text)
    except ValueError:
        entry.refuse("expires", "a date or a time in ISO 8601, such as 2030-01-31")
        return 0
    if expires <= time.time():
        entry.warn("expires", "it has expired: make a new key by `stile key`, or remove this one", code="expired-key")
    return expires


def expiry_in(text: str) -> int:
    """Return the UNIX time of a date or time, in UTC if it names no zone. ``ValueError`` if it is not in ISO 8601."""
    moment = datetime.fromisoformat(text)
    # 0 means never. The first second of 1970 becomes the next one, which has expired as well.
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()) or 1


def _oauth_proxy(sections: Sequence[Section], issuers: Sequence[Issuer], problems: Problems) -> OAuthProxy | None:
    """Read the one OAuth proxy, below the issuer to whose provider it leads."""
    proxies = [(section, key) for section in sections for key in section.accept(PROXY_KEY, OLD_PROXY_KEY)]
    for section, key in proxies:
        if key == OLD_PROXY_KEY:
            sentence = f"{section.name(key)} is the old name of {section.name(PROXY_KEY)}"
            problems.warn(section.key_place(key), sentence, code="old-key")
    for section, key in proxies[1:]:
        sentence = "there is an OAuth proxy already: an endpoint has one at most"
        problems.add(section.key_place(key), sentence, code="duplicate-oauth-proxy")
    if not proxies:
        return None
    above, key = proxies[0]
    section, issuer = above.section(key), above.text("issuer")
    if not issuer:
        sentence = "an OAuth proxy leads to the provider of an issuer: give that its name, issuer"
        problems.add(section.place(), sentence, code="missing-issuer")
    if not section.has_items("redirect_uris"):
        section.refuse("redirect_uris", "the URIs that clients may be sent back to")
    expected_url = "an https URL of the provider"
    proxy = OAuthProxy(
        issuer=issuer,
        authorize_url=read_https_url(section, "authorize_url", expected_url, fragment=False),
        token_url=read_https_url(section, "token_url", expected_url, fragment=False),
        client_id=section.text("client_id"),
        client_secret=section.text("client_secret"),
        redirect_uris=section.values("redirect_uris"),
        client_metadata_documents=section.values("client_metadata_documents"),
        scope_prefix=section.text("scope_prefix"),
        extra_scopes=section.values("extra_scopes"),
        resource=section.choice("resource"),
        assertion_clients=_assertion_clients(section, issuer, problems),
    )
    able = [each.issuer for each in issuers if each.jwks_url or any(key.algorithm != "HS256" for key in each.keys)]
    for number, client in enumerate(proxy.assertion_clients):
        if client.issuer and client.issuer not in able:
            sentence = (
                f"assertions for assertion_clients[{number}] cannot be verified: expected an entry of identity with "
                "the issuer of this client, and jwksendpoint or public keys"
            )
            problems.add(above.key_place(key), sentence, code="unknown-assertion-issuer")
    return proxy


def _assertion_clients(section: Section, issuer: str, problems: Problems) -> tuple[AssertionClient, ...]:
    """Read the clients that exchange identity assertions. Their ids are not those that public clients get."""
    public = (section.text("client_id"), *section.values("client_metadata_documents"))
    clients: list[AssertionClient] = []
    for entry in section.sections("assertion_clients"):
        client_id, digests = entry.text("id"), entry.values("sha256")
        if not 1 <= len(digests) <= MAX_SECRETS or not all(map(SHA256.fullmatch, digests)):
            # The message does not show an invalid digest: it may be the secret itself.
            sentence = "expected the SHA-256 of one or two secrets in hexadecimal, as `stile key NAME` prints it"
            entry.fault("sha256", sentence, code="invalid-value")
        if client_id in public:
            entry.refuse("id", "an id of its own: clients without a secret have this one")
        if client_id in [other.id for other in clients]:
            sentence = f'two clients have the id "{client_id:.80}"'
            problems.add(entry.place("id"), sentence, code="duplicate-assertion-client")
        sha256 = tuple(digest.lower() for digest in digests)
        clients.append(AssertionClient(id=client_id, sha256=sha256, issuer=entry.text("issuer", issuer)))
    return tuple(clients)
