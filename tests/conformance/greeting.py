"""The part of the suite's tools for tasks that is written in Python."""

from __future__ import annotations

from stile import Context, InputRequired, ToolCall, Toolkit
from tests.conformance.asking import content_of, text_question

kit = Toolkit()


@kit.tool
def greet(name: str) -> str:
    """Answer at once, without a task."""
    return f"Hello, {name}!"


@kit.tool
def test_tool_with_task(ctx: Context) -> InputRequired | ToolCall:
    """Ask for a name, and start a job with it."""
    name = content_of(ctx, "user_name").get("name")
    if not name:
        return InputRequired({"user_name": text_question("What is your name?", "name")})
    return ToolCall("start_greeting", {"name": name})
