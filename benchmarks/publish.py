"""A publish of many endpoints of which none has changed: seconds, and requests to S3.

python -m benchmarks.publish --endpoints 1000
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks.report import machine, write_page
from tests.life.between import running_between
from tests.life.publishers import write_edition
from tests.support.moto import running_moto

MAX_S, GOAL_S = 20 / 1_000, 12 / 5_000
"""Of an unchanged publish, for each endpoint: the gate by the clock, and the goal of processor time."""

MORE_REQUESTS = 0.1
"""What an unchanged publish may ask S3 for each endpoint, beside ten requests: a list has 1,000 objects."""


def publish(folder: Path, location: str, environ: dict[str, str]) -> tuple[float, float]:
    """Publish in a process of its own, and return its seconds by the clock and of the processor."""
    command = [sys.executable, "-m", "handler", "publish", str(folder), location]
    started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    # In CI, no record of an unchanged endpoint is read.
    subprocess.run(command, env={**os.environ, **environ, "CI": ""}, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - started, cpu_s


def main() -> int:
    """Measure, and write ``benchmarks/results/publish.md``. 1: more seconds or requests than there may be."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.publish")
    parser.add_argument("--endpoints", type=int, default=1000, metavar="N")
    parser.add_argument("--slack", type=float, default=1, help="for a machine that others use: a gate that much wider")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    names = [f"many/e{number}" for number in range(given.endpoints)]
    with tempfile.TemporaryDirectory() as work, running_moto() as moto, running_between(moto.url) as between:
        moto.add_bucket("many")
        folder, location = Path(work), "s3://many/endpoints"
        write_edition(folder, names, "edition")
        first_s, _ = publish(folder, location, moto.environ())
        unchanged_s, unchanged_cpu_s = publish(folder, location, moto.environ())
        publish(folder, location, {**moto.environ(), "AWS_ENDPOINT_URL": between.url})
        requests = Counter(each.method for each in between.passed)
    asked = sum(requests.values())
    rows = (
        f"| first publish, s | {first_s:.1f} | |\n| publish of the same again, s | {unchanged_s:.1f} | |\n"
        f"| of these, its own processor time, s | {unchanged_cpu_s:.1f} | {GOAL_S * len(names):.1f} |\n"
        f"| requests to S3 of the second one | {asked} | |\n| of these, HEAD | {requests['HEAD']} | |\n"
    )
    text = (
        f"# Publish of {len(names)} endpoints\n\n`make endpoints`: the command in a process of its own, a bucket of "
        "moto on loopback, and endpoints of one tool\nand two fields. The goal is 12 s of processor time for 5,000 "
        f"endpoints.\n{machine(('boto3', 'moto'))}\n\n"
        f"| what | | goal |\n| --- | ---: | ---: |\n{rows}"
    )
    if given.write:
        write_page("publish", text)
    else:
        sys.stdout.write(text)
    return int(unchanged_s > MAX_S * len(names) * given.slack or asked > 10 + MORE_REQUESTS * len(names))


if __name__ == "__main__":
    sys.exit(main())
