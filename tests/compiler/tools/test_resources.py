from __future__ import annotations

import os
from pathlib import Path

import pytest

from handler.bundle.content import FileResource
from handler.compiler.compile import compile_endpoint
from handler.compiler.tools.resources import MAX_RESOURCE_BYTES
from handler.errors.authoring import CompileError
from handler.policy.evaluation import OPEN
from tests.support.diagnostics import Reported, reported_by
from tests.support.endpoints import READABLE, compiled, reported, write_endpoint

SCHEMA = {"index.graphql": "type Query { a: Int }\n", "config.yaml": READABLE}


def endpoint(folder: Path, **files: bytes) -> Path:
    """An endpoint folder with these files in resources/, whose names have __ for a slash and _ for a point."""
    made = write_endpoint(folder, SCHEMA)
    for name, content in files.items():
        file = made / "resources" / name.replace("__", "/").replace("_", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return made


def resources(folder: Path, **files: bytes) -> list[FileResource]:
    found = compile_endpoint(endpoint(folder, **files)).bundle.resources
    return [each for each in found if isinstance(each, FileResource)]


def problems(folder: Path) -> list[Reported]:
    with pytest.raises(CompileError) as caught:
        compile_endpoint(folder)
    return reported_by(caught.value)


def test_text_file_becomes_a_resource(tmp_path: Path) -> None:
    (resource,) = resources(tmp_path, prices_md="# Preise: 5 €\n".encode())

    assert resource == FileResource(
        entry={
            "uri": "stile://api/things/resources/prices.md",
            "name": "prices.md",
            "mimeType": "text/markdown",
            "size": 16,
        },
        text="# Preise: 5 €\n",
        blob="",
        mask=OPEN,
    )


def test_other_file_becomes_a_resource_in_base64(tmp_path: Path) -> None:
    (resource,) = resources(tmp_path, logo_PNG=b"\x89PNG\r\n")

    assert (resource.entry["mimeType"], resource.entry["size"]) == ("image/png", 6)
    assert (resource.text, resource.blob) == ("", "iVBORw0K")


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (b"select 1", "text/plain"),
        ("größer".encode(), "text/plain"),
        (b"a\0b", "application/octet-stream"),
        (b"\xff\xfe", "application/octet-stream"),
        (b"", "text/plain"),
    ],
)
def test_file_with_an_unknown_suffix_is_what_it_holds(tmp_path: Path, content: bytes, media_type: str) -> None:
    (resource,) = resources(tmp_path, query_xyz=content)

    assert resource.entry["mimeType"] == media_type
    assert bool(resource.blob) is (media_type == "application/octet-stream")


def test_resources_come_by_name_from_all_folders_but_hidden_ones(tmp_path: Path) -> None:
    files = {"b_txt": b"b", "a__z_txt": b"z", "a__b__c_txt": b"c", "_hidden": b"x", "_git__config": b"x"}

    assert [each.entry["name"] for each in resources(tmp_path, **files)] == ["a/b/c.txt", "a/z.txt", "b.txt"]


def test_uri_has_the_name_in_the_one_spelling_that_uris_have_for_it(tmp_path: Path) -> None:
    (resource,) = resources(tmp_path, **{"Größe und Preis 100%?_txt": b""})

    assert resource.uri == "stile://api/things/resources/Gr%C3%B6%C3%9Fe%20und%20Preis%20100%25%3F.txt"


def test_text_that_is_not_utf_8_is_reported(tmp_path: Path) -> None:
    assert problems(endpoint(tmp_path, a_md=b"one\n\xff")) == ["resources/a.md unreadable-file: UTF-8"]


@pytest.mark.parametrize("name", ["a_md", "a_bin"])
def test_large_file_is_reported(tmp_path: Path, name: str) -> None:
    folder = endpoint(tmp_path, **{name: b"a" * (MAX_RESOURCE_BYTES + 1)})

    assert problems(folder) == [f"resources/{name.replace('_', '.')} unreadable-file: 1000001 & 1000000"]


def test_files_that_are_too_large_together_are_reported(tmp_path: Path) -> None:
    folder = endpoint(tmp_path, **{f"{name}_txt": b"a" * MAX_RESOURCE_BYTES for name in "abcd"}, e_txt=b"a")

    assert problems(folder) == ["resources large-resources: 4000001 & 4000000"]


