from __future__ import annotations

import sys
from pathlib import Path

import pytest
from graphql import FieldNode, Visitor, parse, visit

from benchmarks.report import RESULTS
from benchmarks.requests import CALLED, LISTED, QUERY, TOOL, publish, warm, write_request
from benchmarks.runner import BenchmarkFailed, run_once
from benchmarks.upstream import answering_upstream

SDL = "type Query { viewer: User } type User { login: String }"


def test_query_has_about_thirty_fields() -> None:
    class Fields(Visitor):
        count = 0

        def enter_field(self, _node: FieldNode, *_: object) -> None:
            self.count += 1

    fields = Fields()
    visit(parse(QUERY), fields)
    assert 30 <= fields.count <= 40


def test_process_that_is_measured_gets_a_result_or_fails(tmp_path: Path) -> None:
    (tmp_path / "sdl.graphql").write_text(SDL, encoding="utf-8")
    with answering_upstream() as url:
        bundles = publish(tmp_path / "sdl.graphql", url, tmp_path)
        arguments = {"name": TOOL, "arguments": {"query": "{ viewer { login } }"}}
        request = write_request(tmp_path / "call.json", "tools/call", arguments, upstream=url)
        command = (sys.executable, "-m", "benchmarks.call", str(bundles), str(request))

        assert run_once(command).wall_ms > 0
        assert set(warm(command)) == {"same_ms", "other_ms", "upstream_ms"}
        request.write_text(request.read_text("utf-8").replace("{ login }", "{ salary }"), "utf-8")
        with pytest.raises(BenchmarkFailed, match="Cannot query field 'salary'"):
            run_once(command)


def test_results_are_of_these_cases() -> None:
    results = (RESULTS / "requests.md").read_text(encoding="utf-8")

    assert f"| {LISTED} | " in results
    assert f"| {CALLED} | " in results
    assert "that call again" in results.lower()
