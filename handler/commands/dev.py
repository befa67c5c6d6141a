"""``stile dev``: endpoint folders served on this machine, compiled again at each save."""

from __future__ import annotations

import argparse
import asyncio
import socket
import threading
import time
import webbrowser
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial

import uvicorn

from handler.bundle.model import Bundle
from handler.commands.command_line import DONE, REFUSED, UsageRefused
from handler.commands.console import complain, say, show_verbatim
from handler.commands.folders.endpoints import add_folder_arguments
from handler.commands.local.author_view import show_authors_frames
from handler.commands.local.callers import SKIPS_POLICIES, NamedCaller, add_caller_argument
from handler.commands.local.dev_log import DevLog
from handler.commands.local.dev_session import FolderWatch, Workbench, code_places, keep_fresh, spare_what_stays
from handler.commands.local.listening import DEFAULT_PORT, HOST, open_listener, port_number
from handler.commands.local.local_server import local_http, local_services
from handler.commands.page.page_routes import DevPage
from handler.errors.access import CredentialRefused
from handler.errors.authoring import UnknownCaller
from handler.page.clients import client_lines
from handler.server.app import create_app
from handler.server.asgi.own_machine import own_hosts
from handler.server.auth.principal import Principal
from handler.text.sentences import nearest, some

EXAMPLES = ("stile dev endpoints --port 8080",)
EXIT_CODES = {DONE: "ended by Ctrl-C", REFUSED: "the port cannot be used"}

AS_AUTHOR = (
    "Without a credential you are the development principal, who may use everything, also where callers are "
    "challenged (anonymous: challenge). --as anonymous shows what they get."
)
TOKENS = "`stile token` makes tokens to sign in with."
AS_DEPLOYED = "Callers are challenged and checked as the function does: without a credential you are anonymous."

GRACE_S = 1
"""The time that running calls have to end after Ctrl-C."""

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
    add_caller_argument(parser)
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    parser.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="print the arguments of tools, the requests to the API and their answers, and whole tracebacks",
    )


def run(options: argparse.Namespace) -> int:
    if options.as_deployed and options.caller != SKIPS_POLICIES:
        raise UsageRefused("--as-deployed takes callers as they come, and --as does not: use one of them.")
    show_authors_frames(whole=options.verbose)
    listener = open_listener(HOST, options.port)
    if listener is None:
        return REFUSED
    with closing(listener):
        address = f"http://{HOST}:{listener.getsockname()[1]}"
        watch = FolderWatch(options.folder, modules=code_places)
        workbench = Workbench(options.folder, stage=options.stage, endpoint=options.endpoint, address=address)
        page = DevPage(workbench, personas=not options.as_deployed)
        try:
            workbench.refresh()
            spare_what_stays()
            _introduce(workbench, options, address)
            if options.open:
                threading.Thread(target=_open, args=(f"{address}/",), daemon=True).start()
            _serve(workbench, watch, listener, options, page=page)
        except KeyboardInterrupt:
            say("Stopped.", "dim")
    return DONE


def _open(url: str) -> None:
    """Open a URL in the author's browser. The listener is there already, so the browser waits for the server."""
    with suppress(webbrowser.Error):
        if webbrowser.open(url):
            return
    complain(f"No browser could be opened. The page is at {url}")


