"""A Lambda function in a process of its own, under AWS's runtime client, from its start to its end."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from benchmarks.runtime_api import Outcome, RuntimeApi

KB = 1024

TOOL_ERROR = rb"\"isError\":true"
"""As an answer has it, whose body is JSON in JSON. An error takes another way than a result."""

PEAK = re.compile(r"^VmHWM:\s+(\d+) kB$", re.MULTILINE)
RESIDENT = re.compile(r"^VmRSS:\s+(\d+) kB$", re.MULTILINE)
"""In /proc/PID/status. Source: proc_pid_status(5)."""


class ContainerFailed(Exception):
    """A function that did not answer as it should, so its time means nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """What Lambda would be told: the code's folder, the handler in it, variables; and a Python that has the client.

    ``expects`` stands in every right answer.
    """

    name: str
    python: Path
    folder: Path
    handler: str
    event: bytes
    expects: str = ""
    environ: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColdStart:
    """From the start of the process: until it asked for an event, and until its first answer was read.

    ``cpu_ms`` is what the process computed until then, in which others on the machine play less of a part.
    """

    init_ms: float
    total_ms: float
    cpu_ms: float
    peak_bytes: int


class Container:
    """One running function."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._api = RuntimeApi()
        self._output: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the container)
        self._started_at = 0.0

    def __enter__(self) -> Container:
        self._api.__enter__()
        self._api.send(self._function.event)  # as in Lambda, where the event is why there is a container
        command = [str(self._function.python), "-m", "awslambdaric", self._function.handler]
        self._started_at = time.perf_counter()
        self._process = subprocess.Popen(
            command,
            cwd=self._function.folder,
            env={**environ_of(self._function), "AWS_LAMBDA_RUNTIME_API": self._api.address},
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=self._output,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._api.__exit__()
        self._output.close()

    def start(self) -> ColdStart:
        """Wait for the first answer.

        Raises:
            ContainerFailed: there is none, or it is not right.
        """
        outcome = self._outcome()
        assert self._api.ready_at is not None
        return ColdStart(
            init_ms=(self._api.ready_at - self._started_at) * 1e3,
            total_ms=(outcome.answered_at - self._started_at) * 1e3,
            cpu_ms=self.cpu_ms(),
            peak_bytes=self.memory_bytes(PEAK),
        )

    def restore(self) -> tuple[float, float]:
        """Restore the function from a snapshot of it, if its environment has SnapStart on, and wait for an answer.

        Returns the milliseconds from the restore to the answer, by the clock and of the processor.

        Raises:
            ContainerFailed: there is none, or it is not right.
        """
        self._api.wait_for_snapshot()
        before_ms, restored_at = self.cpu_ms(), self._api.restore()
        outcome = self._outcome()
        return (outcome.answered_at - restored_at) * 1e3, self.cpu_ms() - before_ms

    def call(self, event: bytes | None = None, *, trace: str = "") -> float:
        """Send an event, the first one again if none is given. Returns the seconds until the answer was read.

        Raises:
            ContainerFailed: there is none, or it is not right.
        """
        self._api.send(event or self._function.event, trace=trace)
        return self._outcome().took_s

    def memory_bytes(self, kind: re.Pattern[str] = RESIDENT) -> int:
        """What the process takes, or took at most."""
        return memory_bytes(self._process.pid, kind)

    def cpu_ms(self) -> float:
        """What the process has computed so far."""
        return process_cpu_ms(self._process.pid)

    def _outcome(self) -> Outcome:
        try:
            outcome = self._api.outcome()
        except TimeoutError as exc:
            raise ContainerFailed(f"{self._function.name}: {exc}\n{self.printed()}") from exc
        right = self._function.expects.encode() in outcome.body and TOOL_ERROR not in outcome.body
        if not outcome.succeeded or not right:
            answer = outcome.body[:2000].decode(errors="replace")
            raise ContainerFailed(f"{self._function.name} answered {answer}\n{self.printed()}")
        return outcome

    def printed(self) -> str:
        """Return the end of what the function has printed."""
        self._output.seek(0)
        return self._output.read().decode(errors="replace")[-4000:]


def process_cpu_ms(pid: int) -> float:
    """Return the processor time of a process so far, that of ended threads included.

    Source: clock_getcpuclockid(3), as glibc makes the clock of a process by its id.
    """
    clock_of_process = ~pid << 3 | 2
    return time.clock_gettime(clock_of_process) * 1e3


def memory_bytes(pid: int | str, kind: re.Pattern[str]) -> int:
    """Return the memory that a process takes, or took at most. ``self`` is this process."""
    found = kind.search(Path(f"/proc/{pid}/status").read_text(encoding="utf-8"))
    assert found
    return int(found[1]) * KB


def environ_of(function: Function) -> dict[str, str]:
    """What Lambda sets, nothing of this machine but where programs and libraries are."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LD_LIBRARY_PATH") if name in os.environ}
    return {
        **kept,
        "LANG": "en_US.UTF-8",
        "AWS_LAMBDA_FUNCTION_NAME": "measured",
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1769",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_EC2_METADATA_DISABLED": "true",
        "LAMBDA_TASK_ROOT": str(function.folder),
        "PYTHONDONTWRITEBYTECODE": "1",  # the code's folder cannot be written to
        **function.environ,
    }
