"""Skills as callers of both eras get them: by ``skills/list``, ``skills/get`` and as resources."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from handler.compiler.compile import Compiled, compile_endpoint
from handler.server.mcp.revisions import LEGACY, MODERN, SKILLS
from tests.support.endpoints import compiled, write_endpoint
from tests.support.every_method import ask
from tests.support.function import Function, running_function
from tests.support.identities import HOLDER, identified

CONFIG = """\
access:
  anonymous: allow
  policies: [{type: Query, policyDefault: {condition: true}}]
"""
FOR_SUPPORT = CONFIG + """skills: {condition: '$jwt.role:String == "support"'}\n"""
TEXT = "---\nname: NAME\ndescription: Describe NAME\n---\nDo NAME.\n"
FILES = {
    "index.graphql": "type Query { a: Int }\n",
    "skills/refunds/SKILL.md": TEXT.replace("NAME", "refunds"),
    "skills/refunds/references/policy.md": "# Policy\r\n",
    "skills/daily/SKILL.md": TEXT.replace("NAME", "daily"),
}
REVISIONS = (*LEGACY, *MODERN)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    folder = write_endpoint(tmp_path_factory.mktemp("shop"), {**FILES, "config.yaml": CONFIG})
    (folder / "skills" / "refunds" / "logo.png").write_bytes(b"\x89PNG\0")
    return compile_endpoint(folder)


@pytest.fixture
def function(shop: Compiled) -> Iterator[Function]:
    with running_function(shop) as running:
        yield running


def introduced(function: Function, revision: str, **headers: str) -> Any:
    method = "server/discover" if revision in MODERN else "initialize"
    params = {} if revision in MODERN else {"protocolVersion": revision}
    return ask(function, revision, method, params, **headers).result


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_listed_file_reads_as_its_digest_and_size_say(function: Function, revision: str) -> None:
    listed = ask(function, revision, "skills/list", {}).result["skills"]

    assert [each["uri"] for each in listed] == ["skill://daily/SKILL.md", "skill://refunds/SKILL.md"]
    for skill in listed:
        got = ask(function, revision, "skills/get", {"uri": skill["uri"]}).result["skill"]
        assert got == skill
        for file in skill["resources"]:
            (content,) = ask(function, revision, "resources/read", {"uri": file["uri"]}).result["contents"]
            raw = content["text"].encode() if "text" in content else base64.b64decode(content["blob"])
            assert (f"sha256:{hashlib.sha256(raw).hexdigest()}", len(raw)) == (file["digest"], file["size"])


@pytest.mark.parametrize("revision", REVISIONS)
def test_extension_is_declared_and_only_main_files_are_listed_as_resources(function: Function, revision: str) -> None:
    assert introduced(function, revision)["capabilities"]["extensions"] == {SKILLS: {}}

    resources = ask(function, revision, "resources/list", {}).result["resources"]
    assert [each["uri"] for each in resources if each["uri"].startswith("skill:")] == [
        "skill://daily/SKILL.md",
        "skill://refunds/SKILL.md",
    ]


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize(
    "uri", ["skill://orders/SKILL.md", "skill://refunds/references/policy.md", "skill://refunds", "", 5, None]
)
def test_uri_of_no_skill_is_invalid_params_in_every_revision(function: Function, revision: str, uri: object) -> None:
    assert ask(function, revision, "skills/get", {"uri": uri}).json["error"]["code"] == -32602


@pytest.mark.parametrize("revision", REVISIONS)
def test_caller_who_may_read_no_skill_finds_no_trace_of_one(tmp_path: Path, revision: str) -> None:
    hiding = compiled(tmp_path / "a", {**FILES, "config.yaml": FOR_SUPPORT, "resources/r.md": "R"})
    without = {name: text for name, text in FILES.items() if not name.startswith("skills/")}
    bare = compiled(tmp_path / "b", {**without, "config.yaml": CONFIG, "resources/r.md": "R"})
    said = []
    for endpoint in (hiding, bare):
        with running_function(endpoint) as function:
            asked = [("tools/list", {}), ("resources/list", {}), ("resources/read", {"uri": "skill://daily/SKILL.md"})]
            asked += [("skills/list", {}), ("skills/get", {"uri": "skill://daily/SKILL.md"})]
            said.append([introduced(function, revision), *(ask(function, revision, *each).json for each in asked)])

    assert said[0] == said[1]
    assert [each["error"]["code"] for each in said[0][-2:]] == [-32601, -32601]


def test_answer_that_depends_on_the_caller_is_not_for_others(tmp_path: Path) -> None:
    made = identified(compiled(tmp_path, {**FILES, "config.yaml": FOR_SUPPORT}), {"role": "support"})
    with running_function(made) as function:
        for method, params in (
            ("server/discover", {}),
            ("skills/list", {}),
            ("skills/get", {"uri": "skill://daily/SKILL.md"}),
        ):
            assert function.request(method, params, modern=True, headers=HOLDER).result["cacheScope"] == "private"
        assert function.request("server/discover", {}, modern=True).result["cacheScope"] == "public"


def test_open_skills_are_public_and_logged_by_their_uri(function: Function) -> None:
    for method, params in (
        ("server/discover", {}),
        ("skills/list", {}),
        ("skills/get", {"uri": "skill://daily/SKILL.md"}),
    ):
        assert function.request(method, params, modern=True).result["cacheScope"] == "public"
    assert function.lines[-1]["resource"] == "skill://daily/SKILL.md"


def test_long_list_comes_in_pages_of_whole_entries(tmp_path: Path) -> None:
    many = {f"skills/s{number}/SKILL.md": TEXT.replace("NAME", f"s{number}") for number in range(3)}
    files = {f"skills/s{number}/{'x' * 200}{file}.md": "x" for number in range(3) for file in range(500)}
    with running_function(
        compiled(tmp_path, {**many, **files, "index.graphql": FILES["index.graphql"], "config.yaml": CONFIG})
    ) as function:
        found: list[tuple[str, int]] = []
        cursor: str | None = None
        for _ in range(10):
            params: dict[str, Any] = {} if cursor is None else {"cursor": cursor}
            page = function.request("skills/list", params, modern=True).result
            found += [(each["frontmatter"]["name"], len(each["resources"])) for each in page["skills"]]
            cursor = page.get("nextCursor")
            if cursor is None:
                break

    assert found == [("s0", 501), ("s1", 501), ("s2", 501)]
