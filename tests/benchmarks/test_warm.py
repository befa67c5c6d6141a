from __future__ import annotations

from pathlib import Path

from benchmarks.endpoints import publish, warm_rows
from benchmarks.functions.cases import sized_endpoint
from benchmarks.upstream import answering_upstream
from benchmarks.warm import ALL, ONE, UNCOLLECTED, Calls, warm_calls
from tests.support.objects import running_objects


def test_each_function_answers_as_often_as_the_others(tmp_path: Path) -> None:
    names = ["many/e0", "many/e1"]
    with answering_upstream() as url, running_objects() as objects:
        made = sized_endpoint(tmp_path, url, 1)
        for name in names:
            publish(objects, made, name)
        warm = warm_calls(objects, names, cache_mb=64, calls=3)

    assert {name: (len(calls.clock_us), len(calls.cpu_us)) for name, calls in warm.items()} == {
        ONE: (3, 3),
        ALL: (3, 3),
        UNCOLLECTED: (3, 3),
    }
    assert all(us > 0 for calls in warm.values() for us in calls.clock_us)


def test_page_has_the_median_and_the_99th_percentile_of_each() -> None:
    calls = Calls(clock_us=[100.0] * 200 + [5000.0] * 3, cpu_us=[50.0] * 203)

    assert warm_rows({ALL: calls}).splitlines()[2:] == [f"| {ALL} | 100 | 5000 | 50 | 50 |"]
