"""A warning of imports from `handler` in authors' modules: their API has moved to the package `stile`."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.util import resolve_name
from pathlib import Path
from types import ModuleType

from handler.compiler.checks.compiled_endpoint import CompiledEndpoint
from handler.compiler.checks.finding import Finding, check
from handler.compiler.problems import Place

OLD_PLACES = {"handler": "stile", "handler.testing": "stile.testing"}


@check("old-import")
def old_import(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """Find each import from an old place in the modules of toolkits and in the modules that they import."""
    for kit in endpoint.context.config.code.kits:
        for file, tree in _sources(kit.module, endpoint.code.modules):
            yield from _old_imports(file, tree, kit.module)


def _old_imports(file: str, tree: ast.Module, module: str) -> Iterator[Finding]:
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(old), names=names, level=0) if old in OLD_PLACES:
                new: ast.stmt = ast.ImportFrom(module=OLD_PLACES[old], names=names, level=0)
            case ast.Import(names=names) if found := [each.name for each in names if each.name in OLD_PLACES]:
                old = found[0]
                new = ast.Import(names=[_moved(each) for each in names])
            case _:
                continue
        sentence = f"{old} offers the API of Python tools in this version only: write `{ast.unparse(new)}`"
        yield Finding(Place(file, node.lineno, node.col_offset + 1), sentence, (module,))


def _moved(alias: ast.alias) -> ast.alias:
    return ast.alias(name=OLD_PLACES.get(alias.name, alias.name), asname=alias.asname)


def _sources(first: str, modules: Sequence[str]) -> Iterator[tuple[str, ast.Module]]:
    """Yield file and syntax tree of a module, and of all ``modules`` that it imports, directly or not."""
    from handler.code_tools.modules import is_among  # only endpoints with code need it

    waiting, seen = [first], set[str]()
    while waiting:
        name = waiting.pop()
        module = sys.modules.get(name)
        if module is None or name in seen or not is_among(name, modules):
            continue
        seen.add(name)
        waiting.append(name.rpartition(".")[0])
        file = str(getattr(module, "__file__", None) or "")
        with suppress(OSError, SyntaxError, ValueError):  # no source, or one that has changed since the import
            tree = ast.parse(Path(file).read_bytes())
            waiting += _imported_by(tree, module)
            yield file, tree


def _imported_by(tree: ast.Module, module: ModuleType) -> Iterator[str]:
    """Yield the names of modules in a module's import statements, and some names that are not modules."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (each.name for each in names)
            case ast.ImportFrom(module=source, names=names, level=level):
                with suppress(ImportError):  # more dots than there are packages, in code that never ran
                    package = resolve_name("." * level + (source or ""), module.__package__)
                    yield from (package, *(f"{package}.{each.name}" for each in names))
