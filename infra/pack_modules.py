"""Join the compiled modules of a function in one file, from which it imports: handler/cold/artefact.py.

    pack_modules.py FOLDER [PATH ...]

PATHs are of authors' code in FOLDER, which stays as it is. Packages lose their sources, which are a third of the zip: a
traceback names files and lines, and the locks name the versions. Modules in the pack lose their docstrings, a fifth of
the bytecode, which nothing reads in the function. The function's Python runs this script with nothing installed.
"""

from __future__ import annotations

import ast
import marshal
import sys
from collections.abc import Collection, Iterator
from importlib.util import cache_from_source
from pathlib import Path
from types import CodeType
from zlib import crc32

from deferred_imports import defer_imports

OPENING = {"handler", "handler.cold", "handler.cold.artefact", "handler.lambda_function"}
"""Modules that load before the pack is open."""

OURS = {"handler", "stile"}
"""Packages whose tracebacks show lines of source."""

READ_AT_IMPORT = {"anyio", "anyio.abc"}
"""Modules that read in their own source what to import later, and that import all of it if there is no source."""

FIRST_LINE_BYTES = 64

TASK_ROOT = "/var/task"
"""The folder of the function in Lambda, as tracebacks show it."""


def write_pack(folder: Path, *, authors: Collection[str]) -> None:
    """Move bytecode to ``handler/modules.pack``: a line of text, the code of each module, and an index."""
    index = {}
    with (folder / "handler" / "modules.pack").open("wb") as pack:
        pack.write(b" " * FIRST_LINE_BYTES)
        for name, source in list(_modules(folder, authors=authors)):
            path = source.relative_to(folder).as_posix()
            code = marshal.dumps(compiled(source.read_bytes(), name, path=path))
            index[name] = (path, pack.tell(), len(code), crc32(code))
            pack.write(code)
            Path(cache_from_source(str(source))).unlink()
            if name.partition(".")[0] not in OURS and name not in READ_AT_IMPORT:
                source.unlink()
        end = marshal.dumps(index)
        pack.write(end)
        first = f"{sys.implementation.cache_tag} {pack.tell()} {len(end)} {crc32(end)}"
        pack.seek(0)
        pack.write(first.encode("ascii").ljust(FIRST_LINE_BYTES - 1) + b"\n")


def compiled(source: bytes, name: str, *, path: str) -> CodeType:
    """Compile a module as an import does, without its docstrings and what it may import later. Lines stay."""
    file = f"{TASK_ROOT}/{path}"
    tree = ast.parse(source, file)
    _remove_docstrings(tree)
    defer_imports(tree, name)
    return compile(tree, file, "exec", dont_inherit=True)


def _remove_docstrings(tree: ast.Module) -> None:
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Module():
                if ast.get_docstring(node, clean=False) is not None:
                    docstring, *others = node.body
                    node.body = others or [ast.copy_location(ast.Pass(), docstring)]


def _modules(folder: Path, *, authors: Collection[str]) -> Iterator[tuple[str, Path]]:
    """Yield the modules for the pack, each with its source file: those of regular packages, and single ones."""
    for source in _sources(folder):
        *packages, module = source.relative_to(folder).with_suffix("").parts
        name = ".".join(packages if module == "__init__" else [*packages, module])
        library = any(source.parent.glob(f"{module}.*so"))  # compiled, so Python prefers it to the source
        if name not in OPENING and (*packages, module)[0] not in authors and not library:
            yield name, source


def _sources(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if (path / "__init__.py").is_file():
            yield from _sources(path)
        elif path.suffix == ".py":
            yield path


if __name__ == "__main__":
    write_pack(Path(sys.argv[1]), authors=[Path(path).stem for path in sys.argv[2:]])
