"""The source of operations that ``@sdl(executables:)`` names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from handler.compiler.compile_context import CompileContext
from handler.compiler.operations.author_operations import OperationText
from handler.compiler.operations.operation_files import text_of_file
from handler.compiler.schema.schema import AuthorSchema, ExecutableFile


def texts_named_by_sdl(context: CompileContext, author: AuthorSchema) -> Iterator[OperationText]:
    """Yield the texts of the named files, each once. A file is persisted if one ``@sdl`` persists it."""
    found: dict[str, ExecutableFile] = {}
    for one in author.executables:
        first = found.setdefault(one.name, one)
        found[one.name] = replace(first, persisted=first.persisted or one.persisted)
    for one in found.values():
        yield text_of_file(context.files, one.name, named_at=one.named_at, persisted=one.persisted)
