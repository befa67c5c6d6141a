"""The application of ``stile serve``: the function's settings and rules, behind an HTTP server.

Each of its processes makes its own application from a ``Service``, which is passed to it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial

from aws_lambda_powertools import Logger
from starlette.types import ASGIApp, Receive, Scope, Send

from handler.aws.json_client import AwsJson
from handler.aws.sigv4 import CredentialSource
from handler.bundle.model import Bundle
from handler.http.client import HttpClient
from handler.server.app import create_app
from handler.server.context import Services
from handler.server.endpoints.registry import Lack
from handler.server.log import log_begun, make_logger, make_metrics, write_line
from handler.server.start import start_endpoints, start_services
from handler.settings import Settings, read_settings, secrets_here
from handler.storage.location import open_storage

MAX_CALLS = 500
"""The requests that a worker sends to APIs at the same time. Threads start when they are needed."""

NO_AUTHORIZER = (
    "trust_authorizer names an API Gateway API, and none stands before this server: "
    "deploy the endpoint as a Lambda function, or remove trust_authorizer and verify tokens here"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """The bundles that a server serves, and the values of ``Host`` that it accepts. ``page``: browsers get the page.

    ``http_hosts`` may be asked without TLS. ``secrets`` has the secrets of each endpoint whose folder is served.
    ``state_keys`` are used if STILE_STATE_KEY is not set.
    """

    bundles: str  # a folder, or s3://bucket/prefix
    public_url: str
    hosts: frozenset[str] = frozenset()
    page: bool = False
    http_hosts: tuple[str, ...] = ()
    secrets: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)
    state_keys: tuple[str, ...] = field(default=(), repr=False)

    def settings(self) -> Settings:
        """Return the settings of a process. Raises as ``settings_of``."""
        settings = settings_of(self.bundles, public_url=self.public_url)
        addresses = replace(settings.addresses, http_hosts=self.http_hosts)
        return replace(settings, addresses=addresses, state_keys=settings.state_keys or self.state_keys)


def settings_of(bundles: str, *, public_url: str = "") -> Settings:
    """Return the settings that the function would have with this environment, these bundles and a public URL.

    Metrics are off unless the environment names them: the log of a server is seldom CloudWatch's.

    Raises:
        SettingsError: a variable that does not fit.
    """
    own = {"STILE_BUNDLES": bundles, "STILE_METRICS": os.environ.get("STILE_METRICS") or "off"}
    return read_settings({**os.environ, **own, **({"STILE_PUBLIC_URL": public_url} if public_url else {})})


def require_location(source: str) -> None:
    """Refuse a source in S3 that no process could open. Nothing is sent.

    Raises:
        SettingsError: an AWS variable is missing or does not fit.
        StorageError: the location is not valid.
    """
    if source.startswith("s3://"):
        with closing(HttpClient(settings_of(source).addresses)) as http:
            open_storage(source, http=http, environ=os.environ)


def services_of(service: Service, settings: Settings, *, http: HttpClient, logger: Logger) -> Services:
    """Make the services of one process. Secrets are in AWS if STILE_SECRETS is set, and else on this machine.

    Raises:
        SettingsError: a variable that does not fit.
        StorageError: the location of the bundles is not valid.
    """

    def stand_ins(name: str) -> Mapping[str, str]:
        if settings.secrets_prefix:
            return {}
        return service.secrets.get(name) or secrets_here(os.environ, name, settings.env_secrets)

    credentials = CredentialSource(os.environ, http=http)
    storage = open_storage(service.bundles, http=http, environ=os.environ, credentials=credentials)
    endpoints = start_endpoints(settings, storage, logger, lacks_of_door=lacks_of_door)
    aws = AwsJson(http, os.environ, credentials=credentials)
    return start_services(settings, endpoints, http=http, aws=aws, logger=logger, stand_ins=stand_ins)


def make_application(service: Service) -> ASGIApp:
    """Make the application of one process.

    Raises: as ``services_of``.
    """
    settings, logger = service.settings(), make_logger(os.environ)
    http = HttpClient(settings.addresses)
    services = services_of(service, settings, http=http, logger=logger)
    line = partial(write_line, logger, metrics=make_metrics(settings, os.environ, logger))
    served = replace(services, hosts=service.hosts, is_frozen=False, log_begun=partial(log_begun, logger))
    if service.page or services.page:
        # The origins of this server's own page: it answers to no other ``Host``.
        own = {f"{scheme}://{host}" for scheme in ("http", "https") for host in service.hosts}
        served = replace(served, page="serve", allowed_origins=services.allowed_origins | own)
    app = create_app(served, write_line=line)

    async def process(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            await app(scope, receive, send)
            return
        # The threads and connections of the process. Source: the ASGI specification, "Lifespan Protocol"
        await receive()
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(MAX_CALLS))
        await send({"type": "lifespan.startup.complete"})
        await receive()
        http.close()
        await send({"type": "lifespan.shutdown.complete"})

    return process


def lacks_of_door(bundle: Bundle) -> tuple[Lack, ...]:
    """Return a lack that closes an endpoint whose callers only API Gateway's authorizers could verify."""
    return (Lack(sentence=NO_AUTHORIZER, closes=True),) if bundle.identity.trusted_apis else ()
