"""What was measured, as the Markdown pages in ``benchmarks/results``."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from benchmarks.runner import ROOT

RESULTS = ROOT / "benchmarks" / "results"

MB = 1_000_000


def machine(packages: Sequence[str], *, python: Path = Path(sys.executable)) -> str:
    """What the numbers depend on, without naming a machine. ``python`` runs what is measured."""
    versions = [f"{name} {version(name)}" for name in packages]
    system = f"{platform.system()} on {platform.machine()}"
    program = "import platform; print(platform.python_implementation(), platform.python_version())"
    runs = subprocess.run([python, "-c", program], capture_output=True, text=True, check=True).stdout.strip()
    return f"{', '.join([f'{os.cpu_count()} cores', system, runs, *versions])}."


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
