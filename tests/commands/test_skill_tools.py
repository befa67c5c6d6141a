"""Warnings of skills that name tools which their readers may not use."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from handler.audience.skill_tools import warnings_about_skills
from tests.support.endpoints import compiled

CONFIG = """\
identity: {issuer: https://id.example, audience: a, jwksendpoint: https://id.example/keys}
access:
  policies:
    - type: Query
      rules: [{fields: [secret], condition: '$jwt.role:String == "boss"'}]
      policyDefault: {condition: true}
"""
FILES = {
    "index.graphql": "type Query { a: Int secret: Int }\n",
    "operations/o.graphql": """\
query Secret @mcpTool(name: "read_secret", title: "S", aliases: ["old.secret"]) { secret }
query Plain @mcpTool(name: "plain", title: "P") { a }
query Search @mcpTool(name: "search", title: "S") { secret }
""",
}
MAIN = "skills/refunds/SKILL.md"


def warned(folder: Path, text: str, *, config: str = CONFIG, front: str = "", **more: str) -> Mapping[str, str]:
    skill = f"---\nname: refunds\ndescription: Refund\n{front}---\n{text}\n"
    found = warnings_about_skills(compiled(folder, {**FILES, **more, "config.yaml": config, MAIN: skill}))
    assert {each.code for each in found} <= {"unusable-skill-tool"}
    return {f"{each.file}:{each.line}:{each.column}": each.sentence for each in found}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("First call read_secret.", "5:12"),
        ("Call `read_secret(x: 1)`", "5:7"),
        ("Ask old.secret for it", "5:5"),
        ("Use `search`", "5:5"),
        ("Use mcp__my_shop__search, then stop", "5:5"),
        ("Use **mcp__shop__read_secret**", "5:7"),
    ],
)
def test_skill_that_names_a_tool_which_a_reader_lacks_is_warned_of(tmp_path: Path, text: str, place: str) -> None:
    (at, sentence), *others = warned(tmp_path, text).items()

    assert (at, others) == (f"{MAIN}:{place}", [])
    assert "which a caller without claims may not use, and may read the skill" in sentence


@pytest.mark.parametrize(
    "text",
    [
        "Use plain.",
        "Use `plain`",
        "Search for it",
        "unread_secret read_secrets x.read_secret",
        "other_tool",
        "mcp__shop__search_all",
    ],
)
def test_tool_that_every_reader_has_or_that_is_not_named_is_not_warned_of(tmp_path: Path, text: str) -> None:
    assert warned(tmp_path, text) == {}


def test_skills_with_the_condition_of_the_tool_are_not_warned_of(tmp_path: Path) -> None:
    same = CONFIG + """skills: {condition: '$jwt.role:String == "boss"'}\n"""
    narrower = CONFIG + """skills: {condition: '$jwt.role:String == "boss" && $jwt.org:String == "x"'}\n"""
    other = CONFIG + """skills: {condition: '$jwt.org:String == "x"'}\n"""

    assert warned(tmp_path / "same", "read_secret", config=same) == {}
    assert warned(tmp_path / "narrower", "read_secret", config=narrower) == {}
    (sentence,) = warned(tmp_path / "other", "read_secret", config=other).values()
    assert 'a caller with the claims {"org":"x"} may not use' in sentence


def test_allowed_tools_and_files_beside_name_tools_too(tmp_path: Path) -> None:
    allowed = warned(tmp_path / "a", "Do it", front="allowed-tools: Read mcp__shop__search\n")
    beside = warned(tmp_path / "b", "Do it", **{"skills/refunds/more/steps.md": "\n- read_secret"})

    assert list(allowed) == [f"{MAIN}:4:21"]
    assert list(beside) == ["skills/refunds/more/steps.md:2:3"]


def test_anonymous_readers_are_told(tmp_path: Path) -> None:
    config = CONFIG.replace("access:\n", "access:\n  anonymous: allow\n")
    (sentence,) = warned(tmp_path, "read_secret", config=config).values()

    assert "which a caller without a credential may not use" in sentence