@pytest.mark.parametrize("target", ["secret.txt", "."])
def test_link_out_of_the_folder_is_refused(tmp_path: Path, target: str) -> None:
    (tmp_path / "secret.txt").write_text("Secret.")
    folder = endpoint(tmp_path, a_txt=b"a")
    (folder / "resources" / "link.txt").symlink_to(tmp_path / target)

    assert problems(folder) == ["resources/link.txt unreadable-file: outside"]


def test_link_to_a_folder_and_one_in_a_circle_are_refused(tmp_path: Path) -> None:
    folder = endpoint(tmp_path, a__b_txt=b"b")
    (folder / "resources" / "again").symlink_to(folder / "resources" / "a")
    (folder / "resources" / "circle").symlink_to(folder / "resources" / "circle")

    assert problems(folder) == [
        "resources/again unreadable-file: file",
        "resources/circle unreadable-file: Too many levels",
    ]


def test_name_that_is_not_utf_8_is_reported(tmp_path: Path) -> None:
    folder = endpoint(tmp_path, a_txt=b"a")
    Path(os.fsdecode(os.fsencode(folder / "resources") + b"/\xff.txt")).write_bytes(b"")

    assert problems(folder) == ["resources/\\udcff.txt invalid-file-name"]


def test_mistakes_of_resources_are_reported_beside_those_of_a_schema_that_is_none(tmp_path: Path) -> None:
    folder = endpoint(tmp_path, a_md=b"\xff")
    (folder / "index.graphql").write_text("type Query {")

    assert problems(folder) == ["index.graphql:1:13 syntax-error", "resources/a.md unreadable-file: UTF-8"]


def test_resources_of_an_endpoint_without_policies_are_for_those_who_skip_policies(tmp_path: Path) -> None:
    files = {**SCHEMA, "config.yaml": "access: {anonymous: allow}\n", "resources/a.md": "A"}
    bundle = compiled(tmp_path, files).bundle

    assert [bundle.conditions[number] for number in bundle.resources[0].mask] == [{"literal": False}]


def test_condition_of_the_configuration_guards_all_files(tmp_path: Path) -> None:
    config = READABLE + "resources: {condition: '$jwt.role:String == \"staff\"'}\n"
    bundle = compiled(tmp_path, {**SCHEMA, "config.yaml": config, "resources/a.md": "A", "resources/b.md": "B"}).bundle

    one, other = bundle.resources
    (number,) = one.mask
    assert one.mask == other.mask
    assert bundle.conditions[number]["left"] == {"jwt": ["role"], "type": "String"}


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ("{conditions: true}", 'config.yaml:2:13 unknown-key: "resources.conditions" & condition'),
        (
            "{condition: '$variables.a:Int == 1'}",
            "config.yaml:2:24 variables-in-condition: $variables",
        ),
    ],
)
def test_mistake_in_the_configuration_of_resources_is_reported(tmp_path: Path, config: str, problem: str) -> None:
    (told,) = reported(tmp_path, {**SCHEMA, "config.yaml": f"{READABLE}resources: {config}\n"})

    assert told == problem


def test_resources_count_among_the_sources(tmp_path: Path) -> None:
    one, same, other = (
        compile_endpoint(endpoint(tmp_path / place, a_bin=content)).bundle
        for place, content in {"1": b"\0", "2": b"\0", "3": b"\1"}.items()
    )

    assert one == same
    assert one.sources != other.sources


def test_instructions_are_taken_from_the_configuration(tmp_path: Path) -> None:
    files = {**SCHEMA, "config.yaml": READABLE + "instructions: |\n  Ask for a.\n  Then for b.\n"}

    assert compiled(tmp_path, files).bundle.instructions == "Ask for a.\nThen for b."


def test_instructions_that_clients_would_cut_are_reported(tmp_path: Path) -> None:
    long = READABLE + f"instructions: {'€' * 683}\n"

    assert reported(tmp_path, {**SCHEMA, "config.yaml": long}) == [
        'config.yaml:2:15 long-instructions: "instructions" & 2049 & 2048'
    ]
