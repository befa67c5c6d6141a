"""Every error that Stile raises.

    StileError
      CompileError              an endpoint folder has problems; carries all of them
      UnknownCoordinate         a text that names nothing in a schema
      PatternRefused            a regular expression that is invalid or may take very long
      PredicateRefused          a condition of a policy that cannot be read
      KeyRefused                a text that is not a public key for its algorithm
      BundleError               bytes that are not a bundle this release can serve
      SettingsError             an environment variable that is missing or not valid
      StorageError              the storage of the bundles did not answer as it should
        ObjectNotFound          the storage has no such object
      AwsError                  AWS refused, or there are no credentials to sign a request with
        AwsDenied               the credentials do not allow the call
        AwsUnanswered           an AWS service did not answer, or says to try later
      SecretUnavailable         a secret of the function's settings cannot be read
      HttpError                 an HTTP exchange without a response to read
        HttpTimeout             the deadline passed
        HttpUnreachable         no connection, or one that broke before the response was complete
          AddressRefused        an address that no author may send requests to
          HttpEncoding          a response in an encoding that was not requested
        HttpTooLarge            more bytes than the caller allowed
      AccessError               the caller may not do this
        CredentialRequired      an anonymous caller, and a credential is required
        CredentialRefused       a credential that is unknown or expired
        CredentialMalformed     a request whose credential cannot be read
        KeysUnavailable         a credential that cannot be verified at the moment
        VerifierMissing         a credential that this function was built without the packages to verify
        InsufficientScope       a credential that lacks scopes
      OAuthRefused              a request to the OAuth proxy that gets an OAuth error
        RedirectRefused         a redirect URI that the owner does not allow
      EndpointNotFound          no published endpoint of that folder/name
      FunctionLacks             the function was built or configured without something that an endpoint needs
      UnservedSource            records of an event source that would be lost if the function returned
      NotFound                  no object of that name for this caller, whether or not it exists
        ToolNotFound            no tool
        PromptNotFound          no prompt
        ResourceNotFound        no resource of that URI
      DocumentNotFound          no persisted document of that id for this caller
      CallError                 a call that fails for a reason the model can act on
        BindingMissing          the request lacks the source of a variable that the model may not fill
        ConsentRequired         the caller's user has not agreed to the call
        ConsentImpossible       the caller's user cannot be asked over this channel
        ConsentDeclined         the caller's user was asked, and did not agree
        ConsentTooLong          the call is too long to show to the caller's user in full
        InvalidArguments        arguments that do not fit the tool's schema
        DocumentRefused         a GraphQL document outside the view or its limits
        ValuesRefused           a policy does not let this caller give these values
        CallerTokenRequired     the API needs the caller's own token, and there is none that it may have
        ClaimMissing            the caller's claims lack one that is sent to the API
        HeaderRefused           a header of the caller's request that cannot be forwarded
        UpstreamError           no usable answer from the GraphQL API
          AnswerMisfit          an answer that violates the API's published schema
          UpstreamFailure       a failed request: the log has a word for the failure
          UpstreamForbidden     an API address that no author may send requests to
          CircuitOpen           the API did not answer, so no request is sent for a while
          CredentialUnavailable the credential for the API was not available, so nothing was sent
        DeadlinePassed          no time left
        ToolError               a failure reported by a code tool
          GraphQLErrors         the API's errors for a request that a code tool sent
        StateUnavailable        a call asks its user first, and its state cannot be kept
        ClientCannotAsk         a call asks its user first, and the client's revision of MCP has no way to
        CodeChanged             a code tool that differs from the published one
      McpError                  a JSON-RPC error, with the code that a code tool gives
        InvalidParams           the standard error for invalid input
          StateRefused          an answer to a question that was not asked, or not for this call and caller
        AuthenticationRequired  a tool that needs a credential for the API behind it
      CodeUnavailable           a toolkit that is missing or may not be imported
      ToolDefinitionError       an invalid tool, prompt or resource in Python

No error knows an HTTP status (``server/context/statuses.py`` has them) or a JSON-RPC code. ``McpError``
alone carries a code, because its author chose it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from handler.records import record

MAX_SAID_CHARS = 200
"""Characters of a caller's own words that an error repeats."""


class StileError(Exception):
    """Root of every error that Stile raises on purpose."""


