"""Names of scopes: everybody is told those of tools that somebody could use, if their author says nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from handler.bundle.identity import Identity
from handler.compiler.compile import Compiled, compile_endpoint
from tests.leaks.endpoint import LeakEndpoint, random_endpoint
from tests.support.endpoints import write_endpoint
from tests.support.examples import examples
from tests.support.function import Function, running_function
from tests.support.identities import issuer

SCOPE = re.compile(r"private-\w+:use")
METADATA = "/.well-known/oauth-protected-resource/api/leaks/mcp"
SEEDS = range(examples(120, share=8))


def scope_of(tool: str) -> str:
    return f"private-{tool}:use"


def named_to_everybody(function: Function, tools: list[str]) -> set[str]:
    """The scopes in all that a caller without a good credential is answered."""
    unsigned = {"authorization": "Bearer a.b.c"}
    answers = [
        function.send("GET", METADATA),
        function.send("GET", "/api/leaks"),
        function.request("tools/list"),
        *(function.request("tools/list", headers=headers) for headers in (unsigned, {"x-api-key": "stile_wrong"})),
        *(function.query(tool, "{ __typename }") for tool in tools),
    ]
    assert 401 in [each.status for each in answers]
    return {name for each in answers for name in SCOPE.findall(f"{each.headers} {each.body.decode()}")}


def with_scopes(endpoint: LeakEndpoint, folder: Path, settings: Mapping[str, object]) -> Compiled:
    """The same endpoint with a scope for each GraphQL tool, ``access.scopes``, and an issuer of tokens."""
    files = dict(endpoint.files)
    for tool in endpoint.access.tools:
        named = f'@tool(name: "{tool}", '
        assert named in files["index.graphql"]
        files["index.graphql"] = files["index.graphql"].replace(named, f'{named}scopes: ["{scope_of(tool)}"], ')
    access = f"access: {json.dumps(dict(settings))[:-1]}, "
    files["config.yaml"] = files["config.yaml"].replace("access: {", access)
    made = compile_endpoint(write_endpoint(folder, files, name="api/leaks"))
    identity = Identity(
        issuers=(issuer("https://idp.example"),), api_keys=made.bundle.identity.api_keys, trusted_apis=()
    )
    return replace(made, bundle=replace(made.bundle, identity=identity))


@pytest.mark.parametrize("seed", SEEDS)
def test_scopes_are_named_as_the_author_says_and_of_no_tool_that_is_shut(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    endpoint = random_endpoint(f"scopes {seed}", tmp_path / "own", "http://127.0.0.1:1/graphql")
    tools = list(endpoint.access.tools)
    known = [each for each in endpoint.access.callers if each.claims is not None]
    shut = {scope_of(name) for name, patterns in endpoint.access.tools.items() if endpoint.oracle.is_shut(patterns)}
    for advertise in (True, False):
        settings = {"scopes": {"list": random.choice(["all", "allowed"]), "advertise": advertise}}
        made = with_scopes(endpoint, tmp_path / str(advertise), settings)
        with running_function(made) as function:
            named = named_to_everybody(function, tools)
            if not advertise:
                assert named == set()
                continue
            assert named & shut == set()
            advertised = set(function.send("GET", METADATA).json.get("scopes_supported", ()))
            usable = {
                scope_of(tool)
                for caller in known
                for tool in tools
                if function.call(tool, {"query": "{ __typename }"}, headers=caller.headers).status == 403
            }
            assert usable <= advertised  # they have the tools, and lack the scopes alone
