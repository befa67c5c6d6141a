from __future__ import annotations

from pathlib import Path

import pytest

from handler.bundle.content import PromptMessage, TextPrompt
from handler.compiler.tools.prompts import MAX_PROMPT_BYTES
from handler.policy.evaluation import OPEN
from tests.support.diagnostics import Reported
from tests.support.endpoints import PUBLIC, READABLE, compiled, doubted, reported

SCHEMA = {"index.graphql": "type Query { a: Int }\n", "config.yaml": READABLE}

REVIEW = """\
---
name: order-review
title: Review an order
description: Looks at one order.
arguments:
  - {name: number, description: The number on the invoice, required: true}
  - {name: tone, values: [formal, friendly]}
---
Review order {{number}} in a {{ tone }} tone.
"""


def prompts(folder: Path, **files: str) -> tuple[TextPrompt, ...]:
    """The prompts of an endpoint with these files in prompts/."""
    found = compiled(folder, SCHEMA | {f"prompts/{name}.md": text for name, text in files.items()}).bundle.prompts
    assert all(isinstance(prompt, TextPrompt) for prompt in found)
    return found  # type: ignore[return-value]


def problems(folder: Path, text: str) -> list[Reported]:
    """What is reported of a prompt with this text."""
    return reported(folder, SCHEMA | {"prompts/p.md": text})


def test_file_becomes_a_prompt(tmp_path: Path) -> None:
    (prompt,) = prompts(tmp_path, review=REVIEW)

    assert prompt == TextPrompt(
        name="order-review",
        entry={
            "name": "order-review",
            "title": "Review an order",
            "description": "Looks at one order.",
            "arguments": [
                {"name": "number", "description": "The number on the invoice", "required": True},
                {"name": "tone", "required": False},
            ],
        },
        messages=(PromptMessage(role="user", text="Review order {{number}} in a {{tone}} tone."),),
        completions={"tone": ("formal", "friendly")},
        mask=OPEN,
    )


def test_file_without_front_matter_is_a_prompt_by_its_own_name(tmp_path: Path) -> None:
    (prompt,) = prompts(tmp_path, hello="Say hello.\n")

    assert prompt.entry == {"name": "hello"}
    assert prompt.messages == (PromptMessage(role="user", text="Say hello."),)


def test_windows_line_ends_and_a_byte_order_mark_change_nothing(tmp_path: Path) -> None:
    (plain,) = prompts(tmp_path / "1", review=REVIEW)
    (other,) = prompts(tmp_path / "2", review="\ufeff" + REVIEW.replace("\n", "\r\n"))

    assert other == plain


def test_headings_make_several_messages_with_roles(tmp_path: Path) -> None:
    (prompt,) = prompts(tmp_path, talk="\n## user\n\nWho are you?\n\n## Assistant\nA clerk.\n## user  \nGo on.\n")

    assert [(message.role, message.text) for message in prompt.messages] == [
        ("user", "Who are you?"),
        ("assistant", "A clerk."),
        ("user", "Go on."),
    ]


def test_headings_below_another_text_are_part_of_it(tmp_path: Path) -> None:
    text = "# Roles\n\n## User\n\nSomebody who asks."
    (prompt,) = prompts(tmp_path, roles=text)

    assert prompt.messages == (PromptMessage(role="user", text=text),)


def test_braces_that_stand_for_themselves_are_kept_as_such(tmp_path: Path) -> None:
    text = r"A template has \{{name}} or \{{ and } } and {one} in it."
    (prompt,) = prompts(tmp_path, braces=text)

    assert prompt.messages[0].text == text


def test_prompts_come_by_file_name_and_only_from_markdown_files_that_are_not_hidden(tmp_path: Path) -> None:
    files = {f"prompts/{name}": "Text." for name in ("b.md", "a.md", "c.txt", ".d.md", "e/f.md")}

    assert [prompt.name for prompt in compiled(tmp_path, SCHEMA | files).bundle.prompts] == ["a", "b"]


