"""What ``benchmarks.check`` measures, on few operations, and its page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from graphql import build_schema

from benchmarks import check
from benchmarks.check import PARSE, SAVED, developing, large_schema, text_of, write_many
from benchmarks.runner import Case, Sample, Summary

CONFIG = """\
upstream: {url: "https://api.example.com/graphql"}
access: {anonymous: allow, policies: [{type: Query, policyDefault: {condition: true}}]}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An endpoint folder with two operations, of which the benchmark makes five."""
    monkeypatch.setattr(check, "OPERATIONS", 5)
    folder = tmp_path / "api" / "few"
    (folder / "operations").mkdir(parents=True)
    (folder / "index.graphql").write_text("type Query { id: ID }\n", encoding="utf-8")
    (folder / "config.yaml").write_text(CONFIG, encoding="utf-8")
    for name in ("First", "Second"):
        (folder / "operations" / f"{name}.graphql").write_text(f"query {name} @mcpTool {{ id }}\n", encoding="utf-8")
    return folder


def test_operations_are_there_under_several_names(folder: Path) -> None:
    write_many(folder)

    texts = [file.read_text("utf-8") for file in (folder / "operations").iterdir()]
    assert sorted(re.findall(r"query (\w+)", "".join(texts))) == ["First", "First1", "First2", "Second", "Second1"]


def test_save_in_dev_is_measured_until_the_operation_is_served(folder: Path) -> None:
    write_many(folder)

    with developing(folder) as saving:
        samples = [saving.run(), saving.run()]

    assert all(0 < each.cpu_ms < 60_000 and each.peak_bytes > 20_000_000 for each in samples)
    assert "__typename" in (folder / "operations" / "First.graphql").read_text("utf-8")


def test_schema_has_as_many_types_which_all_are_reachable() -> None:
    references = {
        name: set(re.findall(r"Record\d+", body))
        for name, body in re.findall(r"^type (\w+) {(.*?)}", large_schema(300), re.MULTILINE | re.DOTALL)
    }
    reached, new = set[str](), {"Query"}
    while new:
        reached |= new
        new = {other for name in new for other in references[name]} - reached

    assert len(reached) == 301
    build_schema(large_schema(300))


def test_page_has_goals_beside_the_figures() -> None:
    def case(name: str, **goals: float) -> Case:
        return Case(name=name, run=lambda: Sample(wall_ms=1, cpu_ms=1, peak_bytes=1), **goals)

    cases = [case(PARSE), case(SAVED, goal_times=1.2), case("many", goal_s=12, goal_mb=300)]
    summaries = {
        each.name: Summary(wall_ms=1_100 * n, cpu_ms=1_000 * n, deviation_ms=20, peak_bytes=50_000_000 * n)
        for n, each in enumerate(cases, 1)
    }

    assert text_of(cases, summaries, rounds=9).splitlines()[-3:] == [
        f"| {PARSE} | 1.10 | 1.00 | 0.02 | 1.00 |  | 50 |  |",
        f"| {SAVED} | 2.20 | 2.00 | 0.02 | 2.00 | 1.2 x | 100 |  |",
        "| many | 3.30 | 3.00 | 0.02 | 3.00 | 12 s | 150 | 300 |",
    ]
