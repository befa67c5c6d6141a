"""Skills from folders and toolkits: what they become, and what is wrong with hostile ones."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from handler.bundle.content import FileResource
from handler.bundle.stored import read_bundle, write_bundle
from handler.compiler.compile import Compiled, compile_endpoint
from handler.compiler.tools.skills import MAX_SKILL_FILES
from handler.errors.authoring import CompileError
from handler.policy.evaluation import OPEN
from tests.support.endpoints import READABLE, compiled, problems_of, write_endpoint
from tests.support.modules import Modules, modules

__all__ = ["modules"]

SCHEMA = {"index.graphql": "type Query { a: Int }\n", "config.yaml": READABLE}
TEXT = "---\nname: refunds\ndescription: Refund an order\nmetadata: {version: '1.0', team: shop}\n---\nRead policy.md\n"
MAIN = "skills/refunds/SKILL.md"


def front(*lines: str, name: str = "refunds", description: str = "Refund an order") -> dict[str, str]:
    """The files of an endpoint whose only skill has these lines in its front matter."""
    text = "\n".join(("---", f"name: {name}", f"description: {description}", *lines, "---", "Do it.", ""))
    return {**SCHEMA, MAIN: text}


def test_folder_becomes_a_skill_and_resources_of_the_same_bytes(tmp_path: Path) -> None:
    folder = write_endpoint(tmp_path, {**SCHEMA, MAIN: TEXT, "skills/refunds/references/a b.md": "\ufeff# Ü\n"})
    (folder / "skills" / "refunds" / "logo.png").write_bytes(b"\x89PNG\0")

    made = compile_endpoint(folder)

    (skill,) = made.bundle.skills
    main, logo, reference = made.bundle.resources
    assert isinstance(main, FileResource)
    assert skill.mask == OPEN
    assert skill.entry["uri"] == "skill://refunds/SKILL.md"
    assert skill.entry["frontmatter"] == {
        "name": "refunds",
        "description": "Refund an order",
        "metadata": {"version": "1.0", "team": "shop"},
    }
    assert skill.entry["resources"] == [
        {"uri": each.entry["uri"], "digest": f"sha256:{hashlib.sha256(content).hexdigest()}", "size": len(content)}
        for each, content in ((main, TEXT.encode()), (logo, b"\x89PNG\0"), (reference, "# Ü\n".encode()))
    ]
    assert main.entry == {
        "uri": "skill://refunds/SKILL.md",
        "name": "refunds",
        "description": "Refund an order",
        "mimeType": "text/markdown",
        "size": len(TEXT),
    }
    assert reference.entry["uri"] == "skill://refunds/references/a%20b.md"
    assert [main.hidden, logo.hidden, reference.hidden] == [False, True, True]
    assert read_bundle(write_bundle(made.bundle), endpoint="api/things") == made.bundle


def test_condition_guards_all_skills_and_their_files(tmp_path: Path) -> None:
    config = READABLE + """skills: {condition: '$jwt.role:String == "support"'}\n"""
    made = compiled(tmp_path, {**SCHEMA, MAIN: TEXT, "config.yaml": config, "resources/r.md": "R"})

    masks = {each.entry["uri"]: each.mask for each in made.bundle.resources}
    assert made.bundle.skills[0].mask
    assert masks == {"stile://api/things/resources/r.md": OPEN, "skill://refunds/SKILL.md": made.bundle.skills[0].mask}


@pytest.mark.parametrize(
    ("files", "place", "sentence"),
    [
        ({MAIN: "# Refunds\n"}, (MAIN, 1, 1), 'it has no front matter: expected a line "---"'),
        ({MAIN: "---\nname: a\n"}, (MAIN, 1, 1), "the front matter has no end"),
        ({MAIN: "---\nname: [\n---\nx\n"}, (MAIN, 3, 1), "invalid YAML"),
        ({MAIN: "---\n- a\n---\nx\n"}, (MAIN, 2, 1), "expected a mapping of keys to values"),
        ({MAIN: TEXT.replace("Read policy.md", " ")}, (MAIN, 0, 0), "there is no text below its front matter"),
        (front(name="Refunds"), (MAIN, 2, 7), '"name": expected 1 to 64 lower-case letters'),
        (front(name="re--funds"), (MAIN, 2, 7), '"name": expected 1 to 64'),
        (front(name="orders"), (MAIN, 1, 1), "expected the folder's name, refunds"),
        (front(description='""'), (MAIN, 3, 14), '"description": expected 1 to 1,024 characters'),
        (front(description="x" * 1_025), (MAIN, 3, 14), '"description": expected'),
        (front("license: 5"), (MAIN, 4, 10), '"license": expected a text'),
        (front("compatibility: ''"), (MAIN, 4, 16), '"compatibility": expected 1 to 500'),
        (front("metadata: none"), (MAIN, 4, 11), '"metadata": expected a mapping'),
        (front("metadata: {version: 1.5}"), (MAIN, 4, 11), "each number in quotes"),
        (front("metadata: {tags: [a]}"), (MAIN, 4, 11), "each number in quotes"),
        ({MAIN: "--- \nname: refunds\ndescription: d\n---\nx\n"}, (MAIN, 1, 1), "it has no front matter"),
        (front("metadata: {io.modelcontextprotocol/x: a}"), (MAIN, 4, 11), "are for extensions of MCP"),
        (front("allowed-tools: {a: b}"), (MAIN, 4, 16), '"allowed-tools": expected'),
        (front("released: 2026-01-05"), (MAIN, 4, 11), '"2026-01-05" is not read alike by all hosts'),
        (front("draft: yes"), (MAIN, 4, 8), '"yes" is not read alike'),
        (front("at: 12:30"), (MAIN, 4, 5), '"12:30" is not read alike'),
        (front("big: 1e3"), (MAIN, 4, 6), '"1e3" is not read alike'),
        (front("a: !!python/object/apply:os.system [ls]"), (MAIN, 4, 4), "not all hosts read this mark of YAML"),
        (front("a: &x [b]", "c: *x"), (MAIN, 5, 4), "not all hosts read this mark of YAML"),
        (front("..."), (MAIN, 4, 1), "not all hosts read this mark of YAML"),
        (front("a: [-]"), (MAIN, 4, 5), '"-" is not read alike'),
        (front("a: b\u2028 c"), (MAIN, 4, 5), "U+2028 ends a line for some hosts only"),
        (front('a: "b', '  c"'), (MAIN, 4, 4), "in quotes or brackets over several lines"),
        (front("metadata: {", "  a: b", "}"), (MAIN, 4, 11), "in quotes or brackets over several lines"),
        (front("metadata: {a}"), (MAIN, 4, 11), "this short form of a mapping"),
        (front("a: [b: c]"), (MAIN, 4, 5), "this short form of a mapping"),
        (front("? a", ": b"), (MAIN, 4, 1), "not all hosts read this mark of YAML"),
        (front("?a: b"), (MAIN, 4, 1), "not all hosts read this mark of YAML"),
        (front("a: |2", "   b"), (MAIN, 4, 4), "not all hosts read this mark of YAML"),
        (front("a: b # c\x85d: e"), (MAIN, 4, 9), "U+0085 ends a line for some hosts only"),
        (front("5: five"), (MAIN, 4, 1), 'the key "5" is not read alike'),
        (front("__proto__: {a: b}"), (MAIN, 4, 1), 'the key "__proto__" is not read alike'),
        (front("a: &x {b: c}", "d: {<<: *x}"), (MAIN, 5, 5), 'the key "<<" is not read alike'),
        (front("n: " + "[" * 40 + "]" * 40), (MAIN, 4, 20), "nested 16 deep"),
        (front("n: 99999999999999999999"), (MAIN, 4, 4), "a number that JSON can hold"),
        ({"skills/refunds/skill.md": "x"}, ("skills/refunds/skill.md", 0, 0), "expected the name SKILL.md"),
        ({MAIN: TEXT, "skills/refunds/a\\b.md": "x"}, ("skills/refunds/a\\b.md", 0, 0), "control character or \\"),
        ({MAIN: TEXT + "x" * 100_000}, (MAIN, 0, 0), "a file may have 100000"),
        ({MAIN: TEXT, "skills/refunds/skill.md": "x"}, ("skills/refunds/skill.md", 0, 0), "for that of SKILL.md"),
        (
            {MAIN: TEXT, "skills/refunds/A/x.md": "x", "skills/refunds/a/X.md": "y"},
            ("skills/refunds/a/X.md", 0, 0),
            "for that of A/x.md",
        ),
        (
            {MAIN: TEXT, "skills/refunds/e\u0301.md": "x", "skills/refunds/\u00e9.md": "y"},
            ("skills/refunds/\u00e9.md", 0, 0),
            "many disks take its name",
        ),
        (
            {MAIN: TEXT, f"skills/refunds/{'ü' * 60}/{'ü' * 120}.md": "x"},
            (f"skills/refunds/{'ü' * 60}/{'ü' * 120}.md", 0, 0),
            "its URI has 1,100 characters: expected at most 1,000",
        ),
    ],
)
def test_folder_that_is_not_a_skill_is_refused_with_its_place(
    tmp_path: Path, files: dict[str, str], place: tuple[str, int, int], sentence: str
) -> None:
    found = problems_of(tmp_path, {**SCHEMA, **files})

    fitting = [each for each in found if (each.file, each.line, each.column) == place]
    assert any(sentence in each.sentence for each in fitting), found


def test_links_are_refused_wherever_they_lead(tmp_path: Path) -> None:
    folder = write_endpoint(tmp_path, {**SCHEMA, MAIN: TEXT, ".env": "SECRET=1\n", "notes/a.md": "a"})
    (folder / "skills" / "refunds" / "env.md").symlink_to(folder / ".env")
    (folder / "skills" / "refunds" / "out.md").symlink_to("/etc/hostname")
    (folder / "skills" / "refunds" / "more").symlink_to(folder / "notes")
    (folder / "skills" / "other").symlink_to(folder / "notes")

    with pytest.raises(CompileError) as caught:
        compile_endpoint(folder)
    found = caught.value.problems

    assert {(each.file, each.code) for each in found} == {
        ("skills/other", "invalid-skill-file"),
        ("skills/refunds/env.md", "invalid-skill-file"),
        ("skills/refunds/more", "invalid-skill-file"),
        ("skills/refunds/out.md", "invalid-skill-file"),
    }


@pytest.mark.parametrize("target", ["notes", "../../outside"])
def test_folder_of_skills_is_no_link(tmp_path: Path, target: str) -> None:
    folder = write_endpoint(
        tmp_path, {**SCHEMA, "notes/refunds/SKILL.md": TEXT, "../../outside/refunds/SKILL.md": TEXT}
    )
    (folder / "skills").symlink_to(folder / target)

    with pytest.raises(CompileError) as caught:
        compile_endpoint(folder)
    assert {(each.file, each.code) for each in caught.value.problems} == {("skills", "invalid-skill-file")}


def test_endpoint_folder_may_be_a_link(tmp_path: Path) -> None:
    folder = write_endpoint(tmp_path, {**SCHEMA, MAIN: TEXT})
    (tmp_path / "api" / "linked").symlink_to(folder)

    assert len(compile_endpoint(tmp_path / "api" / "linked").bundle.skills) == 1


def test_folder_without_a_file_is_told(tmp_path: Path) -> None:
    folder = write_endpoint(tmp_path, {**SCHEMA, MAIN: TEXT, "skills/.git/x": "", "skills/node_modules/x.md": ""})
    (folder / "skills" / "empty" / "SKILL.md").mkdir(parents=True)
    (folder / "skills" / "other").mkdir()
    (folder / "skills" / "other" / "README.md").write_text("x")

    warned = compile_endpoint(folder).warnings
    assert [each.file for each in warned if each.code == "unread-file"] == ["skills/empty", "skills/other"]


def test_folder_of_schema_files_named_skills_is_no_skill(tmp_path: Path) -> None:
    index = 'schema @sdl(files: ["skills/a.graphql", "skills/more/b.graphql"]) { query: Query }\n'
    files = {"skills/a.graphql": "type Query { a: Int }\n", "skills/more/b.graphql": "extend type Query { b: Int }\n"}
    made = compiled(tmp_path, {"index.graphql": index, "config.yaml": READABLE, **files})

    assert made.bundle.skills == ()
    assert [each for each in made.warnings if each.code == "unread-file"] == []


def test_too_many_files_and_bytes_are_refused(tmp_path: Path) -> None:
    many = {f"skills/refunds/{number}.md": "x" for number in range(MAX_SKILL_FILES)}
    large = {f"skills/large/{number}.txt": "x" * 900_000 for number in range(5)}
    main = TEXT.replace("refunds", "large")

    assert [each.code for each in problems_of(tmp_path / "a", {**SCHEMA, MAIN: TEXT, **many})] == ["large-skill"]
    assert [each.code for each in problems_of(tmp_path / "b", {**SCHEMA, "skills/large/SKILL.md": main, **large})] == [
        "large-resources"
    ]


def test_files_beside_the_folders_and_similar_folders_are_told(tmp_path: Path) -> None:
    warned = compiled(tmp_path, {**SCHEMA, MAIN: TEXT, "skills/notes.md": "x", "skill/a/SKILL.md": TEXT}).warnings

    assert {each.file for each in warned if each.code == "unread-file"} == {"skills/notes.md", "skill"}


KIT = '''
from stile import Toolkit

inner = Toolkit()
inner.add_skill("""---
name: returns
description: Take goods back
---
Ask first.
""", files={"references/policy.md": "# Policy", "logo.png": b"\\x89PNG\\0"})
kit = Toolkit()
kit.add(inner)
'''
USES = READABLE + 'code: [{use: "shop_skills:kit", condition: "?$jwt"}]\n'


def kit_endpoint(folder: Path, modules: Modules, code: str, **files: str) -> Compiled:
    modules.write("shop_skills.py", code)
    return compiled(folder, {**SCHEMA, "config.yaml": USES, **files}, **modules.environ)


def test_skill_of_a_toolkit_is_frozen_with_the_condition_of_the_toolkit(tmp_path: Path, modules: Modules) -> None:
    made = kit_endpoint(tmp_path, modules, KIT)

    (skill,) = made.bundle.skills
    assert (skill.name, skill.mask) == ("returns", made.bundle.code[0].mask)
    assert [each["uri"] for each in skill.entry["resources"]] == [
        "skill://returns/SKILL.md",
        "skill://returns/logo.png",
        "skill://returns/references/policy.md",
    ]
    modules.write("other_skills.py", KIT.replace("# Policy", "# Other"))
    other = compiled(tmp_path / "b", {**SCHEMA, "config.yaml": USES.replace("shop", "other")}, **modules.environ)
    assert other.bundle.skills[0].entry["resources"][2] != skill.entry["resources"][2]


def test_faults_of_skills_in_python_have_the_place_of_the_toolkit(tmp_path: Path, modules: Modules) -> None:
    modules.write("shop_skills.py", KIT.replace("name: returns", "name: Returns"))
    (fault,) = problems_of(tmp_path, {**SCHEMA, "config.yaml": USES}, **modules.environ)

    assert (fault.file, fault.code) == ("config.yaml", "invalid-skill")


def test_files_of_a_skill_in_python_whose_names_differ_by_case_are_refused(tmp_path: Path, modules: Modules) -> None:
    modules.write("shop_skills.py", KIT.replace('"logo.png"', '"References/Policy.md": "", "logo.png"'))
    found = problems_of(tmp_path, {**SCHEMA, "config.yaml": USES}, **modules.environ)

    assert [(each.file, each.code) for each in found] == [("config.yaml", "invalid-skill")]
    assert "references/policy.md: many disks take its name for that of References/Policy.md" in found[0].sentence


def test_skills_of_one_name_are_refused(tmp_path: Path, modules: Modules) -> None:
    modules.write("shop_skills.py", KIT + "kit.add(inner)\n")
    folder = {"skills/returns/SKILL.md": TEXT.replace("refunds", "returns")}
    found = problems_of(tmp_path, {**SCHEMA, "config.yaml": USES, **folder}, **modules.environ)

    assert sorted((each.file, each.code) for each in found) == [
        ("config.yaml", "duplicate-skill"),
        ("skills/returns/SKILL.md", "duplicate-skill"),
    ]
