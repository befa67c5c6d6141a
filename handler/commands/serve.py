"""``stile serve``: endpoints served by the function's settings and rules, on any machine."""

from __future__ import annotations

import argparse
import ipaddress
import os
import re
import signal
import socket
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn
from uvicorn.supervisors import Multiprocess

from handler.bundle.stored import bundle_key, read_bundle
from handler.commands.command_line import DONE, REFUSED, UsageRefused, whole_number
from handler.commands.console import announce, complain
from handler.commands.folders.endpoints import add_compile_options, compile_or_complain, find_endpoints
from handler.commands.local.listening import DEFAULT_PORT, open_listener, port_number
from handler.commands.local.serving import NO_AUTHORIZER, Service, make_application, require_location, settings_of
from handler.commands.publishing.checks import are_publishable
from handler.commands.publishing.destination import endpoints_in_bucket
from handler.errors.infrastructure import BundleError, StorageError
from handler.http.client import HttpClient
from handler.server.asgi.own_machine import own_hosts
from handler.storage.local import FolderStorage
from handler.storage.location import open_storage
from handler.storage.storage import Storage

EXAMPLES = ("stile serve endpoints --public-url https://mcp.example.com --host 0.0.0.0 --workers 4",)
EXIT_CODES = {DONE: "ended by SIGTERM or Ctrl-C", REFUSED: "an endpoint cannot be served, or the port cannot be used"}

DEFAULT_HOST = "127.0.0.1"
MAX_WORKERS = 64
GRACE_S = 30
"""The time that running calls have to end after SIGTERM or Ctrl-C: longer than the longest answer takes."""

HOST = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?")
"""A value of ``Host``. Clients send a name of other letters in its ASCII form."""

BUNDLES = bundle_key("*/*")
"""The form of a bundle's path in a folder that ``stile build`` wrote."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "source",
        metavar="SOURCE",
        help="endpoint folder or one that holds several, folder of bundles that `stile build` wrote, or s3://bucket/prefix",
    )
    add_compile_options(parser)
    parser.add_argument(
        "--host", default=DEFAULT_HOST, help="address to listen on, 0.0.0.0 for all of IPv4 (default: %(default)s)"
    )
    parser.add_argument(
        "--port", type=port_number, default=DEFAULT_PORT, help="port, 0 for a free one (default: %(default)s)"
    )
    parser.add_argument(
        "--public-url",
        default="",
        metavar="URL",
        help="the URL at which clients reach the server (or STILE_PUBLIC_URL)",
    )
    parser.add_argument(
        "--allowed-host",
        action="append",
        default=[],
        type=_host,
        metavar="NAME",
        help="further value of Host to accept; repeatable",
    )
    parser.add_argument(
        "--trusted-proxy",
        action="append",
        default=[],
        type=_network,
        metavar="ADDRESS",
        help="an address or network whose X-Forwarded headers count, as 10.0.0.0/8; repeatable",
    )
    parser.add_argument(
        "--page", action="store_true", help="show browsers a page of the tools, for callers with a credential of theirs"
    )
    parser.add_argument(
        "--workers",
        type=whole_number(1, MAX_WORKERS),
        default=1,
        metavar="N",
        help="processes that answer requests (default: %(default)s)",
    )


def run(options: argparse.Namespace) -> int:
    public_url = settings_of(options.source, public_url=options.public_url).public_url
    is_loopback = options.host == "localhost"
    with suppress(ValueError):
        is_loopback = ipaddress.ip_address(options.host).is_loopback
    if not public_url and not is_loopback:
        raise UsageRefused(
            f"--host {options.host} can be reached from elsewhere: name the server's URL with --public-url."
        )
    try:
        require_location(options.source)
    except StorageError as exc:
        complain(str(exc))
        return REFUSED

    def exit_(*_: object) -> None:
        raise SystemExit(DONE)

    signal.signal(signal.SIGTERM, exit_)  # uvicorn raises the signal again after its own end
    with _bundles_of(options) as bundles:
        if bundles is None:
            return REFUSED
        listener = open_listener(options.host, options.port)
        if listener is None:
            return REFUSED
        with closing(listener):
            _serve(listener, bundles, public_url, options)
    return DONE


def _serve(listener: socket.socket, bundles: str, public_url: str, options: argparse.Namespace) -> None:
    port = listener.getsockname()[1]
    hosts = {name.lower() for name in options.allowed_host} | own_hosts(port)
    service = Service(
        bundles=bundles,
        hosts=frozenset(hosts | _names_of(public_url) if public_url else hosts),
        public_url=public_url or f"http://{options.host}:{port}",
        page=options.page,
    )
    config = uvicorn.Config(
        partial(make_application, service),
        factory=True,
        workers=options.workers,
        proxy_headers=bool(options.trusted_proxy),
        forwarded_allow_ips=options.trusted_proxy,
        log_level="error",  # each request has a line of the function's own log
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=GRACE_S,
    )
    announce(f"Serving {options.source} at {service.public_url}, on port {port} of {options.host}; Ctrl-C ends it.")
    if options.workers > 1:
        _Workers(config, sockets=[listener]).run()
    else:
        uvicorn.Server(config).run(sockets=[listener])


class _Workers(Multiprocess):
    """Processes that share one listening socket.

    uvicorn keeps the parent's copy open until the last worker has ended. The system would accept connections for it
    that no process answers.
    """

    def terminate_all(self) -> None:
        """Close the parent's socket, and end the workers."""
        for listener in self.sockets:
            listener.close()
        super().terminate_all()


