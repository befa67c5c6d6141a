"""Failures of requests to the API: the sentences for the model, and the words for the log.

A mutation without a usable response may have been carried out. So no sentence may advise to send the mutation again.
"""

from __future__ import annotations

from typing import Any

from handler.bundle.upstream import NoAuth, PassthroughAuth, TokenExchangeAuth, UpstreamAuth
from handler.errors.infrastructure import HttpEncoding, HttpError, HttpTimeout, HttpTooLarge
from handler.errors.upstream import UpstreamFailure
from handler.http.client import HttpResponse
from handler.records import record
from handler.server.asgi.content_negotiation import EVENT_STREAM, media_type_of
from handler.server.upstream.graphql_request import GraphQLRequest
from handler.server.upstream.plain_words import plain_text, quoted, waiting, words_in

UNDECIDED = frozenset({408})
"""Statuses below 500 after which the request may have been carried out."""

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

    def sentences(self, operation: GraphQLRequest) -> str:
        """Build the sentences for the model that sent an operation; empty string if there is nothing to say."""
        then = self.advice if self.undone else _doubt(operation) or self.advice
        return f"{self.said} {then}".strip()


def _doubt(operation: GraphQLRequest) -> str:
    """A sentence about a mutation without a response; empty string for a query, which changes nothing."""
    if operation.is_query:
        return ""
    key = operation.idempotency_key
    named = f" It was sent with the idempotency key {key}." if key else ""
    return (
        "The mutation was sent and may have been carried out: find out whether it was before anything is sent "
        f"once more.{named}"
    )


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
        return Trouble(word="UpstreamRedirect", detail=str(status), said=said, advice=MAINTAINER)
    if is_refusal(answer, words):
        said = f"{refused_credential(status, auth)}{quoted(words)}"
        return Trouble(word=refusal_word(auth), detail=str(status), said=said, undone=True)
    if status >= 400:
        return _failed_status(answer, words)
    word, detail, what = _unread(answer, body)
    wait = waiting(answer)  # GitHub uses status 200 for rate limits too
    said = f"The API answered with status {status} and no GraphQL response{what}.{quoted(words)} {wait}".rstrip()
    return Trouble(word=word, detail=detail, said=said, advice="Try again then." if wait else "")


def in_graphql(answer: HttpResponse, auth: UpstreamAuth, *, words: str, judged: bool) -> Trouble:
    """Describe the status and headers of a GraphQL response with errors and without a value.

    ``words`` are the first error's message. ``judged``: the API itself reports the fate of the operation, whatever the
    status. A gateway too may answer in GraphQL, when the API behind the gateway gave no response.
    """
    status, undone = answer.status, judged or _is_undone(answer.status)
    if is_refusal(answer, words):
        said = refused_credential(status, auth)
        return Trouble(word=refusal_word(auth), detail=str(status), said=said, undone=True)
    return Trouble(word=_word_for(status), detail=str(status), said=waiting(answer), undone=undone)


def _failed_status(answer: HttpResponse, words: str) -> Trouble:
    status, wait = answer.status, waiting(answer)
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
    return status < 500 and status != 429


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
        return "UpstreamBadJson", "", ": it is not valid JSON"
    return "UpstreamNotGraphQL", "", ""


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
