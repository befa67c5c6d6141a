"""Put the tables of ``benchmarks/results`` into docs/costs.md, each where a comment names it.

The sessions of docs/operate/money.md and snapstart.md, which are worked out from results, get their present output.

python -m benchmarks.costs_page
"""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

from benchmarks import money
from benchmarks.runner import ROOT

COSTS, MONEY = ROOT / "docs" / "costs.md", ROOT / "docs" / "operate" / "money.md"
SNAPSTART = ROOT / "docs" / "operate" / "snapstart.md"

PLACE = re.compile(r"(<!-- (benchmarks/results/\w+\.md), table (\d) -->\n\n)(?:(?:\|.*\n)+\n)?")
SESSION = re.compile(r"^(\$ python -m benchmarks\.money(.*)\n)(?: .*\n)+", re.MULTILINE)
TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)


def with_results(text: str, root: Path = ROOT) -> str:
    """Return the text with every named table as its file has it. A missing table leaves its place empty."""

    def table(place: re.Match[str]) -> str:
        tables = TABLE.findall((root / place[2]).read_text(encoding="utf-8"))
        return place[1] + "".join(f"{each}\n" for each in tables[int(place[3]) - 1 : int(place[3])])

    return PLACE.sub(table, text)


def with_prices(text: str) -> str:
    """Return the text with the output of every command of a session."""

    def session(place: re.Match[str]) -> str:
        with contextlib.redirect_stdout(io.StringIO()) as output:
            money.main(place[2].split())
        return place[1] + output.getvalue()

    return SESSION.sub(session, text)


if __name__ == "__main__":
    COSTS.write_text(with_results(COSTS.read_text(encoding="utf-8")), encoding="utf-8")
    for page in (MONEY, SNAPSTART):
        page.write_text(with_prices(page.read_text(encoding="utf-8")), encoding="utf-8")
