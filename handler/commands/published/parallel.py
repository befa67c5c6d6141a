"""Work on several items at a time, in threads that no exit waits for."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from handler.errors import StileError

T = TypeVar("T")
R = TypeVar("R")

AT_ONCE = 16


class Parallel(Generic[T, R]):
    """The work on some items. Iterate over it for the items that are done, each with its result or its error.

    The work begins with the iteration, so that Ctrl-C meets nothing that is under way before.
    The threads are daemons: a request that nobody answers holds up neither Ctrl-C nor the end of the process.
    """

    def __init__(self, work: Callable[[T], R], items: Sequence[T], *, at_once: int = AT_ONCE) -> None:
        self._work = work
        self._waiting = deque(items)
        self._done: SimpleQueue[tuple[T, R | StileError] | None] = SimpleQueue()
        self._is_stopped = False
        self._at_once = min(at_once, len(items))
        self._threads = 0

    def __iter__(self) -> Iterator[tuple[T, R | StileError]]:
        while self._threads < self._at_once:
            self._threads += 1
            threading.Thread(target=self._run, daemon=True).start()
        yield from self._collected(None)

    def stop(self) -> None:
        """Begin no further item. Those that are begun go on."""
        self._is_stopped = True

    def finished_within(self, timeout_s: float) -> Iterator[tuple[T, R | StileError]]:
        """Stop, and yield the items that end before a silence of ``timeout_s``."""
        self.stop()
        yield from self._collected(timeout_s)

    def _collected(self, timeout_s: float | None) -> Iterator[tuple[T, R | StileError]]:
        while self._threads:
            try:
                done = self._done.get(timeout=timeout_s)
            except Empty:
                return
            if done is None:
                self._threads -= 1
                continue
            yield done

    def _run(self) -> None:
        try:
            for item in self._next_items():
                self._done.put((item, self._outcome(item)))
        finally:
            self._done.put(None)

    def _next_items(self) -> Iterator[T]:
        while not self._is_stopped:
            try:
                item = self._waiting.popleft()
            except IndexError:
                return
            yield item

    def _outcome(self, item: T) -> R | StileError:
        try:
            return self._work(item)
        except StileError as exc:
            return exc
