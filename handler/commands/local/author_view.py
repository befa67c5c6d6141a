"""The author's view of a call: the requests to the API, the reason of a refused credential, and tracebacks.

The caller gets none of this.
"""

from __future__ import annotations

import json
import logging
import sysconfig
import time
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import handler
from handler.bundle.identity import Identity, is_for_trials
from handler.bundle.upstream import is_address_of
from handler.code_tools.boundary import AuthorFailed
from handler.commands.console import EscapingFormatter
from handler.commands.local.local_server import SeenExchange
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
from handler.errors.access import CredentialRefused
from handler.http.client import HttpRequest
from handler.server.auth.principal import audiences_in
from handler.server.auth.tokens import Token, parse_token
from handler.server.upstream.failures import plain_text
from handler.strict_json import parse_json
from handler.text.sentences import some

MAX_CHARS = 200


def lines_of(exchange: SeenExchange, compiled: Compiled) -> list[str]:
    """Return the lines on one exchange. Bodies are shown of the API only: others, of tokens, are secrets."""
    hide = hiding(exchange.request, compiled)
    request, answer = exchange.request, exchange.answer
    end = f"{describe(exchange, compiled)} ({exchange.duration_ms} ms)"
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
    text = hide("\n".join(lines))
    cut = text if len(text) <= MAX_BODY_CHARS else f"{text[: MAX_BODY_CHARS - 1]}…"
    return [f"  {line}" for line in cut.splitlines()]


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
    return "(none)" if value is None else f'"{plain_text(str(value), most=MAX_CHARS)}"'


def author_traceback(failure: BaseException, *, whole: bool) -> str:
    """Format an exception. Unless ``whole``, only its own frames of authors' code are in it, and no cause that is ours.

    Without a frame of an author, a tool's failure is its sentence alone, and any other is formatted whole.
    """
    if whole:
        return "".join(traceback.format_exception(failure))
    error = failure.error if isinstance(failure, AuthorFailed) else failure
    report = traceback.TracebackException.from_exception(error)
    has_frames = False
    each: traceback.TracebackException | None = report
    while each is not None:
        own = [frame for frame in each.stack if not _is_ours(frame.filename)]
        has_frames = has_frames or bool(own)
        each.stack = traceback.StackSummary.from_list(own)
        each = each.__cause__ or (None if each.__suppress_context__ else each.__context__)
    if has_frames:
        return "".join(report.format())
    return "".join(report.format_exception_only() if error is not failure else traceback.format_exception(failure))


def _is_ours(file: str) -> bool:
    """Return whether a frame is ours or the standard library's, among whose folders are those of installed packages."""
    path = Path(file)
    is_installed = not {"site-packages", "dist-packages"}.isdisjoint(path.parts)
    is_standard = path.is_relative_to(sysconfig.get_paths()["stdlib"]) and not is_installed
    return file.startswith("<frozen") or path.is_relative_to(Path(handler.__file__).parent) or is_standard


class AuthorFormatter(EscapingFormatter):
    """A formatter of log records whose tracebacks of authors' tools show authors' frames, or with ``whole`` all."""

    def __init__(self, *, whole: bool) -> None:
        super().__init__()
        self._whole = whole

    def format(self, record: logging.LogRecord) -> str:
        if record.name == "stile.tools" and record.exc_info and record.exc_info[1] and not record.exc_text:
            record.exc_text = author_traceback(record.exc_info[1], whole=self._whole).rstrip("\n")
        return super().format(record)


def show_authors_frames(*, whole: bool) -> None:
    """Print tracebacks of this process's log records as above."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(AuthorFormatter(whole=whole))
