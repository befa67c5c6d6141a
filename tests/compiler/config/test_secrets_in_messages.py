"""Messages on sections that hold credentials never repeat a value, wherever an author put a secret."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from handler.compiler.compile import compile_endpoint
from handler.errors.authoring import CompileError
from tests.support.endpoints import write_endpoint
from tests.support.examples import examples

SECRET = "sk8f3c_Q2d91Zx"
"""A text that no message has by chance."""

CLIENT = {"token_url": "https://a.b/", "client_id": "c", "client_secret": "secret:K", "scope": ["x"]}
PROXY = {
    "authorize_url": "https://a.b/",
    "token_url": "https://a.b/",
    "client_id": "c",
    "client_secret": "secret:K",
    "redirect_uris": ["https://a.b/c"],
    "client_metadata_documents": ["https://a.b/c"],
    "scope_prefix": "p/",
    "extra_scopes": ["x"],
    "resource": "drop",
    "assertion_clients": [{"id": "x", "sha256": "0" * 64, "issuer": "https://a.b/"}],
}
ISSUER = {
    "issuer": "https://a.b/",
    "audience": ["api"],
    "subject": "s",
    "claims": ["c"],
    "algorithms": ["RS256"],
    "leeway_s": 1,
    "jwksendpoint": "https://a.b/",
    "keys": [{"algorithm": "HS256", "key": "env:K", "keyid": "k"}],
    "api_keys": [{"name": "n", "sha256": "0" * 64, "claims": {"c": 1}, "expires": "2099-01-01"}],
    "trust_authorizer": [{"api": "abc", "identity_source": "authorization"}],
    "oauth_proxy": PROXY,
}
UPSTREAM = {
    "url": "https://{claim:tenant}.example.com/graphql",
    "tenant_pattern": "[a-z]+",
    "timeout_s": 3,
    "max_bytes": 5000,
    "headers": {"x-fixed": "a", "x-claimed": "claim:c"},
    "forward_headers": ["x-forwarded"],
    "documents": "text",
}
AUTHS: list[dict[str, Any]] = [
    {"bearer": "secret:K"},
    {"header": "x-api-key", "value": "secret:K"},
    {"passthrough": {"audience": "api"}},
    {"client_credentials": {**CLIENT, "client_auth": "post", "audience": "a", "resource": "urn:x"}},
    {"token_exchange": {**CLIENT, "subject_token_type": "jwt", "actor_token": "env:T", "actor_token_type": "jwt"}},
    {"sigv4": {"service": "appsync", "region": "eu-central-1"}},
]
PLACE = "@place@"

SPELLINGS = (
    *(SECRET, f"*{SECRET}", f"&{SECRET} a", f"!{SECRET}", f"!{SECRET}!a", f"@{SECRET}", f'"{SECRET} \\u00e9"'),
    *(f"{{bearer {SECRET}}}", f"{{{SECRET}: a}}", f"[{SECRET}]", f"[[{SECRET}]]", f"{{a: {{{SECRET}: a}}}}"),
    *(f"'https://me:{SECRET}@a.b/'", f"'https://a.b/?api_key={SECRET} '", f"'https://a.b/?api_key={SECRET}#a'"),
    *(f"'authorization: bearer {SECRET}'", f"'env:{SECRET}/'", f"'secret:{SECRET}'", f"'arn:aws:{SECRET}'"),
)
"""Ways in which a secret may be at a place of another value."""


def configs() -> Iterator[dict[str, Any]]:
    for auth in AUTHS:
        yield {"upstream": {**UPSTREAM, "auth": auth}}
    yield {"upstream": {"url": "https://a.b/"}, "identity": [ISSUER]}
    yield {"upstream": {"url": "https://a.b/"}, "deployment": {"identity": ISSUER}}


def with_place(value: Any) -> Iterator[Any]:
    """Yield the value with each of its parts, one at a time, taken for a place."""
    yield PLACE
    if isinstance(value, dict):
        yield from ({**value, key: changed} for key, each in value.items() for changed in with_place(each))
    elif isinstance(value, list):
        yield from ([changed] for changed in with_place(value[0]))


def messages_on(folder: Path, config: str) -> list[str]:
    (folder / "config.yaml").write_text(config)
    try:
        problems = compile_endpoint(folder).warnings
    except CompileError as exc:
        problems = exc.problems
    return [str(each) for each in problems]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_message_never_shows_a_secret_at_the_place_of_another_value(tmp_path: Path, spelling: str) -> None:
    folder = write_endpoint(tmp_path, {"index.graphql": "type Query { a: Int }"})
    texts = sorted({json.dumps(each) for config in configs() for each in with_place(config) if each != PLACE})
    tried = Random(spelling).sample(texts, examples(len(texts), share=30))

    told = {text: messages_on(folder, text.replace(json.dumps(PLACE), spelling)) for text in tried}

    assert any(told.values())
    assert not [(text, each) for text, messages in told.items() for each in messages if SECRET.lower() in each.lower()]


@pytest.mark.parametrize("key", ["sha256", "SHA256"])
def test_error_on_a_digest_does_not_show_the_key_that_was_pasted_in_its_place(tmp_path: Path, key: str) -> None:
    folder = write_endpoint(tmp_path, {"index.graphql": "type Query { a: Int }"})

    told = messages_on(folder, f"identity: {{api_keys: [{{name: n, sha256: '{SECRET}', {key}: {SECRET}}}]}}\n")

    assert "config.yaml:1:" in " ".join(told)
    assert SECRET not in " ".join(told)


def test_error_outside_of_these_sections_still_shows_the_value(tmp_path: Path) -> None:
    folder = write_endpoint(tmp_path, {"index.graphql": "type Query { a: Int }"})

    assert messages_on(folder, "limits: {max_depth: deep}\n") == [
        "config.yaml:1:21: \"limits.max_depth\": expected a number from 1 to 50, got 'deep'"
    ]
