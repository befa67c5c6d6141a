"""Compiling a corpus as far as it goes: what is refused, and the bundle without that."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from graphql import GraphQLSchema

from handler.bundle.tools import PrescribedTool
from handler.compiler.compile import Compiled, compile_endpoint
from handler.errors.authoring import CompileError, Problem
from tests.corpora.verdicts import Verdict, judge, read_sdl


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What became of a corpus. ``refused`` holds the problems of each file that cannot be published."""

    schema: GraphQLSchema
    verdicts: Mapping[str, Verdict]
    refused: Mapping[str, tuple[Problem, ...]]
    compiled: Compiled

    @property
    def tools(self) -> list[PrescribedTool]:
        return [tool for tool in self.compiled.bundle.tools if isinstance(tool, PrescribedTool)]

    def refused_as(self, kind: str) -> int:
        """How many files are refused for what the oracle says of them."""
        return sum(self.verdicts[file].kind == kind for file in self.refused)


Tried = Callable[[str], Attempt]
"""Gives what became of a corpus, by its name."""


def attempt(folder: Path) -> Attempt:
    """Compile a corpus, and compile it again without what was refused."""
    schema = read_sdl(folder)
    refused: dict[str, tuple[Problem, ...]] = {}
    try:
        compiled = compile_endpoint(folder)
    except CompileError as exc:
        files = dict.fromkeys(problem.file for problem in exc.problems)
        refused = {file: tuple(problem for problem in exc.problems if problem.file == file) for file in files}
        compiled = _compile_without(refused, folder)
    return Attempt(schema=schema, verdicts=judge(folder, schema), refused=refused, compiled=compiled)


def copy_without(files: Mapping[str, object], folder: Path, target: Path) -> Path:
    """An endpoint folder of the same name below ``target``, without some of its files."""
    copy = target / folder.parent.name / folder.name
    shutil.copytree(folder, copy)
    for file in files:
        (copy / file).unlink()
    return copy


def _compile_without(files: Mapping[str, object], folder: Path) -> Compiled:
    with tempfile.TemporaryDirectory() as work:
        return compile_endpoint(copy_without(files, folder, Path(work)))
