from __future__ import annotations

import sys
from collections.abc import Sequence

import pytest

from benchmarks.runner import BenchmarkFailed, Case, Sample, measure, run_once, summarize


def sample(wall_ms: float, peak_bytes: int = 1) -> Sample:
    return Sample(wall_ms=wall_ms, peak_bytes=peak_bytes)


def test_summary_is_of_medians_which_one_slow_run_does_not_move() -> None:
    summary = summarize([sample(10, 100), sample(12, 120), sample(11, 110), sample(13, 105), sample(900, 115)])

    assert (summary.wall_ms, summary.deviation_ms, summary.peak_bytes) == (12, 1, 110)


def test_rounds_alternate_and_the_first_one_is_thrown_away() -> None:
    ran: list[str] = []
    rounds: list[int] = []

    def run(command: Sequence[str]) -> Sample:
        ran.append(command[0])
        return sample(1_000 if len(ran) <= 2 else len(ran))

    summaries = measure(
        [Case(name="a", command=("a",)), Case(name="b", command=("b",))], rounds=3, run=run, on_round=rounds.append
    )

    assert "".join(ran) == "abbaabba"
    assert rounds == [0, 1, 2, 3]
    assert summaries["a"].wall_ms == 5  # of 4, 5 and 8
    assert summaries["b"].wall_ms == 6  # of 3, 6 and 7


def test_peak_is_that_of_the_command_and_not_of_who_starts_it() -> None:
    held = bytearray(200_000_000)
    held[::4096] = b"x" * len(held[::4096])

    nothing = run_once([sys.executable, "-c", "pass"])
    much = run_once([sys.executable, "-c", "x = bytearray(90_000_000); x[::4096] = b'x' * len(x[::4096])"])

    assert nothing.peak_bytes < 50_000_000
    assert much.peak_bytes > nothing.peak_bytes + 80_000_000
    assert len(held) == 200_000_000


def test_time_is_that_of_the_whole_process() -> None:
    assert run_once([sys.executable, "-c", "import time; time.sleep(0.2)"]).wall_ms >= 200


def test_command_that_fails_is_not_measured() -> None:
    with pytest.raises(BenchmarkFailed, match=r"ended with 3: no such thing$") as caught:
        run_once([sys.executable, "-c", "import sys; print('no such thing', file=sys.stderr); sys.exit(3)"])

    assert caught.value.code == 3
