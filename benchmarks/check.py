"""The costs of `stile check`, `stile publish` and `stile dev`: with GitHub's schema, 3,000 types, and 895 operations.

python -m benchmarks.check --rounds 9
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from benchmarks.container import PEAK, memory_bytes, process_cpu_ms
from benchmarks.report import MB, machine, show_round, write_page
from benchmarks.runner import ROOT, Case, Sample, Summary, environment, measure, run_once
from tests.corpora.attempts import attempt, copy_without
from tests.corpora.downloads import FetchError
from tests.corpora.fetch import CONFIG, fetch

PARSE = "GitHub's schema parsed by graphql-core alone"
SAVED = "`stile check` of GitHub's schema, an operation saved"

GATE = 2.2
"""Of a check with a schema that was read before, to parsing the schema with graphql-core, by processor time."""

TYPES, ROOTS, OPERATIONS = 3_000, 100, 895
LONG_ROUNDS = 3
"""The most rounds of cases that take many seconds."""

SETTLED_S = 1.0
"""The time after which `stile dev` is done with what it does beside a save."""

STILE = (sys.executable, "-m", "handler")
FORGETFUL = ("/usr/bin/env", "CI=1", *STILE)
"""In CI nothing is kept, and nothing is read that was."""

PARSING = "import sys, pathlib, graphql; graphql.parse(pathlib.Path(sys.argv[1]).read_text(encoding='utf-8'))"

RECORD = """\
"Record {n} of the shop, as its owner may read it."
type Record{n} {{
  id: ID!
  "The name of record {n}."
  name: String
  tags: [String!]!
  total(currency: String = "EUR"): Int
  changedAt(zone: String): String!
  owner: Record{first}
  "The parts of record {n}."
  parts(first: Int = 20, after: String): [Record{second}!]!
  related: Record{third}
  isOpen: Boolean
  weight(unit: String): Float
  earlier(first: Int, before: String): [Record{third}!]
  later(first: Int, after: String): [Record{first}!]
  value(at: String, of: ID): Int
  note: String
}}
"""


def large_schema(types: int = TYPES) -> str:
    """A schema of so many types that refer to each other, with a hundred fields of ``Query``."""
    roots = "".join(f"  record{n}(id: ID!): Record{n}\n" for n in range(0, types, types // ROOTS))
    records = (
        RECORD.format(n=n, first=(2 * n + 1) % types, second=(2 * n + 2) % types, third=(7 * n + 3) % types)
        for n in range(types)
    )
    return f"type Query {{\n{roots}}}\ntype Mutation {{ touch(id: ID!): Record0 }}\n{''.join(records)}"


def github_cases(folder: Path, bundles: Path) -> list[Case]:
    """Commands on GitHub's schema and its operations. The last one stores all again each time."""
    parsing = (sys.executable, "-c", PARSING, str(folder / "index.graphql"))
    publishing = (*FORGETFUL, "publish", "--create", "--force", str(folder), str(bundles))
    return [
        Case(name=PARSE, run=partial(run_once, parsing)),
        Case(name="`stile check` of GitHub's schema, first", run=_first(folder), goal_times=2.4),
        Case(name="`stile check` of GitHub's schema, again", run=_again(folder), goal_times=1.2),
        Case(name=SAVED, run=partial(_saved, folder), goal_times=1.2),
        Case(name="`stile publish` of GitHub's schema to a folder, first", run=partial(run_once, publishing)),
    ]


def long_cases(large: Path, many: Path, saving: Saving) -> list[Case]:
    """Commands on many types, and on many operations. One of these changes before each run that is named so."""
    checked = f"`stile check` of {OPERATIONS} operations"
    return [
        Case(name=f"`stile check` of {TYPES:,} types, first", run=_first(large), goal_mb=250),
        Case(name=f"{checked}, first", run=_first(many), goal_s=12, goal_mb=300),
        Case(name=f"{checked}, again", run=_again(many), goal_s=1.5, goal_mb=300),
        Case(name=f"{checked}, one saved", run=partial(_saved, many), goal_s=1.5, goal_mb=300),
        Case(name=f"`stile dev` of {OPERATIONS} operations, one saved", run=saving.run, goal_s=0.8),
    ]


def _first(folder: Path) -> partial[Sample]:
    return partial(run_once, (*FORGETFUL, "check", str(folder)))


def _again(folder: Path) -> partial[Sample]:
    return partial(run_once, ("/usr/bin/env", "-u", "CI", *STILE, "check", str(folder)))


def _saved(folder: Path) -> Sample:
    _save(folder)
    return _again(folder)()


def _save(folder: Path) -> None:
    """Change the text of an operation."""
    file = min((folder / "operations").iterdir())
    file.write_text(file.read_text(encoding="utf-8").replace("{", f"{{ alias{time.time_ns()}: __typename", 1), "utf-8")