def _introduce(workbench: Workbench, options: argparse.Namespace, address: str) -> None:
    served = workbench.served
    say(f"\nThe page for your browser: {address}/")
    if served:
        if options.as_deployed:
            callers = AS_DEPLOYED
        elif options.caller == SKIPS_POLICIES:
            callers = f"{AS_AUTHOR} {TOKENS}"
        else:
            callers = f"Without a credential you are {options.caller.text}. {TOKENS}"
        say(f"\n{callers}")
        for compiled in filter(None, map(workbench.find, served)):
            try:
                options.caller.principal(compiled.bundle)
            except UnknownCaller as exc:  # the endpoint refuses the requests of the caller of --as
                say(str(exc), "yellow")
        name, url = next(iter(served.items()))
        say(f"To connect a client to {name}:" if len(served) > 1 else "To connect a client:")
        for client, file, text in client_lines(name.replace("/", "-"), url, "token" if options.as_deployed else ""):
            show_verbatim(f"  {client:<15} {f'{file} {text}'.strip()}")  # whole, so that it can be copied
        say("\nHere APIs may be on this machine and without TLS. `stile check` says which of them cannot be published.")
    say(f"\n{'Serving' if served else 'Nothing is served yet'}; a saved file is used at once, Ctrl-C ends it.", "dim")


def _serve(
    workbench: Workbench, watch: FolderWatch, listener: socket.socket, options: argparse.Namespace, *, page: DevPage
) -> None:
    port = listener.getsockname()[1]
    hosts = own_hosts(port)
    log = DevLog(workbench.find, verbose=options.verbose, on_call=page.called)
    workbench.on_change = page.changed
    with closing(local_http()) as http:
        services = local_services(
            workbench.storage,
            http,
            find=workbench.find,
            trusts_trials=not options.as_deployed,
            allowed_origins=frozenset(f"http://{host}" for host in hosts),
            hosts=hosts,
            own_machine=True,
            development=not options.as_deployed,
            stand_in=partial(_stand_in, options.caller, page),
            signpost=lambda path: _hint_for(path, workbench.served),
            public_url=f"http://{HOST}:{port}",
            page="dev",
            own_routes=page.routes(),
        )
        config = uvicorn.Config(
            log.around(create_app(services, write_line=log.write_line)),
            log_level="critical",  # this command prints its own lines
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=GRACE_S,
            limit_concurrency=MAX_REQUESTS,
        )
        server = _Server(config, page)
        stop = threading.Event()

        def reload() -> None:
            try:
                keep_fresh(workbench, watch, stop)
            finally:
                server.should_exit = True  # without the watch, saved files would silently have no effect

        async def serve() -> None:
            # A thread for each of the requests that may ask an API at the same time.
            asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(MAX_REQUESTS))
            await server.serve(sockets=[listener])

        thread = threading.Thread(target=reload, daemon=True)
        thread.start()
        try:
            asyncio.run(serve())
        finally:
            stop.set()
            thread.join()


class _Server(uvicorn.Server):
    """A server whose streams to pages end with it: it would wait for them otherwise."""

    def __init__(self, config: uvicorn.Config, page: DevPage) -> None:
        super().__init__(config)
        self._page = page

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._page.live.close()
        await super().shutdown(sockets)


def _stand_in(caller: NamedCaller, page: DevPage, bundle: Bundle) -> Principal:
    """Return the principal of a request without a credential: the page's persona, else the caller of ``--as``.

    Raises:
        CredentialRequired, CredentialRefused: as ``NamedCaller.admitted``.
        Refused: as ``DevPage.chosen_caller``.
    """
    try:
        return (page.chosen_caller(bundle.endpoint) or caller).admitted(bundle, now=time.time())
    except UnknownCaller as exc:
        raise CredentialRefused("unknown_api_key") from exc


MAX_LISTED = 10
MAX_NAME_CHARS = 200


def _hint_for(path: str, served: Mapping[str, str]) -> str:
    """Return a clause about a path without a route, such as one that a person types into a browser.

    ``served`` maps each endpoint's name to the URL for MCP clients.
    """
    name = "/".join([part for part in path.split("/") if part][:2])
    if path == f"/{name}/mcp" and name in served:
        return f"MCP clients send POST requests to {served[name]}"
    near = nearest(name, list(served)) if 0 < len(name) <= MAX_NAME_CHARS else None
    if near:
        return f"did you mean {served[near]}?"
    return f"MCP clients find {some(list(served.values()), most=MAX_LISTED)}" if served else "no endpoint is served"
