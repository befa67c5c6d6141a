"""The author's view of a call: the requests to the API, the reason of a refused credential, and tracebacks.

The caller gets none of this, and a model could act on none of it.
"""

from __future__ import annotations

import json
import os
import re
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, quote, unquote_plus, urlsplit

from handler.bundle.identity import Identity, is_for_trials
from handler.bundle.upstream import Upstream, is_address_of, is_reference
from handler.code_tools.boundary import LOG, shorten_traceback
from handler.commands.local.local_server import ObservedExchange, address_hint, trial_secrets, unset_secrets
from handler.compiler.compile import Compiled
from handler.errors.access import CredentialRefused
from handler.errors.infrastructure import HttpError, HttpTimeout
from handler.http.client import HttpRequest, HttpResponse
from handler.server.asgi.content_negotiation import media_type_of
from handler.server.auth.principal import audiences_in
from handler.server.auth.tokens import Token, parse_token
from handler.server.upstream.failures import CSRF, OF_ACCESS, api_message, page_text, plain_text
from handler.settings import Settings
from handler.strict_json import json_pattern, parse_json
from handler.text.sentences import cut_text, some

MAX_LINE_CHARS = 200
MAX_BODY_CHARS = 2_000
MAX_READ_CHARS = 65_536

MIN_SECRET_CHARS = 4
MIN_HEADER_CHARS = 8
"""A shorter value of a header, such as a claim's, could be in any text."""

MOST_OF_TIME = 0.9
"""The part of upstream.timeout_s above which that setting was the limit, and not the rest of the call's time."""

PLAIN_HEADERS = frozenset({"accept", "accept-encoding", "content-type", "traceparent", "tracestate", "user-agent"})
"""Headers of requests whose values may be shown."""

UNAUTHENTICATED = re.compile(
    rb'"(code|message)"\s*:\s*"((un|(auth_)?not[ _-])?(authenticated|authorized)\.?"'
    rb'|[^"]{0,80}((jwt|token|signature) (has |is )?(expired|invalid|malformed)|(expired|invalid)[ _-](jwt|token)))',
    re.IGNORECASE,
)
"""A GraphQL error of servers that refuse a credential with the status 200."""

TWO_SCHEMES = re.compile(r"\S+ (Bearer|Basic|Token|Apikey) \S", re.IGNORECASE)
"""The field Authorization, if its secret begins with a scheme that config.yaml adds."""

HIDDEN = "…"
Hiding = Callable[[str], str]
OF_UPSTREAM = re.compile(r"Upstream|Drift|CallerTokenRefused|CredentialUnavailable|answer_schema|key_set")
"""The beginning of a reason that a request to another server explains."""


def told_to_author(
    reason: str, exchanges: Sequence[ObservedExchange], compiled: Compiled, settings: Settings
) -> list[str]:
    """Return the lines about a failure for its author; empty if the log's reason is not about another server."""
    word, _, detail = reason.partition(": ")
    failures = [each for each in exchanges if not each.answer or each.answer.status >= 300]
    if word == "GraphQLErrors":
        failures = [each for each in exchanges if each.answer and UNAUTHENTICATED.search(each.answer.body)]
    elif not OF_UPSTREAM.match(reason):
        return []
    unset = unset_secrets(compiled, settings) if word == "CredentialUnavailable" else []
    if unset:
        return [f"{word}: {sentence}" for sentence in unset if sentence.startswith("upstream.")]
    last = (failures or exchanges)[-1:] if word != "GraphQLErrors" else failures[-1:]
    if not last:
        return [reason] if word != "GraphQLErrors" else []
    sentence = describe_exchange(last[0], compiled)
    if word == "Drift":
        remedy = "the API's schema has changed there: `stile pull` shows how"
        return [f"{word}: {detail}: {sentence}", f"{word}: {detail}: {remedy}"]
    return [f"{word}: {sentence}"]


