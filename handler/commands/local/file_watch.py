"""The watch for changed files, however an editor saves them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from watchfiles import watch

from handler.commands.folders.endpoint_folders import walk

LOOK_S = 1.0
"""The time between looks without a file event: some network drives and containers send no events."""

Stamp = tuple[int, int, int]  # inode, size, time of the last change in ns


class FolderWatch:
    """The files below a folder, as last seen. No change after the construction is lost, however slow the consumer is.

    ``modules`` returns the folders and files of Python modules to watch as well.
    """

    def __init__(self, folder: Path, *, modules: Callable[[], Iterable[Path]] = tuple) -> None:
        self._folder = folder
        self._modules = modules
        self._seen = self._look()

    def changes(self, stop: threading.Event) -> Iterator[frozenset[Path]]:
        """Yield the files that changed, came or went since the last look, each time there are any, until ``stop``."""
        while not stop.is_set():
            before = self._seen
            for _ in _wake_ups(before, stop):
                last, self._seen = self._seen, self._look()
                different = last.files.items() ^ self._seen.files.items()
                if different:
                    yield frozenset(path for path, _ in different)
                if self._seen.folders != before.folders:
                    break

    def _look(self) -> _Sight:
        folders: list[Path] = []
        files: dict[Path, Stamp] = {}
        for inner, _ in walk(self._folder):
            folders.append(inner)
            files.update(_files_in(inner))
        for place in self._modules():
            for inner in [each for each, _ in walk(place)] if place.is_dir() else [place.parent]:
                folders.append(inner)
                sources = ((file, stamp) for file, stamp in _files_in(inner) if file.suffix == ".py")
                files.update((file, stamp) for file, stamp in sources if place.is_dir() or file == place)
        return _Sight(folders=tuple(folders), files=files)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sight:
    folders: tuple[Path, ...]
    files: dict[Path, Stamp]


def _files_in(folder: Path) -> Iterator[tuple[Path, Stamp]]:
    """Yield the files except hidden ones, where editors keep unsaved copies; ``.env`` is the author's and included."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if (entry.name == ".env" or not entry.name.startswith(".")) and entry.is_file():
                    facts = entry.stat()
                    yield folder / entry.name, (facts.st_ino, facts.st_size, facts.st_mtime_ns)
    except OSError:  # deleted since it was listed: the next look reports it
        return


def _wake_ups(sight: _Sight, stop: threading.Event) -> Iterator[None]:
    """Yield when a folder has an event, or ``LOOK_S`` has passed.

    Each folder is watched by itself: a recursive watch would include node_modules.
    """
    try:
        for _ in watch(
            *sight.folders,
            recursive=False,
            watch_filter=None,
            stop_event=stop,
            rust_timeout=round(LOOK_S * 1000),
            yield_on_timeout=True,
            raise_interrupt=False,
        ):
            yield
    except (OSError, RuntimeError):  # a deleted folder or too many watches: timed looks find every change too
        stop.wait(LOOK_S)
        yield
