"""What is slow to get is got once for all who wait, and again when it ends or is refused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from handler.errors.upstream import CredentialUnavailable
from handler.server.auth.own_secrets import REFUSED_PAUSE_S
from handler.server.outgoing.secret_store import Fetched, SingleFlightCache
from tests.server.outgoing.serving import Clock


class Source:
    """Numbers, each fetched one greater than the one before; ``lasting`` says for how long each is good."""

    def __init__(self, clock: Clock, *, lasting: Callable[[int], float] = lambda _: 100.0) -> None:
        self.fetched: list[str] = []
        self._clock = clock
        self._lasting = lasting

    async def fetch(self) -> Fetched:
        self.fetched.append(str(len(self.fetched)))
        number = len(self.fetched) - 1
        await asyncio.sleep(0)
        return Fetched(self.fetched[number], good_until=self._clock.now + self._lasting(number))


def test_value_is_fetched_again_at_its_end() -> None:
    clock = Clock()
    source, kept = Source(clock), SingleFlightCache(clock=clock)

    async def ask() -> list[str]:
        first = await kept.get("k", source.fetch)
        clock.now += 99.9
        second = await kept.get("k", source.fetch)
        clock.now += 0.1
        return [first, second, await kept.get("k", source.fetch)]

    assert asyncio.run(ask()) == ["0", "0", "1"]


def test_value_that_may_not_be_kept_serves_those_who_waited_for_it_and_nobody_else() -> None:
    clock = Clock()
    source, kept = Source(clock, lasting=lambda _: 0), SingleFlightCache(clock=clock)

    async def ask() -> list[str]:
        waited = await asyncio.gather(*(kept.get("k", source.fetch) for _ in range(5)))
        return [*waited, await kept.get("k", source.fetch)]

    assert asyncio.run(ask()) == ["0"] * 5 + ["1"]


def test_value_that_is_refused_while_others_wait_is_fetched_anew_for_them() -> None:
    clock = Clock()
    source, kept = Source(clock), SingleFlightCache(clock=clock)

    async def refuse() -> str:
        value = await kept.get("k", source.fetch)
        assert kept.refuse("k", value)
        return value

    async def ask() -> list[str]:
        return [*await asyncio.gather(refuse(), kept.get("k", source.fetch), kept.get("k", source.fetch))]

    assert asyncio.run(ask()) == ["0", "1", "1"]


def test_failure_is_shared_by_those_who_waited_and_not_kept() -> None:
    kept: SingleFlightCache = SingleFlightCache(clock=Clock())
    asked: list[int] = []

    async def fail() -> Fetched:
        asked.append(1)
        await asyncio.sleep(0)
        raise CredentialUnavailable("why", refused=True)

    async def ask() -> list[object]:
        return await asyncio.gather(*(kept.get("k", fail) for _ in range(5)), return_exceptions=True)

    found = asyncio.run(ask())

    assert [(each.reason, each.refused) for each in found if isinstance(each, CredentialUnavailable)] == [
        ("why", True)
    ] * 5
    assert len({id(each) for each in found}) == 5  # an error that is raised twice would gather tracebacks
    assert len(asked) == 1
    with pytest.raises(CredentialUnavailable):
        asyncio.run(kept.get("k", fail))
    assert len(asked) == 2


def test_value_is_refused_once_in_a_while_and_an_older_one_at_any_time() -> None:
    clock = Clock()
    source, kept = Source(clock), SingleFlightCache(clock=clock)

    def get() -> str:
        return asyncio.run(kept.get("k", source.fetch))

    assert kept.refuse("k", "none was held") is True
    assert get() == "0"
    assert kept.refuse("k", "0") is True
    assert get() == "1"
    assert (kept.refuse("k", "0"), kept.refuse("k", "1"), get()) == (True, False, "1")
    clock.now += REFUSED_PAUSE_S
    assert (kept.refuse("k", "1"), get()) == (True, "2")
