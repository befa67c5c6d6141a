"""Tools of an author, who tests what the function does with them."""

from __future__ import annotations

import asyncio
from hashlib import sha256
from typing import Any

from stile import Context, Elicit, GraphQLErrors, InputRequired, McpError, ToolError, Toolkit, ToolResult

kit = Toolkit()

CUSTOMER = "query ($email: String!) { customer(email: $email) { name } }"


@kit.tool(aliases=["say"], version="1.2.0")
def echo(text: str) -> dict[str, str]:
    """Say it again."""
    return {"said": text}


@kit.tool
async def customer_name(email: str, ctx: Context) -> str:
    """The name of a customer."""
    data = await ctx.graphql(CUSTOMER, {"email": email})
    return str(data["customer"]["name"])


@kit.tool
async def ask_graphql(query: str, ctx: Context, variables: dict[str, Any] | None = None) -> dict[str, Any]:
    """Pass a request on."""
    return {"data": await ctx.graphql(query, variables)}


@kit.tool
async def run_operation(name: str, ctx: Context, variables: dict[str, Any] | None = None) -> dict[str, Any]:
    """Run an operation."""
    return {"data": await ctx.operation(name, variables)}


@kit.tool
async def ask_often(times: int, ctx: Context) -> int:
    """Ask the same again and again."""
    for _ in range(times):
        await ctx.graphql("{ __typename }")
    return times


@kit.tool
async def what_came(query: str, ctx: Context) -> dict[str, Any]:
    """What an author learns of a request that fails in part."""
    try:
        return {"data": await ctx.graphql(query)}
    except GraphQLErrors as exc:
        return {"errors": [each["message"] for each in exc.errors], "partial": exc.partial}


@kit.tool
def surroundings(ctx: Context) -> dict[str, Any]:
    """What a tool knows of the request."""
    names = ("protocol_version", "client_info", "client_capabilities", "headers", "auth", "log_level")
    more = {"request_id": ctx.request_id, "scopes": sorted(ctx.scopes), "in_time": ctx.remaining_time() < 60}
    return {**{name: getattr(ctx, name) for name in names}, **more}


@kit.tool
def credential(ctx: Context) -> dict[str, Any]:
    """What there is to ask the API behind with, without saying it."""
    token = ctx.provider_token
    return {
        "strategy": ctx.auth_strategy,
        "token": token and sha256(token.encode()).hexdigest(),
        "headers": {name: sha256(value.encode()).hexdigest() for name, value in ctx.resolved_headers.items()},
    }


@kit.tool(requires_auth=True)
def needs_token(ctx: Context) -> str:
    """Use the credential for the API behind."""
    return f"a token of {len(ctx.require_provider_token())} characters"


@kit.tool(scopes=["things:write"])
def scoped() -> str:
    """Only for who may."""
    return "done"


@kit.tool(hidden=True)
def unlisted() -> str:
    """Not in the list."""
    return "found"


@kit.tool
def boom() -> str:
    """Fail."""
    raise RuntimeError("boom at /home/author")


@kit.tool
def quit_it() -> str:
    """End the process."""
    raise SystemExit(3)


@kit.tool
def refuse() -> str:
    """Say why not."""
    raise ToolError("try again with flag=true")


@kit.tool
def error(code: int) -> str:
    """Fail by the protocol."""
    raise McpError(code, "custom", {"x": 1})


@kit.tool
def error_with(kind: str) -> str:
    """Fail by the protocol, with something that no error can have."""
    raise McpError(1001, "custom", {"object": object(), "large": "x" * 7_000_000}[kind])


@kit.tool
def large(chars: int) -> str:
    """Say much."""
    return "x" * chars


@kit.tool
def with_meta() -> ToolResult:
    """Carry metadata."""
    return ToolResult(["done"], meta={"trace": "abc"})


@kit.tool
async def slow(ctx: Context) -> str:
    """Take longer than anybody waits."""
    await asyncio.sleep(600)
    return "late"


@kit.tool
async def count(to: int, ctx: Context) -> str:
    """Count, and say so."""
    for number in range(to):
        await ctx.report_progress(number + 1, to)
    await ctx.info("counted")
    return "done"


@kit.tool
def book(room: str, ctx: Context) -> str | InputRequired:
    """Book a room, once its user says for how many nights."""
    answer = ctx.input_responses.get("nights")
    if answer is None or ctx.request_state is None:
        form = {"type": "object", "properties": {"nights": {"type": "integer"}}, "required": ["nights"]}
        return InputRequired({"nights": Elicit(f"How long in {room}?", form)}, state={"room": room})
    if answer.get("action") != "accept":
        raise ToolError("Nothing was booked.")
    return f"{ctx.request_state['room']} for {answer['content']['nights']} nights, {sorted(ctx.input_responses)}"


@kit.tool
def ask_for(method: str) -> InputRequired:
    """Ask by some method."""
    return InputRequired({"it": {"method": method, "params": {}}})


@kit.tool
def ask_nothing() -> InputRequired:
    """Ask without a question."""
    return InputRequired()


@kit.tool
def ask_to_open(url: str) -> InputRequired:
    """Ask the user to open a page."""
    return InputRequired({"page": Elicit("Sign in", url=url)})


@kit.prompt
def greeting(name: str) -> str:
    """Greet somebody."""
    return f"Greet {name}"


@kit.prompt
def careful(ctx: Context) -> str | InputRequired:
    """Ask first."""
    answer = ctx.input_responses.get("tone")
    return InputRequired({"tone": Elicit("Which tone?")}) if answer is None else f"Be {answer['content']['tone']}"


@kit.prompt
def broken() -> str:
    """Fail."""
    raise RuntimeError("boom at /home/author")


@kit.resource("acme://intro")
def intro() -> str:
    """What this is."""
    return "Welcome"


@kit.resource("acme://pages/{page}")
def page(page: str) -> str:
    """A page."""
    if page == "none":
        raise RuntimeError("boom at /home/author")
    return f"Page {page}"
