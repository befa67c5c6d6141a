"""The pages of the design name paths that exist, map every folder, and have the numbers of the code."""

from __future__ import annotations

import re

import pytest

from handler.bundle.model import MAX_ANSWER_S
from handler.bundle.tools import MAX_CONSENT_CHARS
from handler.compiler.json_schemas.descriptions import MAX_ENUM_CHARS
from handler.compiler.json_schemas.output_schema import MAX_NAMED_BYTES, WORTHWHILE_BYTES
from handler.compiler.operations.validation import MAX_DEPRECATIONS
from handler.compiler.source.files import MAX_FILE_BYTES
from handler.errors.calls import DocumentRefused
from handler.graph.documents.document_check import MAX_ERRORS as MAX_SOUGHT
from handler.graph.documents.hints import MAX_COUNTED
from handler.graph.documents.introspection import MAX_BYTES, MAX_BYTES_OF_A_CALL
from handler.graph.documents.limits import DEFAULT_LIST_SIZE
from handler.json_schema.answer_check import MAX_STEPS
from handler.json_schema.checker import MAX_VIOLATIONS
from handler.json_schema.formats import MAX_MATCHED_CHARS
from handler.server.asgi.deadlines import MARGIN_S
from handler.server.asgi.response_size import LOAD_BALANCER, MAX_PAGE_BYTES, MAX_PAYLOAD_BYTES
from handler.server.auth.jwks import STALE_S as STALE_KEYS_S
from handler.server.auth.jwks import TIMEOUT_S as KEY_SET_S
from handler.server.auth.own_secrets import MAX_RETRY_S, REFUSED_PAUSE_S, STALE_S
from handler.server.auth.sealed_state import STATE_S
from handler.server.denials import MAX_HELD_CHARS
from handler.server.endpoints.registry import BESIDE_S, DOUBTFUL_S, MAX_DOUBTFUL, MISS_S
from handler.server.endpoints.schema_views import MAX_VIEWS, read_cost
from handler.server.mcp.revisions import BATCHING, MODERN
from handler.server.mcp.route import MAX_WORK_S, MIN_COMPRESSED_BYTES
from handler.server.outgoing.circuit_breaker import MAX_FAILURES, PAUSE_S
from handler.server.upstream.credentials import MAX_S
from handler.server.upstream.failures import UNDECIDED
from handler.server.upstream.graphql_errors import MAX_ERRORS
from tests.conftest import ROOT
from tests.docs.pages import FENCED, read, section

PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs" / "design").glob("*.md"))

PATH = re.compile(r"`((?:\.ci|benchmarks|docs|events|examples|handler|infra|requirements|stile|tests)/[^`\s]*)`")
FOLDER = re.compile(r"`((?:handler|stile)(?:/\w+)*)`")


def named_paths(text: str) -> set[str]:
    """The files and folders of the repository that a page names in code style."""
    return {*PATH.findall(text), *FOLDER.findall(text)}


