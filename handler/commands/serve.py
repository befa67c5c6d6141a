"""``stile serve``: endpoints served by the function's settings and rules, on any machine."""

from __future__ import annotations

import argparse
import asyncio
import ipaddress
import os
import re
import signal
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn
from uvicorn.supervisors import Multiprocess

from handler.bundle.model import Bundle
from handler.bundle.stored import bundle_key
from handler.bundle.tools import PrescribedTool
from handler.bundle.upstream import parse_reference
from handler.commands.command_line import DONE, REFUSED, CommandRefused, UsageRefused, add_http_option, whole_number
from handler.commands.console import announce, complain
from handler.commands.folders.endpoints import add_compile_options, compile_or_complain, find_endpoints
from handler.commands.folders.user_secret import state_key
from handler.commands.local.listening import DEFAULT_PORT, open_listener, port_number
from handler.commands.local.local_server import fault_in_env, trial_secrets
from handler.commands.local.serving import Service, make_application, require_location, services_of
from handler.commands.publishing.checks import are_publishable, http_sentences
from handler.commands.publishing.destination import endpoints_in_bucket
from handler.compiler.compile import Compiled
from handler.errors import StileError
from handler.errors.authoring import KeyFileRefused
from handler.errors.infrastructure import StorageError
from handler.errors.upstream import CredentialUnavailable
from handler.http.client import HttpClient
from handler.server.asgi.own_machine import own_hosts
from handler.server.context import Services
from handler.server.log import make_logger
from handler.server.outgoing.secret_store import variable_of
from handler.settings import SECRET_PREFIX
from handler.storage.local import FolderStorage
from handler.text.sentences import some

EXAMPLES = ("stile serve endpoints --public-url https://mcp.example.com --host 0.0.0.0 --workers 4",)
EXIT_CODES = {DONE: "ended by a signal or Ctrl-C", REFUSED: "an endpoint cannot be served, or the port cannot be used"}

DEFAULT_HOST = "127.0.0.1"
MAX_WORKERS = 64
GRACE_S = 30
"""The time that running calls have to end after SIGTERM or Ctrl-C: longer than the longest answer takes."""

HOST = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?")
"""A value of ``Host``. Clients send a name of other letters in its ASCII form."""

NOTHING = "Nothing is served."
SEVERAL = "several servers for the same callers need one STILE_STATE_KEY"

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
    add_http_option(parser)
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
    service = Service(
        bundles=options.source, public_url=options.public_url, page=options.page, http_hosts=tuple(options.allow_http)
    )
    public_url = service.settings().public_url
    is_loopback = options.host == "localhost"
    with suppress(ValueError):
        is_loopback = ipaddress.ip_address(options.host).is_loopback
    if not public_url and not is_loopback:
        raise UsageRefused(
            f"--host {options.host} can be reached from elsewhere: name the server's URL with --public-url."
        )
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(DONE))  # uvicorn raises the signal again after its own end
    if os.name == "posix" and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as under nohup
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))
    try:
        require_location(options.source)
        with _prepared(service, options) as prepared:
            listener = open_listener(options.host, options.port)
            if listener is None:
                return REFUSED
            with closing(listener):
                _serve(listener, prepared, public_url, options)
    except StorageError as exc:
        raise CommandRefused(str(exc)) from exc
    return DONE


def _serve(listener: socket.socket, service: Service, public_url: str, options: argparse.Namespace) -> None:
    port = listener.getsockname()[1]
    hosts = {name.lower() for name in options.allowed_host} | own_hosts(port)
    service = replace(
        service,
        hosts=frozenset(hosts | _names_of(public_url) if public_url else hosts),
        public_url=public_url or f"http://{options.host}:{port}",
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
    try:
        announce(f"Serving {options.source} at {service.public_url}, on port {port} of {options.host}; Ctrl-C ends it.")
        if options.workers > 1:
            _Workers(config, sockets=[listener]).run()
        else:
            uvicorn.Server(config).run(sockets=[listener])
    except KeyboardInterrupt:  # uvicorn raises the signal again after its own end
        pass
    announce("Stopped.")


class _Workers(Multiprocess):
    """Processes that share one listening socket.

    uvicorn keeps the parent's copy open until the last worker has ended. The system would accept connections for it
    that no process answers. At SIGHUP, it would restart the workers.
    """

    def __init__(self, config: uvicorn.Config, sockets: list[socket.socket]) -> None:
        at_hangup = signal.getsignal(signal.SIGHUP) if os.name == "posix" else None
        super().__init__(config, sockets)
        if os.name == "posix":
            signal.signal(signal.SIGHUP, at_hangup)

    def init_processes(self) -> None:
        """Start the workers, for which the signals of a terminal stay blocked: the parent ends them."""
        if os.name == "posix":
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
        super().init_processes()
        if os.name == "posix":
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGHUP})

    def terminate_all(self) -> None:
        """Close the parent's socket, and end the workers."""
        for listener in self.sockets:
            listener.close()
        super().terminate_all()


