"""Tools of an author who changes what is not theirs, and returns and raises what cannot be sent."""

from __future__ import annotations

from typing import Any

from stile import Context, Elicit, InputRequired, McpError, Toolkit

kit = Toolkit()


def _raises(*_: object) -> Any:
    raise ValueError("the text of an error")


class Untold(Exception):
    """An exception whose text cannot be read."""

    __str__ = __repr__ = _raises


class Classless(Exception):
    """An exception of which nothing can be read."""

    __str__ = _raises
    __class__ = args = __notes__ = property(_raises)


class UntoldMcpError(McpError):
    """An error for callers whose text cannot be read."""

    __str__ = __repr__ = _raises


ODD: dict[str, Any] = {
    "a text that fails": lambda: Untold("secret"),
    "a class that fails": lambda: Classless("secret"),
    "an error for callers whose text fails": lambda: UntoldMcpError(1001, "custom"),
    "data": lambda: McpError(1001, "custom", {"at": object()}),
    "message": lambda: McpError(1001, ["custom"]),  # type: ignore[arg-type] # what careless authors do
    "not a number": lambda: McpError(1001, "custom", float("nan")),
    "depth": lambda: McpError(1001, "custom", _nested(5_000)),
    "size": lambda: McpError(1001, "custom" * 100_000),
    "questions in a list": lambda: InputRequired(["sure"]),  # type: ignore[arg-type]
    "a question that is a text": lambda: InputRequired({"sure": "Sure?"}),  # type: ignore[dict-item]
    "a question without parameters": lambda: InputRequired({"sure": {"method": "elicitation/create", "params": None}}),
    "a number as key": lambda: InputRequired({1: Elicit("Sure?")}),  # type: ignore[dict-item]
    "state": lambda: InputRequired({"sure": Elicit("Sure?")}, state=object()),
    "depth of the state": lambda: InputRequired({"sure": Elicit("Sure?")}, state=_nested(5_000)),
}
"""What is none to be sent, by what is wrong with it."""


def _nested(levels: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(levels):
        found = [found]
    return found


@kit.tool
def odd(what: str) -> Any:
    """End in one of these ways."""
    made = ODD[what]()
    if isinstance(made, Exception):
        raise made
    return made


@kit.tool
async def promote(ctx: Context) -> dict[str, Any]:
    """Tell the caller's claims, and change them."""
    assert isinstance(ctx.auth, dict)
    before = {"role": ctx.auth["role"], "teams": list(ctx.auth["teams"])}
    ctx.auth["role"] = "admin"
    ctx.auth["teams"].append("board")
    return before


@kit.tool
async def secret(ctx: Context) -> dict[str, Any]:
    """Ask for what admins may see, as one."""
    assert isinstance(ctx.auth, dict)
    ctx.auth["role"] = "admin"
    return {"data": await ctx.operation("Secret", {"email": "elif.nunez@example.com"})}


@kit.tool(input_schema={"type": "object"})
def tidy(arguments: dict[str, Any], ctx: Context) -> str | InputRequired:
    """Ask after changing the arguments."""
    if ctx.request_state:
        return "done"
    arguments["filter"].pop("empty")
    return InputRequired({"sure": Elicit("Sure?")}, state={"asked": True})
