"""Make each mistake, and print a table of the messages and what they say.

`python -m tests.first_use [--list second] [NUMBER ...]`
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from tests.first_use.judging import FULL, Fault, Verdict, judged
from tests.first_use.mistakes import LISTS
from tests.first_use.workshop import opened

SHOWN_CHARS = 600
PLAIN_WIDTH = 160


def main(words: Sequence[str]) -> int:
    """Print the verdicts; return 1 if a message is not whole."""
    parser = argparse.ArgumentParser(prog="python -m tests.first_use", description=__doc__)
    parser.add_argument("--list", choices=LISTS, default="first", help="the list of mistakes (default: first)")
    parser.add_argument("numbers", nargs="*", type=int, metavar="NUMBER", help="the mistakes; without it, all of them")
    chosen = parser.parse_args(words)
    verdicts = []
    with tempfile.TemporaryDirectory() as folder:
        for mistake in LISTS[chosen.list]:
            if not chosen.numbers or mistake.number in chosen.numbers:
                with opened(Path(folder) / str(mistake.number)) as shop:
                    verdicts.append(judged(mistake, mistake.make(shop), shop))
    Console(width=None if sys.stdout.isatty() else PLAIN_WIDTH).print(_table(verdicts))
    print("\n".join(_summary(verdicts)))  # noqa: T201 - a report
    return 1 if any(verdict.score < FULL for verdict in verdicts) else 0


def _table(verdicts: Sequence[Verdict]) -> Table:
    message = Column("message", overflow="fold")
    table = Table("#", "mistake", message, "place", "cause", "remedy", "score", show_lines=True)
    for each in verdicts:
        marks = ("yes" if met else "no" for met in (each.place, each.cause, each.remedy))
        shown = Text(each.message[:SHOWN_CHARS] or "(nothing)")
        table.add_row(str(each.mistake.number), each.mistake.title, shown, *marks, str(each.score))
    return table


def _summary(verdicts: Sequence[Verdict]) -> list[str]:
    full = sum(verdict.score == FULL for verdict in verdicts)
    lines = [f"{full} of {len(verdicts)} messages say where, what is wrong and what to do."]
    for score in range(FULL):
        if numbers := [str(each.mistake.number) for each in verdicts if each.score == score]:
            lines.append(f"Score {score}: {len(numbers)} ({', '.join(numbers)})")
    for fault in get_args(Fault):
        if count := sum(fault in each.faults for each in verdicts):
            lines.append(f"{'With a' if fault == 'traceback' else 'Without'} {fault}: {count}")
    for each in verdicts:
        if mended := sorted(each.mistake.faults - each.faults):
            lines.append(f"Mended, and still marked as a fault of {each.mistake.number}: {', '.join(mended)}")
    return lines


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
