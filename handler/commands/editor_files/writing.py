"""Files for editors in an endpoint folder: a JSON Schema of config.yaml, SDL of directives, and settings."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import yaml

from handler.commands.editor_files.config_schema import config_schema
from handler.commands.schema_source.origin import SCHEMA_FILE
from handler.compiler.schema.editor_definitions import definitions_for_editors
from handler.compiler.source.files import CONFIG, ENTRY
from handler.compiler.source.project import STEPZEN_CONFIG

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


def editor_texts(folder: Path) -> dict[str, str]:
    """Return path -> text of the files that belong to Stile and are written anew each time."""
    schemas = [_text(file) for file in sorted(folder.glob("*.graphql"))]
    return {
        CONFIG_SCHEMA: json.dumps(config_schema(), ensure_ascii=False) + "\n",
        DIRECTIVES: HEADING + definitions_for_editors(schemas, stepzen=(folder / STEPZEN_CONFIG).exists()),
    }


def graphql_config(folder: Path) -> str:
    """Return the settings of GraphQL editors for an endpoint folder."""
    schemas = [name for name in (SCHEMA_FILE, ENTRY) if (folder / name).is_file()] or [ENTRY]
    settings = {"schema": [*schemas, DIRECTIVES], "documents": "operations/**/*.{graphql,gql}"}
    return str(yaml.safe_dump(settings, sort_keys=False))


def has_graphql_config(folder: Path) -> bool:
    """Tell if an endpoint folder has settings of GraphQL editors."""
    return any((folder / name).exists() for name in GRAPHQL_CONFIGS)


def write_editor_files(folder: Path) -> list[str]:
    """Write the files of Stile, and ``graphql.config.yml`` if there are no such settings. Return what was written.

    Raises:
        OSError: a file cannot be written.
    """
    texts = editor_texts(folder)
    if not has_graphql_config(folder):
        texts[GRAPHQL_CONFIG] = graphql_config(folder)
    (folder / FOLDER).mkdir(exist_ok=True)
    for name, text in texts.items():
        _write(folder / name, text)
    return list(texts)


def _write(file: Path, text: str) -> None:
    """Write a file that is neither a link nor behind one: a link may lead out of the folder."""
    if file.is_symlink() or (file.parent.name == FOLDER and file.parent.is_symlink()):
        raise FileExistsError(errno.EEXIST, "is a link, or in one", file.as_posix())
    file.write_text(text, encoding="utf-8", newline="\n")


def names_schema(folder: Path) -> bool:
    """Tell if config.yaml names a schema for editors, or is not there."""
    return not (folder / CONFIG).exists() or "yaml-language-server:" in _text(folder / CONFIG)


def _text(file: Path) -> str:
    """Return the text of a file; an empty string if it cannot be read."""
    try:
        return file.read_text(encoding="utf-8-sig", errors="replace")
    except OSError:
        return ""
