"""The request-time door: ``handler``, built once per container.

A request's life: API Gateway event -> Mangum -> server/app.py (route, principal) -> server/inbound.py (message) ->
server/methods.py (method) -> server/tools.py (tool) -> server/upstream.py -> event response.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aws_lambda_powertools import Logger
from mangum import Mangum

from handler.errors import BundleError, EndpointNotFound, StorageError
from handler.http import HttpClient
from handler.server.app import TEXT_MEDIA_TYPES, create_app
from handler.server.endpoints import Endpoints, Keeping
from handler.server.outgoing.services import outgoing_services
from handler.server.pseudonyms import Pseudonyms
from handler.server.request_state import RequestStates
from handler.server.services import Services
from handler.server.tokens import TokenVerifier
from handler.settings import Settings, read_settings
from handler.storage import open_storage

logger = Logger(service=os.environ.get("POWERTOOLS_SERVICE_NAME", "stile"))


def build_handler(settings: Settings, environ: Mapping[str, str]) -> Mangum:
    """The Lambda handler for these settings, with the preloaded endpoints in memory."""
    if settings.addresses.local:
        logger.warning(
            "STILE_ALLOW_LOCAL_UPSTREAMS is set: APIs may be on loopback and without TLS. Never in production."
        )
    http = HttpClient(replace(settings.addresses, runtime_api=environ.get("AWS_LAMBDA_RUNTIME_API", "")))
    endpoints = Endpoints(
        open_storage(settings.bundles, http=http, environ=environ),
        keeping=Keeping(
            refresh_s=settings.refresh_s, max_stale_s=settings.max_stale_s, max_bytes=settings.cache_mb * 1_048_576
        ),
        on_trouble=_log_trouble,
    )
    for name in settings.preload:
        _preload(endpoints, name)
    services = Services(
        endpoints=endpoints,
        http=http,
        tokens=TokenVerifier(http, secrets=settings.secrets),
        allowed_origins=settings.allowed_origins,
        public_url=settings.public_url,
        states=RequestStates(settings.state_keys),
        code_modules=settings.code_modules,
        outgoing=outgoing_services(settings, environ, http),
        pseudonyms=Pseudonyms(key=settings.log_key, plain=settings.log_subject == "plain"),
    )
    # Mangum runs every invocation on the current loop, and from Python 3.12 on it has to find one.
    asyncio.set_event_loop(asyncio.new_event_loop())
    app = create_app(services, write_line=_write_line)
    return Mangum(app, lifespan="off", text_mime_types=[*TEXT_MEDIA_TYPES])


def _preload(endpoints: Endpoints, name: str) -> None:
    """A container that cannot load one endpoint still serves the others; the next request for it tries again."""
    try:
        endpoints.load(name)
    except EndpointNotFound:
        logger.warning("preload: no such endpoint", endpoint=name)
    except (StorageError, BundleError):
        pass  # on_trouble has logged it


def _log_trouble(name: str, trouble: Exception) -> None:
    logger.error("endpoint not loaded", endpoint=name, reason=str(trouble))


def _write_line(facts: Mapping[str, Any], *, failure: BaseException | None) -> None:
    if failure is not None:
        logger.error("request", **facts, exc_info=failure)
    else:
        logger.info("request", **facts)


handler = build_handler(read_settings(os.environ), os.environ)