@record(frozen=True, slots=True, kw_only=True)
class Problem:
    """One diagnostic: an error or a warning about an author's file.

    ``line`` and ``column`` count from 1; 0 means the whole file. ``code`` is stable and has its meaning in
    ``compiler/codes/``. ``about`` has the coordinates and names that ``checks.ignore`` in ``config.yaml`` can pick.
    """

    file: str
    line: int = 0
    column: int = 0
    sentence: str
    code: str
    about: tuple[str, ...] = ()

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return f"{place}: {self.sentence}"

    def __lt__(self, other: Problem) -> bool:
        return self._place < other._place

    @property
    def _place(self) -> tuple[str, int, int, str]:
        return self.file, self.line, self.column, self.sentence


class CompileError(StileError):
    """An endpoint folder that cannot become a bundle. ``problems`` holds every problem, in file order."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = tuple(problems)


class UnknownCoordinate(StileError):
    """A text that names nothing in a schema; the message says why. The reader of the text knows its location."""


class PatternRefused(StileError):
    """A regular expression that cannot be used to match values; the message says why."""


class PredicateRefused(StileError):
    """A condition of a policy that cannot be read; the message says why. ``offset``: in characters, from 0."""

    def __init__(self, reason: str, *, offset: int) -> None:
        super().__init__(reason)
        self.offset = offset


class KeyRefused(StileError):
    """A text that is not a public key for its algorithm; the message says why and shows none of the text."""


class BundleError(StileError):
    """Bytes that are not a bundle this release can serve."""

    def __init__(self, reason: str, *, path: str = "") -> None:
        super().__init__(f"{path}: {reason}" if path else reason)
        self.reason = reason
        self.path = path

    def inside(self, part: str) -> BundleError:
        """Return this error with ``part``, such as ``tools[3]``, in front of its path."""
        joint = "" if not self.path or self.path.startswith("[") else "."
        return BundleError(self.reason, path=f"{part}{joint}{self.path}")


class SettingsError(StileError):
    """An environment variable that is missing or not valid."""

    def __init__(self, name: str, value: str, *, expected: str) -> None:
        super().__init__(f"{name}={value!r}: expected {expected}")
        self.name = name
        self.value = value
        self.expected = expected


class StorageError(StileError):
    """The folder or bucket that holds the bundles did not answer as it should."""

    def __init__(self, location: str, reason: str) -> None:
        super().__init__(f"{location}: {reason}")
        self.location = location
        self.reason = reason


class ObjectNotFound(StorageError):
    """The storage answered that there is no such object."""

    def __init__(self, location: str) -> None:
        super().__init__(location, "no such object")


class AwsError(StileError):
    """A refusal by AWS, with AWS's code; or no credentials to sign with, and the message says what to set."""


class AwsDenied(AwsError):
    """AWS knows the credentials, and they do not allow the call."""


class AwsUnanswered(AwsError):
    """An AWS service that did not answer, or says to try later."""


class SecretUnavailable(StileError):
    """A secret of the function's settings that cannot be read. ``reason`` is for the log."""

    def __init__(self, variable: str, reason: str) -> None:
        super().__init__(f"{variable}: {reason}")
        self.variable = variable
        self.reason = reason


class HttpError(StileError):
    """An HTTP exchange without a response to read. Of the address, only ``host`` is shown.

    ``sent``: the server may have received the request, in whole or in part.
    """

    def __init__(self, host: str, reason: str, *, sent: bool = False) -> None:
        super().__init__(f"{host}: {reason}")
        self.host = host
        self.reason = reason
        self.sent = sent


class HttpTimeout(HttpError):
    """The deadline passed before the response was complete."""

    def __init__(self, host: str, *, timeout_s: float, sent: bool = False) -> None:
        super().__init__(host, f"no complete answer within {timeout_s:g} s", sent=sent)
        self.timeout_s = timeout_s


class HttpUnreachable(HttpError):
    """The connection failed, or broke before the response was complete."""


class AddressRefused(HttpUnreachable):
    """The address rules forbid the request. ``reason`` says why, without an address."""


class HttpEncoding(HttpUnreachable):
    """A response in an encoding that was not requested. ``encoding`` is its name, as the server writes it."""

    def __init__(self, host: str, *, encoding: str) -> None:
        super().__init__(host, "the body has an encoding that was not asked for", sent=True)
        self.encoding = encoding


