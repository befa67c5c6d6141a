"""Put the tables of ``benchmarks/results`` into docs/costs.md, each where a comment names it.

python -m benchmarks.costs_page
"""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.runner import ROOT

COSTS = ROOT / "docs" / "costs.md"

PLACE = re.compile(r"(<!-- (benchmarks/results/\w+\.md), table (\d) -->\n\n)(?:(?:\|.*\n)+\n)?")
TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)


def with_results(text: str, root: Path = ROOT) -> str:
    """Return the text with every named table as its file has it. A missing table leaves its place empty."""

    def table(place: re.Match[str]) -> str:
        tables = TABLE.findall((root / place[2]).read_text(encoding="utf-8"))
        return place[1] + "".join(f"{each}\n" for each in tables[int(place[3]) - 1 : int(place[3])])

    return PLACE.sub(table, text)


if __name__ == "__main__":
    COSTS.write_text(with_results(COSTS.read_text(encoding="utf-8")), encoding="utf-8")
