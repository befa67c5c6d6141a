"""``schema.graphql`` and the ``index.graphql`` that includes it: written, tried and compared with the old schema."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence, Set
from contextlib import suppress
from pathlib import Path

from graphql import GraphQLError, GraphQLInterfaceType, GraphQLObjectType, GraphQLSchema, Source, print_ast

from handler.bundle.tools import GraphQLTool
from handler.commands.folders.atomic_writes import scratch_folder
from handler.commands.folders.endpoints import Outcome, compile_one
from handler.commands.local.local_endpoint import local_endpoint
from handler.commands.schema_source.source_options import HEADING_LINES, SchemaSource, SourceRefused
from handler.compiler.compile import Compiled
from handler.compiler.operations.sources import OPERATIONS_FOLDER
from handler.compiler.problems import Problems
from handler.compiler.schema.coordinates import members_of
from handler.compiler.schema.directives import ON_SCHEMA
from handler.compiler.schema.schema import AuthorSchema, parse_sdl, read_schema
from handler.compiler.source.files import ENTRY, ENV_FILE, NEVER_ENTERED, SCHEMA_FILE, EndpointFiles, read_project
from handler.errors.authoring import Problem
from handler.graph.sdl import print_view
from handler.policy.evaluation import Evaluation
from handler.strict_json import JSONObject
from handler.text.sentences import counted

SEE_ALSO = re.compile(rf" See also {re.escape(SCHEMA_FILE)}:(?P<line>\d+):(?P<column>\d+)\.")

OF_THE_TIME = re.compile(r":\d+:\d+|;? [Dd]id you mean .*| '\w+' has .*")
"""Parts of a sentence that change while the problem stays: places, and suggestions from the schema."""

PARTS = ("title", "description", "inputSchema", "outputSchema", "annotations")
"""The parts of a tool's entry that a report names."""

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
    """Return whether a schema has no problems by itself."""
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
        names = [directive.name.value for node in nodes for directive in getattr(node, "directives", None) or ()]
        for name in ON_SCHEMA:
            if name in names:
                cause = f"the schema has @{name}, which belongs in index.graphql: expected the API's own schema"
                raise SourceRefused(source.shown, cause)


def refuse_problems(problems: Sequence[Problem], source: SchemaSource) -> None:
    """Refuse a schema with problems. Their places are those in the source, if it has the lines of ``schema.graphql``.

    Raises:
        SourceRefused: there are some.
    """
    if not problems:
        return
    first = problems[0]
    more = f" ({counted(len(problems), 'problem')} in all)" if len(problems) > 1 else ""
    line = first.line - HEADING_LINES
    has_place = source.has_sdl and first.file == SCHEMA_FILE and line >= 1
    place = f"{source.named}:{line}:{first.column}" if has_place else source.named

    def see_also(match: re.Match[str]) -> str:
        if not source.has_sdl:
            return ""
        return f" See also {source.named}:{int(match['line']) - HEADING_LINES}:{match['column']}."

    sentence = SEE_ALSO.sub(see_also, first.sentence)
    raise SourceRefused(place, f"the schema cannot be used: {sentence} [{first.code}]{more}")


def are_equal(old: str, new: str) -> bool:
    """Return whether two SDL texts have the same definitions, in any order."""
    if old == new:
        return True
    try:
        before, after = (sorted(print_ast(node) for node in parse_sdl(Source(sdl)).definitions) for sdl in (old, new))
    except GraphQLError:
        return False
    return before == after


def compare_schemas(
    folder: Path, text: str, source: SchemaSource, *, stage: str | None, endpoint: str | None
) -> tuple[JSONObject, Sequence[Problem], Sequence[Problem]]:
    """Compile a folder as it is, and a copy of it with ``text`` as its schema, and return the differences.

    The first member of the result has, as JSON, the coordinates and tools that are added, removed or changed, and the
    rules of policies for new coordinates; a new field may have none. The others have problems and warnings that the old
    schema does not give.

    Raises:
        SourceRefused: the new schema has problems by itself.
        OSError: the folder cannot be copied.
    """
    old, old_author = _compiled(folder, stage, endpoint)
    with scratch_folder() as scratch:
        copy = scratch / folder.resolve().parent.name / folder.resolve().name
        write_schema(scratch, text, source)
        shutil.copytree(folder, copy, symlinks=True, ignore=_never_read)
        (copy / SCHEMA_FILE).unlink()
        (copy / SCHEMA_FILE).write_text(text, encoding="utf-8", newline="\n")
        new, new_author = _compiled(copy, stage, endpoint)
        rest = new.compiled
        if rest is None and _leave_out_broken(copy, new.problems):
            rest = compile_one(copy, stage=stage, endpoint=endpoint).compiled
    before, after = (set(_coordinates(author)) for author in (old_author, new_author))
    unknown = old_author.schema is None or new_author.schema is None
    added = [] if unknown else _alone(after - before, before)
    # A folder that does not compile with one of the schemas has no tools to compare.
    tools = [_surfaces(each.compiled) if each.compiled and old.compiled and new.compiled else {} for each in (old, new)]
    parts = {
        name: [part for part, value in tools[0][name].items() if value != tools[1][name][part]]
        for name in sorted(tools[0].keys() & tools[1].keys())
    }
    changes = {
        "added": added,
        "removed": [] if unknown else _alone(before - after, after),
        "tools": {
            "added": sorted(tools[1].keys() - tools[0].keys()),
            "removed": sorted(tools[0].keys() - tools[1].keys()),
            "changed": {name: differing for name, differing in parts.items() if differing},
        },
        "policies": _rules(rest, new_author.schema, added),
    }
    return changes, _new(old.problems, new.problems), _new(old.warnings, new.warnings)


