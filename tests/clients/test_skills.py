"""Skills as clients that know them read them: the Inspector, and the SDK for TypeScript, which verifies each file."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from handler.compiler.compile import Compiled, compile_endpoint
from handler.compiler.problems import Problems
from handler.compiler.tools.skills import read_skill_text
from tests.clients.inspector import MODULES, NODE, Era, Inspector
from tests.clients.serving import UNHURRIED, running_server
from tests.support.endpoints import READABLE, write_endpoint
from tests.support.require import requires

PROGRAM = Path(__file__).parent / "programs" / "skills.mjs"
ERAS: tuple[Era, ...] = ("legacy", "modern")
SKILLS = {
    "plain": "---\nname: plain\ndescription: A plain skill\n---\nDo it.\n",
    "full": """\
---
name: full
description: >-
  Fold these
  lines: once.
license: 'Apache-2.0'
compatibility: "any # host"
metadata:
  version: "1.0"
  team: 'the "shop"'
tags: [a, "b c", 5, true, null, 1.5]
nested: {über: [1, {x: y}]}
allowed-tools:
  - Read
  - mcp__shop__order
other: |
  two
  lines
---
# Body
""",
    "windows": "---\r\nname: windows\r\ndescription: Lines of another system\r\n---\r\nDo it.\r\n",
    "marked": "\ufeff---\nname: marked\ndescription: With a byte order mark\n---\nDo it.\n",
}

VALUES = (
    "a¦b c¦5¦05¦0o17¦0x1F¦1_000¦.5¦5.¦+1¦1.5e3¦1e400¦~¦TRUE¦y¦Off¦=¦1:30¦0b11¦2001-01-01¦.inf¦'it''s'¦"
    "\"\\u2028\\x85\"¦x\u2028 y¦x\x85 y¦a\rb¦a\xa0b¦a#b¦a #b¦a: b¦a:b¦[]¦{}¦[a, b c,]¦{a: b}¦{a}¦{a: }¦{'a': 1}¦"
    '{"a":1}¦[a: b]¦[-]¦[? a]¦[a:b]¦|\n  x\n\n  y¦>-\n  x\n   y\n  z¦|2\n   x¦|+\n  x\nz: a¦"a\n  b"¦'
    "a\n  b\n\n  c¦x\ty ¦'x\n\n  y'¦é😀¦\x7f¦%x¦!x¦&x a¦*x¦? x¦-¦- a¦---x¦\n- a\n- k: v\n  l: w¦\n  - - a¦"
    "\n  k : v¦\n  k: # c\n    v¦\n  ? k\n  : v¦\n  [k]: v¦\n  constructor: 1¦\n  __proto__: 1¦\n  true: v¦"
    "\n  ?k: v¦[\n a,\n b]¦# c¦\n# c\n  k: v¦'a' # c¦a\\b¦9007199254740991¦1.10¦-0x1F¦\n  'k l': [1, {m: n}]"
)
"""Values in front matter, with ¦ between them. Stile refuses those that some hosts read differently, or cannot read."""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    files = {
        "index.graphql": "type Query { a: Int }\n",
        "config.yaml": READABLE + "upstream: {url: 'http://127.0.0.1:9'}\n",
    }
    made = write_endpoint(tmp_path_factory.mktemp("skills"), files)
    for name, text in SKILLS.items():
        for path, content in {"SKILL.md": text.encode(), "a b/ü.md": b"x", "logo.png": b"\x89PNG\0"}.items():
            file = made / "skills" / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
    return compile_endpoint(made)


def read_by_sdk(url: str, era: Era) -> Any:
    requires("node", NODE.is_file(), "`make clients` installs the SDKs and Node.js")
    done = subprocess.run(
        [NODE, PROGRAM, url, era, MODULES.parent], capture_output=True, text=True, check=False, timeout=180
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("era", ERAS)
def test_sdk_verifies_every_file_and_reads_the_front_matter_that_was_listed(shop: Compiled, era: Era) -> None:
    with running_server(shop) as url:
        read = read_by_sdk(url, era)["read"]

    listed = {skill.uri: skill.entry["frontmatter"] for skill in shop.bundle.skills}
    assert {uri: each["frontmatter"] for uri, each in read.items() if "frontmatter" in each} == listed
    assert {uri for skill in shop.bundle.skills for uri in (each["uri"] for each in skill.entry["resources"])} == {
        *read
    }
    assert all(each["verified"] for each in read.values())


@UNHURRIED
def test_sdk_reads_each_value_that_is_not_refused(tmp_path: Path) -> None:
    files = {
        "index.graphql": "type Query { a: Int }\n",
        "config.yaml": READABLE + "upstream: {url: 'http://127.0.0.1:9'}\n",
    }
    for number, value in enumerate(VALUES.split("¦")):
        text = f"---\nname: s{number}\ndescription: d\nvalue: {value}\n---\nDo it.\n"
        if read_skill_text(text, "SKILL.md", Problems()):
            files[f"skills/s{number}/SKILL.md"] = text
    made = compile_endpoint(write_endpoint(tmp_path, files))
    with running_server(made) as url:
        read = read_by_sdk(url, "modern")["read"]

    assert len(made.bundle.skills) > 40
    assert {uri: each["frontmatter"] for uri, each in read.items()} == {
        skill.uri: skill.entry["frontmatter"] for skill in made.bundle.skills
    }


@pytest.mark.parametrize("era", ERAS)
def test_inspector_shows_the_skills(inspector: Inspector, shop: Compiled, era: Era) -> None:
    with running_server(shop) as url:
        shown = inspector.list_skills(url, era=era)

    assert shown.code == 0, shown.complaints
    assert shown.result["skills"] == [skill.entry for skill in shop.bundle.skills]
