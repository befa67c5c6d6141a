"""The form of ``resume``, and what a wrong one is told before any call does its work.

Source: gen_mcp 0.10.0, ``continue``: "Invoked when call/3 returns {:async, ...} and the task finishes", with the tag
and the wrapped result; "Can chain another async operation".
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import pytest

from handler.code_tools.signature import EXPECTED_RESUME
from stile import Async, Context, Err, Ok, Tool, ToolDefinitionError, Toolkit, describe, tool
from stile.testing import TestClient
from tests.code_tools.cases import case
from tests.code_tools.echo import client_of

if TYPE_CHECKING:
    from stile import Context as Around
    from stile import Ok as Success

Outcome = Ok | Err
T = TypeVar("T")


async def work() -> int:
    return 7


def shown(*values: Any) -> str:
    return " ".join("ctx" if isinstance(each, Context) else str(each) for each in values)


def answer_with(resume: Any) -> str:
    async def search() -> Async:
        return Async("tag", work())

    kit = Toolkit()
    kit.tool(resume=resume)(search)
    assert kit.tools[0].entry["name"] == "search"
    return TestClient(kit).call("search").text


class Typed:
    """Resumes that a type, a name or an order tells apart."""

    def without_context(self, tag: str, outcome: Ok | Err) -> str:
        return shown(tag, outcome)

    def context_first(self, ctx: Context, tag: str, outcome: Outcome) -> str:
        return shown(ctx, tag, outcome)

    def context_between(self, tag: str, around: Context | None, outcome: Ok | Err) -> str:
        return shown(tag, around, outcome)

    async def by_keyword(self, *, result: Ok | Err, step: str, late: Context) -> str:
        return shown(step, result, late)

    def outcome_first(self, result: Ok | Err, step: str) -> str:
        return shown(step, result)

    def names_swapped(self, outcome, tag):  # type: ignore[no-untyped-def]
        return shown(tag, outcome)

    def other_names(self, step, result):  # type: ignore[no-untyped-def]
        return shown(step, result)

    def context_by_order(self, step, result, around):  # type: ignore[no-untyped-def]
        return shown(step, result, around)

    def context_by_name_first(self, ctx, tag, outcome):  # type: ignore[no-untyped-def]
        return shown(ctx, tag, outcome)

    def own_default(self, tag: str, outcome: Ok | Err, retries: int = 3) -> str:
        return shown(tag, outcome, retries)

    def untyped_default(self, tag, outcome, retries=3):  # type: ignore[no-untyped-def]
        return shown(tag, outcome, retries)

    def none_by_default(self, tag, outcome, around=None):  # type: ignore[no-untyped-def]
        return shown(tag, outcome, around)

    def all_by_default(self, tag: Any = None, outcome: Any = None, ctx: Context | None = None) -> str:
        return shown(tag, outcome, ctx)

    def keyword_left(self, tag, outcome, *, around):  # type: ignore[no-untyped-def]
        return shown(tag, outcome, around)

    def by_position(self, step: str, result: Ok | Err, /) -> str:
        return shown(step, result)

    def any_number(self, *values: Any) -> str:
        return shown(*values)

    def tag_and_any_number(self, tag: str, *values: Any) -> str:
        return shown(tag, *values)

    def any_names(self, tag: str, outcome: Ok | Err, **more: Any) -> str:
        return shown(tag, outcome, *more)

    def for_type_checkers(self, tag: str, result: Success, ctx: Context) -> str:  # which nothing here imports
        return shown(tag, result, ctx)

    def context_for_type_checkers(self, tag: str, outcome: Ok | Err, ctx: Around) -> str:
        return shown(tag, outcome, ctx)

    def annotated(self, tag: str, result: Annotated[Ok | Err, "what came"], ctx: Annotated[Context, "around"]) -> str:
        return shown(tag, result, ctx)

    def anything(self, tag: object, outcome: Any) -> str:
        return shown(tag, outcome)

    def of_a_variable(self, tag: str, outcome: T) -> str:
        return shown(tag, outcome)

    @classmethod
    def of_the_class(cls, tag: str, outcome: Ok | Err) -> str:
        return shown(tag, outcome)

    @staticmethod
    async def of_nobody(tag: str, outcome: Ok | Err, ctx: Context) -> str:
        return shown(tag, outcome, ctx)


TWO, THREE = "tag Ok(value=7)", "tag Ok(value=7) ctx"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("without_context", TWO),
        ("context_first", f"ctx {TWO}"),
        ("context_between", "tag ctx Ok(value=7)"),
        ("by_keyword", THREE),
        ("outcome_first", TWO),
        ("names_swapped", TWO),
        ("other_names", TWO),
        ("context_by_order", THREE),
        ("context_by_name_first", f"ctx {TWO}"),
        ("own_default", f"{TWO} 3"),
        ("untyped_default", f"{TWO} 3"),
        ("none_by_default", THREE),
        ("all_by_default", THREE),
        ("keyword_left", THREE),
        ("by_position", TWO),
        ("any_number", THREE),
        ("tag_and_any_number", THREE),
        ("any_names", TWO),
        ("for_type_checkers", THREE),
        ("context_for_type_checkers", THREE),
        ("annotated", THREE),
        ("anything", TWO),
        ("of_a_variable", TWO),
        ("of_the_class", TWO),
        ("of_nobody", THREE),
    ],
)
def test_parameters_are_found_by_type_then_by_name_then_by_order(name: str, text: str) -> None:
    resume = getattr(Typed(), name)
    assert answer_with(resume) == text

    class Search(Tool):
        """As a method of the tool."""

        async def call(self) -> Async:
            return Async("tag", work())

    Search.resume = Typed.__dict__[name]
    assert client_of(Search).call("search").text == text


def passing_on(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


def with_a_database(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(tag: str, outcome: Ok | Err) -> Any:
        return function("db", tag, outcome)

    return wrapper


def all_of(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(tag: str, outcome: Ok | Err) -> str:
        return " ".join(function(tag, outcome))

    return wrapper


def in_parts(tag: str, outcome: Ok | Err) -> Any:
    yield tag
    yield str(outcome)


class Callback:
    """A callable object."""

    async def __call__(self, ctx: Context, tag: str, outcome: Ok | Err) -> str:
        return shown(tag, outcome, ctx)


def of_three(database, tag, outcome):  # type: ignore[no-untyped-def]
    return shown(database, tag, outcome)


@pytest.mark.parametrize(
    ("resume", "text"),
    [
        (passing_on(passing_on(Typed().without_context)), TWO),
        (with_a_database(of_three), f"db {TWO}"),
        (functools.partial(of_three, "db"), f"db {TWO}"),
        (functools.partial(of_three, database="db"), f"db {TWO}"),
        (functools.lru_cache(Typed().without_context), TWO),
        (all_of(in_parts), TWO),
        (Callback(), THREE),
        (Typed.__dict__["of_nobody"], THREE),
        (lambda tag, outcome: f"{tag} {outcome}", TWO),
    ],
)
def test_resume_may_be_whatever_is_called(resume: Any, text: str) -> None:
    assert answer_with(resume) == text


class Wrong:
    """Resumes that no call could go on with."""

    def no_outcome(self, tag: str) -> None: ...

    def no_tag(self, outcome: Ok | Err) -> None: ...

    def nothing(self) -> None: ...

    def names_alone(self, **values: Any) -> None: ...

    def one_more(self, tag: str, outcome: Ok | Err, ctx: Context, more: int) -> None: ...

    def two_contexts(self, tag: str, outcome: Ok | Err, a: Context, b: Context) -> None: ...

    def two_outcomes(self, tag: Ok, outcome: Err) -> None: ...

    def value_alone(self, tag: str, outcome: str) -> None: ...

    def values_alone(self, tag: str, outcome: dict[str, int] | None) -> None: ...

    def literal(self, tag: str, outcome: Literal["ok"]) -> None: ...

    def context_of_another_type(self, tag: str, outcome: Ok | Err, ctx: str) -> None: ...

    def yielding(self, tag: str, outcome: Ok | Err) -> Any:
        yield tag

    async def yielding_later(self, tag: str, outcome: Ok | Err) -> Any:
        yield tag


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("no_outcome", "it has no parameter for the outcome"),
        ("no_tag", "it has no parameter for the tag"),
        ("nothing", "it has no parameter for the tag"),
        ("names_alone", "it has no parameter for the tag"),
        ("one_more", "nothing fills its parameter more: 'int'"),
        ("two_contexts", "its parameter b: 'Context' is one more for the context"),
        ("two_outcomes", "its parameter outcome: 'Err' is one more for outcome"),
        ("value_alone", "its parameter outcome gets Ok or Err, and is annotated as str"),
        ("values_alone", "its parameter outcome gets Ok or Err, and is annotated as dict[str, int] | None"),
        ("literal", "its parameter outcome gets Ok or Err, and is annotated as Literal['ok']"),
        ("context_of_another_type", "its parameter ctx gets the context, and is annotated as str"),
        ("yielding", "it yields, and one result is needed"),
        ("yielding_later", "it yields, and one result is needed"),
    ],
)
def test_form_that_cannot_be_called_is_refused_where_resume_stands(name: str, sentence: str) -> None:
    with pytest.raises(ToolDefinitionError) as caught:
        answer_with(getattr(Wrong(), name))

    assert caught.value.label == "tool search: resume"
    assert caught.value.sentence == f"{sentence}: {EXPECTED_RESUME}"
    assert (caught.value.file, caught.value.line) == (__file__, getattr(Wrong, name).__code__.co_firstlineno)


@pytest.mark.parametrize(
    ("resume", "sentence"),
    [
        (Typed.without_context, "it waits for its instance"),
        (dict, "expected a function written in Python"),
        (3, "resume: expected a function, got 3"),
    ],
)
def test_what_is_no_function_is_refused_at_the_tool(resume: Any, sentence: str) -> None:
    with pytest.raises(ToolDefinitionError) as caught:
        answer_with(resume)

    assert sentence in caught.value.sentence
    assert caught.value.file == __file__
    assert caught.value.line > 0


def test_tool_class_with_a_wrong_resume_is_refused_with_its_name() -> None:
    class Search(Tool):
        async def call(self) -> Async:
            return Async("tag", work())

        async def resume(self, tag: str) -> str:
            return tag

    with pytest.raises(ToolDefinitionError, match="tool search: resume: it has no parameter for the outcome"):
        Toolkit().add(Search())


@pytest.mark.parametrize("hint", [Async, Async | str, Annotated[Async, "later"], "Async", Async | None])
def test_tool_that_returns_async_without_resume_is_refused(hint: Any) -> None:
    async def search():  # type: ignore[no-untyped-def]
        return Async("tag", work())

    search.__annotations__["return"] = hint

    with pytest.raises(ToolDefinitionError) as caught:
        describe(tool(search))
    assert caught.value.sentence == f"it returns Async and has no resume to continue with: {EXPECTED_RESUME}"
    assert caught.value.line == search.__code__.co_firstlineno


def test_resume_may_be_said_by_a_decorator_above() -> None:
    kit = Toolkit()

    @kit.tool(resume=lambda tag, outcome: f"{tag} {outcome.value}")
    @kit.tool(timeout=5)
    async def search() -> Async:
        return Async("tag", work())

    assert TestClient(kit).call("search").text == "tag 7"
    assert TestClient(kit).list_tools()[0]["name"] == "search"


def answered_by_future(make: Callable[[], Any], *, timeout: float = 60) -> str:
    def resume(tag: str, outcome: Ok | Err) -> str:
        return repr(outcome.value) if isinstance(outcome, Ok) else type(outcome.error).__name__

    @tool(resume=resume, timeout=timeout)
    def search() -> Async:
        return Async("tag", make())

    return client_of(search).call("search").text


def test_future_of_an_executor_is_work_to_wait_for() -> None:
    def cancelled() -> Future[int]:
        future: Future[int] = Future()
        future.cancel()
        return future

    with ThreadPoolExecutor(1) as executor:
        assert answered_by_future(lambda: executor.submit(lambda: 7)) == "7"
        assert answered_by_future(lambda: executor.submit(lambda: 1 / 0)) == "ZeroDivisionError"
    assert answered_by_future(cancelled) == CancelledError.__name__
    assert answered_by_future(Future, timeout=2) == "TimeoutError"


def test_future_of_an_executor_may_be_returned_itself() -> None:
    with ThreadPoolExecutor(1) as executor:

        def search() -> dict[str, Any]:
            return executor.submit(lambda: {"found": 7})  # type: ignore[return-value]

        assert client_of(search).call("search").data == {"found": 7}


def test_future_of_an_executor_twice_is_a_failure_that_the_log_explains(caplog: pytest.LogCaptureFixture) -> None:
    with ThreadPoolExecutor(1) as executor:
        kept = executor.submit(lambda: 7)

        @tool(resume=lambda tag, outcome: Async("again", kept))
        def search() -> Async:
            return Async("tag", kept)

        assert client_of(search).call("search").is_error
    assert "resume of tool search returned Async('again', …): this call waited for the same work" in caplog.text


@case("S-009")
def test_log_of_a_wrong_return_names_the_function_that_gave_it(caplog: pytest.LogCaptureFixture) -> None:
    assert answer_with(lambda tag, outcome: object()) == "Tool execution failed"
    assert "resume of tool search returned a value of the type object, which is not a result" in caplog.text
    caplog.clear()
    assert answer_with(lambda tag, outcome: Async("again", 3)) == "Tool execution failed"  # type: ignore[arg-type]
    assert "resume of tool search returned Async('again', …): expected something to wait for, got 3" in caplog.text
    caplog.clear()

    @tool
    def alone() -> Any:
        return object()

    assert client_of(alone).call("alone").is_error
    assert "tool alone returned a value of the type object, which is not a result" in caplog.text
    assert "resume" not in caplog.text


def test_log_of_a_result_against_its_schema_names_resume(caplog: pytest.LogCaptureFixture) -> None:
    schema = {"type": "object", "properties": {"found": {"type": "integer"}}}

    @tool(resume=lambda tag, outcome: {"found": "seven"}, output_schema=schema)
    def search() -> Async:
        return Async("tag", work())

    assert client_of(search).call("search").is_error
    assert "resume of tool search: the result does not match the output schema: /found: type" in caplog.text
