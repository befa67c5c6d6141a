"""A new endpoint folder from a schema: its files, tried by compiling them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from graphql import GraphQLObjectType, is_introspection_type, is_specified_scalar_type

from handler.commands.editor_files.writing import write_editor_files
from handler.commands.folders.endpoints import Outcome, compile_one
from handler.commands.new_endpoint.config_file import EndpointSettings, config_text
from handler.commands.schema_source.origin import SCHEMA_FILE, SchemaSource, with_heading
from handler.commands.schema_source.refusal import SourceRefused
from handler.commands.schema_source.schema_file import INDEX_WITH_TOOL, refuse_problems, write_schema
from handler.commands.starters.starter_files import Starter, candidates, chosen
from handler.compiler.schema.schema import AuthorSchema
from handler.compiler.source.files import CONFIG, ENTRY
from handler.errors.authoring import Problem

MAX_TRIALS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A folder that compiles without warnings, and its starter tools."""

    types: int
    starters: tuple[Starter, ...]
    for_editors: tuple[str, ...]  # paths
    ignored: tuple[str, ...]  # codes of warnings about the API's schema, silenced in config.yaml

    def files(self) -> list[str]:
        """Return the paths in the folder."""
        return [SCHEMA_FILE, ENTRY, CONFIG, *(starter.file for starter in self.starters), *self.for_editors]


def write_draft(folder: Path, sdl: str, source: SchemaSource, settings: EndpointSettings) -> Draft:
    """Write an endpoint's files to an empty folder.

    Raises:
        SourceRefused: the schema has problems, so that no endpoint can be made of it.
        OSError: the files cannot be written.
    """
    author = write_schema(folder, with_heading(sdl, source), source)
    schema = author.schema
    query, mutation = (_name(root) for root in (schema.query_type, schema.mutation_type)) if schema else ("", "")
    _write(folder, CONFIG, config_text(settings, query=query, mutation=mutation))
    tried = candidates(schema, author.hidden) if schema else []
    clean, outcome = _tried(folder, tried, source)
    starters = chosen(clean)
    for starter in tried:
        if starter not in starters:
            (folder / starter.file).unlink(missing_ok=True)
    if not starters:
        outcome = _with_query_tool(folder, query, source)
    ignored = tuple(sorted({each.code for each in _warnings(outcome) if each.file == SCHEMA_FILE}))
    if ignored:
        _write(folder, CONFIG, config_text(settings, query=query, mutation=mutation, ignored=ignored))
    for_editors = tuple(write_editor_files(folder))
    return Draft(types=_count(author), starters=tuple(starters), for_editors=for_editors, ignored=ignored)


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
                (folder / starter.file).unlink()
    _refuse_problems(outcome, source)
    return left, outcome


def _with_query_tool(folder: Path, query: str, source: SchemaSource) -> Outcome:
    """Declare one tool for all queries instead of starters."""
    with suppress(OSError):
        (folder / "operations").rmdir()
    _write(folder, ENTRY, INDEX_WITH_TOOL.replace("QUERY", query))
    outcome = compile_one(folder, stage=None, endpoint=None)
    _refuse_problems(outcome, source)
    return outcome


def _refuse_problems(outcome: Outcome, source: SchemaSource) -> None:
    """Refuse the first problem, be it of the options that ``config.yaml`` has or of the schema."""
    in_config = [problem for problem in outcome.problems if problem.file == CONFIG]
    if in_config:
        raise SourceRefused(CONFIG, f"{in_config[0].sentence} [{in_config[0].code}]")
    refuse_problems(outcome.problems, source)


def _warnings(outcome: Outcome) -> Iterable[Problem]:
    return (*outcome.compiled.warnings, *outcome.compiled.client_warnings) if outcome.compiled else ()


def _count(author: AuthorSchema) -> int:
    """Count the types of a schema, without those that GraphQL brings."""
    types = author.schema.type_map.values() if author.schema else ()
    return sum(not (is_introspection_type(type_) or is_specified_scalar_type(type_)) for type_ in types)


def _name(root: GraphQLObjectType | None) -> str:
    return root.name if root else ""


def _write(folder: Path, name: str, text: str) -> None:
    file = folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8", newline="\n")
