"""The benchmark of metrics measures calls that are answered, and lines that have metrics or have none."""

from __future__ import annotations

import re
import subprocess
import sys

from tests.conftest import ROOT


def test_benchmark_tells_the_time_of_a_call_and_the_bytes_of_its_line() -> None:
    command = [sys.executable, "-m", "benchmarks.numbers", "--calls", "5"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    call, pairs, line = done.stdout.splitlines()
    assert re.fullmatch(r"a call: \d+ µs without metrics, \d+ with \([\d.]+ x\)", call)
    assert re.fullmatch(r"pair by pair: [+-][\d.]+ µs, the gate is 30", pairs)
    without, told = map(int, re.findall(r"\d+", line))
    assert 300 < without < told < 2 * without + 100
    assert done.returncode in (0, 1)  # by the time, which a busy machine decides