@contextmanager
def _prepared(service: Service, options: argparse.Namespace) -> Iterator[Service]:
    """Give the service, checked, with its bundles: the source's, or those of a private folder of compiled endpoints.

    Raises: as ``_checked``, and ``StorageError``.
    """
    source, folder = options.source, Path(options.source)
    if source.startswith("s3://"):
        names = endpoints_in_bucket(source)
        if names is None:
            announce(f"{source} may not be listed, so an endpoint that cannot answer is refused at a call.")
        yield _checked(service, names or [])
    elif folder.is_dir() and any(find_endpoints(folder)):
        with tempfile.TemporaryDirectory(prefix="stile-") as private:
            storage, settings = FolderStorage(private), service.settings()
            compiled = compile_or_complain(folder, stage=options.stage, endpoint=options.endpoint)
            if not compiled or not are_publishable(compiled, rules=settings.addresses):
                raise CommandRefused(NOTHING)
            for key, content in (each for one in compiled for each in one.objects()):
                storage.write(key, content)
            named = {one.bundle.endpoint: one for one in compiled}
            secrets = {name: trial_secrets(one.env_file, name, settings.env_secrets) for name, one in named.items()}
            yield _checked(replace(service, bundles=private, secrets=secrets), [*named], named)
    elif folder.is_dir() and any(folder.glob(BUNDLES)):
        bundles = sorted(folder.glob(BUNDLES))
        yield _checked(service, [file.parent.relative_to(folder).as_posix() for file in bundles])
    else:
        raise CommandRefused(f"{source}: expected an endpoint folder, a folder of bundles, or s3://bucket/prefix")


def _checked(service: Service, names: Sequence[str], compiled: Mapping[str, Compiled] | None = None) -> Service:
    """Return the service with a state key.

    Raises:
        CommandRefused: an endpoint could not answer, or the public URL is that of an endpoint.
    """
    settings = service.settings()
    url, faults, asking = settings.public_url, [], []
    with closing(HttpClient(settings.addresses)) as http:
        services = services_of(service, settings, http=http, logger=make_logger(os.environ))
        for name in names:
            if url.endswith(path := f"/{name}/mcp"):
                own = f"name the server's URL, {url.removesuffix(path)}"
                raise UsageRefused(f"--public-url {url} ends with the path of an endpoint: {own}")
            try:
                bundle = services.endpoints.load(name).bundle
            except StileError as exc:
                faults.append(f"{name}: {exc}")
                continue
            one = (compiled or {}).get(name)
            env_file = one.env_file.as_posix() if one else ""
            faults += asyncio.run(_unread_secrets(bundle, services, env_file, in_aws=bool(settings.secrets_prefix)))
            for sentence in http_sentences(bundle):
                announce(sentence)
            for tool in bundle.tools:
                starts_jobs = isinstance(tool, PrescribedTool) and tool.task
                asking += [tool.name] if starts_jobs or tool.options.confirm == "required" else []
            asking += one.asking if one else ()
    for fault in faults:
        complain(fault)
    if faults:
        raise CommandRefused(NOTHING)
    return service if settings.state_keys else replace(service, state_keys=_own_state_keys(asking))


async def _unread_secrets(bundle: Bundle, services: Services, env_file: str, *, in_aws: bool) -> list[str]:
    """Return a sentence on each secret for the API that cannot be read."""
    sentences = []
    for secret in dict.fromkeys(bundle.upstream.secrets):
        try:
            await services.outgoing.secrets.read(secret, endpoint=bundle.endpoint)
        except CredentialUnavailable as exc:
            sentence, reference = f"{bundle.endpoint}: upstream.auth: {exc.reason}", parse_reference(secret)
            if reference and (reference.source == "env" or not in_aws):
                variable, file = f"{SECRET_PREFIX}{variable_of(reference)}", "" if in_aws else env_file
                remedy = f"set {variable} in the environment{f', or in {file}' if file else ''}"
                sentence += f": {(file and fault_in_env(Path(file), variable)) or remedy}"
            sentences.append(sentence)
    return sentences


def _own_state_keys(asking: Sequence[str]) -> tuple[str, ...]:
    """Return the user's own state key; none if it cannot be kept, which is refused if the tools ``asking`` need it."""
    try:
        file, key = state_key(os.environ)
    except (KeyFileRefused, RuntimeError) as exc:
        if not asking:
            return ()
        advice = "set STILE_STATE_KEY to a random text of 32 characters or more"
        raise CommandRefused(f"{some(asking)}: no state key, and none can be kept ({exc}): {advice}") from exc
    if asking:
        announce(f"STILE_STATE_KEY is not set, so {some(asking)} will use the key in {file}; {SEVERAL}.")
    return (key,)


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
