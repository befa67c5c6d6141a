from __future__ import annotations

import threading
import time

import pytest

from handler.cold.prefetch import ReadAhead
from handler.errors.infrastructure import ObjectNotFound
from handler.http.client import HttpClient
from handler.storage.local import MemoryStorage
from handler.storage.storage import StoredObject
from tests.support.objects import running_objects


class Slow(MemoryStorage):
    """Answers when it is told to, and notes who asks."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = threading.Semaphore(0)
        self.may_answer = threading.Event()
        self.reads: list[tuple[str, str | None]] = []

    def read(self, key: str, *, etag: str | None = None, timeout_s: float = 0) -> StoredObject | None:
        self.reads.append((key, etag))
        self.asked.release()
        assert self.may_answer.wait(60)
        return super().read(key, etag=etag, timeout_s=timeout_s)


def test_objects_are_asked_for_before_anybody_reads_them_and_given_once() -> None:
    storage = Slow()
    storage.write("a/b", b"1")
    ahead = ReadAhead(storage, ["a/b"])
    assert storage.asked.acquire(timeout=60)
    storage.may_answer.set()
    first, second = ahead.read("a/b"), ahead.read("a/b", etag="other")

    assert (first, second) == (storage.read("a/b"), storage.read("a/b"))
    assert storage.reads[:2] == [("a/b", None), ("a/b", "other")]


def test_failure_ahead_is_the_readers_and_the_next_read_asks_again() -> None:
    storage = MemoryStorage()
    ahead = ReadAhead(storage, ["a/b"])
    with pytest.raises(ObjectNotFound):
        ahead.read("a/b")
    storage.write("a/b", b"1")

    assert ahead.read("a/b") is not None


def test_without_anything_to_read_a_connection_is_opened_and_used() -> None:
    http = HttpClient()
    with running_objects() as objects:
        objects.write("a/b", b"1")
        storage = objects.storage(http)
        storage.warm()
        assert objects.server
        deadline = time.monotonic() + 60
        while not objects.server.accepted and time.monotonic() < deadline:
            time.sleep(0.01)  # the server's thread accepts what its kernel has answered already
        assert (objects.server.accepted, objects.requests) == (1, 0)
        ReadAhead(storage, ["a/b"]).read("a/b")

        assert (objects.server.accepted, objects.requests) == (1, 1)
    http.close()


def test_storage_that_cannot_be_reached_is_no_failure_before_it_is_read() -> None:
    http = HttpClient()
    with running_objects() as objects:
        storage = objects.storage(http)
    storage.warm()
    ReadAhead(storage, []).warm()


def test_storages_without_connections_have_nothing_to_open() -> None:
    MemoryStorage().warm()
