"""What became of each corpus, as the table that docs/proofs.md shows.

python -m tests.corpora.table           print it
python -m tests.corpora.table --check   say whether docs/proofs.md has it
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from handler.strict_json import to_json_bytes
from tests.corpora.attempts import Attempt, attempt
from tests.corpora.downloads import ROOT
from tests.corpora.fetch import fetch
from tests.corpora.sources import SOURCE_OF
from tests.corpora.verdicts import INVALID, NO_NAME, SAME_NAME, SUBSCRIPTION, UPLOAD
from tests.support.local_entries import listed_entries

HEADINGS = ("corpus", "types", "operations", "tools", "refused", "invalid", "bytes of the tool list", "largest entry")

REASONS = (NO_NAME, SAME_NAME, SUBSCRIPTION, UPLOAD)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The numbers of one corpus. Bytes are those of compact JSON, as ``tools/list`` sends it."""

    corpus: str
    types: int
    operations: int
    tools: int
    refused: str
    invalid: int
    list_bytes: int
    largest: int

    @property
    def cells(self) -> list[str]:
        numbers = (self.types, self.operations, self.tools)
        sizes = (self.list_bytes, self.largest)
        return [
            self.corpus,
            *(f"{number:,}" for number in numbers),
            self.refused,
            f"{self.invalid:,}",
            *(f"{number:,}" for number in sizes),
        ]


def row_of(corpus: str, tried: Attempt) -> Row:
    """The numbers of an attempt."""
    sizes = [len(to_json_bytes(entry)) for entry in listed_entries(tried.compiled)]
    refused = {reason: tried.refused_as(reason) for reason in REASONS}
    return Row(
        corpus=corpus,
        types=sum(not name.startswith("__") for name in tried.schema.type_map),
        operations=len(tried.verdicts),
        tools=len(tried.tools),
        refused=", ".join(f"{count} {reason}" for reason, count in refused.items() if count) or "none",
        invalid=tried.refused_as(INVALID),
        list_bytes=sum(sizes),
        largest=max(sizes, default=0),
    )


def as_markdown(rows: Iterable[Row]) -> str:
    """The table, one line for each row."""
    lines: list[Sequence[str]] = [HEADINGS, ["---"] + ["---:"] * (len(HEADINGS) - 1), *(row.cells for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main() -> int:
    """1: ``--check`` found another table in docs/proofs.md, or none."""
    parser = argparse.ArgumentParser(prog="python -m tests.corpora.table")
    parser.add_argument("--check", action="store_true", help="say whether docs/proofs.md has this table")
    options = parser.parse_args()
    rows = []
    for corpus in SOURCE_OF:
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[Kcompiling {corpus} …")
        rows.append(row_of(corpus, attempt(fetch(corpus))))
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
    table = as_markdown(rows)
    sys.stdout.write(table)
    if options.check and table not in (ROOT / "docs" / "proofs.md").read_text(encoding="utf-8"):
        sys.stderr.write("docs/proofs.md has another table: put this one there.\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