class HttpTooLarge(HttpError):
    """The decoded response is larger than the caller allowed."""

    def __init__(self, host: str, *, max_bytes: int) -> None:
        super().__init__(host, f"the answer is larger than {max_bytes} bytes", sent=True)
        self.max_bytes = max_bytes


class AccessError(StileError):
    """The caller may not do this. ``reason`` is for the log, and holds nothing that the caller sent."""

    def __init__(self, message: str, *, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class CredentialRequired(AccessError):
    """An anonymous caller, and a credential is required. ``scopes``: those that it needs, as far as known."""

    def __init__(self, scopes: Sequence[str] = ()) -> None:
        super().__init__("a credential is required", reason="no_credential")
        self.scopes = tuple(scopes)


class CredentialRefused(AccessError):
    """A credential that is unknown, expired or malformed. Only ``reason`` says which; the message does not."""

    def __init__(self, reason: str) -> None:
        super().__init__("the credential was refused", reason=reason)


class CredentialMalformed(AccessError):
    """A request from which no single credential can be read."""

    def __init__(self) -> None:
        forms = "Authorization: Bearer TOKEN, Authorization: Apikey KEY or X-API-Key: KEY"
        super().__init__(f"expected one credential, as {forms}", reason="malformed")


class KeysUnavailable(AccessError):
    """A token whose keys cannot be read now. The token may be valid, so its holder has no reason to sign in again."""

    def __init__(self, reason: str = "key_set") -> None:
        super().__init__("the credential cannot be judged at the moment", reason=reason)


class VerifierMissing(AccessError):
    """A token that may be valid, and a function without the packages to verify it."""

    def __init__(self) -> None:
        super().__init__(
            "the credential cannot be judged by this function",
            reason="no_verifier: the extra jwt cannot be imported; add it to Extras in samconfig.toml",
        )


class InsufficientScope(AccessError):
    """A tool whose scopes the caller's credential lacks. ``scopes``: all that it needs; ``held``: all that it has.

    The error ends one call. If one request holds several calls (a batch of MCP 2025-03-26), it is the error of its item
    alone: only the status and the challenge of a whole response are lost.
    """

    def __init__(self, tool: str, scopes: Sequence[str], *, held: Iterable[str] = ()) -> None:
        super().__init__(f"{tool} needs a token with the scopes {' '.join(scopes)}", reason="insufficient_scope")
        self.tool = tool
        self.scopes = tuple(scopes)
        self.held = tuple(sorted(held))


class OAuthRefused(StileError):
    """A request that the OAuth proxy refuses. ``code`` is OAuth's, ``description`` a sentence in ASCII."""

    def __init__(self, code: str, description: str) -> None:
        super().__init__(f"{code}: {description}")
        self.code = code
        self.description = description


class RedirectRefused(OAuthRefused):
    """A redirect URI that is not on the owner's list. The log shows the URI, so that the owner can add it."""

    def __init__(self, code: str, redirect_uri: str) -> None:
        super().__init__(code, "the redirect URI is none that the owner of this server allows")
        self.redirect_uri = redirect_uri


class EndpointNotFound(StileError):
    """No endpoint of that ``folder/name`` is published."""

    def __init__(self, endpoint: str) -> None:
        super().__init__(f"no endpoint {endpoint}")
        self.endpoint = endpoint


class FunctionLacks(StileError):
    """The function was built or configured without a thing that an endpoint needs. ``lacks``: sentences for the log."""

    def __init__(self, endpoint: str, lacks: Sequence[str]) -> None:
        super().__init__("; ".join(lacks))
        self.endpoint = endpoint
        self.lacks = tuple(lacks)


class UnservedSource(StileError):
    """Records that would be lost if the function returned: Lambda has to see that they failed."""

    def __init__(self, source: str) -> None:
        super().__init__(
            f"{source}: this function serves HTTP requests. Remove the event source mapping that sends it records"
        )
        self.source = source


class NotFound(StileError):
    """An object that does not exist for this caller. The error never says if it exists for others."""


class ToolNotFound(NotFound):
    """No tool of that name exists for this caller."""

    def __init__(self, name: str) -> None:
        super().__init__(f"Unknown tool: {name:.{MAX_SAID_CHARS}}")
        self.name = name


class PromptNotFound(NotFound):
    """No prompt of that name exists for this caller."""

    def __init__(self, name: str) -> None:
        super().__init__(f"Unknown prompt: {name:.{MAX_SAID_CHARS}}")
        self.name = name


class ResourceNotFound(NotFound):
    """No resource of that URI exists for this caller."""

    def __init__(self, uri: str) -> None:
        super().__init__(f"Resource not found: {uri:.{MAX_SAID_CHARS}}")
        self.uri = uri


class DocumentNotFound(StileError):
    """No persisted document of that id exists for this caller. The error never says if it exists for others."""

    def __init__(self) -> None:
        super().__init__("there is no persisted document with this documentId")


class CallError(StileError):
    """A call that fails for a reason the model can act on; the message is meant for it."""

    @property
    def log_reason(self) -> str:
        """The reason for the log, without anything that was sent."""
        return type(self).__name__


class BindingMissing(CallError):
    """The request lacks the source of a bound variable, or (``misfit``) has it in the wrong form."""

    def __init__(self, tool: str, source: str, name: str, *, misfit: bool = False) -> None:
        where = f"the request header {name}" if source == "header" else f"the verified claim {name}"
        fault = "does not have the form that it needs" if misfit else "is missing"
        super().__init__(
            f"{tool} fills a variable from {where}, which {fault}. Nothing that you can pass replaces it: "
            "tell your user that the client's connection has to be set up for it."
        )
        self.tool = tool
        self.source = source
        self.name = name
        self.misfit = misfit


class ConsentRequired(CallError):
    """A call of a tool that has to be confirmed. ``say`` is the way for the caller to say that its user agreed."""

    def __init__(self, tool: str, *, say: str) -> None:
        super().__init__(
            f"Nothing was done yet, because {tool} asks for consent. Tell your user what this call would do. "
            f"If they agree, repeat it with {say}."
        )
        self.tool = tool
        self.say = say


class ConsentImpossible(CallError):
    """A call of a tool that has to ask its user, over a channel that cannot ask."""

    def __init__(self, tool: str) -> None:
        super().__init__(
            f"Nothing was done, because {tool} asks your user before it runs, and nobody can be asked here: that takes "
            "a client that speaks MCP 2026-07-28 and declares elicitation. Tell your user so."
        )
        self.tool = tool


class ConsentDeclined(CallError):
    """A call that its user was asked about and did not agree to."""

    def __init__(self, tool: str) -> None:
        super().__init__(
            f"Nothing was done, because your user was asked about this call of {tool} and did not agree. "
            "Do not repeat it unless they ask for it."
        )
        self.tool = tool


class ConsentTooLong(CallError):
    """A call that needs its user's consent, and is longer than a question may be.

    ``part`` is the part that is too long: the operation or its variables.
    """

    def __init__(self, tool: str, part: str, *, chars: int, max_chars: int) -> None:
        super().__init__(
            f"Nothing was done, because {tool} asks your user before it runs, and this call is too long to be agreed "
            f"to: {part} would be shown in {chars:,} characters, {max_chars:,} at most can be. Do it in several calls, "
            "each of them shorter."
        )
        self.tool = tool
        self.part = part
        self.chars = chars
        self.max_chars = max_chars


class ValuesRefused(CallError):
    """A policy compares variables with the caller, and they do not match. The caller does not learn which variables."""

    def __init__(self) -> None:
        super().__init__("You are not allowed to make this call with these values. Nothing was sent.")


class InvalidArguments(CallError):
    """Arguments that do not fit the tool's schema. ``violations`` are sentences with JSON pointers."""

    MAX_CHARS = 8_000

    def __init__(self, tool: str, violations: Sequence[str]) -> None:
        text = f"Invalid arguments for tool {tool}: " + "; ".join(violations)
        super().__init__(text if len(text) <= self.MAX_CHARS else text[: self.MAX_CHARS - 1] + "…")
        self.tool = tool
        self.violations = tuple(violations)


@record(frozen=True, slots=True)
class Fault:
    """One fault in a GraphQL document. ``line`` and ``column`` count from 1; 0 means no location."""

    message: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.message}" if self.line else self.message


