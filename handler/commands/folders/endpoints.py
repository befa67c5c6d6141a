"""The endpoint folders at a path or below it, their compilation, and the arguments of commands that name them."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from handler.bundle.model import ENDPOINT_NAME
from handler.commands.console import ERR, complain_of, track
from handler.compiler.codes import CODES
from handler.compiler.compile import Compiled, compile_endpoint, compile_explained
from handler.compiler.problems import Problems
from handler.compiler.provenance import Provenance
from handler.compiler.schema.schema_cache import SchemaCache
from handler.compiler.source.files import CONFIG, ENTRY, EXPECTED_NAME, NEVER_ENTERED, STEPZEN_CONFIG, TESTS
from handler.errors.authoring import CompileError, Problem
from handler.text.sentences import some

NAMES_CODE = re.compile(r"""^(\{\s*)?["']?code["']?\s*:""", re.MULTILINE)

MAX_NAMED = 3
"""The number of folders that an error names."""

Record = Mapping[str, Any]
"""All that a command prints about an endpoint, or compares, as JSON values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of one endpoint folder: the compiled endpoint, or ``None`` and its problems.

    A compiled endpoint has problems if its files of tests have.
    """

    folder: Path
    compiled: Compiled | None
    problems: tuple[Problem, ...]
    record: Record | None = None  # of an endpoint that is not compiled, because it has not changed

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
    find_record: Callable[[Path], Record | None] = lambda _: None,
) -> list[Outcome]:
    """Compile the endpoints at or below ``folder``; empty if there are none. ``endpoint`` names a single endpoint.

    ``tested``: an expectation of ``policies.test.yaml`` that is not met is a problem of its endpoint, too, and a
    mistake in ``tools.test.yaml``. An endpoint with a record is not compiled.
    """

    def outcome_of(each: Path) -> Outcome:
        if record := find_record(each):
            return Outcome(folder=each, compiled=None, problems=(), record=record)
        outcome = compile_one(each, stage=stage, endpoint=endpoint, schemas=schemas)
        return _tested(outcome, stage=stage, endpoint=endpoint) if tested else outcome

    folders = track(list(find_endpoints(folder)), "Compiling", ERR, name=Path.as_posix)
    return refuse_same_names(map(outcome_of, folders))


def _tested(outcome: Outcome, *, stage: str | None, endpoint: str | None) -> Outcome:
    compiled = outcome.compiled
    if compiled is None or not any(os.path.lexists(compiled.env_file.with_name(name)) for name in TESTS):
        return outcome
    # These load everything that serves requests.
    from handler.commands.folders.policy_tests import policy_problems
    from handler.commands.folders.tool_tests import read_tool_tests

    problems = Problems()
    read_tool_tests(outcome.folder, compiled, problems, stage=stage)
    of_policies = policy_problems(outcome.folder, compiled, stage=stage, endpoint=endpoint)
    return replace(outcome, problems=(*of_policies, *problems.error().problems))


def compile_one(
    folder: Path, *, stage: str | None, endpoint: str | None, schemas: SchemaCache | None = None
) -> Outcome:
    """Compile one endpoint folder. Without ``endpoint``, the name is from its files or its path.

    ``schemas`` has those that were read before.
    """
    try:
        compiled = compile_endpoint(folder, stage=stage, endpoint=endpoint, environ=os.environ, schemas=schemas)
    except CompileError as exc:
        return Outcome(folder=folder, compiled=None, problems=exc.problems)
    return Outcome(folder=folder, compiled=compiled, problems=())


def explain_all(
    folder: Path, *, stage: str | None, endpoint: str | None
) -> list[tuple[Path, Compiled, Provenance | None]] | None:
    """Compile the endpoints at or below ``folder`` with the rules behind guards; ``None`` after printing problems."""
    endpoints = []
    problems: list[Problem] = []
    for each in track(list(find_endpoints(folder)), "Compiling", ERR, name=Path.as_posix):
        try:
            endpoints.append((each, *compile_explained(each, stage=stage, endpoint=endpoint, environ=os.environ)))
        except CompileError as exc:
            problems += exc.problems
            for problem in exc.problems:
                complain_of(problem, each)
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
        record = outcome.record or {"endpoint": ""}
        name = outcome.compiled.bundle.endpoint if outcome.compiled else record["endpoint"]
        other = first.setdefault(name, outcome.folder) if name else outcome.folder
        if other != outcome.folder:
            sentence = f'the endpoint "{name}" is also made by {other.as_posix()}'
            problem = Problem(file=ENTRY, sentence=sentence, code="duplicate-endpoint")
            checked.append(Outcome(folder=outcome.folder, compiled=None, problems=(problem,)))
        else:
            checked.append(outcome)
    return checked


def add_folder_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of every command that compiles."""
    add_folder_argument(parser)
    add_compile_options(parser)


def add_folder_argument(parser: argparse.ArgumentParser) -> None:
    """Add the argument FOLDER."""
    parser.add_argument(
        "folder", type=folder_of_endpoints, metavar="FOLDER", help="an endpoint folder, or one that holds several"
    )


def add_compile_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of every command that compiles."""
    parser.add_argument("--stage", type=_stage, metavar="STAGE", help="lay config.STAGE.yaml over config.yaml")
    parser.add_argument(
        "--endpoint",
        action=_Once,
        type=parse_endpoint_name,
        metavar="FOLDER/NAME",
        help="the name of the one endpoint in FOLDER, in place of the name in its files and path",
    )


def fault_in(options: argparse.Namespace) -> str:
    """Say that ``--endpoint`` names one endpoint and FOLDER has several; empty string if the arguments agree."""
    folder = Path(options.source if "source" in options else options.folder)
    endpoints = [each.as_posix() for each in find_endpoints(folder)]
    names = some(endpoints, most=MAX_NAMED)
    several = f"argument --endpoint: {folder.as_posix()} has {len(endpoints)} endpoints ({names})"
    return f"{several}; name the folder of one" if len(endpoints) > 1 else ""


def find_endpoints(folder: Path) -> Iterator[Path]:
    """Yield the endpoint folders at or below ``folder``, in order of their paths.

    An endpoint folder has an index.graphql, a stepzen.config.json, or a config.yaml that names tools in Python. Folders
    inside an endpoint folder are not searched: an index.graphql there is not a further endpoint.
    """
    for inner, below in walk(folder):
        if any((inner / name).is_file() for name in (ENTRY, STEPZEN_CONFIG)) or _names_code(inner / CONFIG):
            below.clear()
            yield inner


def _names_code(config: Path) -> bool:
    """Return whether a config.yaml has the key ``code``, even if the file is not valid YAML."""
    try:
        return NAMES_CODE.search(config.read_text(encoding="utf-8", errors="replace")) is not None
    except OSError:
        return False


def walk(folder: Path) -> Iterator[tuple[Path, list[str]]]:
    """Yield ``folder`` and all folders below it, in order of their paths, each with the names of its subfolders.

    A name that the caller removes from the list is not entered.
    """
    for path, below, _ in os.walk(folder):
        below[:] = sorted(name for name in below if not name.startswith(".") and name not in NEVER_ENTERED)
        yield Path(path), below


class _Once(argparse.Action):
    """Store a value, and refuse a second one, which would silently win."""

    def __call__(
        self, _parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, _option: str | None = None
    ) -> None:
        if getattr(namespace, self.dest) is not None:
            raise argparse.ArgumentError(self, "it is given twice")
        setattr(namespace, self.dest, values)


def _stage(text: str) -> str:
    """Refuse an empty name, as of a variable that is not set: the command would silently take ``config.yaml`` alone."""
    if not text:
        raise argparse.ArgumentTypeError('expected the name of a stage, such as prod, got ""')
    return text


def parse_endpoint_name(text: str) -> str:
    """Parse the name of an endpoint for argparse."""
    if not ENDPOINT_NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(f'"{text}" is not an endpoint name: {EXPECTED_NAME}')
    return text


def refuse_url(text: str) -> None:
    """Refuse a URL in place of a folder. The message has no credential of the URL, and no query string."""
    scheme, separator, rest = text.partition("://")
    if separator and scheme.isalnum():
        url = f"{scheme}://{re.split('[?#]', rest, maxsplit=1)[0].rpartition('@')[2]}"
        raise argparse.ArgumentTypeError(
            f"{url} is a URL: expected a folder; `stile init` and `stile pull` read an API with --from {url}"
        )


def folder_of_endpoints(text: str) -> Path:
    """Parse a folder with endpoints for argparse."""
    refuse_url(text)
    folder = Path(text)
    if not folder.exists():
        code = text.strip("[]")
        hint = f"; it is the code of a message: `stile check --explain {code}`" if code in CODES else ""
        if Path(slashed := text.replace("\\", "/")).exists():
            hint = f"; did you mean {slashed}?"
        raise argparse.ArgumentTypeError(f"{text}: there is no such folder{hint}")
    if not folder.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is a file; expected the folder of an endpoint, or one above it")
    if not any(find_endpoints(folder)):
        raise argparse.ArgumentTypeError(
            f"{text}: no endpoint here; expected an {ENTRY}, a {STEPZEN_CONFIG}, "
            f"or a {CONFIG} with code, in it or below it. `stile init` makes an endpoint of an API, and `stile adopt` "
            "of a folder for Apollo MCP Server or Cosmo's router"
        )
    return folder
