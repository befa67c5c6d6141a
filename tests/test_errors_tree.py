"""The tree of errors at the top of ``handler/errors`` is the tree of their classes."""

from __future__ import annotations

import ast
import inspect

from handler import errors
from handler.errors import StileError
from tests.conftest import ROOT


def drawn_tree() -> list[tuple[str, str]]:
    """Each class of the docstring with the class that it stands below."""
    lines = [line for line in (inspect.getdoc(errors) or "").splitlines() if line.startswith("    ")]
    above: list[str] = []
    pairs = []
    for line in lines:
        level = (len(line) - len(line.lstrip())) // 2 - 2
        name = line.split()[0]
        above[level:] = [name]
        pairs.append((name, above[level - 1] if level else "Exception"))
    return pairs


def written_tree() -> list[tuple[str, str]]:
    """Each class of the code that is a StileError, with its base, by the sources: no module has to be imported."""
    bases: dict[str, str] = {}
    for path in sorted((ROOT / "handler").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef) and node.bases and not node.name.startswith("_"):
                bases[node.name] = ast.unparse(node.bases[0]).rpartition(".")[2]

    def is_error(name: str) -> bool:
        return name == StileError.__name__ or (name in bases and is_error(bases[name]))

    return [(name, base) for name, base in bases.items() if is_error(name)]


def test_drawn_tree_is_that_of_the_classes() -> None:
    assert sorted(drawn_tree()) == sorted(written_tree())
