"""A real OpenID provider: the tokens that it issues get in, for the API that they were made for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.issuers.providing import OpenIdProvider, is_installed, running_provider
from tests.support.endpoints import compiled
from tests.support.function import Function, running_function
from tests.support.require import requires

RESOURCE = "https://api.example/{}"


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenIdProvider]:
    requires("node", is_installed(), "`make issuers` installs an OpenID provider, and Node.js for Linux, with npm")
    with running_provider(tmp_path_factory.mktemp("provider")) as running:
        yield running


@pytest.fixture
def function(provider: OpenIdProvider, tmp_path: Path) -> Iterator[Function]:
    config = f"""\
access: {{policies: [{{type: Query, policyDefault: {{condition: true}}}}]}}
identity:
  jwksendpoint: {provider.key_set_url}
  issuer: {provider.url}
  audience: [{RESOURCE.format("RS256")}, {RESOURCE.format("ES256")}]
  claims: [client_id, jti]
"""
    with running_function(compiled(tmp_path, {"index.graphql": "type Query { a: Int }", "config.yaml": config})) as one:
        yield one


@pytest.mark.parametrize("algorithm", ["RS256", "ES256"])
def test_token_gets_in_whatever_it_is_signed_with(provider: OpenIdProvider, function: Function, algorithm: str) -> None:
    token = provider.token(RESOURCE.format(algorithm), scope="orders:read")

    answer = function.request("tools/list", headers={"authorization": f"Bearer {token}"})

    assert answer.status == 200, function.lines
    assert function.lines[0]["principal"] == "token"


def test_token_for_another_api_is_refused(provider: OpenIdProvider, function: Function) -> None:
    token = provider.token("https://else.example/RS256", scope="orders:read")

    assert function.request("tools/list", headers={"authorization": f"Bearer {token}"}).status == 401
    assert function.lines[0]["reason"] == "audience"


def test_token_that_was_tampered_with_is_refused(provider: OpenIdProvider, function: Function) -> None:
    token = provider.token(RESOURCE.format("ES256"), scope="orders:read")

    assert function.request("tools/list", headers={"authorization": f"Bearer {token[:-8]}AAAAAAAA"}).status == 401
    assert function.lines[0]["reason"] == "signature"
