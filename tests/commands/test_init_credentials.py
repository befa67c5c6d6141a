"""The credential of `-H` in a new endpoint: its name in config.yaml and .env, and its value nowhere."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.commands.apis import answering
from tests.commands.running import Stile
from tests.commands.test_init import tree, write_shop
from tests.commands.test_init_sources import TOKEN, made
from tests.support.api import Api, Asked, Reply, running_api

ENV_LINES = "# For `stile dev`, `stile call` and `stile serve` on this machine.\nSTILE_SECRET_{}=\n"

ODD = "a value of an odd header"


@pytest.fixture
def guarded(monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    """An API that answers requests with the token alone, in whatever header."""
    monkeypatch.setenv("TOKEN", TOKEN)
    monkeypatch.setenv("STILE_SECRET_OWN", TOKEN)
    monkeypatch.setenv("TENANT", "acme")
    monkeypatch.setenv("ODD", ODD)
    within = answering()

    def respond(asked: Asked) -> Reply:
        carried = [name for name, value in asked.headers.items() if TOKEN in value or ODD in value]
        return within(asked) if carried else Reply({"errors": [{"message": "who are you"}]}, 401)

    with running_api(respond) as api:
        yield api


def upstream(workplace: Path) -> Any:
    return yaml.safe_load((workplace / "shop/products/config.yaml").read_text("utf-8"))["upstream"]


@pytest.mark.parametrize(
    ("header", "auth", "name"),
    [
        ("Authorization: Bearer $TOKEN", {"bearer": "secret:TOKEN"}, "TOKEN"),
        ("authorization:   bearer   ${TOKEN}", {"bearer": "secret:TOKEN"}, "TOKEN"),
        ("Authorization: JWT $TOKEN", {"header": "authorization", "value": "secret:TOKEN"}, "TOKEN"),
        ("Authorization: Basic $TOKEN", {"header": "authorization", "value": "secret:TOKEN"}, "TOKEN"),
        ("Authorization: $TOKEN", {"header": "authorization", "value": "secret:TOKEN"}, "TOKEN"),
        ("X-Api-Key: $TOKEN", {"header": "x-api-key", "value": "secret:TOKEN"}, "TOKEN"),
        ("X-Api-Key: Bearer $TOKEN", {"header": "x-api-key", "value": "secret:TOKEN"}, "TOKEN"),
        ("Authorization: Bearer $STILE_SECRET_OWN", {"bearer": "secret:OWN"}, "OWN"),
        (f"Authorization: Bearer {TOKEN}", {"bearer": "secret:AUTHORIZATION"}, "AUTHORIZATION"),
        (f"X-Api-Key: {TOKEN}", {"header": "x-api-key", "value": "secret:X_API_KEY"}, "X_API_KEY"),
        (
            f"Authorization: Basic {TOKEN}$$",
            {"header": "authorization", "value": "secret:AUTHORIZATION"},
            "AUTHORIZATION",
        ),
        (
            "Authorization: Basic tok_typed_by_hand$TOKEN",
            {"header": "authorization", "value": "secret:AUTHORIZATION"},
            "AUTHORIZATION",
        ),
    ],
)
def test_credential_is_written_by_its_name_and_works_by_the_printed_line(
    workplace: Path, stile: Stile, guarded: Api, header: str, auth: dict[str, str], name: str
) -> None:
    done = stile("init", "shop/products", "--from", guarded.url, "-H", header, "--access", "open")
    files = tree(workplace / "shop" / "products")

    assert (done.code, done.err) == (0, "")
    assert upstream(workplace) == {"url": guarded.url, "auth": auth}
    assert files[".env"] == ENV_LINES.format(name)
    assert files[".gitignore"] == ".env\n"
    assert stat.S_IMODE((workplace / "shop/products/.env").stat().st_mode) == 0o600
    assert TOKEN not in done.out + "".join(files.values())
    assert "typed_by_hand" not in done.out + "".join(files.values())
    printed = re.search(r"^  (printf .*)$", done.out, re.MULTILINE)
    sent = guarded.asked[0].headers[auth.get("header", "authorization")]
    if printed:
        subprocess.run(["sh", "-c", printed[1]], check=True)
    else:
        assert f"behind STILE_SECRET_{name}=: what -H has is written nowhere" in done.out
        value = sent.removeprefix("Bearer ")
        with (workplace / "shop/products/.env").open("a", encoding="utf-8") as env:
            env.write(f"STILE_SECRET_{name}='{value}'\n")
    called = stile("call", "shop", "list_orders")
    assert "who are you" not in called.out + called.err
    assert (
        guarded.asked[-1].headers[auth.get("header", "authorization")].split()
        == re.sub("^bearer", "Bearer", sent).split()
    )


def test_unset_secret_is_asked_for_by_its_name(workplace: Path, stile: Stile, guarded: Api) -> None:
    stile("init", "shop/products", "--from", guarded.url, "-H", "X-Api-Key: $TOKEN", "--access", "open")
    asked = len(guarded.asked)

    called = stile("call", "shop", "list_orders")

    assert called.code == 1
    assert "STILE_SECRET_TOKEN is not set here: set it in the environment, or in shop/products/.env" in called.err
    assert len(guarded.asked) == asked


@pytest.mark.parametrize(
    ("headers", "auth", "others"),
    [
        (("X-Tenant: $TENANT", "Authorization: Bearer $TOKEN"), {"bearer": "secret:TOKEN"}, "X-Tenant"),
        (("X-Tenant: acme", "X-Api-Key: $TOKEN"), {"header": "x-api-key", "value": "secret:TOKEN"}, "X-Tenant"),
        (("X-Tenant: acme", "X-Odd: $ODD"), {"header": "x-odd", "value": "secret:ODD"}, "X-Tenant"),
        (
            ("X-Api-Key: $TENANT", "Authorization: $TOKEN"),
            {"header": "authorization", "value": "secret:TOKEN"},
            "X-Api-Key",
        ),
        (("Cookie: session=$ODD", "X-Tenant: acme"), None, "Cookie, X-Tenant"),
        (("X-Forwarded-Token: $ODD",), None, "X-Forwarded-Token"),
    ],
)
def test_header_without_a_place_is_named(
    workplace: Path, stile: Stile, guarded: Api, headers: tuple[str, ...], auth: dict[str, str] | None, others: str
) -> None:
    given = [word for header in headers for word in ("-H", header)]
    done = stile("init", "shop/products", "--from", guarded.url, "--access", "open", *given)

    assert done.code == 0
    assert upstream(workplace).get("auth") == auth
    assert f"if calls need {others} of -H: auth sends one secret, and headers sends other values\n" in done.out
    assert "acme" not in "".join(tree(workplace).values())
    assert stile("check", "--strict", "shop").code == 0


def test_credential_of_the_schemas_address_is_not_for_another_api(workplace: Path, stile: Stile, guarded: Api) -> None:
    code, err = made(stile, guarded.url, "-H", "X-Api-Key: $TOKEN", "--url", "https://api.example.com/graphql")

    assert (code, err) == (0, "")
    assert upstream(workplace) == {"url": "https://api.example.com/graphql"}
    assert ".env" not in tree(workplace / "shop" / "products")


def test_program_gets_the_name_of_the_secret(workplace: Path, stile: Stile, guarded: Api) -> None:
    report = json.loads(stile("init", "shop/products", "--from", guarded.url, "-H", "X-Api-Key: $TOKEN", "--json").out)

    assert report["secret"] == "STILE_SECRET_TOKEN"
    assert report["files"][3:5] == [".gitignore", ".env"]


def test_git_never_takes_the_file_of_secrets(workplace: Path, stile: Stile, guarded: Api) -> None:
    (workplace / ".gitignore").write_text("# mine\n!.env\n", encoding="utf-8")
    (workplace / ".env").write_text("MINE=1\n", encoding="utf-8")
    environ = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    subprocess.run(["git", "init", "-q"], check=True, env=environ)
    stile("init", "shop/products", "--from", guarded.url, "-H", "X-Api-Key: $TOKEN")
    stile("init", "shop/others", "--from", write_shop(workplace), "--url", guarded.url)
    (workplace / "shop/others/.env").write_text("STILE_SECRET_A=b\n", encoding="utf-8")

    listed = subprocess.run(
        ["git", "status", "--porcelain", "-uall"], check=True, env=environ, capture_output=True, text=True
    ).stdout.split()

    assert "shop/products/config.yaml" in listed
    assert [name for name in listed if name.endswith(".env")] == [".env"]
    assert (workplace / ".gitignore").read_text("utf-8") == "# mine\n!.env\n"
    assert (workplace / ".env").read_text("utf-8") == "MINE=1\n"
