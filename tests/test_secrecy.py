"""No secret that a test uses stands in anything that the product put out in the whole session.

That is found out when the session ends (``secrecy`` in conftest.py). Tests here plant a canary in every kind of output,
as far up the product's way to it as one gets: a collector that has come loose is found out in the same search.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from secrets import token_urlsafe
from typing import Any
from urllib.parse import quote

import pytest

from handler.compiler.compile import compile_endpoint
from handler.errors.infrastructure import StorageError
from handler.http.client import HttpClient, HttpRequest
from handler.storage.local import MemoryStorage
from handler.storage.location import open_storage
from handler.storage.storage import StoredObject
from tests.commands.running import FILES, Stile, ran, ran_on_terminal, started
from tests.conftest import ROOT
from tests.server import test_cold_start, test_function_settings
from tests.support.endpoints import compiled, doubted, reported, write_endpoint
from tests.support.function import Function, running_function
from tests.support.issuers import SigningKey, ec_key, ed_key, rsa_key, signed, signed_with_secret, unsigned
from tests.support.local import LOCAL
from tests.support.moto import Moto
from tests.support.raw_http import answer, answering, running_server
from tests.support.require import requires
from tests.support.secrecy import SESSION, Output, Secrecy, has_grep

GREP = "GNU grep searches what the tests put out"
FOLDED = "correct horse battery staple"
"""A secret that is another text in a URL and in base64."""


@dataclass(frozen=True)
class Scene:
    """Where a canary is planted: an empty current folder, and the fixtures of tests by their names."""

    folder: Path
    fixture: Callable[[str], Any]

    @property
    def function(self) -> Function:
        running: Function = self.fixture("dev_function")
        return running

    def stile(self, *arguments: str) -> str:
        return Stile(self.fixture("capsys"))(*arguments).out


def config_with(canary: str) -> str:
    return f"upstream: {{url: 'https://api.example/{canary}'}}"


def in_a_bundle(scene: Scene, canary: str) -> None:
    files = {"index.graphql": "type Query { a: Int }", "config.yaml": config_with(canary)}
    with running_function(compiled(scene.folder, files)):
        pass


def in_an_index(scene: Scene, canary: str) -> None:
    with running_function(compiled(scene.folder, {"index.graphql": f"type Query {{ {canary}: Int }}"})):
        pass


def in_a_published_bundle(scene: Scene, canary: str) -> None:
    write_endpoint(scene.folder / "endpoints", {**FILES, "config.yaml": config_with(canary)})
    assert "+a" in scene.stile("publish", "endpoints", "--create", "out")


def in_a_body(scene: Scene, canary: str) -> None:
    assert canary in scene.function.call(canary, {}).body.decode()


def in_a_header(scene: Scene, canary: str) -> None:
    endpoint = write_endpoint(scene.folder, {"index.graphql": "type Query { a: Int }"}, name=f"api/{canary}")
    with running_function(compile_endpoint(endpoint)) as function:
        assert canary in function.request("tools/list").headers["www-authenticate"]


def in_a_line(scene: Scene, canary: str) -> None:
    scene.function.call(canary, {})
    assert scene.function.lines[0]["tool"] == canary


def in_an_unforeseen_failure(scene: Scene, canary: str) -> None:
    with running_function(storage=Broken(ZeroDivisionError(canary))) as function:
        function.request("tools/list")
    assert isinstance(function.lines[0]["failure"], ZeroDivisionError)


def in_trouble_with_the_storage(scene: Scene, canary: str) -> None:
    with running_function(storage=Broken(StorageError("memory", canary))) as function:
        assert function.request("tools/list").status == 503


class Broken(MemoryStorage):
    """A storage that fails with this error."""

    def __init__(self, trouble: Exception) -> None:
        super().__init__()
        self._trouble = trouble

    def read(self, key: str, *, etag: str | None = None, timeout_s: float = 0) -> StoredObject | None:
        raise self._trouble


def in_a_line_of_the_handler(scene: Scene, canary: str) -> None:
    environ = {"STILE_BUNDLES": str(scene.folder), "STILE_PRELOAD": f"api/{canary}"}
    captured = scene.fixture("capsys")  # first, because the handler's logger keeps the stream that it begins with
    with test_function_settings.started(scene.fixture("monkeypatch"), **environ):
        (line,) = test_function_settings.lines(captured)
    assert canary in line["endpoint"]


def in_a_line_of_a_cold_start(scene: Scene, canary: str) -> None:
    environ = {"STILE_BUNDLES": str(scene.folder), "STILE_PRELOAD": f"api/{canary}"}
    assert canary in test_cold_start.run(environ).stdout


def in_what_a_command_prints(scene: Scene, canary: str) -> None:
    write_endpoint(scene.folder, FILES, name=f"api/{canary}")
    assert canary in scene.stile("check", ".")


def in_what_a_process_prints(scene: Scene, canary: str) -> None:
    assert canary in ran("check", canary).err


def in_what_a_terminal_shows(scene: Scene, canary: str) -> None:
    assert canary in ran_on_terminal("check", canary)[1]


def in_a_problem(scene: Scene, canary: str) -> None:
    assert canary in str(reported(scene.folder, {"index.graphql": f"type Query {{ a: {canary} }}"}))


def in_a_warning(scene: Scene, canary: str) -> None:
    files = {"index.graphql": "type Query { a: Int }", "stepzen.config.json": f'{{"endpoint": "api/{canary}"}}'}
    assert canary in str(doubted(scene.folder, files))


def in_an_error(scene: Scene, canary: str) -> None:
    with closing(HttpClient(LOCAL)) as http, pytest.raises(StorageError, match=canary):
        open_storage(f"ftp://{canary}", http=http, environ={})


def in_a_request_to_the_demo(scene: Scene, canary: str) -> None:
    assert "data" in scene.function.call("customer-by-email", {"variables": {"email": canary}}).text


def in_a_request_to_a_server(scene: Scene, canary: str) -> None:
    with running_server(answering(answer(b"{}"))) as server, closing(HttpClient(LOCAL)) as http:
        http.send(HttpRequest(method="GET", url=f"{server.url}{canary}", timeout_s=5, max_bytes=100))


def in_what_a_test_prints(scene: Scene, canary: str) -> None:
    sys.stdout.write(canary)


PLACES: Mapping[Callable[[Scene, str], None], Output] = {
    in_a_bundle: Output.BUNDLE,
    in_an_index: Output.INDEX,
    in_a_published_bundle: Output.FOLDER,
    in_a_body: Output.ANSWER,
    in_a_header: Output.ANSWER,
    in_a_line: Output.LINE,
    in_an_unforeseen_failure: Output.LINE,
    in_trouble_with_the_storage: Output.LINE,
    in_a_line_of_the_handler: Output.HANDLER_LOG,
    in_a_line_of_a_cold_start: Output.HANDLER_LOG,
    in_what_a_command_prints: Output.COMMAND,
    in_what_a_process_prints: Output.PROCESS,
    in_what_a_terminal_shows: Output.PROCESS,
    in_a_problem: Output.PROBLEM,
    in_a_warning: Output.PROBLEM,
    in_an_error: Output.ERROR,
    in_a_request_to_the_demo: Output.UPSTREAM,
    in_a_request_to_a_server: Output.PEER,
    in_what_a_test_prints: Output.CAPTURED,
}


def test_every_kind_of_output_gets_a_canary() -> None:
    assert set(PLACES.values()) == set(Output)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_canary_is_planted(
    workplace: Path, request: pytest.FixtureRequest, place: Callable[[Scene, str], None]
) -> None:
    requires("grep", has_grep(), GREP)
    if place is in_what_a_test_prints and request.config.getoption("capture") == "no":
        pytest.skip("nothing is captured with -s")

    place(Scene(workplace, request.getfixturevalue), SESSION.plant(PLACES[place]))


@pytest.mark.parametrize(
    "header",
    [
        "authorization: Bearer {}",
        "Authorization: Apikey {}",
        "authorization: {}",
        "authorization: Bearer a, Bearer {}",
        "x-api-key: {}",
        "cookie: a=b; access_token={}",
    ],
)
def test_credential_that_is_sent_to_the_function_is_looked_for(dev_function: Function, header: str) -> None:
    credential = token_urlsafe(16)
    name, _, value = header.format(credential).partition(": ")

    dev_function.request("ping", headers={name: value})

    assert SESSION.is_kept(credential)


def test_secret_that_bundles_refer_to_is_looked_for() -> None:
    secret = token_urlsafe(32)

    with running_function(secrets={"LOGIN": secret}):
        assert SESSION.is_kept(secret)


def test_every_token_is_looked_for() -> None:
    claims = {"jti": token_urlsafe(60)}

    for token in (
        signed(claims, header={"nonce": "signed", "alg": "ES256"}, key=ec_key().key),
        signed_with_secret(claims, header={"nonce": "with a secret", "alg": "HS256"}, secret=b"any"),
        unsigned(claims, header={"nonce": "unsigned", "alg": "none"}),
    ):
        assert SESSION.is_kept(token)


@pytest.mark.parametrize("make", [rsa_key, ec_key, ed_key])
def test_private_keys_are_looked_for_and_public_ones_are_not(make: Callable[[], SigningKey]) -> None:
    key = make()
    private = key.key.as_dict(private=True)

    assert SESSION.is_kept(str(private["d"]))
    assert SESSION.is_kept(key.key.as_pem(private=True).decode().splitlines()[1])
    assert not any(SESSION.is_kept(str(value)) for value in key.public().values())
    assert not any(SESSION.is_kept(line) for line in key.pem().splitlines())


def test_key_of_the_handlers_log_is_looked_for(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log_key = token_urlsafe(32)

    with test_function_settings.started(monkeypatch, STILE_BUNDLES=str(workplace), STILE_LOG_KEY=log_key):
        assert SESSION.is_kept(log_key)


def test_secrets_of_a_cold_start_are_looked_for(workplace: Path) -> None:
    log_key, secret = token_urlsafe(32), token_urlsafe(32)
    environ = {"STILE_LOG_KEY": log_key, "STILE_SECRET_LOGIN": secret, "STILE_BUNDLES": str(workplace)}

    test_cold_start.run(environ)

    assert SESSION.is_kept(log_key)
    assert SESSION.is_kept(secret)
    assert not SESSION.is_kept(str(workplace))


def test_secrets_of_a_command_in_its_own_process_are_looked_for(workplace: Path) -> None:
    secret = token_urlsafe(32)

    with started("check", ".", environ={"STILE_SECRET_LOGIN": secret}) as process:
        process.communicate(timeout=120)

    assert SESSION.is_kept(secret)


def test_secret_keys_of_aws_are_looked_for(moto: Moto) -> None:
    assert SESSION.is_kept(moto.add_user("of-secrecy")["AWS_SECRET_ACCESS_KEY"])


def verdict_of(output: str | bytes, *, secret: str = FOLDED) -> list[str]:
    """What a session of its own says of one output."""
    requires("grep", has_grep(), GREP)
    secrecy = Secrecy()
    with secrecy.collecting():
        secrecy.keep("a password", secret)
        secrecy.note(Output.COMMAND, "nothing that matters")
        secrecy.note(Output.LINE, output)
        return secrecy.verdict()


def test_secret_is_told_by_its_kind_the_output_and_the_test_and_not_by_its_value() -> None:
    (told,) = verdict_of(f"a {FOLDED} b")

    this = "test_secret_is_told_by_its_kind_the_output_and_the_test_and_not_by_its_value"
    assert told == f"a password stands in a line of the log, from tests/test_secrecy.py::{this}"


def test_output_without_a_secret_is_fine() -> None:
    assert verdict_of("correct horse battery stable") == []


@pytest.mark.parametrize(
    "output",
    [
        quote(FOLDED),
        base64.b64encode(f"{FOLDED}, and more".encode()).decode(),
        json.dumps({"a": {"b": [FOLDED]}}),
        b"\xff\x00\n" + FOLDED.encode() + b"\xff",
        f"ünïcödé \ud800 {FOLDED}",
    ],
)
def test_secret_is_found_however_it_is_written(output: str | bytes) -> None:
    assert len(verdict_of(output)) == 1


def test_secret_that_json_escapes_is_found_in_json() -> None:
    secret = 'say "friend" and ünter'

    assert len(verdict_of(json.dumps([secret]), secret=secret)) == 1
    assert len(verdict_of(json.dumps([secret], ensure_ascii=False), secret=secret)) == 1


def test_long_secret_is_found_where_it_was_cut() -> None:
    secret = token_urlsafe(300)

    assert len(verdict_of(secret[:200], secret=secret)) == 1
    assert len(verdict_of(secret[-200:], secret=secret)) == 1
    assert verdict_of(secret[:60], secret=secret) == []


@pytest.mark.parametrize("trivial", ["", "testing", "Bearer", "k" * 32, "abcdabcdabcdabcd"])
def test_what_is_no_secret_is_not_looked_for(trivial: str) -> None:
    assert verdict_of(f"a {trivial} b", secret=trivial) == []


def test_secret_that_is_kept_after_it_was_put_out_is_found() -> None:
    requires("grep", has_grep(), GREP)
    secrecy = Secrecy()
    with secrecy.collecting():
        secrecy.note(Output.LINE, FOLDED)
        secrecy.keep("a password", FOLDED)

        assert len(secrecy.verdict()) == 1


def test_canary_has_to_be_found_in_its_own_kind_of_output() -> None:
    requires("grep", has_grep(), GREP)
    secrecy = Secrecy()
    with secrecy.collecting():
        canary = secrecy.plant(Output.BUNDLE)
        secrecy.note(Output.LINE, canary)
        lost = secrecy.verdict()
        secrecy.note(Output.BUNDLE, canary)

        assert lost == ["the canary in a stored bundle was not found"]
        assert secrecy.verdict() == []


LEAKING = """\
from tests.support.secrecy import SESSION

def test_that_leaks():
    SESSION.keep("a password", "correct horse battery staple")
    print("correct horse", "battery staple")

def test_that_does_not():
    pass
"""


def test_session_that_puts_out_a_secret_fails(workplace: Path) -> None:
    requires("grep", has_grep(), GREP)
    (workplace / "test_leaking.py").write_text(LEAKING)
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider", "test_leaking.py"]

    environ = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert "a password stands in what a test printed, from test_leaking.py::test_that_leaks" in done.stdout
    assert "2 passed, 1 error" in done.stdout
