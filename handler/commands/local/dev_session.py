"""The session of ``stile dev``: endpoint folders, watched and compiled again with their modules at each change."""

from __future__ import annotations

import gc
import importlib.util
import os
import sys
import threading
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from types import ModuleType

from watchfiles import watch

from handler.bundle.model import ENDPOINT_NAME
from handler.bundle.stored import bundle_key
from handler.code_tools.modules import is_among
from handler.commands.console import complain, problem_line, say
from handler.commands.folders.endpoints import (
    Outcome,
    compile_one,
    complain_about,
    find_endpoints,
    refuse_same_names,
    walk,
)
from handler.commands.folders.user_secret import user_cache
from handler.commands.local.local_endpoint import local_settings
from handler.commands.local.local_server import unset_secrets
from handler.commands.publishing.checks import warn_of_upstreams
from handler.compiler.compile import Compiled, compile_explained, uncollected
from handler.compiler.config.config import left_over
from handler.compiler.provenance import Provenance
from handler.compiler.schema.schema_cache import SchemaCache
from handler.errors.infrastructure import SettingsError
from handler.settings import read_code_modules
from handler.storage.local import MemoryStorage
from handler.text.sentences import counted


class Workbench:
    """The bundles of a folder in memory, as ``stile dev`` serves them at ``address``.

    An endpoint that no longer compiles keeps its last good version. ``on_change`` hears of the files of each change.
    """

    def __init__(self, folder: Path, *, stage: str | None, endpoint: str | None = None, address: str) -> None:
        self.storage = MemoryStorage()
        self.on_change: Callable[[Collection[Path]], None] = lambda _: None
        self._lock = threading.Lock()  # its holder may import authors' modules
        self._folder = folder
        self._stage = stage
        self._endpoint = endpoint
        self._address = address
        self._schemas: SchemaCache = user_cache(folder, os.environ)
        self._compiled: dict[Path, Outcome] = {}
        self._reload = False  # True if changed modules are not taken over yet
        self._shown: dict[Path, Outcome] = {}
        self._served: dict[str, Compiled] = {}
        self._good: dict[Path, Compiled] = {}

    @property
    def served(self) -> dict[str, str]:
        """The URL of each served endpoint, by name."""
        return {name: self._url(name) for name in sorted(self._served)}

    def find(self, name: str) -> Compiled | None:
        """Return an endpoint by its name; ``None`` if it is not served."""
        return self._served.get(name)

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """The outcome of each folder, as last shown."""
        return tuple(self._shown.values())

    def folder_of(self, name: str) -> Path | None:
        """Return the folder of a served endpoint; ``None`` if it is not served."""
        compiled = self._served.get(name)
        return next((folder for folder, good in list(self._good.items()) if good is compiled), None)

    @property
    def unserved(self) -> dict[Path, str]:
        """The folders that never compiled, each with the name that its endpoint would have; its path without one."""
        names: dict[Path, str] = {}
        for outcome in self.outcomes:
            if outcome.problems and outcome.folder not in self._good:
                name = self._endpoint or "/".join(outcome.folder.resolve().parts[-2:])
                is_free = ENDPOINT_NAME.fullmatch(name) and name not in (*self._served, *names.values())
                names[outcome.folder] = name if is_free else outcome.folder.as_posix()
        return names

    def explained(self, name: str) -> tuple[Compiled, Provenance | None] | None:
        """Compile a served endpoint again with the rules behind each guard; ``None`` if it is not served.

        Raises:
            CompileError: its files have problems now.
        """
        folder = self.folder_of(name)
        if folder is None:
            return None
        with self._lock:
            return compile_explained(folder, stage=self._stage, endpoint=self._endpoint, environ=os.environ)

    def refresh(self, changed: Collection[Path] = ()) -> None:
        """Compile new and changed endpoints, and serve those that compile."""
        with self._lock, uncollected():
            self._compiled = self._compile(changed)
            outcomes = refuse_same_names(self._compiled.values())
            self._take_over(outcomes)
            for outcome in outcomes:
                if _any_below(outcome.folder, changed) or outcome != self._shown.get(outcome.folder):
                    self._show(outcome)
            self._shown = {outcome.folder: outcome for outcome in outcomes}
        self.on_change(changed)

    def _compile(self, changed: Collection[Path]) -> dict[Path, Outcome]:
        """Return the outcome of each folder.

        If a Python module changed, every endpoint with tools in Python is compiled. These endpoints share modules: if a
        served endpoint no longer compiles, all of them keep the former modules until the next change.
        """
        self._reload = self._reload or any(path.suffix == ".py" for path in changed)
        former = forget_modules() if self._reload else {}
        before = {
            folder: outcome
            for folder, outcome in self._compiled.items()
            if not _any_below(folder, changed) and not (self._reload and _has_code(outcome))
        }
        how = {"stage": self._stage, "endpoint": self._endpoint}
        now = {
            folder: before.get(folder) or compile_one(folder, **how, schemas=self._schemas)
            for folder in find_endpoints(self._folder)
        }
        if self._reload and any(now[folder].problems for folder in now.keys() & self._good.keys() - before.keys()):
            restore_modules(former)
            # An endpoint with code that compiled uses modules that are not taken over.
            return {
                folder: self._compiled.get(folder, outcome) if outcome.compiled and _has_code(outcome) else outcome
                for folder, outcome in now.items()
            }
        self._reload = False
        return now

    def _take_over(self, outcomes: Iterable[Outcome]) -> None:
        """Serve endpoints that compiled, and the last good version of others while their folder exists."""
        fresh = {outcome.folder: outcome.compiled for outcome in outcomes if outcome.compiled}
        stale = {
            outcome.folder: self._good[outcome.folder]
            for outcome in outcomes
            if outcome.folder not in fresh and outcome.folder in self._good
        }
        self._good = stale | fresh
        serving = {one.bundle.endpoint: one for one in self._good.values()}
        for name in self._served.keys() - serving.keys():
            self.storage.remove(bundle_key(name))
            say(f"{name}: withdrawn", "yellow")
        for name, compiled in serving.items():
            if self._served.get(name) is not compiled:
                for key, content in compiled.objects():
                    self.storage.write(key, content)
        self._served = serving

    def _show(self, outcome: Outcome) -> None:
        if outcome.compiled is None:
            complain_about([outcome])
            good = self._good.get(outcome.folder)
            where = self._url(good.bundle.endpoint) if good else outcome.folder.as_posix()
            complain(f"{where}: {'still the last good version' if good else 'not served until this is solved'}")
            return
        if outcome == self._shown.get(outcome.folder):
            return
        compiled = outcome.compiled
        for warning in left_over(compiled.warnings, compiled.ignores):
            say(problem_line(warning, outcome.folder, kind="warning: "), "yellow")
        warn_of_upstreams([compiled])
        for sentence in unset_secrets(compiled, local_settings()):
            say(f"{compiled.bundle.endpoint}: {sentence}", "yellow")
        names = [tool.name for tool in compiled.bundle.tools]
        say(f"{self._url(compiled.bundle.endpoint)}: {counted(len(names), 'tool')}: {', '.join(names)}", "green")

    def _url(self, name: str) -> str:
        return f"{self._address}/{name}/mcp"


