"""Failures of requests to the API: the sentences for the model, and the words for the log.

A mutation without a usable response may have been carried out. So no sentence may advise to send the mutation again.
"""

from __future__ import annotations

import math
import re
import time
from codecs import BOM_UTF8
from collections.abc import Mapping, Sequence
from html import unescape
from json import JSONDecodeError
from typing import Any

from handler.bundle.upstream import NoAuth, UpstreamAuth
from handler.cold.records import record
from handler.errors.infrastructure import HttpEncoding, HttpError, HttpHeadTooLarge, HttpTimeout, HttpTooLarge
from handler.errors.upstream import UpstreamFailure
from handler.http.client import HttpResponse
from handler.server.asgi.content_negotiation import EVENT_STREAM, media_type_of
from handler.server.upstream.graphql_request import GraphQLRequest
from handler.server.upstream.named_coordinates import without_suggestions
from handler.strict_json import parse_json
from handler.text.sentences import some

UNDECIDED = frozenset({408})
"""Statuses below 500 after which the request may have been carried out."""

REDIRECTED = frozenset({301, 302, 307, 308})
"""Redirects of a request that was not carried out. 303 may follow the execution. Source: RFC 9110, section 15.4."""

MAINTAINER = "This tool's maintainer has to fix the problem."
LATER, ASK_LESS = "Try later.", "Ask for fewer rows or fields."

CSRF = re.compile(r"\b(csrf|xsrf|cross.site.request)|anti.?forgery|InvalidAuthenticityToken", re.IGNORECASE)

OF_ACCESS = re.compile(
    r"\b(forbidden|denied|permi(t|ssion)|unauthori|authenti|credential|token|key|log ?in|sign ?in)", re.I
)
"""Words of a page that may be about the credential."""

MAX_WORDS_CHARS = 300
"""Characters of an API's text outside of GraphQL that the model gets."""

MAX_PAGE_CHARS = 16_384
MAX_WAIT_S = 10_000_000

_PAGE = re.compile(r"\ufeff?\s*<(!doctype html|html|head|body|title|h1)\b", re.IGNORECASE)
_MARKUP = re.compile(r"<!--(?:.*?-->|.*)|<(script|style)\b(?:.*?</\1[^<>]*>?|.*)|<[^<>]*>?", re.IGNORECASE | re.DOTALL)
_SECONDS = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")


@record(frozen=True, slots=True)
class Trouble:
    """A failed request. ``undone``: the API carried out nothing, so sending the request again repeats nothing."""

    word: str  # for the log
    sentence: str  # for the model
    advice: str = ""  # a second sentence, used only if the request may be sent again
    detail: str = ""  # for the log
    undone: bool = False

    @property
    def reason(self) -> str:
        """The log's reason."""
        return f"{self.word}: {self.detail}" if self.detail else self.word

    def of(self, operation: GraphQLRequest) -> UpstreamFailure:
        """Build the error to raise for an operation."""
        return UpstreamFailure(self.sentences(operation), reason=self.reason)

    def sentences(self, operation: GraphQLRequest, *, run: Sequence[str] = ()) -> str:
        """Build the sentences for the model that sent an operation; empty string if there is nothing to say.

        ``run``: the root fields that the API has surely run.
        """
        warning = "" if self.undone else doubt(operation, run=run)
        advice = self.advice if not warning or self.advice == MAINTAINER else ""
        return " ".join(filter(None, (self.sentence, warning, advice)))


def doubt(operation: GraphQLRequest, *, run: Sequence[str]) -> str:
    """A sentence about a mutation that may have been carried out; empty string for a query, which changes nothing."""
    if operation.is_query:
        return ""
    fact = "The mutation was sent and may have been carried out: find out whether it was"
    if run:
        fact = f"The API has run {some(run)}, and its answer has errors: find out what was carried out"
    key = operation.idempotency_key
    return f"{fact} before anything is sent once more." + (
        f" It was sent with the idempotency key {key}." if key else ""
    )


def without_answer(failure: HttpError, *, timeout_s: float) -> Trouble:
    """Describe an exchange without a response."""
    match failure:
        case HttpTimeout(sent=False):
            sentence = f"The API could not be reached within {timeout_s:.3g} s, so nothing was sent."
            return Trouble("UpstreamUnreachable", sentence, LATER, "no connection in time", undone=True)
        case HttpTimeout():
            sentence = f"The API did not answer within {timeout_s:.3g} s."
            return Trouble("UpstreamTimeout", sentence, "Ask for less, or try later.")
        case HttpTooLarge():
            sentence = f"The API's answer is larger than {failure.max_bytes} bytes."
            return Trouble("UpstreamTooLarge", sentence, ASK_LESS)
        case HttpEncoding():
            encoding = plain_text(failure.encoding, most=40)
            sentence = f"The API's answer has the encoding {encoding}, which was not requested."
            return Trouble("UpstreamEncoding", sentence, MAINTAINER, encoding)
        case HttpError(sent=False):
            sentence = "The API cannot be reached at the moment, so nothing was sent."
            return Trouble("UpstreamUnreachable", sentence, LATER, failure.reason, undone=True)
        case HttpHeadTooLarge():
            sentence = "The API's answer cannot be read: it has too many headers, or too long ones."
            return Trouble("UpstreamBroken", sentence, MAINTAINER, failure.reason)
        case HttpError():
            sentence = "The API's answer broke off, or could not be read."
            return Trouble("UpstreamBroken", sentence, LATER, failure.reason)


