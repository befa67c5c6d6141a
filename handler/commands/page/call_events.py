"""One call as the page's live view shows it: its outcome, its log line, and the requests that the API got.

Secrets are hidden as ``stile dev -v`` hides them.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from handler.bundle.upstream import is_address_of
from handler.commands.local.observing import SeenExchange
from handler.commands.local.upstream_words import (
    MAX_READ_CHARS,
    PLAIN_HEADERS,
    Hiding,
    describe,
    hiding,
    shown_url,
)
from handler.compiler.compile import Compiled
from handler.strict_json import parse_json

MAX_SENT = 10
"""Requests to the API that are kept of one call."""

MAX_TEXT_CHARS = 10_000
"""Characters of a document, of variables and of an answer."""

MAX_ASKED_BYTES = 262_144
"""Bytes of a request to the API that is shown. Of a longer one, the document is left out."""

HIDDEN = "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenCall:
    """A call with all that its event needs. ``compiled`` is the endpoint; ``None`` if the path names none."""

    id: str
    at: str  # UTC, ISO 8601
    caller: str
    facts: Mapping[str, Any]
    told: Sequence[str]  # sentences for the author, as the terminal has them
    bytes: int
    exchanges: Sequence[SeenExchange]
    left_out: int
    compiled: Compiled | None

    def plain(self) -> dict[str, Any]:
        """Return the event as JSON."""
        facts, compiled = self.facts, self.compiled
        calls = facts.get("calls") or [facts]
        return {
            "id": self.id,
            "at": self.at,
            "endpoint": facts.get("endpoint", ""),
            "tool": _joined(calls, "tool"),
            "method": _joined(calls, "method") or facts.get("operation") or facts.get("route", ""),
            "caller": self.caller,
            "outcome": _joined(calls, "outcome") or facts.get("outcome", ""),
            "reason": _joined(calls, "reason") or facts.get("reason", ""),
            "told": list(self.told),
            "status": facts.get("status", 0),
            "ms": facts.get("duration_ms", 0),
            "bytes": self.bytes,
            "log": dict(facts),
            "sent": [_sent(each, compiled) for each in self.exchanges] if compiled else [],
            "sentLeftOut": self.left_out,
        }


def kept(exchanges: Sequence[SeenExchange]) -> tuple[list[SeenExchange], int]:
    """Return the first exchanges with the parts of their answers that are shown, and the number of the others."""
    return [_cut_bodies(each) for each in exchanges[:MAX_SENT]], max(0, len(exchanges) - MAX_SENT)


def _cut_bodies(exchange: SeenExchange) -> SeenExchange:
    request, answer = exchange.request, exchange.answer
    if len(request.body or b"") > MAX_ASKED_BYTES:
        request = dataclasses.replace(request, body=None)
    if answer is not None and len(answer.body) > MAX_READ_CHARS:
        answer = dataclasses.replace(answer, body=answer.body[:MAX_READ_CHARS])
    return dataclasses.replace(exchange, request=request, answer=answer)


def _joined(calls: Sequence[Mapping[str, Any]], name: str) -> str:
    """Return a fact of a request; of a batch, the different facts of its items."""
    return ", ".join(dict.fromkeys(str(each[name]) for each in calls if each.get(name)))


def _sent(exchange: SeenExchange, compiled: Compiled) -> dict[str, Any]:
    """Return one request and its answer. Bodies are shown of the API only: others, of tokens, are secrets."""
    request, answer = exchange.request, exchange.answer
    hide = hiding(request, compiled)
    of_api = is_address_of(compiled.bundle.upstream, request.url)
    document, variables = _asked(request.body, hide) if of_api else ("", None)
    headers = request.headers.items() if of_api else ()
    return {
        "method": request.method,
        "url": shown_url(request.url),
        "headers": {name: value if name.lower() in PLAIN_HEADERS else HIDDEN for name, value in headers},
        "document": document,
        "variables": variables,
        "status": answer.status if answer else 0,
        "ms": exchange.duration_ms,
        "answer": _text(answer.body, hide) if answer and of_api else "",
        "said": describe(exchange, compiled),
    }


def _asked(body: bytes | None, hide: Hiding) -> tuple[str, Any]:
    """Return the document and the variables of a request, without secrets."""
    try:
        asked = parse_json(body or b"{}")
    except ValueError:
        return "", None
    document = asked.get("query")
    return _cut(hide.apply(document)) if isinstance(document, str) else "", _without(asked.get("variables"), hide)


def _without(value: Any, hide: Hiding) -> Any:
    """Return JSON without secrets. It is a text if it is too long, or no JSON any more."""
    shown = hide.apply(json.dumps(value, ensure_ascii=False))
    try:
        return _cut(shown) if len(shown) > MAX_TEXT_CHARS else parse_json(shown.encode(errors="replace"))
    except ValueError:
        return shown


def _text(body: bytes, hide: Hiding) -> str:
    return _cut(hide.apply(body[:MAX_READ_CHARS].decode(errors="replace")).strip())


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT_CHARS else f"{text[: MAX_TEXT_CHARS - 1]}…"
