"""The author's view of a failed request to the API: the URL, the cause, and the beginning of the answer.

A model gets none of this, because it could act on none of it.
"""

from __future__ import annotations

import json
import os
import re
import ssl
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, quote, unquote_plus, urlsplit

from handler.bundle.upstream import (
    BearerAuth,
    ClientCredentialsAuth,
    HeaderAuth,
    NoAuth,
    PassthroughAuth,
    SigV4Auth,
    TokenExchangeAuth,
    Upstream,
    UpstreamAuth,
    is_address_of,
    is_reference,
)
from handler.commands.local.local_server import SeenExchange, trial_secrets, unset_secrets
from handler.compiler.compile import Compiled
from handler.errors.infrastructure import HttpError, HttpTimeout
from handler.http.client import HttpRequest, HttpResponse
from handler.server.asgi.content_negotiation import media_type_of
from handler.server.upstream.failures import CSRF, OF_ACCESS, page_text, plain_text, words_in
from handler.settings import Settings
from handler.strict_json import parse_json

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

HIDDEN = "…"
Hiding = Callable[[str], str]
OF_UPSTREAM = re.compile(r"Upstream|Drift|CallerTokenRefused|CredentialUnavailable|key_set")
"""The beginning of a reason that a request to another server explains."""


def told_to_author(reason: str, exchanges: Iterable[SeenExchange], compiled: Compiled, settings: Settings) -> list[str]:
    """Return the lines about a failure for its author; empty if the log's reason is not about another server."""
    word, _, detail = reason.partition(": ")
    if not OF_UPSTREAM.match(reason):
        return []
    unset = unset_secrets(compiled, settings) if word == "CredentialUnavailable" else []
    if unset:
        return [f"{word}: {sentence}" for sentence in unset if sentence.startswith("upstream.")]
    exchanges = list(exchanges)
    failures = [each for each in exchanges if each.failure or (each.answer and each.answer.status >= 300)]
    last = (failures or exchanges)[-1:]
    if not last:
        return [reason]
    sentence = describe(last[0], compiled)
    if word == "Drift":
        remedy = "the API's schema has changed there: `stile pull` shows how"
        return [f"{word}: {detail}: {sentence}", f"{word}: {detail}: {remedy}"]
    return [f"{word}: {sentence}"]


def describe(exchange: SeenExchange, compiled: Compiled) -> str:
    """Describe one exchange: method, URL, and the cause of its failure or the beginning of its answer."""
    request, answer, upstream = exchange.request, exchange.answer, compiled.bundle.upstream
    where, of_api = f"{request.method} {shown_url(request.url)}", is_address_of(upstream, request.url)
    if exchange.failure:
        return f"{where}: {_cause(exchange.failure, upstream, of_api=of_api)}"
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
    advice = _advice(answer, upstream.auth) if of_api else ""
    return f"{where} answered {answer.status}{kind}{quotation}{f'. {advice}' if advice else ''}"


def _cause(failure: HttpError, upstream: Upstream, *, of_api: bool) -> str:
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
    return f"{reason}: correct upstream.url" if of_api and reason == "name not resolved" else reason


def _advice(answer: HttpResponse, auth: UpstreamAuth) -> str:
    if 300 <= answer.status < 400:
        return "Redirects are not followed: set upstream.url to the final URL"
    if 400 <= answer.status < 500 and CSRF.search(first_line(answer.body)):
        return (
            "The API wants a CSRF token, which browsers have: exempt its GraphQL view from the check (Django: "
            "csrf_exempt), or name the header that it accepts in upstream.headers"
        )
    page = page_text(answer.body)
    if answer.status == 401 or (answer.status == 403 and (OF_ACCESS.search(page) or not page)):
        return _about(auth)
    if answer.status < 400 and "html" in answer.headers.get("content-type", ""):
        return "Expected JSON: is upstream.url the URL of the GraphQL API?"
    return ""


def _about(auth: UpstreamAuth) -> str:
    match auth:
        case NoAuth():
            return "config.yaml has no upstream.auth, so no credential was sent: name one there"
        case BearerAuth(token=secret) | HeaderAuth(value=secret):
            credential = secret if is_reference(secret) else "the secret in config.yaml"
            return f"upstream.auth sent {credential}, which the API refuses"
        case PassthroughAuth():
            return "upstream.auth passed the caller's own token on, which the API refuses"
        case ClientCredentialsAuth() | TokenExchangeAuth() | SigV4Auth():
            return f"upstream.auth is {auth.KIND}, whose credential the API refuses"


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
    try:
        answer: Any = parse_json(body)
    except ValueError:
        answer = None
    match answer:
        case {"errors": [{"message": str() as words}, *_]}:
            pass
        case _:
            words = words_in(answer)
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
    forms = {form for word in words for form in (word, json.dumps(word)[1:-1], quote(word, safe=""))}
    if not forms:
        return str
    pattern = re.compile("|".join(map(re.escape, sorted(forms, key=len, reverse=True))))
    return partial(pattern.sub, HIDDEN)
