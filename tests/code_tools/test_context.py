from __future__ import annotations

from typing import Any

import pytest

from handler.errors.access import InsufficientScope
from handler.errors.protocol import AuthenticationRequired
from stile import Context, McpError, ToolError, Toolkit, assert_provider_token
from stile.testing import TestClient
from tests.code_tools.cases import case
from tests.code_tools.echo import client_of


def guarded(seen: list[Any]) -> Toolkit:
    kit = Toolkit()

    @kit.tool(requires_auth=True)
    def orders(ctx: Context) -> str:
        seen.append((ctx.provider_token, ctx.resolved_headers, ctx.auth_strategy))
        return "orders"

    @kit.tool(requires_auth=True, hidden=True)
    def secret() -> str:
        seen.append("secret")
        return "secret"

    @kit.tool(requires_auth=["orders:read"], scopes=["orders:write"])
    def refund() -> str:
        seen.append("refund")
        return "refunded"

    return kit


@case("U-001")
def test_tool_that_needs_a_credential_does_not_run_without_one() -> None:
    seen: list[Any] = []

    with pytest.raises(AuthenticationRequired) as caught:
        TestClient(guarded(seen)).call("orders")

    assert (caught.value.code, caught.value.message) == (-32600, "Authentication required")
    assert isinstance(caught.value, McpError)
    assert seen == []


@case("U-003")
def test_credential_and_headers_are_in_the_context() -> None:
    seen: list[Any] = []
    client = TestClient(
        guarded(seen),
        provider_token="t",
        resolved_headers={"authorization": "Bearer t"},
        auth_strategy="bearer",
    )

    assert client.call("orders").text == "orders"
    assert seen == [("t", {"authorization": "Bearer t"}, "bearer")]


@case("U-004")
def test_credential_that_is_asked_for_inside_and_missing_is_an_error() -> None:
    def method(ctx: Context) -> str:
        return ctx.require_provider_token()

    def function(ctx: Context) -> str:
        return assert_provider_token(ctx)

    for name in ("method", "function"):
        answer = client_of(method, function).call(name)
        assert answer.json == {"content": [{"type": "text", "text": "Authentication required"}], "isError": True}
        assert client_of(method, function, provider_token="t").call(name).text == "t"


@case("U-005")
def test_missing_scopes_are_named_all_at_once() -> None:
    seen: list[Any] = []
    client = TestClient(guarded(seen), provider_token="t", claims={"scope": "orders:read"})

    with pytest.raises(InsufficientScope) as caught:
        client.call("refund")

    assert caught.value.scopes == ("orders:read", "orders:write")
    assert (caught.value.tool, seen) == ("refund", [])
    able = TestClient(guarded(seen), provider_token="t", claims={"scope": "orders:write orders:read"})
    assert able.call("refund").text == "refunded"


@case("H-003")
def test_hidden_tool_needs_its_credential_all_the_same() -> None:
    seen: list[Any] = []

    with pytest.raises(AuthenticationRequired):
        TestClient(guarded(seen)).call("secret")

    assert seen == []


def test_graphql_stand_in_is_asked_with_query_and_variables() -> None:
    asked: list[Any] = []

    async def status(number: str, ctx: Context) -> str:
        data = await ctx.graphql("query Q($n: ID!) { order(number: $n) { status } }", {"n": number})
        return str(data["order"]["status"])

    def answer(query: str, variables: Any) -> Any:
        asked.append((query, variables))
        return {"order": {"status": "sent"}}

    async def answer_later(query: str, variables: Any) -> Any:
        return answer(query, variables)

    for stand_in in (answer, answer_later):
        assert client_of(status, graphql=stand_in).call("status", number="7").text == "sent"
    assert asked == [("query Q($n: ID!) { order(number: $n) { status } }", {"n": "7"})] * 2


def test_graphql_without_an_api_is_an_error_that_says_so() -> None:
    async def ask(ctx: Context) -> str:
        return str(await ctx.graphql("{ a }"))

    answer = client_of(ask).call("ask")

    assert (answer.is_error, answer.text) == (True, "This tool asks a GraphQL API, and there is none behind it")


def test_error_of_graphql_may_be_caught() -> None:
    def refuse(query: str, variables: Any) -> Any:
        raise ToolError("refused")

    async def careful(ctx: Context) -> str:
        try:
            return str(await ctx.graphql("{ a }"))
        except ToolError as exc:
            return f"caught: {exc}"

    assert client_of(careful, graphql=refuse).call("careful").text == "caught: refused"


