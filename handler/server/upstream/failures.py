"""Failures of requests to the API: the sentences for the model, and the words for the log.

A mutation without a usable response may have been carried out. So no sentence may advise to send the mutation again.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Sequence
from json import JSONDecodeError
from typing import Any

from handler.bundle.upstream import NoAuth, PassthroughAuth, TokenExchangeAuth, UpstreamAuth
from handler.cold.records import record
from handler.errors.infrastructure import HttpEncoding, HttpError, HttpHeadTooLarge, HttpTimeout, HttpTooLarge
from handler.errors.upstream import UpstreamFailure
from handler.http.client import HttpResponse
from handler.server.asgi.content_negotiation import EVENT_STREAM, media_type_of
from handler.server.upstream.graphql_request import GraphQLRequest
from handler.server.upstream.plain_words import (
    CSRF,
    MAX_WORDS_CHARS,
    OF_ACCESS,
    page_text,
    plain_text,
    quoted,
    waiting,
    words_in,
)
from handler.strict_json import parse_json
from handler.text.sentences import some

UNDECIDED = frozenset({408})
"""Statuses below 500 after which the request may have been carried out."""

REDIRECTED = frozenset({301, 302, 307, 308})
"""Redirects of a request that was not carried out. 303 may follow the execution. Source: RFC 9110, section 15.4."""

NOT_SENT = "so nothing was sent"


@record(frozen=True, slots=True, kw_only=True)
class Trouble:
    """A failed request. ``undone``: the API carried out nothing, so sending the request again repeats nothing."""

    word: str  # for the log
    detail: str = ""  # for the log
    said: str  # a sentence for the model
    advice: str = ""  # a second sentence, used only if the request may be sent again
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
        return " ".join(filter(None, (self.said, warning, advice)))


def doubt(operation: GraphQLRequest, *, run: Sequence[str]) -> str:
    """A sentence about a mutation that may have been carried out; empty string for a query, which changes nothing."""
    if operation.is_query:
        return ""
    key = operation.idempotency_key
    named = f" It was sent with the idempotency key {key}." if key else ""
    if run:
        known = f"The API has run {some(run)}, and its answer has errors: find out what was carried out"
    else:
        known = "The mutation was sent and may have been carried out: find out whether it was"
    return f"{known} before anything is sent once more.{named}"


def without_answer(failure: HttpError, *, timeout_s: float) -> Trouble:
    """Describe an exchange without a response."""
    match failure:
        case HttpTimeout(sent=False):
            return Trouble(
                word="UpstreamUnreachable",
                detail="no connection in time",
                said=f"The API could not be reached within {timeout_s:.3g} s, {NOT_SENT}.",
                advice="Try later.",
                undone=True,
            )
        case HttpTimeout():
            said = f"The API did not answer within {timeout_s:.3g} s."
            return Trouble(word="UpstreamTimeout", said=said, advice="Ask for less, or try later.")
        case HttpTooLarge():
            said = f"The API's answer is larger than {failure.max_bytes} bytes."
            return Trouble(word="UpstreamTooLarge", said=said, advice="Ask for fewer rows or fields.")
        case HttpEncoding():
            encoding = plain_text(failure.encoding, most=40)
            said = f"The API's answer has the encoding {encoding}, which was not requested."
            return Trouble(word="UpstreamEncoding", detail=encoding, said=said, advice=MAINTAINER)
        case HttpError(sent=False):
            return Trouble(
                word="UpstreamUnreachable",
                detail=failure.reason,
                said=f"The API cannot be reached at the moment, {NOT_SENT}.",
                advice="Try later.",
                undone=True,
            )
        case HttpHeadTooLarge():
            said = "The API's answer cannot be read: it has too many headers, or too long ones."
            return Trouble(word="UpstreamBroken", detail=failure.reason, said=said, advice=MAINTAINER)
        case _:
            said = "The API's answer broke off, or could not be read."
            return Trouble(word="UpstreamBroken", detail=failure.reason, said=said, advice="Try later.")


def too_costly(excess: str) -> Trouble:
    """Describe a response that would take too much time or memory to read."""
    said = f"The API's answer has {excess}, so it is not read."
    return Trouble(word="UpstreamTooLarge", detail=excess, said=said, advice="Ask for fewer rows or fields.")


def without_graphql(answer: HttpResponse, body: Any, auth: UpstreamAuth) -> Trouble:
    """Describe a response that is not a GraphQL response. ``body`` is its JSON; ``None`` if the JSON is invalid."""
    status, words = answer.status, words_in(body)
    if 300 <= status < 400:
        said = "The API answered with a redirect, which is not followed."
        return Trouble(
            word="UpstreamRedirect", detail=str(status), said=said, advice=MAINTAINER, undone=status in REDIRECTED
        )
    page = page_text(answer.body) if body is None else ""
    text = words or page or answer.body[:MAX_WORDS_CHARS].decode(errors="replace")
    if 400 <= status < 500 and CSRF.search(text):
        said = f"The API's protection against cross-site request forgery refused the request (status {status})."
        return Trouble(word="UpstreamCsrf", detail=str(status), said=said, advice=MAINTAINER, undone=True)
    if is_refusal(answer, words):
        if status == 403 and page and not OF_ACCESS.search(page):
            said = f"The API refused the request with a web page (status {status})."
            return Trouble(word="UpstreamHtml", detail=str(status), said=said, advice=MAINTAINER, undone=True)
        said = f"{refused_credential(status, auth)}{quoted(words)}"
        return Trouble(word=refusal_word(auth), detail=str(status), said=said, undone=True)
    if status >= 400:
        return _failed_status(answer, body, words)
    word, detail, what = _unread(answer, body)
    wait = waiting(answer, body)  # GitHub uses status 200 for rate limits too
    said = f"The API answered with status {status} and no GraphQL response{what}.{quoted(words)} {wait}".rstrip()
    return Trouble(word=word, detail=detail, said=said, advice="Try again then." if wait else "")


def in_graphql(answer: HttpResponse, body: Any, auth: UpstreamAuth, *, words: str, undone: bool | None) -> Trouble:
    """Describe the status and headers of a GraphQL response with errors and without a value.

    ``words`` are the first error's message. ``undone`` is the fate of the operation if the errors show it; ``None`` if
    only the status does. A gateway too may answer in GraphQL, when the API behind the gateway gave no response.
    """
    status = answer.status
    if is_refusal(answer, words):
        said = refused_credential(status, auth)
        return Trouble(word=refusal_word(auth), detail=str(status), said=said, undone=undone is not False)
    undone = _is_undone(status) if undone is None else undone
    return Trouble(word=_word_for(status), detail=str(status), said=waiting(answer, body), undone=undone)


def _failed_status(answer: HttpResponse, body: Any, words: str) -> Trouble:
    status, wait = answer.status, waiting(answer, body)
    said = f"The API answered with status {status} and no GraphQL response.{quoted(words)}"
    later = "Try later." if status >= 500 or _word_for(status) == "UpstreamLimit" else ""
    return Trouble(
        word=_word_for(status),
        detail=str(status),
        said=f"{said} {wait}".rstrip(),
        advice="Try again then." if wait else later,
        undone=_is_undone(status),
    )


def is_usual(status: int) -> bool:
    """Tell if servers use a status for errors of any kind, so that it says no more than the errors do."""
    return status != 429 and _is_undone(status)


def _is_undone(status: int) -> bool:
    return status < 500 and status not in UNDECIDED


def _word_for(status: int) -> str:
    """The log's word for a status other than a refused credential. GitHub and Shopify use 200 for limits."""
    return "UpstreamLimit" if status in (200, 403, 429) else "UpstreamStatus"


