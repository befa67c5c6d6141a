"""Two publishers of the same endpoints whose requests to S3 come in every kind of order."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from pathlib import Path

from handler.bundle.stored import bundle_key
from handler.http.client import HttpClient
from handler.storage.location import open_publish_storage
from tests.life.between import Between, Forward, Passing, Reply, Rule
from tests.life.publishers import bundles_at, write_edition
from tests.life.zygote import Zygote

WHO = ("ada", "ben")
PATIENCE_S = 60


class Turns:
    """Requests of two publishers, one at a time, in an order that a seed decides."""

    def __init__(self, seed: str) -> None:
        self.done: list[tuple[str, str, str, int]] = []  # who, method, path, status
        self._random = random.Random(seed)
        self._turn = threading.Condition()
        self._waiting = dict.fromkeys(WHO, 0)
        self._ended: set[str] = set()
        self._next = self._random.choice(WHO)

    def rule_of(self, who: str) -> Rule:
        def rule(passing: Passing, forward: Forward) -> Reply:
            with self._turn:
                self._waiting[who] += 1
                assert self._turn.wait_for(lambda: self._next == who, PATIENCE_S)
                reply = forward()
                self._waiting[who] -= 1
                self.done.append((who, passing.method, passing.path, reply.status))
                self._choose()
                return reply

        return rule

    def end(self, who: str) -> None:
        """Note that a publisher has ended."""
        with self._turn:
            self._ended.add(who)
            self._choose()

    def _choose(self) -> None:
        self._next = self._random.choice([who for who in WHO if who not in self._ended] or WHO)
        self._turn.notify_all()


def interleave(
    work: Path, zygotes: dict[str, Zygote], proxies: dict[str, Between], *, environ: dict[str, str], seed: str
) -> int:
    """Let both publish at once, and judge the outcome. Return the number of endpoints that one of them lost."""
    names = [f"api/e{number}" for number in range(1, 1 + random.Random(seed).randint(1, 3))]
    location = f"s3://life/{seed}"
    shared = [name for name in names if random.Random(seed + name).random() < 0.7]
    if shared:
        write_edition(work / seed / "base", shared, "base")
        assert zygotes["ada"].run("publish", str(work / seed / "base"), location, environ=environ) == 0
    turns = Turns(seed)
    codes: dict[str, int] = {}
    for who in WHO:
        write_edition(work / seed / who, names, who)
        proxies[who].begin(turns.rule_of(who))

    def publish(who: str) -> None:
        own = {**environ, "AWS_ENDPOINT_URL": proxies[who].url}
        codes[who] = zygotes[who].run("publish", str(work / seed / who), location, environ=own)
        turns.end(who)

    threads = [threading.Thread(target=publish, args=(who,)) for who in WHO]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(_judged(turns, zygotes, codes, location=location, environ=environ, names=names))


def _judged(
    turns: Turns,
    zygotes: dict[str, Zygote],
    codes: dict[str, int],
    *,
    location: str,
    environ: dict[str, str],
    names: list[str],
) -> Iterator[int]:
    assert len(bundles_at(location, environ, names)) == len(names)
    refused = {who: _refused(zygotes[who].output) for who in WHO}
    http = HttpClient()
    storage = open_publish_storage(location, http=http, environ=environ)
    for who in WHO:
        assert codes[who] == (1 if refused[who] else 0), zygotes[who].output
    for name in names:
        key = bundle_key(name)
        steps = [step for step in turns.done if step[2].partition("?")[0].endswith(f"/{key}")]
        stored = [who for who, method, _, status in steps if method == "PUT" and status == 200]
        for who in WHO:
            # Each publisher stores the endpoint once, or is told once that the other was faster.
            assert stored.count(who) + refused[who].count(name) == 1, (name, steps, zygotes[who].output)
        if len(stored) == len(WHO):
            # The second one has compared with the version of the first.
            written = [at for at, step in enumerate(steps) if step[1] == "PUT" and step[3] == 200]
            looks = [at for at, step in enumerate(steps) if step[0] == stored[1] and step[1] == "GET"]
            assert looks
            assert written[0] < looks[-1] < written[1]
        assert len(storage.versions(key)) >= len(stored)
        yield len(WHO) - len(stored)
    http.close()


def _refused(output: str) -> list[str]:
    """The endpoints that a publisher was refused, each by a sentence that says who was faster."""
    lines = [line for line in output.splitlines() if " is not stored: " in line]
    assert all(" was faster, at 20" in line and "Run the command again" in line for line in lines), output
    assert "Traceback" not in output
    return [line.partition(" is not stored: ")[0] for line in lines]
