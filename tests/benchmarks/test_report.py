from __future__ import annotations

import platform

from benchmarks.check import CHECK, FLOOR, PARSE
from benchmarks.report import RESULTS, page
from benchmarks.runner import ROOT, Summary


def test_page_has_ratios_to_the_floor_and_what_the_numbers_depend_on() -> None:
    summaries = {
        "floor": Summary(wall_ms=10, deviation_ms=0.4, peak_bytes=10_000_000),
        "case": Summary(wall_ms=125, deviation_ms=3, peak_bytes=45_000_000),
    }

    text = page("A title", summaries, floor="floor", rounds=5, packages=("graphql-core",))

    assert text.startswith("# A title\n\n`make bench ROUNDS=5`")
    assert f" cores, {platform.system()} on {platform.machine()}, " in text
    assert "| floor | 10 | 0 | 1.0 | 10.0 | 1.0 |\n| case | 125 | 3 | 12.5 | 45.0 | 4.5 |\n" in text


def test_readme_shows_the_rows_of_the_results() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    results = (RESULTS / "check.md").read_text(encoding="utf-8")

    rows = [line for line in results.splitlines() if line.startswith("| ")]
    assert [row.split(" | ")[0] for row in rows] == ["| process", "| ---", f"| {FLOOR}", f"| {PARSE}", f"| {CHECK}"]
    assert "\n".join(rows) in readme
