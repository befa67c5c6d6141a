"""Errors of one call, most of which the model can act on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from handler.cold.records import record
from handler.errors import MAX_SAID_CHARS, StileError


class EndpointNotFound(StileError):
    """No endpoint of that ``folder/name`` is published."""

    stile_code = "endpoint-not-found"

    def __init__(self, endpoint: str) -> None:
        super().__init__(f"no endpoint {endpoint}")
        self.endpoint = endpoint


class NotFound(StileError):
    """An object that does not exist for this caller. The error never says if it exists for others."""

    sentence = "Not found"

    def __init__(self, name: str) -> None:
        super().__init__(f"{self.sentence}: {name:.{MAX_SAID_CHARS}}")
        self.name = name  # or URI


class ToolNotFound(NotFound):
    """No tool of that name exists for this caller."""

    stile_code = "tool-not-found"
    sentence = "Unknown tool"


class PromptNotFound(NotFound):
    """No prompt of that name exists for this caller."""

    stile_code = "prompt-not-found"
    sentence = "Unknown prompt"


class ResourceNotFound(NotFound):
    """No resource of that URI exists for this caller."""

    stile_code = "resource-not-found"
    sentence = "Resource not found"


class SkillNotFound(NotFound):
    """No skill whose ``SKILL.md`` has that URI exists for this caller."""

    stile_code = "skill-not-found"
    sentence = "Skill not found"


class DocumentNotFound(StileError):
    """No persisted document of that id exists for this caller. The error never says if it exists for others."""

    stile_code = "document-not-found"

    def __init__(self) -> None:
        super().__init__("there is no persisted document with this documentId")


class CallError(StileError):
    """A call that fails for a reason the model can act on; the message is meant for it."""

    log_outcome = "tool_error"

    @property
    def log_reason(self) -> str:
        """The reason for the log, without anything that was sent."""
        return type(self).__name__


class BindingMissing(CallError):
    """The request lacks the source of a bound variable, or (``misfit``) has it in the wrong form."""

    stile_code = "binding-missing"

    def __init__(self, tool: str, source: str, name: str, *, misfit: bool = False) -> None:
        where = f"the request header {name}" if source == "header" else f"the verified claim {name}"
        fault = "does not have the form that it needs" if misfit else "is missing"
        super().__init__(
            f"{tool} fills a variable from {where}, which {fault}. No argument replaces it: "
            "tell your user that the client's connection has to be set up for it."
        )
        self.tool = tool
        self.source = source
        self.name = name
        self.misfit = misfit


class ValuesRefused(CallError):
    """A policy compares variables with the caller, and they do not match. The caller does not learn which variables."""

    stile_code = "values-refused"

    def __init__(self) -> None:
        super().__init__("You are not allowed to make this call with these values. Nothing was sent.")


class InvalidArguments(CallError):
    """Arguments that do not fit the tool's schema. ``violations`` are sentences with JSON pointers."""

    stile_code = "invalid-arguments"

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

    stile_code = "document-refused"

    MAX_FAULTS = 10

    def __init__(self, *faults: Fault, sdl: str = "", complete: bool = True) -> None:
        more = len(faults) - self.MAX_FAULTS
        if more > 0:
            faults = (
                *faults[: self.MAX_FAULTS],
                Fault(f"and {more} more" if complete else "and more"),
            )
        types = f"\n\nUsable parts of the types that it got wrong:\n\n{sdl}" if sdl else ""
        super().__init__("The GraphQL request was refused: " + "; ".join(map(str, faults)) + types)
        self.faults = faults
        self.sdl = sdl


class DeadlinePassed(CallError):
    """A call that is cancelled, so that its caller gets an answer at all."""

    stile_code = "deadline-passed"

    def __init__(self) -> None:
        super().__init__("The call took too long and was cancelled. Ask for less, or try later.")


class ToolError(CallError):
    """A failure that a code tool reports: a sentence for the model, or content blocks instead.

    ``data`` becomes the result's structured content.
    """

    stile_code = "tool-error"

    def __init__(self, message: str | Iterable[Any] = "", *, data: Any = None) -> None:
        self.content: tuple[Any, ...] = (message,) if isinstance(message, str) else tuple(message)
        super().__init__(message if isinstance(message, str) else "")
        self.data = data


class GraphQLErrors(ToolError):
    """The endpoint's API answered a request of a code tool with errors, or without usable data.

    ``errors`` have GraphQL's form; ``partial`` is the data that came with them, ``None`` if there was none.
    """

    stile_code = "api-errors"

    def __init__(self, errors: Sequence[dict[str, Any]], *, partial: dict[str, Any] | None) -> None:
        super().__init__("The API reported: " + "; ".join(str(error["message"]) for error in errors))
        self.errors = tuple(errors)
        self.partial = partial


class StateUnavailable(CallError):
    """A call asks its user first, and its state cannot be kept: no ``STILE_STATE_KEY``, or too much state."""

    stile_code = "state-unavailable"

    def __init__(self, reason: str) -> None:
        super().__init__(
            "This tool has to ask your user first, and the server is not set up to ask. "
            "The server's owner has to change that."
        )
        self.reason = reason


class ClientCannotAsk(CallError):
    """A call asks its user first, and the client's revision of MCP has no way to ask."""

    stile_code = "client-cannot-ask"

    def __init__(self) -> None:
        super().__init__(
            "Nothing was done yet, because this has to ask your user first, and your client cannot ask. "
            "A client that speaks MCP 2026-07-28 can."
        )


class CodeChanged(CallError):
    """A tool, prompt or resource in Python whose contract differs from the published one."""

    stile_code = "code-changed"

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} changed since it was published: its maintainer has to publish it again.")
        self.what = what


class NotInCatalog(CallError):
    """No tool of that name exists for this caller of the catalog."""

    stile_code = "not-in-catalog"

    def __init__(self, name: str, *, search: str) -> None:
        super().__init__(f"Unknown tool: {name:.{MAX_SAID_CHARS}}. {search} finds the names of tools.")


class OtherCatalogCall(CallError):
    """A tool that writes, called with the catalog's tool for those that only read, or the other way around."""

    stile_code = "other-catalog-call"

    def __init__(self, name: str, *, expected: str, writes: bool) -> None:
        kind = "may change something" if writes else "only reads"
        super().__init__(f"{name} {kind}: call it with {expected}.")
