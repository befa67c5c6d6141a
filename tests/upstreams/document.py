"""``docs/upstream-failures.md``: a table of failures for each server, and how each one looks to its readers."""

from __future__ import annotations

from collections.abc import Mapping

from tests.conftest import ROOT
from tests.upstreams.provoking import Seen

FILE = ROOT / "docs" / "upstream-failures.md"
HEAD = """\
# Failures of nine GraphQL servers

`make upstreams` provokes each failure of a real server, calls a tool with an event of API Gateway, and writes this
page. "Result" is the text that a model reads, word for word, and "error" is its `isError`. "Level", "reason" and
"status" are for the endpoint's maintainer: they stand in the line of the log. The status is that of the API's answer
(`upstream_status`); it is missing if no whole answer came.
"""
COLUMNS = """\
| failure | result | error | level | reason | status |
| --- | --- | --- | --- | --- | --- |
"""

Outcomes = Mapping[str, Mapping[str, Seen | str]]
"""Server -> case -> the outcome, or the reason why the case cannot be provoked."""


def rendered(outcomes: Outcomes) -> str:
    """The page."""
    return HEAD + "".join(f"\n## {server}\n\n{COLUMNS}{_rows(cases)}" for server, cases in outcomes.items())


def _rows(cases: Mapping[str, Seen | str]) -> str:
    return "".join(f"| {case} | {' | '.join(_cells(seen))} |\n" for case, seen in cases.items())


def _cells(seen: Seen | str) -> list[str]:
    if isinstance(seen, str):
        return [f"– ({seen})", "", "", "", ""]
    reason = f"`{seen.reason}`" if seen.reason else ""
    status = str(seen.status) if seen.status else ""
    return [_told(seen.told), "yes" if seen.is_error else "no", seen.level, reason, status]


def _told(text: str) -> str:
    """Return a text as code, for it is quoted word for word. More backticks enclose a text that has one."""
    shown = text.replace("|", "\\|")
    return f"`` {shown} ``" if "`" in shown else f"`{shown}`"
