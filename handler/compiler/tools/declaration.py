"""What an author says of one tool, whatever its kind, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from handler.bundle.model import Tool
from handler.compiler.operations.operations import AuthorOperation
from handler.compiler.problems import At
from handler.compiler.schema.tool_options import AuthorOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """The name is final; descriptions may be templates."""

    at: At
    name: str
    description: str | None
    descriptions: Mapping[str, str]  # parameter -> its description
    options: AuthorOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledTool:
    """A finished tool, where it was declared, and what its author is told about it.

    ``runs`` is its operation, or the root fields that requests may start with; ``types`` counts the types that it
    reaches, for callers who may use all of it.
    """

    at: At
    tool: Tool
    uses: tuple[str, ...]  # the coordinates of its operation, and of the constants that fill its variables
    runs: str
    types: int
    reads: bool
    writes: bool
    described: bool = True  # False: no text of its author's or its API's says what it is for
    operation: AuthorOperation | None = None  # which it runs
    declaration: Declaration | None = None  # of a tool that runs an operation
