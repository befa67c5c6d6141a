"""Tools that are not done when they return: work to wait for, and questions to the client's user."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from handler.code_tools.context import Context as ToolContext
from handler.code_tools.dispatch import MAX_STEPS, call_tool
from stile import (
    Async,
    Context,
    Elicit,
    Err,
    InputRequired,
    Ok,
    Tool,
    ToolError,
    Toolkit,
    tool,
)
from stile.testing import Answer
from tests.code_tools.cases import case
from tests.code_tools.echo import client_of

FAILED = {"content": [{"type": "text", "text": "Tool execution failed"}], "isError": True}


async def after(seconds: float, value: Any) -> Any:
    await asyncio.sleep(seconds)
    if isinstance(value, Exception):
        raise value
    return value


class Search(Tool):
    """Goes on with ``work``, and then as ``resume`` says."""

    def __init__(self, work: Callable[[], Any], then: Callable[..., Any], **said: Any) -> None:
        self._work, self._then = work, then
        vars(self).update(said)

    async def call(self, ctx: Context) -> Async:
        ctx.state["steps"] = ["call"]
        return Async("search", self._work())

    async def resume(self, tag: Any, outcome: Ok | Err, ctx: Context) -> Any:
        ctx.state["steps"].append(tag)
        return self._then(tag, outcome, ctx)


def searched(work: Callable[[], Any], then: Callable[..., Any], **said: Any) -> Answer:
    return client_of(Search(work, then, **said)).call("search")


@case("S-001")
def test_async_tool_that_is_done_at_once_is_answered_at_once() -> None:
    async def quick() -> str:
        return "done"

    assert client_of(quick).call("quick").json == {"content": [{"type": "text", "text": "done"}]}


@case("S-002")
@pytest.mark.parametrize(
    "make", [lambda: after(0.01, 7), lambda: asyncio.create_task(after(0.01, 7)), lambda: after(0, 7)]
)
def test_tag_and_value_are_delivered_once(make: Callable[[], Awaitable[Any]]) -> None:
    seen: list[Any] = []

    def then(tag: Any, outcome: Ok | Err, ctx: Context) -> str:
        seen.append((tag, outcome))
        return "found"

    assert searched(make, then).text == "found"
    assert seen == [("search", Ok(7))]


def test_work_that_is_done_before_the_tool_returns_is_not_lost() -> None:
    def done() -> asyncio.Future[int]:
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        future.set_result(7)
        return future

    assert searched(done, lambda tag, outcome, ctx: str(outcome.value)).text == "7"


@case("S-003")
def test_steps_may_be_chained_and_keep_the_state() -> None:
    def then(tag: Any, outcome: Ok | Err, ctx: Context) -> Any:
        if tag == "search":
            return Async("rank", after(0, [outcome]))
        return {"steps": ctx.state["steps"], "found": tag == "rank" and isinstance(outcome, Ok)}

    assert searched(lambda: after(0, 1), then).data == {"steps": ["call", "search", "rank"], "found": True}


@case("S-004")
def test_failure_of_the_work_may_be_recovered() -> None:
    def then(tag: Any, outcome: Ok | Err, ctx: Context) -> Any:
        match outcome:
            case Err(ValueError() as error) if tag == "search":
                ctx.state["why"] = str(error)
                return Async("again", after(0, 2))
            case Ok(value):
                return f"{value} after {ctx.state['why']}"
        return "?"

    assert searched(lambda: after(0, ValueError("no index")), then).text == "2 after no index"


@case("S-005")
def test_failure_that_is_not_recovered_is_sanitised_or_the_tools_own_words(caplog: pytest.LogCaptureFixture) -> None:
    def reraise(tag: Any, outcome: Ok | Err, ctx: Context) -> Any:
        assert isinstance(outcome, Err)
        raise outcome.error

    assert searched(lambda: after(0, ValueError("secret")), reraise).json == FAILED
    assert "secret" in caplog.text
    assert searched(lambda: after(0, ToolError("no index")), reraise).text == "no index"


def test_work_that_exits_is_an_outcome() -> None:
    async def leave() -> None:
        sys.exit(3)

    def then(tag: Any, outcome: Ok | Err, ctx: Context) -> str:
        return str(outcome.error) if isinstance(outcome, Err) else "done"

    assert searched(leave, then).text == "the tool called sys.exit"


@case("S-006")
def test_tool_error_while_going_on_is_told() -> None:
    def fail(tag: Any, outcome: Ok | Err, ctx: Context) -> Any:
        raise ToolError(f"{tag} failed")

    answer = searched(lambda: after(0, 1), fail)

    assert (answer.is_error, answer.text) == (True, "search failed")


@case("S-007")
def test_work_that_is_too_slow_is_a_timeout_and_answered_in_time() -> None:
    started = time.monotonic()

    def then(tag: Any, outcome: Ok | Err, ctx: Context) -> str:
        assert ctx.remaining_time() > 0
        return f"{isinstance(outcome, Err) and type(outcome.error).__name__}"

    assert searched(lambda: after(60, 1), then, timeout=1.2).text == "TimeoutError"
    assert time.monotonic() - started < 30


def test_deadline_of_the_context_holds_where_it_is_earlier() -> None:
    client = client_of(
        Search(lambda: after(60, 1), lambda tag, outcome, ctx: str(outcome)), deadline=time.monotonic() + 1.2
    )

    assert "TimeoutError" in client.call("search").text


def test_tool_that_is_too_slow_is_told_so() -> None:
    @tool(timeout=0.1)
    async def slow() -> None:
        await asyncio.sleep(60)

    answer = client_of(slow).call("slow")

    assert (answer.is_error, answer.text) == (True, "Tool timed out after 0.1s")


def test_function_that_is_not_async_is_answered_in_time_and_can_ask_whether_to_go_on() -> None:
    noticed = threading.Event()

    @tool(timeout=0.1)
    def slow(ctx: Context) -> None:
        while not ctx.cancelled:
            time.sleep(0.005)
        noticed.set()

    assert client_of(slow).call("slow").text == "Tool timed out after 0.1s"
    assert noticed.wait(30)


@case("S-008")
def test_same_work_twice_is_a_failure_that_the_log_explains(caplog: pytest.LogCaptureFixture) -> None:
    kept: list[Any] = []

    def work() -> Any:
        kept.append(asyncio.ensure_future(after(0, 1)))
        return kept[0]

    answer = searched(work, lambda tag, outcome, ctx: Async("twice", kept[0]))

    assert answer.json == FAILED
    assert "returned Async('twice', …): this call waited for the same work before" in caplog.text


@case("S-009")
def test_wrong_return_is_a_failure_that_the_log_explains(caplog: pytest.LogCaptureFixture) -> None:
    assert searched(lambda: after(0, 1), lambda tag, outcome, ctx: object()).json == FAILED
    assert "tool search failed" in caplog.text
    assert searched(lambda: "no work", lambda tag, outcome, ctx: "").json == FAILED
    assert "tool search returned Async('search', …): expected something to wait for, got 'no work'" in caplog.text

    async def alone() -> Any:
        return Async("tag", after(0, 1))

    assert client_of(alone).call("alone").json == FAILED
    assert "tool alone returned Async('tag', …): it has no resume to continue with" in caplog.text


def test_steps_without_end_are_a_failure(caplog: pytest.LogCaptureFixture) -> None:
    def on(tag: Any, outcome: Ok | Err, ctx: Context) -> Any:
        return Async("on", after(0, 1))

    assert searched(lambda: after(0, 1), on).json == FAILED
    assert f"this call went on {MAX_STEPS} times before" in caplog.text


@case("S-010")
def test_calls_at_the_same_time_are_not_mixed() -> None:
    @tool(resume=lambda tag, outcome, ctx: f"{tag} {outcome.value} {ctx.state}")
    async def search(name: str, seconds: float, ctx: Context) -> Async:
        ctx.state["name"] = name
        return Async(name, after(seconds, name))

    kit = Toolkit()
    kit.add(search)

    async def both() -> list[Any]:
        calls = [{"name": "a", "seconds": 0.05}, {"name": "b", "seconds": 0.0}, {"name": "c", "seconds": 0.02}]
        return await asyncio.gather(*(call_tool(kit, "search", each, ToolContext()) for each in calls))

    texts = [result["content"][0]["text"] for result in asyncio.run(both())]

    assert texts == [f"{name} {name} {{'name': '{name}'}}" for name in "abc"]


def test_call_that_ends_leaves_the_tasks_of_another_alone() -> None:
    @tool
    async def work(seconds: float) -> str:
        inner = asyncio.create_task(after(seconds, "inner"))
        return str(await inner)

    kit = Toolkit()
    kit.add(work)

    async def both() -> list[Any]:
        return await asyncio.gather(*(call_tool(kit, "work", {"seconds": each}, ToolContext()) for each in (0, 0.1)))

    assert [result["content"][0]["text"] for result in asyncio.run(both())] == ["inner", "inner"]


def test_tasks_that_a_call_leaves_behind_end_with_it() -> None:
    ended: list[str] = []

    async def linger() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("lingering")

    async def start(ctx: Context) -> str:
        ctx.state["task"] = asyncio.create_task(linger())
        await asyncio.sleep(0)
        return "started"

    kit = Toolkit()
    kit.add(start)

    async def call_and_look() -> list[str]:
        before = asyncio.all_tasks()
        await call_tool(kit, "start", {}, ToolContext())
        assert asyncio.all_tasks() == before
        return list(ended)

    assert asyncio.run(call_and_look()) == ["lingering"]


def test_call_may_be_cancelled_before_and_while_it_runs() -> None:
    ran: list[str] = []

    async def wait(ctx: Context) -> None:
        ran.append("started")
        asyncio.get_running_loop().call_soon(ctx.cancel)
        await asyncio.sleep(60)
        ran.append("ended")

    kit = Toolkit()
    kit.add(wait)
    cancelled = {"content": [{"type": "text", "text": "Operation was cancelled"}], "isError": True}

    before = ToolContext()
    before.cancel()
    assert asyncio.run(call_tool(kit, "wait", {}, before)) == cancelled
    assert ran == []
    assert asyncio.run(call_tool(kit, "wait", {}, ToolContext())) == cancelled
    assert ran == ["started"]


def test_cancelling_the_server_ends_the_call_and_is_no_result() -> None:
    async def serve() -> None:
        kit = Toolkit()
        kit.tool("wait")(after_a_minute)
        request = asyncio.create_task(call_tool(kit, "wait", {}, ToolContext()))
        await asyncio.sleep(0.01)
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(serve())


async def after_a_minute() -> None:
    await asyncio.sleep(60)


def test_tool_that_cancels_itself_is_a_failure_and_no_cancelled_request() -> None:
    async def odd() -> None:
        raise asyncio.CancelledError

    assert client_of(odd).call("odd").json == FAILED


def test_work_that_is_cancelled_is_an_outcome() -> None:
    def cancelled() -> asyncio.Task[Any]:
        task = asyncio.create_task(after(60, 1))
        task.cancel()
        return task

    def then(tag: Any, outcome: Ok | Err, ctx: Context) -> str:
        return type(outcome.error).__name__ if isinstance(outcome, Err) else "done"

    assert searched(cancelled, then).text == "CancelledError"


def test_functions_that_are_not_async_may_go_on_too() -> None:
    def start() -> Async:
        return Async("later", after(0, 3))

    def resume(tag: str, outcome: Ok | Err, ctx: Context) -> str:
        return f"{tag} {outcome}"

    assert client_of(tool(resume=resume)(start)).call("start").text == "later Ok(value=3)"


async def delete_all(ctx: Context) -> str | InputRequired:
    answer = ctx.input_responses.get("sure", {})
    if answer.get("action") == "accept":
        return f"deleted {ctx.request_state['count']}"
    schema = {"type": "object", "properties": {"why": {"type": "string"}}}
    return InputRequired({"sure": Elicit("Delete all?", schema)}, state={"count": 3})


@case("S-018")
def test_tool_may_ask_and_is_called_again_with_answers_and_state() -> None:
    client = client_of(delete_all)

    asked = client.ask("delete_all")
    assert isinstance(asked, InputRequired)
    assert asked.state == {"count": 3}
    assert asked.input_requests() == {
        "sure": {
            "method": "elicitation/create",
            "params": {
                "mode": "form",
                "message": "Delete all?",
                "requestedSchema": {"type": "object", "properties": {"why": {"type": "string"}}},
            },
        }
    }
    done = client.ask("delete_all", answers={"sure": {"action": "accept"}}, to=asked)
    assert isinstance(done, Answer)
    assert done.text == "deleted 3"
    with pytest.raises(AssertionError, match="delete_all asks first"):
        client.call("delete_all")


def test_questions_may_open_a_url_or_be_of_another_kind() -> None:
    asked = InputRequired({"login": Elicit("Sign in", url="https://example.com/"), "roots": {"method": "roots/list"}})

    assert asked.input_requests() == {
        "login": {
            "method": "elicitation/create",
            "params": {"mode": "url", "message": "Sign in", "url": "https://example.com/"},
        },
        "roots": {"method": "roots/list"},
    }
    assert Elicit("Go on?").to_json()["params"]["requestedSchema"] == {"type": "object", "properties": {}}
