"""The pages on tools in Python do what they show: the guide, the reference and the one for users of FastMCP."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import stile
from handler.code_tools.options import HINTS, KitOptions, RegistrationOptions, ToolOptions
from handler.compiler.config.table import KEYS
from tests.conftest import ROOT
from tests.infra.test_build_settings import settings

GUIDE, REFERENCE, FASTMCP = [
    (ROOT / "docs" / name).read_text(encoding="utf-8")
    for name in ("code-tools.md", "code-tools-reference.md", "from-fastmcp.md")
]
PAGES = (GUIDE, REFERENCE, FASTMCP)
BLOCK = re.compile(
    r"^(?:`([\w/]+\.\w+)`\n\n)?```(python|pycon|console|graphql|yaml|toml)\n(.*?)^```", re.MULTILINE | re.DOTALL
)
BLOCKS = [block for page in PAGES for block in BLOCK.findall(page)]
FILES = {name: text for name, _, text in BLOCKS if name}
TABLES = REFERENCE[REFERENCE.index("## All options") :]


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the guide writes, from which Python imports."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_pages_have_the_parts_that_this_test_runs() -> None:
    assert sorted(FILES) == [
        "endpoints/shop/orders/config.yaml",
        "endpoints/shop/orders/index.graphql",
        "orders.py",
        "test_orders.py",
    ]
    assert [kind for name, kind, _ in BLOCKS if not name and kind not in ("python", "pycon")] == ["console", "toml"]
    assert sum(kind == "pycon" for _, kind, _ in BLOCKS) == 18
    assert sum(page.count("```") for page in PAGES) == 2 * len(BLOCKS)


@pytest.mark.parametrize("page", PAGES, ids=["guide", "reference", "fastmcp"])
def test_every_snippet_does_what_its_page_says(workplace: Path, page: str) -> None:
    names: dict[str, Any] = {"__name__": "page"}
    checker = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for name, kind, text in BLOCK.findall(page):
        if kind == "pycon":
            names = _run_session(text, names, checker)
        elif not name and kind == "python":
            exec(compile(text, "page.py", "exec", dont_inherit=True), names)
    sys.modules.pop("orders", None)


def _run_session(text: str, names: dict[str, Any], checker: doctest.DocTestRunner) -> dict[str, Any]:
    session = doctest.DocTestParser().get_doctest(text, names, "page", None, 0)
    reports: list[str] = []
    failed, tried = checker.run(session, out=reports.append, clear_globs=False)

    assert tried > 0
    assert failed == 0, "".join(reports)
    return session.globs


def test_session_prints_what_the_page_shows(workplace: Path) -> None:
    (session,) = [text for _, kind, text in BLOCKS if kind == "console"]
    command, _, expected = session.partition("\n")
    setting, program, *arguments = command.removeprefix("$ ").split()
    assert program == "stile"

    done = subprocess.run(
        [sys.executable, "-m", "handler", *arguments],
        cwd=workplace,
        env={"PYTHONPATH": str(ROOT), **dict([setting.split("=")])},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout + done.stderr == expected


def test_configuration_of_the_build_is_read(tmp_path: Path) -> None:
    (config,) = [text for _, kind, text in BLOCKS if kind == "toml"]

    assert settings(tmp_path, config) == (0, ["arm64", "code", "lib/shop_tools"])


def test_keys_of_an_entry_are_all_there_are() -> None:
    table = REFERENCE[REFERENCE.index("An entry of `code` in") : REFERENCE.index("Without a condition")]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]

    assert re.findall(r"`(\w+)`", "".join(rows)) == ["use", "condition", "hidden", "visible", "category"]
    assert set(re.findall(r"`(\w+)`", "".join(rows))) == set(KEYS["code"].keys)


def test_tests_of_the_page_pass(workplace: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_orders.py"]
    environ = {"PYTHONPATH": f"{ROOT}:{workplace}"}

    done = subprocess.run(command, cwd=workplace, env=environ, capture_output=True, text=True, check=False)

    assert "3 passed" in done.stdout, done.stdout + done.stderr


def test_options_of_the_page_are_all_there_are() -> None:
    of_tools, of_kits = TABLES.split("Of a kit as well")
    rows = [line.split("|")[1] for line in TABLES.splitlines() if line.startswith("| `")]

    assert set(re.findall(r"`(\w+)`", "".join(rows))) == set(ToolOptions.__annotations__)
    kit_rows = [line.split("|")[1] for line in of_kits.splitlines() if line.startswith("| `")]
    assert set(re.findall(r"`(\w+)`", "".join(kit_rows))) == set(KitOptions.__annotations__)
    hints = next(line for line in of_tools.splitlines() if line.startswith("| `annotations`"))
    assert set(re.findall(r"`(\w+)`", hints)) == {"annotations", *HINTS}
    (added,) = re.findall(r"`kit.add` takes (.*?);", TABLES, re.DOTALL)
    assert set(re.findall(r"`(\w+)`", added)) == set(RegistrationOptions.__annotations__)


def test_pages_speak_of_every_name_that_authors_import() -> None:
    assert [name for name in stile.__all__ if name not in GUIDE + REFERENCE and not name.startswith("__")] == []
