"""Calls of a function without the Runtime API, by processor time.

    python -m benchmarks.call HANDLER

The first line of input is an event. Each further line is a number of calls, and prints the microseconds of one of them
and the last answer as JSON.
"""

from __future__ import annotations

import importlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

from benchmarks.container import TOOL_ERROR, ContainerFailed, Function, environ_of
from benchmarks.runner import ROOT

CALLS = 300
"""The calls of a round."""

ANEW = "__anew__"
"""A place in an event that is another number in each call."""

CONTEXT: Any = SimpleNamespace(
    aws_request_id="8476a536-e9f4-11e8-9739-2dfe598c3fcd",
    function_name="stile",
    memory_limit_in_mb=1769,
    get_remaining_time_in_millis=lambda: 29_000,
)
"""Lambda's second argument."""

Handler = Callable[[Any, Any], Any]


def cpu_us(handler: Handler, event: Mapping[str, Any]) -> float:
    """Return the processor time of one call in microseconds.

    Raises:
        SystemExit: the answer is not a result.
    """
    started = time.process_time_ns()
    answer = handler(event, CONTEXT)
    taken = time.process_time_ns() - started
    result = json.loads(answer["body"]).get("result")
    if result is None or result.get("isError"):
        raise SystemExit(f"no result: {answer}")
    return taken / 1e3


def in_turns(calls: Mapping[str, Callable[[], float]], *, rounds: int) -> dict[str, list[float]]:
    """Return what calls take, every other round in reverse. One round before them is thrown away."""
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(rounds + 1):
        for name in list(calls)[:: 1 if number % 2 else -1]:
            us = calls[name]()
            if number:
                taken[name].append(us)
    return taken


def in_process(functions: Sequence[Function], *, rounds: int) -> dict[str, float]:
    """Return the microseconds of a call of each function, which has a process to itself: the medians of rounds."""
    with ExitStack() as stack:
        calls = {each.name: Calling(each, stack).round_us for each in functions}
        return {name: statistics.median(taken) for name, taken in in_turns(calls, rounds=rounds).items()}


class Calling:
    """A function in a process of its own, under the Python and with the variables that it has in Lambda."""

    def __init__(self, function: Function, stack: ExitStack) -> None:
        environ = environ_of(function)
        path = os.pathsep.join(filter(None, (environ.get("PYTHONPATH"), str(ROOT))))
        self._function = function
        self._process = stack.enter_context(
            subprocess.Popen(
                [str(function.python), "-m", "benchmarks.call", function.handler],
                cwd=function.folder,
                env={**environ, "PYTHONPATH": path},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        )
        assert self._process.stdin
        stack.callback(self._process.stdin.close)
        self._process.stdin.write(f"{json.dumps(json.loads(function.event))}\n")

    def round_us(self) -> float:
        """Return the microseconds of a call, the mean of ``CALLS``.

        Raises:
            ContainerFailed: an answer is not right.
        """
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"{CALLS}\n")
        self._process.stdin.flush()
        us, _, answer = self._process.stdout.readline().partition(" ")
        if self._function.expects not in answer or TOOL_ERROR.decode() in answer:
            raise ContainerFailed(f"{self._function.name} answered {answer[:2000]}")
        return float(us)


def main() -> None:
    """Call as often as the input asks for."""
    module, _, name = sys.argv[1].rpartition(".")
    results = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the function's log
    event = json.loads(sys.stdin.readline())
    handler: Handler = getattr(importlib.import_module(module), name)
    body, number = event["body"], 0
    for line in sys.stdin:
        taken = 0.0
        for _ in range(int(line)):
            number += 1
            event["body"] = body.replace(ANEW, str(number))
            started = time.process_time_ns()
            answer = handler(event, CONTEXT)
            taken += time.process_time_ns() - started
        results.write(f"{taken / 1e3 / int(line)} {json.dumps(answer)}\n")
        results.flush()


if __name__ == "__main__":
    main()