def describe_exchange(exchange: ObservedExchange, compiled: Compiled) -> str:
    """Describe one exchange: method, URL, and the cause of its failure or the beginning of its answer."""
    request, answer, upstream = exchange.request, exchange.answer, compiled.bundle.upstream
    where, of_api = f"{request.method} {shown_url(request.url)}", is_address_of(upstream, request.url)
    if exchange.failure:
        return f"{where}: {_cause(exchange.failure, request.url, upstream, of_api=of_api)}"
    if answer is None:
        return where
    hide = hiding(request, compiled)
    if 300 <= answer.status < 400:
        kind = f", a redirect to {hide(shown_url(answer.headers.get('location', ''))) or 'no place'}"
    else:
        media_type = plain_text(media_type_of(answer.headers.get("content-type", "")), most=80)
        kind = f" with {media_type}" if media_type else ""
    line = hide(first_line(answer.body)) if of_api or answer.status >= 400 else ""
    quotation = f': "{plain_text(line, most=MAX_LINE_CHARS)}"' if line else ""
    advice = _advice(exchange.request, answer, upstream) if of_api else ""
    return f"{where} answered {answer.status}{kind}{quotation}{f'. {advice}' if advice else ''}"


def _cause(failure: HttpError, url: str, upstream: Upstream, *, of_api: bool) -> str:
    """Return the cause of a failure, and its remedy if the API was not reached."""
    if isinstance(failure, HttpTimeout):
        whole = of_api and failure.timeout_s >= MOST_OF_TIME * upstream.timeout_s
        within = f"{upstream.timeout_s:g} s (upstream.timeout_s)" if whole else f"{failure.timeout_s:.3g} s"
        return f"{'no complete answer' if failure.sent else 'no connection'} within {within}"
    reason = failure.reason
    match failure.__cause__:
        case ssl.SSLCertVerificationError() as cause:
            return f"{reason} ({plain_text(cause.verify_message, most=MAX_LINE_CHARS)})"
        case OSError(strerror=str() as words) if reason == "no connection":
            return f"{reason} ({words})"
    if of_api and reason == "connection refused":
        return f"{reason}: start the API, or correct upstream.url"
    if of_api and (hint := address_hint(url, failure)):
        return f"{reason}: {hint} in upstream.url"
    return f"{reason}: correct upstream.url" if of_api and reason == "name not resolved" else reason


def _advice(request: HttpRequest, answer: HttpResponse, upstream: Upstream) -> str:
    if 300 <= answer.status < 400:
        return "Redirects are not followed: set upstream.url to the final URL"
    if 400 <= answer.status < 500 and CSRF.search(first_line(answer.body)):
        return (
            "The API wants a CSRF token, which browsers have: exempt its GraphQL view from the check (Django: "
            "csrf_exempt), or name the header that it accepts in upstream.headers"
        )
    if hint := address_hint(request.url, answer):
        return f"{hint[0].upper()}{hint[1:]} in upstream.url"
    page = page_text(answer.body)
    says_so = UNAUTHENTICATED.search(answer.body) if answer.status < 300 else OF_ACCESS.search(page) or not page
    if answer.status == 401 or (answer.status in (200, 403) and says_so):
        secret = next((text if is_reference(text) else "" for text in upstream.secrets), "")
        advice = upstream.auth.REFUSED.format(secret=secret or "the secret in config.yaml", kind=upstream.auth.KIND)
        twice = next(filter(None, map(TWO_SCHEMES.match, request.headers.values())), None)
        return f"{advice}. The secret begins with {twice[1]}, too: store it without {twice[1]}" if twice else advice
    if answer.status < 400 and "html" in answer.headers.get("content-type", ""):
        return "Expected JSON: is upstream.url the URL of the GraphQL API?"
    return ""


