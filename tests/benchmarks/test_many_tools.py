"""The endpoint whose tools share their input types: what its bundle holds, and the page of results."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.container import ColdStart
from benchmarks.many_tools import (
    BUNDLE_GATE_BYTES,
    CALL,
    CALLS,
    CPU_GATE_MS,
    PEAK_GATE_BYTES,
    TOOLS,
    Row,
    name_of,
    publish,
    text_of,
)
from benchmarks.report import RESULTS
from benchmarks.runner import Sample
from benchmarks.upstream import BODY
from handler.bundle.model import Bundle
from handler.bundle.stored import bundle_key, read_bundle, write_bundle
from handler.bundle.tools import PrescribedTool
from handler.server.endpoints.endpoint import Endpoint
from handler.storage.local import FolderStorage, MemoryStorage
from handler.strict_json import to_json_bytes
from tests.support.function import running_function

FEW = min(TOOLS)


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many")
    publish(FEW, "http://127.0.0.1:9/graphql", str(folder))
    return folder


@pytest.fixture(scope="module")
def raw(work: Path) -> bytes:
    return (work / "bundles" / bundle_key(name_of(FEW))).read_bytes()


def prescribed(bundle: Bundle) -> list[PrescribedTool]:
    return [tool for tool in bundle.tools if isinstance(tool, PrescribedTool)]


def test_bundle_has_each_definition_once(raw: bytes) -> None:
    tools = prescribed(read_bundle(raw, endpoint=name_of(FEW)))

    assert len(tools) == FEW
    assert len({id(tool.arguments["$defs"]) for tool in tools}) == 1
    assert len(to_json_bytes(tools[0].arguments)) > 20_000
    assert len(raw) < BUNDLE_GATE_BYTES / 10
    assert raw.count(b"Compares value 7 of record 3 with") <= 2


def test_misfits_of_tools_with_the_same_definitions_are_told_apart(work: Path) -> None:
    wrong = {"filter": {"part2": {"value6": 1, "valeu7": "x"}}}

    with running_function(storage=FolderStorage(work / "bundles")) as function:
        for number in (3, 4):
            text = replace(function, path=f"/{name_of(FEW)}/mcp").call(f"rows-{number}", wrong).text
            assert "/filter/part2/value6: expected string or null, got integer 1" in text
            assert "/filter/part2/valeu7: unknown name; did you mean value7?" in text
            assert f"rows-{number}" in text


def test_lists_and_calls_change_nothing_of_the_bundle(raw: bytes) -> None:
    bundle = read_bundle(raw, endpoint=name_of(FEW))
    endpoint = Endpoint(bundle, MemoryStorage())
    call = CALLS[CALL][1]["arguments"]

    for tool in bundle.tools:
        assert endpoint.entry(tool, endpoint.everybody)
        assert endpoint.validator(tool, endpoint.everybody).read(call if tool.name == "rows-3" else {}) is not None
        assert endpoint.misfit(tool, {"data": {}}) is not None
        assert (endpoint.misfit(tool, json.loads(BODY)) is None) == (tool.name == "rows-3")

    assert write_bundle(bundle) == raw
    assert bundle == read_bundle(raw, endpoint=name_of(FEW))


def test_value_above_its_gate_is_a_fault() -> None:
    start = ColdStart(init_ms=1, total_ms=1, cpu_ms=CPU_GATE_MS + 1, peak_bytes=PEAK_GATE_BYTES + 1)
    row = Row(
        tools=42,
        bundle_bytes=BUNDLE_GATE_BYTES + 1,
        compiled=Sample(wall_ms=1, cpu_ms=1_000, peak_bytes=1),
        starts={CALL: [start]},
    )

    assert row.faults() == [
        "42 tools: 4,000,001 bytes of the bundle, 4,000,000 at most",
        "42 tools: 1,501 ms of processor time of a cold prescribed call, 1,500 at most",
        "42 tools: 120,000,001 bytes at the peak of a cold prescribed call, 120,000,000 at most",
    ]
    assert f"| 42 | 4000 | 1.0 | 0 | {CALL} | 1501 | 120.0 |\n" in text_of([row], rounds=1, python=Path(sys.executable))


def test_results_are_of_these_cases() -> None:
    lines = (RESULTS / "many-tools.md").read_text(encoding="utf-8").splitlines()

    for tools in TOOLS:
        for call in CALLS:
            assert [line for line in lines if line.startswith(f"| {tools} | ") and f" | {call} | " in line], (
                tools,
                call,
            )
