"""The endpoint folders that clients are tested on: the demo's, and those of real schemas where they were fetched."""

from __future__ import annotations

import shutil
from pathlib import Path

from handler.commands.folders.endpoints import find_endpoints
from handler.compiler.compile import Compiled, compile_endpoint
from handler.errors.authoring import CompileError
from tests.conftest import DEMO, ROOT

CORPORA = ROOT / ".stile" / "corpora"

FETCHED = list(find_endpoints(CORPORA))
FOLDERS = [DEMO, *FETCHED]


def compile_what_can_be(folder: Path, scratch: Path) -> Compiled:
    """Compile a folder; without the operations that are mistakes, if it is one of a real schema, which have some."""
    try:
        return compile_endpoint(folder)
    except CompileError as exc:
        if CORPORA not in folder.parents:
            raise
        copy = scratch / folder.parent.name / folder.name
        shutil.copytree(folder, copy)
        for file in {problem.file for problem in exc.problems}:
            (copy / file).unlink()
        return compile_endpoint(copy)
