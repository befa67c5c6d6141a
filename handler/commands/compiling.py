"""Compiling every endpoint below a folder, for the commands that need it."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from handler.commands.console import complain, show_problems, working
from handler.compiler.compile import Compiled, compile_endpoint
from handler.compiler.files import find_endpoints
from handler.errors import CompileError, Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One endpoint folder: what it became, or why it became nothing."""

    folder: Path
    compiled: Compiled | None
    problems: tuple[Problem, ...]


def add_folder_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of every command that compiles."""
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="an endpoint folder, or one that holds several")
    parser.add_argument("--stage", metavar="STAGE", help="lay config.STAGE.yaml over config.yaml")


def compile_all(folder: Path, *, stage: str | None) -> list[Outcome]:
    """Compile the endpoints at or below ``folder``, which may be none."""
    outcomes = []
    for endpoint in find_endpoints(folder):
        with working(f"Compiling {endpoint}"):
            outcomes.append(compile_one(endpoint, stage=stage))
    return _refuse_same_names(outcomes)


def compile_one(folder: Path, *, stage: str | None) -> Outcome:
    """Compile one endpoint folder."""
    try:
        return Outcome(folder=folder, compiled=compile_endpoint(folder, stage=stage), problems=())
    except CompileError as exc:
        return Outcome(folder=folder, compiled=None, problems=exc.problems)


def compile_or_complain(folder: Path, *, stage: str | None) -> list[Compiled]:
    """Compile everything or nothing: the list is empty after every problem has been printed."""
    outcomes = compile_all(folder, stage=stage)
    if not outcomes:
        complain(no_endpoint(folder))
    for outcome in outcomes:
        show_problems(outcome.problems, outcome.folder)
    compiled = [outcome.compiled for outcome in outcomes if outcome.compiled]
    return compiled if len(compiled) == len(outcomes) else []


def no_endpoint(folder: Path) -> str:
    """The sentence for a folder that holds no endpoint."""
    if not folder.exists():
        return f"{folder}: there is no such folder"
    return f"{folder}: no endpoint here: expected an index.graphql in it or below it"


def _refuse_same_names(outcomes: list[Outcome]) -> list[Outcome]:
    """Two folders for one ``folder/name`` would overwrite each other."""
    first: dict[str, Path] = {}
    checked = []
    for outcome in outcomes:
        name = outcome.compiled.bundle.endpoint if outcome.compiled else str(outcome.folder)
        if name in first:
            problem = Problem(file="index.graphql", sentence=f'the endpoint "{name}" is also made by {first[name]}')
            checked.append(Outcome(folder=outcome.folder, compiled=None, problems=(problem,)))
        else:
            first[name] = outcome.folder
            checked.append(outcome)
    return checked
