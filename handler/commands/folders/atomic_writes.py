"""Writes that are done whole or not at all, also if a signal ends the command between them."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
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
        folder = ""
        try:
            with _delayed_signals():
                folder = tempfile.mkdtemp(prefix=".stile-", dir=above)
            yield Path(folder)
        finally:
            with _delayed_signals():
                if folder:
                    shutil.rmtree(folder, ignore_errors=True)


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
        with _delayed_signals(), ExitStack() as undoing:
            _make_parents(target, undoing)
            if os.path.lexists(target):  # an empty folder would be replaced
                raise FileExistsError(f"{target} exists")
            draft.rename(target)
            undoing.pop_all()


def _make_parents(target: Path, undoing: ExitStack) -> None:
    """Make the folders above ``target`` that are missing, and remove them at the end of ``undoing``."""
    for folder in reversed([each for each in target.parents if not each.exists()]):
        folder.mkdir()
        undoing.callback(folder.rmdir)


def replace_files(folder: Path, contents: Mapping[str, bytes | None]) -> None:
    """Write or, for ``None``, remove files below a folder, in this order; or leave all as it was.

    Files keep their modes; new ``.sh`` files are executable.

    Raises:
        OSError: a file cannot be written.
    """
    with scratch_folder(folder) as scratch:
        drafts = {name: scratch / str(number) for number, name in enumerate(contents)}
        for name, draft in drafts.items():
            draft.write_bytes(contents[name] or b"")
            if (folder / name).exists():
                shutil.copy2(folder / name, draft.with_suffix(".original"))
                shutil.copymode(folder / name, draft)
            elif name.endswith(".sh"):
                draft.chmod(0o755)
        with _delayed_signals(), ExitStack() as undoing:
            for name, draft in drafts.items():
                file, original = folder / name, draft.with_suffix(".original")
                _make_parents(file, undoing)
                if contents[name] is None:
                    file.unlink()
                else:
                    draft.replace(file)
                undoing.callback(*((original.replace, file) if original.exists() else (file.unlink,)))
            undoing.pop_all()


def read_regular(folder: Path, file: Path) -> bytes | None:
    """Return the content of a file below a folder that a command changes; ``None`` if there is none.

    Raises:
        ValueError: the file cannot be read, or something else than a file has its name.
    """
    below = [each for each in (file, *file.parents) if each != folder and each.is_relative_to(folder)]
    try:
        if any(each.is_symlink() for each in below) or (file.exists() and not file.is_file()):
            raise ValueError("it is a link or behind one, or not a regular file")
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as exc:
        raise ValueError(f"it cannot be read ({exc.strerror})") from exc


def replace_text(file: Path, text: str) -> None:
    """Write a new file, or replace a file with a text; or leave all as it was.

    Raises:
        OSError: the text cannot be written.
    """
    file = file.resolve()  # a link stays a link
    with _ending_by_exception(), _delayed_signals():
        descriptor, temporary = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as handle:
                handle.write(text)
            umask = os.umask(0)  # the only way to read it
            os.umask(umask)
            Path(temporary).chmod(stat.S_IMODE(file.stat().st_mode) if file.exists() else 0o666 & ~umask)
            Path(temporary).replace(file)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


@contextmanager
def _ending_by_exception() -> Iterator[None]:
    """Let SIGTERM raise ``SystemExit``, as SIGINT raises ``KeyboardInterrupt``, so that blocks can clean up."""
    if not _handles_signals():
        yield
        return

    def end(_number: int, _frame: FrameType | None) -> NoReturn:
        raise SystemExit(TERMINATED)

    former = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former)


@contextmanager
def _delayed_signals() -> Iterator[None]:
    """Delay signals until the end of the block, where they take their effect."""
    arrived: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        arrived.append(number)

    former = {number: signal.signal(number, note) for number in (SIGNALS if _handles_signals() else ())}
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
        for arrival in arrived:
            signal.raise_signal(arrival)


def _handles_signals() -> bool:
    """Return whether this is the thread that may set signal handlers."""
    return threading.current_thread() is threading.main_thread()