def test_prompts_of_a_stepzen_project_lie_below_its_root(tmp_path: Path) -> None:
    files = {f"src/{name}": text for name, text in SCHEMA.items()}
    files |= {"stepzen.config.json": '{"endpoint": "api/things", "root": "src"}', "src/prompts/p.md": "Text."}

    assert [prompt.name for prompt in compiled(tmp_path, files).bundle.prompts] == ["p"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "prompts/p.md:1:1 empty-prompt: user"),
        ("---\nname: p\n---\n \n", "prompts/p.md:4:1 empty-prompt: user"),
        ("## user\nHi\n## assistant\n", "prompts/p.md:3:13 empty-prompt: assistant"),
        ("---\nname: p\nText", "prompts/p.md:1:1 unclosed-front-matter"),
        (
            "---\nname: [\n---\nText",
            "prompts/p.md:3:1 invalid-yaml",
        ),
        ("---\n- a\n---\nText", "prompts/p.md:2:1 invalid-value"),
        (
            "---\nnaem: a\n---\nText",
            'prompts/p.md:2:1 unknown-key: "naem" & did you mean name?',
        ),
        (
            "---\ntitle: A\nname: a b\n---\nText",
            'prompts/p.md:3:7 invalid-prompt-name: "a b" & 1 to 128',
        ),
        ("---\ntitle: [A]\n---\nText", 'prompts/p.md:2:8 invalid-value: "title"'),
        (
            "---\narguments: [{name: a b}]\n---\nText",
            "prompts/p.md:2:20 invalid-value: \"arguments[0].name\" & 1 to 64 & 'a b'",
        ),
        (
            "---\narguments: [{required: true}]\n---\nText",
            'prompts/p.md:2:13 invalid-value: "arguments[0].name" & 1 to 64',
        ),
        (
            "---\narguments: [{name: a, type: Int}]\n---\n{{a}}",
            'prompts/p.md:2:23 unknown-key: "arguments[0].type"',
        ),
        (
            "---\narguments: [{name: a, required: yes}]\n---\n{{a}}",
            "prompts/p.md:2:33 invalid-value: \"arguments[0].required\" & 'yes'",
        ),
        (
            "---\narguments:\n  - name: a\n  - name: a\n---\n{{a}}",
            'prompts/p.md:4:11 duplicate-prompt-argument: "a" & prompts/p.md:3:11',
        ),
        (
            "---\narguments: [{name: a, values: [x, x]}]\n---\n{{a}}",
            'prompts/p.md:2:35 invalid-completion: "x" & twice',
        ),
        ("---\narguments: [{name: a, values: [x, '']}]\n---\n{{a}}", "prompts/p.md:2:35 invalid-completion"),
        (
            "---\narguments: [{name: tone}]\n---\nIn a {{tone}}\nor {{tones}} tone",
            'prompts/p.md:5:4 invalid-placeholder: "tones" & did you mean tone?',
        ),
        ("Hello {{name}}.", 'prompts/p.md:1:7 invalid-placeholder: "name"'),
        (
            "## user\nHi\n## assistant\nA {{ b",
            "prompts/p.md:4:3 invalid-placeholder",
        ),
        ("A {{}}", "prompts/p.md:1:3 invalid-placeholder"),
        (
            "---\ncondition: $jwt.role\n---\nText",
            'prompts/p.md:2:12 invalid-condition: "$jwt.role"',
        ),
        (
            "---\ncondition: true && !($variables.a:Int == 1)\n---\nText",
            "prompts/p.md:2:12 variables-in-condition: $variables",
        ),
        ("a" * (MAX_PROMPT_BYTES + 1), "prompts/p.md unreadable-file: 100001 & 100000"),
    ],
)
def test_mistake_is_reported_at_its_place(tmp_path: Path, text: str, problem: str) -> None:
    assert problems(tmp_path, text) == [problem]


def test_file_name_that_can_be_no_prompts_name_is_reported(tmp_path: Path) -> None:
    assert reported(tmp_path, SCHEMA | {"prompts/a b.md": "Text."}) == [
        'prompts/a b.md invalid-prompt-name: "a b" & 1 to 128'
    ]


def test_two_prompts_of_one_name_are_reported(tmp_path: Path) -> None:
    files = {"prompts/a.md": "Text.", "prompts/b.md": "---\nname: a\n---\nText."}

    assert reported(tmp_path, SCHEMA | files) == ['prompts/b.md:2:7 duplicate-prompt: "a" & prompts/a.md']


def test_argument_that_no_text_has_is_a_doubt(tmp_path: Path) -> None:
    text = "---\narguments: [{name: a}, {name: b}]\n---\n{{a}} and \\{{b}}"

    assert "prompts/p.md:2:31 unused-prompt-argument: {{b}}" in doubted(tmp_path, SCHEMA | {"prompts/p.md": text})


