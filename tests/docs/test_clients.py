"""The page of clients has each client of `stile connect`, with the file and the variable of its lines."""

from __future__ import annotations

import re

from handler.page.clients import CLIENTS
from tests.docs.reference import codes, page, table

PAGE = page("clients").text
TITLES = [client.title for client in CLIENTS.values()]


def test_tables_have_every_client_and_its_file() -> None:
    keys = [row[0] for row in table(PAGE, "client", "takes the key from", "limits")]
    written = table(PAGE, "client", "file of `--write`", "for all projects")
    files = {name: row[1] for row in written for name in row[0].split(", ")}

    assert keys == TITLES
    assert list(files) == TITLES
    for client in CLIENTS.values():
        assert client.file in files[client.title]
        assert bool(client.file) == (not files[client.title].startswith("none"))


def test_references_of_the_page_are_those_of_the_lines() -> None:
    references = {row[0]: codes(row[1]) for row in table(PAGE, "client", "takes the key from", "limits")}

    for client in CLIENTS.values():
        line = client.line("NAME", "URL", "key") or str(client.members("NAME", "URL", "key"))
        (first, *_) = references[client.title]
        assert first.replace("NAME", "NAME_KEY") in line or first.replace("_", "-").removesuffix("-var") in line


def test_command_lists_every_client() -> None:
    (row,) = re.findall(r"^\| `CLIENT` \| (.*) \|$", page("cli").text, re.MULTILINE)

    assert re.findall(r"`([\w-]+)`", row) == list(CLIENTS)
