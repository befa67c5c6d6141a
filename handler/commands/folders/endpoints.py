"""The compilation of every endpoint at or below a folder, for the commands."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from handler.commands.console import ERR, complain_of, track
from handler.commands.folders.endpoint_folders import find_endpoints
from handler.compiler.compile import Compiled, compile_endpoint, compile_explained
from handler.compiler.provenance import Provenance
from handler.compiler.schema.schema_cache import SchemaCache
from handler.compiler.source.files import ENTRY, POLICY_TESTS
from handler.errors.authoring import CompileError, Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of one endpoint folder: the compiled endpoint, or ``None`` and its problems.

    A compiled endpoint has problems if it is not as ``policies.test.yaml`` expects.
    """

    folder: Path
    compiled: Compiled | None
    problems: tuple[Problem, ...]

    @property
    def warnings(self) -> Sequence[Problem]:
        """The warnings of the compiler."""
        return (*self.compiled.warnings, *self.compiled.client_warnings) if self.compiled else ()


def compile_all(
    folder: Path,
    *,
    stage: str | None,
    endpoint: str | None,
    tested: bool = False,
    schemas: SchemaCache | None = None,
) -> list[Outcome]:
    """Compile the endpoints at or below ``folder``; empty if there are none. ``endpoint`` names a single endpoint.

    ``tested``: an expectation of ``policies.test.yaml`` that is not met is a problem of its endpoint, too.
    """
    folders = track(list(find_endpoints(folder)), "Compiling", ERR, name=Path.as_posix)
    compiled = (compile_one(each, stage=stage, endpoint=endpoint, schemas=schemas) for each in folders)
    if tested:
        compiled = (_tested(each, stage=stage, endpoint=endpoint) for each in compiled)
    return refuse_same_names(compiled)


def _tested(outcome: Outcome, *, stage: str | None, endpoint: str | None) -> Outcome:
    compiled = outcome.compiled
    if compiled is None or not os.path.lexists(compiled.env_file.with_name(POLICY_TESTS)):
        return outcome
    from handler.commands.folders.policy_tests import policy_problems  # it loads everything that serves requests

    return replace(outcome, problems=policy_problems(outcome.folder, compiled, stage=stage, endpoint=endpoint))


def compile_one(
    folder: Path, *, stage: str | None, endpoint: str | None, schemas: SchemaCache | None = None
) -> Outcome:
    """Compile one endpoint folder. Without ``endpoint``, the name is from its files or its path.

    ``schemas`` has those that were read before. Published bundles are compiled without it.
    """
    try:
        compiled = compile_endpoint(folder, stage=stage, endpoint=endpoint, environ=os.environ, schemas=schemas)
    except CompileError as exc:
        return Outcome(folder=folder, compiled=None, problems=exc.problems)
    return Outcome(folder=folder, compiled=compiled, problems=())


def explain_all(
    folder: Path, *, stage: str | None, endpoint: str | None, report: Callable[[Problem, Path], None]
) -> list[tuple[Path, Compiled, Provenance | None]] | None:
    """Compile the endpoints at or below ``folder`` with the rules behind guards; ``None`` after reporting problems."""
    endpoints = []
    problems: list[Problem] = []
    for each in track(list(find_endpoints(folder)), "Compiling", ERR, name=Path.as_posix):
        try:
            endpoints.append((each, *compile_explained(each, stage=stage, endpoint=endpoint, environ=os.environ)))
        except CompileError as exc:
            problems += exc.problems
            for problem in exc.problems:
                report(problem, each)
    return None if problems else endpoints


def compile_or_complain(folder: Path, *, stage: str | None, endpoint: str | None) -> list[Compiled]:
    """Compile all endpoints, and print every problem; an empty list if any endpoint has problems."""
    outcomes = compile_all(folder, stage=stage, endpoint=endpoint, tested=True)
    complain_about(outcomes)
    compiled = [outcome.compiled for outcome in outcomes if outcome.compiled and not outcome.problems]
    return compiled if len(compiled) == len(outcomes) else []


def complain_about(outcomes: Iterable[Outcome]) -> None:
    """Print every problem."""
    for outcome in outcomes:
        for problem in outcome.problems:
            complain_of(problem, outcome.folder)


def refuse_same_names(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Refuse the second folder of one endpoint name: the two bundles would overwrite each other."""
    first: dict[str, Path] = {}
    checked = []
    for outcome in outcomes:
        name = outcome.compiled.bundle.endpoint if outcome.compiled else ""
        other = first.setdefault(name, outcome.folder) if name else outcome.folder
        if other != outcome.folder:
            sentence = f'the endpoint "{name}" is also made by {other.as_posix()}'
            problem = Problem(file=ENTRY, sentence=sentence, code="duplicate-endpoint")
            checked.append(replace(outcome, compiled=None, problems=(problem,)))
        else:
            checked.append(outcome)
    return checked
