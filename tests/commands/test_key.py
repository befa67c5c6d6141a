from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
import yaml

from handler.compiler.compile import compile_endpoint
from tests.commands.running import FILES, Stile, ran
from tests.support.endpoints import write_endpoint

ODD_NAMES = [
    "ci",
    'say "hi"',
    "it's",
    "two\nlines\n",
    "a: b",
    "- a",
    "#no comment",
    "{not: yaml}",
    "true",
    "12",
    "tab\there",
    "back\\slash",
    "[bold]markup[/]",
    "ünïcödé 🐑",
    " spaces ",
    "x" * 300,
    "\x7f\u2028",
]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_the_lines_for_the_configuration_let_the_key_in_under_its_name(
    workplace: Path, stile: Stile, name: str
) -> None:
    done = stile("key", name)

    _, key, _, lines = done.out.split("\n\n", 3)
    assert yaml.safe_load(lines) == {
        "identity": {"api_keys": [{"name": name, "sha256": hashlib.sha256(key.strip().encode()).hexdigest()}]}
    }
    endpoint = write_endpoint(workplace, {**FILES, "config.yaml": lines})
    (let_in,) = compile_endpoint(endpoint).bundle.identity.api_keys
    assert let_in.name == name
    assert let_in.sha256 == hashlib.sha256(key.strip().encode()).hexdigest()


def test_two_keys_differ(stile: Stile) -> None:
    assert stile("key", "a").out != stile("key", "a").out


def test_a_key_is_long_and_starts_as_the_server_expects(stile: Stile) -> None:
    key = stile("key", "a").out.split("\n\n")[1].strip()

    assert key.startswith("stile_")
    assert len(key) >= len("stile_") + 43  # 256 bits in base64


def test_without_a_name_it_says_so() -> None:
    done = ran("key")

    assert done.code == 2
    assert "required: NAME" in done.err
