"""Schemas that were read before: the same endpoint is compiled with and without them, whatever their folder holds."""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from handler.bundle.stored import write_bundle
from handler.commands.folders.user_secret import cache_folder, user_cache
from handler.compiler.compile import Compiled, compile_endpoint
from handler.compiler.schema import schema
from handler.compiler.schema.schema_cache import DIGEST_BYTES, MOST_FILES, SchemaCache
from handler.compiler.source.files import EndpointFiles
from handler.errors.authoring import CompileError
from tests.conftest import ROOT
from tests.graph.random_schemas import random_sdl
from tests.support.endpoints import PUBLIC, write_endpoint
from tests.support.examples import examples

DEMO = ROOT / "examples" / "endpoints" / "api" / "customers"

SDL = """
extend schema @sdl(files: ["more.graphql", "types/deep.graphql"])
  @tool(name: "look", description: "Look.", graphql: {expose: true, types: "Query", fields: ".*"})
type Query { a: Int, b(of: [In!]): B @deprecated(reason: "old"), gone: Int }
"""
FILES = {
    "index.graphql": SDL,
    "more.graphql": "type B { c: String @cost(weight: 3), d: D }\ninput In { x: Int = 3, y: [[In]] }",
    "types/deep.graphql": 'extend schema @sdl(files: ["../last.graphql"], visibility: [{expose: false, types: "D",'
    ' fields: "hid.*"}])',
    "last.graphql": "interface N { id: ID! }\ntype D implements N { id: ID!, hidden: Int, next: D }",
    "config.yaml": PUBLIC.replace("    - {type: Mutation, policyDefault: {condition: true}}\n", "")
    + "upstream: {url: 'https://api.example.com/graphql'}\nfind: {words: {client: [b]}}\n",
    "operations/one.graphql": 'query One @mcpTool(description: "One.") { b { d { id } } }',
}


@pytest.fixture(autouse=True)
def _small_schemas_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "LEAST_BYTES", 0)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "kept"


def cache_in(folder: Path) -> SchemaCache:
    return SchemaCache(folder, seal=lambda name, content: hmac.digest(b"secret", name.encode() + content, "sha256"))


def facts(made: Compiled) -> tuple[Any, ...]:
    rules = [(each.coordinates, each.text) for each in made.rules]
    return write_bundle(made.bundle), made.index, made.warnings, made.client_warnings, rules, made.taken_along


def counted(monkeypatch: pytest.MonkeyPatch, name: str) -> list[str]:
    """The names of the schema's functions that are called, from now on."""
    calls: list[str] = []
    function = getattr(schema, name)

    def counting(*arguments: Any, **options: Any) -> Any:
        calls.append(name)
        return function(*arguments, **options)

    monkeypatch.setattr(schema, name, counting)
    return calls


@pytest.mark.parametrize("folder", [DEMO, None], ids=["demo", "several files"])
def test_endpoint_is_the_same_with_schemas_of_memory_and_of_the_folder(
    tmp_path: Path, kept: Path, folder: Path | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = folder or write_endpoint(tmp_path, FILES)
    without = facts(compile_endpoint(folder))
    first = cache_in(kept)
    assert facts(compile_endpoint(folder, schemas=first)) == without
    parsed, validated = (counted(monkeypatch, name) for name in ("parse_sdl", "build_schema_of"))

    assert facts(compile_endpoint(folder, schemas=first)) == without
    assert parsed == []
    assert facts(compile_endpoint(folder, schemas=cache_in(kept))) == without
    assert parsed
    assert validated == []


def test_random_schemas_are_the_same_from_the_folder(tmp_path: Path, kept: Path) -> None:
    random = Random("kept")
    for number in range(examples(60)):
        folder = write_endpoint(tmp_path, {"index.graphql": random_sdl(random)}, name=f"api/e{number}")
        (folder / "config.yaml").write_text("upstream: {url: 'https://api.example.com/'}\n", encoding="utf-8")

        made = [compile_endpoint(folder, schemas=each) for each in (None, cache_in(kept), cache_in(kept))]

        assert facts(made[0]) == facts(made[1]) == facts(made[2])


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("index.graphql", SDL.replace("a: Int", "a: Float")),
        ("last.graphql", FILES["last.graphql"].replace("next: D", "next: [D]")),
        ("types/deep.graphql", 'extend schema @sdl(files: ["../last.graphql"])'),
    ],
)
def test_any_changed_file_is_read_anew(tmp_path: Path, kept: Path, file: str, text: str) -> None:
    compile_endpoint(write_endpoint(tmp_path, FILES), schemas=cache_in(kept))
    folder = write_endpoint(tmp_path, FILES | {file: text})

    assert facts(compile_endpoint(folder, schemas=cache_in(kept))) == facts(compile_endpoint(folder))


