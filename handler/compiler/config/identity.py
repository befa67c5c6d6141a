"""Read ``identity``, the authentication of callers: issuers, API keys and trusted APIs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from handler.bundle.identity import (
    SECRET_REFERENCE,
    ApiKey,
    Identity,
    Issuer,
    OAuthProxy,
    VerificationKey,
    is_for_trials,
)
from handler.bundle.upstream import SECRET_SOURCES
from handler.compiler.config.oauth_proxy import read_oauth_proxy
from handler.compiler.config.public_keys import PUBLIC_ALGORITHMS, public_key_pem
from handler.compiler.config.table import ISSUER
from handler.compiler.config.urls import read_https_url
from handler.compiler.problems import Problems
from handler.compiler.source.yaml_section import Section
from handler.errors.authoring import KeyRefused
from handler.text.sentences import did_you_mean

CALLER_KEYS = ("api_keys", "trust_authorizer")
"""Settings that admit callers without a token for this function to verify."""

PROXY_KEY, OLD_PROXY_KEY = "oauth_proxy", "bridge"

MIN_SECRET_BYTES = 32
"""The least size of an HS256 secret. Source: RFC 7518, section 3.2."""

SECRET_NAME = re.compile(r"[A-Za-z0-9_]+")
API_ID = re.compile(r"[A-Za-z0-9]+")

AUTHORIZATION = "authorization"
AUTHORIZATION_SOURCE = "$request.header.authorization"
"""The header that an authorizer reads, in our spelling and in API Gateway's."""


def read_identity(sections: Sequence[Section], problems: Problems) -> Identity:
    """Read issuers, API keys, trusted APIs and the OAuth proxy. A section has an issuer, or API keys, or both."""
    issuers: list[Issuer] = []
    for section in sections:
        section.expect()
        if not section.accept(*ISSUER):
            continue
        issuer = _issuer(section, problems)
        if issuer.issuer in [other.issuer for other in issuers]:
            which = f'the issuer "{issuer.issuer}"' if issuer.issuer else "an issuer without a name"
            problems.add(
                section.place("issuer"),
                f"{which} appears twice: give it one entry with all keys",
                code="duplicate-issuer",
            )
        issuers.append(issuer)
    proxy = _oauth_proxy(sections, problems)
    if proxy:
        _judge_assertion_issuers(proxy, issuers, sections=sections, problems=problems)
    trusted = [found for section in sections for found in _trusted_apis(section, problems)]
    return Identity(
        issuers=tuple(issuers),
        api_keys=tuple(read_api_keys(sections, problems)),
        trusted_apis=tuple(api for api, _ in trusted),
        typed_apis=tuple(api for api, is_typed in trusted if is_typed),
        oauth_proxy=proxy,
    )


def _judge_assertion_issuers(
    proxy: OAuthProxy, issuers: Sequence[Issuer], *, sections: Sequence[Section], problems: Problems
) -> None:
    """Report the issuers of assertions that have no entry with public keys."""
    able = [each.issuer for each in issuers if each.jwks_url or any(key.algorithm != "HS256" for key in each.keys)]
    place = next(section.key_place(key) for section in sections for key in section.accept(PROXY_KEY, OLD_PROXY_KEY))
    for number, client in enumerate(proxy.assertion_clients):
        if client.issuer and client.issuer not in able:
            problems.add(
                place,
                f"assertions for assertion_clients[{number}] cannot be verified: expected an entry of identity with "
                "the issuer of this client, and jwksendpoint or public keys",
                code="unknown-assertion-issuer",
            )


def _oauth_proxy(sections: Sequence[Section], problems: Problems) -> OAuthProxy | None:
    proxies = [(section, key) for section in sections for key in section.accept(PROXY_KEY, OLD_PROXY_KEY)]
    for section, key in proxies:
        if key == OLD_PROXY_KEY:
            new = section.name(PROXY_KEY)
            problems.warn(section.key_place(key), f"{section.name(key)} is the old name of {new}", code="old-key")
    for section, key in proxies[1:]:
        problems.add(
            section.key_place(key),
            "there is an OAuth proxy already: an endpoint has one at most",
            code="duplicate-oauth-proxy",
        )
    if not proxies:
        return None
    section, key = proxies[0]
    return read_oauth_proxy(section.section(key), section.text("issuer"), problems)


