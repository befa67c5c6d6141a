"""The Lambda function, built from its settings, and renewed after a snapshot.

With SnapStart, many processes begin as copies of one snapshot, which may be months old. A snapshot is taken after init,
before any request. Keys of issuers, checked signatures and circuit breakers go by the wall clock, which goes on
meanwhile, and need no hook. Authors' modules load with a first call, so a snapshot has none.

Source: AWS Lambda developer guide, "Implement code before or after Lambda function snapshots" and "Handling uniqueness
with Lambda SnapStart".
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from mangum import Mangum
from mangum.handlers import ALB, HTTPGateway
from mangum.protocols import HTTPCycle
from mangum.types import LambdaHandler, Scope

from handler.aws.json_client import AwsJson
from handler.aws.sigv4 import CredentialSource
from handler.cold.records import replaced
from handler.http.client import HttpClient
from handler.server.app import create_app
from handler.server.asgi import content_negotiation as media_types
from handler.server.asgi.request_log import RequestLog
from handler.server.context import Services
from handler.server.log import log_begun, make_logger, make_metrics, write_line
from handler.server.start import start_endpoints, start_services
from handler.settings import Settings
from handler.storage.storage import Storage


def build_handler(
    settings: Settings,
    environ: Mapping[str, str],
    *,
    http: HttpClient,
    storage: Storage,
    credentials: CredentialSource,
    settle: Callable[[], None] = lambda: None,
) -> Door:
    """Build the Lambda handler for these settings, with the preloaded endpoints in memory.

    ``settle`` waits for reads of ``storage`` that other threads have begun.
    """
    logger = make_logger(environ)
    metrics = make_metrics(settings, environ, logger)
    endpoints = start_endpoints(settings, storage, logger, metrics=metrics)
    aws = AwsJson(http, environ, credentials=credentials)
    services = start_services(settings, endpoints, http=http, aws=aws, logger=logger)
    renew_after_restore(services, environ, preload=settings.preload, settle=settle)
    # Mangum runs each invocation on the current loop, which Python 3.12 and later do not create by themselves.
    asyncio.set_event_loop(asyncio.new_event_loop())
    memory_mb = int(environ.get("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "0"))
    services = replaced(services, log_begun=partial(log_begun, logger, memory_mb=memory_mb))
    app = create_app(services, write_line=partial(write_line, logger, metrics=metrics, memory_mb=memory_mb))

    def answer_other(event: Any, context: Any) -> dict[str, Any]:
        if metrics:
            metrics.warmed()
        from handler.server.other_events import answer_event

        return answer_event(event, context, endpoints=endpoints, preload=settings.preload, logger=logger)

    def trace() -> None:
        http.observer = None
        # The runtime sets it for each invocation. Source: the AWS Lambda guide, "Runtime environment".
        if "Sampled=1" in environ.get("_X_AMZN_TRACE_ID", ""):
            from handler.aws.subsegments import subsegments_of

            http.observer = subsegments_of(environ)

    return Door(app, trace=trace, answer_other=answer_other)


class Door(Mangum):
    """The Lambda handler: Mangum for requests of front doors, ``answer_other`` for all other events.

    ``trace`` is called before each event: the platform decides for each invocation if it is traced.
    """

    def __init__(
        self, app: RequestLog, *, trace: Callable[[], None], answer_other: Callable[[Any, Any], dict[str, Any]]
    ) -> None:
        texts = [*media_types.TEXTS]
        super().__init__(app, lifespan="off", custom_handlers=[ALB, _HttpApi], text_mime_types=texts)
        self._trace = trace
        self._answer_other = answer_other

    def __call__(self, event: Any, context: Any) -> dict[str, Any]:
        self._trace()
        read = self._read(event, context)
        if read is None:
            return self._answer_other(event, context)
        door, cycle = read
        return door(cycle(self.app))

    def _read(self, event: Any, context: Any) -> tuple[LambdaHandler, HTTPCycle] | None:
        """Read an event as a request of API Gateway, a function URL or a load balancer; ``None`` if it is not one."""
        members = event.get("requestContext") if isinstance(event, dict) else None
        if not isinstance(members, dict) or "methodArn" in event or "routeArn" in event:  # of authorizers are alike
            return None
        if members.keys().isdisjoint(("http", "elb")) and "httpMethod" not in event:
            return None
        try:
            door = self.infer(event, context)
            scope = door.scope
            cycle = HTTPCycle(scope, door.body)
        except Exception:  # noqa: BLE001 - the edge of a Lambda event: any member may be missing or of another type
            return None
        return (door, cycle) if isinstance(scope["method"], str) else None  # Mangum does not check the type


class _HttpApi(HTTPGateway):
    """Events of HTTP APIs and function URLs. Mangum's own class makes the scope twice for each."""

    @cached_property
    def scope(self) -> Scope:
        return super().scope


SNAP_START = ("AWS_LAMBDA_INITIALIZATION_TYPE", "snap-start")


def renew_after_restore(
    services: Services,
    environ: Mapping[str, str],
    *,
    preload: Sequence[str] = (),
    settle: Callable[[], None] = lambda: None,
) -> None:
    """Have the runtime call ``prepare`` before a snapshot and ``renew`` after each restore, if SnapStart is on.

    ``preload``: the endpoints that init has loaded. ``settle`` waits for reads in other threads: each would give its
    connection back after the restore.
    """
    name, value = SNAP_START
    if environ.get(name) == value:
        from snapshot_restore_py import register_after_restore, register_before_snapshot  # in AWS's runtime

        register_before_snapshot(prepare, services, preload, settle)
        register_after_restore(renew, services)


def prepare(services: Services, preload: Sequence[str], settle: Callable[[], None]) -> None:
    """Load the modules of first calls, because nobody waits for a snapshot; keep no connection and no credential."""
    import gc

    from handler.server.other_events import warm

    settle()
    asyncio.get_event_loop().run_until_complete(warm(services.endpoints, preload))
    let_go(services)
    gc.freeze()  # a collection would have Lambda load the memory of all that was imported


def let_go(services: Services) -> None:
    """Close connections, and forget secrets, tokens and credentials."""
    services.http.close()
    services.outgoing.forget()


def renew(services: Services) -> None:
    """Give this copy its own connections, secrets and random numbers. Storage confirms an endpoint before it serves."""
    let_go(services)
    services.endpoints.doubt()
    services.pseudonyms.renew()
    seed_generators()


def seed_generators() -> None:
    """Seed OpenSSL's generator, which makes the keys of TLS, and the one of ``random``: copies share their states.

    OpenSSL by itself seeds its generator again if the process id changes, and copies have one process id.
    """
    import random
    import ssl

    ssl.RAND_add(os.urandom(48), 0.0)
    random.seed()
