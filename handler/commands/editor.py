"""``stile editor``: files for editors: a JSON Schema of config.yaml, and the directives."""

from __future__ import annotations

import argparse

from handler.commands.editor_files.writing import (
    GRAPHQL_CONFIG,
    SCHEMA_COMMENT,
    has_graphql_config,
    names_schema,
    write_editor_files,
)
from handler.commands.folders.endpoint_folders import add_folder_argument, find_endpoints
from handler.commands.terminal.console import complain, say, show_verbatim
from handler.commands.terminal.exit_codes import REFUSED

EXAMPLES = ("stile editor endpoints",)
EXIT_CODES = {REFUSED: "a file was not written"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_folder_argument(parser)


def run(options: argparse.Namespace) -> int:
    for folder in find_endpoints(options.folder):
        kept = has_graphql_config(folder)
        try:
            written = write_editor_files(folder)
        except OSError as exc:
            complain(f"{exc.filename or folder.as_posix()}: {exc.strerror}")
            return 1
        for name in written:
            say((folder / name).as_posix())
        if kept and GRAPHQL_CONFIG not in written:
            say(f"{folder.as_posix()}: its settings of GraphQL editors stay as they are", "dim")
        if not names_schema(folder):
            say(f"{folder.as_posix()}/config.yaml: write this as the first line:", "yellow")
            show_verbatim(SCHEMA_COMMENT.rstrip())  # whole, so that it can be copied
    return 0