def _issuer(section: Section, problems: Problems) -> Issuer:
    keys = _keys(section, problems)
    audiences = _names(section, "audience", problems)
    if not keys and "jwksendpoint" not in section:
        problems.add(
            section.place(),
            "an issuer needs the keys of its tokens: expected jwksendpoint or keys",
            code="missing-keys",
        )
    if not audiences:
        place = section.key_place(section.accept(*ISSUER)[0])
        problems.warn(
            place, "no audience: any token of this issuer is taken, also one made for another API", code="no-audience"
        )
    if is_for_trials(issuer=section.text("issuer")):
        problems.add(section.place("issuer"), f"{section.name('issuer')}: {_FOR_TRIALS}", code="development-issuer")
    return Issuer(
        issuer=section.text("issuer"),
        audiences=audiences,
        subject=section.text("subject"),
        required_claims=_names(section, "claims", problems),
        algorithms=_algorithms(section, problems),
        jwks_url=read_https_url(section, "jwksendpoint", "the https URL of a JSON Web Key Set", problems)
        if "jwksendpoint" in section
        else "",
        keys=keys,
        leeway_s=section.integer("leeway_s"),
    )


def _names(section: Section, key: str, problems: Problems) -> tuple[str, ...]:
    names = section.texts(key)
    for text, place in names:
        if not text:
            problems.add(place, f"{section.name(key)}: expected a text that is not empty", code="invalid-value")
    return tuple(text for text, _ in names)


def _algorithms(section: Section, problems: Problems) -> tuple[str, ...]:
    if "algorithms" not in section:
        return PUBLIC_ALGORITHMS
    algorithms = section.texts("algorithms")
    for text, place in algorithms:
        if text not in PUBLIC_ALGORITHMS:
            choices = ", ".join(PUBLIC_ALGORITHMS) + did_you_mean(text, PUBLIC_ALGORITHMS)
            problems.add(
                place,
                f"{section.name('algorithms')}: the keys of a key set are for one of {choices}",
                code="invalid-algorithm",
            )
    if not algorithms:
        section.refuse("algorithms", f"some of {', '.join(PUBLIC_ALGORITHMS)}")
    return tuple(text for text, _ in algorithms)


def _keys(section: Section, problems: Problems) -> tuple[VerificationKey, ...]:
    entries = section.sections("keys")
    several = len(entries) > 1 or "jwksendpoint" in section
    keys: list[VerificationKey] = []
    for entry in entries:
        entry.expect()
        key = _key(entry, problems)
        if several and not key.id:
            entry.refuse("keyid", "the id that tokens name this key by, as it is not the only one")
        elif key.id and key.id in [other.id for other in keys]:
            problems.add(entry.place("keyid"), f'two keys have the id "{key.id:.80}"', code="duplicate-key-id")
        keys.append(key)
    return tuple(keys)


def _key(entry: Section, problems: Problems) -> VerificationKey:
    algorithm, text = entry.text("algorithm"), entry.text("key")
    if algorithm == "HS256":
        _judge_secret(entry, text, problems)
    elif algorithm not in PUBLIC_ALGORITHMS:
        entry.refuse("algorithm", f"one of HS256, {', '.join(PUBLIC_ALGORITHMS)}")
    else:
        try:
            text = public_key_pem(text, algorithm=algorithm)
        except KeyRefused as exc:
            problems.add(entry.place("key"), f"{entry.name('key')}: {exc}", code="invalid-key")
    return VerificationKey(id=entry.text("keyid"), algorithm=algorithm, key=text)


