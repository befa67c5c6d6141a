"""Pages of ``docs/``, as tests read them: their files, sessions, shell lines, tables and links."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT
from tests.support.upstream import Upstream

DOCS = ROOT / "docs"

PAGES = (
    "security/hiding", "security/callers", "security/policies", "security/tokens", "security/sign-in",
    "security/cognito", "security/entra", "security/checklist", "upstream", "graphql-http", "stepzen", "limits",
    "deploy", "front-doors", "operate", "numbers", "local", "troubleshooting", "glossary", "compared", "proofs",
    "costs", "cli", "reference/config", "reference/directives", "reference/settings", "reference/log",
    "reference/codes", "reference/request-errors", "reference/json",
)  # fmt: skip
"""The pages that the tests of this folder are about, without docs/ and .md."""

BLOCK = re.compile(
    r"^(?P<indent> *)(?:`(?P<name>[\w./-]+\.\w+)`\n\n(?P=indent))?```(?P<kind>\w+)\n(?P<text>.*?)^(?P=indent)```",
    re.MULTILINE | re.DOTALL,
)
DEMO_URL = "http://127.0.0.1:8001/graphql"


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code. ``name`` is that of its file; empty: none."""

    name: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """One page."""

    path: Path
    text: str

    @property
    def blocks(self) -> list[Block]:
        """Every block of code, in order."""
        found = BLOCK.finditer(self.text)
        return [Block(each["name"] or "", each["kind"], textwrap.dedent(each["text"])) for each in found]

    @property
    def files(self) -> dict[str, str]:
        """The files that the page writes, by name."""
        return {block.name: block.text for block in self.blocks if block.name}

    @property
    def sessions(self) -> list[tuple[str, str]]:
        """Each command with its output."""
        texts = [block.text for block in self.blocks if block.kind == "console"]
        return [(command.removeprefix("$ "), out) for command, _, out in (text.partition("\n") for text in texts)]

    @property
    def shell(self) -> list[str]:
        """The lines of all shell blocks; one that continues is one."""
        return [line for block in self.blocks if block.kind == "sh" for line in lines_of(block.text)]

    def yaml(self, first: str) -> str:
        """The one block of YAML without a name that begins with this key."""
        (found,) = (
            block.text
            for block in self.blocks
            if block.kind == "yaml" and not block.name and block.text.startswith(f"{first}:")
        )
        return found

    def section(self, heading: str) -> str:
        """The text below a heading, up to the next one of its level or above."""
        level, begin = len(heading.split(maxsplit=1)[0]), self.text.index(f"\n{heading}\n") + len(heading) + 2
        end = re.compile(rf"^#{{1,{level}}} ", re.MULTILINE).search(self.text, begin)
        return self.text[begin : end.start() if end else None]


def page(name: str) -> Page:
    """A page of ``docs/``."""
    path = DOCS / f"{name}.md"
    return Page(path, path.read_text(encoding="utf-8"))


def lines_of(text: str) -> list[str]:
    """Shell lines; a quote that is open goes on."""
    found: list[str] = []
    for line in text.splitlines():
        if found and found[-1].count("'") % 2:
            found[-1] += f"\n{line}"
        else:
            found.append(line)
    return found


def tables(text: str) -> list[list[list[str]]]:
    """The tables of a text: rows of cells, the headings first."""
    found = re.findall(r"^\|.*\n\|(?: *:?-+:? *\|)+\n(?:\|.*\n?)*", text, re.MULTILINE)
    return [[cells(line) for number, line in enumerate(table.splitlines()) if number != 1] for table in found]


def table(text: str, *headings: str) -> list[list[str]]:
    """The rows of the one table with these headings."""
    (found,) = (rows for rows in tables(text) if rows[0] == list(headings))
    return found[1:]


def cells(line: str) -> list[str]:
    """The cells of a line of a table."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def codes(cell: str) -> list[str]:
    """The texts of a cell that stand as code."""
    return re.findall(r"`([^`]+)`", cell)


def first_codes(rows: Sequence[Sequence[str]]) -> list[str]:
    """The code in the first cell of each row."""
    return [code for row in rows for code in codes(row[0])]


def write_files(folder: Path, files: dict[str, str]) -> None:
    """Write files below a folder."""
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def write_demo(folder: Path, upstream: Upstream) -> Path:
    """Write the demo endpoint below ``examples/endpoints``, with an API that runs."""
    demo = folder / "examples" / "endpoints" / "api" / "customers"
    shutil.copytree(ROOT / "examples" / "endpoints" / "api" / "customers", demo)
    config = demo / "config.yaml"
    text = config.read_text(encoding="utf-8")
    assert DEMO_URL in text
    config.write_text(text.replace(DEMO_URL, upstream.url), encoding="utf-8")
    return demo