class DocumentRefused(CallError):
    """A GraphQL document that is malformed, exceeds a limit, or leaves the caller's view.

    After ``MAX_FAULTS`` the last fault says that there are more; ``complete``: ``faults`` are all that exist.
    ``sdl`` has the types that the document got wrong, as the caller may use them; empty string if there are none.
    """

    MAX_FAULTS = 10

    def __init__(self, *faults: Fault, sdl: str = "", complete: bool = True) -> None:
        more = len(faults) - self.MAX_FAULTS
        if more > 0:
            faults = (
                *faults[: self.MAX_FAULTS],
                Fault(f"and {more} more" if complete else "and more"),
            )
        types = f"\n\nWhat you can use of the types that it got wrong:\n\n{sdl}" if sdl else ""
        super().__init__("The GraphQL request was refused: " + "; ".join(map(str, faults)) + types)
        self.faults = faults
        self.sdl = sdl


class CallerTokenRequired(CallError):
    """The API needs the caller's own token, and this caller has none that the API may have."""

    def __init__(self, *, audience: str = "") -> None:
        lack = f"whose token is not for {audience}" if audience else "who came without a token of their own"
        super().__init__(
            f"This tool asks its API on behalf of its caller, {lack}. Nothing was sent. Nothing that you can pass "
            "replaces it: tell your user to sign in with their own account."
        )
        self.audience = audience


