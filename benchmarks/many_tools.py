"""Many tools whose arguments share their input types: the stored bundle, its compiler, and cold starts with it.

    python -m benchmarks.many_tools --artifact FOLDER --python PYTHON --rounds 5

FOLDER is what ``make artifact`` made for this machine; PYTHON is one of the runtime's version that has AWS's runtime
client. Ends with 1 if something is above its gate. ``--write`` writes ``benchmarks/results/many-tools.md``.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.container import ColdStart, Container, Function
from benchmarks.functions.cases import ANSWERED, HANDLER, event_of
from benchmarks.report import MB, machine, show_round, write_page
from benchmarks.runner import Sample, run_once
from benchmarks.upstream import answering_upstream
from handler.bundle.stored import bundle_key

K = TypeVar("K")

TYPES, FIELDS, REFERENCES = 80, 15, 5
"""Input types, the fields of each, and how many of these are of other input types."""

TOOLS = (42, 600)

BUNDLE_GATE_BYTES, CPU_GATE_MS, PEAK_GATE_BYTES = 4_000_000, 1_500, 120_000_000
"""Of a bundle, and of a cold start until the answer."""

CALL = "prescribed call"
CALLS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "tools/list": ("tools/list", {}),
    CALL: ("tools/call", {"name": "rows-3", "arguments": {"filter": {"part2": {"value6": "octocat"}}}}),
}

COMPILE = "import sys; from benchmarks.many_tools import publish; publish(int(sys.argv[1]), sys.argv[2], sys.argv[3])"


def name_of(tools: int) -> str:
    """The endpoint with so many tools."""
    return f"many/t{tools}"


def files(tools: int, url: str) -> dict[str, str]:
    """An endpoint with input types that refer to each other, and so many operations with one filter each."""
    filters = "".join(_filter(number) for number in range(TYPES))
    fields = "".join(f"  rows{number}(filter: Filter{number}, first: Int = 20): [Row!]!\n" for number in range(TYPES))
    row = "type Row { id: ID! name: String total: Float owner: Row tags: [String!]! }\n"
    return {
        "index.graphql": f"enum Order {{ ASC DESC }}\n{filters}type Query {{\n{fields}}}\n{row}",
        "operations/rows.graphql": "".join(map(_operation, range(tools))),
        "config.yaml": f"upstream: {{url: {json.dumps(url)}}}\n"
        "access: {anonymous: allow, policies: [{type: Query, policyDefault: {condition: true}}]}\n",
    }


def _filter(number: int) -> str:
    lines = "".join(f'  "{text}"\n  {field}\n' for text, field in (_field(number, place) for place in range(FIELDS)))
    return f'"Conditions on records of kind {number}."\ninput Filter{number} {{\n{lines}}}\n'


def _field(number: int, place: int) -> tuple[str, str]:
    if place < REFERENCES:
        other = f"Filter{(number * 7 + place * 13 + 1) % TYPES}"
        return (
            f"Narrows the records by part {place} of {number}.",
            f"part{place}: {f'[{other}!]' if place < 2 else other}",
        )
    type_ = ("Int", "String", "[ID!]", "Boolean", "Order")[place % 5]
    return f"Compares value {place} of record {number} with the one that is given here.", f"value{place}: {type_}"


def _operation(number: int) -> str:
    return (
        f"query Rows{number}($filter: Filter{number % TYPES}, $first: Int = 20) "
        f'@mcpTool(name: "rows-{number}", description: "List records, way {number}.") {{\n'
        f"  rows{number % TYPES}(filter: $filter, first: $first) "
        "{ id name total owner { id name owner { id } } tags }\n}\n"
    )


def publish(tools: int, url: str, work: str) -> None:
    """Compile the endpoint, and store its bundle."""
    from handler.compiler.compile import compile_endpoint
    from handler.storage.local import FolderStorage

    folder = Path(work) / name_of(tools)
    for name, text in files(tools, url).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    storage = FolderStorage(Path(work) / "bundles")
    for key, content in compile_endpoint(folder).objects():
        storage.write(key, content)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One measured endpoint: its bundle, the process that compiles it, and cold starts by what is asked."""

    tools: int
    bundle_bytes: int
    compiled: Sample
    starts: Mapping[str, Sequence[ColdStart]]

    def cpu_ms(self, call: str) -> float:
        return statistics.median(each.cpu_ms for each in self.starts[call])

    def peak_bytes(self, call: str) -> float:
        return statistics.median(each.peak_bytes for each in self.starts[call])

    def faults(self) -> list[str]:
        """What is above its gate, in sentences."""
        found = [("bytes of the bundle", float(self.bundle_bytes), BUNDLE_GATE_BYTES)]
        for call in self.starts:
            found.append((f"ms of processor time of a cold {call}", self.cpu_ms(call), CPU_GATE_MS))
            found.append((f"bytes at the peak of a cold {call}", self.peak_bytes(call), PEAK_GATE_BYTES))
        return [
            f"{self.tools} tools: {value:,.0f} {what}, {gate:,} at most" for what, value, gate in found if value > gate
        ]


