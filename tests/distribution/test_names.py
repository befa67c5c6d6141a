"""No tracked file installs a distribution of ours by name: until there is a release, the name may be anybody's."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT
from tests.distribution.builds import tracked
from tests.docs.install_lines import LINES, name_is_reserved, with_lines

OWN = {"tests/distribution/test_names.py", "tests/docs/install_lines.py"}

INSTALLERS = r"(?:pip3?|pipx|uv|uvx|poetry|pdm|conda|easy_install)"

FROM_A_WHEEL = r"\s+(?:tool\s+run\s+)?--from\s+\S*\.whl\S*\s"
"""What makes the name behind it one of a command."""

BY_NAME = re.compile(
    r"(?<![\w.-])stile(?:[-_]mcp)?\[[a-z]"  # with an extra, also in a list of requirements
    rf"|\b{INSTALLERS}\b(?!{FROM_A_WHEEL})[^\n|]*?(?:\s|['\"=])(?<![\w/.])stile(?:[-_]mcp)?(?:==|@|~=|>=|['\"\s,;)]|$)"
    r"|\buvx\s+(?:-\S+\s+)*['\"]?stile\b"
    r"|^\s*['\"]?stile[-_]mcp\s*(?:==|>=|~=|@|\\?$)",  # a line of a lock
    re.MULTILINE,
)


@pytest.mark.parametrize(
    "text",
    [
        "pip install stile",
        "pip install 'stile[code]'",
        "Install them with: pip install 'stile-mcp[cli]'",
        "python -m pip install --upgrade stile-mcp",
        "run: pip install stile_mcp==0.1.0",
        "pipx install stile-mcp",
        "uvx stile-mcp check",
        "uvx --from stile-mcp stile check",
        "uv tool install 'stile-mcp'",
        "uv add stile-mcp",
        'dependencies = ["stile-mcp[code]"]',
        "stile-mcp==0.1.0 \\",
        "boto3 is missing: install stile-mcp[cli]",
    ],
)
def test_what_installs_by_name_is_found(text: str) -> None:
    assert BY_NAME.search(text)


@pytest.mark.parametrize(
    "text",
    [
        "pip install dist/*.whl",
        "uvx --from dist/*.whl stile --version",
        "pip install 'dist/stile_mcp-0.1.0-py3-none-any.whl[cli]'",
        "pipx install './dist/stile_mcp-0.1.0-py3-none-any.whl[cli]'",
        "uvx --from 'dist/stile_mcp-0.1.0-py3-none-any.whl[cli]' stile --version",
        "vendor/stile_mcp-0.1.0-py3-none-any.whl --hash=sha256:00",
        'name = "stile-mcp"',
        "../stile-venv/bin/python -m pip install '.[cli,code]'",
        "stile publish endpoints s3://bucket",
    ],
)
def test_what_installs_by_path_is_not(text: str) -> None:
    assert not BY_NAME.search(text)


def test_no_tracked_file_installs_by_name() -> None:
    found = []
    for name in tracked():
        if name in OWN or (name in LINES and name_is_reserved()):
            continue
        text = (ROOT / name).read_bytes().decode("utf-8", "replace")
        found += [f"{name}: {match[0].strip()}" for match in BY_NAME.finditer(text)]

    assert found == []


@pytest.mark.parametrize("page", LINES)
def test_pages_say_how_to_get_it_as_the_name_allows(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    by_name, by_clone = (with_lines(page, text, reserved=reserved) for reserved in (True, False))

    assert text == with_lines(page, text, reserved=name_is_reserved())
    assert with_lines(page, by_name, reserved=False) == by_clone != by_name
    assert "stile-mcp` from PyPI" in by_name or BY_NAME.search(by_name)
    assert not BY_NAME.search(by_clone)
