"""The revisions differ in one module."""

from __future__ import annotations

import ast
import re

from tests.conftest import ROOT

SAYS_A_REVISION = re.compile(r"revision|LEGACY|MODERN|BATCHING|\b20\d\d-\d\d-\d\d\b")


def test_nothing_outside_the_module_compares_revisions() -> None:
    its_own = ROOT / "handler" / "server" / "mcp" / "revisions.py"
    files = [file for file in sorted((ROOT / "handler").rglob("*.py")) if file != its_own]
    compared = [
        f"{file.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}"
        for file in files
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Compare)
        for side in (node.left, *node.comparators)
        if not isinstance(side, ast.Call) and SAYS_A_REVISION.search(ast.unparse(side))
    ]

    assert compared == []