def test_other_settings_have_an_index_of_their_own(tmp_path: Path, kept: Path) -> None:
    compile_endpoint(write_endpoint(tmp_path, FILES), schemas=cache_in(kept))
    config = FILES["config.yaml"].replace("client: [b]", "customer: [d]") + "limits: {list_sizes: {Query.b: 7}}\n"
    sdl = SDL.replace("b(of: [In!]): B", "b(of: [In!]): [B]")
    folder = write_endpoint(tmp_path, FILES | {"config.yaml": config, "index.graphql": sdl})

    assert facts(compile_endpoint(folder, schemas=cache_in(kept))) == facts(compile_endpoint(folder))


@pytest.mark.parametrize("change", ["missing", "unreadable", "wrong"])
def test_mistakes_are_reported_as_without(tmp_path: Path, kept: Path, change: str) -> None:
    folder = write_endpoint(tmp_path, FILES)
    compile_endpoint(folder, schemas=cache_in(kept))
    if change == "missing":
        (folder / "last.graphql").unlink()
    else:
        (folder / "last.graphql").write_bytes(b"\xff" if change == "unreadable" else b"type D { a: Missing }")

    told = []
    for schemas in (None, cache_in(kept), cache_in(kept)):
        with pytest.raises(CompileError) as caught:
            compile_endpoint(folder, schemas=schemas)
        told.append(caught.value.problems)

    assert told[0] == told[1] == told[2]


def forged(body: bytes) -> bytes:
    return hashlib.sha256(body).digest() + body


@pytest.mark.parametrize("content", [b"", b"torn", forged(b"[]"), forged(b"not JSON"), forged(b'["../outside"]')])
def test_whatever_the_folder_holds_changes_nothing(tmp_path: Path, kept: Path, content: bytes) -> None:
    folder = write_endpoint(tmp_path, FILES)
    without = facts(compile_endpoint(folder, schemas=cache_in(kept)))
    for path in files_of(kept):
        path.write_bytes(content)

    assert facts(compile_endpoint(folder, schemas=cache_in(kept))) == without


def test_folder_without_a_seal_is_not_used(tmp_path: Path, kept: Path) -> None:
    compile_endpoint(write_endpoint(tmp_path, FILES), schemas=SchemaCache(kept))

    assert not kept.exists()


@pytest.fixture
def user(tmp_path: Path) -> dict[str, str]:
    """The environment of a user with a home."""
    return {"XDG_STATE_HOME": str(tmp_path / "state")}


