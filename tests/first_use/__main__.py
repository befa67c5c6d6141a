"""Make each mistake, and print a table of the messages and what they say: `python -m tests.first_use [NUMBER ...]`."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from tests.first_use.judging import Verdict, judged
from tests.first_use.mistakes import MISTAKES
from tests.first_use.workshop import opened

FULL = 3
SHOWN_CHARS = 600
PLAIN_WIDTH = 160


def main(words: Sequence[str]) -> int:
    """Print the verdicts; return 1 if a message is not whole."""
    numbers = {int(word) for word in words}
    verdicts = []
    with tempfile.TemporaryDirectory() as folder:
        for mistake in MISTAKES:
            if not numbers or mistake.number in numbers:
                with opened(Path(folder) / str(mistake.number)) as shop:
                    verdicts.append(judged(mistake, mistake.make(shop), shop))
    Console(width=None if sys.stdout.isatty() else PLAIN_WIDTH).print(_table(verdicts))
    full = sum(verdict.score == FULL for verdict in verdicts)
    print(f"{full} of {len(verdicts)} messages say where, what is wrong and what to do.")  # noqa: T201 - a report
    return 1 if any(verdict.score < FULL for verdict in verdicts) else 0


def _table(verdicts: Sequence[Verdict]) -> Table:
    message = Column("message", overflow="fold")
    table = Table("#", "mistake", message, "place", "cause", "remedy", "score", show_lines=True)
    for each in verdicts:
        marks = ("yes" if met else "no" for met in (each.place, each.cause, each.remedy))
        shown = Text(each.message[:SHOWN_CHARS] or "(nothing)")
        table.add_row(str(each.mistake.number), each.mistake.title, shown, *marks, str(each.score))
    return table


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
