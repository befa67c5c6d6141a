from __future__ import annotations

import argparse
import json
import threading
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import uvicorn
from watchfiles import watch

from handler.bundle import bundle_key, index_key, write_bundle
from handler.commands.compiling import Outcome, add_folder_arguments, compile_all, no_endpoint
from handler.commands.console import complain, say, show_problems
from handler.http import HttpClient
from handler.server.app import Services, create_app
from handler.server.endpoints import Endpoints
from handler.storage import MemoryStorage

HELP = "Serve endpoint folders on this machine, compiling them again whenever a file is saved."

HOST = "127.0.0.1"
DEFAULT_PORT = 8000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_folder_arguments(parser)
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help="port on 127.0.0.1 (default: %(default)s)")


def run(options: argparse.Namespace) -> int:
    if not options.folder.is_dir():
        complain(no_endpoint(options.folder))
        return 2
    workbench = Workbench(options.folder, stage=options.stage)
    if not workbench.compile():
        complain(no_endpoint(options.folder))
        return 2
    for name in workbench.served:
        _introduce(f"http://{HOST}:{options.port}/{name}/mcp", name)
    stop = threading.Event()
    watcher = threading.Thread(target=_watch, args=(workbench, options.folder, stop), daemon=True)
    watcher.start()
    try:
        _serve(workbench.storage, options.port)
    finally:
        stop.set()
        watcher.join()
    return 0


class Workbench:
    """The bundles of a folder in memory; one that no longer compiles stays as it last was."""

    def __init__(self, folder: Path, *, stage: str | None) -> None:
        self._folder = folder
        self._stage = stage
        self._names: dict[Path, str] = {}
        self.storage = MemoryStorage()

    @property
    def served(self) -> list[str]:
        """The endpoints that answer, by name."""
        return sorted(self._names.values())

    def compile(self) -> bool:
        """Compile everything and take over what works; ``False`` when there is no endpoint at all."""
        outcomes = compile_all(self._folder, stage=self._stage)
        for gone in self._names.keys() - {outcome.folder for outcome in outcomes}:
            self.storage.remove(bundle_key(self._names.pop(gone)))
        for outcome in outcomes:
            self._take(outcome)
        return bool(outcomes)

    def _take(self, outcome: Outcome) -> None:
        show_problems(outcome.problems, outcome.folder)
        if outcome.compiled is None:
            if outcome.folder in self._names:
                complain(f"{self._names[outcome.folder]}: still serving the last good version")
            return
        show_problems(outcome.compiled.warnings, outcome.folder, style="yellow", prefix="warning: ")
        bundle = outcome.compiled.bundle
        if outcome.folder in self._names and self._names[outcome.folder] != bundle.endpoint:
            self.storage.remove(bundle_key(self._names[outcome.folder]))
        self.storage.write(index_key(bundle.index), outcome.compiled.index)
        self.storage.write(bundle_key(bundle.endpoint), write_bundle(bundle))
        self._names[outcome.folder] = bundle.endpoint
        say(
            f"{bundle.endpoint}: {len(bundle.tools)} tools: {', '.join(tool.name for tool in bundle.tools)}",
            "green",
        )


def _watch(workbench: Workbench, folder: Path, stop: threading.Event) -> None:
    for _ in watch(folder, stop_event=stop, raise_interrupt=False):
        workbench.compile()


def _introduce(url: str, name: str) -> None:
    say(f"\n{url}", "bold")
    say("Without a credential you are the development principal, who may use everything. To paste into a client:\n")
    say(json.dumps({"mcpServers": {name.replace("/", "-"): {"type": "http", "url": url}}}, indent=2))


def _serve(storage: MemoryStorage, port: int) -> None:
    origins = frozenset(f"http://{host}:{port}" for host in (HOST, "localhost"))
    services = Services(
        endpoints=Endpoints(storage, refresh_s=0, on_trouble=lambda name, exc: complain(f"{name}: {exc}")),
        http=HttpClient(),
        allowed_origins=origins,
        development=True,
    )
    app = create_app(services, write_line=_write_line)
    say("\nServing; Ctrl-C ends it.", "dim")
    uvicorn.run(app, host=HOST, port=port, log_level="warning", access_log=False, lifespan="off", ws="none")


def _write_line(facts: Mapping[str, Any], *, failure: BaseException | None) -> None:
    parts = [facts.get(key) for key in ("endpoint", "method", "tool", "status", "outcome", "reason")]
    say(f"{' '.join(str(part) for part in parts if part)} ({facts['duration_ms']} ms)", "dim")
    if failure is not None:
        complain("".join(traceback.format_exception(failure)))
