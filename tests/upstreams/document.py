"""``docs/upstream-failures.md``: what was seen of each failure, as a table a server."""

from __future__ import annotations

from collections.abc import Mapping

from tests.conftest import ROOT
from tests.upstreams.provoking import Seen

FILE = ROOT / "docs" / "upstream-failures.md"
HEAD = """\
# What is seen when the API fails

`make upstreams` provokes each failure of a real server, calls a tool with an event of API Gateway, and writes this
page. A model reads the text of the result. Whoever maintains the endpoint reads the level and the reason in the line of
the log, with the status of the API's answer (`upstream_status`; none if no whole answer came). "Error" is `isError`.
"""
COLUMNS = """\
| failure | what the model reads | error | level | reason | status |
| --- | --- | --- | --- | --- | --- |
"""

Outcomes = Mapping[str, Mapping[str, Seen | str]]
"""Server -> case -> what was seen, or why it cannot be provoked."""


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
    """JSON as code, and sentences as they are."""
    shown = text.replace("|", "\\|")
    return f"`{shown}`" if shown.startswith("{") else shown
