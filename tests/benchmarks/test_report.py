from __future__ import annotations

import platform
import re
from pathlib import Path

from benchmarks.costs_page import COSTS, MONEY, with_prices, with_results
from benchmarks.report import machine


def test_machine_has_what_the_numbers_depend_on() -> None:
    assert f" cores, {platform.system()} on {platform.machine()}, CPython 3." in machine(())
    assert re.search(r"\d, graphql-core [\d.]+\.$", machine(("graphql-core",)))


def test_page_about_costs_shows_the_tables_of_the_results() -> None:
    text = COSTS.read_text(encoding="utf-8")

    assert text.count("<!-- benchmarks/results/") == 7
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


def test_sessions_about_money_get_their_output() -> None:
    text = MONEY.read_text(encoding="utf-8")
    old = re.sub(r"^ +[\d.]+  Lambda, requests\n", "    9.99  of another run\n", text, flags=re.MULTILINE)

    assert old != text
    assert with_prices(old) == text


def test_prose_of_the_page_of_costs_has_no_figure_of_a_run() -> None:
    """Figures stand in the tables, which are generated: a figure beside them is that of another run."""
    lines = COSTS.read_text(encoding="utf-8").splitlines()

    assert [line for line in lines if not line.startswith("|") and re.search(r"\d\.\d|its gate", line)] == []
