"""Endpoints that have not changed since the last ``stile check`` or ``stile publish``."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from handler.bundle.stored import bundle_key
from handler.commands.folders.endpoint_records import ENTRY_BYTES, MAX_BYTES, EndpointRecords
from handler.commands.folders.endpoints import Outcome
from handler.http.client import HttpClient
from handler.storage.location import open_publish_storage
from handler.storage.publishing import PublishStorage
from tests.commands.running import CONFIG, FILES, Stile
from tests.life.between import Between, running_between
from tests.support.endpoints import write_endpoint
from tests.support.moto import Moto, running_moto

MARK = "this sentence is of a record"
WARNING = {"operations/b.graphql": 'query B @mcpTool(name: "b") { b }\n'}  # without a title
WITH_SECRET = {"config.yaml": CONFIG.replace("}", ", auth: {bearer: 'env:TOKEN'}}", 1)}
KIT = """\
from stile import Toolkit

kit = Toolkit()


@kit.tool(title="{title}")
def total(year: int) -> int:
    "Sum up a year."
    return year
"""


@pytest.fixture(autouse=True)
def _user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("CI", raising=False)


def marked(command: str, *folders: Path, stage: str | None = None) -> int:
    """Add a sentence to the records that a command has on endpoints, and return the number of records."""
    options = argparse.Namespace(folder=Path("endpoints"), stage=stage, endpoint=None)
    records = EndpointRecords(command, options, os.environ)
    found: list[tuple[Outcome, dict[str, Any]]] = []
    for folder in folders:
        if record := records.find(folder):
            changed = json.loads(json.dumps(dict(record)))
            changed["questions" if command == "publish" else "warnings"].append(MARK)
            found.append((Outcome(folder=folder, compiled=None, problems=(), record=changed), changed))
    records.keep(found)
    return len(found)


THINGS = Path("endpoints/api/things")


@pytest.fixture
def endpoint(workplace: Path, stile: Stile) -> Path:
    """An endpoint that was checked, with a mark in its record."""
    folder = write_endpoint(workplace / "endpoints", {**FILES, "resources/a.txt": "one"})
    assert stile("check", "endpoints").code == 0
    assert marked("check", THINGS) == 1
    return folder


def test_endpoint_that_has_not_changed_is_not_compiled(endpoint: Path, stile: Stile) -> None:
    assert MARK in stile("check", "endpoints").out

    (endpoint / "index.graphql").touch()
    assert MARK in stile("check", "endpoints").out


def write(path: str, text: str) -> Callable[[Path], object]:
    return lambda folder: write_endpoint(folder, {path: text}, name=".")


CHANGES: dict[str, Callable[[Path], object]] = {
    "a schema": write("index.graphql", FILES["index.graphql"].replace("Says", "Sees")),
    "an operation": write("operations/a.graphql", FILES["operations/a.graphql"].replace('title: "A"', 'title: "B"')),
    "a new operation": write("operations/c.graphql", 'query C @mcpTool(name: "c", title: "C") { a }\n'),
    "a new folder": lambda folder: (folder / "skills").mkdir(),
    "a new stage": write("config.prod.yaml", "access: {anonymous: deny}\n"),
    "a new variable": write(".env", "STEPZEN_A=b\n"),
    "a new project file": write("stepzen.config.json", '{"endpoint": "api/things"}'),
    "a hidden file": write(".hidden/a.graphql", "type A { a: Int }\n"),
    "a file below another name": lambda folder: (folder / "resources/a.txt").rename(folder / "resources/b.txt"),
    "a file that is gone": lambda folder: (folder / "resources/a.txt").unlink(),
    "a file of another kind": lambda folder: (folder / "resources/a.txt").write_bytes(b"\xff\xfe"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_change_of_any_file_compiles_the_endpoint_anew(change: str, endpoint: Path, stile: Stile) -> None:
    CHANGES[change](endpoint)

    assert MARK not in stile("check", "endpoints").out
    assert MARK not in stile("check", "endpoints").out


def test_change_that_is_undone_during_the_work_keeps_no_record(endpoint: Path) -> None:
    options = argparse.Namespace(folder=Path("endpoints"), stage=None, endpoint=None)
    file = endpoint / "operations/a.graphql"
    for text in ("", file.read_text("utf-8")):
        records = EndpointRecords("other", options, os.environ)
        records.find(THINGS)
        file.write_text(text, encoding="utf-8")
        file.write_text(FILES["operations/a.graphql"], encoding="utf-8")
        records.keep([(Outcome(folder=THINGS, compiled=None, problems=()), {})])
        assert EndpointRecords("other", options, os.environ).find(THINGS) is None

    records.find(THINGS)
    records.keep([(Outcome(folder=THINGS, compiled=None, problems=()), {})])
    assert EndpointRecords("other", options, os.environ).find(THINGS) == {}


def test_change_within_the_same_time_and_size_is_seen(endpoint: Path, stile: Stile) -> None:
    file = endpoint / "operations/a.graphql"
    before = file.stat()
    file.write_text(FILES["operations/a.graphql"].replace('title: "A"', 'title: "B"'), encoding="utf-8")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert MARK not in stile("check", "endpoints").out


@pytest.mark.parametrize("variable", ["STEPZEN_A", "STILE_STATE_KEY", "STILE_UPSTREAM_HOSTS", "STILE_CODE_MODULES"])
def test_variable_compiles_the_endpoint_anew(
    variable: str, endpoint: Path, stile: Stile, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = "0123456789abcdef0123456789abcdef" if variable == "STILE_STATE_KEY" else "things.example"
    monkeypatch.setenv(variable, value)
    assert MARK not in stile("check", "endpoints").out
    assert endpoint.is_dir()

    monkeypatch.delenv(variable)
    monkeypatch.setenv("OTHER", value)
    assert stile("check", "endpoints").code == 0
    marked("check", THINGS)
    monkeypatch.delenv("OTHER")
    assert MARK in stile("check", "endpoints").out


def test_stage_place_and_current_folder_have_records_of_their_own(
    endpoint: Path, stile: Stile, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MARK not in stile("check", "endpoints", "--endpoint", "api/others").out
    monkeypatch.chdir("endpoints")
    assert MARK not in stile("check", ".").out
    monkeypatch.chdir("..")
    assert MARK in stile("check", "endpoints").out

    moved = endpoint.parents[2] / "moved"
    endpoint.parents[1].rename(moved)
    (endpoint.parents[2] / "endpoints").symlink_to(moved)
    assert MARK not in stile("check", "endpoints").out


@pytest.mark.usefixtures("endpoint")
def test_output_is_the_same_with_warnings_as_json_and_as_lines(workplace: Path, stile: Stile) -> None:
    write_endpoint(workplace / "endpoints", {**FILES, **WARNING}, name="api/others")
    lines, document = stile("check", "endpoints"), stile("check", "endpoints", "--json")
    assert "[untitled-tool]" in lines.out

    (workplace / "endpoints/.stile/cache").rename(workplace / "cache")
    assert stile("check", "endpoints").out == lines.out.replace(f"{MARK}\n", "")
    assert stile("check", "endpoints") == stile("check", "endpoints")
    assert json.loads(stile("check", "endpoints", "--json").out) == json.loads(document.out)
    assert marked("check", THINGS, THINGS.with_name("others")) == 2
    assert stile("check", "endpoints", "--strict").code == 1


@pytest.mark.parametrize("damage", [lambda raw: raw[:-1], lambda _: b"", lambda raw: raw.replace(b"is of", b"was of")])
@pytest.mark.usefixtures("endpoint")
def test_damaged_record_is_made_anew_without_a_word(
    damage: Callable[[bytes], bytes], workplace: Path, stile: Stile
) -> None:
    for file in (workplace / "endpoints/.stile/cache").iterdir():
        file.write_bytes(damage(file.read_bytes()))

    done = stile("check", "endpoints")

    assert (done.code, done.err) == (0, "")
    assert "sentence" not in done.out
    assert marked("check", THINGS) == 1


@pytest.mark.usefixtures("endpoint")
def test_record_of_another_user_and_records_in_ci_are_not_read(
    tmp_path: Path, stile: Stile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    assert MARK not in stile("check", "endpoints").out
    monkeypatch.delenv("CI")
    assert MARK in stile("check", "endpoints").out

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
    assert MARK not in stile("check", "endpoints").out


def large(folder: Path) -> None:
    with (folder / "large.bin").open("wb") as file:
        file.truncate(MAX_BYTES)


def many(folder: Path) -> None:
    (folder / "many").mkdir()
    for number in range(MAX_BYTES // ENTRY_BYTES):
        (folder / "many" / str(number)).touch()


UNRECORDED: dict[str, Callable[[Path], object]] = {
    "a link to a file": lambda folder: (folder / "resources/b.txt").symlink_to("a.txt"),
    "a link to a folder": lambda folder: (folder / "others").symlink_to("resources"),
    "a pipe": lambda folder: os.mkfifo(folder / "pipe"),
    "an unreadable name": lambda folder: (folder / "loop").symlink_to("loop"),
    "a repository": lambda folder: (folder / ".git").mkdir(),
    "packages": lambda folder: (folder / "node_modules").mkdir(),
    "tests of policies": write("policies.test.yaml", "[{as: anonymous, sees: [a]}]\n"),
    "questions": write("questions.yaml", "[{question: says, answers: [Query.a]}]\n"),
    "a large file": large,
    "many files": many,
    "a problem": write("operations/b.graphql", "query B { none }\n"),
}


@pytest.mark.parametrize("obstacle", UNRECORDED)
def test_endpoint_of_which_more_may_be_read_than_is_digested_is_always_compiled(
    obstacle: str, endpoint: Path, stile: Stile
) -> None:
    UNRECORDED[obstacle](endpoint)

    stile("check", "endpoints")

    assert marked("check", THINGS, Path("endpoints/gone")) == 0


def test_endpoint_with_tools_in_python_is_compiled_with_its_present_module(
    workplace: Path, stile: Stile, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = 'code: [{use: "record_tools:kit", condition: true}]\naccess: {anonymous: allow}\n'
    write_endpoint(workplace / "endpoints", {"config.yaml": config})
    monkeypatch.setenv("STILE_CODE_MODULES", "record_tools")
    monkeypatch.syspath_prepend(str(workplace))
    for title in ("One", "Two"):
        (workplace / "record_tools.py").write_text(KIT.format(title=title), encoding="utf-8")
        sys.modules.pop("record_tools", None)
        changes = stile("publish", "endpoints", "--create", "out", "--allow-breaking").out.splitlines()
        assert ("api/things: new  +total" if title == "One" else "api/things: changed  ~total") in changes
    sys.modules.pop("record_tools", None)

    assert marked("publish", THINGS) == 0


def test_folder_of_the_cache_in_the_endpoint_s_own_folder_does_not_count(endpoint: Path, stile: Stile) -> None:
    """The cache is there for an endpoint outside of a repository."""
    options = argparse.Namespace(folder=THINGS, stage=None, endpoint=None)
    for text in ("type Query { a: Int }", "type Query { b: Int }"):
        assert EndpointRecords("check", options, os.environ).find(THINGS) is None
        assert stile("check", str(THINGS)).code == 0
        assert (endpoint / ".stile/cache").is_dir()
        assert EndpointRecords("check", options, os.environ).find(THINGS)
        write_endpoint(endpoint, {".stile/other.graphql": text}, name=".")


def test_endpoint_that_was_published_with_an_allowed_host_is_refused_without(workplace: Path, stile: Stile) -> None:
    files = {**FILES, "config.yaml": CONFIG.replace("https://things.example", "http://api.internal")}
    for name in ("endpoints/api/a", "endpoints/api/b"):
        write_endpoint(workplace, files, name=name)
    words = ("publish", "endpoints", "--create", "out")
    allowed = [stile(*words, "--allow-http", "api.internal") for _ in range(2)]

    assert [done.code for done in allowed] == [0, 0]
    assert all("api/a" in line for done in allowed for line in done.out.splitlines()[:1])
    assert stile(*words).code == 1


def test_names_are_still_compared_with_endpoints_that_have_not_changed(endpoint: Path, stile: Stile) -> None:
    others = write_endpoint(
        endpoint.parents[1], {**FILES, "stepzen.config.json": '{"endpoint": "api/things"}'}, name="z"
    )

    done = stile("check", "endpoints")

    assert done.code == 1
    assert "also made by endpoints/api/things" in done.out
    assert others.is_dir()


@dataclass(frozen=True, kw_only=True)
class Bucket:
    """A bucket with three published endpoints, behind a proxy that notes the requests."""

    between: Between
    storage: PublishStorage
    location: str

    def requests(self) -> list[str]:
        """The methods of the requests since the last call, without those that list, read tags or ask for the caller."""
        beside = re.compile(r"/|.*[?&](list-type|tagging)\b.*")
        methods = [each.method for each in self.between.passed if not beside.fullmatch(each.path)]
        self.between.begin()
        return methods


NAMES = ("api/e1", "api/e2", "api/e3")
FOLDERS = tuple(Path("endpoints", name) for name in NAMES)


@pytest.fixture(scope="module")
def open_moto() -> Iterator[Moto]:
    """A moto server that checks no signatures: a proxy changes the host that they name."""
    with running_moto() as running:
        yield running


@pytest.fixture
def bucket(
    workplace: Path, stile: Stile, open_moto: Moto, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Bucket]:
    name = f"r-{tmp_path.name.replace('_', '-')[-40:].strip('-').lower()}"
    open_moto.add_bucket(name)
    for each in NAMES:
        write_endpoint(workplace / "endpoints", {**FILES, **WITH_SECRET}, name=each)
    with running_between(open_moto.url) as between:
        for variable, value in {**open_moto.environ(), "AWS_ENDPOINT_URL": between.url}.items():
            monkeypatch.setenv(variable, value)
        http = HttpClient()
        location = f"s3://{name}/endpoints"
        storage = open_publish_storage(location, http=http, environ=dict(os.environ))
        assert stile("publish", "endpoints", location).code == 0
        between.begin()
        yield Bucket(between=between, storage=storage, location=location)
        http.close()


def test_endpoints_that_are_stored_as_they_were_compiled_cost_a_list(
    bucket: Bucket, stile: Stile, workplace: Path
) -> None:
    assert marked("publish", *FOLDERS) == 3

    done = stile("publish", "endpoints", bucket.location)

    assert (done.code, done.out.count(MARK), bucket.requests()) == (0, 3, [])
    lines = done.out.splitlines()
    assert [line for line in lines if line.endswith("unchanged")] == [f"{name}: unchanged" for name in NAMES]
    assert sum("env:TOKEN is read from" in line for line in lines) == 3
    document = json.loads(stile("publish", "endpoints", bucket.location, "--json").out)
    (workplace / "endpoints/.stile").rename(workplace / "gone")
    compiled = json.loads(stile("publish", "endpoints", bucket.location, "--json").out)
    assert bucket.requests() == ["HEAD"] * 6
    assert [each for each in document["warnings"] if each != MARK] == compiled["warnings"]
    assert {**document, "warnings": []} == {**compiled, "warnings": []}


def test_changed_endpoint_alone_is_compiled_and_stored(bucket: Bucket, stile: Stile, workplace: Path) -> None:
    marked("publish", *FOLDERS)
    title = FILES["operations/a.graphql"].replace('title: "A"', 'title: "B"')
    write_endpoint(workplace / "endpoints", {"operations/a.graphql": title}, name=NAMES[1])

    done = stile("publish", "endpoints", bucket.location, "--allow-breaking")

    assert (done.code, done.out.count(MARK)) == (0, 2)
    assert "api/e2: changed  ~a" in done.out.splitlines()
    assert bucket.requests().count("PUT") in (1, 2)
    assert b'"B"' in bucket.storage.get(bundle_key(NAMES[1]))[1]


def index_of(bucket: Bucket) -> str:
    return next(key for key in bucket.storage.etags() if key.startswith(f"{NAMES[0]}/.index/"))


def damage(bucket: Bucket, key: str) -> None:
    bucket.storage.write(key, b"{}")


def withdraw(bucket: Bucket, key: str) -> None:
    bucket.storage.remove(key, expected=bucket.storage.head(key).etag, facts={})


def disguise(bucket: Bucket, key: str) -> None:
    """Store other bytes with the facts of the present object."""
    head, body = bucket.storage.get(key)
    bucket.storage.put(key, body.replace(b"things.example", b"others.example"), expected=head.etag, facts=head.facts)


DAMAGES = {
    "a missing bundle": (withdraw, True, "new  +a"),
    "a damaged bundle": (damage, True, "changed  +a"),
    "a bundle of other bytes": (disguise, True, "changed  +a"),
    "a missing index": (withdraw, False, "repaired"),
    "a damaged index": (damage, False, "repaired"),
}


@pytest.mark.parametrize("fault", DAMAGES)
def test_stored_object_that_is_missing_or_damaged_is_stored_again(fault: str, bucket: Bucket, stile: Stile) -> None:
    assert marked("publish", *FOLDERS) == 3
    spoil, is_bundle, what = DAMAGES[fault]
    key = bundle_key(NAMES[0]) if is_bundle else index_of(bucket)
    body = bucket.storage.get(key)[1]
    spoil(bucket, key)

    done = stile("publish", "endpoints", bucket.location, "--allow-breaking", "--allow-open")

    assert (done.code, done.out.count(MARK)) == (0, 2), done.err
    assert f"{NAMES[0]}: {what}" in done.out.splitlines()
    assert bucket.storage.get(key)[1] == body


def test_other_destination_gets_all_endpoints(bucket: Bucket, stile: Stile) -> None:
    done = stile("publish", "endpoints", f"{bucket.location}/others")

    assert [line for line in done.out.splitlines() if ": new" in line] == [f"{name}: new  +a" for name in NAMES]


def test_force_stores_unchanged_endpoints_and_prune_withdraws_what_is_gone(
    bucket: Bucket, stile: Stile, workplace: Path
) -> None:
    marked("publish", *FOLDERS)
    done = stile("publish", "endpoints", bucket.location, "--force")
    assert (done.code, done.out.count(MARK)) == (0, 0)
    assert bucket.requests().count("PUT") == 6

    marked("publish", *FOLDERS)
    (workplace / "endpoints" / NAMES[2]).rename(workplace / "gone")
    pruned = stile("publish", "endpoints", bucket.location, "--prune", "--allow-breaking")
    assert (pruned.code, pruned.out.count(MARK)) == (0, 2)
    assert f"Withdrawn: {NAMES[2]}" in pruned.out
    assert bucket.requests() == ["GET", "DELETE", "HEAD"]


def test_publish_to_a_folder_has_records_too(workplace: Path, stile: Stile) -> None:
    write_endpoint(workplace / "endpoints", FILES)
    stile("publish", "endpoints", "--create", "out")
    assert marked("publish", THINGS) == 1
    assert MARK in stile("publish", "endpoints", "out").out

    (workplace / "out" / bundle_key("api/things")).write_bytes(b"{}")
    done = stile("publish", "endpoints", "out", "--allow-breaking")
    assert MARK not in done.out
    assert "api/things: changed  +a" in done.out.splitlines()
