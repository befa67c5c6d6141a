from __future__ import annotations

import sys
from functools import partial

import pytest

from benchmarks.runner import BenchmarkFailed, Case, Sample, measure, run_once, summarize


def sample(cpu_ms: float, peak_bytes: int = 1) -> Sample:
    return Sample(wall_ms=2 * cpu_ms, cpu_ms=cpu_ms, peak_bytes=peak_bytes)


def test_summary_is_of_medians_which_one_slow_run_does_not_move() -> None:
    summary = summarize([sample(10, 100), sample(12, 120), sample(11, 110), sample(13, 105), sample(900, 115)])

    assert (summary.wall_ms, summary.cpu_ms, summary.deviation_ms, summary.peak_bytes) == (24, 12, 1, 110)


def test_rounds_alternate_and_the_first_one_is_thrown_away() -> None:
    ran: list[str] = []
    rounds: list[int] = []

    def run(name: str) -> Sample:
        ran.append(name)
        return sample(1_000 if len(ran) <= 2 else len(ran))

    summaries = measure([Case(name=name, run=partial(run, name)) for name in "ab"], rounds=3, on_round=rounds.append)

    assert "".join(ran) == "abbaabba"
    assert rounds == [0, 1, 2, 3]
    assert summaries["a"].cpu_ms == 5  # of 4, 5 and 8
    assert summaries["b"].cpu_ms == 6  # of 3, 6 and 7


def test_peak_is_that_of_the_command_and_not_of_who_starts_it() -> None:
    held = bytearray(200_000_000)
    held[::4096] = b"x" * len(held[::4096])

    nothing = run_once([sys.executable, "-c", "pass"])
    much = run_once([sys.executable, "-c", "x = bytearray(90_000_000); x[::4096] = b'x' * len(x[::4096])"])

    assert nothing.peak_bytes < 50_000_000
    assert much.peak_bytes > nothing.peak_bytes + 80_000_000
    assert len(held) == 200_000_000


def test_time_is_that_of_the_whole_process() -> None:
    slept = run_once([sys.executable, "-c", "import time; time.sleep(0.5)"])

    assert slept.wall_ms >= 500
    assert 0 < slept.cpu_ms <= slept.wall_ms - 300


def test_command_that_fails_is_not_measured() -> None:
    with pytest.raises(BenchmarkFailed, match=r"ended with 3: no such thing$") as caught:
        run_once([sys.executable, "-c", "import sys; print('no such thing', file=sys.stderr); sys.exit(3)"])

    assert caught.value.code == 3
