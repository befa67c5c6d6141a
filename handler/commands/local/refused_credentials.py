"""The author's view of a refused credential: what came, and what was expected. The caller gets none of this."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from handler.bundle.identity import Identity, Issuer, is_for_trials
from handler.errors.access import CredentialRefused
from handler.server.auth.principal import audiences_in
from handler.server.auth.tokens import Token, parse_token
from handler.server.upstream.failures import plain_text
from handler.text.sentences import some

MAX_CHARS = 200


def why_refused(word: str, headers: Mapping[str, str], identity: Identity, *, unset: list[str], now: float) -> str:
    """Explain the log's word for a refused credential; empty string if the word says it all.

    ``headers`` are the request's, by lower-case name; ``unset`` has the sentences on secrets that are not set.
    """
    match word:
        case "scheme":
            came = plain_text(headers.get("authorization", "").partition(" ")[0], most=20)
            return f'Authorization has the scheme "{came}"; expected Bearer or Apikey'
        case "unknown_api_key":
            names = some([key.name for key in identity.api_keys], most=10)
            return f"it is none of identity.api_keys ({names})" if names else "the endpoint has no identity.api_keys"
        case "no_secret":
            return "; ".join(sentence for sentence in unset if sentence.startswith("identity."))
    try:
        token = parse_token(headers.get("authorization", "").partition(" ")[2].strip())
    except CredentialRefused:
        return "it is not a JSON Web Token in compact form" if word == "malformed" else ""
    return _about_token(word, token, identity, now)


def _about_token(word: str, token: Token, identity: Identity, now: float) -> str:
    claims = token.claims
    if is_for_trials(issuer=claims.get("iss")):
        return _about_trial(word, claims, identity, now)
    issuer = next((each for each in identity.issuers if each.issuer == claims.get("iss")), None)
    issuer = issuer or next((each for each in identity.issuers if not each.issuer), None)
    if word == "issuer" or issuer is None:
        names = some([each.issuer for each in identity.issuers if each.issuer], most=5)
        expected = f"expected {names}" if names else "the endpoint has no identity with keys or jwksendpoint"
        return f"the token has iss {_shown(claims.get('iss'))}; {expected}"
    return _about_claims(word, token, issuer, now)


def _about_trial(word: str, claims: Mapping[str, Any], identity: Identity, now: float) -> str:
    if word == "issuer":
        return "it is a token of `stile token`, which only `stile dev` without --as-deployed accepts, of the same user"
    if word == "signature":
        return "`stile token` made it for another folder or by another user: make one for this endpoint's folder"
    expected = [audience for issuer in identity.issuers for audience in issuer.audiences]
    return _about_times(word, claims, now) or _about_audience(word, claims, expected)


def _about_claims(word: str, token: Token, issuer: Issuer, now: float) -> str:
    claims = token.claims
    match word:
        case "subject":
            return f"the token has sub {_shown(claims.get('sub'))}; expected {_shown(issuer.subject)}"
        case "type":
            return "it is an identity assertion (ID-JAG), which is for the token endpoint of the OAuth proxy"
        case "missing_claim":
            lacking = some([name for name in issuer.required_claims if name not in claims], most=10)
            return f"the token lacks {lacking}"
        case "algorithm":
            known = [*(issuer.algorithms if issuer.jwks_url else ()), *(key.algorithm for key in issuer.keys)]
            return f"the token has alg {_shown(token.algorithm)}; expected {some(list(dict.fromkeys(known)), most=6)}"
        case "signature" | "unknown_key" | "bad_key":
            where = issuer.jwks_url or "identity.keys"
            return f"no key in {where} made its signature; the token has kid {_shown(token.key_id)}"
        case _:
            return _about_times(word, claims, now) or _about_audience(word, claims, issuer.audiences)


def _about_audience(word: str, claims: Mapping[str, Any], expected: tuple[str, ...] | list[str]) -> str:
    if word != "audience":
        return ""
    came = some([_shown(each) for each in sorted(audiences_in(claims))], most=5) or _shown(claims.get("aud"))
    return f"the token has aud {came}; expected {some(list(expected), most=5)}"


def _about_times(word: str, claims: Mapping[str, Any], now: float) -> str:
    match word:
        case "expired":
            of_trials = is_for_trials(issuer=claims.get("iss"))
            again = "make a new one with `stile token`" if of_trials else "ask its issuer for a new one"
            return f"the token has exp {_time(claims['exp'])}; it is {_time(now)} now: {again}"
        case "not_yet_valid":
            begins = max(claims.get("nbf") or 0, claims.get("iat") or 0)
            return f"the token is valid from {_time(begins)}; it is {_time(now)} now"
        case "no_expiry":
            return "the token has no exp, which every token needs"
        case _:
            return ""


def _time(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))


def _shown(value: object) -> str:
    return "(none)" if value is None else f'"{plain_text(str(value), most=MAX_CHARS)}"'
