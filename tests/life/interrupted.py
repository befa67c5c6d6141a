"""Publishes that SIGKILL ends at one of their writes, each time another one."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tests.life.between import BROKEN, Between, Forward, Passing, Reply
from tests.life.publishers import bundles_at, require_unlocked, titles_served, write_edition
from tests.life.zygote import Zygote

ENDPOINTS = 20
WRITES = ("PUT", "DELETE")
MAX_WRITES = 10_000
"""A number that no publish reaches."""


class Interrupted:
    """A destination, to which editions are published one after the other."""

    def __init__(
        self,
        work: Path,
        location: str,
        zygote: Zygote,
        *,
        environ: dict[str, str],
        direct: dict[str, str],
        endpoints: int,
    ) -> None:
        self._names = [f"api/e{number:02}" for number in range(endpoints)]
        self._work = work
        self._location = location
        self._environ = environ
        self._direct = direct  # the environment of those who read
        self._zygote = zygote
        self._edition = 0
        self._held: dict[str, bytes] = {}
        self.publish()

    def publish(self, *, kill_at: int = 0, tears: bool = False) -> int:
        """Publish the endpoints as they are. What is stored after a whole publish is held to be the old version."""
        if not self._edition:
            write_edition(self._work / "endpoints", self._names, "edition 0")
        words = ("publish", str(self._work / "endpoints"), self._location, "--create")
        code = self._zygote.run(*words, environ=self._environ, kill_at=kill_at, below=self._location, tears=tears)
        if code == 0:
            self._held = bundles_at(self._location, self._direct, self._names)
        return code

    def next_edition(self) -> None:
        self._edition += 1
        write_edition(self._work / "endpoints", self._names, f"edition {self._edition}")

    def judge(self) -> None:
        """Require whole endpoints, old or new, after a publish was killed, and all new ones after the next."""
        left = bundles_at(self._location, self._direct, self._names)
        served = set(titles_served(self._location, self._direct, self._names).values())
        assert served <= {f"edition {self._edition}", f"edition {self._edition - 1}"}
        before = self._held
        code = self.publish()
        assert code == 0, self._zygote.output
        assert len(left) == len(self._held) == len(self._names)
        for name in self._names:
            assert left[name] in (before[name], self._held[name]), name


def killed_in_a_folder(
    work: Path, zygote: Zygote, numbers: Sequence[int] | None, *, endpoints: int = ENDPOINTS
) -> Iterator[str]:
    """Kill before each write of the numbers, or before every one, and inside each; yield the kills."""
    folder = work / "bundles"
    published = Interrupted(work, str(folder), zygote, environ={}, direct={}, endpoints=endpoints)
    for kind in ("before", "inside"):
        for number in numbers or range(1, MAX_WRITES):
            published.next_edition()
            code = published.publish(kill_at=number, tears=kind == "inside")
            if code == 0:
                break
            assert code in (-signal.SIGKILL, -signal.SIGXFSZ), zygote.output
            require_unlocked(folder)
            published.judge()
            assert not list(folder.rglob("*.tmp"))
            yield f"{kind} {number}"


def killed_at_s3(
    work: Path,
    zygote: Zygote,
    between: Between,
    *,
    location: str,
    direct: dict[str, str],
    numbers: Sequence[int] | None,
    endpoints: int = ENDPOINTS,
) -> Iterator[str]:
    """Kill at each write to S3, before and after S3 has carried it out; yield each kill."""
    environ = {**direct, "AWS_ENDPOINT_URL": between.url}
    published = Interrupted(work, location, zygote, environ=environ, direct=direct, endpoints=endpoints)
    for kind in ("before", "after"):
        for number in numbers or range(1, MAX_WRITES):
            published.next_edition()
            between.begin(_killing(zygote, number, is_done=kind == "after"))
            code = published.publish()
            between.begin()
            if code == 0:
                break
            assert code == -signal.SIGKILL, zygote.output
            published.judge()
            yield f"{kind} {number}"


def _killing(zygote: Zygote, number: int, *, is_done: bool) -> Callable[[Passing, Forward], Reply]:
    writes = []

    def rule(passing: Passing, forward: Forward) -> Reply:
        if passing.method in WRITES:
            writes.append(passing)
            if len(writes) == number:
                if is_done:
                    forward()
                os.kill(zygote.pid, signal.SIGKILL)
            if len(writes) >= number:
                return BROKEN
        return forward()

    return rule
