"""The function under AWS's runtime client: which invocations are traced, and the lines that its process prints."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks.container import Container, Function
from benchmarks.functions.cases import ANSWERED, HANDLER, event_of, sized_endpoint
from benchmarks.upstream import answering_upstream
from handler.storage.local import FolderStorage
from tests.conftest import ROOT
from tests.support.emf import metrics_in
from tests.support.function import store
from tests.support.xray import PARENT, SAMPLED, UNSAMPLED, running_daemon
from tests.support.xray import ROOT as TRACE

CALL = ("tools/call", {"name": "thing-0", "arguments": {"id": "1"}})


@contextmanager
def running(folder: Path, *, daemon: str) -> Iterator[Container]:
    with answering_upstream() as upstream:
        storage = FolderStorage(folder / "bundles")
        store(storage, sized_endpoint(folder, upstream, 1))
        function = Function(
            name="traced",
            python=Path(sys.executable),
            folder=ROOT,
            handler=HANDLER,
            event=event_of("size/t1", *CALL),
            expects=ANSWERED,
            environ={
                "PYTHONPATH": str(ROOT),
                "STILE_BUNDLES": storage.location,
                "STILE_ALLOW_LOCAL_UPSTREAMS": "true",
                "AWS_XRAY_DAEMON_ADDRESS": daemon,
            },
        )
        with Container(function) as container:
            container.start()
            yield container


def test_sampled_invocations_alone_send_subsegments_of_their_own_trace(tmp_path: Path) -> None:
    others = [SAMPLED.replace("994272793", f"99427279{number}") for number in (4, 5)]
    with running_daemon() as daemon, running(tmp_path, daemon=daemon.address) as container:
        assert daemon.documents() == []  # the first invocation has no trace
        seen = []
        for trace in (SAMPLED, UNSAMPLED, others[0], "", "nonsense", others[1]):
            container.call(trace=trace)
            seen.append([(each["trace_id"], each["parent_id"]) for each in daemon.documents()])

    mine = [trace.partition(";")[0].removeprefix("Root=") for trace in others]
    assert seen == [[(TRACE, PARENT)], [], [(mine[0], PARENT)], [], [], [(mine[1], PARENT)]]


@pytest.mark.parametrize("address", ["169.254.79.129:2000", "nowhere.invalid:2000"])
def test_calls_are_answered_without_a_daemon(tmp_path: Path, address: str) -> None:
    with running(tmp_path, daemon=address) as container:
        for _ in range(20):
            container.call(trace=SAMPLED)


def test_lines_of_the_process_make_metrics_once_a_request(tmp_path: Path) -> None:
    with running(tmp_path, daemon="") as container:
        container.call()
        container.call()
        printed = container.printed()

    lines = [line for line in printed.splitlines() if '"message":"request"' in line]
    found = [metrics_in(line) for line in lines]
    by_function = (("function", "measured"),)
    assert len(found) == 3
    assert [("cold_starts", by_function) in each for each in found] == [True, False, False]
    assert all(each["calls_run", by_function] == [1] for each in found)