def too_costly(excess: str) -> Trouble:
    """Describe a response that would take too much time or memory to read."""
    return Trouble("UpstreamTooLarge", f"The API's answer has {excess}, so it is not read.", ASK_LESS, excess)


def without_graphql(answer: HttpResponse, body: Any, auth: UpstreamAuth) -> Trouble:
    """Describe a response that is not a GraphQL response. ``body`` is its JSON; ``None`` if the JSON is invalid."""
    status, words = answer.status, api_message(body)
    if 300 <= status < 400:
        sentence = "The API answered with a redirect, which is not followed."
        return Trouble("UpstreamRedirect", sentence, MAINTAINER, str(status), undone=status in REDIRECTED)
    page = page_text(answer.body) if body is None else ""
    if 400 <= status < 500 and CSRF.search(words or page or answer.body[:MAX_WORDS_CHARS].decode(errors="replace")):
        sentence = f"The API's protection against cross-site request forgery refused the request (status {status})."
        return Trouble("UpstreamCsrf", sentence, MAINTAINER, str(status), undone=True)
    if is_refusal(answer, words):
        if status == 403 and page and not OF_ACCESS.search(page):
            sentence = f"The API refused the request with a web page (status {status})."
            return Trouble("UpstreamHtml", sentence, MAINTAINER, str(status), undone=True)
        return _refused_credential(f"status {status}", auth, words=words, undone=True)
    if status >= 400:
        word, detail, content, undone = _word_for(status), str(status), "", _is_undone(status)
        advice = LATER if status >= 500 or word == "UpstreamLimit" else ""
    else:  # GitHub uses status 200 for rate limits too
        (word, detail, content), undone, advice = _unread(answer, body), False, ""
    wait = waiting(answer, body)
    sentence = (
        f"The API answered with status {status} and no GraphQL response{content}.{api_quote(words)} {wait}".rstrip()
    )
    return Trouble(word, sentence, "Try again then." if wait else advice, detail, undone=undone)


def in_graphql(
    answer: HttpResponse, body: Any, auth: UpstreamAuth, *, words: str, refused: str, undone: bool | None
) -> Trouble:
    """Describe the status and headers of a GraphQL response with errors and without a value.

    ``refused`` is the code by which an error refuses the credential; empty string if there is none.

    ``words`` are the first error's message. ``undone`` is the fate of the operation if the errors show it; ``None`` if
    only the status does. A gateway too may answer in GraphQL, when the API behind the gateway gave no response.
    """
    status = answer.status
    if refused or is_refusal(answer, words):
        sign = f"status {status}" if status in (401, 403) else refused
        return _refused_credential(sign, auth, undone=undone is not False)
    undone = _is_undone(status) if undone is None else undone
    return Trouble(_word_for(status), waiting(answer, body), detail=str(status), undone=undone)


def is_usual(status: int) -> bool:
    """Return whether servers use a status for errors of any kind, so that it says no more than the errors do."""
    return status != 429 and _is_undone(status)


def _is_undone(status: int) -> bool:
    return status < 500 and status not in UNDECIDED


def _word_for(status: int) -> str:
    """The log's word for a status other than a refused credential. GitHub and Shopify use 200 for limits."""
    return "UpstreamLimit" if status in (200, 403, 429) else "UpstreamStatus"


def is_refusal(answer: HttpResponse, words: str = "") -> bool:
    """Return whether a response refuses the credential. GitHub uses 403 for rate limits too."""
    remaining = answer.headers.get("x-ratelimit-remaining", "").strip()
    limited = "retry-after" in answer.headers or remaining == "0" or "rate limit" in words.lower()
    return answer.status == 401 or (answer.status == 403 and not limited)


def _refused_credential(sign: str, auth: UpstreamAuth, *, words: str = "", undone: bool) -> Trouble:
    """Describe a refused credential, and name the person to replace it: the caller, or the tool's maintainer.

    ``sign`` is the status, or the code of an error, that refuses it.
    """
    if auth.OF_CALLER:
        word, owner = "CallerTokenRefused", "the token of this tool's caller"
        remedy = "Tell your user to sign in again; if that does not help, they may not use this API."
    elif isinstance(auth, NoAuth):
        word, owner, remedy = "UpstreamRefused", "this endpoint, which has no credential for it", MAINTAINER
    else:
        word, owner, remedy = (
            "UpstreamRefused",
            "the endpoint's own credential",
            f"No argument replaces it. {MAINTAINER}",
        )
    sentence = f"The API refused {owner} ({sign}). {remedy}{api_quote(words)}"
    return Trouble(word, sentence, detail=sign.removeprefix("status "), undone=undone)


