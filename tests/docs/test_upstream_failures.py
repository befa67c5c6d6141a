"""The page about failures of real servers is as its generator writes it, with the sentences of the code.

`make upstreams` compares the page with the servers themselves.
"""

from __future__ import annotations

import re

from handler.server.upstream.failures import MAINTAINER
from handler.server.upstream.graphql_errors import DRIFT
from tests.docs.pages import read
from tests.upstreams.document import FILE, rendered
from tests.upstreams.provoking import CASES, Seen
from tests.upstreams.serving import SERVERS

CELL = re.compile(r"(?<!\\)\|")


def outcomes(page: str) -> dict[str, dict[str, Seen | str]]:
    """The outcomes that a page was written from."""
    found: dict[str, dict[str, Seen | str]] = {}
    for part in page.split("\n## ")[1:]:
        server, _, table = part.partition("\n")
        rows = [[cell.strip() for cell in CELL.split(line)[1:-1]] for line in table.splitlines() if line[:2] == "| "]
        found[server] = {row[0]: seen(row) for row in rows[2:]}
    return found


def seen(row: list[str]) -> Seen | str:
    """The outcome in one row of a table."""
    _, told, is_error, level, reason, status = row
    if told.startswith("– ("):
        return told[3:-1]
    text = told.strip("`").strip() if told.startswith("`` ") else told[1:-1]
    return Seen(
        told=text.replace("\\|", "|"),
        is_error=is_error == "yes",
        level=level,
        reason=reason.strip("`"),
        status=int(status) if status else None,
    )


def test_page_is_as_its_generator_writes_it() -> None:
    page = FILE.read_text("utf-8")

    assert rendered(outcomes(page)) == page


def test_page_has_every_server_and_case() -> None:
    found = outcomes(read("docs/upstream-failures.md"))

    assert list(found) == [server.name for server in SERVERS]
    assert {server: list(cases) for server, cases in found.items()} == {server: list(CASES) for server in found}


def test_sentences_of_the_page_are_those_of_the_code() -> None:
    cases = outcomes(read("docs/upstream-failures.md")).values()

    assert all(MAINTAINER in told_by(each["401"]) for each in cases)
    assert all(DRIFT in told_by(each["renamed field"]) for each in cases)


def told_by(outcome: Seen | str) -> str:
    """The text that a model reads, which may be JSON with escapes."""
    return outcome if isinstance(outcome, str) else outcome.told