def lines_of(exchange: ObservedExchange, compiled: Compiled) -> list[str]:
    """Return the lines on one exchange. Bodies are shown of the API only: others, of tokens, are secrets."""
    hide = hiding(exchange.request, compiled)
    request, answer = exchange.request, exchange.answer
    end = f"{describe_exchange(exchange, compiled)} ({exchange.duration_ms} ms)"
    if not is_address_of(compiled.bundle.upstream, request.url):
        return [end]
    headers = (f"{name}: {value if name.lower() in PLAIN_HEADERS else '…'}" for name, value in request.headers.items())
    lines = [f"sent {request.method} {shown_url(request.url)}", f"  {', '.join(headers)}", *_body_lines(request, hide)]
    if answer is not None:
        end = f"answered {answer.status} ({exchange.duration_ms} ms): {shown_body(answer.body, hide)}"
    return [*lines, end]


def _body_lines(request: HttpRequest, hide: Hiding) -> list[str]:
    body = parse_json(request.body or b"{}")
    document = body.pop("query", None)
    variables = body.pop("variables", None)
    lines = document.splitlines() if isinstance(document, str) else []
    if variables is not None:
        lines.append(f"variables {json.dumps(variables, ensure_ascii=False)}")
    if body:
        lines.append(json.dumps(body, ensure_ascii=False))
    return [f"  {line}" for line in cut_text(hide("\n".join(lines)), MAX_BODY_CHARS).splitlines()]


def shown_url(url: str) -> str:
    """Return a URL without its password, and without values and single words of its query, which may be keys."""
    try:
        parts = urlsplit(url)
    except ValueError:  # of a redirect
        return f"a malformed URL of {len(url)} characters"
    pairs = [pair.partition("=") for pair in parts.query.split("&")] if parts.query else []
    query = "&".join(f"{name}={HIDDEN}" if equals else HIDDEN for name, equals, _ in pairs)
    public = parts._replace(netloc=parts.netloc.rpartition("@")[2], query=query, fragment="")
    return plain_text(public.geturl(), most=MAX_LINE_CHARS)


def first_line(body: bytes) -> str:
    """Return the message in JSON, the text of a page, or the first line of another body that is not empty."""
    answer: Any = None
    with suppress(ValueError):
        answer = parse_json(body)
    match answer:
        case {"errors": [{"message": str() as words}, *_]}:
            pass
        case _:
            words = api_message(answer)
    text = body[:MAX_READ_CHARS].decode(errors="replace").strip()
    return words or page_text(body) or next(iter(text.splitlines()), "").rstrip()


def shown_body(body: bytes, hide: Hiding) -> str:
    """Return the beginning of a body without secrets."""
    text = hide(body[:MAX_READ_CHARS].decode(errors="replace")).strip()
    return text if len(text) <= MAX_BODY_CHARS else f"{text[: MAX_BODY_CHARS - 1]}… ({len(body)} bytes)"


