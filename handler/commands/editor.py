"""``stile editor``: files for editors: a JSON Schema of config.yaml, the directives, and settings."""

from __future__ import annotations

import argparse
import errno
import json
from pathlib import Path

import yaml

from handler.commands.command_line import REFUSED, CommandRefused
from handler.commands.console import say, show_verbatim
from handler.commands.folders.endpoints import add_folder_argument, find_endpoints
from handler.compiler.config.table import KEYS
from handler.compiler.operations.sources import OPERATIONS_FOLDER
from handler.compiler.problems import Problems
from handler.compiler.schema.editor_definitions import definitions_for_editors
from handler.compiler.schema.schema import read_schema
from handler.compiler.source.files import CONFIG, SDL_SUFFIXES, EndpointFiles, read_project
from handler.compiler.source.keys import schema_of_mapping
from handler.strict_json import JSONObject

FOLDER = ".editor"
CONFIG_SCHEMA = f"{FOLDER}/config.schema.json"
DIRECTIVES = f"{FOLDER}/directives.graphql"
GRAPHQL_CONFIG = "graphql.config.yml"

HEADING = "# The directives of Stile, for GraphQL editors alone. `stile editor` writes this file anew.\n\n"

SCHEMA_COMMENT = f"# yaml-language-server: $schema={CONFIG_SCHEMA}\n"
"""The line by which editors find the schema of a YAML file, relative to the file."""

GRAPHQL_CONFIGS = tuple(
    f"{name}{suffix}"
    for name in ("graphql.config", ".graphqlrc")
    for suffix in ("", ".yml", ".yaml", ".json", ".toml", ".js", ".cjs", ".mjs", ".ts")
)
"""Names under which GraphQL editors find their settings. Source: GraphQL Config, "Usage"."""

EXAMPLES = ("stile editor endpoints",)
EXIT_CODES = {REFUSED: "a file was not written"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_folder_argument(parser)


def run(options: argparse.Namespace) -> int:
    for folder in find_endpoints(options.folder):
        had_settings = _has_graphql_config(folder)
        try:
            names = write_editor_files(folder)
        except OSError as exc:
            raise CommandRefused(f"{exc.filename or folder.as_posix()}: {exc.strerror}") from exc
        for name in names:
            say((folder / name).as_posix())
        if had_settings and GRAPHQL_CONFIG not in names:
            say(f"{folder.as_posix()}: its settings of GraphQL editors stay as they are", "dim")
        files = EndpointFiles(folder, Problems())
        if files.exists(CONFIG) and "yaml-language-server:" not in files.glance(CONFIG):
            say(f"{folder.as_posix()}/config.yaml: write this as the first line:", "yellow")
            show_verbatim(SCHEMA_COMMENT.rstrip())  # whole, so that it can be copied
    return 0


def config_schema() -> JSONObject:
    """Return the JSON Schema (draft-07) of the configuration of an endpoint. The readers of the compiler decide."""
    meaning = {"title": "config.yaml", "description": "The configuration of an endpoint of Stile."}
    return {"$schema": "http://json-schema.org/draft-07/schema#", **meaning, **schema_of_mapping(KEYS)}


def write_editor_files(folder: Path) -> list[str]:
    """Write the files of Stile, and ``graphql.config.yml`` if there are no such settings. Return their names.

    The settings name the files with SDL and operations as the compiler reads them, without faulty ones.

    Raises:
        OSError: a file cannot be written.
    """
    problems = Problems()
    files = EndpointFiles(folder, problems)
    project = read_project(files, problems, name="some/name")
    author = read_schema(files, project, problems=problems)
    schemas = files.texts(*SDL_SUFFIXES)
    texts = {
        CONFIG_SCHEMA: json.dumps(config_schema(), ensure_ascii=False) + "\n",
        DIRECTIVES: HEADING + definitions_for_editors(schemas.values(), stepzen=project.stepzen),
    }
    if not _has_graphql_config(folder):
        below = project.path(OPERATIONS_FOLDER)
        documents = [each.name for each in author.executables if not each.name.startswith(f"{below}/")]
        documents.append(f"{below}/**/*.{{graphql,gql}}")
        settings = {"schema": [*schemas, DIRECTIVES], "documents": documents}
        texts[GRAPHQL_CONFIG] = str(yaml.safe_dump(settings, sort_keys=False))
    (folder / FOLDER).mkdir(exist_ok=True)
    for name, text in texts.items():
        file = folder / name
        # A link may lead out of the folder.
        if file.is_symlink() or (file.parent.name == FOLDER and file.parent.is_symlink()):
            raise FileExistsError(errno.EEXIST, "is a link, or in one", file.as_posix())
        file.write_text(text, encoding="utf-8", newline="\n")
    return list(texts)


def _has_graphql_config(folder: Path) -> bool:
    """Return whether an endpoint folder has settings of GraphQL editors."""
    return any((folder / name).exists() for name in GRAPHQL_CONFIGS)
