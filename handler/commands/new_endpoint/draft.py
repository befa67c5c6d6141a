"""A new endpoint folder from a schema: its files, tried by compiling them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from graphql import GraphQLObjectType

from handler.commands.folders.endpoints import Outcome, compile_one
from handler.commands.new_endpoint.config_file import Settings, config_text
from handler.commands.schema_source.origin import SCHEMA_FILE, SchemaSource, with_heading
from handler.commands.schema_source.refusal import SourceRefused
from handler.commands.starters.operations import Starter, candidates, chosen
from handler.compiler.problems import Problems
from handler.compiler.schema.schema import AuthorSchema, read_schema
from handler.compiler.source.files import CONFIG, ENTRY, EndpointFiles
from handler.errors.authoring import Problem
from handler.sentences import counted

INDEX = """\
# Definitions of your own belong here. `stile pull` rewrites schema.graphql, and this file stays yours.
extend schema @sdl(files: ["schema.graphql"])
"""

MAX_TRIALS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A folder that compiles without warnings, and its starter tools."""

    types: int
    starters: tuple[Starter, ...]
    ignored: tuple[str, ...]  # codes of warnings about the API's schema, silenced in config.yaml

    def files(self) -> list[str]:
        """Return the paths in the folder."""
        return [SCHEMA_FILE, ENTRY, CONFIG, *(starter.file for starter in self.starters)]


def write_draft(folder: Path, sdl: str, source: SchemaSource, settings: Settings) -> Draft:
    """Write an endpoint's files to an empty folder.

    Raises:
        SourceRefused: the schema has problems, so that no endpoint can be made of it.
        OSError: the files cannot be written.
    """
    _write(folder, SCHEMA_FILE, with_heading(sdl, source))
    _write(folder, ENTRY, INDEX)
    author = _read(folder, source)
    schema = author.schema
    query, mutation = (_name(root) for root in (schema.query_type, schema.mutation_type)) if schema else ("", "")
    _write(folder, CONFIG, config_text(settings, query=query, mutation=mutation))
    tried = candidates(schema, author.hidden) if schema else []
    clean, outcome = _tried(folder, tried, source)
    starters = chosen(clean)
    for starter in tried:
        if starter not in starters:
            (folder / starter.file).unlink()
    if tried and not starters:  # the endpoint has the default tool instead
        (folder / "operations").rmdir()
        outcome = _compiled(folder, source)
    ignored = tuple(sorted({each.code for each in _warnings(outcome) if each.file == SCHEMA_FILE}))
    if ignored:
        _write(folder, CONFIG, config_text(settings, query=query, mutation=mutation, ignored=ignored))
    return Draft(types=_count(author), starters=tuple(starters), ignored=ignored)


def _read(folder: Path, source: SchemaSource) -> AuthorSchema:
    problems = Problems()
    author = read_schema(EndpointFiles(folder, problems), problems)
    _refuse_problems(problems.error().problems, source)
    return author


def _tried(folder: Path, starters: Sequence[Starter], source: SchemaSource) -> tuple[list[Starter], Outcome]:
    """Write starters, and return those without problems and warnings, with the outcome of the last trial."""
    left = list(starters)
    for starter in left:
        _write(folder, starter.file, starter.text)
    for _ in range(MAX_TRIALS):
        outcome = compile_one(folder, stage=None, endpoint=None)
        faulty = {problem.file for problem in (*outcome.problems, *_warnings(outcome))}
        left, former = [each for each in left if each.file not in faulty], left
        if not outcome.problems or len(left) == len(former):
            break
        for starter in former:
            if starter not in left:
                _write(folder, starter.file, "# left out\n")
    _refuse_problems(outcome.problems, source)
    return left, outcome


def _compiled(folder: Path, source: SchemaSource) -> Outcome:
    outcome = compile_one(folder, stage=None, endpoint=None)
    _refuse_problems(outcome.problems, source)
    return outcome


def _refuse_problems(problems: Sequence[Problem], source: SchemaSource) -> None:
    if problems:
        first = problems[0]
        more = f" ({counted(len(problems), 'problem')} in all)" if len(problems) > 1 else ""
        raise SourceRefused(source.shown, f"the schema cannot be used: {first.sentence} [{first.code}]{more}")


def _warnings(outcome: Outcome) -> Iterable[Problem]:
    return (*outcome.compiled.warnings, *outcome.compiled.client_warnings) if outcome.compiled else ()


def _count(author: AuthorSchema) -> int:
    return sum(not name.startswith("__") for name in author.schema.type_map) if author.schema else 0


def _name(root: GraphQLObjectType | None) -> str:
    return root.name if root else ""


def _write(folder: Path, name: str, text: str) -> None:
    file = folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8", newline="\n")
