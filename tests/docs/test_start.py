"""The JSON of `stile init` and `stile pull` has the listed members, and listed messages are those of the code."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from handler.commands.schema_source.source_options import DEFAULT_S
from handler.commands.schema_source.starters import MAX_LEAVES
from tests.commands.apis import SHOP, answering, running_shop
from tests.commands.running import Stile
from tests.conftest import ROOT
from tests.docs.pages import first_column, read, section

CLI, JSON, START = read("docs/cli.md"), read("docs/reference/json.md"), read("docs/start.md")


def listed(command: str) -> set[str]:
    (told,) = re.findall(rf"^\| `{command}` \| (.*) \|$", section(JSON, "Members by command"), re.MULTILINE)
    return set(re.findall(r"`(\w+)`", re.sub(r"\([^)]*\)", "", told)))


def test_members_of_the_documents_are_listed(workplace: Path, stile: Stile) -> None:
    with running_shop() as api:
        made = json.loads(stile("init", "shop/products", "--from", api.url, "--json").out)
        api.answer = answering(SHOP.replace("version: String!", "version: Int"))
        renewed = json.loads(stile("pull", "shop", "--json").out)

    assert listed("init") == set(made)
    assert listed("pull") == set(renewed)


def test_numbers_of_the_pages_are_those_of_the_code() -> None:
    assert f"the time for the API to give its schema; {DEFAULT_S:g} by default" in CLI
    assert MAX_LEAVES == 8
    assert "up to eight plain values" in " ".join(START.split())


@pytest.mark.parametrize("message", first_column(section(START, "When it does not work")))
def test_messages_of_the_page_are_those_of_the_code(message: str) -> None:
    folders = ("commands", "http")
    code = "\n".join(path.read_text("utf-8") for each in folders for path in (ROOT / "handler" / each).rglob("*.py"))

    for part in re.split(r" … ?| ?…|\d+", message):
        assert part in code, part