@pytest.mark.parametrize("page", PAGES)
def test_paths_of_the_page_exist(page: str) -> None:
    assert [path for path in sorted(named_paths(read(page))) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_modules_of_the_page_are_named_by_their_path(page: str) -> None:
    assert re.findall(r"`(?!(?:handler|infra|tests)/)[\w/]+\.(?:py|sh)`", read(page)) == []


def test_a_missing_path_is_seen() -> None:
    text = "`handler/nowhere` and `tests/nowhere.py`, but `index.graphql`"

    assert named_paths(text) == {"handler/nowhere", "tests/nowhere.py"}


def test_map_has_every_folder_with_the_time_that_it_runs() -> None:
    page = section(read("docs/design/overview.md"), "Folder map")
    packages = {path.parent.relative_to(ROOT).as_posix() for path in (ROOT / "handler").rglob("*.py")}
    times = dict(re.findall(r"^\| `([\w/]+)` \|.*\| (\w+) \|$", page, re.MULTILINE))

    assert set(times) == packages | {"stile"}
    for folder, time in times.items():
        half = {"audience": "deploy", "commands": "deploy", "compiler": "deploy", "server": "request"}
        assert time == half.get(folder.partition("/")[2].partition("/")[0], "both"), folder


def test_overview_lists_every_page() -> None:
    listed = set(re.findall(r"^\| \[[^\]]+\]\(([\w-]+\.md)\)", read("docs/design/overview.md"), re.MULTILINE))

    assert {f"docs/design/{name}" for name in listed} == {*PAGES} - {"docs/design/overview.md"}


@pytest.mark.parametrize("page", PAGES)
def test_each_section_begins_with_its_rule_and_reason(page: str) -> None:
    parts = re.split(r"^#+ (.+)$", FENCED.sub("", read(page)), flags=re.MULTILINE)[1:]
    sections = {title: text.strip() for title, text in zip(parts[::2], parts[1::2], strict=True)}

    bare = {title: text.splitlines()[0] for title, text in sections.items() if re.match(r"[|*-] |\d+\. ", text)}
    assert bare == {}


NUMBERS = {
    "access": [
        f"the time limit {KEY_SET_S:g} s",
        "held keys for a day" if STALE_KEYS_S == 86_400 else "",
        f"({MAX_HELD_CHARS:,} characters)",
        f"for {STATE_S // 60} minutes",
        f"more than {MAX_CONSENT_CHARS:,} characters",
    ],
    "bundles": [
        "for at most one second" if BESIDE_S == 1 else "",
        f"remembered for {MISS_S:g} s",
        f"up to {MAX_DOUBTFUL} names count for {'five' if DOUBTFUL_S == 300 else ''} minutes",
        f"({MAX_VIEWS} views are kept",
        "eight times the stored size" if read_cost(2) - read_cost(1) == 8 else "",
    ],
    "checks": [f"and {MAX_DEPRECATIONS} at most"],
    "compiler": [f"has {MAX_FILE_BYTES // 1_000_000} MB at most"],
    "graphql": [
        "Ten errors are reported, so no more than eleven"
        if (DocumentRefused.MAX_FAULTS, MAX_SOUGHT) == (10, 11)
        else "",
        "for the nearest twenty only" if MAX_COUNTED == 20 else "",
        "Any other list counts as ten" if DEFAULT_LIST_SIZE == 10 else "",
        f"{MAX_BYTES // 1_000_000} MB for people's tools",
        f"{MAX_BYTES_OF_A_CALL // 1_000} KB in a tool call",
    ],
    "requests": [
        f"speak {MODERN[-1]}",
        f"after {MAX_WORK_S:g} s of work",
        f"which {BATCHING} has",
        f"A page has {MAX_PAGE_BYTES:,} bytes",
        f"behind a load balancer {LOAD_BALANCER.page_bytes:,}",
        f"Lambda takes {MAX_PAYLOAD_BYTES // 1_000_000} MB, a load balancer {LOAD_BALANCER.max_bytes // 1_000_000} MB",
        f"A list above {MIN_COMPRESSED_BYTES // 1024} KB",
        f"The deadline is {MAX_ANSWER_S:g} s",
        "less one second for the answer" if MARGIN_S == 1 else "",
        f"every violation ({MAX_VIOLATIONS} at most)",
    ],
    "schemas": [
        f"above {MAX_ENUM_CHARS:,} characters",
        f"in {MAX_NAMED_BYTES} bytes at most",
        f"more than {WORTHWHILE_BYTES} bytes",
        f"more than {MAX_MATCHED_CHARS:,} characters match no pattern",
        f"after {MAX_STEPS:,} values",
        f"are reported, {MAX_VIOLATIONS} at most",
    ],
    "upstream": [
        "of the first ten errors" if MAX_ERRORS == 10 else "",
        f"After {'five' if MAX_FAILURES == 5 else ''} failures in a row, calls fail at once for {PAUSE_S:g} s",
        "cut to an hour" if MAX_S == 3_600 else "",
        "serves for an hour" if STALE_S == 3_600 else "",
        f"read again, once in {REFUSED_PAUSE_S:g} s",
        f"forgotten less than {REFUSED_PAUSE_S:g} s ago",
        "A 4xx other than 408" if {408} == UNDECIDED else "",
        "doubles up to a minute" if MAX_RETRY_S == 60 else "",
    ],
}
"""Each number of a page with its words; empty text: the code has another number."""


@pytest.mark.parametrize(("page", "numbers"), NUMBERS.items(), ids=list(NUMBERS))
def test_numbers_of_the_page_are_those_of_the_code(page: str, numbers: list[str]) -> None:
    text = " ".join(read(f"docs/design/{page}.md").split())

    assert [words for words in numbers if not words or words not in text] == []
