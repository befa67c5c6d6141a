"""Commands of which one request to S3 or STS is answered by a proxy, a sign-in page or a fault on the way."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from handler.bundle.stored import bundle_key, index_key, write_bundle
from handler.commands import gc
from handler.errors.infrastructure import ObjectNotFound
from handler.http.client import HttpClient
from handler.storage.location import open_publish_storage
from handler.storage.publishing import PublishStorage
from tests.commands.running import Ran, Stile
from tests.life.between import Between, Forward, Passing, Reply, running_between
from tests.life.publishing import add_empty_bucket, put, version_of
from tests.life.share import FULL
from tests.support.moto import Moto

HTML = (("content-type", "text/html"),)
OF_AN_OBJECT = (*HTML, ("etag", '"5d41402abc4b2a76"'), ("last-modified", "Mon, 05 Jan 2026 10:00:00 GMT"))
PAGE = b"<html><head><title>Sign in</title></head><body><p>Welcome</p></body></html>"


def _page(status: int, headers: tuple[tuple[str, str], ...] = HTML, body: bytes = PAGE) -> Callable[..., Reply]:
    return lambda _, __: Reply(status, headers, body)


def _changed(change: Callable[[Reply], Reply]) -> Callable[[Passing, Forward], Reply]:
    return lambda _, forward: change(forward())


def _without(reply: Reply, *names: str) -> Reply:
    return reply._replace(headers=tuple(each for each in reply.headers if each[0].lower() not in names))


def _with(reply: Reply, **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return _without(reply, *named)._replace(headers=(*_without(reply, *named).headers, *named.items()))


def _replaced(reply: Reply, *words: tuple[bytes, bytes]) -> Reply:
    body = reply.body
    for was, now in words:
        body = body.replace(was, now)
    return reply._replace(body=body)


ANSWERS: Mapping[str, Callable[[Passing, Forward], Reply]] = {
    "a page": _page(200),
    "a page as of a file": _page(200, OF_AN_OBJECT),
    "a page with a weak etag": _page(200, (*HTML, ("etag", 'W/"2c-5d41402a"'))),
    "a page that is no XML": _page(200, body=b"<!DOCTYPE html><html><p>Welcome<br></html>"),
    "JSON": _page(200, (("content-type", "application/json"),), b'{"ok": true}'),
    "nothing": _page(200, (), b""),
    "no content": _page(204, (), b""),
    "created": _page(201),
    "a redirect": _page(302, (*HTML, ("location", "http://127.0.0.1:9/login"))),
    "a page of a proxy": _page(407),
    "a page of a portal": _page(511),
    "another XML": _page(200, (("content-type", "application/xml"),), b"<Other><Name/><Items>1</Items></Other>"),
    "an error with 200": _page(200, (("content-type", "application/xml"),), b"<Error><Code>SlowDown</Code></Error>"),
    "half of it": _changed(lambda reply: reply._replace(body=reply.body[: len(reply.body) // 2])),
    "bytes": _changed(lambda reply: reply._replace(body=bytes(range(256)))),
    "no headers": _changed(lambda reply: reply._replace(headers=())),
    "no etag": _changed(lambda reply: _without(reply, "etag")),
    "another time": _changed(
        lambda reply: _replaced(
            _with(reply, last_modified="yesterday"), (b"<LastModified>2", b"<LastModified>of "), (b"<Size>", b"<Size>x")
        )
    ),
    "another digest": _changed(lambda reply: _with(reply, x_amz_checksum_sha256="!")),
    "a short digest": _changed(lambda reply: _with(reply, x_amz_checksum_sha256="YWJj")),
    "other names": _changed(
        lambda reply: _replaced(reply, (b"Key>", b"Cle>"), (b"VersionId>", b"V>"), (b"ETag>", b"E>"), (b"Arn>", b"A>"))
    ),
}


STEP = 1 if FULL else 16
"""Each answer at each request in ``make life``; else another answer at each request."""


class Life:
    """A bucket with an endpoint of two versions, and the commands that change it, through a proxy."""

    def __init__(self, open_at: Callable[[str], PublishStorage], stile: Stile, between: Between, folder: Path) -> None:
        self._runs = itertools.count(1)
        self._open_at = open_at
        self._stile = stile
        self._between = between
        self._folder = folder
        self._made = [version_of(folder, number) for number in (1, 2)]
        self._unused = version_of(folder, 3, sdl="type Query { a: String unused: Int }")

    def requests(self, command: str) -> int:
        """The requests of a command."""
        assert self._run(command, lambda _, forward: forward()).code == 0
        return len(self._between.passed)

    def meet(self, command: str, number: int, name: str) -> None:
        """Run a command of which one request is answered so, and judge its words and what is stored."""
        answer = ANSWERS[name]
        done = self._run(
            command, lambda passing, forward: answer(passing, forward) if passing.number == number else forward()
        )

        case = f"{name} at request {number}: {done}"
        assert done.code in (0, 1), case
        assert done.code == 0 or done.err.strip(), case
        assert "Traceback" not in done.err + done.out, case
        stored = self._present()
        old, new = (write_bundle(each.bundle) for each in self._made)
        assert stored in {"publish": (old, new), "rollback": (old, new), "remove": (new, None)}.get(command, (new,)), (
            case
        )
        if done.code == 0:
            assert stored == {"publish": new, "rollback": old, "remove": None}.get(command, new), case
        for each in self._made:
            assert self._storage.read(index_key("api/things", each.bundle.index)), case

    def _run(self, command: str, rule: Callable[[Passing, Forward], Reply]) -> Ran:
        """Run a command on a prefix of its own."""
        self._between.begin()
        self._storage = self._open_at(str(next(self._runs)))
        location = self._storage.location
        for each in self._made if command != "publish" else self._made[::-1]:
            put(self._storage, each)
        self._storage.add(index_key("api/things", self._unused.bundle.index), self._unused.index)
        words = {
            "publish": (str(self._folder / "version-2"), location, "--allow-breaking", "--allow-open"),
            "published": (location, "--versions"),
            "gc": (location, "--delete"),
        }.get(command, (f"{location}/api/things", "--yes"))
        self._between.begin(rule)
        done = self._stile(command, *words)
        self._between.rule = lambda _, forward: forward()
        return done

    def _present(self) -> bytes | None:
        try:
            return self._storage.get(bundle_key("api/things"))[1]
        except ObjectNotFound:
            return None


@pytest.fixture
def life(open_moto: Moto, stile: Stile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Life]:
    monkeypatch.setattr(gc, "MIN_AGE", timedelta(seconds=-5))  # no object can be made older in S3
    http = HttpClient()
    with running_between(open_moto.url) as between:
        for name, value in {**open_moto.environ(), "AWS_ENDPOINT_URL": between.url}.items():
            monkeypatch.setenv(name, value)
        bucket, environ = add_empty_bucket(open_moto, "foreign"), open_moto.environ()
        open_at = lambda prefix: open_publish_storage(f"{bucket}/{prefix}", http=http, environ=environ)  # noqa: E731
        yield Life(open_at, stile, between, tmp_path)
    http.close()


@pytest.mark.parametrize("command", ["publish", "rollback", "remove", "gc", "published"])
def test_answer_that_is_not_of_s3_ends_a_command_with_a_sentence_and_nothing_half_done(
    life: Life, command: str
) -> None:
    numbers = range(1, life.requests(command) + 1)

    for number, name in itertools.islice(itertools.product(numbers, ANSWERS), None, None, STEP):
        life.meet(command, number, name)
