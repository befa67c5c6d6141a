"""Starts and restores as ``make bench-restored`` measures them, of a function that is there at once."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from benchmarks.container import Function
from benchmarks.functions.cases import FLOOR, LIST, ROOT, event_of
from benchmarks.restored import CORES, RESTORE, RESTORE_CPU, START, START_CPU, measured_once, on_cores, text_of


def test_processes_run_on_as_many_cores_as_are_asked_for() -> None:
    before = os.sched_getaffinity(0)
    with on_cores(1):
        assert len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == before


def test_function_is_started_and_restored_under_awss_client() -> None:
    functions = ROOT / "benchmarks" / "functions"
    event = event_of("api/customers", *LIST)
    made = Function(
        name=FLOOR,
        python=Path(sys.executable),
        folder=functions,
        handler="floor.handler",
        event=event,
        expects="statusCode",
    )
    taken = measured_once(made, 1)

    assert set(taken) == {START, START_CPU, RESTORE, RESTORE_CPU}
    assert taken[RESTORE_CPU] < taken[START_CPU]


def test_row_has_the_medians_and_the_share_of_a_start() -> None:
    taken = {
        (FLOOR, what, cores): [ms, ms * 3, ms * 2]
        for what, ms in ((START, 100.0), (START_CPU, 50.0), (RESTORE, 10.0), (RESTORE_CPU, 5.0))
        for cores in CORES
    }
    rows = text_of(taken, [FLOOR], rounds=3, python=Path(sys.executable)).splitlines()[-2:]

    assert rows == [f"| {FLOOR} | {cores} | 200 | 100 | 20 | 10 | 0.10 |" for cores in CORES]
