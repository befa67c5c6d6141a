"""The modules of the product and their imports, read from the syntax trees of their files."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]

PACKAGES = ("handler", "stile")

TARGET = re.compile(r"handler\.[\w.]+:\w+")
"""A module that is imported by its name, as `module:object`."""


class Module(NamedTuple):
    """One file of Python and the names of the product's modules that it imports."""

    name: str
    file: Path
    imports: frozenset[str]

    @property
    def room(self) -> str:
        """The package that holds the module, or the package itself."""
        return self.name if self.file.name == "__init__.py" else self.name.rpartition(".")[0]


def read_modules(root: Path = ROOT) -> dict[str, Module]:
    """Return every module of the product by its dotted name."""
    files = {_name_of(file, root): file for package in PACKAGES for file in sorted((root / package).rglob("*.py"))}
    return {name: Module(name, file, frozenset(_imports(name, file, files))) for name, file in files.items()}


OF_COMMANDS = frozenset({"add_arguments", "run"})


def repeated_names(modules: Mapping[str, Module]) -> dict[str, list[str]]:
    """Return the names that several modules, public classes or public functions have, with the modules of each name.

    Each command has the functions ``add_arguments`` and ``run``.
    """
    found: dict[str, list[str]] = {}
    for module in modules.values():
        if module.file.name not in {"__init__.py", "__main__.py"}:
            found.setdefault(f"{module.file.stem}.py", []).append(module.name)
        for node in ast.parse(module.file.read_text(encoding="utf-8")).body:
            if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            is_public = not node.name.startswith("_") and node.name not in OF_COMMANDS
            if is_public and module.name not in found.get(node.name, ()):  # an overload has its name again
                found.setdefault(node.name, []).append(module.name)
    return {name: sorted(places) for name, places in sorted(found.items()) if len(places) > 1}


def import_circles(modules: Mapping[str, Module]) -> list[list[str]]:
    """Return each set of modules that reach each other by imports (the strongly connected components of Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    circles: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for target in sorted(modules[name].imports):
            if target not in index:
                visit(target)
            if target in stack:
                low[name] = min(low[name], low[target])
        if low[name] == index[name]:
            cut = stack.index(name)
            circle = stack[cut:]
            del stack[cut:]
            if len(circle) > 1:
                circles.append(sorted(circle))

    for name in modules:
        if name not in index:
            visit(name)
    return circles


def upward_imports(modules: Mapping[str, Module], order: Sequence[Sequence[str]]) -> list[str]:
    """Return each import that does not lead down ``order``, as ``importer -> imported``.

    Each line of ``order`` has names of modules and packages; a module belongs to its longest name. Names of one line
    may not import each other. A module without a line is returned alone.
    """
    floors = {name: floor for floor, names in enumerate(order) for name in names}
    homes = {name: _home(name, floors) for name in modules}
    faults = [name for name, home in homes.items() if not home]
    for name, module in modules.items():
        for target in module.imports:
            here, there = homes[name], homes[target]
            if here and there and here != there and floors[there] <= floors[here]:
                faults.append(f"{name} -> {target}")
    return sorted(faults)


def _home(name: str, floors: Mapping[str, int]) -> str:
    while name and name not in floors:
        name = name.rpartition(".")[0]
    return name


def _name_of(file: Path, root: Path) -> str:
    name = ".".join(file.relative_to(root).with_suffix("").parts)
    return name.removesuffix(".__init__")


def _imports(name: str, file: Path, known: Mapping[str, Path]) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        targets: list[str] = []
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            below = [f"{node.module}.{alias.name}" for alias in node.names]
            targets = [each if each in known else node.module for each in below]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and TARGET.fullmatch(node.value):
            targets = [node.value.partition(":")[0]]
        # A package is imported with each of its modules: naming it is no arrow of its own.
        yield from (each for each in targets if each in known and not f"{name}.".startswith(f"{each}."))
