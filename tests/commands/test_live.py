"""The live view's events: the last calls first, all pages alike, and no wait for a page that does not read."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

from handler.commands.page.live import MAX_CALLS, MAX_WAITING, Live
from handler.strict_json import parse_json


def event_of(text: bytes) -> tuple[str, Any]:
    kind, data, end, last = text.decode("ascii").split("\n")
    assert (end, last) == ("", "")
    return kind.removeprefix("event: "), parse_json(data.removeprefix("data: ").encode())


async def read(stream: AsyncIterator[bytes], count: int) -> list[tuple[str, Any]]:
    return [event_of(await anext(stream)) for _ in range(count)]


def made(number: int) -> dict[str, Any]:
    return {"id": number}


def live_view() -> Live:
    return Live(lambda: {"problems": []})


def test_page_gets_problems_then_the_last_calls_then_what_happens() -> None:
    async def run() -> list[tuple[str, Any]]:
        live = live_view()
        for number in range(MAX_CALLS + 5):
            live.call(partial(made, number))
        stream = live.stream()
        await anext(stream)
        first = await read(stream, MAX_CALLS + 1)
        live.reloaded(lambda: {"files": ["a"]})
        return first + await read(stream, 2)

    events = asyncio.run(run())

    assert events[0] == ("problems", {"problems": []})
    assert [each["id"] for kind, each in events[1:-2] if kind == "call"] == list(range(5, MAX_CALLS + 5))
    assert events[-2:] == [("reload", {"files": ["a"]}), ("problems", {"problems": []})]


def test_stream_of_a_page_that_does_not_read_ends_and_the_next_one_works() -> None:
    async def run() -> tuple[int, list[tuple[str, Any]]]:
        live = live_view()
        slow = live.stream()
        await anext(slow)
        for number in range(2 * MAX_WAITING):
            live.call(partial(made, number))
        await asyncio.sleep(0)  # the events reach the stream in the loop
        read_late = [each async for each in slow]
        again = live.stream()
        await anext(again)
        return len(read_late), await read(again, 2)

    count, again = asyncio.run(run())

    assert count == MAX_WAITING
    assert again == [("problems", {"problems": []}), ("call", {"id": 2 * MAX_WAITING - MAX_CALLS})]


def test_call_is_described_once_and_only_for_a_page() -> None:
    described: list[int] = []

    def describe() -> dict[str, Any]:
        described.append(1)
        return {"id": 1}

    async def run() -> None:
        live = live_view()
        live.call(describe)
        assert described == []
        for _ in range(2):
            stream = live.stream()
            await anext(stream)
            await read(stream, 2)

    asyncio.run(run())

    assert described == [1]


def test_streams_end_when_the_server_does_and_later_ones_end_at_once() -> None:
    async def run() -> list[int]:
        live = live_view()
        first = live.stream()
        await anext(first)
        live.close()
        return [len([each async for each in stream]) for stream in (first, live.stream())]

    assert asyncio.run(run()) == [1, 2]


def test_events_published_by_threads_arrive() -> None:
    async def run() -> list[tuple[str, Any]]:
        live = live_view()
        stream = live.stream()
        await anext(stream)
        await read(stream, 1)
        await asyncio.gather(*(asyncio.to_thread(live.call, lambda: {"id": 7}) for _ in range(20)))
        return await read(stream, 20)

    assert asyncio.run(run()) == [("call", {"id": 7})] * 20


def test_text_of_a_call_stays_on_its_line() -> None:
    hostile = "a\n\ndata: b\r\u2028\u2029event: problems \ud800"

    async def run() -> bytes:
        live = live_view()
        live.call(lambda: {"id": hostile})
        stream = live.stream()
        await anext(stream)
        await anext(stream)
        return await anext(stream)

    text = asyncio.run(run())

    assert text.count(b"\n") == 3
    assert b"\r" not in text
    assert json.loads(text.split(b"data: ", 1)[1]) == {"id": hostile}
