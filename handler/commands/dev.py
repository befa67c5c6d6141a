from __future__ import annotations

import argparse
import asyncio
import json
import socket
import threading
import traceback
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import Any

import uvicorn

from handler.commands.console import complain, one_line, say, show_verbatim
from handler.commands.exit_codes import DONE, REFUSED
from handler.commands.folders.endpoint_folders import add_folder_arguments
from handler.commands.local.dev_session import Workbench, keep_fresh
from handler.commands.local.file_watch import FolderWatch
from handler.commands.local.listening import listening_socket, port_number, why_not
from handler.commands.local.local_server import local_http, local_services
from handler.commands.local.reloading import code_places
from handler.server.app import create_app
from handler.server.asgi.own_machine import own_hosts
from handler.server.asgi.request_log import WARNING, level_of

EXAMPLES = ("stile dev endpoints --port 8080",)
EXIT_CODES = {DONE: "ended by Ctrl-C", REFUSED: "the port cannot be used"}

HOST = "127.0.0.1"
DEFAULT_PORT = 8000

AS_AUTHOR = "Without a credential you are the development principal, who may use everything."
AS_DEPLOYED = "Callers are challenged and checked as the function does: without a credential you are anonymous."

GRACE_S = 1
"""The time that running calls have to end after Ctrl-C."""

SHOWN_FACTS = (
    "endpoint",
    "route",
    "method",
    "operation",
    "tool",
    "status",
    "outcome",
    "reason",
    "coordinate",
    "redirect_uri",
)
"""The facts of a request's log line that are printed for the author."""

MAX_REQUESTS = 500
"""The connections that are served at once. Threads start when they are needed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_folder_arguments(parser)
    parser.add_argument(
        "--port",
        type=port_number,
        default=DEFAULT_PORT,
        help=f"port on {HOST}, 0 for a free one (default: %(default)s)",
    )
    parser.add_argument(
        "--as-deployed", action="store_true", help="challenge and check callers as the function does, to try a sign-in"
    )


def run(options: argparse.Namespace) -> int:
    try:
        listener = listening_socket(HOST, options.port)
    except OSError as exc:
        complain(why_not(exc, HOST, options.port))
        return 1
    with closing(listener):
        address = f"http://{HOST}:{listener.getsockname()[1]}"
        watch = FolderWatch(options.folder, modules=code_places)
        workbench = Workbench(options.folder, stage=options.stage, endpoint=options.endpoint, address=address)
        try:
            workbench.refresh()
            _introduce(workbench.served, as_deployed=options.as_deployed)
            _serve(workbench, watch, listener, as_deployed=options.as_deployed)
        except KeyboardInterrupt:
            say("Stopped.", "dim")
    return 0


def _introduce(served: Mapping[str, str], *, as_deployed: bool) -> None:
    if served:
        servers = {name.replace("/", "-"): {"type": "http", "url": url} for name, url in served.items()}
        say(f"\n{AS_DEPLOYED if as_deployed else AS_AUTHOR}")
        say("To paste into a client's configuration:\n")
        show_verbatim(json.dumps({"mcpServers": servers}, indent=2))
        say("\nHere APIs may be on this machine and without TLS. `stile check` says which of them cannot be published.")
    say("\nServing; a saved file is used at once, Ctrl-C ends it.", "dim")


def _serve(workbench: Workbench, watch: FolderWatch, listener: socket.socket, *, as_deployed: bool) -> None:
    port = listener.getsockname()[1]
    hosts = own_hosts(port)
    with closing(local_http()) as http:
        services = local_services(
            workbench.storage,
            http,
            env_file_of=workbench.env_file,
            allowed_origins=frozenset(f"http://{host}" for host in hosts),
            hosts=hosts,
            own_machine=True,
            development=not as_deployed,
            public_url=f"http://{HOST}:{port}",
        )
        config = uvicorn.Config(
            create_app(services, write_line=_write_line),
            log_level="critical",  # this command prints its own lines
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=GRACE_S,
            limit_concurrency=MAX_REQUESTS,
        )
        server = uvicorn.Server(config)
        with _reloading(workbench, watch, server):
            asyncio.run(_served(server, listener))


async def _served(server: uvicorn.Server, listener: socket.socket) -> None:
    """Serve until the end, with a thread for each of the requests that may ask an API at the same time."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(MAX_REQUESTS))
    await server.serve(sockets=[listener])


@contextmanager
def _reloading(workbench: Workbench, watch: FolderWatch, server: uvicorn.Server) -> Iterator[None]:
    stop = threading.Event()
    thread = threading.Thread(target=_reload, args=(workbench, watch, server, stop), daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _reload(workbench: Workbench, watch: FolderWatch, server: uvicorn.Server, stop: threading.Event) -> None:
    try:
        keep_fresh(workbench, watch, stop)
    finally:
        server.should_exit = True  # without the watch, saved files would silently have no effect


def _write_line(facts: Mapping[str, Any], *, failure: BaseException | None) -> None:
    told = " ".join(one_line(str(facts[key])) for key in SHOWN_FACTS if facts.get(key))  # facts may be a caller's text
    style = "yellow" if level_of(facts) == WARNING else "dim"
    say(f"{told} ({facts['duration_ms']} ms)", style)
    if failure is not None:
        complain("".join(traceback.format_exception(failure)))