class ClaimMissing(CallError):
    """The caller's claims lack one that is sent to the API, or (``misfit``) have it in a form that cannot be sent."""

    def __init__(self, claim: str, *, misfit: bool = False) -> None:
        fault = "cannot be sent as it is" if misfit else "this caller does not have"
        super().__init__(
            f"This tool tells its API the verified claim {claim} of its caller, which {fault}. Nothing was sent. "
            "Nothing that you can pass replaces it: tell your user that their account has to be set up for it."
        )
        self.claim = claim
        self.misfit = misfit


class HeaderRefused(CallError):
    """A header of the caller's request that is to be forwarded and cannot be sent."""

    def __init__(self, name: str) -> None:
        super().__init__(f"The request header {name} cannot be forwarded as it is. Nothing was sent.")
        self.name = name


class UpstreamError(CallError):
    """No usable answer from the GraphQL API behind the endpoint."""


class AnswerMisfit(UpstreamError):
    """An answer of the API that violates its published schema.

    ``rule`` is the location and the violation, ``coordinate`` the location alone: neither has a value of the answer.
    ``answer`` is the whole response as JSON. ``advice`` is for a model that may not repeat the call.
    """

    def __init__(self, rule: str, *, coordinate: str, answer: str, advice: str = "") -> None:
        super().__init__(f"{advice}{' ' if advice else ''}The API's answer is against its own schema ({rule}):")
        self.rule = rule
        self.coordinate = coordinate
        self.answer = answer
        self.advice = advice

    @property
    def log_reason(self) -> str:
        """The code that alarms match."""
        return "answer_schema"


class UpstreamFailure(UpstreamError):
    """A failed request to the API. ``reason`` is for the log: a word for the failure, and mostly a detail."""

    def __init__(self, message: str, *, reason: str) -> None:
        super().__init__(message)
        self.reason = reason

    @property
    def log_reason(self) -> str:
        """``reason``."""
        return self.reason