def hiding(request: HttpRequest, compiled: Compiled) -> Hiding:
    """Return a function that replaces secrets in a text, in each form that an answer could have them in.

    The secrets are those of a request's headers, and all that this machine has for the endpoint.
    """
    upstream = compiled.bundle.upstream
    values = [value for name, value in request.headers.items() if name.lower() not in PLAIN_HEADERS]
    words = [word for value in values for word in (value, value.rpartition(" ")[2]) if len(word) >= MIN_HEADER_CHARS]
    secrets = [
        *trial_secrets(compiled.env_file).values(),
        *(each for each in upstream.secrets if not is_reference(each)),
    ]
    secrets += [os.environ.get(name, "") for name in ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")]
    if not is_address_of(upstream, request.url):  # a token endpoint, whose form has the client's secret
        form = parse_qsl((request.body or b"").decode(errors="replace"))
        secrets += [value for name, value in form if "secret" in name or "token" in name]
    for name, equals, value in (pair.partition("=") for pair in urlsplit(request.url).query.split("&")):
        key = value if equals else name
        secrets += [key, unquote_plus(key)]
    words += [secret.strip() for secret in secrets if len(secret.strip()) >= MIN_SECRET_CHARS]
    forms = {form for word in words for form in (word, quote(word, safe=""))}
    if not forms:
        return str
    pattern = re.compile("|".join(map(json_pattern, sorted(forms, key=len, reverse=True))))
    return partial(pattern.sub, HIDDEN)


def why_refused(word: str, headers: Mapping[str, str], identity: Identity, *, unset: list[str], now: float) -> str:
    """Explain the log's word for a refused credential; empty string if the word says it all.

    ``headers`` are the request's, by lower-case name; ``unset`` has the sentences on secrets that are not set.
    """
    if any("${" in headers.get(name, "") for name in ("authorization", "x-api-key")):
        return "the client sent the name of a variable, as ${NAME}, and not its value: set it where the client runs"
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
    claims, issuers = token.claims, identity.issuers
    if is_for_trials(issuer=claims.get("iss")):
        if word == "issuer":
            return (
                "it is a token of `stile token`, which only `stile dev` without --as-deployed accepts, of the same user"
            )
        if word == "signature":
            return "`stile token` made it for another folder or by another user: make one for this endpoint's folder"
        audiences = [audience for issuer in issuers for audience in issuer.audiences]
        return _about_claims(word, claims, audiences, now, again="make a new one with `stile token`")
    issuer = next((each for each in issuers if each.issuer == claims.get("iss")), None)
    issuer = issuer or next((each for each in issuers if not each.issuer), None)
    if word == "issuer" or issuer is None:
        names = some([each.issuer for each in issuers if each.issuer], most=5)
        expected = f"expected {names}" if names else "the endpoint has no identity with keys or jwksendpoint"
        return f"the token has iss {_quoted(claims.get('iss'))}; {expected}"
    match word:
        case "subject":
            return f"the token has sub {_quoted(claims.get('sub'))}; expected {_quoted(issuer.subject)}"
        case "type":
            return "it is an identity assertion (ID-JAG), which is for the token endpoint of the OAuth proxy"
        case "missing_claim":
            lacking = some([name for name in issuer.required_claims if name not in claims], most=10)
            return f"the token lacks {lacking}"
        case "algorithm":
            algorithms = [*(issuer.algorithms if issuer.jwks_url else ()), *(key.algorithm for key in issuer.keys)]
            expected = some(list(dict.fromkeys(algorithms)), most=6)
            return f"the token has alg {_quoted(token.algorithm)}; expected {expected}"
        case "signature" | "unknown_key" | "bad_key":
            where = issuer.jwks_url or "identity.keys"
            return f"no key in {where} made its signature; the token has kid {_quoted(token.key_id)}"
        case _:
            return _about_claims(word, claims, issuer.audiences, now, again="ask its issuer for a new one")


def _about_claims(word: str, claims: Mapping[str, Any], audiences: Sequence[str], now: float, *, again: str) -> str:
    match word:
        case "expired":
            return f"the token has exp {_time(claims['exp'])}; it is {_time(now)} now: {again}"
        case "not_yet_valid":
            begins = max(claims.get("nbf") or 0, claims.get("iat") or 0)
            return f"the token is valid from {_time(begins)}; it is {_time(now)} now"
        case "no_expiry":
            return "the token has no exp, which every token needs"
        case "audience":
            came = some([_quoted(each) for each in sorted(audiences_in(claims))], most=5) or _quoted(claims.get("aud"))
            return f"the token has aud {came}; expected {some(list(audiences), most=5)}"
        case _:
            return ""


def _time(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))


def _quoted(value: object) -> str:
    return "(none)" if value is None else f'"{plain_text(str(value), most=MAX_LINE_CHARS)}"'


def show_authors_frames(*, whole: bool) -> None:
    """Print tracebacks of authors' tools in this process's log with authors' frames, or with ``whole`` all."""
    (LOG.removeFilter if whole else LOG.addFilter)(shorten_traceback)
