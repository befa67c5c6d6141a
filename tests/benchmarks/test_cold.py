from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from benchmarks.chart import bars
from benchmarks.cold import faults, text_of
from benchmarks.container import ColdStart, Container, ContainerFailed, Function
from benchmarks.functions.cases import ASKING, FLOOR, HELLO, Made
from benchmarks.starts import Measured, measure, zip_bytes

EVENT = b'{"body": "hello"}'


def function(folder: Path, name: str, code: str, *, expects: str = "result") -> Function:
    (folder / f"{name}.py").write_text(code, encoding="utf-8")
    return Function(
        name=name, python=Path(sys.executable), folder=folder, handler=f"{name}.handler", event=EVENT, expects=expects
    )


def test_container_answers_events_under_the_runtimes_own_client(tmp_path: Path) -> None:
    echo = function(tmp_path, "echo", "def handler(event, _):\n    return {'result': event['body']}\n", expects="hello")
    with Container(echo) as container:
        start = container.start()
        took_s = container.call()

    assert 0 < start.init_ms < start.total_ms
    assert start.cpu_ms > 0
    assert start.peak_bytes > 5_000_000
    assert took_s > 0


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def handler(event, _):\n    return 'another'\n", "another"),
        ("def handler(event, _):\n    raise ValueError('broken')\n", "broken"),
        ("raise ValueError('no init')\n", "no init"),
    ],
)
def test_function_that_does_not_answer_as_it_should_is_no_measurement(tmp_path: Path, code: str, said: str) -> None:
    with Container(function(tmp_path, "wrong", code)) as container, pytest.raises(ContainerFailed, match=said):
        container.start()


def test_every_function_is_started_in_each_round_and_the_first_is_thrown_away(tmp_path: Path) -> None:
    made = [function(tmp_path, name, "def handler(event, _):\n    return 'result'\n") for name in "ab"]
    rounds: list[int] = []

    measured = measure(made, rounds=1, on_round=rounds.append)

    assert rounds == [0, 1]
    assert {name: (len(one.starts), len(one.warm_us)) for name, one in measured.items()} == {"a": (1, 1), "b": (1, 1)}


def some(total_ms: float, *, warm_us: float = 10, peak_bytes: int = 100) -> Measured:
    start = ColdStart(init_ms=1, total_ms=total_ms, cpu_ms=total_ms / 2, peak_bytes=peak_bytes)
    return Measured(starts=[start], warm_us=[warm_us])


LEAST = {FLOOR: some(10), ASKING: some(15, warm_us=60), HELLO: some(30, warm_us=60)}
"""A call that asks an API takes 100 µs over the floor at least."""


def judged(mine: Measured, *, size: int = 1, slack: float = 1.0, processor: bool = False) -> list[str]:
    floor, ours = (Function(name=name, python=Path(), folder=Path(), handler="", event=b"") for name in (FLOOR, "ours"))
    made = [Made(function=floor), Made(function=ours, cold=4.0, cold_cpu=4.2, warm=2.9, memory=2.8)]
    return faults(made, {**LEAST, "ours": mine}, size, slack=slack, processor=processor)


def test_nothing_is_said_of_what_is_under_its_gates() -> None:
    assert judged(some(40, warm_us=300, peak_bytes=280)) == []


def test_each_gate_that_is_passed_is_named() -> None:
    assert judged(some(41, warm_us=310, peak_bytes=290), size=3_300_001) == [
        "ours: cold start 4.10x, the gate is 4.00",
        "ours: peak memory 2.90x, the gate is 2.80",
        "ours: warm call 3.00x of the least, the gate is 2.90",
        "the zip has 3300001 bytes, the gate is 3300000",
    ]


def test_processor_time_has_a_gate_of_its_own_which_alone_counts_on_a_machine_that_others_use() -> None:
    passed = "ours: processor time of a cold start 4.30x, the gate is 4.20"

    assert judged(some(43)) == ["ours: cold start 4.30x, the gate is 4.00", passed]
    assert judged(some(43), processor=True) == [passed]


def test_slack_widens_the_gates_but_that_of_the_size() -> None:
    assert judged(some(49, warm_us=370), slack=1.25) == []
    assert len(judged(some(51), slack=1.25, size=3_300_001)) == 2


def test_page_has_a_row_for_each_function_with_its_ratios_gates_and_goal() -> None:
    names = (FLOOR, "ours")
    made = [
        Made(
            function=Function(name=name, python=Path(), folder=Path(), handler="", event=b""),
            cold=4.0,
            cold_cpu=3.9,
            goal=3.6,
            warm=2.9,
        )
        for name in names
    ]
    text = text_of(made, {**LEAST, "ours": some(35, warm_us=310)}, 2_950_000, rounds=9, python=Path(sys.executable))

    assert "| ours | 35 | 3.5 | 4.0 | 3.5 | 3.9 | 3.6 | 0.0 | 1.0 | 300 | 3.0 | 2.9 |" in text
    assert "The zip that is deployed has 2.95 MB (gate 3.3)." in text


def test_size_is_that_of_a_zip_with_all_files(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "module.py").write_text("x = 1\n" * 1000, encoding="utf-8")
    with zipfile.ZipFile(tmp_path.parent / "same.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(tmp_path.rglob("*")):
            archive.write(path, path.relative_to(tmp_path))

    assert zip_bytes(tmp_path) == (tmp_path.parent / "same.zip").stat().st_size


def test_chart_is_xml_with_a_bar_for_each_value() -> None:
    root = ET.fromstring(bars("<times>", {"a & b": 1.0, "c": 4.0}))
    name = "{http://www.w3.org/2000/svg}"

    assert [float(bar.get("width", 0)) for bar in root.iter(f"{name}rect")] == [105.0, 420.0]
    assert [text.text for text in root.iter(f"{name}text")] == ["<times>", "a & b", "1.0", "c", "4.0"]


def test_events_of_benchmarks_are_readable() -> None:
    from benchmarks.endpoints import event_for

    body = json.loads(event_for("many/e1", "tools/call")["body"])
    assert (body["method"], body["params"]["name"]) == ("tools/call", "thing-0")
