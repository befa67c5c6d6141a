"""An endpoint behind events of API Gateway that people sign in for, at a provider of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handler.server.auth.sealed_state import RequestStates
from tests.issuers.providing import REGISTRATION, running_provider
from tests.support.endpoints import compiled
from tests.support.front import running_front
from tests.support.secrecy import SESSION
from tests.support.upstream import Upstream, free_port

STATE_KEY = SESSION.keep("a state key", "Qm8rW2xZ5vT1yL9nB4kJ7hG0fD3sA6pU")

SECRET = SESSION.keep("what the provider knows the OAuth proxy by", "stile-secret")

FILES = {
    "index.graphql": "type Query { customerCount: Int }",
    "operations/count.graphql": 'query Count @mcpTool(name: "count", scopes: ["orders:read"]) { __typename }',
    "operations/note.graphql": 'query Note @mcpTool(name: "note", scopes: ["orders:write"]) { kind: __typename }',
}

FOR_TOKENS = {
    "index.graphql": "type Query { customer(email: String!): Customer } type Customer { id: ID }",
    "operations/o.graphql": """
query Count @mcpTool(name: "count", scopes: ["orders:read"]) { customer(email: "nobody@example.com") { id } }
query Note @mcpTool(name: "note", scopes: ["orders:write"]) { kind: customer(email: "nobody@example.com") { id } }
""",
}
"""Tools with fields, which a policy may close to callers without a token."""

COUNTED = {"data": {"__typename": "Query"}}
NOTED = {"data": {"kind": "Query"}}

PROXY = "client_id: stile, client_secret: 'env:PROVIDER', redirect_uris: ['http://localhost/callback', 'http://localhost/oauth/callback']"


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """An endpoint that people sign in for."""

    url: str
    redirect_uri: str
    provider: str = ""  # the URL of the provider


@contextmanager
def running_site(
    folder: Path,
    upstream: Upstream,
    *,
    oauth_proxy: str = "",
    anonymous: str = "challenge",
    files: Mapping[str, str] = FILES,
    condition: str = "true",
    scopes: str = "{}",
    **tokens: Any,
) -> Iterator[Site]:
    """A provider and an endpoint that takes its tokens, through an OAuth proxy if one is configured.

    ``condition`` is that of all queries, ``scopes`` are those of ``access``, ``tokens`` is what ``running_provider``
    takes more.
    """
    port, redirect = free_port(), "http://localhost:{}/callback"
    url = f"http://127.0.0.1:{port}"
    people = f"{url}/api/things/oauth/callback" if oauth_proxy else REGISTRATION
    with running_provider(folder, people=people, **tokens) as provider:
        config = f"""\
access:
  anonymous: {anonymous}
  scopes: {scopes}
  policies: [{{type: Query, policyDefault: {{condition: {condition}}}}}]
upstream: {{url: "{upstream.url}"}}
identity:
  issuer: {provider.url}
  jwksendpoint: {provider.key_set_url}
  audience: [https://api.example/RS256, "{url}/api/things/mcp"]
  leeway_s: 0
"""
        urls = f"authorize_url: '{provider.url}/auth', token_url: '{provider.url}/token'"
        proxied = f"  oauth_proxy: {{{urls}, {oauth_proxy}}}\n"
        endpoint = compiled(folder, {**files, "config.yaml": config + (proxied if oauth_proxy else "")})
        states = RequestStates([STATE_KEY])
        with running_front(endpoint, port=port, public_url=url, secrets={"PROVIDER": SECRET}, states=states) as served:
            yield Site(url=served, redirect_uri=redirect.format(free_port()), provider=provider.url)
