"""What one request costs: processor time and memory of a process that has nothing else to do.

Processor time is told as on the reference core: a loop of ordinary work is timed beside it, because machines differ,
and one that others use is slower at times. The reference core takes twice as long for that loop as the machine that
this was written on, which is a guess at the cores that functions run on.
"""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

from tests.support.function import Context, Function
from tests.support.raw_http import Peer, answer, running_server
from tests.work.endpoint import serving, write_endpoint
from tests.work.genomes import Case

REFERENCE_S = 0.0400
"""What the loop takes on the reference core."""

TIMEOUT_S = 30
WORDS = [f"word{number} of a text" for number in range(300)]


@dataclass(frozen=True)
class Cost:
    """What a request took. Without an answer in time, ``cpu_s`` is what is known: more than that."""

    cpu_s: float
    peak_bytes: int
    status: int
    answer_bytes: int
    failure: str = ""

    def __str__(self) -> str:
        failure = f", {self.failure}" if self.failure else ""
        return f"{self.cpu_s:.2f} s, {self.peak_bytes / 1e6:.0f} MB, {self.status}{failure}"


def slowness() -> float:
    """How much slower this machine is at the moment than the reference core."""
    return _timed_loop() / REFERENCE_S


def _timed_loop() -> float:
    began = time.process_time()
    for _ in range(12):
        text = json.dumps(dict.fromkeys(WORDS[:20], WORDS))
        found = {match.group(): match.start() for match in re.finditer(r"word\d+", text)}
        sorted(json.loads(text), key=lambda word: found.get(word, 0))
    return time.process_time() - began


@contextmanager
def _without_coverage() -> Iterator[None]:
    """Have a process that is started measure no coverage, which takes longer than many a request."""
    kept = {name: os.environ.pop(name) for name in [*os.environ] if name.startswith("COVERAGE_PROCESS_")}
    try:
        yield
    finally:
        os.environ.update(kept)


class Worker:
    """A process that serves the endpoint, warm, and measures one request after the other."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._start()

    def measure(self, case: Case) -> Cost:
        """What a request costs. A process that does not answer is ended, and another one started."""
        self._connection.send(case.event())
        if not self._connection.poll(TIMEOUT_S):
            self.stop()
            self._start()
            return Cost(cpu_s=TIMEOUT_S, peak_bytes=0, status=0, answer_bytes=0, failure="no answer in time")
        found: Cost = self._connection.recv()
        return found

    def stop(self) -> None:
        self._process.kill()
        self._process.join()
        self._connection.close()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, other = context.Pipe()
        self._process: SpawnProcess = context.Process(target=serve, args=(self._folder, other), daemon=True)
        with _without_coverage():
            self._process.start()
        other.close()
        self._connection.recv()  # it is warm


USUAL = answer(
    b'{"data": {"everything": [], "search": [], "addAccount": null, "self": {}}}', content_type="application/json"
)


class Api:
    """The API that is asked: it answers what it was told to."""

    def __init__(self) -> None:
        self.answer = USUAL

    def script(self, peer: Peer) -> None:
        while peer.read_request():
            peer.requests.clear()  # each may have a megabyte, and nobody asks for them
            peer.send(self.answer)


class Bench:
    """The API, and processes that serve the endpoint over it."""

    def __init__(self, folder: Path, api: Api) -> None:
        self._folder = folder
        self._api = api
        self._aged = Worker(folder)

    def measure(self, case: Case) -> Cost:
        """What a request costs a process that had others before."""
        self._prepare(case)
        return self._aged.measure(case)

    def confirm(self, case: Case, *, times: int = 3) -> Cost:
        """The least that a request costs of several processes that are warm and never had it."""
        return min((self._measure_anew(case) for _ in range(times)), key=lambda cost: cost.cpu_s)

    def stop(self) -> None:
        self._aged.stop()

    def _measure_anew(self, case: Case) -> Cost:
        self._prepare(case)
        worker = Worker(self._folder)
        try:
            return worker.measure(case)
        finally:
            worker.stop()

    def _prepare(self, case: Case) -> None:
        self._api.answer = answer(case.answer, **case.answer_headers) if case.answer else USUAL


@contextmanager
def bench(folder: Path) -> Iterator[Bench]:
    """All that is measured with, in a folder of its own."""
    api = Api()
    with running_server(api.script, takes_secrets=True) as server:
        write_endpoint(folder, server.url)
        made = Bench(folder, api)
        try:
            yield made
        finally:
            made.stop()


# In the process that is measured.


def serve(folder: Path, connection: Connection) -> None:
    """Measure the requests that come, until the other end is gone."""
    with serving(folder) as function:
        for event in warming():
            function.handler(event, Context())
        gc.collect()
        gc.freeze()  # as the Lambda handler does, so that what stays is not looked through again and again
        connection.send(None)
        while True:
            try:
                event = connection.recv()
            except EOFError:
                return
            connection.send(_measured(function, event))


def warming() -> Iterator[Mapping[str, Any]]:
    """A request of each kind, so that whatever loads late has loaded."""
    from tests.work.documents import call, sent
    from tests.work.messages import REVIEW

    queries = ("{ self { __typename } }", "{ nothing }", '{ __type(name: "Node") { name } }')
    for way in range(6):
        for query in queries:
            yield sent(query, way).event()
    for tool, arguments in (
        ("everything", {"ids": ["x"]}),
        ("everything", {}),
        ("numbers", {"values": [1]}),
        ("catalog", {}),
    ):
        yield call(tool, arguments).event()
    others: tuple[tuple[str, dict[str, Any]], ...] = (
        ("tools/list", {}),
        ("resources/list", {}),
        ("prompts/get", {"name": "review", "arguments": {"text": "x", "shade": "shade1"}}),
        ("completion/complete", {"ref": REVIEW, "argument": {"name": "shade", "value": "s"}}),
    )
    for method, params in others:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        yield Case(body=json.dumps(message).encode()).event()


def _measured(function: Function, event: Mapping[str, Any]) -> Cost:
    function.lines.clear()
    scale = slowness()
    gc.collect()
    before = _forget_peak()
    began = time.process_time()
    response = function.handler(event, Context())
    cpu_s = time.process_time() - began
    failures = [line["failure"] for line in function.lines if line.get("failure")]
    return Cost(
        cpu_s=cpu_s / min(scale, slowness()),
        peak_bytes=max(_memory("VmHWM") - before, 0),
        status=response["statusCode"],
        answer_bytes=len(response.get("body") or ""),
        failure=f"unforeseen: {failures[0]!r}" if failures else "",
    )


def _forget_peak() -> int:
    """The memory at the moment, above which the peak is counted from now on. Source: proc(5), "clear_refs"."""
    Path("/proc/self/clear_refs").write_text("5")
    return _memory("VmRSS")


def _memory(key: str) -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.partition(f"{key}:")[2].split()[0]) * 1024
