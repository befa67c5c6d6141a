"""Clients whose token no longer does: it has too few scopes for a tool, or its time is over."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.issuers.clients import Memory, Outcome, Step, call_with_python, call_with_typescript
from tests.issuers.providing import is_installed
from tests.issuers.remote import call_with_remote
from tests.issuers.sites import COUNTED, FOR_TOKENS, NOTED, PROXY, Site, running_site
from tests.support.require import requires
from tests.support.upstream import Upstream

BOTH = {"orders:read", "orders:write"}

VALID_S = 5

Use = Callable[[Site, Sequence[Step], Path], Outcome]

CLIENTS: dict[str, Use] = {
    "Python SDK 2": lambda site, steps, _: asyncio.run(call_with_python(site, Memory(), steps=steps)),
    "TypeScript SDK 1": lambda site, steps, _: call_with_typescript(site, sdk="sdk", steps=steps),
    "TypeScript SDK 2": lambda site, steps, _: call_with_typescript(site, sdk="client", steps=steps),
    "mcp-remote": lambda site, steps, home: call_with_remote(site, steps=steps, home=home),
}


@pytest.fixture(scope="module", autouse=True)
def _installed() -> None:
    requires("node", is_installed(), "`make issuers` installs an OpenID provider and clients, and Node.js for Linux")


@pytest.fixture(params=CLIENTS)
def use(request: pytest.FixtureRequest) -> Use:
    return CLIENTS[request.param]


# Without an OAuth proxy clients register for the scopes of their first challenge; this provider holds them to these.
def test_token_of_one_scope_becomes_one_of_both_and_no_tool_is_lost(
    upstream: Upstream, tmp_path: Path, use: Use
) -> None:
    with running_site(tmp_path, upstream, oauth_proxy=PROXY, anonymous="allow") as site:
        outcome = use(site, ["count", "note", "count", "note"], tmp_path)

    assert list(outcome.results) == [COUNTED, NOTED, COUNTED, NOTED]
    assert outcome.sign_ins == 2
    assert [scopes & BOTH for scopes in outcome.scopes] in ([], [{"orders:read"}, BOTH, BOTH, BOTH])


@pytest.mark.parametrize(
    ("oauth_proxy", "condition", "scopes"),
    [
        (PROXY, "'?$jwt'", "{}"),
        ("", "'?$jwt.sub && $jwt.iss:String != \"x\"'", "{list: allowed}"),
    ],
    ids=["OAuth proxy", "registration, and tools that only their callers are listed"],
)
def test_one_sign_in_gets_the_scopes_of_all_tools_that_tokens_open(
    upstream: Upstream, tmp_path: Path, use: Use, oauth_proxy: str, condition: str, scopes: str
) -> None:
    more: dict[str, Any] = {"files": FOR_TOKENS, "condition": condition, "scopes": scopes}
    with running_site(tmp_path, upstream, oauth_proxy=oauth_proxy, **more) as site:
        outcome = use(site, ["count", "note"], tmp_path)

    assert list(outcome.results) == [{"data": {"customer": None}}, {"data": {"kind": None}}]
    assert outcome.sign_ins == 1
    assert [scopes & BOTH for scopes in outcome.scopes] in ([], [BOTH, BOTH])  # mcp-remote does not show its token


def test_private_names_of_scopes_are_learnt_tool_by_tool(upstream: Upstream, tmp_path: Path) -> None:
    more: dict[str, Any] = {"files": FOR_TOKENS, "condition": "'?$jwt'", "scopes": "{advertise: false}"}
    with running_site(tmp_path, upstream, oauth_proxy=f"{PROXY}, extra_scopes: [openid]", **more) as site:
        outcome = asyncio.run(call_with_python(site, Memory(), steps=["count", "note"]))

    assert list(outcome.results) == [{"data": {"customer": None}}, {"data": {"kind": None}}]
    assert [scopes & BOTH for scopes in outcome.scopes] == [{"orders:read"}, BOTH]
    assert outcome.sign_ins == 3


def test_expired_token_is_refreshed_and_nobody_signs_in_again(upstream: Upstream, tmp_path: Path, use: Use) -> None:
    with running_site(tmp_path, upstream, oauth_proxy=PROXY, valid_s=VALID_S, refresh=True) as site:
        outcome = use(site, ["count", VALID_S + 1, "count"], tmp_path)

    assert list(outcome.results) == [COUNTED, COUNTED]
    assert outcome.sign_ins == 1


def test_expired_token_that_cannot_be_refreshed_takes_another_sign_in(
    upstream: Upstream, tmp_path: Path, use: Use
) -> None:
    with running_site(tmp_path, upstream, oauth_proxy=PROXY, valid_s=VALID_S) as site:
        outcome = use(site, ["count", VALID_S + 1, "count"], tmp_path)

    assert list(outcome.results) == [COUNTED, COUNTED]
    assert outcome.sign_ins >= 2  # a slow machine may need longer for the first call than the token is valid