def rows(builds: tuple[Path, Path], url: str, work: str, *, rounds: int) -> list[Row]:
    """Compile both endpoints once, each in a process of its own, and start the function cold in alternating rounds."""
    artifact, python = builds
    environ = {"STILE_ALLOW_LOCAL_UPSTREAMS": "true", "STILE_BUNDLES": f"{work}/bundles"}
    functions = {
        (tools, call): Function(
            name=f"{call}, {tools} tools",
            python=python,
            folder=artifact,
            handler=HANDLER,
            event=event_of(name_of(tools), *asked),
            expects=ANSWERED if call == CALL else "rows-3",
            environ=environ,
        )
        for tools in TOOLS
        for call, asked in CALLS.items()
    }
    made = {tools: run_once((sys.executable, "-c", COMPILE, str(tools), url, work)) for tools in TOOLS}
    starts = cold_starts(functions, rounds=rounds)
    return [
        Row(
            tools=tools,
            bundle_bytes=(Path(work) / "bundles" / bundle_key(name_of(tools))).stat().st_size,
            compiled=made[tools],
            starts={call: starts[tools, call] for call in CALLS},
        )
        for tools in TOOLS
    ]


def cold_starts(functions: Mapping[K, Function], *, rounds: int) -> dict[K, list[ColdStart]]:
    """Start every function once a round, every other round in reverse; one round before them is thrown away."""
    starts: dict[K, list[ColdStart]] = {key: [] for key in functions}
    for number in range(rounds + 1):
        show_round(number, rounds)
        for key in functions if number % 2 == 0 else reversed([*functions]):
            with Container(functions[key]) as container:
                start = container.start()
                if number:
                    starts[key].append(start)
    return starts


def text_of(found: Sequence[Row], *, rounds: int, python: Path) -> str:
    """The page."""
    lines = "".join(_line(row, call) for row in found for call in row.starts)
    return (
        "# Tools that share their input types\n\n"
        f"`make many-tools ROUNDS={rounds}`: {TYPES} input types of {FIELDS} fields refer to each other, and the\n"
        "filter of each tool reaches all of them. The bundle is compiled once; the function starts in alternating\n"
        "rounds, with its bundles in a folder. The medians are of CPU time and peak memory until the answer.\n"
        f"{machine(('mangum', 'starlette', 'graphql-core'), python=python)}\n\n"
        "| tools | bundle, KB | compiler, CPU s | peak MB | cold | CPU, ms | peak MB |\n"
        "| ---: | ---: | ---: | ---: | --- | ---: | ---: |\n"
        f"{lines}\n"
        f"The gates: {BUNDLE_GATE_BYTES / MB:.0f} MB for a bundle; {CPU_GATE_MS:,} ms and "
        f"{PEAK_GATE_BYTES / MB:.0f} MB for a cold start.\n"
    )


def _line(row: Row, call: str) -> str:
    cells = (
        f"{row.tools}",
        f"{row.bundle_bytes / 1_000:.0f}",
        f"{row.compiled.cpu_ms / 1e3:.1f}",
        f"{row.compiled.peak_bytes / MB:.0f}",
        call,
        f"{row.cpu_ms(call):.0f}",
        f"{row.peak_bytes(call) / MB:.1f}",
    )
    return f"| {' | '.join(cells)} |\n"


def main() -> int:
    """Measure, and judge. 1: something is above its gate."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.many_tools")
    parser.add_argument("--artifact", type=Path, required=True)
    parser.add_argument("--python", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    builds = given.artifact.resolve(), given.python.absolute()
    with tempfile.TemporaryDirectory() as work, answering_upstream() as url:
        found = rows(builds, url, work, rounds=given.rounds)
    text = text_of(found, rounds=given.rounds, python=given.python)
    if given.write:
        write_page("many-tools", text)
    else:
        sys.stdout.write(text)
    faults = [fault for row in found for fault in row.faults()]
    sys.stdout.writelines(f"above its gate: {fault}\n" for fault in faults)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
