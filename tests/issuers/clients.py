"""Clients that sign in by themselves, and make calls. The person in front of each agrees to everything."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

from tests.issuers.browsing import sign_in
from tests.issuers.providing import HOME, NODE
from tests.issuers.sites import Site
from tests.support.secrecy import SESSION

SCRIPT = Path(__file__).with_name("client.mjs")

Sdk = Literal["sdk", "client"]
"""The TypeScript SDK's package: that of 1.x, or the one of 2.x."""

Step = str | float
"""The tool to call, or how many seconds to wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The results of some calls, the scopes of the token at each, and how often a person had to sign in."""

    results: Sequence[Any]
    scopes: Sequence[set[str]]
    sign_ins: int


@dataclass
class Memory:
    """What the Python client keeps."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None
    callbacks: list[str] = field(default_factory=list)

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        SESSION.keep("an access token", tokens.access_token)
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info

    @property
    def scopes(self) -> set[str]:
        """The scopes of the token."""
        return set(((self.tokens and self.tokens.scope) or "").split())


def python_provider(site: Site, memory: Memory, *, document: str | None = None) -> OAuthClientProvider:
    async def redirect(url: str) -> None:
        memory.callbacks.append(await asyncio.to_thread(sign_in, url, until=site.redirect_uri))

    async def callback() -> AuthorizationCodeResult:
        answered = {name: value for name, (value,) in parse_qs(urlsplit(memory.callbacks[-1]).query).items()}
        return AuthorizationCodeResult(code=answered["code"], state=answered.get("state"), iss=answered.get("iss"))

    return OAuthClientProvider(
        server_url=f"{site.url}/mcp",
        client_metadata=OAuthClientMetadata(redirect_uris=[AnyUrl(site.redirect_uri)], client_name="tests"),
        storage=memory,
        redirect_handler=redirect,
        callback_handler=callback,
        client_metadata_url=document,
    )


async def call_with_python(
    site: Site, memory: Memory, *, document: str | None = None, steps: Sequence[Step] = ("count",)
) -> Outcome:
    auth, results, scopes = python_provider(site, memory, document=document), [], []
    async with (
        httpx2.AsyncClient(auth=auth, trust_env=False) as http,
        Client(streamable_http_client(f"{site.url}/mcp", http_client=http)) as client,
    ):
        for step in steps:
            if isinstance(step, str):
                results.append((await client.call_tool(step, {})).structured_content)
                scopes.append(memory.scopes)
            else:
                await asyncio.sleep(step)
    return Outcome(results=results, scopes=scopes, sign_ins=len(memory.callbacks))


def call_with_typescript(site: Site, *, sdk: Sdk = "client", steps: Sequence[Step] = ("count",)) -> Outcome:
    calls = json.dumps([[step, {}] if isinstance(step, str) else step for step in steps])
    command = [str(NODE), str(SCRIPT), str(HOME), sdk, f"{site.url}/mcp", site.redirect_uri, calls]
    sign_ins, printed = 0, {}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as it:
        assert it.stdin is not None
        assert it.stdout is not None
        for line in it.stdout:
            printed = json.loads(line)
            if "open" in printed:
                sign_ins += 1
                it.stdin.write(f"{sign_in(printed['open'], until=site.redirect_uri)}\n")
                it.stdin.flush()
        _, trouble = it.communicate(timeout=60)
    assert it.returncode == 0, trouble
    return Outcome(
        results=[each.get("structuredContent", each) for each in printed["results"]],
        scopes=[set(each.split()) for each in printed["scopes"]],
        sign_ins=sign_ins,
    )
