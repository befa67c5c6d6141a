"""Endpoints that need more than the function was built or configured with."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from handler.code_tools.modules import is_there
from handler.compiler.compile import Compiled
from handler.server.log import MAX_REASON_CHARS
from handler.storage.local import FolderStorage
from tests.support.endpoints import compiled
from tests.support.function import Context, store
from tests.support.identities import KEY, api_key
from tests.support.issuers import AUDIENCE, Provider, ec_key, given
from tests.support.kits import TOOLS, changed_tool, with_kit
from tests.support.modules import Modules, modules
from tests.support.started import errors, logged, started_function

__all__ = ["modules"]

HS256_KEY = "rT5v9Xq2Zc7Lr1Tb6Wn8Kd3Hf5Jp0GsQ"
PROVIDER = Provider("https://login.example/", (ec_key(),))
OPEN = """\
extend schema @tool(name: "ask", graphql: {expose: true, types: "Query", fields: "a"})
type Query { a: Int }
type Mutation { b: Int }
"""
ACCESS: dict[str, Any] = {"anonymous": "allow", "policies": [{"type": "Query", "policyDefault": {"condition": True}}]}
REMEDY = "add it to Extras in samconfig.toml, then `sam build` and `sam deploy`"
JWT = f"the extra jwt is missing, which verifies tokens of issuers: {REMEDY}"
CODE = f"the extra code is missing, which tools in Python need: {REMEDY}"
LACKING = "function lacks what the endpoint needs"
REFUSED = "this function lacks a part that the endpoint needs"


def files(*, issuers: bool = True, **more: Any) -> dict[str, str]:
    (key,) = given(*PROVIDER.keys)
    identity = {
        "issuer": PROVIDER.name,
        "audience": AUDIENCE,
        "keys": [{"algorithm": key.algorithm, "keyid": key.id, "key": key.key}],
    }
    config = {"access": ACCESS, "graphql": "on", **({"identity": {**identity, **more}} if issuers else {})}
    operation = 'query A @mcpTool(name: "a") { a }'
    return {"index.graphql": OPEN, "operations/a.graphql": operation, "config.yaml": json.dumps(config)}


PROXY = {
    "authorize_url": "https://login.example/authorize",
    "token_url": "https://login.example/token",
    "client_id": "stile",
    "redirect_uris": ["https://client.example/back"],
}


@pytest.fixture
def signed(tmp_path: Path) -> Compiled:
    """An endpoint that takes tokens, anonymous callers and a key, and has an OAuth proxy."""
    made = compiled(tmp_path, files(oauth_proxy=PROXY))
    identity = dataclasses.replace(made.bundle.identity, api_keys=(api_key(),))
    return dataclasses.replace(made, bundle=dataclasses.replace(made.bundle, identity=identity))


@pytest.fixture
def location(folder_storage: FolderStorage, signed: Compiled) -> str:
    store(folder_storage, signed)
    return folder_storage.location


@pytest.fixture(params=["jwt", "cryptography"])
def without_jwt(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, location: str) -> str:
    """The location of its bundle, from now on without a package of the extra."""
    without(monkeypatch, request.param)
    return location


def without(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)


CREDENTIALS: Mapping[str, Mapping[str, str]] = {
    "nothing": {},
    "a good token": {"authorization": f"Bearer {PROVIDER.token()}"},
    "an expired token": {"authorization": f"Bearer {PROVIDER.token(exp=1)}"},
    "no token": {"authorization": "Bearer x"},
    "a key": {"x-api-key": KEY},
    "two": {"authorization": f"Bearer {PROVIDER.token()}", "x-api-key": KEY},
}


@pytest.mark.usefixtures("without_jwt")
class TestTokens:
    @pytest.mark.parametrize("credential", CREDENTIALS)
    def test_endpoint_that_takes_tokens_is_503_on_every_route_for_everybody(
        self, location: str, credential: str
    ) -> None:
        headers = CREDENTIALS[credential]
        listed = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        with started_function(location) as function:
            over_mcp = [
                function.request("tools/list", headers=headers),
                function.request("tools/list", headers=headers, modern=True),
                function.request("initialize", headers=headers),
                function.call("a", {}, headers=headers),
                function.post([listed, {**listed, "id": 2}], headers=headers),
                function.post(b"{", headers=headers),
            ]
            over_graphql = [
                function.graphql({"query": "{ a }"}, headers=headers),
                function.graphql({"query": "{ a }"}, "/tools/ask/graphql", headers=headers),
                function.get({"query": "{ a }"}, headers=headers),
            ]
            others = [
                function.send("GET", path, headers=headers)
                for path in (
                    "/.well-known/oauth-protected-resource/api/things/mcp",
                    "/.well-known/oauth-authorization-server/api/things",
                    "/api/things/oauth/authorize?client_id=x",
                )
            ]

        assert {(answer.status, answer.body) for answer in over_mcp + others} == {
            (503, b'{"error":"%b","code":"endpoint-not-ready"}' % REFUSED.encode())
        }
        assert {(answer.status, answer.body) for answer in over_graphql} == {
            (503, b'{"errors":[{"message":"%b","extensions":{"code":"endpoint-not-ready"}}]}' % REFUSED.encode())
        }
        assert not [answer for answer in over_mcp + over_graphql + others if "www-authenticate" in answer.headers]

    def test_log_says_it_when_the_endpoint_is_loaded_and_not_at_each_request(
        self, location: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with started_function(location) as function:
            assert errors(capsys) == []
            for _ in range(5):
                function.request("tools/list")

        assert errors(capsys) == [(LACKING, "api/things", JWT)]

    def test_log_says_it_at_the_start_of_a_preloaded_endpoint(
        self, location: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with started_function(location, STILE_PRELOAD="api/things") as function:
            assert errors(capsys) == [(LACKING, "api/things", JWT)]
            assert function.request("tools/list").status == 503
            (line,) = logged(capsys)

        assert (line["endpoint"], line["outcome"], line["reason"]) == ("api/things", "rejected", REFUSED)

    def test_warmer_finds_it_closed_and_goes_on(self, without_jwt: str, location: str) -> None:
        with started_function(location, STILE_PRELOAD="api/things") as function:
            assert function.handler({"stile": "warm"}, Context()) == {"stile": "warm", "endpoints": 1}

    def test_log_says_it_again_once_a_refresh(self, location: str, capsys: pytest.CaptureFixture[str]) -> None:
        with started_function(location, STILE_REFRESH_S="0", STILE_MAX_STALE_S="0") as function:
            for _ in range(3):
                function.request("tools/list")

        assert errors(capsys) == [(LACKING, "api/things", JWT)] * 3

    def test_other_endpoints_are_served_and_the_function_is_not_ready(
        self, tmp_path: Path, location: str, folder_storage: FolderStorage
    ) -> None:
        store(folder_storage, renamed(compiled(tmp_path / "open", files(issuers=False)), "api/open"))
        with started_function(location) as function:
            assert function.request("tools/list").status == 503
            assert dataclasses.replace(function, path="/api/open/mcp").request("tools/list").status == 200
            health = function.send("GET", "/health")

        assert health.status == 503
        assert health.json == {"status": "not_ready", "endpoints": 1, "failing": 0, "lacking": 1, "oldestCheckS": 0}

    @pytest.mark.parametrize("max_stale_s", ["0", "300"])
    def test_bundle_that_closes_an_open_endpoint_replaces_the_open_one(
        self, tmp_path: Path, folder_storage: FolderStorage, signed: Compiled, max_stale_s: str
    ) -> None:
        store(folder_storage, compiled(tmp_path / "open", files(issuers=False)))
        with started_function(folder_storage.location, STILE_REFRESH_S="0", STILE_MAX_STALE_S=max_stale_s) as function:
            assert function.request("tools/list").status == 200
            store(folder_storage, signed)
            function.request("tools/list")
            assert function.request("tools/list").status == 503
            store(folder_storage, compiled(tmp_path / "open", files(issuers=False)))
            function.request("tools/list")
            assert function.request("tools/list").status == 200
            assert function.send("GET", "/health").json["status"] == "ok"


def renamed(made: Compiled, name: str) -> Compiled:
    return dataclasses.replace(made, bundle=dataclasses.replace(made.bundle, endpoint=name))


def test_function_that_has_it_all_serves_and_logs_nothing(location: str, capsys: pytest.CaptureFixture[str]) -> None:
    with started_function(location, STILE_PRELOAD="api/things") as function:
        assert function.request("tools/list", headers=CREDENTIALS["a good token"]).status == 200
        assert function.send("GET", "/health").json["status"] == "ok"

    assert errors(capsys) == []


def test_function_is_ready_again_without_a_request_once_another_bundle_is_there(
    tmp_path: Path, without_jwt: str, folder_storage: FolderStorage
) -> None:
    environ = {"STILE_REFRESH_S": "0", "STILE_PRELOAD": "api/things"}
    with started_function(without_jwt, **environ) as function:
        assert function.send("GET", "/health").json["status"] == "not_ready"
        store(folder_storage, compiled(tmp_path / "open", files(issuers=False)))
        assert function.send("GET", "/health").json["status"] == "ok"
        assert function.request("tools/list").status == 200


@pytest.mark.parametrize("environ", [{}, {"STILE_SECRET_LOGIN": ""}, {"STILE_SECRET_OTHER": HS256_KEY}])
def test_secret_of_an_issuer_that_is_not_set_closes_the_endpoint(
    tmp_path: Path, folder_storage: FolderStorage, capsys: pytest.CaptureFixture[str], environ: Mapping[str, str]
) -> None:
    keys = [{"algorithm": "HS256", "key": "env:LOGIN"}]
    store(folder_storage, compiled(tmp_path, files(keys=keys)))
    with started_function(folder_storage.location, **environ) as function:
        for headers in CREDENTIALS.values():
            answer = function.request("tools/list", headers=headers)
            assert (answer.status, answer.code) == (503, "endpoint-not-ready")
        assert function.send("GET", "/health").json["status"] == "not_ready"
    need = "STILE_SECRET_LOGIN is missing, which verifies tokens of an issuer: set the variable"
    assert errors(capsys) == [(LACKING, "api/things", need)]

    with started_function(folder_storage.location, STILE_SECRET_LOGIN=HS256_KEY) as function:
        assert function.request("tools/list").status == 200


class TestCode:
    @pytest.fixture
    def coded(self, tmp_path: Path) -> Compiled:
        return with_kit(compiled(tmp_path, files(issuers=False)), TOOLS)

    @pytest.fixture(params=["not allowed", "not there", "no pydantic"])
    def lack(
        self,
        request: pytest.FixtureRequest,
        coded: Compiled,
        folder_storage: FolderStorage,
        monkeypatch: pytest.MonkeyPatch,
    ) -> tuple[str, str]:
        """Stores an endpoint that needs what is not there. Gives STILE_CODE_MODULES, and the sentence for the log."""
        match request.param:
            case "not allowed":
                found = ("", "tests.support.acme_tools is not among STILE_CODE_MODULES: name the module there")
            case "not there":
                use, gone = "tests.support.acme_gone:kit", "there is no module tests.support.acme_gone"
                kits = tuple(dataclasses.replace(kit, use=use) for kit in coded.bundle.code)
                coded = changed_tool(coded, "echo", kit=use)
                coded = dataclasses.replace(coded, bundle=dataclasses.replace(coded.bundle, code=kits))
                found = ("tests.support", f"{gone}: build the function with the code of the module")
            case _:
                without(monkeypatch, "pydantic")
                # As in a process that has called none of them: what was made of it is gone, too.
                monkeypatch.delitem(sys.modules, "tests.support.acme_tools")
                for name in [name for name in sys.modules if name.startswith("handler.code_tools.")]:
                    monkeypatch.delitem(sys.modules, name)
                found = ("tests.support", CODE)
        store(folder_storage, coded)
        return found

    def test_what_tools_in_python_need_fails_their_calls_alone_and_the_log_says_it(
        self, folder_storage: FolderStorage, lack: tuple[str, str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        allowed, sentence = lack
        with started_function(folder_storage.location, STILE_CODE_MODULES=allowed) as function:
            listed = function.request("tools/list")
            asked = function.query("ask", "{ __schema { queryType { name } } }")
            logged_at_load = errors(capsys)
            called = function.call("echo", {"text": "\ud800"})  # which only pydantic judges
            health = function.send("GET", "/health")

        assert {"a", "ask", "echo"} <= {tool["name"] for tool in listed.result["tools"]}
        assert "isError" not in asked.result
        assert (called.status, called.result["isError"], called.text) == (200, True, "Tool execution failed")
        assert logged_at_load == [(LACKING, "api/things", sentence)]
        assert (health.status, health.json["status"], health.json["lacking"]) == (503, "not_ready", 1)

    def test_several_are_one_line(
        self, tmp_path: Path, folder_storage: FolderStorage, coded: Compiled, capsys: pytest.CaptureFixture[str]
    ) -> None:
        signed = compiled(tmp_path / "signed", files()).bundle.identity
        store(folder_storage, dataclasses.replace(coded, bundle=dataclasses.replace(coded.bundle, identity=signed)))
        with pytest.MonkeyPatch.context() as patch:
            without(patch, "jwt")
            with started_function(folder_storage.location, STILE_PRELOAD="api/things"):
                pass

        code = "tests.support.acme_tools is not among STILE_CODE_MODULES: name the module there"
        assert errors(capsys) == [(LACKING, "api/things", f"{JWT}; {code}")]


def test_line_of_very_many_lacks_is_bounded(
    tmp_path: Path, folder_storage: FolderStorage, capsys: pytest.CaptureFixture[str]
) -> None:
    made = with_kit(compiled(tmp_path, files(issuers=False)), TOOLS)
    (kit,) = made.bundle.code
    kits = tuple(dataclasses.replace(kit, use=f"kit{number}:kit") for number in range(2_000))
    store(folder_storage, dataclasses.replace(made, bundle=dataclasses.replace(made.bundle, code=kits)))
    with started_function(folder_storage.location, STILE_PRELOAD="api/things"):
        pass

    ((_, _, reason),) = errors(capsys)
    assert len(reason) == MAX_REASON_CHARS


class TestIsThere:
    def test_module_is_found_and_nothing_of_it_runs(self, modules: Modules) -> None:
        modules.write("shop_tools/__init__.py", "raise SystemExit('ran')")
        modules.write("shop_tools/orders.py", "raise SystemExit('ran')")
        modules.write("shop_tools/deep/__init__.py", "raise SystemExit('ran')")
        modules.write("shop_tools/deep/er.py", "raise SystemExit('ran')")
        modules.write("alone_tools.py", "raise SystemExit('ran')")

        for name in ("shop_tools", "shop_tools.orders", "shop_tools.deep.er", "alone_tools", "json", "os.path"):
            assert is_there(name), name
        assert not {"shop_tools", "shop_tools.orders", "alone_tools"} & set(sys.modules)

    @pytest.mark.parametrize(
        "name",
        ["no_tools", "no_tools.orders", "shop_tools.orders", "shop_tools.orders.no", "alone_tools.json", "json.no"],
    )
    def test_module_that_is_not_there_is_not_found(self, modules: Modules, name: str) -> None:
        modules.write("shop_tools/__init__.py", "")
        modules.write("alone_tools.py", "")

        assert not is_there(name)

    def test_packages_without_an_init_are_left_to_the_import(self, modules: Modules) -> None:
        modules.write("outer_tools/inner/orders.py", "kit = None")

        assert is_there("outer_tools.inner.orders")
        assert is_there("outer_tools")

    def test_what_python_keeps_from_being_imported_is_not_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "json", None)

        assert not is_there("json")
        assert not is_there("json.decoder")

    @pytest.mark.parametrize("name", ["", ".", "a..b", "a\0b", "json.\0", "é", "x" * 5_000])
    def test_text_that_names_no_module_raises_nothing(self, name: str) -> None:
        assert not is_there(name)
