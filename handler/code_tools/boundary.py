"""The boundary between our code and an author's: its exceptions, its tasks and threads, its time, and its log.

Every exception of authors' code is caught here.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import logging
import math
import sys
import threading
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

import handler
from handler.code_tools.context import Context, settled
from handler.code_tools.return_values import Err, Ok
from handler.code_tools.source_location import plain_function
from handler.errors import StileError
from handler.errors.access import AccessError
from handler.errors.calls import CallError, DeadlinePassed, ToolError
from handler.errors.protocol import McpError
from handler.json_schema.json_bounds import nests_too_deeply
from handler.strict_json import to_well_formed_json, well_formed

MAX_ERROR_BYTES = 400_000
"""The limit of a JSON-RPC error's message and data: it fits into an answer, however the text is escaped."""


class AuthorFailed(StileError):
    """An author's code raised ``error``, which is not an error for callers."""

    stile_code = "code-failed"
    __context__ = None  # an author's class may fail wherever a traceback reads it; __cause__ is readable

    def __init__(self, error: BaseException) -> None:
        super().__init__(f"{type(error).__name__}: {error}")
        self.error = error


@contextmanager
def authors_code() -> Iterator[None]:
    """Run an author's code. Errors that define the answer to the caller (access, call and MCP errors) go through.

    Raises:
        AuthorFailed: any other failure, including ``sys.exit`` and an error that cannot be sent.
    """
    try:
        yield
    except (AccessError, CallError, McpError) as exc:
        error = _readable(exc)
        if error is not exc:
            raise AuthorFailed(error) from error
        if isinstance(exc, McpError):
            _require_sendable(exc)
        raise
    except (Exception, SystemExit) as exc:  # noqa: BLE001 - the edge of an author's code: a failure of the call
        error = _readable(exc)
        raise AuthorFailed(error) from error


def _readable(error: BaseException) -> BaseException:
    """Return an error, or one with its traceback alone if the class of an author fails where its text is read."""
    place = sys.exc_info()[2]
    try:
        str(error)
        traceback.format_exception(error)
    except (Exception, SystemExit):  # noqa: BLE001 - the edge of an author's error: its text is its author's code
        return RuntimeError("an exception of a class whose text cannot be read").with_traceback(place)
    return error


def _require_sendable(error: McpError) -> None:
    try:
        size = len(to_well_formed_json([error.message, error.data]))
    except (TypeError, ValueError, RecursionError) as exc:
        raise AuthorFailed(error) from exc
    if size > MAX_ERROR_BYTES or nests_too_deeply(error.data) or not isinstance(error.message, str):
        raise AuthorFailed(error)


LEFT_BEHIND_S = 0.2
"""The time that a call's remaining tasks have to end after they are cancelled."""

_tasks: contextvars.ContextVar[set[asyncio.Task[Any]] | None] = contextvars.ContextVar("tasks", default=None)


class Expired(StileError):
    """The call's time is over."""

    stile_code = DeadlinePassed.stile_code


@contextlib.asynccontextmanager
async def no_task_left_behind() -> AsyncIterator[None]:
    """End every task that is started inside: a thawed container would go on with the task in another caller's call."""
    loop = asyncio.get_running_loop()
    if not isinstance(loop.get_task_factory(), _Recording):
        loop.set_task_factory(_Recording(loop.get_task_factory()))  # type: ignore[arg-type] # typeshed knows one form
    started: set[asyncio.Task[Any]] = set()
    token = _tasks.set(started)
    try:
        yield
    finally:
        _tasks.reset(token)
        unfinished = {task for task in started if not task.done()}
        for task in unfinished:
            task.cancel()
        if unfinished:
            await asyncio.wait(unfinished, timeout=LEFT_BEHIND_S)


class _Recording:
    """A task factory that records the tasks of a call, found by the context that tasks inherit."""

    def __init__(self, factory: Callable[..., Any] | None) -> None:
        self._factory = factory

    def __call__(self, loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Any], **options: Any) -> Any:
        make = self._factory or (lambda loop, work, **options: asyncio.Task(work, loop=loop, **options))
        task = make(loop, work, **options)
        started = _tasks.get()
        if started is not None:
            started.add(task)
            task.add_done_callback(started.discard)
        return task


async def run(function: Callable[[], Any], ctx: Context) -> Any:
    """Call an author's function, async or not, and return its final value.

    Raises:
        Expired: the function did not end in time.
        ToolError: the call was cancelled.
        Exception: an exception of the function's own.
    """
    match await wait_for(unexited(_called(function)), ctx):
        case Ok(value):
            return value
        case Err(Exception() as error):
            raise error
        case Err(error):  # a BaseException would end more than the call
            raise RuntimeError(f"the tool ended with {type(error).__name__}") from error


