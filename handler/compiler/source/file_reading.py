"""Read one file of a folder that a stranger may have made."""

from __future__ import annotations

import os
import os.path
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

MAX_GLANCE_BYTES = 200_000
"""The part of an unread file that ``glance`` returns."""


class Unreadable(Exception):
    """A file is unreadable. The message is the end of a sentence."""


def read_bytes(folder: Path, name: str, max_bytes: int) -> bytes:
    """Return the bytes of a file in a folder.

    Raises:
        Unreadable: it is missing, not a regular file, too large, or outside of the folder.
    """
    with _opened(folder, name) as file:
        size = os.fstat(file.fileno()).st_size
        if size > max_bytes:
            raise Unreadable(f"has {size} bytes; a file may have {max_bytes}")
        return file.read()


def beginning(folder: Path, name: str) -> bytes:
    """Return the first bytes of a file in a folder.

    Raises:
        Unreadable: as ``read_bytes``, for any size.
    """
    with _opened(folder, name) as file:
        return file.read(MAX_GLANCE_BYTES)


@contextmanager
def _opened(folder: Path, name: str) -> Iterator[BinaryIO]:
    """Open a regular file inside a folder; links within the folder are followed."""
    path = folder / name
    try:
        # Path.resolve() raises an error of its own for circular links; stat() below has a better message.
        if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
            raise Unreadable("lies outside the endpoint folder")
        if not stat.S_ISREG(path.stat().st_mode):  # before opening it: a pipe would wait for a writer
            raise Unreadable("is not a file")
        with path.open("rb") as file:
            yield file
    except FileNotFoundError as exc:
        raise Unreadable("does not exist") from exc
    except OSError as exc:
        raise Unreadable(f"cannot be read: {exc.strerror}") from exc
    except ValueError as exc:
        raise Unreadable("has a character that no file's name can have") from exc


def text_of(raw: bytes) -> str:
    """Decode UTF-8, with a byte order mark or without.

    Raises:
        Unreadable: a byte is not UTF-8.
    """
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        line = exc.object.count(b"\n", 0, exc.start) + 1
        raise Unreadable(f"is not UTF-8: line {line} has a byte that cannot be read") from exc
