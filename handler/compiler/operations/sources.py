"""The sources of operations: files that an ``@sdl`` names, the folder of operations, and manifests in it.

A further source is a module with one function, and its line in ``SOURCES``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from handler.compiler.compile_context import CompileContext
from handler.compiler.operations.author_operations import OperationText
from handler.compiler.operations.manifests import texts_in_manifests
from handler.compiler.operations.operation_files import texts_in_folder
from handler.compiler.operations.sdl_executables import texts_named_by_sdl
from handler.compiler.schema.schema import AuthorSchema

OperationSource = Callable[[CompileContext, AuthorSchema], Iterator[OperationText]]

SOURCES: Sequence[OperationSource] = (texts_named_by_sdl, texts_in_folder, texts_in_manifests)
"""The order of precedence: a text that a source has is not taken from a later source too."""


def operation_texts(context: CompileContext, author: AuthorSchema) -> list[OperationText]:
    """Return the texts of all sources, each once."""
    found: dict[tuple[str, str], OperationText] = {}
    for source in SOURCES:
        for text in source(context, author):
            found.setdefault((text.file, text.id), text)
    return list(found.values())
