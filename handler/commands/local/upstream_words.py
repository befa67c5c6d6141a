"""The author's view of a failed request to the API: the URL, the cause, and the beginning of the answer.

A model gets none of this, because it could act on none of it.
"""

from __future__ import annotations

import json
import os
import re
import ssl
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, unquote_plus, urlsplit

from handler.bundle.upstream import (
    BearerAuth,
    HeaderAuth,
    NoAuth,
    PassthroughAuth,
    Upstream,
    UpstreamAuth,
    is_address_of,
    is_reference,
)
from handler.commands.local.local_secrets import trial_secrets, unset_secrets
from handler.commands.local.observing import SeenExchange
from handler.compiler.compile import Compiled
from handler.errors.infrastructure import HttpError, HttpTimeout
from handler.http.client import HttpRequest, HttpResponse
from handler.server.asgi.content_negotiation import media_type_of
from handler.server.upstream.plain_words import CSRF, OF_ACCESS, page_text, plain_text, words_in
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

REMEDIES: Mapping[str, str] = {
    "connection refused": "start the API, or correct upstream.url",
    "name not resolved": "correct upstream.url",
}
"""Causes for which the API was not reached -> what its author can do."""

HIDDEN = "…"
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
    seen = list(exchanges)
    last = [each for each in seen if each.failure or (each.answer and each.answer.status >= 300)][-1:] or seen[-1:]
    if not last:
        return [reason]
    if word == "Drift":
        then = "the API's schema has changed there: `stile pull` shows how"
        return [f"{word}: {detail}: {describe(last[0], compiled)}", f"{word}: {detail}: {then}"]
    return [f"{word}: {describe(last[0], compiled)}"]


def describe(exchange: SeenExchange, compiled: Compiled) -> str:
    """Describe one exchange: method, URL, and the cause of its failure or the beginning of its answer."""
    upstream, hide = compiled.bundle.upstream, hiding(exchange.request, compiled)
    where = f"{exchange.request.method} {shown_url(exchange.request.url)}"
    of_api = is_address_of(upstream, exchange.request.url)
    if exchange.failure:
        cause = _cause(exchange.failure, exchange.request, upstream)
        remedy = REMEDIES.get(cause, "") if of_api else ""
        return f"{where}: {cause}{f': {remedy}' if remedy else ''}"
    if exchange.answer is None:
        return where
    first = hide.apply(first_line(exchange.answer.body)) if of_api or exchange.answer.status >= 400 else ""
    said = f': "{plain_text(first, most=MAX_LINE_CHARS)}"' if first else ""
    then = _advice(exchange.answer, upstream.auth) if of_api else ""
    return f"{where} answered {_kind(exchange.answer, hide)}{said}{f'. {then}' if then else ''}"


def shown_url(url: str) -> str:
    """Return a URL without its password, and without values and single words of its query, which may be keys."""
    try:
        parts = urlsplit(url)
    except ValueError:  # of a redirect
        return f"a malformed URL of {len(url)} characters"
    query = "&".join(_without_value(each) for each in parts.query.split("&")) if parts.query else ""
    shown = parts._replace(netloc=parts.netloc.rpartition("@")[2], query=query, fragment="")
    return plain_text(shown.geturl(), most=MAX_LINE_CHARS)


def _without_value(pair: str) -> str:
    name, equals, _ = pair.partition("=")
    return f"{name}={HIDDEN}" if equals else HIDDEN  # a key alone may be a secret


def first_line(body: bytes) -> str:
    """Return the message in JSON, the text of a page, or the first line of another body that is not empty."""
    text = body[:MAX_READ_CHARS].decode(errors="replace")
    return (
        _message_in(body) or page_text(body) or next((line.strip() for line in text.splitlines() if line.strip()), "")
    )


def shown_body(body: bytes, hide: Hiding) -> str:
    """Return the beginning of a body without secrets."""
    text = hide.apply(body[:MAX_READ_CHARS].decode(errors="replace")).strip()
    return text if len(text) <= MAX_BODY_CHARS else f"{text[: MAX_BODY_CHARS - 1]}… ({len(body)} bytes)"