@contextmanager
def _bundles_of(options: argparse.Namespace) -> Iterator[str | None]:
    """Give the location of the bundles: the source, or a private folder with its compiled endpoints.

    ``None`` after a complaint, if the endpoints cannot be served.
    """
    source, folder = options.source, Path(options.source)
    if source.startswith("s3://"):
        yield source if _bucket_has_no_authorizer(source) else None
    elif folder.is_dir() and any(find_endpoints(folder)):
        with tempfile.TemporaryDirectory(prefix="stile-") as private:
            yield private if _compile_into(private, options) else None
    elif folder.is_dir() and any(folder.glob(BUNDLES)):
        names = [file.parent.relative_to(folder).as_posix() for file in sorted(folder.glob(BUNDLES))]
        yield source if _have_no_authorizer(FolderStorage(folder), names) else None
    else:
        complain(f"{source}: expected an endpoint folder, a folder of bundles, or s3://bucket/prefix")
        yield None


def _bucket_has_no_authorizer(location: str) -> bool:
    try:
        names = endpoints_in_bucket(location)
        if names is None:
            announce(f"{location} may not be listed, so endpoints with trust_authorizer are refused at a call.")
            return True
        with closing(HttpClient()) as http:
            return _have_no_authorizer(open_storage(location, http=http, environ=os.environ), names)
    except StorageError as exc:
        complain(str(exc))
        return False


def _compile_into(private: str, options: argparse.Namespace) -> bool:
    compiled = compile_or_complain(Path(options.source), stage=options.stage, endpoint=options.endpoint)
    if not compiled or not are_publishable(compiled, rules=settings_of(private).addresses):
        complain("Nothing is served.")
        return False
    storage = FolderStorage(private)
    for one in compiled:
        for key, content in one.objects():
            storage.write(key, content)
    return _have_no_authorizer(storage, [one.bundle.endpoint for one in compiled])


def _have_no_authorizer(storage: Storage, names: Sequence[str]) -> bool:
    """Return whether no bundle trusts an authorizer of API Gateway. Complain of each that does or cannot be read."""
    is_fit = True
    for name in names:
        try:
            stored = storage.read(bundle_key(name))
            bundle = read_bundle(stored.body if stored else b"", endpoint=name)
            fault: object = NO_AUTHORIZER if bundle.identity.trusted_apis else ""
        except (BundleError, StorageError) as exc:
            fault = exc
        if fault:
            is_fit = False
            complain(f"{name}: {fault}")
    return is_fit


def _names_of(public_url: str) -> set[str]:
    """Return the values of ``Host`` for a URL. Clients omit the scheme's own port, and some proxies add it."""
    parts = urlsplit(public_url.lower())
    own = {"https": 443, "http": 80}[parts.scheme]
    name = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else str(parts.hostname)
    return {name, f"{name}:{own}"} if parts.port in (None, own) else {f"{name}:{parts.port}"}


def _host(text: str) -> str:
    if not HOST.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"{text!r}: expected a whole value of Host, as tools.example.com or tools.example.com:8443"
        )
    return text


def _network(text: str) -> str:
    try:
        network = ipaddress.ip_network(text)
    except ValueError as exc:
        raise argparse.ArgumentTypeError(f"{text!r}: expected an address or a network, as 10.0.0.0/8: {exc}") from exc
    if not network.prefixlen:
        fault = "every caller would be a proxy and could name another address: expected the proxy's network"
        raise argparse.ArgumentTypeError(f"{text!r}: {fault}")
    return text
