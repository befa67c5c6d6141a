"""``stile diff``: sources, exit codes, reports, and differences that an author accepts."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from handler.bundle.stored import bundle_key
from handler.commands.changes.change import Change
from handler.commands.changes.endpoint_changes import MAX_MARKDOWN_CHARS, EndpointChanges, code_span, markdown
from tests.commands.running import CONFIG, FILES, OPERATION, Stile
from tests.support.endpoints import write_endpoint
from tests.support.moto import Moto

CLOSED = CONFIG + "identity: {api_keys: [{name: partner, sha256: " + "a" * 64 + "}]}\n"
TEXT = {**FILES, "operations/a.graphql": OPERATION.replace('"A"', '"Another"')}
WITHOUT = {**FILES, "operations/a.graphql": 'query B @mcpTool(name: "b") { b }\n'}


@pytest.fixture
def folder(workplace: Path) -> Path:
    write_endpoint(workplace / "old", FILES)
    write_endpoint(workplace / "text", TEXT)
    write_endpoint(workplace / "without", WITHOUT)
    write_endpoint(workplace / "further", {**FILES, "operations/b.graphql": WITHOUT["operations/a.graphql"]})
    write_endpoint(workplace / "wrong", {**FILES, "config.yaml": "upstrem: {}\n"})
    return workplace


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("old", "old"), 0),
        (("old", "text"), 1),
        (("old", "without"), 6),
        (("further", "old"), 2),
        (("old", "further"), 4),
        (("old", "wrong"), 3),
        (("wrong", "old"), 3),
        (("old", "nowhere"), 3),
        (("old",), 3),
        (("old", "text", "--jsno"), 3),
        (("old", "text", "--json", "--markdown"), 3),
        (("old", "s3://x"), 3),
        (("old", "--endpoint", "nothing", "text"), 3),
    ],
    ids=str,
)
@pytest.mark.usefixtures("folder")
def test_exit_codes_tell_errors_from_breaking_differences(stile: Stile, words: tuple[str, ...], code: int) -> None:
    done = stile("diff", *words)

    assert done.code == code, done.out + done.err
    assert bool(done.err) == (code == 3)


def test_aws_variable_that_is_not_valid_is_not_a_breaking_difference(
    folder: Path, stile: Stile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "not a URL")

    assert stile("diff", (folder / "old").name, "s3://bucket/prefix").code == 3


def test_published_bundles_are_compared_with_a_folder(folder: Path, stile: Stile) -> None:
    write_endpoint(folder / "two", FILES)
    write_endpoint(folder / "two", FILES, name="api/others")
    assert stile("build", "two", "--out", "out").code == 0

    assert stile("diff", "out", "old").code == 0
    assert stile("diff", "out", "text").code == 1
    assert stile("diff", "out", "old", "--prune").code == 2
    assert stile("diff", "out", "out").code == 0
    assert document_of(stile, "out", "old")["compared"] == 1
    (folder / "out" / bundle_key("api/things")).write_bytes(b"{}")
    damaged = stile("diff", "out", "old")
    assert damaged.code == 3
    assert "this is not a bundle" in damaged.err


def test_bucket_is_compared_with_a_folder(
    folder: Path, stile: Stile, moto: Moto, monkeypatch: pytest.MonkeyPatch
) -> None:
    moto.add_bucket("stile-diff")
    environ = moto.add_user(
        "differ",
        {"Action": ["s3:GetObject", "s3:PutObject"], "Resource": "arn:aws:s3:::stile-diff/*"},
        {"Action": "s3:ListBucket", "Resource": "arn:aws:s3:::stile-diff"},
    )
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    source = "s3://stile-diff/here"
    assert stile("publish", (folder / "old").name, source).code == 0

    assert stile("diff", source, "old").code == 0
    assert stile("diff", source, "without").code == 6
    assert stile("diff", source, source).code == 0
    assert stile("diff", "s3://no-such-bucket-here/x", "old").code == 3


def test_stages_of_one_folder_are_compared(folder: Path, stile: Stile) -> None:
    (folder / "old/api/things/config.dev.yaml").write_text("access: {anonymous: challenge}\n", encoding="utf-8")

    (folder / "old/api/things/config.prod.yaml").write_text("{}\n", encoding="utf-8")

    assert stile("diff", "old", "old", "--stage", "dev").code == 0
    assert stile("diff", "old", "old", "--stage", "dev", "--before-stage", "prod").code == 2
    assert stile("diff", "old", "text", "--stage", "dev").code == 3


def test_two_sides_without_an_endpoint_are_not_compared(folder: Path, stile: Stile) -> None:
    (folder / "none").mkdir()

    done = stile("diff", "none", "none")

    assert (done.code, done.out) == (3, "")
    assert "no side has an endpoint" in done.err


def document_of(stile: Stile, *words: str) -> Any:
    return json.loads(stile("diff", *words, "--json").out)


def test_json_has_all_differences(folder: Path, stile: Stile) -> None:
    document = document_of(stile, (folder / "old").name, "without")

    assert (document["breaking"], document["compared"]) == (True, 1)
    (endpoint,) = document["endpoints"]
    assert {change["code"] for change in endpoint["changes"]} >= {"tool-removed", "tool-added"}
    assert document_of(stile, "old", "old")["endpoints"] == []


IGNORE = 'diff: {ignore: [{code: tool-removed, about: [a], reason: "nobody calls it"}]}\n'


def test_accepted_difference_stays_in_the_report_with_its_reason(folder: Path, stile: Stile) -> None:
    write_endpoint(folder / "accepted", {**WITHOUT, "config.yaml": CONFIG + IGNORE})
    (endpoint,) = document_of(stile, "old", "accepted")["endpoints"]

    (accepted,) = [change for change in endpoint["changes"] if change["ignored"]]
    assert (accepted["code"], accepted["breaking"], accepted["ignored"]) == ("tool-removed", False, "nobody calls it")
    told = stile("diff", "old", "accepted").out
    assert re.search(r"Ignored:\n.*tool a is gone.*nobody calls it", told)


def test_entry_of_the_version_before_accepts_nothing(folder: Path, stile: Stile) -> None:
    write_endpoint(folder / "accepting", {**FILES, "config.yaml": CONFIG + IGNORE})

    assert stile("diff", "accepting", "without").code == 6


def test_openings_keep_their_heading_and_need_the_option_if_they_are_accepted(folder: Path, stile: Stile) -> None:
    names = "about: [Query.a]"
    entry = f"diff: {{ignore: [{{code: reach-gained, {names}, reason: public}}]}}\n"
    before = CONFIG.replace("policyDefault: {condition: true}", "policyDefault: {condition: false}")
    write_endpoint(folder / "shut", {**FILES, "config.yaml": before})
    write_endpoint(folder / "opened", {**FILES, "config.yaml": CONFIG + entry})

    done = stile("diff", "shut", "opened")
    told = done.out

    assert done.code == 4

    assert re.search(r"Open to everybody:\n.*Query.a.*ignored: public", told), told


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ("{code: tool-remved, about: [a], reason: r}", "unknown-code"),
        ("{code: tool-removed, about: [a]}", "invalid-value"),
        ("{code: tool-removed, reason: r}", "invalid-value"),
        ("{code: tool-removed, abuot: [a], reason: r}", "unknown-key"),
    ],
)
def test_entry_that_is_not_valid_is_a_problem(folder: Path, stile: Stile, entry: str, code: str) -> None:
    write_endpoint(folder / "bad", {**FILES, "config.yaml": f"{CONFIG}diff: {{ignore: [{entry}]}}\n"})

    assert f"[{code}]" in stile("diff", "old", "bad").err


HOSTILE = (
    "`]()<img src=x onerror=alert(1)> @everyone #1 https://evil.example/ | ** __ ~~",
    "```\n# heading\n<script>",
    "\u202eevil\u0000",
    "`",
    "",
    "[x](javascript:alert(1))",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_text_of_a_schema_is_never_markup(text: str) -> None:
    change = Change(code="tool-removed", about=text, sentence=text, rules=(text,), ignored="")
    made = markdown([EndpointChanges(endpoint="api/things", changes=(change,))])

    assert code_span(text) in made
    rest = made
    for span in re.findall(r"(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)", made):
        rest = rest.replace(f"{span[0]}{span[1]}{span[0]}", "", 1)
    assert not re.search(r"[<>@`\[\u202e\x00]|https?:|^#\d", rest), rest
    assert len(made.splitlines()) == len(markdown([_plain()]).splitlines())


def _plain() -> EndpointChanges:
    change = Change(code="tool-removed", about="a", sentence="a", rules=("a",))
    return EndpointChanges(endpoint="api/things", changes=(change,))


def test_markdown_is_bounded_and_counts_the_rest() -> None:
    changes = tuple(Change(code="text-changed", about=f"t{n}", sentence=f"tool t{n} " + "x" * 80) for n in range(3_000))

    made = markdown([EndpointChanges(endpoint="api/things", changes=changes)])

    shown = made.count("(text-changed)")
    assert len(made) <= MAX_MARKDOWN_CHARS
    assert f"{3_000 - shown:,} more differences are left out here" in made


def test_one_long_text_does_not_take_the_place_of_others() -> None:
    changes = [Change(code="text-changed", about="a", sentence="x" * 70_000)]
    changes.append(Change(code="text-changed", about="b", sentence="the other one"))

    assert "the other one" in markdown([EndpointChanges(endpoint="api/things", changes=tuple(changes))])


def test_missing_schema_index_is_an_error(folder: Path, stile: Stile) -> None:
    assert stile("build", "old", "--out", "whole").code == 0
    write_endpoint(folder / "more", {**FILES, "index.graphql": FILES["index.graphql"].replace("a: ", "c: Int a: ")})
    for index in (folder / "whole").glob("*/*/.index/*"):
        index.unlink()

    done = stile("diff", "whole", "more")

    assert (done.code, done.out) == (3, "")
    assert ".index/" in done.err


def test_secrets_of_versions_are_not_told(folder: Path, stile: Stile) -> None:
    def text(secret: str) -> Mapping[str, str]:
        url = f"https://things.example/graphql?key={secret}"
        headers = f"headers: {{x-tenant: {secret}}}"
        return {
            **FILES,
            "config.yaml": CONFIG.replace('url: "https://things.example/graphql"', f'url: "{url}", {headers}'),
        }

    write_endpoint(folder / "one", text("q8z2x-one"))
    write_endpoint(folder / "two", text("q8z2x-two"))
    done = stile.unsearched("diff", "one", "two")

    assert done.code == 1
    assert "upstream-url" in done.out
    assert "upstream-headers" in done.out
    assert "q8z2x" not in done.out, done.out
