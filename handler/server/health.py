"""The health of the function: status and counts. The routes are open to anybody, so responses have no names."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from starlette.requests import Request as HttpCall
from starlette.responses import Response

from handler.cold.records import record
from handler.errors.access import CredentialRefused
from handler.errors.infrastructure import StorageError
from handler.server.asgi.request_log import RELEASE, note
from handler.server.asgi.responses import json_response
from handler.server.auth.identification import holder_of_key
from handler.server.context import Services
from handler.server.endpoints.registry import Endpoints, Instant
from handler.strict_json import JSONObject

OK, DEGRADED, NOT_READY = "ok", "degraded", "not_ready"

STATUS_OF_REPORT: Mapping[str, int] = {OK: 200, DEGRADED: 200, NOT_READY: 503}
"""A function that serves some endpoints stays in use: a broken bundle must not take the others down."""


def health_route(services: Services) -> Callable[[HttpCall], Awaitable[Response]]:
    """Build the readiness route, which asks storage if the function can serve its endpoints."""
    health = Health(services.endpoints)

    async def ready(http_call: HttpCall) -> Response:
        report = await health.report()
        note(http_call.scope, route="health", outcome=report.status)
        if report.why:
            note(http_call.scope, reason=f"NotReady: {report.why}")
        members = {"status": report.status, **report.counts}
        if key := http_call.headers.get("x-api-key", ""):
            with suppress(CredentialRefused):
                holder_of_key(key.strip(), services.endpoints.api_keys, services.clock())
                members |= RELEASE
        return _response(http_call, members, status=STATUS_OF_REPORT[report.status])

    return ready


def live_route(_: Services) -> Callable[[HttpCall], Awaitable[Response]]:
    """Build the liveness route, which only shows that the process answers."""

    async def live(http_call: HttpCall) -> Response:
        note(http_call.scope, route="health", outcome=OK)
        return _response(http_call, {"status": OK}, status=200)

    return live


@record(frozen=True, slots=True, kw_only=True)
class HealthReport:
    """The health status. ``why`` is the log's reason if the function is not ready, else empty."""

    status: str
    why: str
    counts: JSONObject


class Health:
    """The health of the endpoints. Storage is asked at most once per refresh interval, however many reports."""

    def __init__(self, endpoints: Endpoints) -> None:
        self._endpoints = endpoints
        self._asked: Instant | None = None
        self._storage_trouble = ""
        self._lock = asyncio.Lock()

    async def report(self) -> HealthReport:
        """Return the current status and counts. Waits for storage if its last answer is old."""
        async with self._lock:
            if self._endpoints.is_old(self._asked):
                await self._ask_storage()
        endpoints, checked_s = self._endpoints.known, self._endpoints.oldest_check_s
        counts: JSONObject = {
            "endpoints": sum(each.serves for each in endpoints),
            "failing": sum(each.failing for each in endpoints),
            "lacking": sum(each.lacking for each in endpoints),
            "oldestCheckS": None if checked_s is None else int(checked_s),
        }
        absences = self._endpoints.absences
        formats = sorted({number for each in absences.values() for number in each.formats})
        if formats:
            counts["otherFormats"] = formats
        status, why = DEGRADED if counts["failing"] else OK, ""
        if counts["lacking"]:
            status, why = NOT_READY, "the function lacks what an endpoint needs"
        elif endpoints and not counts["endpoints"]:
            status, why = NOT_READY, "no endpoint can be loaded"
        elif not endpoints and self._storage_trouble:
            status, why = NOT_READY, self._storage_trouble
        elif not endpoints and absences:
            status, why = NOT_READY if formats else DEGRADED, " ".join(map(str, absences.values()))
        return HealthReport(status=status, why=why, counts=counts)

    async def _ask_storage(self) -> None:
        """Ask storage for the endpoint not asked for longest; a failing one that does not serve comes first.

        Without any known endpoint, ask if storage can be read. One question per refresh interval is enough to notice
        failing storage, and to notice an endpoint that works again without a request for it.
        """
        endpoints = self._endpoints.known
        old = [each for each in endpoints if self._endpoints.is_old(each.asked)]
        if endpoints and not old:
            return
        self._storage_trouble = ""
        if old:
            now = self._endpoints.clock()
            urgent = max(old, key=lambda each: (each.failing and not each.serves, now.age_s(each.asked)))
            await self._endpoints.ask(urgent.name)
        else:
            try:
                await self._endpoints.reach()
            except StorageError as exc:
                self._storage_trouble = str(exc)
        self._asked = self._endpoints.clock()


def _response(http_call: HttpCall, content: JSONObject, *, status: int) -> Response:
    response = json_response(content, status=status)
    if http_call.method == "HEAD":
        response.body = b""
        del response.headers["content-length"]
    return response
