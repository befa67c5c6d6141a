"""Import of authors' modules at deploy time: every exception is reported with its place."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import handler
from handler.code_tools.loading import load_kit
from handler.code_tools.modules import is_among
from handler.code_tools.toolkit import Toolkit
from handler.code_tools.type_schemas import MISSING
from handler.compiler.config.config import KitUse
from handler.compiler.problems import Place, Problems
from handler.errors.authoring import ToolDefinitionError
from handler.errors.infrastructure import CodeUnavailable

STDOUT, STDERR = 1, 2

OWN_PACKAGES = ("handler", "stile")
FASTMCP = ("fastmcp", "mcp.server.fastmcp", "mcp")
"""Modules that files for FastMCP import."""


def import_kit(kit: KitUse, *, modules: Sequence[str], problems: Problems) -> Toolkit | None:
    """Import a toolkit; ``None`` after reporting an error. ``modules`` may be imported."""
    if not is_among(kit.module, modules):
        set_it = f"set STILE_CODE_MODULES={','.join([*modules, kit.module])} here and where the function runs"
        problems.add(
            kit.at,
            f'"{kit.use}": modules are imported only if STILE_CODE_MODULES names them: {set_it}',
            code="module-not-allowed",
        )
        return None
    with reporting(kit, problems), importing():
        return load_kit(kit.use, modules=modules)
    return None


@contextmanager
def reporting(kit: KitUse, problems: Problems) -> Iterator[None]:
    """Report every exception of the author's code in the block, and redirect its output to stderr."""
    try:
        with _printing_to_stderr():
            yield
    except CodeUnavailable as exc:
        problems.add(kit.at, f'"{kit.use}": {exc.reason}', code="module-unavailable")
    except ToolDefinitionError as exc:
        problems.add(
            definition_place(exc.file, exc.line, kit.at), f"{exc.label}: {exc.sentence}", code="invalid-tool-definition"
        )
    except KeyboardInterrupt:
        raise
    except BaseException as exc:  # noqa: BLE001 - the edge of an author's module: sys.exit must not end the command
        problems.add(_place_in(exc, kit), f'"{kit.use}": {_sentence(exc)}', code="module-failed")


@contextmanager
def importing() -> Iterator[None]:
    """Import current files. No bytecode is written: it would seem fresh if a file changes within a second."""
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.dont_write_bytecode = before


def definition_place(file: str, line: int, otherwise: Place) -> Place:
    """Return the place of a definition; ``otherwise`` if its file or line is unknown."""
    return Place(file, line, 1) if line and Path(file).is_absolute() else otherwise


@contextmanager
def _printing_to_stderr() -> Iterator[None]:
    """Redirect stdout to stderr, also for child processes: stdout has this command's own output."""
    sys.stdout.flush()
    kept = os.dup(STDOUT)
    os.dup2(STDERR, STDOUT)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, STDOUT)
        os.close(kept)


def _place_in(exc: BaseException, kit: KitUse) -> Place:
    """Return the innermost line of the author's package in a traceback; the kit's place if there is none."""
    if isinstance(exc, SyntaxError) and exc.filename and exc.lineno:
        return Place(exc.filename, exc.lineno, exc.offset or 1)
    package = kit.module.partition(".")[0]
    frames = [
        (frame, line)
        for frame, line in traceback.walk_tb(exc.__traceback__)
        if is_among(str(frame.f_globals.get("__name__")), [package])
    ]
    return Place(frames[-1][0].f_code.co_filename, frames[-1][1], 1) if frames else kit.at


def _sentence(exc: BaseException) -> str:
    match exc:
        case SystemExit():
            return "its module calls sys.exit while it is imported"
        case ModuleNotFoundError(name="pydantic"):
            return MISSING
    return f"its code raised {traceback.format_exception_only(exc)[-1].strip()}{_remedy(exc)}"


def _remedy(exc: BaseException) -> str:
    """Return the way to mend a failed import, as the end of a sentence; an empty string if it is not known."""
    name = exc.name if isinstance(exc, ImportError) and exc.name else ""
    package = name.partition(".")[0]
    if name.partition(".")[0] in FASTMCP or name in FASTMCP:
        return "; write `from stile import Toolkit` instead, as docs/from-fastmcp.md shows"
    own = _namesake(package) if package in OWN_PACKAGES else ""
    return (
        f"; {own} has the name of a package of Stile, so that one of them hides the other: rename {own}" if own else ""
    )


def _namesake(package: str) -> str:
    """Return the author's file or folder with the name of a package of Stile; an empty string if there is none."""
    ours = Path(handler.__file__).parents[1]
    beside = [Path(path) / each for path in (*sys.path, ".") for each in (f"{package}.py", f"{package}/__init__.py")]
    found = [path for path in beside if path.is_file() and not path.resolve().is_relative_to(ours / package)]
    return found[0].as_posix() if found else ""
