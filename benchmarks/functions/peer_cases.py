"""The packages that are measured beside the function, each as a folder that Lambda would be given."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from graphql import build_schema

from benchmarks.container import Function
from benchmarks.functions.cases import LIST, ROOT
from benchmarks.peers.cases import DEMO_SDL
from benchmarks.peers.upstream import running_api
from tests.corpora.fetch import fetch

RIGHT = r"\"isError\":false"
"""As the answer has it, whose body is JSON in JSON."""

APPS = Path(__file__).resolve().parent / "peers"

GREET = ({"name": "greet", "arguments": {"name": "Ada"}}, "Hello Ada")
"""A call of the tool of those that have no API, and what stands in its answer."""

CUSTOMER = ({"name": "customer", "arguments": {"email": "a@b.example"}}, RIGHT)
REPOSITORY = ({"name": "repository", "arguments": {"owner": "graphql-python", "name": "graphql-core"}}, RIGHT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A package, the folder it is installed in, if it is, and the two functions that are measured."""

    name: str
    folder: Path
    listing: Function
    calling: Function


@contextmanager
def running_peers(environments: Path, python: Path) -> Iterator[list[Peer]]:
    """All of them, with the APIs that some introspect when they start."""
    with ExitStack() as stack:

        def api(sdl: Path) -> str:
            schema = build_schema(sdl.read_text(encoding="utf-8"), assume_valid=True, assume_valid_sdl=True)
            return stack.enter_context(running_api(schema))

        demo, github = api(DEMO_SDL), api(fetch("github-named", print) / "index.graphql")
        peer = partial(_peer, environments, python=python)
        yield [
            peer("labs", "awslabs-mcp-lambda-handler", call=GREET),
            peer("sdk", "mcp", "Mangum", call=GREET),
            peer("fastmcp", "fastmcp", "Mangum", call=GREET),
            peer("graphql-mcp", "graphql-mcp", "Mangum, the demo's API", call=CUSTOMER, upstream=demo),
            peer("graphql-mcp", "graphql-mcp", "Mangum, GitHub's API", call=REPOSITORY, upstream=github),
        ]


def _peer(
    environments: Path,
    short: str,
    package: str,
    also: str = "",
    *,
    python: Path,
    call: tuple[Mapping[str, Any], str],
    upstream: str = "",
) -> Peer:
    folder = environments / short
    name = ", ".join(filter(None, (f"{package} {locked_version(short, package)}", also)))
    params, expects = call

    def function(method: str, params: Mapping[str, Any], expects: str) -> Function:
        return Function(
            name=f"{method}, {name}",
            python=python,
            folder=APPS,
            handler=f"with_{short.replace('-', '_')}.handler",
            event=peer_event(method, params),
            expects=expects,
            environ={"PYTHONPATH": str(folder), "UPSTREAM": upstream},
        )

    return Peer(
        name=name,
        folder=folder,
        listing=function(*LIST, "inputSchema"),
        calling=function("tools/call", params, expects),
    )


def locked_version(short: str, package: str) -> str:
    """The version of a package that is compared."""
    lines = (ROOT / "requirements" / f"peer-{short}.txt").read_text(encoding="utf-8").splitlines()
    return next(line.split()[0].partition("==")[2] for line in lines if line.startswith(f"{package}=="))


def peer_event(method: str, params: Mapping[str, Any]) -> bytes:
    """What API Gateway would hand over of a client that all of them know."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    event = {
        "version": "2.0",
        "rawPath": "/mcp",
        "rawQueryString": "",
        "headers": {
            "host": "127.0.0.1:8000",
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": "2025-06-18",
        },
        "requestContext": {"http": {"method": "POST", "path": "/mcp", "sourceIp": "192.0.2.1"}},
        "body": json.dumps(message),
        "isBase64Encoded": False,
    }
    return json.dumps(event).encode()
