"""`stile published --url` before servers that answer anything."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from handler.http.client import HttpClient
from handler.storage.location import open_publish_storage
from tests.commands.running import Stile
from tests.life.publishing import add_empty_bucket, put, version_of
from tests.support.api import Api, Reply, running_api
from tests.support.moto import Moto
from tests.support.secrecy import SESSION

KEY = SESSION.keep("a key for a server that repeats it", "stile_Kd3Hf5Jp0GsUmW2Xq3v9Zc7Lr1Tb6Wn8")

ANSWERS = {
    "a page": Reply(b"<html>", headers={"content-type": "text/html"}),
    "a list": Reply([1]),
    "another object": Reply({"data": None}),
    "a card without the answer": Reply({"digest": "sha256:0"}),
    "an odd answer": Reply({"serves": [True]}),
    "a text": Reply({"serves": "true"}),
    "nothing known": Reply({"serves": None}),
    "an old version": Reply({"serves": False}),
    "deep JSON": Reply(b"[" * 100_000),
    "no UTF-8": Reply(b'{"serves": "\xff"}'),
    "far too much": Reply(b" " * 3_000_000),
    "a redirect": Reply({}, status=302, headers={"location": "http://127.0.0.1:9/"}),
    "an error": Reply({"error": KEY}, status=500),
    "a denial": Reply({"error": KEY}, status=401),
}
REASONS = {
    "a text": "not a card",
    "nothing known": "keeps no versions",
    "a redirect": "give that URL",
    "a denial": "give a credential",
}

CATALOG = "/.well-known/ai-catalog.json"
NO_CATALOG = Reply({}, status=404)


@pytest.fixture(scope="module")
def bucket(open_moto: Moto, tmp_path_factory: pytest.TempPathFactory) -> str:
    location = add_empty_bucket(open_moto, "asked")
    http = HttpClient()
    put(
        open_publish_storage(location, http=http, environ=open_moto.environ()),
        version_of(tmp_path_factory.mktemp("asked"), 1),
    )
    http.close()
    return location


@pytest.fixture(scope="module")
def server() -> Iterator[Api]:
    with running_api() as running:
        yield running


@pytest.fixture
def asking(bucket: str, server: Api, open_moto: Moto, monkeypatch: pytest.MonkeyPatch, stile: Stile) -> list[str]:
    """The words of the command that asks the server."""
    for name, value in {**open_moto.environ(), "KEY": KEY}.items():
        monkeypatch.setenv(name, value)
    base = server.url.rsplit("/", 1)[0]
    return ["published", bucket, "--url", base, "-H", "X-API-Key: $KEY"]


@pytest.mark.parametrize("name", ANSWERS)
def test_any_other_answer_is_no_yes(asking: list[str], server: Api, stile: Stile, name: str) -> None:
    server.answer = lambda _: ANSWERS[name]

    done = stile(*asking)

    assert done.code == 1
    assert "does not show that it serves this version" in done.err
    assert KEY not in done.out + done.err
    assert REASONS.get(name, "") in done.err


def test_versions_with_the_published_bytes_are_asked_for(asking: list[str], server: Api, stile: Stile) -> None:
    server.answer = lambda asked: NO_CATALOG if asked.path == CATALOG else Reply({"serves": True})
    server.asked.clear()

    done = stile(*asking, "--json")
    (endpoint,) = json.loads(done.out)["endpoints"]

    assert (done.code, endpoint["served"]) == (0, True)
    (asked, _) = server.asked
    assert asked.path == "/api/things"
    assert asked.headers["stile-versions"] == endpoint["version"]
    assert asked.headers["x-api-key"] == KEY


def test_command_waits_until_the_function_follows(asking: list[str], server: Api, stile: Stile) -> None:
    answers = iter([Reply({}, status=503), Reply({"serves": False}), Reply({"serves": True})])
    server.answer = lambda asked: NO_CATALOG if asked.path == CATALOG else next(answers)

    assert stile(*asking, "--wait", "30").code == 0


CATALOGS = {
    "without a card": ([{"url": "https://mcp.example/api/things/mcp/server-card"}], 404, ["api/things"]),
    "with a card": ([{"url": "https://mcp.example/api/things/mcp/server-card"}], 200, []),
    "not published": ([{"url": "https://mcp.example/v1/api/gone/mcp/server-card"}], 404, ["api/gone"]),
    "not URLs": ([1, {}, {"url": 1}, {"url": "/api/\x1b[2J/mcp/server-card"}], 404, []),
    "not a list": ({"url": "/api/things/mcp/server-card"}, 404, []),
}


@pytest.mark.parametrize("name", CATALOGS)
def test_endpoint_that_the_catalog_names_without_a_card_is_warned_of(
    asking: list[str], server: Api, stile: Stile, name: str
) -> None:
    entries, status, expected = CATALOGS[name]
    answers = {CATALOG: Reply({"specVersion": "1.0", "entries": entries}), "/api/things": Reply({"serves": True})}
    server.answer = lambda asked: answers.get(asked.path, Reply({}, status=status))

    plain, machine = stile(*asking), stile(*asking, "--json")

    warned = [line for line in plain.err.splitlines() if "STILE_CATALOG" in line]
    assert warned == [
        f"{each}: STILE_CATALOG names it, and it has no Server Card: set server.listed, and publish it"
        for each in expected
    ]
    assert json.loads(machine.out)["unlisted"] == expected
    assert (plain.code, machine.code) == (0, 0)


def test_wait_ends(asking: list[str], server: Api, stile: Stile) -> None:
    server.answer = lambda _: Reply({"serves": False})

    assert stile(*asking, "--wait", "1").code == 1


def test_server_that_is_not_there_is_told(asking: list[str], stile: Stile, tmp_path: Path) -> None:
    asking[3] = "http://127.0.0.1:9"

    done = stile(*asking)

    assert (done.code, "no answer" in done.err) == (1, True)