class Hiding:
    """The secrets that no output may repeat, in each form that an answer could have them in."""

    def __init__(self, secrets: Iterable[str]) -> None:
        forms = {form for each in secrets for form in (each, json.dumps(each)[1:-1], quote(each, safe=""))}
        self._forms = sorted(forms, key=len, reverse=True)

    def apply(self, text: str) -> str:
        """Replace the secrets in a text."""
        for form in self._forms:
            text = text.replace(form, HIDDEN)
        return text


def hiding(request: HttpRequest, compiled: Compiled) -> Hiding:
    """Return the secrets of a request: those of its headers, and all that this machine has for the endpoint."""
    values = [value for name, value in request.headers.items() if name.lower() not in PLAIN_HEADERS]
    words = [word for value in values for word in (value, value.rpartition(" ")[2]) if len(word) >= MIN_HEADER_CHARS]
    of_client = not is_address_of(
        compiled.bundle.upstream, request.url
    )  # a token endpoint, whose form has the client's secret
    literal = [secret for secret in compiled.bundle.upstream.secrets if not is_reference(secret)]
    fields = parse_qsl((request.body or b"").decode(errors="replace")) if of_client else []
    form = [value for name, value in fields if "secret" in name or "token" in name]
    query = [word for pair in urlsplit(request.url).query.split("&") for word in _values_of(pair)]
    ours = [*form, *query, *trial_secrets(compiled.env_file).values(), *literal, *_aws_secrets(os.environ)]
    return Hiding([*words, *(secret.strip() for secret in ours if len(secret.strip()) >= MIN_SECRET_CHARS)])


def _values_of(pair: str) -> tuple[str, str]:
    """Return the value of a part of a query as it is sent, and decoded; the whole part if it has no value."""
    name, equals, value = pair.partition("=")
    sent = value if equals else name
    return sent, unquote_plus(sent)


def _aws_secrets(environ: Mapping[str, str]) -> list[str]:
    return [environ[name] for name in ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN") if environ.get(name)]


def _cause(failure: HttpError, request: HttpRequest, upstream: Upstream) -> str:
    if isinstance(failure, HttpTimeout):
        whole = is_address_of(upstream, request.url) and failure.timeout_s >= MOST_OF_TIME * upstream.timeout_s
        within = f"{upstream.timeout_s:g} s (upstream.timeout_s)" if whole else f"{failure.timeout_s:.3g} s"
        return f"{'no complete answer' if failure.sent else 'no connection'} within {within}"
    cause = failure.__cause__
    match cause:
        case ssl.SSLCertVerificationError():
            return f"{failure.reason} ({plain_text(cause.verify_message, most=MAX_LINE_CHARS)})"
        case OSError(strerror=str() as words) if failure.reason == "no connection":
            return f"{failure.reason} ({words})"
        case _:
            return failure.reason


def _kind(answer: HttpResponse, hide: Hiding) -> str:
    if 300 <= answer.status < 400:
        whither = hide.apply(shown_url(answer.headers.get("location", "")))
        return f"{answer.status}, a redirect to {whither or 'no place'}"
    kind = plain_text(media_type_of(answer.headers.get("content-type", "")), most=80)
    return f"{answer.status} with {kind}" if kind else str(answer.status)


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
            named = secret if is_reference(secret) else "the secret in config.yaml"
            return f"upstream.auth sent {named}, which the API refuses"
        case PassthroughAuth():
            return "upstream.auth passed the caller's own token on, which the API refuses"
        case _:
            return f"upstream.auth is {auth.KIND}, whose credential the API refuses"


def _message_in(body: bytes) -> str:
    """Return the message of the first error in JSON; empty string if there is none."""
    try:
        answer: Any = parse_json(body)
    except ValueError:
        return ""
    match answer:
        case {"errors": [{"message": str() as message}, *_]}:
            return message
        case _:
            return words_in(answer)