def _judge_secret(entry: Section, text: str, problems: Problems) -> None:
    """Report a text that is not a valid secret for HS256. The messages do not show it."""
    name, place = entry.name("key"), entry.place("key")
    if text.startswith(SECRET_REFERENCE):
        if not SECRET_NAME.fullmatch(text.removeprefix(SECRET_REFERENCE)):
            problems.add(
                place, f"{name}: expected env:NAME, with letters, digits and _ in NAME", code="invalid-secret-reference"
            )
    elif is_for_trials(key=text):
        problems.add(place, f"{name}: {_FOR_TRIALS}", code="development-issuer")
    elif _names_a_place(text):
        problems.add(place, f"{name}: {_HOW_SECRETS_ARE_NAMED}", code="invalid-secret-reference")
    elif not text:
        problems.add(
            place,
            f"{name}: expected the secret, or env:NAME, which refers to STILE_SECRET_NAME",
            code="invalid-secret",
        )
    elif "-----BEGIN" in text:
        problems.add(place, f"{name}: HS256 takes a secret, not a PEM block", code="invalid-secret")
    elif len(text.encode()) < MIN_SECRET_BYTES:
        problems.warn(
            place,
            f"{name}: a secret of less than {MIN_SECRET_BYTES} bytes can be guessed from one token: expected env:NAME, "
            f"for {MIN_SECRET_BYTES} random bytes or more",
            code="weak-secret",
        )


_FOR_TRIALS = (
    "this is the development issuer of `stile token`, which `stile dev` and `stile call` trust by themselves; "
    "expected the issuer of your callers' tokens, or nothing"
)

_HOW_SECRETS_ARE_NAMED = (
    "expected env:NAME for a key of HS256; the function takes the ARN of a secret in Secrets Manager as "
    "STILE_SECRET_NAME, or among its STILE_SECRET_ARNS"
)


def _names_a_place(text: str) -> bool:
    """Return whether a text is meant to reference a secret elsewhere. As the secret itself, it could be guessed."""
    return text.strip().partition(":")[0].lower() in ("arn", *SECRET_SOURCES) and ":" in text


def _trusted_apis(section: Section, problems: Problems) -> list[tuple[str, bool]]:
    """Read the API ids, each with true if its authorizer reads the token from the header that the function reads."""
    apis = []
    for entry in section.sections("trust_authorizer"):
        entry.expect()
        api, source = entry.text("api"), entry.text("identity_source")
        if not API_ID.fullmatch(api):
            problems.add(
                entry.place("api"),
                f"{entry.name('api')}: expected the id of an API, letters and digits as in ID.execute-api.…",
                code="invalid-api-id",
            )
        if source.lower() not in ("", AUTHORIZATION, AUTHORIZATION_SOURCE):
            entry.refuse("identity_source", f"{AUTHORIZATION}; where the authorizer reads another place, leave it out")
        apis.append((api, source != ""))
    return apis


SHA256_DIGITS = 64


def read_api_keys(sections: Iterable[Section], problems: Problems) -> list[ApiKey]:
    """Read the keys of all sections of ``identity``."""
    keys: list[ApiKey] = []
    for entry in (entry for section in sections for entry in section.sections("api_keys")):
        key = _api_key(entry)
        if key.name and key.name in [other.name for other in keys]:
            problems.add(entry.place("name"), f'two keys are named "{key.name}"', code="duplicate-api-key")
        keys.append(key)
    return keys


def _api_key(entry: Section) -> ApiKey:
    entry.expect()
    if not entry.text("name"):
        entry.refuse("name", "the name of the key, for the log")
    digest = entry.text("sha256").lower()
    if len(digest) != SHA256_DIGITS or set(digest) - set("0123456789abcdef"):
        entry.refuse("sha256", "the SHA-256 of the key in hexadecimal, as `stile key NAME` prints it")
    claims = entry.json_object("claims") if "claims" in entry else None
    return ApiKey(name=entry.text("name"), sha256=digest, expires=_expires(entry), claims=claims)


def _expires(entry: Section) -> int:
    text = entry.text("expires")
    if not text:
        return 0
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        entry.refuse("expires", "a date or a time in ISO 8601, such as 2030-01-31")
        return 0
    # 0 means never. The first second of 1970 becomes the next one, which has expired as well.
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()) or 1
