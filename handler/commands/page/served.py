"""The served endpoints for the page. Parts of answers are made once for each version of an endpoint."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from handler.audience.reach import Reach, Visitor
from handler.commands.folders.tool_costs import ToolRow, tool_rows
from handler.commands.local.dev_session import Workbench
from handler.commands.page.personas import Persona, personas_of
from handler.commands.publishing.checks import check_warnings
from handler.compiler.compile import Compiled
from handler.errors.authoring import CompileError, Problem, UnknownCaller
from handler.server.asgi.responses import Refused

UNSOLVED = "the files of the endpoint have problems, so their rules are not known: solve the problems first"


T = TypeVar("T")


class ServedEndpoint:
    """One version of an endpoint. Threads may share it."""

    def __init__(self, workbench: Workbench, folder: Path, compiled: Compiled) -> None:
        self._workbench = workbench
        self._parts: dict[str, Any] = {}
        self._lock = threading.RLock()
        self.folder = folder
        self.compiled = compiled

    @property
    def name(self) -> str:
        """The endpoint's name."""
        return self.compiled.bundle.endpoint

    @property
    def personas(self) -> list[Persona]:
        """The personas, with the claims files that are there now."""
        return personas_of(self.folder, self.compiled)

    @property
    def reach(self) -> Reach:
        """The reach of callers without the rules behind closed entrances, which takes no further compilation."""
        return self._once("reach", lambda: Reach(self.compiled, None))

    @property
    def explained(self) -> Reach:
        """The reach of callers with the rules behind closed entrances.

        Raises:
            Refused: 503, the files have problems now; 404, the endpoint is not served any more.
        """
        return self._once("explained", self._explained)

    @property
    def rows(self) -> dict[str, ToolRow]:
        """The tools by name, with their costs."""
        return self._once("rows", lambda: {row.name: row for row in tool_rows(self.compiled)})

    @property
    def warnings(self) -> list[Problem]:
        """The warnings of ``stile check``."""
        return self._once("warnings", lambda: check_warnings(self.compiled, self.folder))

    def _once(self, name: str, make: Callable[[], T]) -> T:
        with self._lock:
            if name not in self._parts:
                self._parts[name] = make()
            part: T = self._parts[name]
        return part

    def _explained(self) -> Reach:
        try:
            explained = self._workbench.explained(self.name)
        except CompileError as exc:
            raise Refused("endpoint-unavailable", UNSOLVED) from exc
        if explained is None:
            raise Refused("endpoint-not-found", "there is no such endpoint")
        return Reach(*explained)


class ServedEndpoints:
    """The endpoints of ``stile dev``, each with its current version."""

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        self._endpoints: dict[str, ServedEndpoint] = {}

    def find(self, name: str) -> ServedEndpoint:
        """Return an endpoint by its name.

        Raises:
            Refused: 404, it is not served.
        """
        compiled, folder = self._workbench.find(name), self._workbench.folder_of(name)
        if compiled is None or folder is None:
            raise Refused("endpoint-not-found", "there is no such endpoint")
        endpoint = self._endpoints.get(name)
        if endpoint is None or endpoint.compiled is not compiled:
            endpoint = self._endpoints[name] = ServedEndpoint(self._workbench, folder, compiled)
        return endpoint

    def personas(self, name: str) -> list[Persona]:
        """Return the personas of an endpoint; an empty list if it is not served."""
        try:
            return self.find(name).personas
        except Refused:
            return []


def visitor_of(reach: Reach, persona: Persona) -> Visitor:
    """Return a persona at an endpoint.

    Raises:
        Refused: 400, the endpoint has no such API key any more.
    """
    try:
        return reach.visitor(persona.caller)
    except UnknownCaller as exc:
        raise Refused("bad-request", str(exc)) from exc
