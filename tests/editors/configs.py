"""Configurations that the compiler takes, with every key between them, and changes that make one wrong."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from typing import Any

import yaml

from handler.compiler.source.yaml_tree import value_of

Path = tuple[str | int, ...]

SDL = """
type Query { a(x: Money, y: Count, filter: Filter): Int list: [Int] }
type Person { name: String pay: Int }
type Subject { people(nameGt: String): [Person] }
input Filter { payGt: Int }
extend type Query { people(filter: Filter): [Person] subject: Subject }
scalar Money
scalar Count
"""

CLIENT = {
    "token_url": "https://id.corp.example/token",
    "client_id": "stile",
    "client_secret": "env:SECRET",
    "client_auth": "post",
    "scope": ["read"],
    "audience": "api",
    "resource": "https://api.corp.example",
}
ISSUER = {
    "issuer": "https://id.corp.example",
    "audience": ["https://mcp.corp.example"],
    "jwksendpoint": "https://id.corp.example/keys",
    "subject": "ada",
    "claims": ["org"],
    "algorithms": ["RS256"],
    "leeway_s": 20,
    "trust_authorizer": [{"api": "abc123", "identity_source": "authorization"}, "def456"],
    "api_keys": [{"name": "partner", "sha256": "a" * 64, "claims": {"kind": ["x", 5]}, "expires": "2030-01-31"}],
    "oauth_proxy": {
        "authorize_url": "https://id.corp.example/authorize",
        "token_url": "https://id.corp.example/token",
        "client_id": "stile",
        "client_secret": "env:SECRET",
        "redirect_uris": ["https://client.example/callback"],
        "client_metadata_documents": ["https://client.example/client.json"],
        "scope_prefix": "api://",
        "extra_scopes": ["offline_access"],
        "resource": "keep",
        "assertion_clients": [{"id": "desk", "sha256": ["a" * 64, "b" * 64], "issuer": "https://id.corp.example"}],
    },
}
SECOND = {"issuer": "b", "audience": "c", "keys": [{"algorithm": "HS256", "key": "env:K", "keyid": "k"}]}
WHOLE: dict[str, Any] = {
    "upstream": {
        "url": "https://{claim:org.tenant}.corp.example/graphql",
        "tenant_pattern": "[a-z0-9-]+",
        "timeout_s": 5,
        "max_bytes": 100_000,
        "headers": {"x-client": "stile"},
        "forward_headers": ["x-request-id"],
        "documents": "text",
        "auth": {"header": "x-key", "value": "secret:KEY"},
    },
    "limits": {
        "max_tokens": 500,
        "max_depth": 5,
        "max_fields": 50,
        "max_aliases": 0,
        "max_cost": 100,
        "max_values": 100,
        "continue": True,
        "max_result_bytes": 0,
        "max_schema_bytes": 2_000,
        "max_output_schema_bytes": 1_000,
        "recursion": "ref",
        "list_budget": 500,
        "list_sizes": {"Query.list": 5},
    },
    "access": {
        "anonymous": "allow",
        "policies": [
            {"type": "Query", "policyDefault": {"condition": True}},
            {
                "type": "Person",
                "rules": [{"name": "n", "description": "d", "condition": '$jwt.a:String == "b"', "fields": ["pay"]}],
                "policyDefault": {"condition": False},
            },
        ],
        "hide": ["Person.name"],
        "show": ["Subject.people(nameGt:)"],
        "scopes": {"list": "allowed", "advertise": False},
    },
    "identity": [ISSUER, SECOND],
    "tools": {"operations": "queries"},
    "default_tool": False,
    "graphql": "on",
    "output_schema": "off",
    "scalars": {
        "Money": {
            "type": "string",
            "format": "date",
            "pattern": "^a$",
            "minLength": 1,
            "maxLength": 5,
            "enum": ["a"],
        },
        "Count": {"type": "number", "minimum": 1, "maximum": 5.5},
    },
    "instructions": "Ask.",
    "server": {
        "name": "shop",
        "title": "Shop",
        "description": "Orders",
        "version": "1.0.0",
        "website": "https://shop.example.com",
        "icons": [{"file": "a.svg", "theme": "dark"}],
        "listed": True,
        "software": False,
    },
    "resources": {"condition": True},
    "skills": {"condition": True},
    "ui": {
        "condition": True,
        "pages": {
            "orders": {
                "title": "Orders",
                "description": "All orders",
                "condition": True,
                "csp": {
                    "connect_domains": ["https://api.corp.example"],
                    "resource_domains": ["https://cdn.corp.example"],
                    "frame_domains": ["https://maps.corp.example"],
                    "base_uri_domains": ["https://cdn.corp.example"],
                },
                "permissions": ["camera"],
                "prefers_border": True,
                "domain": "a1b2.corp.example",
            }
        },
    },
    "catalog": {"name": "all_tools", "hidden": True, "list": "pinned"},
    "find": {"words": {"turnover": ["revenue"]}},
    "log": {"coordinates": True, "arguments": ["O.x"]},
    "checks": {"ignore": [{"code": "no-audience", "coordinates": ["a"], "reason": "r"}]},
    "diff": {"ignore": [{"code": "reach-lost", "about": ["a"], "reason": "r"}]},
    "configurationset": [],
    "ruleset": {},
    "fieldbasedrules": 5,
}


def _with_auth(auth: Any) -> dict[str, Any]:
    return {"upstream": {"url": "https://api.corp.example/graphql", "auth": auth}}


CONFIGS: tuple[dict[str, Any], ...] = (
    WHOLE,
    _with_auth("none"),
    _with_auth({"bearer": "env:TOKEN"}),
    {**_with_auth({"passthrough": {"audience": "a"}}), "identity": {**ISSUER, "audience": "a"}},
    _with_auth({"client_credentials": CLIENT}),
    _with_auth(
        {
            "token_exchange": {
                **CLIENT,
                "subject_token_type": "jwt",
                "actor_token": "env:ACTOR",
                "actor_token_type": "jwt",
            }
        }
    ),
    _with_auth({"sigv4": {"service": "appsync", "region": "eu-central-1"}}),
    {"deployment": {"identity": ISSUER}},
    {"scalars": {"Count": {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 5}}},
    {"tools": "operations", "catalog": True, "access": {"policies": {"type": "Query"}, "hide": "Person.pay"}},
)
"""Each key is in one of them at least, but those of ``code``, which needs modules."""

WRONG: tuple[Any, ...] = ({"no_such_key": 1}, [["x"]], "no such text", 5.5, -3, True, None)
"""Values of each kind."""

TRIED = 2
"""Wrong values that are tried in each place. All seven would take a minute."""


def changes() -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield configurations with one value replaced by some of ``WRONG``, and with one unknown key in each mapping."""
    seen: set[Path] = set()
    wrongs = itertools.cycle(WRONG)
    for config in CONFIGS:
        for path in _paths(config, ()):
            if path not in seen:
                yield from ((path, _replaced(config, path, wrong)) for wrong in itertools.islice(wrongs, TRIED))
                if isinstance(value_at(config, path), dict):
                    yield (*path, "no_such_key"), _replaced(config, (*path, "no_such_key"), 1)
            seen.add(path)
    yield ("no_such_key",), {**WHOLE, "no_such_key": 1}


def json_of_yaml(text: str) -> Any:
    """Read YAML as editors do: ``5`` is a number."""
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    return value_of(node, text_of=lambda scalar: str(scalar.value)) if node else None


def _paths(value: Any, above: Path) -> Iterator[Path]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in items:
        yield (*above, key)
        yield from _paths(below, (*above, key))


def value_at(value: Any, path: Path) -> Any:
    """Return the value at a path."""
    for step in path:
        value = value[step]
    return value


def _replaced(config: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(config)
    value_at(changed, path[:-1])[path[-1]] = value
    return changed
