"""The session of ``stile dev``: endpoint folders that are compiled again whenever they change."""

from __future__ import annotations

import gc
import os
import threading
import traceback
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from handler.bundle.model import ENDPOINT_NAME
from handler.bundle.stored import bundle_key
from handler.commands.folders.endpoint_folders import find_endpoints
from handler.commands.folders.endpoints import Outcome, compile_one, complain_about, refuse_same_names
from handler.commands.folders.user_secret import user_cache
from handler.commands.local.file_watch import FolderWatch
from handler.commands.local.local_endpoint import local_settings
from handler.commands.local.local_secrets import unset_secrets
from handler.commands.local.reloading import forget_modules, restore_modules
from handler.commands.publishing.checks import warn_of_upstreams
from handler.commands.terminal.console import complain, located, say
from handler.compiler.compile import Compiled, compile_explained
from handler.compiler.config.ignores import left_over
from handler.compiler.provenance import Provenance
from handler.compiler.schema.schema_cache import SchemaCache
from handler.storage.local import MemoryStorage
from handler.text.sentences import counted


class Workbench:
    """The bundles of a folder in memory, as ``stile dev`` serves them at ``address``.

    An endpoint that no longer compiles keeps its last good version. ``on_change`` hears of the files of each change.
    """

    def __init__(self, folder: Path, *, stage: str | None, endpoint: str | None = None, address: str) -> None:
        self.storage = MemoryStorage()
        self.on_change: Callable[[Collection[Path]], None] = lambda _: None
        self._lock = threading.Lock()  # who holds it may import authors' modules
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
        found: dict[Path, str] = {}
        for outcome in self.outcomes:
            if outcome.problems and outcome.folder not in self._good:
                name = self._endpoint or "/".join(outcome.folder.resolve().parts[-2:])
                is_free = ENDPOINT_NAME.fullmatch(name) and name not in (*self._served, *found.values())
                found[outcome.folder] = name if is_free else outcome.folder.as_posix()
        return found

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
        with self._lock:
            self._refresh(changed)
        self.on_change(changed)

    def _refresh(self, changed: Collection[Path]) -> None:
        self._compiled = self._compile(changed)
        outcomes = refuse_same_names(self._compiled.values())
        self._take_over(outcomes)
        for outcome in outcomes:
            if _any_below(outcome.folder, changed) or outcome != self._shown.get(outcome.folder):
                self._show(outcome)
        self._shown = {outcome.folder: outcome for outcome in outcomes}

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
        now = {folder: before.get(folder) or self._compile_one(folder) for folder in find_endpoints(self._folder)}
        if self._reload and any(now[folder].problems for folder in now.keys() & self._good.keys() - before.keys()):
            restore_modules(former)
            return {folder: self._former(folder, outcome) for folder, outcome in now.items()}
        self._reload = False
        return now

    def _compile_one(self, folder: Path) -> Outcome:
        return compile_one(folder, stage=self._stage, endpoint=self._endpoint, schemas=self._schemas)

    def _former(self, folder: Path, outcome: Outcome) -> Outcome:
        """Return a folder's former outcome if the new one uses modules that are not taken over, else the new one."""
        has_code = outcome.compiled is not None and _has_code(outcome)
        return self._compiled.get(folder, outcome) if has_code else outcome

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
        elif outcome != self._shown.get(outcome.folder):
            self._announce(outcome, outcome.compiled)

    def _announce(self, outcome: Outcome, compiled: Compiled) -> None:
        for warning in left_over(compiled.warnings, compiled.ignores):
            say(located(warning, outcome.folder, kind="warning: "), "yellow")
        warn_of_upstreams([compiled])
        for sentence in unset_secrets(compiled, local_settings()):
            say(f"{compiled.bundle.endpoint}: {sentence}", "yellow")
        names = [tool.name for tool in compiled.bundle.tools]
        count = counted(len(names), "tool")
        say(f"{self._url(compiled.bundle.endpoint)}: {count}: {', '.join(names)}", "green")

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


def _has_code(outcome: Outcome) -> bool:
    """Tell if an endpoint has tools in Python, or has problems and so may have such tools later."""
    return outcome.compiled is None or bool(outcome.compiled.bundle.code)


def _any_below(folder: Path, changed: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) for path in changed)
