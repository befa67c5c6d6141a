"""``requires_auth`` of tools in Python, by each kind of ``upstream.auth`` and each kind of caller.

Source: xmcp, "defineTool", ``requiresAuth``; RFC 6750, section 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.server.outgoing.serving import ISSUER, endpoint, identity_with, with_token
from tests.support.api import Reply, running_api
from tests.support.endpoints import compiled
from tests.support.function import Answer, running_function
from tests.support.identities import HOLDER
from tests.support.issuers import AUDIENCE
from tests.support.kits import with_kit

MODULE = "tests.support.acme_required"
REQUIRED = f"{MODULE}:kit"
URL = "https://api.example.com/graphql"
PASSTHROUGH = f"{{url: '{URL}', auth: {{passthrough: {{audience: '{AUDIENCE}'}}}}}}"
SIGV4 = f"{{url: '{URL}', auth: {{sigv4: {{service: execute-api, region: eu-central-1}}}}}}"
NONE = f"{{url: '{URL}'}}"
BEARER = f"{{url: '{URL}', auth: {{bearer: 'env:K'}}}}"
WELCOME, WITH_TOKEN = "welcome", "welcome, with a token for the API"


def exchange(token_url: str) -> str:
    client = f"token_url: '{token_url}', client_id: stile, client_secret: 'env:K'"
    return f"{{url: '{URL}', auth: {{token_exchange: {{{client}}}}}}}"


def called(folder: Path, upstream: str, headers: Mapping[str, str], *, modern: bool = True, **changes: Any) -> Answer:
    made = with_kit(endpoint(folder, upstream, identity=identity_with()), REQUIRED)
    issuers = (replace(ISSUER, **changes),) if changes else (ISSUER,)
    made = replace(made, bundle=replace(made.bundle, identity=replace(made.bundle.identity, issuers=issuers)))
    with running_function(made, code_modules=(MODULE,), secrets={"K": "the secret of the API"}) as function:
        return function.request("tools/call", {"name": "signed_in", "arguments": {}}, modern=modern, headers=headers)


@pytest.mark.parametrize("upstream", [PASSTHROUGH, SIGV4, NONE])
def test_caller_with_a_valid_token_is_never_refused(tmp_path: Path, upstream: str) -> None:
    assert called(tmp_path, upstream, with_token()).text == WELCOME


@pytest.mark.parametrize("upstream", [SIGV4, NONE])
def test_holder_of_a_key_is_a_known_caller_of_an_api_that_takes_no_token(tmp_path: Path, upstream: str) -> None:
    assert called(tmp_path, upstream, HOLDER).text == WELCOME


def test_holder_of_a_key_has_no_token_to_pass_on(tmp_path: Path) -> None:
    assert called(tmp_path, PASSTHROUGH, HOLDER).status == 401


def test_credential_of_the_endpoint_serves_whoever_calls(tmp_path: Path) -> None:
    for headers in ({}, HOLDER, with_token()):
        assert called(tmp_path, BEARER, headers).text == WITH_TOKEN


def test_token_that_was_exchanged_is_a_credential(tmp_path: Path) -> None:
    token = {"access_token": "for-the-api-alone", "token_type": "Bearer", "expires_in": 60}
    with running_api(lambda _: Reply(token), takes_secrets=True) as provider:
        assert called(tmp_path, exchange(provider.url), with_token()).text == WITH_TOKEN


@pytest.mark.parametrize("upstream", [PASSTHROUGH, SIGV4, NONE, exchange("https://login.example/token")])
@pytest.mark.parametrize("modern", [True, False])
@pytest.mark.parametrize("issuer", ["https://login.example/", ""], ids=["named issuer", "issuer without a name"])
def test_anonymous_caller_is_challenged_where_there_is_an_issuer(
    tmp_path: Path, upstream: str, modern: bool, issuer: str
) -> None:
    answer = called(tmp_path, upstream, {}, modern=modern, issuer=issuer)

    assert answer.status == 401
    assert answer.json["error"] == {"code": -32600, "message": "Authentication required"}
    assert answer.headers["www-authenticate"].startswith('Bearer realm="api/things"')
    assert ("resource_metadata=" in answer.headers["www-authenticate"]) == bool(issuer)


DOUBT = 'nobody can call "signed_in": it has requires_auth, and no caller has a credential: expected '
EITHER, TOKENS = "an issuer or API keys", "an issuer"


@pytest.mark.parametrize(
    ("upstream", "identity", "doubt"),
    [
        (NONE, "", EITHER),
        (SIGV4, "", EITHER),
        (exchange("https://login.example/token"), "", TOKENS),
        (exchange("https://login.example/token"), f"identity: {{api_keys: [{{name: a, sha256: {'a' * 64}}}]}}", TOKENS),
        (NONE, f"identity: {{api_keys: [{{name: a, sha256: {'a' * 64}}}]}}", ""),
        (NONE, "identity: {trust_authorizer: [abc]}", ""),
        (exchange("https://login.example/token"), identity_with(), ""),
        (PASSTHROUGH, identity_with(), ""),
        (BEARER, "", ""),
    ],
)
def test_tool_that_nobody_can_call_is_a_warning(tmp_path: Path, upstream: str, identity: str, doubt: str) -> None:
    code = f"code: [{{use: '{REQUIRED}', condition: 'true'}}]\naccess: {{anonymous: allow}}\n"
    files = {"config.yaml": f"upstream: {upstream}\n{code}{identity}"}
    made = compiled(tmp_path, files, STILE_CODE_MODULES=MODULE)

    doubts = [each for each in made.warnings if "requires_auth" in each.sentence]
    assert [each.sentence.removeprefix(DOUBT).partition(" in identity")[0] for each in doubts] == [doubt] * bool(doubt)
    assert all(each.file.endswith("acme_required.py") and each.line > 1 for each in doubts)
