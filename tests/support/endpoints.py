"""Endpoint folders written by a test, compiled by the product."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from pathlib import Path

import pytest

from handler.bundle.tools import GraphQLTool, PrescribedTool
from handler.compiler.compile import Compiled, compile_endpoint
from handler.errors.authoring import CompileError, Problem
from handler.server.endpoints.endpoint import Endpoint
from tests.support.diagnostics import Reported
from tests.support.secrecy import SESSION, Output

PUBLIC = """\
access:
  anonymous: allow
  policies:
    - {type: Query, policyDefault: {condition: true}}
    - {type: Mutation, policyDefault: {condition: true}}
"""
"""Access for everybody, for a schema that has both root types."""

READABLE = "access: {policies: [{type: Query, policyDefault: {condition: true}}]}\n"
"""Everybody may ask queries."""


def write_endpoint(folder: Path, files: Mapping[str, str], *, name: str = "api/things") -> Path:
    """Write the files of one endpoint below ``folder``; give its own folder."""
    endpoint = folder / name
    for path, text in files.items():
        file = endpoint / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return endpoint


def compiled(folder: Path, files: Mapping[str, str], **environ: str) -> Compiled:
    """What these files become, with these variables in the environment."""
    try:
        made = compile_endpoint(write_endpoint(folder, files), environ=environ)
    except CompileError as exc:
        SESSION.note(Output.PROBLEM, str(exc))
        raise
    SESSION.note(Output.PROBLEM, "\n".join(map(str, made.warnings)))
    return made


def problems_of(folder: Path, files: Mapping[str, str], **environ: str) -> tuple[Problem, ...]:
    """The problems that these files have; there must be some."""
    with pytest.raises(CompileError) as caught:
        compiled(folder, files, **environ)
    return caught.value.problems


def reported(folder: Path, files: Mapping[str, str], **environ: str) -> list[Reported]:
    """The problems that these files have, by place and code."""
    return list(map(Reported, problems_of(folder, files, **environ)))


def doubted(folder: Path, files: Mapping[str, str], **environ: str) -> list[Reported]:
    """The warnings that these files get, by place and code."""
    return list(map(Reported, compiled(folder, files, **environ).warnings))


def prescribed_tool(compiled: Compiled, name: str) -> PrescribedTool:
    (tool,) = [tool for tool in compiled.bundle.tools if tool.name == name]
    assert isinstance(tool, PrescribedTool)
    return tool


def graphql_tool(compiled: Compiled, name: str) -> GraphQLTool:
    (tool,) = [tool for tool in compiled.bundle.tools if tool.name == name]
    assert isinstance(tool, GraphQLTool)
    return tool


def cached_counts(endpoint: Endpoint) -> dict[str, int]:
    """Return the number of objects in each cache of an endpoint."""
    views = endpoint.schema
    caches: dict[str, Sized] = {
        "evaluations": endpoint._evaluations,
        "validators": endpoint._validators,
        "entries": endpoint._entries,
        "views": views._views,
        "schemas": views._schemas,
        "printed": views._printed,
    }
    return {name: len(cache) for name, cache in caches.items()}