def test_claims_and_headers_are_in_the_context() -> None:
    def who(ctx: Context) -> str:
        claims = ctx.auth or {}
        return f"{claims.get('sub')} {sorted(ctx.scopes)} {ctx.headers['x-tenant']}"

    client = client_of(who, claims={"sub": "ann", "scope": "b a"}, headers={"X-Tenant": "acme"})

    assert client.call("who").text == "ann ['a', 'b'] acme"


async def count(ctx: Context) -> str:
    for step in range(1, 4):
        await ctx.report_progress(step, 3, f"step {step}")
    await ctx.report_progress(4)
    return "done"


def test_progress_is_reported_in_order_and_before_the_result() -> None:
    order: list[Any] = []

    async def watched(ctx: Context) -> str:
        text = await count(ctx)
        order.append("result")
        return text

    client = client_of(watched, progress_token="p", notify=lambda message: order.append(message["params"]))

    assert client.call("watched").text == "done"
    assert order == [
        *({"progressToken": "p", "progress": step, "total": 3, "message": f"step {step}"} for step in (1, 2, 3)),
        {"progressToken": "p", "progress": 4},
        "result",
    ]


@case("S-012")
def test_progress_that_nobody_asked_for_goes_nowhere() -> None:
    client = client_of(count)

    assert client.call("count").text == "done"
    assert client.notifications == []


async def talk(ctx: Context) -> None:
    await ctx.debug("d")
    await ctx.info({"i": 1})
    await ctx.warning("w")
    await ctx.error("e")
    await ctx.log("critical", "c", logger="orders")


@pytest.mark.parametrize(("level", "sent"), [(None, ""), ("debug", "diwec"), ("warning", "wec"), ("emergency", "")])
def test_log_messages_are_sent_from_the_level_that_was_asked_for(level: str | None, sent: str) -> None:
    client = client_of(talk, log_level=level)
    client.call("talk")

    levels = {"d": "debug", "i": "info", "w": "warning", "e": "error", "c": "critical"}
    assert [each["params"]["level"] for each in client.notifications] == [levels[each] for each in sent]
    assert all(each["method"] == "notifications/message" for each in client.notifications)
    if "c" in sent:
        assert client.notifications[-1]["params"] == {"level": "critical", "data": "c", "logger": "orders"}


def test_level_that_does_not_exist_is_refused() -> None:
    async def shout(ctx: Context) -> str:
        with pytest.raises(ValueError, match="unknown level loud: expected one of debug, info"):
            await ctx.log("loud", "x")
        return "refused"

    assert client_of(shout).call("shout").text == "refused"


@pytest.mark.parametrize("name", ["elicit", "sample", "get_access_token", "set_state"])
def test_member_of_fastmcps_context_names_its_replacement(name: str) -> None:
    with pytest.raises(AttributeError, match=f"^Context has no {name}: .*, as docs/from-fastmcp.md shows$"):
        getattr(Context(), name)


def test_other_members_are_just_missing() -> None:
    assert not hasattr(Context(), "elicit_later")
    with pytest.raises(AttributeError, match=r"^Context has no elicit_later$"):
        getattr(Context(), "elicit_later")  # noqa: B009 - no type checker knows the name


def test_traceback_of_a_failed_call_has_the_authors_frames(caplog: pytest.LogCaptureFixture) -> None:
    kit = Toolkit()

    @kit.tool
    async def forgetful(ctx: Context) -> str:
        """Forget to wait."""
        return str(ctx.graphql("{ a }")["a"])  # type: ignore[index]

    client = TestClient(kit, graphql=lambda *_: {"a": 1})
    with pytest.warns(RuntimeWarning, match="never awaited"):
        client.call("forgetful")

    assert "in forgetful" in caplog.text
    assert "code_tools/dispatch.py" not in caplog.text
    assert "The line lacks await" in caplog.text


def test_unknown_option_of_the_test_client_is_refused() -> None:
    with pytest.raises(TypeError, match="TestClient has no option claim; did you mean claims"):
        TestClient(Toolkit(), claim={})


def test_toolkit_takes_no_name() -> None:
    with pytest.raises(TypeError, match="a toolkit has no name"):
        Toolkit("staff")
