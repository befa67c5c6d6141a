"""The error of tasks, by which callers ask about jobs that outlive a call."""

from __future__ import annotations

from handler.errors.calls import CallError


class UnknownTask(CallError):
    """The id of a task that is altered, too old, or not for this caller as of now. The error never says which."""

    stile_code = "unknown-task"

    def __init__(self) -> None:
        super().__init__("Unknown task: this taskId is not one that you may use, or it is too old.")
