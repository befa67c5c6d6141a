"""Record the sentences of all catalogues again: ``python -m tests.compiler.catalogue``, then read the difference."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.compiler.catalogue.entries import CATALOGUE, Entry, found_by_check, print_entries, read_entries


def recorded(entry: Entry) -> Entry:
    with TemporaryDirectory() as folder:
        return replace(entry, reports=found_by_check(entry, Path(folder)))


for text in sorted(CATALOGUE.glob("*.txt")):
    text.write_text(print_entries(map(recorded, read_entries(text.stem))), encoding="utf-8")
