"""The effects of an API's new schema on an endpoint folder, from compiling the folder with both."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphql import GraphQLError, GraphQLInterfaceType, GraphQLObjectType, GraphQLSchema, Source, print_ast

from handler.bundle.tools import GraphQLTool
from handler.commands.folders.atomic_writes import scratch_folder
from handler.commands.folders.endpoints import Outcome, compile_one
from handler.commands.local.local_endpoint import local_endpoint
from handler.commands.schema_source.origin import SCHEMA_FILE, SchemaSource
from handler.commands.schema_source.schema_file import schema_of_folder, write_schema
from handler.compiler.compile import Compiled
from handler.compiler.operations.sources import OPERATIONS_FOLDER
from handler.compiler.problems import Problems
from handler.compiler.schema.coordinates import members_of
from handler.compiler.schema.schema import AuthorSchema
from handler.compiler.schema.sdl_parser import parse_sdl
from handler.compiler.source.files import ENV_FILE, NEVER_ENTERED
from handler.errors.authoring import Problem
from handler.graph.sdl import print_view
from handler.policy.evaluation import Evaluation
from handler.strict_json import JSONObject

OF_THE_TIME = re.compile(r":\d+:\d+|;? [Dd]id you mean .*| '\w+' has .*")
"""Parts of a sentence that change while the problem stays: places, and suggestions from the schema."""

PARTS = ("title", "description", "inputSchema", "outputSchema", "annotations")
"""The parts of a tool's entry that a report names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The effects of a new schema. ``problems`` and ``warnings`` are those that the old schema does not give."""

    added: tuple[str, ...]  # types and members of the schema, and arguments of its fields, as coordinates
    removed: tuple[str, ...]
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]
    new_tools: tuple[str, ...]
    lost_tools: tuple[str, ...]
    changed_tools: Mapping[str, tuple[str, ...]]  # tool -> the parts of its entry that differ
    ruled: Mapping[str, tuple[str, ...]]  # new coordinate -> the rules of policies for it; a field may have none

    @property
    def breaks(self) -> bool:
        """True if tools or policies of the folder no longer work."""
        return bool(self.problems or self.lost_tools)

    def plain(self) -> JSONObject:
        """Return the tools and coordinates as JSON."""
        return {
            "added": list(self.added),
            "removed": list(self.removed),
            "tools": {
                "added": list(self.new_tools),
                "removed": list(self.lost_tools),
                "changed": {name: list(parts) for name, parts in self.changed_tools.items()},
            },
            "policies": {coordinate: list(rules) for coordinate, rules in self.ruled.items()},
        }


def are_equal(old: str, new: str) -> bool:
    """Return whether two SDL texts have the same definitions, in any order."""
    if old == new:
        return True
    try:
        return _definitions(old) == _definitions(new)
    except GraphQLError:
        return False


def compare(folder: Path, text: str, source: SchemaSource, *, stage: str | None, endpoint: str | None) -> Changes:
    """Compile a folder as it is, and a copy of it with ``text`` as its schema, and return the differences.

    Raises:
        SourceRefused: the new schema has problems by itself.
        OSError: the folder cannot be copied.
    """
    old, old_author = _compiled(folder, stage, endpoint)
    with scratch_folder() as scratch:
        copy = scratch / folder.resolve().parent.name / folder.resolve().name
        write_schema(scratch, text, source)
        shutil.copytree(folder, copy, symlinks=True, ignore=_left_out)
        (copy / SCHEMA_FILE).unlink()
        (copy / SCHEMA_FILE).write_text(text, encoding="utf-8", newline="\n")
        new, new_author = _compiled(copy, stage, endpoint)
        rest = new.compiled
        if rest is None and _leave_out_broken(copy, new.problems):
            rest = compile_one(copy, stage=stage, endpoint=endpoint).compiled
    before, after = (set(_coordinates(author)) for author in (old_author, new_author))
    unknown = old_author.schema is None or new_author.schema is None
    added = () if unknown else _alone(after - before, before)
    return Changes(
        added=added,
        removed=() if unknown else _alone(before - after, after),
        problems=_new(old.problems, new.problems),
        warnings=_new(_warnings(old), _warnings(new)),
        **_tool_changes(old.compiled, new.compiled),
        ruled=_ruled(rest, new_author.schema, added),
    )


def _definitions(sdl: str) -> list[str]:
    return sorted(print_ast(node) for node in parse_sdl(Source(sdl)).definitions)


def _compiled(folder: Path, stage: str | None, endpoint: str | None) -> tuple[Outcome, AuthorSchema]:
    return compile_one(folder, stage=stage, endpoint=endpoint), schema_of_folder(folder, Problems())


