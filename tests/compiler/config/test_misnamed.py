"""Files beside config.yaml that look like it and are not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.endpoints import READABLE, doubted, reported

SDL = {"index.graphql": 'extend schema @tool(name: "t", graphql: {expose: true, types: "Query", fields: "a"})\n'
       "type Query { a: Int }"}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("config.yml", "config.yaml"),
        ("Config.yaml", "config.yaml"),
        ("CONFIG.YML", "config.yaml"),
        ("config.YAML", "config.yaml"),
        ("config.yaml.txt", "config.yaml"),
        ("config.yml.txt", "config.yaml"),
        ("conf.yaml", "config.yaml"),
        ("conf.yml", "config.yaml"),
        ("confg.yaml", "config.yaml"),
        ("configs.yaml", "config.yaml"),
        ("configuration.yaml", "config.yaml"),
        ("config.prod.yml", "config.prod.yaml"),
        ("Config.prod.yaml", "config.prod.yaml"),
    ],
)
def test_file_that_seems_to_be_the_configuration_is_an_error_without_one_and_else_a_warning(
    tmp_path: Path, name: str, meant: str
) -> None:
    files = {**SDL, name: READABLE}

    assert reported(tmp_path / "1", files) == [f"{name} misnamed-config: rename it to {meant} & policies"]
    if name.casefold() != "config.yaml":
        both = {**files, "config.yaml": READABLE}
        assert doubted(tmp_path / "2", both) == [f"{name} unread-file: not read beside config.yaml & {meant}"]


@pytest.mark.parametrize(
    "name",
    [
        "config.prod.yaml",
        "config.example.yaml",
        "config.yaml.bak",
        "config.yaml~",
        ".config.yml",
        "config.json",
        "codegen.yml",
        "graphql.config.yml",
        "docker-compose.yml",
        "config.txt",
        "config",
        "reconfigure.yaml",
        "tools/config.yml",
        "policies.test.yaml",
    ],
)
def test_other_files_are_not_reported(tmp_path: Path, name: str) -> None:
    assert doubted(tmp_path, {**SDL, name: "access: {}"}) == []


def test_file_below_the_root_of_a_project_is_reported_there(tmp_path: Path) -> None:
    files = {f"src/{name}": text for name, text in SDL.items()}
    project = {"stepzen.config.json": '{"endpoint": "api/things", "root": "src"}'}

    assert reported(tmp_path, {**files, **project, "src/config.yml": READABLE}) == ["src/config.yml misnamed-config"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("policies.test.yml", "policies.test.yaml"),
        ("policy.test.yaml", "policies.test.yaml"),
        ("policies-test.yaml", "policies.test.yaml"),
        ("policies.tests.yaml", "policies.test.yaml"),
        ("policies.test.yaml.txt", "policies.test.yaml"),
        ("Policies.test.yaml", "policies.test.yaml"),
        ("questions.yml", "questions.yaml"),
        ("question.yaml", "questions.yaml"),
    ],
)
def test_file_that_seems_to_have_tests_is_a_warning(tmp_path: Path, name: str, meant: str) -> None:
    files = {**SDL, "config.yaml": READABLE, name: "[]"}

    assert doubted(tmp_path, files) == [f"{name} unread-file: not read & rename it to {meant}"]