def _unread(answer: HttpResponse, body: Any) -> tuple[str, str, str]:
    """The log's word and detail for a response below 400, and a clause about its content."""
    kind = media_type_of(answer.headers.get("content-type", ""))
    if kind.startswith("multipart/"):
        content = ": it comes in parts (multipart), as for @defer and @stream"
        return "UpstreamMediaType", plain_text(kind, most=40), content
    if kind == EVENT_STREAM:
        return "UpstreamMediaType", kind, ": it is a stream of events, as for subscriptions"
    if kind in ("text/html", "application/xhtml+xml"):
        return "UpstreamHtml", "", ": it is a web page"
    if body is None:
        fault = _json_fault(answer.body)
        return "UpstreamBadJson", fault, f" that can be read: {fault}" if fault else ": it is not valid JSON"
    if isinstance(body, dict) and body.get("hasNext") is True:
        return "UpstreamMediaType", "hasNext", ": it is the first of several parts, as for @defer and @stream"
    return "UpstreamNotGraphQL", "", ""


def _json_fault(raw: bytes) -> str:
    """Return the fault of unreadable JSON; empty string if the text is merely not JSON."""
    if b"\0" in raw[:4]:
        return "it is UTF-16 or UTF-32, not UTF-8"
    try:
        parse_json(raw.removeprefix(BOM_UTF8))
    except UnicodeDecodeError as exc:
        latin = "; it may be Latin-1" if raw.decode(errors="ignore").isascii() else ""
        return f"it is not UTF-8 (byte 0x{raw[exc.start]:02x} at {exc.start}{latin})"
    except JSONDecodeError:
        return ""
    except ValueError as exc:
        return str(exc)
    return ""


def waiting(answer: HttpResponse, body: Any) -> str:
    """A sentence with the wait that the API asks for; empty string if the API does not ask for one.

    Some APIs give the seconds as the extension ``retryAfter`` of their answer, or of an error.

    Source: RFC 9110, section 10.2.3.
    """
    errors = body.get("errors") if isinstance(body, dict) else None
    members = [body, *(errors[:10] if isinstance(errors, list) else ())]
    extensions = [member.get("extensions") for member in members if isinstance(member, dict)]
    hints = [extension.get("retryAfter") for extension in extensions if isinstance(extension, dict)]
    seconds = next((str(hint) for hint in hints if isinstance(hint, int | float | str)), "")
    text = answer.headers.get("retry-after", seconds).strip()[:64]
    wait_s = float(text) if _SECONDS.fullmatch(text) else _until(text)
    return f"The API asks to wait {math.ceil(wait_s)} s." if 0 <= wait_s <= MAX_WAIT_S else ""


def _until(date: str) -> float:
    """Return the seconds until an HTTP date; 0 if the date has passed, negative if the text is not a date."""
    from email.utils import parsedate_to_datetime  # its import takes milliseconds, and few APIs write a date

    try:
        return max(parsedate_to_datetime(date).timestamp() - time.time(), 0.0)
    except (ValueError, OverflowError):
        return -1.0


def api_message(body: Any) -> str:
    """Return the message in a response that is not GraphQL; empty string if no known member has one.

    Source: RFC 9457 for ``title`` and ``detail``, RFC 6749 for ``error_description``; GitHub, AWS and Hasura.
    """
    if not isinstance(body, dict):
        return ""
    for name in ("message", "Message", "error_description", "detail", "title", "error"):
        text = body.get(name)
        if isinstance(text, Mapping):
            text = text.get("message")
        if isinstance(text, str) and not text[:MAX_WORDS_CHARS].lstrip().startswith("<"):  # HTML within JSON
            plain = plain_text(text, most=MAX_WORDS_CHARS)
            if plain:
                return plain
    return ""


def api_quote(words: str) -> str:
    """A sentence that quotes the words of an API; empty string if there are none."""
    words = without_suggestions(words)
    return f' The API says: "{words}"' if words else ""


def page_text(body: bytes) -> str:
    """Return the text at the beginning of an HTML page, its title first; empty string if the body is not one."""
    text = body[:MAX_PAGE_CHARS].decode(errors="replace")
    return plain_text(unescape(_MARKUP.sub(" ", text)), most=MAX_PAGE_CHARS) if _PAGE.match(text) else ""


def plain_text(text: str, *, most: int) -> str:
    """Return a text on one line, cut, without unprintable characters."""
    cut = text[: 2 * most]
    line = " ".join("".join(char if char.isprintable() else " " for char in cut).split())
    return line if len(line) <= most and len(text) <= 2 * most else f"{line[: most - 1]}…"
