"""Tokens of `stile token`: who takes them, and that nobody else does."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import stat
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import jwt
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from handler.bundle.identity import DEVELOPMENT_ISSUER, DEVELOPMENT_KEY, Identity
from handler.bundle.stored import read_bundle, write_bundle
from handler.commands.local.development_tokens import key_file, require_issuer
from handler.compiler.compile import compile_endpoint
from handler.errors.infrastructure import BundleError
from tests.commands.running import FILES, Stile
from tests.commands.test_dev import running_dev
from tests.commands.test_dev_doors import post, ready
from tests.commands.test_serve import serving
from tests.support.api import Reply, running_api
from tests.support.endpoints import compiled, write_endpoint
from tests.support.function import running_function
from tests.support.issuers import AUDIENCE, Provider, ec_key
from tests.support.secrecy import SESSION

LISTING = {"method": "tools/list", "params": {}}
MANAGERS = """\
upstream: {url: "https://things.example/graphql"}
access:
  anonymous: challenge
  policies: [{type: Query, policyDefault: {condition: '$jwt.role:String == "manager"'}}]
"""
SECRET = "a secret of thirty-two bytes at least"
OWN_IDENTITY = f"{MANAGERS}identity: {{issuer: 'https://login.example', audience: '{AUDIENCE}', KEYS}}\n"
HS256 = OWN_IDENTITY.replace("KEYS", "keys: [{algorithm: HS256, key: env:CORP}]")
SECRETS = {"CORP": SECRET}


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the user's secret."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def endpoint(workplace: Path) -> Path:
    (workplace / "emp.json").write_text('{"sub": "ada", "role": "manager"}', encoding="utf-8")
    return write_endpoint(workplace, {**FILES, "config.yaml": HS256, ".env": f"STILE_SECRET_CORP='{SECRET}'\n"})


def token(stile: Stile, *arguments: str) -> str:
    done = stile.unsearched("token", "api", *arguments)
    assert done.code == 0, done.err
    text = done.out.strip()
    SESSION.keep("a token of stile token", text.rpartition(".")[2])  # its beginning is that of every such token
    return text


def claims_of(text: str) -> dict[str, Any]:
    return dict(jwt.decode(text, options={"verify_signature": False}))


def test_token_has_the_claims_the_audience_of_the_endpoint_and_an_hour(endpoint: Path, stile: Stile) -> None:
    claims = claims_of(token(stile, "--claims", "emp.json", "level=3", "team=[1]", "sub=eve"))

    now = time.time()
    assert claims.pop("exp") == pytest.approx(now + 3_600, abs=60)
    assert claims.pop("iat") == claims.pop("nbf") == pytest.approx(now, abs=60)
    assert claims == {
        "iss": DEVELOPMENT_ISSUER,
        "aud": AUDIENCE,
        "sub": "eve",
        "role": "manager",
        "level": 3,
        "team": [1],
    }


def test_official_sdk_signs_in_to_dev_with_a_token(endpoint: Path, stile: Stile) -> None:
    async def listed(url: str, text: str) -> list[str]:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {text}"}) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            return [tool.name for tool in (await client.list_tools()).tools]

    manager, other = token(stile, "--claims", "emp.json"), token(stile, "role=clerk")
    with running_dev("api") as dev:
        url = f"{ready(dev).url}/api/things/mcp"

        assert asyncio.run(listed(url, manager)) == ["a"]
        assert asyncio.run(listed(url, other)) == []


def test_own_tokens_of_an_endpoint_still_count_at_dev(endpoint: Path, stile: Stile) -> None:
    own = {"iss": "https://login.example", "aud": AUDIENCE, "role": "manager", "exp": time.time() + 60}
    text = token(stile, "role=manager")
    with running_dev("api") as dev:
        url = f"{ready(dev).url}/api/things/mcp"
        signed = jwt.encode(own, SECRET)
        for each in (text, signed):
            answer = post(url, LISTING, authorization=f"Bearer {each}")
            assert [tool["name"] for tool in answer.json()["result"]["tools"]] == ["a"]


def test_dev_as_deployed_refuses_a_token_and_says_why(endpoint: Path, stile: Stile) -> None:
    text = token(stile, "role=manager")
    with running_dev("api", "--as-deployed") as dev:
        answer = post(f"{ready(dev).url}/api/things/mcp", LISTING, authorization=f"Bearer {text}")

        assert answer.status == 401
        dev.wait_for(r"^refused: POST /api/things/mcp 401 denied issuer ")
        dev.wait_for("only `stile dev` without --as-deployed accepts")


@pytest.mark.parametrize("name", ["https://login.example", ""])
def test_function_refuses_a_token_for_any_identity(endpoint: Path, stile: Stile, name: str, tmp_path: Path) -> None:
    text = token(stile, "role=manager", "--audience", AUDIENCE)
    issuer = f"issuer: '{name}', " if name else ""
    config = HS256.replace("issuer: 'https://login.example', ", issuer)
    with running_function(
        compiled(tmp_path / "function", {**FILES, "config.yaml": config}), secrets=SECRETS
    ) as function:
        answer = function.request("tools/list", headers={"authorization": f"Bearer {text}"})

    assert answer.status == 401


@pytest.mark.parametrize("named", ["https://login.example", DEVELOPMENT_ISSUER, ""])
def test_function_does_not_trust_the_key_that_somebody_gives_it_as_a_secret(
    endpoint: Path, stile: Stile, named: str, tmp_path: Path
) -> None:
    token(stile, "role=manager")
    (key,) = require_issuer(endpoint, compile_endpoint(endpoint).bundle.identity, environ=os.environ).keys
    claims = {"aud": AUDIENCE, "role": "manager", "exp": time.time() + 60, **({"iss": named} if named else {})}
    for issuer in ("issuer: 'https://login.example', ", ""):
        config = HS256.replace("issuer: 'https://login.example', ", issuer)
        made = compiled(tmp_path / f"function{len(issuer)}", {**FILES, "config.yaml": config})
        with running_function(made, secrets={"CORP": key.key}) as function:
            answer = function.request("tools/list", headers={"authorization": f"Bearer {jwt.encode(claims, key.key)}"})

            assert answer.status == 401


def test_serve_refuses_a_token(endpoint: Path, stile: Stile) -> None:
    text = token(stile, "role=manager")
    own = {"iss": "https://login.example", "aud": AUDIENCE, "role": "manager", "exp": time.time() + 60}
    with serving("api", STILE_SECRET_CORP=SECRET) as server:
        assert server.tools(authorization=f"Bearer {text}") == 401
        assert server.tools(authorization=f"Bearer {jwt.encode(own, SECRET)}") == ["a"]


@pytest.mark.parametrize(
    "identity",
    [
        f"{{issuer: '{DEVELOPMENT_ISSUER}', audience: a, keys: [{{algorithm: HS256, key: env:CORP}}]}}",
        f"{{issuer: 'https://a.example', audience: a, keys: [{{algorithm: HS256, key: '{DEVELOPMENT_KEY}abab'}}]}}",
    ],
)
@pytest.mark.parametrize(
    "command", [("publish", ".", "bundles", "--create"), ("build", "."), ("serve", "."), ("check", ".")]
)
def test_configuration_that_would_trust_the_issuer_is_refused(
    workplace: Path, stile: Stile, identity: str, command: tuple[str, ...]
) -> None:
    write_endpoint(workplace, {**FILES, "config.yaml": f"{MANAGERS}identity: {identity}\n"})

    done = stile(*command)

    assert done.code == 1
    assert "[development-issuer]" in done.out + done.err
    assert DEVELOPMENT_KEY + "ab" not in done.out + done.err
    assert not (workplace / "bundles").exists()


def test_function_refuses_a_bundle_that_trusts_the_issuer(tmp_path: Path, endpoint: Path) -> None:
    bundle = compiled(tmp_path / "other", FILES).bundle
    issuer = require_issuer(endpoint, bundle.identity, environ=os.environ)
    for trusted in (issuer, replace(issuer, issuer="https://login.example"), replace(issuer, keys=())):
        raw = write_bundle(replace(bundle, identity=Identity(issuers=(trusted,), api_keys=(), trusted_apis=())))

        with pytest.raises(BundleError, match="development issuer"):
            read_bundle(raw, endpoint=bundle.endpoint)


def forged(text: str, *, header: dict[str, Any], signature: bytes = b"") -> str:
    def coded(raw: bytes) -> str:
        return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()

    return f"{coded(json.dumps(header).encode())}.{text.split('.')[1]}.{coded(signature or b'x')}"


FORGERIES: dict[str, Callable[[str], str]] = {
    "algorithm none": lambda text: forged(text, header={"alg": "none"}),
    "another algorithm": lambda text: forged(text, header={"alg": "HS512"}),
    "no signature of the key": lambda text: jwt.encode(claims_of(text), "x" * 40),
    "a secret of the endpoint": lambda text: jwt.encode(claims_of(text), SECRET),
    "a key of a provider": lambda text: Provider(DEVELOPMENT_ISSUER, (ec_key(),)).token(),
    "the empty key": lambda text: forged(text, header={"alg": "HS256"}),
}


def test_dev_refuses_forged_expired_and_foreign_tokens(workplace: Path, endpoint: Path, stile: Stile) -> None:
    write_endpoint(workplace, {**FILES, "config.yaml": HS256}, name="other/things")
    text = token(stile, "role=manager")
    foreign = stile.unsearched("token", "other", "role=manager").out.strip()
    audience = token(stile, "role=manager", "--audience", "https://elsewhere.example")
    short = token(stile, "role=manager", "--for", "1s")
    with running_dev("api") as dev:
        url = f"{ready(dev).url}/api/things/mcp"

        def status(each: str) -> int:
            return post(url, LISTING, authorization=f"Bearer {each}").status

        assert {name: status(forge(text)) for name, forge in FORGERIES.items()} == dict.fromkeys(FORGERIES, 401)
        assert (status(foreign), status(audience)) == (401, 401)
        dev.wait_for("`stile token` made it for another folder or by another user")
        dev.wait_for(f'the token has aud "https://elsewhere.example"; expected {AUDIENCE}')
        while claims_of(short)["exp"] > time.time():
            time.sleep(0.05)
        assert status(short) == 401
        dev.wait_for("the token has exp .* it is .* now: make a new one with `stile token`")
        assert status(text) == 200


def test_secret_is_private_outside_of_the_endpoint_and_in_no_bundle(endpoint: Path, stile: Stile, state: Path) -> None:
    token(stile, "role=manager")

    file = key_file(os.environ)
    assert file == state / "stile" / "development.key"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stile("build", "api").code in (0, 1)
    secret = file.read_text()
    (key,) = require_issuer(endpoint, compile_endpoint(endpoint).bundle.identity, environ=os.environ).keys
    written = [each.read_text(errors="replace") for each in Path().rglob("*") if each.is_file()]
    assert not any(secret in text or key.key.removeprefix(DEVELOPMENT_KEY) in text for text in written)


@pytest.mark.parametrize("spoil", ["open", "link", "folder", "text"])
def test_secret_that_others_may_use_or_that_is_none_is_refused(
    endpoint: Path, stile: Stile, spoil: str, tmp_path: Path
) -> None:
    token(stile, "role=manager")
    file = key_file(os.environ)
    match spoil:
        case "open":
            file.chmod(0o644)
        case "link":
            file.rename(tmp_path / "moved")
            file.symlink_to(tmp_path / "moved")
        case "folder":
            file.unlink()
            file.mkdir()
        case "text":
            file.write_text("secret")

    done = stile("token", "api", "role=manager")

    assert (done.code, done.out) == (1, "")
    assert str(file) in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--for", "8d"), "'8d': expected a time such as 30m or 1h, up to 7d"),
        (("--for", "0s"), "expected a time"),
        (("role",), "'role': expected K=V"),
        (("role=a", "role=b"), '"role" is given twice'),
        (("--claims", "none.json"), "none.json: cannot be read"),
        (("--claims", "anonymous"), "expected a JSON file with claims"),
    ],
)
def test_arguments_that_are_not_valid_are_wrong_usage(
    endpoint: Path, stile: Stile, arguments: tuple[str, ...], said: str
) -> None:
    done = stile("token", "api", *arguments)

    assert done.code == 2
    assert said in done.err


def test_folder_of_several_endpoints_is_refused(workplace: Path, endpoint: Path, stile: Stile) -> None:
    write_endpoint(workplace, FILES, name="api/others")

    done = stile("token", "api")

    assert (done.code, done.out) == (2, "")
    assert "api/others, api/things. Name the folder of one." in done.err


def test_json_has_the_token_and_its_claims(endpoint: Path, stile: Stile) -> None:
    printed = json.loads(stile.unsearched("token", "api", "sub=ada", "--json").out)

    assert printed["endpoint"] == "api/things"
    assert claims_of(printed["token"]) == printed["claims"]


def test_call_takes_a_token_that_it_verifies(workplace: Path, stile: Stile, endpoint: Path) -> None:
    with running_api(lambda _: Reply({"data": {"a": "yes"}})) as api:
        config = HS256.replace("https://things.example/graphql", api.url)
        (endpoint / "config.yaml").write_text(config, encoding="utf-8")
        for name, role in (("manager", "manager"), ("clerk", "clerk")):
            (workplace / name).write_text(token(stile, f"role={role}") + "\n", encoding="utf-8")
        (workplace / "late").write_text(forged(token(stile), header={"alg": "none"}), encoding="utf-8")

        manager, clerk, late = (stile("call", ".", "a", "--token", name) for name in ("manager", "clerk", "late"))

    assert (manager.code, json.loads(manager.out)) == (0, {"data": {"a": "yes"}})
    assert (clerk.code, len(api.asked)) == (1, 1)
    assert "is not for this caller" in clerk.err
    assert late.code == 1
    assert "--token: algorithm" in late.err
    assert "401, the credential was refused" in late.err
    assert stile("call", ".", "a", "--token", "manager", "--as", "anonymous").code == 2
    assert stile("call", ".", "a", "--token", "emp.json").code == 2


def test_endpoint_without_identity_takes_tokens_at_dev_alone(workplace: Path, stile: Stile, tmp_path: Path) -> None:
    write_endpoint(workplace, {**FILES, "config.yaml": MANAGERS})
    manager, clerk = token(stile, "role=manager"), token(stile, "role=clerk")
    with running_dev("api") as dev:
        url = f"{ready(dev).url}/api/things/mcp"
        answers = [post(url, LISTING, authorization=f"Bearer {each}").json() for each in (manager, clerk)]
    with running_function(compiled(tmp_path / "function", {**FILES, "config.yaml": MANAGERS})) as function:
        refused = function.request("tools/list", headers={"authorization": f"Bearer {manager}"})

    assert [len(answer["result"]["tools"]) for answer in answers] == [1, 0]
    assert refused.status == 401


def test_dev_refuses_tokens_while_others_may_use_the_secret(endpoint: Path, stile: Stile) -> None:
    text = token(stile, "role=manager")
    with running_dev("api") as dev:
        url = f"{ready(dev).url}/api/things/mcp"
        key_file(os.environ).chmod(0o644)
        assert post(url, LISTING, authorization=f"Bearer {text}").status == 401
        dev.wait_for("other users may use it: give it the mode 0600, or remove it")
        key_file(os.environ).chmod(0o600)
        assert post(url, LISTING, authorization=f"Bearer {text}").status == 200
