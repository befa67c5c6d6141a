"""The routes ``/-/…`` of ``stile dev``: all that the page shows beyond MCP. They are for pages of this server alone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from starlette.requests import Request as HttpCall
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from handler.commands.local.callers import NamedCaller
from handler.commands.local.dev_log import PAGE, RequestParts, current_headers
from handler.commands.local.dev_session import Workbench
from handler.commands.page.live import Live, call_event, utc_now
from handler.commands.page.page_answers import (
    plain_api,
    plain_endpoint,
    plain_problems,
    plain_tools,
    plain_unserved,
    reach_of_field,
    why_not_field,
    why_not_tool,
)
from handler.commands.page.served import AUTHOR, HEADER, Persona, ServedEndpoint, find_persona
from handler.server.asgi.content_negotiation import EVENT_STREAM
from handler.server.asgi.own_machine import require_own_page
from handler.server.asgi.request_log import note
from handler.server.asgi.responses import Refused, json_response
from handler.server.auth.principal import DEVELOPMENT

PERSONAS_OFF = "stile dev --as-deployed takes callers as they come: it has no personas"

SECURITY = {
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
}

Answer = Callable[[HttpCall], Awaitable[Response]]
Ask = Callable[[Mapping[str, str]], dict[str, Any]]


class DevPage:
    """The page's view of ``stile dev``. Without ``personas``, callers are as they come."""

    def __init__(self, workbench: Workbench, *, personas: bool) -> None:
        self._workbench = workbench
        self._personas = personas
        self._endpoints: dict[str, ServedEndpoint] = {}
        self._since = utc_now()  # when the last change was taken over
        self.live = Live(lambda: {"problems": plain_problems(workbench, self._served()), "since": self._since})

    def changed(self, files: Collection[Path]) -> None:
        """Hear of a change that is taken over."""
        names = sorted(file.as_posix() for file in files)
        self._since = now = utc_now()
        self.live.reloaded(lambda: {"at": now, "files": names, "endpoints": sorted(self._workbench.served)})

    def called(self, facts: Mapping[str, Any], parts: RequestParts, sentences: list[str]) -> None:
        """Hear of a call."""
        compiled = self._workbench.find(str(facts.get("endpoint", "")))
        self.live.call(call_event(facts, parts, sentences, caller=self._caller(facts, parts), compiled=compiled))

    def chosen_caller(self, name: str) -> NamedCaller | None:
        """Return the caller of a persona that the current request names at an endpoint; ``None`` if it names none.

        Raises:
            Refused: 403 unless the request is from the page of this server; 400 if there is no such persona.
        """
        headers = current_headers()
        if HEADER not in headers:
            return None
        require_own_page(headers)
        personas: list[Persona] = []
        with suppress(Refused):
            personas = self._find(name).personas
        return find_persona(personas, headers[HEADER]).caller

    def routes(self) -> tuple[Route, ...]:
        """Return the routes."""

        async def events(_: HttpCall) -> Response:
            return StreamingResponse(self.live.stream(), media_type=EVENT_STREAM, headers=SECURITY)

        def tools(query: Mapping[str, str]) -> dict[str, Any]:
            served, persona = self._endpoint_and_persona(query)
            return {"tools": plain_tools(served, persona), "caller": persona.id}

        def api(query: Mapping[str, str]) -> dict[str, Any]:
            return plain_api(self._find(query.get("endpoint", "")))

        asks = {"endpoints": self._all, "tools": tools, "api": api, "why": self._why, "reach": self._reach}
        answers: dict[str, Answer] = {**{name: partial(_json, ask) for name, ask in asks.items()}, "events": events}
        routes = tuple(Route(f"/-/{name}", partial(_own, answer), methods=["GET"]) for name, answer in answers.items())
        for route in routes:
            route.methods = {"GET"}  # Starlette adds HEAD, for which a stream would wait without an end
        return routes

    def _all(self, _: Mapping[str, str]) -> dict[str, Any]:
        since = self._since  # of the answer, or older
        served = self._served()
        problems = plain_problems(self._workbench, served)
        urls = self._workbench.served
        endpoints = [plain_endpoint(each, urls.get(each.name, ""), personas=self._personas) for each in served]
        endpoints += [plain_unserved(name, folder) for folder, name in self._workbench.unserved.items()]
        errors = [problem["endpoint"] for problem in problems if problem["severity"] == "error"]
        for endpoint in endpoints:
            endpoint["problems"] = errors.count(endpoint["name"])
        return {
            "endpoints": endpoints,
            "problems": problems,
            "root": Path.cwd().as_posix(),  # files are named as by the command, and editors open whole paths
            "personas": self._personas,
            "since": since,
            "note": "" if self._personas else PERSONAS_OFF,
        }

    def _served(self) -> list[ServedEndpoint]:
        endpoints = []
        for name in self._workbench.served:
            with suppress(Refused):  # withdrawn since then
                endpoints.append(self._find(name))
        return endpoints

    def _find(self, name: str) -> ServedEndpoint:
        """Return the current version of an endpoint by its name.

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

    def _why(self, query: Mapping[str, str]) -> dict[str, Any]:
        served, persona = self._endpoint_and_persona(query)
        if query.get("tool"):
            return why_not_tool(served, persona, query["tool"])
        return why_not_field(served, persona, query.get("field", ""))

    def _reach(self, query: Mapping[str, str]) -> dict[str, Any]:
        served = self._find(query.get("endpoint", ""))
        personas = [each for each in served.personas if each.id != AUTHOR] if self._personas else []
        return reach_of_field(served, personas, query.get("field", ""))

    def _endpoint_and_persona(self, query: Mapping[str, str]) -> tuple[ServedEndpoint, Persona]:
        """Return the endpoint and the persona of a request.

        Raises:
            Refused: 404 if the endpoint is not served, 400 if it has no such persona.
        """
        served = self._find(query.get("endpoint", ""))
        if not self._personas and query.get("caller", "") not in ("", AUTHOR):
            raise Refused("bad-request", PERSONAS_OFF)
        return served, find_persona(served.personas, query.get("caller", ""))

    def _caller(self, facts: Mapping[str, Any], parts: RequestParts) -> str:
        """Return the persona of a call, or the kind of its caller."""
        has_credential = "authorization" in parts.headers or "x-api-key" in parts.headers
        if self._personas and not has_credential and HEADER in parts.headers:
            return parts.headers[HEADER]
        principal = str(facts.get("principal", ""))
        return AUTHOR if principal == DEVELOPMENT.kind else principal


async def _json(ask: Ask, http_call: HttpCall) -> Response:
    """Answer by another thread: it may compile an endpoint."""
    return json_response(await asyncio.to_thread(ask, http_call.query_params), headers=SECURITY)


async def _own(answer: Answer, http_call: HttpCall) -> Response:
    """Answer the page of this server alone."""
    note(http_call.scope, route=PAGE)
    require_own_page(http_call.headers)
    return await answer(http_call)
