"""The Lambda function, built from its settings."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger
from mangum import Mangum
from mangum.protocols import HTTPCycle
from mangum.types import LambdaHandler

from handler.aws.services import AwsJson
from handler.aws.sigv4 import CredentialSource
from handler.bundle.model import Bundle
from handler.errors.calls import EndpointNotFound
from handler.errors.infrastructure import BundleError, FunctionLacks, StorageError
from handler.http.client import HttpClient
from handler.server.app import create_app
from handler.server.asgi import content_negotiation as media_types
from handler.server.asgi.request_log import WARNING, RequestLog, level_of
from handler.server.auth.pseudonyms import Pseudonyms
from handler.server.auth.sealed_state import RequestStates
from handler.server.auth.tokens import TokenVerifier
from handler.server.context.services import Services
from handler.server.endpoints.registry import CachePolicy, Endpoints
from handler.server.outgoing.services import outgoing_services
from handler.server.snapshots import renew_after_restore
from handler.settings import SecretArn, Settings
from handler.storage.storage import Storage
from handler.strict_json import well_formed

if TYPE_CHECKING:
    from handler.server.endpoints.lacks import Lack


MAX_REASON_CHARS = 2_000
"""Characters of a logged reason, because a bundle may name any number of modules."""


def build_handler(
    settings: Settings,
    environ: Mapping[str, str],
    *,
    http: HttpClient,
    storage: Storage,
    credentials: CredentialSource,
) -> Door:
    """Build the Lambda handler for these settings, with the preloaded endpoints in memory."""
    logger = Logger(service=environ.get("POWERTOOLS_SERVICE_NAME", "stile"), json_serializer=_json_line)
    if settings.addresses.local:
        logger.warning(
            "STILE_ALLOW_LOCAL_UPSTREAMS is set: APIs may be on loopback and without TLS. Never in production."
        )
    endpoints = Endpoints(
        storage,
        keeping=CachePolicy(
            refresh_s=settings.refresh_s, max_stale_s=settings.max_stale_s, max_bytes=settings.cache_mb * 1_048_576
        ),
        on_trouble=partial(_log_trouble, logger),
        find_lacks=partial(_lacks_of, settings),
    )
    for name in settings.preload:
        _preload(endpoints, name, logger)
    outgoing = outgoing_services(
        settings, AwsJson(http, environ, credentials=credentials), on_trouble=partial(_log_unread, logger)
    )
    services = Services(
        endpoints=endpoints,
        http=http,
        tokens=TokenVerifier(http, secrets=settings.secrets, own=outgoing.own),
        allowed_origins=settings.allowed_origins,
        public_url=settings.public_url,
        states=RequestStates(settings.state_keys, own=outgoing.own),
        code_modules=settings.code_modules,
        outgoing=outgoing,
        pseudonyms=Pseudonyms(key=settings.log_key, plain=settings.log_subject == "plain", own=outgoing.own),
    )
    renew_after_restore(services, environ)
    # Mangum runs each invocation on the current loop, which Python 3.12 and later do not create by themselves.
    asyncio.set_event_loop(asyncio.new_event_loop())
    app = create_app(services, write_line=partial(_write_line, logger))

    def answer_other(event: Any, context: Any) -> dict[str, Any]:
        from handler.server.other_events import OtherEvents

        return OtherEvents(endpoints, settings.preload, logger).answer(event, context)

    return Door(app, answer_other=answer_other)


class Door(Mangum):
    """The Lambda handler: Mangum for requests of front doors, ``answer_other`` for all other events."""

    def __init__(self, app: RequestLog, *, answer_other: Callable[[Any, Any], dict[str, Any]]) -> None:
        super().__init__(app, lifespan="off", text_mime_types=[*media_types.TEXTS])
        self._answer_other = answer_other

    def __call__(self, event: Any, context: Any) -> dict[str, Any]:
        read = self._read(event, context)
        if read is None:
            return self._answer_other(event, context)
        door, cycle = read
        return door(cycle(self.app))

    def _read(self, event: Any, context: Any) -> tuple[LambdaHandler, HTTPCycle] | None:
        """Read an event as a request of a front door; ``None`` if it is not a valid one."""
        if not _is_request(event):
            return None
        try:
            door = self.infer(event, context)
            scope = door.scope
            cycle = HTTPCycle(scope, door.body)
        except Exception:  # noqa: BLE001 - the edge of a Lambda event: any member may be missing or of another type
            return None
        return (door, cycle) if isinstance(scope["method"], str) else None  # Mangum does not check the type


def _is_request(event: Any) -> bool:
    """Tell if an event has the form of a request from API Gateway, a function URL or a load balancer."""
    context = event.get("requestContext") if isinstance(event, dict) else None
    if not isinstance(context, dict) or "methodArn" in event or "routeArn" in event:  # events for authorizers are alike
        return False
    return "http" in context or "elb" in context or "httpMethod" in event


def _json_line(facts: Mapping[str, Any]) -> str:
    """Encode a line without half surrogate pairs, which exceptions may quote and streams refuse."""
    return well_formed(json.dumps(facts, separators=(",", ":"), ensure_ascii=False, default=str))


def _preload(endpoints: Endpoints, name: str, logger: Logger) -> None:
    """Load an endpoint. If that fails, the container serves the others, and the next request for it tries again."""
    try:
        endpoints.load(name)
    except EndpointNotFound:
        logger.warning("preload: no such endpoint", endpoint=name)
    except (StorageError, BundleError, FunctionLacks):
        pass  # on_trouble has logged it


def _lacks_of(settings: Settings, bundle: Bundle) -> Sequence[Lack]:
    """Find the parts that the function lacks for an endpoint. Most endpoints need none, so no module is imported."""
    if not bundle.identity.issuers and not bundle.code:
        return ()
    from handler.server.endpoints.lacks import find_lacks

    secrets = [name for name, secret in settings.secrets.items() if secret]
    return find_lacks(bundle, code_modules=settings.code_modules, secrets=secrets)


def _log_trouble(logger: Logger, name: str, trouble: Exception) -> None:
    lacking = isinstance(trouble, FunctionLacks)
    what = "function lacks what the endpoint needs" if lacking else "endpoint not loaded"
    logger.error(what, endpoint=name, reason=str(trouble)[:MAX_REASON_CHARS])


def _log_unread(logger: Logger, secret: SecretArn, reason: str) -> None:
    logger.error("secret not read", variable=secret.variable, arn=secret.arn, reason=reason)


def _write_line(logger: Logger, facts: Mapping[str, Any], *, failure: BaseException | None) -> None:
    if failure is not None:
        logger.error("request", **facts, exc_info=failure)
    elif level_of(facts) == WARNING:
        logger.warning("request", **facts)
    else:
        logger.info("request", **facts)
