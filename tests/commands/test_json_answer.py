"""Each command that answers prints one JSON document with ``--json``, whatever becomes of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from handler.commands import COMMANDS
from handler.compiler.compile import compile_endpoint
from handler.storage.folder_publishing import FolderPublishStorage
from tests.commands.apis import SHOP
from tests.commands.running import FILES, Ran, Stile
from tests.docs.reference import codes, page, table
from tests.life.publishing import put
from tests.support.endpoints import write_endpoint

RUNS = {
    "init": ("init", "new/made", "--from", "shop.graphql", "--url", "https://api.example.com/graphql"),
    "adopt": ("adopt", "foreign", "new/adopted"),
    "pull": ("pull", "new/made", "--from", "shop.graphql"),
    "check": ("check", "api"),
    "connect": ("connect", "cursor", "api"),
    "call": ("call", "api", "a", "x=1"),
    "test": ("test", "api"),
    "explain": ("explain", "api"),
    "diff": ("diff", "api", "api"),
    "build": ("build", "api", "--out", "built"),
    "publish": ("publish", "api", "out", "--create"),
    "published": ("published", "stored"),
    "rollback": ("rollback", "stored/api/things", "--to", "1"),
    "remove": ("remove", "stored/api/things", "--yes"),
    "gc": ("gc", "stored"),
    "manifest": ("manifest", "api", "--format", "relay", "--out", "made.json"),
    "key": ("key", "partner"),
    "find": ("find", "api", "what does it say"),
    "token": ("token", "api", "sub=ada"),
}
"""A run of each command. ``new`` needs a wheel: tests/distribution runs it."""

APOLLO = "endpoint: https://api.example.com/graphql\nschema: {source: local, path: api.graphql}\n"

WITHOUT = {"dev", "serve", "new", "editor"}
"""``dev`` and ``serve`` serve, and ``editor`` names the files that it writes."""


@pytest.fixture
def folder(workplace: Path, stile: Stile) -> Path:
    write_endpoint(workplace, FILES)
    write_endpoint(workplace / "wrong", {**FILES, "config.yaml": "upstrem: {}\n"})
    (workplace / "shop.graphql").write_text(SHOP, encoding="utf-8")
    foreign = workplace / "foreign"
    foreign.mkdir()
    (foreign / "config.yaml").write_text(APOLLO, encoding="utf-8")
    (foreign / "api.graphql").write_text(SHOP, encoding="utf-8")
    put(FolderPublishStorage("stored"), compile_endpoint(workplace / "api" / "things"))
    assert stile(*RUNS["init"][:1], "new/made", *RUNS["init"][2:]).code == 0
    return workplace


def document_of(done: Ran) -> Any:
    return json.loads(done.out)


def test_every_command_that_answers_is_run_here() -> None:
    assert set(RUNS) | WITHOUT == set(COMMANDS) - {"completion"}


@pytest.mark.parametrize("name", RUNS)
def test_answer_is_one_document_and_the_exit_code_that_of_a_run_without_json(
    folder: Path, stile: Stile, name: str
) -> None:
    words = list(RUNS[name])
    if name == "init":
        words[1] = "new/other"

    done = stile(*words, "--json")

    document = document_of(done)
    assert "error" not in document
    assert done.code == (1 if name == "call" else 0)


@pytest.mark.parametrize(
    "words",
    [
        ("check",),
        ("check", "nowhere"),
        ("check", "--strcit", "api"),
        ("check", "--json=x", "api"),
        ("call", "api", "b"),
        ("call", "wrong", "a"),
        ("explain", "wrong"),
        ("explain", "api", "--tool", "b"),
        ("build", "wrong"),
        ("build", "api", "--out", "s3://x/y"),
        ("diff", "api", "wrong"),
        ("diff", "api", "nowhere"),
        ("publish", "wrong", "out", "--create"),
        ("publish", "api", "my-bucket/x"),
        ("publish", "api", "shop.graphql"),
        ("published", "s3:/nowhere"),
        ("published", "stored", "nonsense"),
        ("rollback", "stored/api/nothing", "--yes"),
        ("remove", "stored/api/things"),
        ("gc", "s3:/nowhere"),
        ("manifest", "wrong", "--format", "relay"),
        ("manifest", "api", "--format", "relay", "--out", "no/such/file"),
        ("init", "api/things", "--from", "shop.graphql", "--url", "https://api.example.com/graphql"),
        ("init", "api/third", "--from", "nowhere.graphql", "--url", "https://api.example.com/graphql"),
        ("pull", "api"),
        ("new", "api", "--wheel", "shop.graphql"),
        ("key",),
        ("chekc",),
    ],
    ids=" ".join,
)
def test_error_is_one_document_with_the_exit_code_and_the_sentences(
    folder: Path, stile: Stile, words: tuple[str, ...]
) -> None:
    plain = stile(*words)

    done = stile(*words, "--json")

    error = document_of(done)["error"]
    assert done.code == error["exitCode"] == plain.code > 0
    assert error["messages"] or error["problems"]
    assert all(message.split("\n")[0] in done.err for message in error["messages"])


@pytest.mark.parametrize(
    "words", [("publish", "wrong", "out", "--create"), ("explain", "wrong"), ("diff", "wrong", ".")]
)
def test_problems_of_a_folder_have_their_places(folder: Path, stile: Stile, words: tuple[str, ...]) -> None:
    (problem,) = document_of(stile(*words, "--json"))["error"]["problems"]

    assert (problem["file"], problem["line"], problem["code"]) == ("wrong/api/things/config.yaml", 1, "unknown-key")
    assert [problem] == document_of(stile("check", "wrong", "--json"))["endpoints"][0]["problems"]


@pytest.mark.parametrize("name", ["build", "publish", "published", "rollback", "remove", "gc", "manifest", "key"])
def test_members_of_the_document_are_told(folder: Path, stile: Stile, name: str) -> None:
    document = document_of(stile(*RUNS[name], "--json"))
    rows = {
        codes(row[0])[0].partition(" ")[0]: row[1] for row in table(page("reference/json").text, "command", "members")
    }
    told = set(codes(rows[name])) | (set(codes(rows["build"])) if name == "publish" else set())

    assert set(document) <= told
    assert all(set(each) <= told for each in document.get("endpoints", ()))