def _leave_out_broken(copy: Path, problems: Sequence[Problem]) -> bool:
    """Delete the files of operations that have problems, and return whether these are all problems.

    Without them the copy tells which policies are for new fields. Nothing behind a link, which may lead out of the
    copy, is deleted.
    """
    files = {copy / problem.file for problem in problems}
    whole = copy.resolve()
    for file in files:
        if not file.is_relative_to(copy / OPERATIONS_FOLDER) or file.resolve() != whole / file.relative_to(copy):
            return False
    for file in files:
        file.unlink()
    return True


def _left_out(_folder: str, names: Sequence[str]) -> set[str]:
    """Return what the compiler does not read: hidden files and folders of other tools."""
    return {name for name in names if (name.startswith(".") and name != ENV_FILE) or name in NEVER_ENTERED}


def _coordinates(author: AuthorSchema) -> Iterator[str]:
    """Yield what clients may have of a schema: a field or argument that loses ``@inaccessible`` is new to them."""
    for name, type_ in author.schema.type_map.items() if author.schema else ():
        if not name.startswith("__") and name not in author.hidden:
            yield name
            fields = getattr(type_, "fields", {}).items()
            arguments = (f"{field}({each}:)" for field, made in fields for each in getattr(made, "args", ()))
            members = (f"{name}.{member}" for member in (*members_of(type_), *arguments))
            yield from (member for member in members if member not in author.hidden)


def _alone(changed: Set[str], there: Set[str]) -> tuple[str, ...]:
    """Return the coordinates that changed, without the arguments of a field that changed with them."""
    return tuple(sorted(each for each in changed if "(" not in each or each.partition("(")[0] in there))


def _new(before: Sequence[Problem], after: Sequence[Problem]) -> tuple[Problem, ...]:
    """Return the diagnostics that only the second compilation gives, wherever they are in their files."""
    known = {_key(problem) for problem in before}
    return tuple(problem for problem in after if _key(problem) not in known)


def _key(problem: Problem) -> tuple[str, str, str]:
    return problem.file, problem.code, OF_THE_TIME.sub("", problem.sentence)


def _warnings(outcome: Outcome) -> tuple[Problem, ...]:
    return (*outcome.compiled.warnings, *outcome.compiled.client_warnings) if outcome.compiled else ()


def _tool_changes(old: Compiled | None, new: Compiled | None) -> dict[str, Any]:
    """Return the tools that came, went and changed; no changes if one of the schemas has problems."""
    if old is None or new is None:
        return {"new_tools": (), "lost_tools": (), "changed_tools": {}}
    before, after = _surfaces(old), _surfaces(new)
    changed = {
        name: tuple(part for part in before[name] if before[name][part] != after[name][part])
        for name in sorted(before.keys() & after.keys())
    }
    return {
        "new_tools": tuple(sorted(after.keys() - before.keys())),
        "lost_tools": tuple(sorted(before.keys() - after.keys())),
        "changed_tools": {name: parts for name, parts in changed.items() if parts},
    }


def _surfaces(compiled: Compiled) -> dict[str, JSONObject]:
    """Return each usable tool with its entry for callers who skip policies, and the schema of a GraphQL tool."""
    endpoint = local_endpoint(compiled)
    everything = Evaluation(compiled.bundle.conditions, claims=None, unrestricted=True)
    found = {}
    for tool in (made.tool for made in compiled.made):
        entry = endpoint.entry(tool, everything)
        if entry is not None:
            sdl = ""
            if isinstance(tool, GraphQLTool):
                sdl = print_view(endpoint.schema.view(tool, everything.outcome(tool.conditions)))
            found[tool.name] = {**{part: entry.get(part) for part in PARTS}, "schema": sdl}
    return found


def _ruled(new: Compiled | None, schema: GraphQLSchema | None, added: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the new fields, and the other new coordinates that rules of policies are for, each with these rules."""
    if new is None or schema is None:
        return {}
    results = (GraphQLObjectType, GraphQLInterfaceType)
    members = (each for each in added if "." in each and "(" not in each)
    found: dict[str, list[str]] = {
        each: [] for each in members if isinstance(schema.type_map[each.partition(".")[0]], results)
    }
    for rule in new.rules:
        for coordinate in set(rule.coordinates) & set(added):
            found.setdefault(coordinate, []).append(
                f"{rule.place.file}:{rule.place.line}: {rule.text}" if rule.place else rule.text
            )
    return {coordinate: tuple(rules) for coordinate, rules in sorted(found.items())}