def _unread(answer: HttpResponse, body: Any) -> tuple[str, str, str]:
    """The log's word and detail for a response below 400, and a clause about its content."""
    kind = media_type_of(answer.headers.get("content-type", ""))
    if kind.startswith("multipart/"):
        return (
            "UpstreamMediaType",
            plain_text(kind, most=40),
            ": it comes in parts (multipart), as for @defer and @stream",
        )
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


MAINTAINER = "This tool's maintainer has to fix the problem."


def refused_credential(status: int, auth: UpstreamAuth) -> str:
    """Build the sentences about a refused credential and the person who can replace it."""
    match auth:
        case PassthroughAuth() | TokenExchangeAuth():
            whose, then = (
                "the token of this tool's caller",
                ("Tell your user to sign in again; if that does not help, they may not use this API."),
            )
        case NoAuth():
            whose, then = "this endpoint, which has no credential for it", MAINTAINER
        case _:
            whose, then = "the endpoint's own credential", f"No argument replaces it. {MAINTAINER}"
    return f"The API refused {whose} (status {status}). {then}"


def refusal_word(auth: UpstreamAuth) -> str:
    """Return the log's word for a refused credential. A maintainer can act only on the endpoint's own credential."""
    return "CallerTokenRefused" if isinstance(auth, PassthroughAuth | TokenExchangeAuth) else "UpstreamRefused"


def is_refusal(answer: HttpResponse, words: str = "") -> bool:
    """Tell if a response refuses the credential. GitHub uses 403 for rate limits too."""
    left = answer.headers.get("x-ratelimit-remaining", "").strip()
    limited = "retry-after" in answer.headers or left == "0" or "rate limit" in words.lower()
    return answer.status == 401 or (answer.status == 403 and not limited)
