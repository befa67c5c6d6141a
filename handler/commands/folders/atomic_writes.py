"""Writes that are done whole or not at all, also if a signal ends the command between them."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn

SIGNALS = (signal.SIGINT, signal.SIGTERM)

TERMINATED = 143
"""The exit code that shells expect of a command that SIGTERM ended."""


@contextmanager
def scratch_folder(above: Path | None = None) -> Iterator[Path]:
    """Yield an empty hidden folder in ``above`` (default: the system's), and remove it however the block ends."""
    with _ending_by_exception():
        held = _Held()
        try:
            folder = tempfile.mkdtemp(prefix=".stile-", dir=above)
        except BaseException:
            held.release()
            raise
        try:
            held.release()
            yield Path(folder)
        finally:
            held = _Held()
            shutil.rmtree(folder, ignore_errors=True)
            held.release()


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Yield an empty folder that becomes ``target`` if the block ends without an exception.

    The last two parts of both paths are equal, because they are the name of an endpoint.

    Raises:
        FileExistsError: ``target`` exists, at the end of the block too.
        OSError: the folder cannot be made.
    """
    target = Path(os.path.abspath(target))  # noqa: PTH100 - a link in its place must not be followed
    with scratch_folder(next(each for each in target.parents if each.is_dir())) as scratch:
        draft = scratch / target.parent.name / target.name
        draft.mkdir(parents=True)
        yield draft
        held = _Held()
        try:
            _move(draft, target)
        finally:
            held.release()


def replace_text(file: Path, text: str) -> None:
    """Write a new file, or replace a file with a text; or leave all as it was.

    Raises:
        OSError: the text cannot be written.
    """
    file = file.resolve()  # a link stays a link
    with _ending_by_exception():
        held = _Held()
        try:
            _replace(file, text)
        finally:
            held.release()


def _replace(file: Path, text: str) -> None:
    descriptor, temporary = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as handle:
            handle.write(text)
        Path(temporary).chmod(stat.S_IMODE(file.stat().st_mode) if file.exists() else _mode_of_new_file())
        Path(temporary).replace(file)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _mode_of_new_file() -> int:
    umask = os.umask(0)  # the only way to read it
    os.umask(umask)
    return 0o666 & ~umask


def _move(draft: Path, target: Path) -> None:
    missing = [each for each in target.parents if not each.exists()]
    made: list[Path] = []
    try:
        for folder in reversed(missing):
            folder.mkdir()
            made.append(folder)
        if os.path.lexists(target):  # an empty folder would be replaced
            raise FileExistsError(f"{target} exists")
        draft.rename(target)
    except OSError:
        for folder in reversed(made):
            with suppress(OSError):
                folder.rmdir()
        raise


@contextmanager
def _ending_by_exception() -> Iterator[None]:
    """Let SIGTERM raise ``SystemExit``, as SIGINT raises ``KeyboardInterrupt``, so that blocks can clean up."""
    if not _handles_signals():
        yield
        return
    former = signal.signal(signal.SIGTERM, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former)


def _end(_number: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(TERMINATED)


class _Held:
    """A delay of signals until ``release``, which lets them take their effect where it is called."""

    def __init__(self) -> None:
        self._arrived: list[int] = []
        numbers = SIGNALS if _handles_signals() else ()
        self._former = {number: signal.signal(number, self._note) for number in numbers}

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self._arrived.append(number)

    def release(self) -> None:
        for number, handler in self._former.items():
            signal.signal(number, handler)
        for arrived in self._arrived:
            signal.raise_signal(arrived)


def _handles_signals() -> bool:
    """Tell if this is the thread that may set signal handlers."""
    return threading.current_thread() is threading.main_thread()
