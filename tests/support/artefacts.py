"""A built function in a folder, made of what is installed here, without what infra/build_artifact.sh fetches."""

from __future__ import annotations

import marshal
import os
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from handler.cold.artefact import FIRST_LINE_BYTES
from tests.conftest import ROOT

PACKAGES = (
    "aws_lambda_powertools",
    "anyio",
    "attr",
    "attrs",
    "graphql",
    "idna",
    "jmespath",
    "jsonschema",
    "jsonschema_specifications",
    "mangum",
    "referencing",
    "rpds",
    "starlette",
    "typing_extensions",
)
"""Of requirements/run.txt."""

DEFERRING: dict[str, Any] = runpy.run_path(str(ROOT / "infra" / "deferred_imports.py"))
"""The globals of the script that the build imports."""

HASHING: dict[str, Any] = runpy.run_path(str(ROOT / "infra" / "hash_certificates.py"))
"""The globals of the script that the build runs for certificates of authorities."""

hash_certificates: Callable[[str, Path], int] = HASHING["hash_certificates"]
subject_hash: Callable[[bytes], str] = HASHING["subject_hash"]

PACK = Path("handler", "modules.pack")


def copy_function(folder: Path, *, packages: bool = False) -> None:
    """Copy the request's half of the function and, if asked, the packages it needs, as the build does."""
    places = [ROOT / "handler", ROOT / "stile"]
    places += [_place(name) for name in PACKAGES] if packages else []
    for place in places:
        if place.is_dir():
            left_out = (
                ("audience", "compiler", "commands")
                if place.parent == ROOT
                else ("tests", "benchmarks", "event_handler")
            )
            shutil.copytree(place, folder / place.name, ignore=shutil.ignore_patterns("__pycache__", *left_out))
        else:
            shutil.copy(place, folder)
    (folder / "handler" / "__main__.py").unlink()


def pack(folder: Path, *code: str) -> None:
    """Compile and pack a function, with the same commands as the build."""
    compiling = ("-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", "-s", folder, "-p", "/var/task")
    for arguments in ((*compiling, folder), (ROOT / "infra" / "pack_modules.py", folder, *code)):
        subprocess.run([sys.executable, *map(str, arguments)], cwd=ROOT, check=True, capture_output=True)


def entries(folder: Path) -> dict[str, tuple[str, int, int, int]]:
    """Return the pack's index: of each module its source, and the place, size and checksum of its code."""
    content = (folder / PACK).read_bytes()
    _, total, size, _ = content[:FIRST_LINE_BYTES].split()
    assert int(total) == len(content)
    found: dict[str, tuple[str, int, int, int]] = marshal.loads(content[-int(size) :])
    return found


def run_in(folder: Path, program: str, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own that finds the function's modules first.

    No coverage is measured there: it loads modules, and tests ask which ones a program loads.
    """
    others = ("STILE_", "COV_", "COVERAGE_PROCESS_")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(others)}
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        env={**clean, "PYTHONDONTWRITEBYTECODE": "1", **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def _place(name: str) -> Path:
    spec = find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent if spec.submodule_search_locations else Path(spec.origin)
