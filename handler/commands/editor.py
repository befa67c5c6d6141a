"""``stile editor``: files for editors: a JSON Schema of config.yaml, the directives, and settings."""

from __future__ import annotations

import argparse
import errno
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from handler.commands.command_line import REFUSED
from handler.commands.console import complain, say, show_verbatim
from handler.commands.folders.endpoint_folders import add_folder_argument, find_endpoints
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


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphQLFiles:
    """The files of an endpoint with SDL and operations, as the compiler reads them. Faulty files are left out."""

    schemas: Mapping[str, str]  # path -> text
    documents: tuple[str, ...]  # paths and patterns
    stepzen: bool


def graphql_files(folder: Path) -> GraphQLFiles:
    """Find the files that ``index.graphql`` leads to, and the place of operations."""
    problems = Problems()
    files = EndpointFiles(folder, problems)
    project = read_project(files, problems, name="some/name")
    author = read_schema(files, project, problems=problems)
    below = project.path(OPERATIONS_FOLDER)
    named = [each.name for each in author.executables if not each.name.startswith(f"{below}/")]
    return GraphQLFiles(
        schemas=files.texts(*SDL_SUFFIXES),
        documents=(*named, f"{below}/**/*.{{graphql,gql}}"),
        stepzen=project.stepzen,
    )


def config_schema() -> JSONObject:
    """Return the JSON Schema (draft-07) of the configuration of an endpoint. The readers of the compiler decide."""
    meaning = {"title": "config.yaml", "description": "The configuration of an endpoint of Stile."}
    return {"$schema": "http://json-schema.org/draft-07/schema#", **meaning, **schema_of_mapping(KEYS)}


def has_graphql_config(folder: Path) -> bool:
    """Return whether an endpoint folder has settings of GraphQL editors."""
    return any((folder / name).exists() for name in GRAPHQL_CONFIGS)


def write_editor_files(folder: Path) -> list[str]:
    """Write the files of Stile, and ``graphql.config.yml`` if there are no such settings. Return their names.

    Raises:
        OSError: a file cannot be written.
    """
    files = graphql_files(folder)
    definitions = definitions_for_editors(files.schemas.values(), stepzen=files.stepzen)
    texts = {
        CONFIG_SCHEMA: json.dumps(config_schema(), ensure_ascii=False) + "\n",
        DIRECTIVES: HEADING + definitions,
    }
    if not has_graphql_config(folder):
        settings = {"schema": [*files.schemas, DIRECTIVES], "documents": list(files.documents)}
        texts[GRAPHQL_CONFIG] = str(yaml.safe_dump(settings, sort_keys=False))
    (folder / FOLDER).mkdir(exist_ok=True)
    for name, text in texts.items():
        file = folder / name
        # A link may lead out of the folder.
        if file.is_symlink() or (file.parent.name == FOLDER and file.parent.is_symlink()):
            raise FileExistsError(errno.EEXIST, "is a link, or in one", file.as_posix())
        file.write_text(text, encoding="utf-8", newline="\n")
    return list(texts)


def names_schema(folder: Path) -> bool:
    """Return whether config.yaml names a schema for editors, or is not there."""
    files = EndpointFiles(folder, Problems())
    return not files.exists(CONFIG) or "yaml-language-server:" in files.glance(CONFIG)
