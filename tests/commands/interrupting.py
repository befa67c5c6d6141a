"""Run a command many times, each ended at one of its writes: ``interrupting.py SORT STEP FIRST KEPT… -- COMMAND…``.

SORT is the number of a signal, or ``error`` for a full disk. It ends at the write FIRST, and each STEP writes later.
KEPT are files that are restored before each run. Each line of the output is JSON about one run; the last run reached
its end.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any, NoReturn

MAKING = ("os.mkdir", "os.rename", "shutil.copytree")
REMOVING = ("os.rmdir", "os.remove", "shutil.rmtree")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
MAX_RUNS = 100


class Ending:
    """An audit hook that ends the process at its write of one number."""

    def __init__(self, number: int, sort: str) -> None:
        self._number = number
        self._sort = sort
        self._writes = 0
        self.happened = False

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.happened or not self._is_write(event, arguments):
            return
        self._writes += 1
        if self._writes == self._number:
            self.happened = True
            if self._sort == "error":
                raise OSError(28, "No space left on device")
            os.kill(os.getpid(), int(self._sort))

    def _is_write(self, event: str, arguments: tuple[Any, ...]) -> bool:
        if event == "open":
            path, _, flags = arguments
            return isinstance(flags, int) and bool(flags & WRITING) and _is_below_here(path)
        return event in MAKING or (event in REMOVING and self._sort != "error")  # a full disk lets files be removed


def _is_below_here(path: object) -> bool:
    return isinstance(path, str | os.PathLike) and Path(os.fspath(path)).absolute().is_relative_to(Path.cwd().parent)


def main() -> None:
    sort, step, first, *words = sys.argv[1:]
    end = words.index("--")
    kept = {Path(name): Path(name).read_bytes() for name in words[:end]}
    import handler.commands.init  # each run is a copy of this process
    import handler.commands.pull
    import handler.compiler.compile  # noqa: F401

    for number in range(int(first), MAX_RUNS, int(step)):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            _run(Ending(number, sort), words[end + 1 :], writing)
        os.close(writing)
        _, status = os.waitpid(child, 0)
        happened = os.read(reading, 1) != b"n"
        os.close(reading)
        files = {
            path.as_posix(): path.read_text("utf-8", errors="replace") for path in Path().rglob("*") if path.is_file()
        }
        left = [path.name for path in (*Path().glob(".*"), *Path("..").glob(".stile-*"))]
        folders = [path.as_posix() for path in Path().iterdir() if path.is_dir()]
        code = os.waitstatus_to_exitcode(status)
        sys.stdout.write(json.dumps({"code": code, "files": files, "left": left, "folders": folders}) + "\n")
        sys.stdout.flush()
        if not happened:
            return
        _restore(kept)


def _run(ending: Ending, words: list[str], writing: int) -> NoReturn:
    """Run the command in this process, and say if it was ended."""
    import handler.__main__

    code: Any = 1
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115
    sys.addaudithook(ending)
    try:
        code = handler.__main__.main(words)
    except SystemExit as exc:
        code = exc.code
    finally:
        os.write(writing, b"y" if ending.happened else b"n")
        os._exit(int(code or 0))


def _restore(kept: dict[Path, bytes]) -> None:
    for path in Path().iterdir():
        if path not in kept and path.is_dir() and not any(each.is_relative_to(path) for each in kept):
            shutil.rmtree(path)
    for file, content in kept.items():
        file.write_bytes(content)


if __name__ == "__main__":
    main()
