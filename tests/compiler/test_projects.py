"""Whole endpoint folders, as authors write them for StepZen, AppSync, Federation, Hasura, Apollo and Cosmo."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.projects import FOLDERS, expected, given


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.name))
def test_project_loads_as_it_is_and_lists_its_tools(folder: Path) -> None:
    assert given(folder) == json.loads(expected(folder).read_text(encoding="utf-8"))


def test_there_are_a_dozen_projects() -> None:
    assert len(FOLDERS) >= 12


@pytest.mark.parametrize("name", ["apollo-mcp", "cosmo-mcp"])
def test_folder_of_another_mcp_server_has_ten_tools_at_least(name: str) -> None:
    (folder,) = [each for each in FOLDERS if each.name == name]

    assert len(given(folder)["tools"]) >= 10
