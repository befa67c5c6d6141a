from __future__ import annotations

import platform
import re
from pathlib import Path

from benchmarks.costs_page import COSTS, with_results
from benchmarks.report import page
from benchmarks.runner import Summary


def test_page_has_ratios_to_the_floor_and_what_the_numbers_depend_on() -> None:
    summaries = {
        "floor": Summary(wall_ms=10, deviation_ms=0.4, peak_bytes=10_000_000),
        "case": Summary(wall_ms=125, deviation_ms=3, peak_bytes=45_000_000),
    }

    text = page("A title", summaries, floor="floor", rounds=5, packages=("graphql-core",))

    assert text.startswith("# A title\n\n`make bench ROUNDS=5`")
    assert f" cores, {platform.system()} on {platform.machine()}, " in text
    assert "| floor | 10 | 0 | 1.0 | 10.0 | 1.0 |\n| case | 125 | 3 | 12.5 | 45.0 | 4.5 |\n" in text


def test_page_about_costs_shows_the_tables_of_the_results() -> None:
    text = COSTS.read_text(encoding="utf-8")

    assert text.count("<!-- benchmarks/results/") == 6
    assert with_results(text) == text


def test_tables_come_from_the_results_in_place_of_older_ones(tmp_path: Path) -> None:
    (tmp_path / "benchmarks" / "results").mkdir(parents=True)
    (tmp_path / "benchmarks" / "results" / "cold.md").write_text("# Cold\n\n| a |\n| 1 |\n\nand\n\n| b |\n| 2 |\n")
    old = (
        "Before\n\n<!-- benchmarks/results/cold.md, table 2 -->\n\n| old |\n| 0 |\n\nafter\n\n"
        "<!-- benchmarks/results/cold.md, table 3 -->\n\n| gone |\n\nend\n"
    )

    assert with_results(old, tmp_path) == (
        "Before\n\n<!-- benchmarks/results/cold.md, table 2 -->\n\n| b |\n| 2 |\n\nafter\n\n"
        "<!-- benchmarks/results/cold.md, table 3 -->\n\nend\n"
    )


def test_prose_of_the_page_of_costs_has_no_figure_of_a_run() -> None:
    """Figures stand in the tables, which are generated: a figure beside them is that of another run."""
    lines = COSTS.read_text(encoding="utf-8").splitlines()

    assert [line for line in lines if not line.startswith("|") and re.search(r"\d\.\d|its gate", line)] == []