class Saving:
    """A process of `stile dev` that serves an endpoint."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self._process, self._folder = process, folder

    def wait(self, line: str) -> None:
        """Read what is printed, up to a line that matches."""
        assert self._process.stdout
        while not re.search(line, printed := self._process.stdout.readline()):
            if not printed:
                raise SystemExit("`stile dev` has ended")
        time.sleep(SETTLED_S)

    def run(self) -> Sample:
        """Save an operation, and wait until it is served."""
        pid = self._process.pid
        before_ms, started = process_cpu_ms(pid), time.perf_counter()
        _save(self._folder)
        self.wait(r": \d+ tools: ")
        wall_ms = (time.perf_counter() - started - SETTLED_S) * 1e3
        return Sample(wall_ms=wall_ms, cpu_ms=process_cpu_ms(pid) - before_ms, peak_bytes=memory_bytes(pid, PEAK))


@contextmanager
def developing(folder: Path) -> Iterator[Saving]:
    """`stile dev` with an endpoint, while this lasts."""
    with subprocess.Popen(
        [*STILE, "dev", str(folder), "--port", "0"],
        cwd=ROOT,
        env={**environment(), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            saving = Saving(process, folder)
            saving.wait("^Serving; ")
            yield saving
        finally:
            process.terminate()


def write_many(folder: Path) -> None:
    """Add operations to an endpoint folder, the same under other names, until there are as many as are measured."""
    files = sorted((folder / "operations").iterdir())
    for number in range(len(files), OPERATIONS):
        copy, file = divmod(number, len(files))
        text = files[file].read_text(encoding="utf-8")
        text = re.sub(r"^(query|mutation) (\w+)", rf"\1 \g<2>{copy}", text, flags=re.MULTILINE)
        (folder / "operations" / f"{files[file].stem}{copy}.graphql").write_text(text, encoding="utf-8")


def text_of(cases: Sequence[Case], summaries: Mapping[str, Summary], *, rounds: int) -> str:
    """The page."""
    rows = "".join(_row(case, summaries[case.name], summaries[PARSE]) for case in cases)
    return (
        "# `stile check`, `stile publish` and `stile dev`\n\n"
        f"`make bench ROUNDS={rounds}`: whole processes in alternating rounds, medians; ± is the median absolute\n"
        f"deviation. The {TYPES:,} types are made up. The {OPERATIONS} operations are those of Vendure's admin pages, "
        "the same\n"
        "under several names. In `stile dev`, the time is from a save until the operation is served. Goals are of\n"
        "processor time (CPU) and of memory. Those in seconds and megabytes were set by another machine and other\n"
        "operations, of which a check then took 27 s and 613 MB, and one of 3,000 types 394 MB.\n"
        f"{machine(('graphql-core',))}\n\n"
        "| process | s | CPU, s | ± | x parsing | goal | peak MB | goal |\n"
        f"| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n{rows}"
    )


def _row(case: Case, mine: Summary, parsing: Summary) -> str:
    times = f"{case.goal_times:g} x" if case.goal_times else ""
    cells = (
        case.name,
        f"{mine.wall_ms / 1e3:.2f}",
        f"{mine.cpu_ms / 1e3:.2f}",
        f"{mine.deviation_ms / 1e3:.2f}",
        f"{mine.cpu_ms / parsing.cpu_ms:.2f}",
        f"{case.goal_s:g} s" if case.goal_s else times,
        f"{mine.peak_bytes / MB:.0f}",
        f"{case.goal_mb:g}" if case.goal_mb else "",
    )
    return f"| {' | '.join(cells)} |\n"


def main() -> int:
    """Measure, write ``benchmarks/results/check.md``, and return 1 above the gate."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.check")
    parser.add_argument("--rounds", type=int, default=9, metavar="N")
    rounds = parser.parse_args().rounds
    with ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        github, many = (_copied(corpus, work) for corpus in ("github-named", "vendure-admin"))
        write_many(many)
        large = work / "generated" / "large"
        large.mkdir(parents=True)
        (large / "index.graphql").write_text(large_schema(), encoding="utf-8")
        (large / "config.yaml").write_text(_config(default_tool=True), encoding="utf-8")
        cases = github_cases(github, work / "bundles")
        summaries = measure(cases, rounds=rounds, on_round=partial(show_round, rounds=rounds))
        few = min(rounds, LONG_ROUNDS)
        saving = stack.enter_context(developing(shutil.copytree(many, work / "developed" / many.name)))
        long = long_cases(large, many, saving)
        summaries |= measure(long, rounds=few, on_round=partial(show_round, rounds=few))
    write_page("check", text_of([*cases, *long], summaries, rounds=rounds))
    ratio = summaries[SAVED].cpu_ms / summaries[PARSE].cpu_ms
    sys.stdout.write(f"{SAVED}: {ratio:.2f} times parsing, the gate is {GATE}.\n")
    return 1 if ratio > GATE else 0


def _copied(corpus: str, work: Path) -> Path:
    """A corpus without the operations that are refused, with an upstream that the function may ask."""
    try:
        fetched = fetch(corpus, print)
    except FetchError as exc:
        sys.exit(f"{corpus} cannot be fetched: {exc}")
    folder = copy_without(attempt(fetched).refused, fetched, work)
    (folder / "config.yaml").write_text(_config(), encoding="utf-8")
    return folder


def _config(*, default_tool: bool = False) -> str:
    text = CONFIG.replace("http://127.0.0.1:9/", "https://api.example.com/")
    return text.replace("default_tool: false", f"default_tool: {json.dumps(default_tool)}")


if __name__ == "__main__":
    sys.exit(main())