def _compiled(folder: Path, stage: str | None, endpoint: str | None) -> tuple[Outcome, AuthorSchema]:
    return compile_one(folder, stage=stage, endpoint=endpoint), schema_of_folder(folder, Problems())


def _never_read(_folder: str, names: Sequence[str]) -> set[str]:
    """Return the names that the compiler does not read: hidden files and folders of other tools."""
    return {name for name in names if (name.startswith(".") and name != ENV_FILE) or name in NEVER_ENTERED}


def _leave_out_broken(copy: Path, problems: Sequence[Problem]) -> bool:
    """Delete the files of operations that have problems, and return whether these are all problems.

    The rest of the copy shows which policies are for new fields. Nothing behind a link, which may lead out of the copy,
    is deleted.
    """
    files = {copy / problem.file for problem in problems}
    whole = copy.resolve()
    for file in files:
        if not file.is_relative_to(copy / OPERATIONS_FOLDER) or file.resolve() != whole / file.relative_to(copy):
            return False
    for file in files:
        file.unlink()
    return True


def _coordinates(author: AuthorSchema) -> Iterator[str]:
    """Yield the coordinates that clients may use: a field that loses ``@inaccessible`` is new to them."""
    for name, type_ in author.schema.type_map.items() if author.schema else ():
        if not name.startswith("__") and name not in author.hidden:
            yield name
            fields = getattr(type_, "fields", {}).items()
            arguments = (f"{field}({each}:)" for field, value in fields for each in getattr(value, "args", ()))
            members = (f"{name}.{member}" for member in (*members_of(type_), *arguments))
            yield from (member for member in members if member not in author.hidden)


def _alone(changes: Set[str], others: Set[str]) -> Sequence[str]:
    """Return the coordinates that changed, without the arguments of a field that changed with them."""
    return sorted(each for each in changes if "(" not in each or each.partition("(")[0] in others)


def _new(before: Sequence[Problem], after: Sequence[Problem]) -> Sequence[Problem]:
    """Return the diagnostics that only the second compilation gives, wherever they are in their files."""

    def key(problem: Problem) -> tuple[str, str, str]:
        return problem.file, problem.code, OF_THE_TIME.sub("", problem.sentence)

    old = set(map(key, before))
    return [problem for problem in after if key(problem) not in old]


def _surfaces(compiled: Compiled) -> dict[str, JSONObject]:
    """Return each usable tool with its entry for callers who skip policies, and the schema of a GraphQL tool."""
    endpoint = local_endpoint(compiled)
    everything = Evaluation(compiled.bundle.conditions, claims=None, unrestricted=True)
    surfaces = {}
    for tool in (made.tool for made in compiled.made):
        entry = endpoint.entry(tool, everything)
        if entry is not None:
            sdl = ""
            if isinstance(tool, GraphQLTool):
                sdl = print_view(endpoint.schema.view(tool, everything.outcome(tool.conditions)))
            surfaces[tool.name] = {**{part: entry.get(part) for part in PARTS}, "schema": sdl}
    return surfaces


def _rules(new: Compiled | None, schema: GraphQLSchema | None, added: Sequence[str]) -> dict[str, Sequence[str]]:
    """Return the new fields, and the other new coordinates that rules of policies are for, each with these rules."""
    if new is None or schema is None:
        return {}
    results = (GraphQLObjectType, GraphQLInterfaceType)
    members = (each for each in added if "." in each and "(" not in each)
    rules: dict[str, list[str]] = {
        each: [] for each in members if isinstance(schema.type_map[each.partition(".")[0]], results)
    }
    for rule in new.rules:
        for coordinate in set(rule.coordinates) & set(added):
            text = f"{rule.place.file}:{rule.place.line}: {rule.text}" if rule.place else rule.text
            rules.setdefault(coordinate, []).append(text)
    return dict(sorted(rules.items()))