def test_entry_of_another_name_or_user_is_not_read(
    tmp_path: Path, user: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_endpoint(tmp_path, FILES)
    without = facts(compile_endpoint(folder, schemas=user_cache(folder, user)))
    validated = counted(monkeypatch, "build_schema_of")
    assert facts(compile_endpoint(folder, schemas=user_cache(folder, user))) == without
    assert validated == []

    other = {"XDG_STATE_HOME": str(tmp_path / "other")}
    assert facts(compile_endpoint(folder, schemas=user_cache(folder, other))) == without
    assert validated
    validated.clear()

    one, another = files_of(folder / ".stile" / "cache")
    swapped = another.read_bytes(), one.read_bytes()
    one.write_bytes(swapped[0])
    another.write_bytes(swapped[1])
    assert facts(compile_endpoint(folder, schemas=user_cache(folder, other))) == without
    assert validated


def test_cache_without_a_readable_secret_is_in_memory_alone(tmp_path: Path, user: dict[str, str]) -> None:
    folder = write_endpoint(tmp_path, FILES)
    secret = tmp_path / "state" / "stile" / "cache.key"
    secret.mkdir(parents=True)

    compile_endpoint(folder, schemas=user_cache(folder, user))

    assert not (folder / ".stile").exists()


def files_of(kept: Path) -> Iterator[Path]:
    return (path for path in kept.iterdir() if path.name != ".gitignore")


def test_entry_that_is_cut_is_made_anew(tmp_path: Path, kept: Path) -> None:
    folder = write_endpoint(tmp_path, FILES)
    without = facts(compile_endpoint(folder, schemas=cache_in(kept)))
    sizes = {path: path.stat().st_size for path in files_of(kept)}
    for path, size in sizes.items():
        path.write_bytes(path.read_bytes()[: max(size // 2, DIGEST_BYTES + 1)])

    assert facts(compile_endpoint(folder, schemas=cache_in(kept))) == without
    assert {path: path.stat().st_size for path in files_of(kept)} == sizes


def test_folder_ignores_itself_and_keeps_so_many_files(tmp_path: Path, kept: Path) -> None:
    for number in range(MOST_FILES):
        folder = write_endpoint(tmp_path, FILES | {"last.graphql": FILES["last.graphql"] + f"\n# {number}"})
        compile_endpoint(folder, schemas=cache_in(kept))

    assert (kept / ".gitignore").read_text(encoding="utf-8") == "*\n"
    assert len(list(files_of(kept))) == MOST_FILES


@pytest.mark.parametrize("link", [".stile", ".stile/cache"])
def test_folder_behind_a_link_of_a_stranger_keeps_its_files(tmp_path: Path, link: str) -> None:
    theirs = tmp_path / "theirs" / "cache"
    theirs.mkdir(parents=True)
    for number in range(MOST_FILES + 5):
        (theirs / f"{number:064x}").write_text("mine", encoding="utf-8")
    folder = write_endpoint(tmp_path, FILES)
    (folder / link).parent.mkdir(exist_ok=True)
    (folder / link).symlink_to(theirs if link.endswith("cache") else theirs.parent)

    made = compile_endpoint(folder, schemas=cache_in(folder / ".stile" / "cache"))

    assert facts(made) == facts(compile_endpoint(folder))
    assert len(list(theirs.iterdir())) == MOST_FILES + 5


def test_files_that_stile_did_not_write_stay(tmp_path: Path, kept: Path) -> None:
    kept.mkdir()
    target = tmp_path / "notes.txt"
    target.write_text("mine", encoding="utf-8")
    (kept / ".gitignore").symlink_to(target)
    (kept / "notes.txt").write_text("mine", encoding="utf-8")
    for number in range(MOST_FILES):
        folder = write_endpoint(tmp_path, FILES | {"last.graphql": FILES["last.graphql"] + f"\n# {number}"})
        compile_endpoint(folder, schemas=cache_in(kept))

    assert target.read_text(encoding="utf-8") == (kept / "notes.txt").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("kind", ["pipe", "link"])
def test_entry_that_is_no_file_is_made_anew(tmp_path: Path, kept: Path, kind: str) -> None:
    folder = write_endpoint(tmp_path, FILES)
    without = facts(compile_endpoint(folder, schemas=cache_in(kept)))
    for path in list(files_of(kept)):
        path.unlink()
        os.mkfifo(path) if kind == "pipe" else path.symlink_to("/dev/zero")

    assert facts(compile_endpoint(folder, schemas=cache_in(kept))) == without


def test_folder_that_cannot_be_written_is_no_error(tmp_path: Path, kept: Path) -> None:
    kept.write_text("a file in its place", encoding="utf-8")
    folder = write_endpoint(tmp_path, FILES)

    assert facts(compile_endpoint(folder, schemas=cache_in(kept))) == facts(compile_endpoint(folder))


def test_small_schemas_are_not_kept(tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()

    compile_endpoint(write_endpoint(tmp_path, FILES), schemas=cache_in(kept))

    assert not kept.exists()


def test_folder_is_at_the_root_of_the_repository_and_none_in_ci(tmp_path: Path) -> None:
    (tmp_path / "below" / "api").mkdir(parents=True)
    assert cache_folder(tmp_path / "below", {"CI": ""}) == tmp_path / "below" / ".stile" / "cache"

    (tmp_path / ".git").mkdir()

    assert cache_folder(tmp_path / "below" / "api", {"CI": "false"}) == tmp_path / ".stile" / "cache"
    assert cache_folder(tmp_path / "below", {"CI": "true"}) is None


def test_file_that_is_saved_while_it_is_looked_for_is_read_anew(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, schemas = write_endpoint(tmp_path, FILES), cache_in(kept)
    compile_endpoint(folder, schemas=schemas)
    look = EndpointFiles.digest_of
    changed = FILES["last.graphql"].replace("next: D", "next: [D]")

    def look_and_save(self: EndpointFiles, name: str) -> str | None:
        digest = look(self, name)
        (folder / "last.graphql").write_text(changed, encoding="utf-8")
        return digest

    monkeypatch.setattr(EndpointFiles, "digest_of", look_and_save)
    (folder / "last.graphql").touch()
    with_change = facts(compile_endpoint(folder, schemas=schemas))
    monkeypatch.undo()

    assert with_change == facts(compile_endpoint(folder))
