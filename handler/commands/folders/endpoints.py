"""The compilation of every endpoint at or below a folder, for the commands."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from handler.commands.console import ERR, complain_of, track
from handler.commands.folders.endpoint_folders import find_endpoints
from handler.compiler.compile import Compiled, compile_endpoint
from handler.compiler.source.files import ENTRY
from handler.errors.authoring import CompileError, Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of one endpoint folder: the compiled endpoint, or ``None`` and its problems."""

    folder: Path
    compiled: Compiled | None
    problems: tuple[Problem, ...]


def compile_all(folder: Path, *, stage: str | None, endpoint: str | None) -> list[Outcome]:
    """Compile the endpoints at or below ``folder``; empty if there are none. ``endpoint`` names a single endpoint."""
    folders = track(list(find_endpoints(folder)), "Compiling", ERR, name=Path.as_posix)
    return refuse_same_names(compile_one(each, stage=stage, endpoint=endpoint) for each in folders)


def compile_one(folder: Path, *, stage: str | None, endpoint: str | None) -> Outcome:
    """Compile one endpoint folder. Without ``endpoint``, the name is from its files or its path."""
    try:
        compiled = compile_endpoint(folder, stage=stage, endpoint=endpoint, environ=os.environ)
    except CompileError as exc:
        return Outcome(folder=folder, compiled=None, problems=exc.problems)
    return Outcome(folder=folder, compiled=compiled, problems=())


def compile_or_complain(folder: Path, *, stage: str | None, endpoint: str | None) -> list[Compiled]:
    """Compile all endpoints, and print every problem; an empty list if any endpoint has problems."""
    outcomes = compile_all(folder, stage=stage, endpoint=endpoint)
    complain_about(outcomes)
    compiled = [outcome.compiled for outcome in outcomes if outcome.compiled]
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
        if outcome.compiled is None:
            checked.append(outcome)
            continue
        name = outcome.compiled.bundle.endpoint
        other = first.setdefault(name, outcome.folder)
        if other == outcome.folder:
            checked.append(outcome)
        else:
            sentence = f'the endpoint "{name}" is also made by {other.as_posix()}'
            problem = Problem(file=ENTRY, sentence=sentence, code="duplicate-endpoint")
            checked.append(replace(outcome, compiled=None, problems=(problem,)))
    return checked
