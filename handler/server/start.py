"""The services of a process, made from its settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from urllib.parse import urlsplit

from aws_lambda_powertools import Logger

from handler.aws.json_client import AwsJson
from handler.bundle.model import Bundle
from handler.bundle.upstream import sample_address
from handler.errors.calls import EndpointNotFound
from handler.errors.infrastructure import BundleError, FunctionLacks, StorageError
from handler.http.addresses import AddressRules
from handler.http.client import HttpClient
from handler.server.auth.principal import Pseudonyms
from handler.server.auth.sealed_state import RequestStates
from handler.server.auth.tokens import TokenVerifier
from handler.server.context import Services
from handler.server.endpoints.registry import CachePolicy, Endpoints, Lack, find_lacks
from handler.server.log import Metrics, log_missing, log_trouble, log_unread
from handler.server.outgoing.outgoing_services import outgoing_services
from handler.settings import Settings
from handler.storage.storage import Storage


def start_endpoints(
    settings: Settings,
    storage: Storage,
    logger: Logger,
    *,
    lacks_of_door: Callable[[Bundle], tuple[Lack, ...]] = lambda _: (),
    metrics: Metrics | None = None,
) -> Endpoints:
    """Make the endpoints in a storage, with those that the settings preload in memory.

    ``lacks_of_door`` finds the parts of an endpoint that the process's own front door lacks.
    """
    secrets = [name for name, secret in settings.secrets.items() if secret]
    endpoints = Endpoints(
        storage,
        keeping=CachePolicy(
            refresh_s=settings.refresh_s, max_stale_s=settings.max_stale_s, max_bytes=settings.cache_mb * 1_048_576
        ),
        on_trouble=partial(log_trouble, logger),
        on_missing=partial(log_missing, logger, metrics),
        find_lacks=lambda bundle: (
            *lacks_of_door(bundle),
            *_lacks_of_tls(bundle, settings.addresses),
            *find_lacks(bundle, code_modules=settings.code_modules, secrets=secrets),
        ),
    )
    for name in settings.preload:
        # If an endpoint fails, the container serves the others, and the next request for it tries again.
        with suppress(EndpointNotFound, StorageError, BundleError, FunctionLacks):  # the log has each
            endpoints.load(name)
    return endpoints


def _lacks_of_tls(bundle: Bundle, rules: AddressRules) -> Iterator[Lack]:
    """Yield a lack that closes an endpoint of ``stile publish --allow-http``, if the rules do not allow its API."""
    address = urlsplit(sample_address(bundle.upstream))
    host = address.hostname or ""
    if address.scheme == "http" and not rules.takes_http(host):
        fault = "https is required: `stile serve` allows http with --allow-http, and a function never does"
        yield Lack(sentence=f"upstream.url http://{host}: {fault}", closes=True)


def start_services(
    settings: Settings,
    endpoints: Endpoints,
    *,
    http: HttpClient,
    aws: AwsJson,
    logger: Logger,
    stand_ins: Callable[[str], Mapping[str, str]] = lambda _: {},
) -> Services:
    """Make the services of all requests for these settings. ``stand_ins``: see ``SecretStore``."""
    if settings.addresses.local:
        logger.warning(
            "STILE_ALLOW_LOCAL_UPSTREAMS is set: APIs may be on loopback and without TLS. Never in production."
        )
    outgoing = outgoing_services(settings, aws, stand_ins=stand_ins, on_trouble=partial(log_unread, logger))
    return Services(
        endpoints=endpoints,
        http=http,
        tokens=TokenVerifier(http, secrets=settings.secrets, own=outgoing.own),
        allowed_origins=settings.allowed_origins,
        public_url=settings.public_url,
        catalog=settings.catalog,
        page=_page_of(settings, logger),
        states=RequestStates(settings.state_keys, own=outgoing.own),
        code_modules=settings.code_modules,
        outgoing=outgoing,
        pseudonyms=Pseudonyms(key=settings.log_key, plain=settings.log_subject == "plain", own=outgoing.own),
    )


def _page_of(settings: Settings, logger: Logger) -> str:
    """Return the kind of server that the page is for. Without the page in the build, browsers get no page."""
    if not settings.page:
        return ""
    from importlib.util import find_spec

    if find_spec("handler.page") is None:
        advice = "add it to Extras in samconfig.toml, then `sam build` and `sam deploy`"
        logger.error("page not served", reason=f"STILE_PAGE is on, and the build lacks the extra page: {advice}")
        return ""
    return "function"