class UpstreamForbidden(UpstreamError):
    """The endpoint's API is at an address that requests may not go to. ``reason`` is for the log."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            "The API is at an address that is not allowed, so nothing was sent. Whoever maintains this tool has to "
            "change it."
        )
        self.reason = reason

    @property
    def log_reason(self) -> str:
        """The class name, with the kind of address."""
        return f"{type(self).__name__}: {self.reason}"


class DeadlinePassed(CallError):
    """A call that is cancelled, so that its caller gets an answer at all."""

    def __init__(self) -> None:
        super().__init__("The call took too long and was given up. Ask for less, or try later.")


class CircuitOpen(UpstreamError):
    """The API did not answer several times in a row, so no request is sent for ``pause_s`` seconds."""

    def __init__(self, *, pause_s: float) -> None:
        super().__init__(
            f"The API did not answer several times in a row, so it is not asked for {pause_s:g} s. Nothing was sent. "
            "Try later."
        )
        self.pause_s = pause_s


class CredentialUnavailable(UpstreamError):
    """The credential for the API was not available, so nothing was sent. ``reason`` is for the log.

    ``refused``: the issuer of credentials refuses one for this caller.
    """

    def __init__(self, reason: str, *, refused: bool = False) -> None:
        advice = (
            "The API is asked on behalf of its caller, whose token was not accepted for that, so nothing was sent. "
            "Tell your user to sign in again; if it stays so, they may not use this API."
            if refused
            else "The credential for the API could not be got, so nothing was sent. Try later; if it stays so, whoever "
            "maintains this tool has to look after it."
        )
        super().__init__(advice)
        self.reason = reason
        self.refused = refused

    @property
    def log_reason(self) -> str:
        """The class name, with the reason, which the caller does not see."""
        return f"{type(self).__name__}: {self.reason}"


class ToolError(CallError):
    """A failure that a code tool reports: a sentence for the model, or content blocks instead.

    ``data`` becomes the result's structured content.
    """

    def __init__(self, message: str | Iterable[Any] = "", *, data: Any = None) -> None:
        self.content: tuple[Any, ...] = (message,) if isinstance(message, str) else tuple(message)
        super().__init__(message if isinstance(message, str) else "")
        self.data = data


class GraphQLErrors(ToolError):
    """The endpoint's API answered a request of a code tool with errors, or without usable data.

    ``errors`` have GraphQL's form; ``partial`` is the data that came with them, ``None`` if there was none.
    """

    def __init__(self, errors: Sequence[dict[str, Any]], *, partial: dict[str, Any] | None) -> None:
        super().__init__("The API reported: " + "; ".join(str(error["message"]) for error in errors))
        self.errors = tuple(errors)
        self.partial = partial


class StateUnavailable(CallError):
    """A call asks its user first, and its state cannot be kept: no ``STILE_STATE_KEY``, or too much state."""

    def __init__(self, reason: str) -> None:
        super().__init__("This tool has to ask your user first, which it cannot do here. Its owner has to set it up.")
        self.reason = reason


class ClientCannotAsk(CallError):
    """A call asks its user first, and the client's revision of MCP has no way to ask."""

    def __init__(self) -> None:
        super().__init__(
            "Nothing was done yet, because this has to ask your user first, and your client cannot be asked to. "
            "A client that speaks MCP 2026-07-28 can."
        )


class CodeChanged(CallError):
    """A tool, prompt or resource in Python whose contract differs from the published one."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} changed since it was published: whoever maintains it has to publish again.")
        self.what = what


class McpError(StileError):
    """A JSON-RPC error instead of a result.

    ``code`` is a standard code (``PARSE_ERROR`` … ``INTERNAL_ERROR``) or the author's own, outside -32768 to -32000.

    Raises:
        ValueError: a code that JSON-RPC and MCP reserve.

    Source: JSON-RPC 2.0, section 5.1.
    """

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        standard = (self.PARSE_ERROR, *range(self.INTERNAL_ERROR, self.INVALID_REQUEST + 1))
        if -32768 <= code <= -32000 and code not in standard:
            raise ValueError(f"code {code} is reserved: expected one of {standard}, or one outside -32768 to -32000")
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class InvalidParams(McpError):
    """Invalid input, as a JSON-RPC error, which a model may not see; ``ToolError`` reports it to the model."""

    def __init__(self, message: str, data: Any = None) -> None:
        super().__init__(self.INVALID_PARAMS, message, data)


class StateRefused(InvalidParams):
    """A ``requestState`` that is changed, too old, or of another call or caller. The error never says which."""

    def __init__(self) -> None:
        super().__init__("The requestState is not one for this call: call again without it")


class AuthenticationRequired(McpError):
    """A tool with ``requires_auth``, and an unknown caller or one without a credential for the API behind it."""

    def __init__(self) -> None:
        super().__init__(self.INVALID_REQUEST, "Authentication required")


class CodeUnavailable(StileError):
    """A toolkit that is missing or may not be imported. ``use`` has the form ``module:attribute``."""

    def __init__(self, use: str, reason: str) -> None:
        super().__init__(f"{use}: {reason}")
        self.use = use
        self.reason = reason


class ToolDefinitionError(StileError):
    """An invalid tool, prompt or resource in Python. ``label`` has the form ``tool search_docs``.

    ``line`` counts from 1; 0 if the location is unknown.
    """

    def __init__(self, label: str, sentence: str, *, file: str = "", line: int = 0) -> None:
        place = f"{file}:{line}: " if line else ""
        super().__init__(f"{place}{label}: {sentence}")
        self.label = label
        self.sentence = sentence
        self.file = file
        self.line = line
