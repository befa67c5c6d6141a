"""Import modules from the pack: one file with the bytecode of a built function, which loads faster than many files.

The build writes the pack (``infra/pack_modules.py``): a first line, the code of each module, and an index. In
development there is no pack, and Python imports files. Packages are in the pack, so this module imports only the
standard library.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import util
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from threading import RLock
from types import CodeType, ModuleType
from typing import Any
from zlib import crc32

from handler.artefact import BUILD

PACK = os.path.join(os.path.dirname(BUILD), "modules.pack")  # noqa: PTH118, PTH120 - pathlib would slow the start

FIRST_LINE_BYTES = 64
"""The cache tag of the build's Python; the pack's size, the index's size and checksum; spaces up to this length."""

LATER = ("ast", "locale", "tokenize")
"""Modules of the standard library that load at the first use of a member: others import them for what no request needs.
They are 3 % of a cold start's processor time."""

Entry = tuple[str, int, int, int]
"""A module's source file below the function's folder; the place, size and checksum of the module's code."""


def import_from_pack(file: str = PACK, *, build: str = BUILD) -> str:
    """Have Python look for modules in the pack before it looks for files. Do nothing in development.

    Return the reason and the remedy if the pack cannot be used; empty string otherwise.
    """
    try:
        pack = os.open(file, os.O_RDONLY)  # stays open: each module's code is read when the module is imported
        entries = _read_index(pack)
    except FileNotFoundError:
        return _fault("is missing") if os.path.exists(build) else ""  # noqa: PTH110
    except (OSError, ValueError) as exc:
        return _fault(f"cannot be used: {exc}")
    finder = PackFinder(pack, entries, root=os.path.dirname(os.path.dirname(file)))  # noqa: PTH120
    sys.meta_path.insert(sys.meta_path.index(PathFinder), finder)
    for name in LATER:
        _load_later(name)
    return ""


def _load_later(name: str) -> None:
    spec = None if name in sys.modules else util.find_spec(name)
    if spec is not None:
        module = sys.modules[name] = util.module_from_spec(spec)
        module.__class__ = _Later


class _Later(ModuleType):
    """The class of a module until a member is asked for: importlib's LazyLoader executes at the next import of it."""

    def __getattr__(self, name: str) -> Any:
        with _EXECUTING:  # other threads wait for all members
            spec = self.__spec__
            if spec and spec.loader and not spec.loader_state:
                spec.loader_state = True
                spec.loader.exec_module(self)
                self.__class__ = ModuleType  # type: ignore[assignment] # no slots, so it may change
        return ModuleType.__getattribute__(self, name)


_EXECUTING = RLock()


def _read_index(pack: int) -> Mapping[str, Entry]:
    try:
        tag, *numbers = os.pread(pack, FIRST_LINE_BYTES, 0).decode("ascii").split()
        total, size, checksum = map(int, numbers)
    except ValueError:
        raise ValueError("its first line is damaged") from None
    if tag != sys.implementation.cache_tag:
        raise ValueError(f"it has bytecode of {tag}, and the function runs on {sys.implementation.cache_tag}")
    if total != os.fstat(pack).st_size or not 0 <= size <= total:
        raise ValueError("its size is not that of the build")
    index = os.pread(pack, size, total - size)
    if crc32(index) != checksum:
        raise ValueError("its index is damaged")
    entries: Mapping[str, Entry] = marshal.loads(index)  # noqa: S302 - code as any other that was built
    return entries


def _fault(what: str) -> str:
    return f"modules.pack of the function {what}: build and deploy the function again"


class PackFinder:
    """A finder for ``sys.meta_path``. A module's paths are those of its source file, which need not be there."""

    def __init__(self, pack: int, entries: Mapping[str, Entry], *, root: str) -> None:
        self._pack = pack
        self._entries = entries
        self._root = root

    def find_spec(self, name: str, _: Sequence[str] | None = None, __: ModuleType | None = None) -> ModuleSpec | None:
        """Return the spec of a module in the pack; ``None`` if the module is not in it."""
        entry = self._entries.get(name)
        if entry is None:
            return None
        source = f"{self._root}/{entry[0]}"
        folder, file = source.rsplit("/", 1)
        spec = ModuleSpec(name, _PackLoader(name, source, pack=self._pack, entry=entry), origin=source)
        spec.has_location = True
        if file == "__init__.py":
            spec.submodule_search_locations = [folder]
        return spec


class _PackLoader(SourceFileLoader):
    """A loader of a source file whose code is in the pack. Sources and data files are read beside it, if they exist."""

    def __init__(self, name: str, path: str, *, pack: int, entry: Entry) -> None:
        super().__init__(name, path)
        self._pack = pack
        self._entry = entry

    def get_code(self, fullname: str) -> CodeType:
        """Return the module's code.

        Raises:
            ImportError: the code is damaged.
        """
        _, place, size, checksum = self._entry
        code = os.pread(self._pack, size, place)
        if crc32(code) != checksum:
            raise ImportError(_fault(f"is damaged at {fullname}"), name=fullname, path=self.path)
        compiled: CodeType = marshal.loads(code)  # noqa: S302 - code as any other that was built
        return compiled
