"""The notation for callers: `anonymous`, a file with claims, `key:NAME`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from handler.bundle.identity import Access, ApiKey, Identity
from handler.bundle.model import Bundle
from handler.commands.local.callers import SKIPS_POLICIES, read_caller
from handler.compiler.compile import compile_endpoint
from handler.errors.access import CredentialRefused, CredentialRequired
from handler.errors.authoring import UnknownCaller
from handler.server.auth.principal import ANONYMOUS, DEVELOPMENT, Principal
from tests.commands.running import CONFIG, FILES, Stile
from tests.support.endpoints import write_endpoint

PARTNER = ApiKey(name="partner", sha256="a" * 64, expires=100, claims={"kind": "partner"})
OWNER = ApiKey(name="owner", sha256="b" * 64, expires=0, claims=None)


@pytest.fixture
def bundle(workplace: Path) -> Bundle:
    write_endpoint(workplace, FILES)
    whole = compile_endpoint(workplace / "api" / "things").bundle
    return replace(whole, identity=Identity(issuers=(), api_keys=(PARTNER, OWNER), trusted_apis=()))


def test_the_notation_names_principals(bundle: Bundle, workplace: Path) -> None:
    (workplace / "emp.json").write_text('{"sub": "e5"}', encoding="utf-8")

    found = {text: read_caller(text).principal(bundle) for text in ("anonymous", "emp.json", "key:partner")}

    assert found == {
        "anonymous": ANONYMOUS,
        "emp.json": Principal(kind="token", name="emp.json", claims={"sub": "e5"}),
        "key:partner": Principal(kind="api_key", name="partner", claims={"kind": "partner"}),
    }
    assert read_caller("key:owner").principal(bundle).unrestricted
    assert SKIPS_POLICIES.principal(bundle) == DEVELOPMENT


def test_a_file_is_found_from_a_folder(tmp_path: Path, bundle: Bundle) -> None:
    (tmp_path / "personas").mkdir()
    (tmp_path / "personas" / "emp.json").write_text("{}", encoding="utf-8")

    assert read_caller("emp.json", folder=tmp_path / "personas").principal(bundle).claims == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("key:", "key:: expected the name of an API key: key:NAME"),
        ("absent.json", "absent.json: cannot be read (No such file or directory); expected anonymous, a JSON file"),
        ("a\0b", "cannot be read (its name has a NUL character)"),
        ("list.json", 'list.json: expected a JSON object of claims, such as {"sub": "ada"}'),
    ],
)
def test_texts_that_name_no_caller_are_refused(workplace: Path, text: str, said: str) -> None:
    (workplace / "list.json").write_text("[]", encoding="utf-8")

    with pytest.raises(UnknownCaller) as refused:
        read_caller(text)

    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("key:Partner_", 'api/things: there is no API key "Partner_"; did you mean partner?'),
        ("key:zzz", 'api/things: there is no API key "zzz": the keys are partner, owner'),
    ],
)
def test_a_key_that_the_endpoint_does_not_have_is_refused(bundle: Bundle, text: str, said: str) -> None:
    with pytest.raises(UnknownCaller) as refused:
        read_caller(text).principal(bundle)

    assert str(refused.value) == said


def test_the_function_refuses_an_expired_key_and_challenged_callers(bundle: Bundle) -> None:
    challenging = replace(bundle, access=Access(anonymous="challenge"))

    assert read_caller("key:partner").admitted(bundle, now=99).name == "partner"
    with pytest.raises(CredentialRefused):
        read_caller("key:partner").admitted(bundle, now=100)
    assert read_caller("anonymous").admitted(bundle, now=0) == ANONYMOUS
    with pytest.raises(CredentialRequired):
        read_caller("anonymous").admitted(challenging, now=0)


@pytest.mark.parametrize("command", [["explain"], ["call"]])
def test_commands_take_the_holder_of_a_key(workplace: Path, stile: Stile, command: list[str]) -> None:
    keys = {"identity": {"api_keys": [{"name": "partner", "sha256": "a" * 64, "claims": {}, "expires": "2020-01-01"}]}}
    write_endpoint(workplace, {**FILES, "config.yaml": f"{CONFIG}identity: {json.dumps(keys['identity'])}\n"})
    tool = ["a"] if command == ["call"] else []

    held = stile(*command, "api", *tool, "--as", "key:partner")
    wrong = stile(*command, "api", *tool, "--as", "key:partnr")

    assert held.code == (1 if tool else 0)
    said = '"a" is not for this caller: the function answers 401' if tool else "the holder of the API key partner"
    assert said in held.err + held.out
    assert (wrong.code, wrong.out) == (2, "")
    assert wrong.err == 'api/things: there is no API key "partnr"; did you mean partner?\n'
