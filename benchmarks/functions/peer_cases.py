"""The packages that are measured beside the function, each as a folder that Lambda would be given."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

from graphql import build_schema

from benchmarks.container import Function
from benchmarks.functions.cases import LIST
from benchmarks.peers.cases import DEMO_SDL
from benchmarks.peers.upstream import running_api
from tests.corpora.fetch import fetch

APPS = Path(__file__).resolve().parent / "peers"

GREET = ("greet", {"name": "Ada"}, "Hello Ada")
"""The tool of those that have no API: name, arguments, and what stands in its answer."""

IN_RUNTIME = ("boto3", "botocore", "s3transfer")
"""What Lambda has, so that it need not be deployed. Source: AWS Lambda developer guide, "Python runtimes"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A package, its folder, and the two functions that are measured; the folder need not be there."""

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
        peer = partial(_peer, environments, python)
        yield [
            peer("awslabs.mcp-lambda-handler", "labs", "with_labs", GREET, {}),
            peer("mcp, Mangum", "sdk", "with_sdk", GREET, {}),
            peer("FastMCP, Mangum", "fastmcp", "with_fastmcp", GREET, {}),
            peer(
                "graphql-mcp, Mangum, demo",
                "graphql-mcp",
                "with_graphql_mcp",
                ("customer", {"email": "a@b.example"}, "result"),
                {"UPSTREAM": demo},
            ),
            peer(
                "graphql-mcp, Mangum, GitHub",
                "graphql-mcp",
                "with_graphql_mcp",
                ("repository", {"owner": "graphql-python", "name": "graphql-core"}, "result"),
                {"UPSTREAM": github},
            ),
        ]


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
