"""``schema.graphql`` and the ``index.graphql`` that includes it, tried by reading them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from graphql import GraphQLError, Source

from handler.commands.folders.atomic_writes import scratch_folder
from handler.commands.schema_source.origin import HEADING_LINES, SCHEMA_FILE, SchemaSource
from handler.commands.schema_source.refusal import SourceRefused
from handler.compiler.problems import Problems
from handler.compiler.schema.directives import ON_SCHEMA
from handler.compiler.schema.schema import AuthorSchema, read_schema
from handler.compiler.schema.sdl_parser import parse_sdl
from handler.compiler.source.files import ENTRY, EndpointFiles
from handler.compiler.source.project import read_project
from handler.errors.authoring import Problem
from handler.text.sentences import counted

SEE_ALSO = re.compile(rf" See also {re.escape(SCHEMA_FILE)}:(?P<line>\d+):(?P<column>\d+)\.")

INDEX = """\
# Definitions of your own belong here. `stile pull` rewrites schema.graphql, and this file stays yours.
extend schema @sdl(files: ["schema.graphql"])
"""

INDEX_WITH_TOOL = """\
# Definitions of your own belong here. `stile pull` rewrites schema.graphql, and this file stays yours.
extend schema
  @sdl(files: ["schema.graphql"])
  # The model writes the request, against all queries: narrow the pattern, or write operations/*.graphql instead.
  @tool(
    name: "query"
    title: "Query the API"
    description: "Query the API. {graphql_tool}"
    graphql: {expose: true, types: "QUERY", fields: ".*"}
  )
"""


def write_schema(folder: Path, text: str, source: SchemaSource) -> AuthorSchema:
    """Write both files to a folder, and return the schema.

    Raises:
        SourceRefused: the schema has problems by itself.
        OSError: the files cannot be written.
    """
    _refuse_own_directives(text, source)
    (folder / SCHEMA_FILE).write_text(text, encoding="utf-8", newline="\n")
    (folder / ENTRY).write_text(INDEX, encoding="utf-8", newline="\n")
    problems = Problems()
    author = schema_of_folder(folder, problems)
    refuse_problems(problems.error().problems, source)
    return author


def schema_of_folder(folder: Path, problems: Problems) -> AuthorSchema:
    """Read the schema of an endpoint folder, whatever the endpoint's name may be."""
    files = EndpointFiles(folder, problems)
    return read_schema(files, read_project(files, problems, name="some/name"), problems=problems)


def is_usable(text: str, source: SchemaSource) -> bool:
    """Tell if a schema has no problems by itself."""
    with scratch_folder() as folder:
        try:
            write_schema(folder, text, source)
        except SourceRefused:
            return False
    return True


def _refuse_own_directives(text: str, source: SchemaSource) -> None:
    """Refuse a schema that declares tools or includes files: these are decisions of the endpoint's author."""
    if not any(f"@{name}" in text for name in ON_SCHEMA):
        return
    with suppress(GraphQLError):  # read_schema reports it
        nodes = parse_sdl(Source(text)).definitions
        named = [directive.name.value for node in nodes for directive in getattr(node, "directives", None) or ()]
        for name in ON_SCHEMA:
            if name in named:
                cause = f"the schema has @{name}, which belongs in index.graphql: expected the API's own schema"
                raise SourceRefused(source.shown, cause)


def refuse_problems(problems: Sequence[Problem], source: SchemaSource) -> None:
    """Refuse a schema with problems.

    Raises:
        SourceRefused: there are some.
    """
    if problems:
        first = problems[0]
        more = f" ({counted(len(problems), 'problem')} in all)" if len(problems) > 1 else ""
        place = _place(first, source)
        sentence = SEE_ALSO.sub(lambda found: _see_also(found, source), first.sentence)
        raise SourceRefused(place, f"the schema cannot be used: {sentence} [{first.code}]{more}")


def _place(problem: Problem, source: SchemaSource) -> str:
    """Return the source, with the line and column of the problem if its lines are those of ``schema.graphql``."""
    line = problem.line - HEADING_LINES
    if not source.has_sdl or problem.file != SCHEMA_FILE or line < 1:
        return source.named
    return f"{source.named}:{line}:{problem.column}"


def _see_also(found: re.Match[str], source: SchemaSource) -> str:
    """Return the second place of a problem in the source; empty string if the author has no such lines."""
    if not source.has_sdl:
        return ""
    return f" See also {source.named}:{int(found['line']) - HEADING_LINES}:{found['column']}."
