"""Texts of an API outside of GraphQL, as short plain text: error messages, and the time to wait."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from html import unescape
from typing import Any

from handler.http.client import HttpResponse
from handler.server.upstream.named_coordinates import without_suggestions

MAX_WORDS_CHARS = 300
"""Characters of an API's text outside of GraphQL that the model gets."""

MAX_WAIT_S = 10_000_000


CSRF = re.compile(r"\b(csrf|xsrf|cross.site.request)|anti.?forgery|InvalidAuthenticityToken", re.IGNORECASE)

OF_ACCESS = re.compile(
    r"\b(forbidden|denied|permi(t|ssion)|unauthori|authenti|credential|token|key|log ?in|sign ?in)", re.I
)
"""Words of a page that may be about the credential."""

MAX_PAGE_CHARS = 16_384
_PAGE = re.compile(r"\ufeff?\s*<(!doctype html|html|head|body|title|h1)\b", re.IGNORECASE)
_MARKUP = re.compile(r"<!--(?:.*?-->|.*)|<(script|style)\b(?:.*?</\1[^<>]*>?|.*)|<[^<>]*>?", re.IGNORECASE | re.DOTALL)


def page_text(body: bytes) -> str:
    """Return the text at the beginning of an HTML page, its title first; empty string if the body is not one."""
    text = body[:MAX_PAGE_CHARS].decode(errors="replace")
    return plain_text(unescape(_MARKUP.sub(" ", text)), most=MAX_PAGE_CHARS) if _PAGE.match(text) else ""


def waiting(answer: HttpResponse, body: Any) -> str:
    """A sentence with the wait that the API asks for; empty string if the API does not ask for one.

    Some APIs give the seconds as the extension ``retryAfter`` of their answer, or of an error.

    Source: RFC 9110, section 10.2.3.
    """
    errors = body.get("errors") if isinstance(body, dict) else None
    members = [body, *(errors[:10] if isinstance(errors, list) else ())]
    extensions = [each.get("extensions") for each in members if isinstance(each, dict)]
    stated = [each.get("retryAfter") for each in extensions if isinstance(each, dict)]
    seconds = next((str(each) for each in stated if isinstance(each, int | float | str)), "")
    given = answer.headers.get("retry-after", seconds).strip()[:64]
    wait_s = float(given) if _SECONDS.fullmatch(given) else _until(given)
    return f"The API asks to wait {math.ceil(wait_s)} s." if 0 <= wait_s <= MAX_WAIT_S else ""


_SECONDS = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")


def _until(date: str) -> float:
    """Return the seconds until an HTTP date; 0 if the date has passed, negative if the text is not a date."""
    from email.utils import parsedate_to_datetime  # its import takes milliseconds, and few APIs write a date

    try:
        return max(parsedate_to_datetime(date).timestamp() - time.time(), 0.0)
    except (ValueError, OverflowError):
        return -1.0


def words_in(body: Any) -> str:
    """Return the message in a response that is not GraphQL; empty string if no known member has one.

    Source: RFC 9457 for ``title`` and ``detail``, RFC 6749 for ``error_description``; GitHub, AWS and Hasura.
    """
    if not isinstance(body, dict):
        return ""
    for name in ("message", "Message", "error_description", "detail", "title", "error"):
        said = body.get(name)
        if isinstance(said, Mapping):
            said = said.get("message")
        if isinstance(said, str) and not said[:MAX_WORDS_CHARS].lstrip().startswith("<"):  # HTML within JSON
            plain = plain_text(said, most=MAX_WORDS_CHARS)
            if plain:
                return plain
    return ""


def quoted(words: str) -> str:
    """A sentence that quotes the words of an API; empty string if there are none."""
    told = without_suggestions(words)
    return f' The API says: "{told}"' if told else ""


def plain_text(text: str, *, most: int) -> str:
    """Return a text on one line, cut, without unprintable characters."""
    cut = text[: 2 * most]
    shown = " ".join("".join(each if each.isprintable() else " " for each in cut).split())
    return shown if len(shown) <= most and len(text) <= 2 * most else f"{shown[: most - 1]}…"