def test_mistakes_of_prompts_are_reported_beside_those_of_a_schema_that_is_none(tmp_path: Path) -> None:
    found = reported(tmp_path, {"index.graphql": "type Query {", "prompts/p.md": "{{a}}"})

    assert found == ["index.graphql:1:13 syntax-error", "prompts/p.md:1:1 invalid-placeholder"]


def test_prompt_that_is_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("Secret.")
    folder = tmp_path / "api" / "things" / "prompts"
    folder.mkdir(parents=True)
    (folder / "p.md").symlink_to(tmp_path / "secret.md")

    assert reported(tmp_path, SCHEMA) == ["prompts/p.md unreadable-file: outside"]


def test_names_of_variables_stay_texts_in_prompts(tmp_path: Path) -> None:
    (prompt,) = prompts(tmp_path, p="---\ntitle: STEPZEN_API_KEY\n---\nText.")

    assert prompt.entry["title"] == "STEPZEN_API_KEY"


def test_condition_becomes_the_prompts_mask(tmp_path: Path) -> None:
    text = '---\ncondition: $jwt.role:String == "admin"\n---\nText.'
    bundle = compiled(tmp_path, SCHEMA | {"prompts/p.md": text}).bundle

    (number,) = bundle.prompts[0].mask
    assert bundle.conditions[number] == {
        "compare": "==",
        "left": {"jwt": ["role"], "type": "String"},
        "right": {"value": "admin"},
    }


def test_prompts_of_an_endpoint_without_policies_are_for_those_who_skip_policies(tmp_path: Path) -> None:
    files = {"prompts/closed.md": "Text.", "prompts/open.md": "---\ncondition: true\n---\nText."}
    bundle = compiled(tmp_path, {**SCHEMA, **files, "config.yaml": "access: {anonymous: allow}\n"}).bundle

    closed, opened = bundle.prompts
    assert [bundle.conditions[number] for number in closed.mask] == [{"literal": False}]
    assert opened.mask == OPEN


def test_prompts_count_among_the_sources(tmp_path: Path) -> None:
    one = compiled(tmp_path / "1", SCHEMA | {"prompts/p.md": "One."}).bundle
    same = compiled(tmp_path / "2", SCHEMA | {"prompts/p.md": "One."}).bundle
    other = compiled(tmp_path / "3", SCHEMA | {"prompts/p.md": "Two."}).bundle

    assert one == same
    assert one.sources != other.sources


def test_policies_of_everybody_leave_prompts_open(tmp_path: Path) -> None:
    files = {"index.graphql": "type Query { a: Int } type Mutation { b: Int }", "config.yaml": PUBLIC}

    assert compiled(tmp_path, files | {"prompts/p.md": "Text."}).bundle.prompts[0].mask == OPEN


def test_files_of_the_folder_that_are_no_prompts_are_told(tmp_path: Path) -> None:
    files = {"prompts/a.md": "A", "prompts/sub/b.md": "B", "prompts/c.txt": "C", "prompts/d.markdown": "D"}
    files |= {"prompts/.e.md": "", "prompts/f.md~": ""}

    told = [each for each in doubted(tmp_path, SCHEMA | files) if each.startswith("prompts")]

    assert told == [f"prompts/{name} unread-file: prompts/ & .md" for name in ("c.txt", "d.markdown", "sub/b.md")]


def test_ending_of_a_prompt_may_be_in_capitals(tmp_path: Path) -> None:
    made = compiled(tmp_path, SCHEMA | {"prompts/A.MD": "A"})

    assert [prompt.name for prompt in made.bundle.prompts] == ["A"]


@pytest.mark.parametrize(
    ("folder", "meant"),
    [("Prompts", "prompts"), ("prompt", "prompts"), ("RESOURCES", "resources"), ("resource", "resources")],
)
def test_folder_whose_name_is_a_slip_is_told(tmp_path: Path, folder: str, meant: str) -> None:
    files = SCHEMA | {f"{folder}/a.md": "A", "sources/a.md": "A"}

    told = [each for each in doubted(tmp_path, files) if not each.startswith("index")]

    assert told == [f"{folder} unread-file: {meant}/"]
    assert not compiled(tmp_path, files).bundle.prompts