async def wait_for(work: Awaitable[Any], ctx: Context, *, margin_s: float = 0.0) -> Ok | Err:
    """Wait for work until ``margin_s`` before the call's deadline.

    Raises:
        Expired: the time is over, and the work is cancelled.
        ToolError: the call was cancelled.
    """
    task = ctx.running = asyncio.ensure_future(work)
    remaining_s = ctx.remaining_time() - margin_s
    try:
        await asyncio.wait({task}, timeout=None if math.isinf(remaining_s) else max(0.0, remaining_s))
        if ctx.cancelled:
            raise ToolError("Operation was cancelled")
        if not task.done():
            raise Expired
        if task.cancelled():
            return Err(asyncio.CancelledError("the work was cancelled"))
        error = task.exception()
        return Ok(task.result()) if error is None else Err(error)
    finally:
        task.cancel()
        ctx.running = None


async def unexited(work: Awaitable[Any]) -> Any:
    """Await work, and turn ``sys.exit`` in it into a failure: it would end the event loop."""
    try:
        return await work
    except SystemExit as exc:
        raise RuntimeError("the tool called sys.exit") from exc


async def _called(function: Callable[[], Any]) -> Any:
    if inspect.iscoroutinefunction(plain_function(function)):
        return await settled(function())  # a wrapper around an async function need not be async
    return await settled(await _in_thread(function))


async def _in_thread(work: Callable[[], Any]) -> Any:
    """Run a function that is not async in a thread, where it cannot delay the deadline.

    The thread is a daemon, because the loop waits for an executor's threads when it ends.
    """
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[Ok | Err] = loop.create_future()
    context = contextvars.copy_context()

    def settle(result: Ok | Err) -> None:
        if not outcome.done():
            outcome.set_result(result)

    def in_thread() -> None:
        try:
            result: Ok | Err = Ok(context.run(work))
        except BaseException as exc:  # noqa: BLE001 - the edge of an author's thread: raised again by the waiting coroutine
            result = Err(exc)
        with contextlib.suppress(RuntimeError):  # the loop is closed: no coroutine waits
            loop.call_soon_threadsafe(settle, result)

    threading.Thread(target=in_thread, daemon=True, name="stile-tool").start()
    match await outcome:
        case Ok(value):
            return value
        case Err(error):
            raise error


class _WellFormed(logging.Filter):
    """Replace lone surrogates: the log handler of Lambda's runtime raises on them, and the call would fail."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = well_formed(record.getMessage()), None
        trace = logging.Formatter().formatException(record.exc_info) if record.exc_info else ""
        if trace != well_formed(trace):
            record.msg, record.exc_info = f"{record.msg}\n{well_formed(trace)}", None
        return True


LOG = logging.getLogger("stile.tools")
"""The log of tools in Python, whose exceptions may quote any input."""

LOG.addFilter(_WellFormed())

UNAWAITED = "The line lacks await: write `await ctx.graphql(…)`, and `await` before every call of an async function.\n"


def author_traceback(failure: BaseException, *, whole: bool) -> str:
    """Format an exception. Unless ``whole``, only its own frames of authors' code are in it, and no cause that is ours.

    Without a frame of an author, a tool's failure is its sentence alone, and any other is formatted whole.
    """
    if whole:
        return "".join(traceback.format_exception(failure))
    error = failure.error if isinstance(failure, AuthorFailed) else failure
    report = traceback.TracebackException.from_exception(error)
    has_frames = False
    each: traceback.TracebackException | None = report
    while each is not None:
        own = [frame for frame in each.stack if not _is_ours(frame.filename)]
        has_frames = has_frames or bool(own)
        each.stack = traceback.StackSummary.from_list(own)
        each = each.__cause__ or (None if each.__suppress_context__ else each.__context__)
    if has_frames:
        hint = UNAWAITED if "'coroutine' object" in str(error) else ""
        return "".join([*report.format(), hint])
    return "".join(report.format_exception_only() if error is not failure else traceback.format_exception(failure))


def _is_ours(file: str) -> bool:
    """Return whether a frame is ours or the standard library's, among whose folders are those of installed packages."""
    import sysconfig  # for failures alone
    from pathlib import Path

    path = Path(file)
    is_installed = not {"site-packages", "dist-packages"}.isdisjoint(path.parts)
    is_standard = path.is_relative_to(sysconfig.get_paths()["stdlib"]) and not is_installed
    return file.startswith("<frozen") or path.is_relative_to(Path(handler.__file__).parent) or is_standard


def shorten_traceback(record: logging.LogRecord) -> bool:
    """Keep only authors' frames in the traceback of a record of ``LOG``."""
    if record.exc_info and record.exc_info[1]:
        record.exc_text = author_traceback(record.exc_info[1], whole=False).rstrip("\n")
    return True
