"""Errors of calls that need the consent of their user."""

from __future__ import annotations

from handler.errors.calls import CallError


class ConsentRequired(CallError):
    """A call of a tool that has to be confirmed. ``say`` is the way for the caller to say that its user agreed."""

    stile_code = "consent-required"

    def __init__(self, tool: str, *, say: str) -> None:
        super().__init__(
            f"Nothing was done yet, because {tool} asks for consent. Tell your user what this call would do. "
            f"If they agree, repeat it with {say}."
        )
        self.tool = tool


class ConsentImpossible(CallError):
    """A call of a tool that has to ask its user, over a channel that cannot ask."""

    stile_code = "consent-impossible"

    def __init__(self, tool: str) -> None:
        super().__init__(
            f"Nothing was done, because {tool} asks your user before it runs, and this client cannot ask. Tell your "
            "user to take a client that speaks MCP 2026-07-28 and declares elicitation."
        )
        self.tool = tool


class ConsentDeclined(CallError):
    """A call that its user was asked about and did not agree to."""

    stile_code = "consent-declined"
    log_outcome = "declined"

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

    stile_code = "consent-too-long"

    def __init__(self, tool: str, part: str, *, chars: int, max_chars: int) -> None:
        super().__init__(
            f"Nothing was done, because {tool} asks your user before it runs, and this call is too long to be agreed "
            f"to: {part} would take {chars:,} characters to show, and the limit is {max_chars:,}. Make several shorter "
            "calls."
        )
        self.tool = tool
        self.part = part
