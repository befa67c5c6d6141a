"""Warm requests of the built function, called in its own process, beside Starlette and Mangum in theirs.

    python -m benchmarks.requests --artifact FOLDER --hello FOLDER --python PYTHON --rounds 9

FOLDER and PYTHON are those of ``benchmarks.cold``. ``--write`` writes ``benchmarks/results/requests.md``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.call import ANEW, CALLS, in_process
from benchmarks.container import Function
from benchmarks.functions.cases import (
    ANSWERED,
    HANDLER,
    HELLO,
    LIST,
    QUERY,
    VARIABLES,
    Builds,
    demo_endpoint,
    event_of,
    github_schema,
    open_config,
    sized_endpoint,
    written_endpoint,
)
from benchmarks.report import machine, write_page
from benchmarks.upstream import answering_upstream
from handler.storage.local import FolderStorage

API, GITHUB, STORED = "api/customers", "github/api", "github/stored"
PRESCRIBED = "GitHub's API: a prescribed call"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A request, and its goals in times of Starlette with Mangum and of the same request as a prescribed tool."""

    function: Function
    goal_hello: float | None = None
    goal_prescribed: float | None = None


def publish(upstream: str, work: Path) -> Path:
    """A folder of bundles with the endpoints that are asked."""
    storage = FolderStorage(work / "bundles")
    operation = QUERY.replace(") {", ') @mcpTool(name: "issues") {', 1)
    github = {"index.graphql": github_schema(), "config.yaml": open_config(upstream)}
    made = (
        demo_endpoint(work, API, upstream),
        sized_endpoint(work, upstream, 200),
        written_endpoint(work, GITHUB, github),
        written_endpoint(work, STORED, {**github, "operations/o.graphql": operation}),
    )
    for compiled in made:
        for key, content in compiled.objects():
            storage.write(key, content)
    return work / "bundles"


def cases(builds: Builds, bundles: Path) -> list[Case]:
    """The requests that are compared."""
    environ = {"STILE_BUNDLES": str(bundles), "STILE_ALLOW_LOCAL_UPSTREAMS": "true"}

    def ours(name: str, endpoint: str, method: str, params: Mapping[str, Any], expects: str = "result") -> Function:
        return Function(
            name=name,
            python=builds.python,
            folder=builds.artifact,
            handler=HANDLER,
            event=event_of(endpoint, method, params),
            expects=ANSWERED if method == "tools/call" else expects,
            environ=environ,
        )

    def call(name: str, endpoint: str, tool: str, arguments: Mapping[str, Any]) -> Function:
        return ours(name, endpoint, "tools/call", {"name": tool, "arguments": arguments})

    hello = Function(
        name=HELLO,
        python=builds.python,
        folder=Path(__file__).resolve().parent / "functions",
        handler="hello.handler",
        event=event_of(API, *LIST),
        expects="result",
        environ={"PYTHONPATH": str(builds.hello)},
    )
    asked = {"query": QUERY, "variables": VARIABLES}
    anew = {**asked, "query": QUERY.replace("Issues", f"Issues{ANEW}")}
    email = {"variables": {"email": "a@b.example"}}
    return [
        Case(function=hello),
        Case(function=ours("ping", API, "ping", {}), goal_hello=5),
        Case(function=ours("tools/list, demo", API, *LIST)),
        Case(function=ours("tools/list, 200 tools", "size/t200", *LIST)),
        Case(function=call("a prescribed call, demo", API, "customer-by-email", email), goal_hello=11),
        Case(function=call(PRESCRIBED, STORED, "issues", VARIABLES)),
        Case(function=call("the same as a GraphQL call, one text", GITHUB, "github-api", asked), goal_prescribed=2),
        Case(function=call("the same, another text each time", GITHUB, "github-api", anew)),
    ]


def text_of(compared: Sequence[Case], found: Mapping[str, float], *, rounds: int, python: Path) -> str:
    """The page."""
    rows = "".join(_row(case, found) for case in compared)
    return (
        "# Warm requests\n\n"
        f"`make bench-peers ROUNDS={rounds}`: processor time of calls of the built handler in a process of its own,\n"
        f"without the Runtime API; medians of rounds of {CALLS} calls, in turns. The upstream is on loopback, in a\n"
        "process of its own, without TLS.\n"
        f"{machine(('mangum', 'starlette', 'graphql-core'), python=python)}\n\n"
        "| request | CPU, µs | x Starlette and Mangum | goal | x the prescribed call | goal |\n"
        f"| --- | ---: | ---: | ---: | ---: | ---: |\n{rows}"
    )


def _row(case: Case, found: Mapping[str, float]) -> str:
    us = found[case.function.name]
    cells = (
        case.function.name,
        f"{us:.0f}",
        f"{us / found[HELLO]:.1f}",
        f"{case.goal_hello:g}" if case.goal_hello else "",
        f"{us / found[PRESCRIBED]:.2f}" if case.goal_prescribed else "",
        f"{case.goal_prescribed:g}" if case.goal_prescribed else "",
    )
    return f"| {' | '.join(cells)} |\n"


def main() -> int:
    """Measure, and show or write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.requests")
    parser.add_argument("--artifact", type=Path, required=True)
    parser.add_argument("--hello", type=Path, required=True)
    parser.add_argument("--python", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=9, metavar="N")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    artifact = given.artifact.resolve()
    builds = Builds(artifact=artifact, coded=artifact, hello=given.hello.resolve(), python=given.python.absolute())
    with tempfile.TemporaryDirectory() as folder, answering_upstream() as upstream:
        compared = cases(builds, publish(upstream, Path(folder)))
        found = in_process([case.function for case in compared], rounds=given.rounds)
    text = text_of(compared, found, rounds=given.rounds, python=builds.python)
    if given.write:
        write_page("requests", text)
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