def keep_fresh(workbench: Workbench, watch: FolderWatch, stop: threading.Event) -> None:
    """Take over every change until ``stop``. A change that fails does not end the loop."""
    for changed in watch.changes(stop):
        try:
            workbench.refresh(changed)
        except Exception:  # noqa: BLE001 - the edge of a change: the author goes on editing after any failure
            complain(f"{traceback.format_exc()}This change was not applied; the next one will be tried.")


def spare_what_stays() -> None:
    """Take all that is there out of the garbage collector's scans: scanning a schema takes longer than a save."""
    gc.collect()
    gc.freeze()


LOOK_S = 1.0
"""The time between looks without a file event: some network drives and containers send no events."""

Stamp = tuple[int, int, int]  # inode, size, time of the last change in ns


class FolderWatch:
    """The files below a folder, as last seen. No change after the construction is lost, however slow the consumer is.

    ``modules`` returns the folders and files of Python modules to watch as well.
    """

    def __init__(self, folder: Path, *, modules: Callable[[], Iterable[Path]] = tuple) -> None:
        self._top = folder
        self._modules = modules
        self._folders, self._files = self._look()

    def changes(self, stop: threading.Event) -> Iterator[frozenset[Path]]:
        """Yield the files that changed, came or went since the last look, each time there are any, until ``stop``."""
        while not stop.is_set():
            watched = self._folders
            for _ in _wake_ups(watched, stop):
                former = self._files
                self._folders, self._files = self._look()
                different = former.items() ^ self._files.items()
                if different:
                    yield frozenset(path for path, _ in different)
                if self._folders != watched:
                    break

    def _look(self) -> tuple[list[Path], dict[Path, Stamp]]:
        """Return the folders to watch, and the present files."""
        folders: list[Path] = []
        files: dict[Path, Stamp] = {}
        for inner, _ in walk(self._top):
            folders.append(inner)
            files.update(_files_in(inner))
        for place in self._modules():
            for inner in [each for each, _ in walk(place)] if place.is_dir() else [place.parent]:
                folders.append(inner)
                sources = ((file, stamp) for file, stamp in _files_in(inner) if file.suffix == ".py")
                files.update((file, stamp) for file, stamp in sources if place.is_dir() or file == place)
        return folders, files


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


def _wake_ups(folders: Iterable[Path], stop: threading.Event) -> Iterator[None]:
    """Yield when a folder has an event, or ``LOOK_S`` has passed.

    Each folder is watched by itself: a recursive watch would include node_modules.
    """
    try:
        for _ in watch(
            *folders,
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


def code_places() -> list[Path]:
    """Return the places of ``STILE_CODE_MODULES``: folders of packages, files of modules; empty if none is found."""
    try:
        modules = read_code_modules(os.environ)
    except SettingsError:  # the compiler reports it
        return []
    places: list[Path] = []
    for module in modules:
        top, *below = module.split(".")
        try:
            spec = importlib.util.find_spec(top)  # without an import, because the import may be the failure
        except (ImportError, ValueError):  # a module in sys.modules without a file
            continue
        if spec:
            folders = [Path(each, *below) for each in spec.submodule_search_locations or ()]
            files = [each.with_suffix(".py") for each in folders] if below else [Path(spec.origin or "nowhere")]
            places += [place for place in folders if place.is_dir()] or [place for place in files if place.is_file()]
    return places


def forget_modules() -> dict[str, ModuleType]:
    """Remove the modules of ``STILE_CODE_MODULES``, so that the next import reads them again, and return them."""
    modules = read_code_modules(os.environ)
    former = {name: module for name, module in sys.modules.items() if is_among(name, modules)}
    for name in former:
        del sys.modules[name]
    return former


def restore_modules(former: dict[str, ModuleType]) -> None:
    """Restore the modules that ``forget_modules`` returned."""
    forget_modules()
    sys.modules.update(former)


def _has_code(outcome: Outcome) -> bool:
    """Return whether an endpoint has tools in Python, or has problems and so may have such tools later."""
    return outcome.compiled is None or bool(outcome.compiled.bundle.code)


def _any_below(folder: Path, changed: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) for path in changed)
