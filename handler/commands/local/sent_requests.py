"""The requests to the API and their answers, as ``-v`` prints them: bounded, and without secrets."""

from __future__ import annotations

import json

from handler.bundle.upstream import is_address_of
from handler.commands.local.observing import SeenExchange
from handler.commands.local.upstream_words import (
    MAX_BODY_CHARS,
    PLAIN_HEADERS,
    Hiding,
    describe,
    hiding,
    shown_body,
    shown_url,
)
from handler.compiler.compile import Compiled
from handler.http.client import HttpRequest
from handler.strict_json import parse_json


def lines_of(exchange: SeenExchange, compiled: Compiled) -> list[str]:
    """Return the lines on one exchange. Bodies are shown of the API only: others, of tokens, are secrets."""
    hide = hiding(exchange.request, compiled)
    if not is_address_of(compiled.bundle.upstream, exchange.request.url):
        return [f"{describe(exchange, compiled)} ({exchange.duration_ms} ms)"]
    request = f"sent {exchange.request.method} {shown_url(exchange.request.url)}"
    lines = [request, *_headers_of(exchange.request), *_body_of(exchange.request, hide)]
    if exchange.answer is None:
        return [*lines, f"{describe(exchange, compiled)} ({exchange.duration_ms} ms)"]
    answer = exchange.answer
    return [*lines, f"answered {answer.status} ({exchange.duration_ms} ms): {shown_body(answer.body, hide)}"]


def _headers_of(request: HttpRequest) -> list[str]:
    shown = (f"{name}: {value if name.lower() in PLAIN_HEADERS else '…'}" for name, value in request.headers.items())
    return [f"  {', '.join(shown)}"]


def _body_of(request: HttpRequest, hide: Hiding) -> list[str]:
    body = parse_json(request.body or b"{}")
    document = body.pop("query", None)
    variables = body.pop("variables", None)
    lines = document.splitlines() if isinstance(document, str) else []
    if variables is not None:
        lines.append(f"variables {json.dumps(variables, ensure_ascii=False)}")
    if body:
        lines.append(json.dumps(body, ensure_ascii=False))
    text = hide.apply("\n".join(lines))
    cut = text if len(text) <= MAX_BODY_CHARS else f"{text[: MAX_BODY_CHARS - 1]}…"
    return [f"  {line}" for line in cut.splitlines()]
