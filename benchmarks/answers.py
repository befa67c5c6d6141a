"""The cost of cutting answers: memory beside reading and writing the same bytes, and time beside encoding them.

python -m benchmarks.answers
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.report import machine, write_page
from handler.answers.fit import CallForm, ResultLimit, fit
from handler.answers.plan import Member, Members
from handler.json_schema.json_bounds import MAX_RESULT_BYTES
from handler.strict_json import parse_json, to_well_formed_json

MOST_MEMORY = 1.3
MOST_TIME = 2.0

ROW = Members(fields={"note": Member(string=True), "tags": Member(depth=1)})
PLAN = Members(fields={"rows": Member(depth=1, below=ROW), "text": Member(string=True)})


def _rows(size: int) -> Any:
    row = {
        "id": "gid://shop/Order/1234567",
        "note": "Wrapped, with a card: “Zoë”",
        "total": 12.5,
        "tags": ["new", "eu"],
    }
    return {"data": {"rows": [row] * (size // len(to_well_formed_json(row)))}}


def _deep() -> tuple[Any, Members]:
    value, members = _rows(200_000)["data"], PLAN
    for _ in range(58):
        value, members = {"in": value}, Members(fields={"in": Member(below=members)})
    return {"data": value}, members


SHAPES: Mapping[str, Callable[[], tuple[Any, Members]]] = {
    "rows, 5 KB": lambda: (_rows(5_000), PLAN),
    "rows, 50 KB": lambda: (_rows(50_000), PLAN),
    "rows, 500 KB": lambda: (_rows(500_000), PLAN),
    "rows, 5 MB": lambda: (_rows(5_000_000), PLAN),
    "rows, 20 MB": lambda: (_rows(20_000_000), PLAN),
    "one string, 5 MB": lambda: ({"data": {"text": "plain words of a text, " * 220_000}}, PLAN),
    "100,000 empty objects": lambda: ({"data": {"rows": [{}] * 100_000}}, PLAN),
    "60 levels, 200 KB": _deep,
}


def main() -> int:
    """Measure, and write ``benchmarks/results/answers.md``."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.answers")
    parser.add_argument("--rounds", type=int, default=9, metavar="N")
    parser.add_argument("--one", nargs=2, metavar=("SHAPE", "WAY"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        return _one(*options.one)
    rows, over = [], False
    for shape in SHAPES:
        rounds = [[_measured(shape, way) for way in ("json", "cut")] for _ in range(options.rounds)]
        memory = median(cut["peak"] / plain["peak"] for plain, cut in rounds)
        encoding = median(plain["encode_s"] for plain, _ in rounds)
        cutting = median(cut["cut_s"] for _, cut in rounds)
        over = over or memory > MOST_MEMORY or cutting > MOST_TIME * encoding
        size = rounds[0][0]["bytes"]
        rows.append(
            f"| {shape} | {size:,} | {memory:.2f} | {encoding * 1e3:.2f} | {cutting * 1e3:.2f} | "
            f"{cutting / encoding:.2f} |\n"
        )
    write_page("answers", _page(rows, options.rounds))
    return 1 if over else 0


def _page(rows: list[str], rounds: int) -> str:
    return (
        "# The cost of cutting answers\n\n"
        f"`python -m benchmarks.answers --rounds {rounds}`, medians of {rounds} rounds; the limit is\n"
        f"{MAX_RESULT_BYTES:,} bytes.\n\n"
        "Memory is the peak of a process that reads the answer's JSON, writes it and cuts it, as a multiple of one\n"
        f"that reads and writes it ({MOST_MEMORY} at most). Time is processor time of a warm cut, the encoded result\n"
        f"included, as a multiple of encoding the whole answer once ({MOST_TIME:g} at most). {machine(())}\n\n"
        "| answer | bytes | memory | encoding, ms | cutting, ms | time |\n| --- | --- | --- | --- | --- | --- |\n"
        + "".join(rows)
    )


def _measured(shape: str, way: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.answers", "--one", shape, way]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return found


def _one(shape: str, way: str) -> int:
    value, members = SHAPES[shape]()
    raw = to_well_formed_json(value)
    del value
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak begins here
    value = parse_json(raw)
    encode_s = _least_s(lambda: to_well_formed_json(value))
    cut_s = 0.0
    if way == "cut" and len(raw) > MAX_RESULT_BYTES:
        limit = ResultLimit(max_bytes=MAX_RESULT_BYTES, form=CallForm(variables={}), size=len(raw))
        cut_s = _least_s(lambda: fit(value, members, limit))
    status = Path("/proc/self/status").read_text(encoding="ascii")
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    sys.stdout.write(json.dumps({"bytes": len(raw), "encode_s": encode_s, "cut_s": cut_s, "peak": peak}))
    return 0


def _least_s(run: Callable[[], object]) -> float:
    """Return the least processor time of some runs, as a warm function has it."""
    found = []
    for _ in range(5):
        started = time.process_time()
        run()
        found.append(time.process_time() - started)
    return min(found)


if __name__ == "__main__":
    sys.exit(main())
