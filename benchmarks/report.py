"""What was measured, as the Markdown pages in ``benchmarks/results``."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from benchmarks.runner import ROOT, Summary

RESULTS = ROOT / "benchmarks" / "results"

MB = 1_000_000


def page(title: str, summaries: Mapping[str, Summary], *, floor: str, rounds: int, packages: Sequence[str]) -> str:
    """A page with one row for each case, and ratios to the case that is called ``floor``."""
    lines = [
        f"# {title}",
        "",
        f"`make bench ROUNDS={rounds}`: whole processes in alternating rounds, medians; ± is the median absolute",
        f"deviation. {machine(packages)}",
        "",
        "| process | ms | ± | x floor | peak MB | x floor |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        *(row(name, summary, summaries[floor]) for name, summary in summaries.items()),
    ]
    return "\n".join(lines) + "\n"


def row(name: str, summary: Summary, floor: Summary) -> str:
    """One case: its time and memory, each beside its ratio to the floor's."""
    cells = (
        name,
        f"{summary.wall_ms:.0f}",
        f"{summary.deviation_ms:.0f}",
        f"{summary.wall_ms / floor.wall_ms:.1f}",
        f"{summary.peak_bytes / MB:.1f}",
        f"{summary.peak_bytes / floor.peak_bytes:.1f}",
    )
    return f"| {' | '.join(cells)} |"


def machine(packages: Sequence[str], *, python: Path = Path(sys.executable)) -> str:
    """What the numbers depend on, without naming a machine. ``python`` runs what is measured."""
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    system = f"{platform.system()} on {platform.machine()}"
    program = "import platform; print(platform.python_implementation(), platform.python_version())"
    runs = subprocess.run([python, "-c", program], capture_output=True, text=True, check=True).stdout.strip()
    return f"{os.cpu_count()} cores, {system}, {runs}, {versions}."


def write_page(name: str, text: str) -> Path:
    """Write a page of results, and show it."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.md"
    path.write_text(text, encoding="utf-8")
    sys.stdout.write(f"{text}\nwritten to {path.relative_to(ROOT)}\n")
    return path


def show_round(number: int, rounds: int) -> None:
    """Say on a terminal which round is running; round 0 is the one that is thrown away."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[Kround {number} of {rounds}" if number < rounds else "\r\x1b[K")
        sys.stderr.flush()
