"""A process that has loaded the commands, and runs each one that it is told of in a copy of itself.

Each line of its input is JSON: ``words``, ``environ``, ``output`` (a file), and ``kill_at``, the number of the write to
files below ``below`` at which the copy is killed; 0 for none. ``tears``: the kernel kills it inside the write to a file
that it opens then. The process answers with a line that has the copy's process id, and one that has its exit code.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from tests.conftest import ROOT

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
TORN_BYTES = 64
"""What is written of a file at which the kernel kills."""

CHANGES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir")


class Zygote:
    """The process, from outside: runs one command at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.life.zygote"],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.pid = 0
        self.output = ""

    def start(
        self,
        *words: str,
        environ: Mapping[str, str] | None = None,
        kill_at: int = 0,
        below: str = "",
        tears: bool = False,
    ) -> None:
        """Begin a command. ``pid`` is then its process id."""
        assert self._process.stdin
        assert self._process.stdout
        self._file = self._folder / f"output-{self._process.pid}"
        told = {"words": words, "environ": dict(environ or {}), "kill_at": kill_at, "below": below, "tears": tears}
        self._process.stdin.write(json.dumps({**told, "output": str(self._file)}) + "\n")
        self._process.stdin.flush()
        self.pid = int(self._process.stdout.readline())

    def wait(self) -> int:
        """Wait for the command's exit code; ``output`` is then all that it printed."""
        assert self._process.stdout
        code = int(self._process.stdout.readline())
        self.output = self._file.read_text("utf-8", errors="replace")
        return code

    def run(self, *words: str, environ: Mapping[str, str] | None = None, **killing: Any) -> int:
        """Run a command to its end, and return its exit code."""
        self.start(*words, environ=environ, **killing)
        return self.wait()

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait(60)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()


class _Killer:
    """An audit hook that kills the process at its write of one number."""

    def __init__(self, number: int, below: str, *, tears: bool) -> None:
        self._number = number
        self._tears = tears
        self._below = str(Path(below).absolute())
        self._writes = 0

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._is_write(event, arguments):
            self._writes += 1
            if self._writes == self._number:
                self._end(event)

    def _end(self, event: str) -> None:
        if self._tears and event == "open":
            resource.setrlimit(resource.RLIMIT_FSIZE, (TORN_BYTES, TORN_BYTES))
        else:
            os.kill(os.getpid(), signal.SIGKILL)

    def _is_write(self, event: str, arguments: tuple[Any, ...]) -> bool:
        if event == "open":
            flags = arguments[2]
            return isinstance(flags, int) and bool(flags & WRITING) and self._is_below(arguments[0])
        return event in CHANGES and self._is_below(arguments[0])

    def _is_below(self, path: object) -> bool:
        return isinstance(path, str | os.PathLike) and str(Path(os.fspath(path)).absolute()).startswith(self._below)


def main() -> None:
    import boto3  # noqa: F401 - each command is a copy of this process
    import botocore.config  # noqa: F401

    import handler.commands.publish
    import handler.storage.folder_publishing
    import handler.storage.s3_publishing  # noqa: F401

    for line in sys.stdin:
        told = json.loads(line)
        child = os.fork()
        if child == 0:
            _run(told)
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _run(told: Mapping[str, Any]) -> NoReturn:
    import handler.__main__

    os.environ.update(told["environ"])
    output = os.open(told["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(output, stream)
    if told["kill_at"]:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it
        sys.addaudithook(_Killer(told["kill_at"], told["below"], tears=told["tears"]))
    code: Any = 70
    try:
        code = handler.__main__.main(told["words"])
    except SystemExit as exc:
        code = exc.code
    except BaseException:  # noqa: BLE001 - the copy may not return into the loop
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(code or 0))


if __name__ == "__main__":
    main()
