"""Errors of cursors, with which callers continue answers that were cut, and of the ids of tasks."""

from __future__ import annotations

from handler.errors.calls import CallError


class CursorRefused(CallError):
    """A cursor that is changed, too old, or of another call or caller. The error never says which."""

    stile_code = "cursor-refused"

    def __init__(self, argument: str) -> None:
        super().__init__(
            f"Nothing was sent, because {argument} is not a cursor for this call. A cursor is valid for 15 minutes, "
            f"with the arguments of the call that returned it. Call again without {argument}."
        )
        self.argument = argument


class CursorPastEnd(CallError):
    """A cursor of this call whose list is shorter now than the cursor's place in it."""

    stile_code = "cursor-past-end"

    def __init__(self, argument: str, place: str) -> None:
        super().__init__(
            f"The API's answer has changed since {argument} was made: {place} is gone, or is shorter now. Call again "
            f"without {argument}."
        )
        self.argument = argument
        self.place = place


class UnknownTask(CallError):
    """The id of a task that is altered, too old, or not for this caller as of now. The error never says which."""

    stile_code = "unknown-task"

    def __init__(self) -> None:
        super().__init__("Unknown task: this taskId is not one that you may use, or it is too old.")
