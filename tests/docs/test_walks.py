"""Each page with commands is followed, word for word."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.commands.running import Stile
from tests.conftest import ROOT
from tests.docs.pages import FENCED, Walk, blocks, is_run, read, require_known
from tests.docs.test_links import markdown_files
from tests.docs.test_prose import PAGE
from tests.support.upstream import Upstream

PAGES = {
    "README.md": 10,
    "CONTRIBUTING.md": 3,
    "docs/cli.md": 7,
    "docs/clients.md": 6,
    "docs/deploy.md": 4,
    "docs/diff.md": 2,
    "docs/editors.md": 2,
    "docs/endpoints.md": 7,
    "docs/from-apollo.md": 5,
    "docs/from-cosmo.md": 5,
    "docs/graphql-http.md": 1,
    "docs/identity.md": 1,
    "docs/install.md": 2,
    "docs/local.md": 1,
    "docs/operation-tests.md": 6,
    "docs/page.md": 1,
    "docs/publishing.md": 5,
    "docs/security/hiding.md": 3,
    "docs/security/sign-in.md": 1,
    "docs/serve.md": 1,
    "docs/start.md": 7,
    "docs/stepzen.md": 5,
    "docs/tutorial.md": 23,
    "docs/upstream.md": 1,
}
"""Each page, and how many of its blocks a walk does at least: a page that loses them loses its test."""


@pytest.mark.parametrize(("page", "least"), PAGES.items())
def test_page_does_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, upstream: Upstream, stile: Stile, page: str, least: int
) -> None:
    monkeypatch.setenv("TOKEN", "the reader's own")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert Walk(tmp_path, upstream, stile).follow(page) >= least


ELSEWHERE = {
    "docs/code-tools.md": "tests/test_code_tools_doc.py",
    "docs/deploy-elsewhere.md": "tests/infra/test_terraform_applied.py",
    "docs/long-work.md": "tests/docs/test_long_work.py",
    "docs/stacks.md": "tests/docs/test_stacks.py",
    "docs/operate/load-test.md": "tests/operate/test_pages.py",
    "docs/operate/money.md": "tests/operate/test_pages.py",
    "docs/operate/regions.md": "tests/operate/test_regions.py",
    "docs/operate/snapstart.md": "tests/operate/test_remove_versions.py",
    "docs/operate/upgrade.md": "tests/distribution/test_update.py",
    "examples/postgraphile/README.md": "tests/postgraphile/test_example.py",
}
"""Pages with commands that other tests follow."""


def test_every_page_with_commands_is_followed() -> None:
    with_commands = {
        page for page in markdown_files() if any(block.language in ("sh", "console") for block in blocks(read(page)))
    }

    assert {page for page in with_commands if PAGE.fullmatch(page)} == {*PAGES, *ELSEWHERE}
    assert all((ROOT / test).exists() for test in ELSEWHERE.values())


COMMAND = re.compile(r"`((?:STILE_\w+=\S+ )?(?:[\w./]+/)?(?:aws|make|python -m|sam|stile) (?![A-Z])[^`]+)`")
"""A command in a sentence or table."""


@pytest.mark.parametrize("page", [page for page in markdown_files() if PAGE.fullmatch(page)])
def test_commands_in_the_sentences_of_a_page_are_known(page: str) -> None:
    for command in COMMAND.findall(" ".join(FENCED.sub("", read(page)).split())):
        require_known(command, page)


def test_walk_sees_what_a_page_gets_wrong(tmp_path: Path, upstream: Upstream, stile: Stile) -> None:
    walk = Walk(tmp_path, upstream, stile)
    walk.write("page.md", "```console\n$ stile check examples/endpoints\nNo problems in 2 endpoints\n```\n")

    with pytest.raises(AssertionError, match=r"page\.md:1: stile check"):
        walk.follow(str(tmp_path / "page.md"))
    with pytest.raises(AssertionError, match=r"here: make nothing"):
        require_known("make nothing", "here")
    with pytest.raises(AssertionError, match=r"here: cargo run"):
        require_known("cargo run", "here")
    with pytest.raises(AssertionError, match=r"here: examples/missing"):
        require_known("stile dev examples/missing", "here")


def test_blocks_know_their_file_and_line() -> None:
    text = "# A page\n\n`a/b.yaml`\n\n```yaml\na: 1\n```\n\n```sh\nls\n```\n"

    assert [(block.file, block.language, block.line) for block in blocks(text)] == [
        ("a/b.yaml", "yaml", 5),
        ("", "sh", 9),
    ]


@pytest.mark.parametrize(
    ("line", "runs"),
    [
        ("mkdir -p endpoints", True),
        (".venv/bin/stile check endpoints", True),
        (".venv/bin/stile dev endpoints", False),
        ("stile publish endpoints s3://BUCKET/endpoints", False),
        ("sam build", False),
        (".venv/bin/python -m examples.upstream --port 8001", False),
        (".venv/bin/python -m examples.upstream --print-schema > schema.graphql", True),
    ],
)
def test_a_walk_runs_what_ends_by_itself(line: str, runs: bool) -> None:
    assert is_run(line) is runs
