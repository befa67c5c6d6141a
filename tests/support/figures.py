"""Figures of the house, as `make figures` prints them: folders, long modules, import circles, catches, prose."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tests.support.rooms import ROOT, Module, import_circles, read_modules

MAX_LINES = 600
REPEATED_LINES = 6
OPENING = re.compile(r"\s*(?:what|who|whom|whether|where|the same)\b", re.IGNORECASE)
HEADLESS = re.compile(r"\b(?:what|who|whom|whoever)\b", re.IGNORECASE)
PARTICIPLES = re.compile(
    "told|said|asked|given|found|made|taken|shown|kept|meant|named|sent|seen|held|left|wanted|written|used|known|"
    "chosen|put|done|gone|granted|judged"
)
"""Past participles without a noun, as names of locals: their reader has to look up the noun."""

WORD = re.compile(r"[A-Za-z]+")
CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)

Function = ast.FunctionDef | ast.AsyncFunctionDef
Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def figures(root: Path = ROOT) -> Iterator[str]:
    """Yield the lines of the report on the product and its documents below ``root``."""
    modules = read_modules(root)
    yield "modules per folder"
    for room, count in sorted(Counter(module.room for module in modules.values()).items()):
        yield f"  {count:3} {room.replace('.', '/')}"
    yield from _listed(f"modules over {MAX_LINES} lines", _long_modules(modules))
    yield from _listed("import circles", (" <-> ".join(circle) for circle in import_circles(modules)))
    yield from _listed(f"runs of {REPEATED_LINES} equal lines or more", _repeated(modules, root))
    yield from _listed("catches of Exception that do not raise again", _catches(modules, root))
    trees = [_tree(module) for module in modules.values()]
    functions = sum(isinstance(node, Function) for tree in trees for node in ast.walk(tree))
    yield f"private functions that are called once: {sum(map(_called_once, trees))} of {functions}"
    yield f"locals named by a past participle: {sum(map(_participles, trees))}"
    docstrings = list(all_docstrings(modules))
    opened = sum(OPENING.match(text) is not None for text in docstrings)
    share = 100 * opened / max(1, len(docstrings))
    yield f"docstrings that open with What, Who, Whether, Where or The same: {share:.1f} of 100"
    yield "what, who and whom per 1,000 words"
    yield f"  {headless_per_1000(' '.join(docstrings)):5.1f} docstrings"
    for page in (root / "README.md", *sorted((root / "docs").rglob("*.md"))):
        if page.exists():
            prose = CODE.sub(" ", page.read_text(encoding="utf-8"))
            yield f"  {headless_per_1000(prose):5.1f} {page.relative_to(root).as_posix()}"


def all_docstrings(modules: Mapping[str, Module]) -> Iterator[str]:
    """Yield each docstring of the product."""
    for module in modules.values():
        yield from docstrings_of(_tree(module))


def headless_per_1000(text: str) -> float:
    """Return the number of what, who and whom per 1,000 words of a text."""
    return 1_000 * len(HEADLESS.findall(text)) / max(1, len(WORD.findall(text)))


def _repeated(modules: Mapping[str, Module], root: Path) -> Iterator[str]:
    """Yield the first two places of each run of equal lines of code, without imports, comments and docstrings."""
    seen: dict[tuple[str, ...], str] = {}
    for module in modules.values():
        lines = _code_lines(_tree(module))
        again = False
        for start in range(len(lines) - REPEATED_LINES + 1):
            place = f"{module.file.relative_to(root).as_posix()}:{lines[start][0]}"
            first = seen.setdefault(tuple(text for _, text in lines[start : start + REPEATED_LINES]), place)
            if first != place and not again:  # the lines before this one began the run
                yield f"{first} {place}"
            again = first != place


def _code_lines(tree: ast.Module) -> list[tuple[int, str]]:
    """Return the lines of a module as ``ast`` prints them, with the numbers of their statements in the file."""
    lines = []
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not isinstance(node, ast.Import | ast.ImportFrom) and not _is_text(node):
            lines.append((node.lineno, ast.unparse(node).partition("\n")[0]))
    return sorted(lines, key=lambda each: each[0])


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def docstrings_of(tree: ast.Module) -> Iterator[str]:
    """Yield each docstring of a module, of its classes and of its functions."""
    for node in ast.walk(tree):
        text = ast.get_docstring(node) if isinstance(node, Documented) else None
        if text:
            yield text


def catches_all(node: ast.AST) -> bool:
    """Tell whether a node catches every exception and raises none of them again."""
    if not isinstance(node, ast.ExceptHandler):
        return False
    caught = [] if node.type is None else node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    names = {ast.unparse(each) for each in caught}
    again = any(isinstance(each, ast.Raise) and each.exc is None for each in ast.walk(node))
    return (node.type is None or bool(names & {"Exception", "BaseException"})) and not again


def _listed(title: str, lines: Iterable[str]) -> Iterator[str]:
    found = list(lines)
    yield f"{title}: {len(found)}"
    yield from (f"  {line}" for line in found)


def _long_modules(modules: Mapping[str, Module]) -> Iterator[str]:
    for name, module in modules.items():
        lines = len(module.file.read_text(encoding="utf-8").splitlines())
        if lines > MAX_LINES:
            yield f"{lines} {name}"


def _catches(modules: Mapping[str, Module], root: Path) -> Iterator[str]:
    for module in modules.values():
        for node in ast.walk(_tree(module)):
            if isinstance(node, ast.ExceptHandler) and catches_all(node):
                yield f"{module.file.relative_to(root).as_posix()}:{node.lineno}"


def _called_once(tree: ast.Module) -> int:
    """Return the number of private functions whose name stands once more in their module."""
    names = Counter(
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Name | ast.Attribute)
    )
    private = (node.name for node in ast.walk(tree) if isinstance(node, Function))
    return sum(name.startswith("_") and not name.startswith("__") and names[name] == 1 for name in private)


def _participles(tree: ast.Module) -> int:
    """Return the number of assignments to names that are participles."""
    names = (node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return sum(PARTICIPLES.fullmatch(name) is not None for name in names)


def _tree(module: Module) -> ast.Module:
    return ast.parse(module.file.read_text(encoding="utf-8"))


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in figures())
