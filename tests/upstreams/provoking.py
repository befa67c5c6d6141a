"""Failures that are provoked of real servers, and what the model and the maintainer see of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import urllib3

from handler.server.asgi.request_log import level_of
from tests.support.endpoints import PUBLIC, compiled
from tests.support.function import running_function
from tests.upstreams.serving import ARGUMENTS, Server


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A failure: the variant of the API that has it, and the operation that meets it."""

    variant: str
    operation: str


CASES: Mapping[str, Case] = {
    "resolver error, nullable": Case(variant="plain", operation="fails"),
    "resolver error, non-null": Case(variant="plain", operation="failsHard"),
    "renamed field": Case(variant="renamed", operation="total"),
    "enum value gone, in a variable": Case(variant="changed", operation="paintColor"),
    "input field gone, in a variable": Case(variant="changed", operation="paintSize"),
    "argument of another type": Case(variant="changed", operation="paintMode"),
    "new required argument": Case(variant="changed", operation="coat"),
    "new enum value": Case(variant="enum", operation="color"),
    "depth limit": Case(variant="limited", operation="deep"),
    "401": Case(variant="401", operation="total"),
    "403": Case(variant="403", operation="total"),
    "429 with Retry-After": Case(variant="429", operation="total"),
    "503 with Retry-After": Case(variant="503", operation="total"),
    "200 and UNAUTHENTICATED": Case(variant="unauthenticated", operation="failsHard"),
    "200 and FORBIDDEN": Case(variant="forbidden", operation="failsHard"),
    "200 and THROTTLED": Case(variant="throttled", operation="failsHard"),
    "slow mutation": Case(variant="slow", operation="pay"),
    "dropped mutation": Case(variant="dropped", operation="pay"),
    "null in a new order": Case(variant="plain", operation="order"),
    "truncated emoji": Case(variant="plain", operation="cut"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What came of a call. ``told`` is what the model reads."""

    told: str
    is_error: bool
    level: str
    reason: str  # empty: the log has none
    status: int | None  # of the API's answer


def provoke(server: Server, case: Case, url: str, folder: Path) -> Seen:
    """Call a tool through the function, with an event of API Gateway."""
    files = {f"operations/{name}.graphql": text for name, text in server.operations.items()}
    config = f"upstream: {{url: '{url}', timeout_s: 1.5, auth: {{bearer: env:KEY}}}}\n{PUBLIC}"
    made = compiled(folder, {"index.graphql": server.sdl, "config.yaml": config, **files})
    tool = server.operations[case.operation].split()[1].partition("(")[0]
    takes_slow = "$slow" in server.operations[case.operation]
    arguments = {"slow": case.variant == "slow"} if takes_slow else ARGUMENTS.get(case.operation, {})
    with running_function(made, secrets={"KEY": "the endpoint's own key"}) as function:
        result = function.call(tool, arguments).result
    (line,) = function.lines
    return Seen(
        told="".join(block["text"] for block in result["content"]),
        is_error=result.get("isError", False),
        level=level_of(line),
        reason=line.get("reason", ""),
        status=line.get("upstream_status"),
    )


def paid(url: str) -> int:
    """How many payments an API has made."""
    answer = urllib3.request("POST", url, json={"query": "{ paid }"})
    return int(answer.json()["data"]["paid"])
