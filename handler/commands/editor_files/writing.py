"""Files for editors in an endpoint folder: a JSON Schema of config.yaml, SDL of directives, and settings."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from graphql import (
    DefinitionNode,
    DirectiveDefinitionNode,
    DirectiveNode,
    DocumentNode,
    GraphQLError,
    Source,
    TypeDefinitionNode,
    Visitor,
    parse,
    print_ast,
    print_schema,
    visit,
)

from handler.compiler.config.table import KEYS
from handler.compiler.operations.operation_files import OPERATIONS_FOLDER
from handler.compiler.problems import Problems
from handler.compiler.schema.directives import DEFINITIONS
from handler.compiler.schema.schema import read_schema
from handler.compiler.schema.sdl_parser import parse_sdl
from handler.compiler.schema.vendor_directives import is_foreign, missing_definitions
from handler.compiler.source.files import CONFIG, SDL_SUFFIXES, EndpointFiles
from handler.compiler.source.keys import schema_of_mapping
from handler.compiler.source.project import read_project
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


def editor_texts(found: GraphQLFiles) -> dict[str, str]:
    """Return path -> text of the files that belong to Stile and are written anew each time."""
    return {
        CONFIG_SCHEMA: json.dumps(config_schema(), ensure_ascii=False) + "\n",
        DIRECTIVES: HEADING + definitions_for_editors(found.schemas.values(), stepzen=found.stepzen),
    }


def config_schema() -> JSONObject:
    """Return the JSON Schema (draft-07) of the configuration of an endpoint. The readers of the compiler decide."""
    meaning = {"title": "config.yaml", "description": "The configuration of an endpoint of Stile."}
    return {"$schema": "http://json-schema.org/draft-07/schema#", **meaning, **schema_of_mapping(KEYS)}


def graphql_config(found: GraphQLFiles) -> str:
    """Return the settings of GraphQL editors for an endpoint folder."""
    settings = {"schema": [*found.schemas, DIRECTIVES], "documents": list(found.documents)}
    return str(yaml.safe_dump(settings, sort_keys=False))


def has_graphql_config(folder: Path) -> bool:
    """Tell if an endpoint folder has settings of GraphQL editors."""
    return any((folder / name).exists() for name in GRAPHQL_CONFIGS)


def write_editor_files(folder: Path) -> list[str]:
    """Write the files of Stile, and ``graphql.config.yml`` if there are no such settings. Return what was written.

    Raises:
        OSError: a file cannot be written.
    """
    found = graphql_files(folder)
    texts = editor_texts(found)
    if not has_graphql_config(folder):
        texts[GRAPHQL_CONFIG] = graphql_config(found)
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
    files = EndpointFiles(folder, Problems())
    return not files.exists(CONFIG) or "yaml-language-server:" in files.glance(CONFIG)


UNUSED = "Query"
"""A type that ``DEFINITIONS`` has only because each schema needs a query type."""

ANYTHING = "Stile_JSON"
"""A scalar of ``DEFINITIONS`` that takes every constant."""

LOCATIONS = {
    "SchemaDefinitionNode": "SCHEMA",
    "SchemaExtensionNode": "SCHEMA",
    "ScalarTypeDefinitionNode": "SCALAR",
    "ObjectTypeDefinitionNode": "OBJECT",
    "ObjectTypeExtensionNode": "OBJECT",
    "FieldDefinitionNode": "FIELD_DEFINITION",
    "InputValueDefinitionNode": "ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION",
    "InterfaceTypeDefinitionNode": "INTERFACE",
    "InterfaceTypeExtensionNode": "INTERFACE",
    "UnionTypeDefinitionNode": "UNION",
    "UnionTypeExtensionNode": "UNION",
    "EnumTypeDefinitionNode": "ENUM",
    "EnumTypeExtensionNode": "ENUM",
    "EnumValueDefinitionNode": "ENUM_VALUE",
    "InputObjectTypeDefinitionNode": "INPUT_OBJECT",
    "InputObjectTypeExtensionNode": "INPUT_OBJECT",
}
"""Node with directives -> the location of its directives."""


def definitions_for_editors(schemas: Iterable[str], *, stepzen: bool = False) -> str:
    """Return SDL that completes the endpoint's own ``schemas`` for an editor, without definitions that these have.

    A schema with a syntax error counts as empty. ``stepzen``: the project is StepZen's.
    """
    nodes = [node for text in schemas for node in _definitions(text)]
    defined = {UNUSED, *map(_name, nodes)}
    own = parse(print_schema(DEFINITIONS)).definitions
    added = [*own, *missing_definitions(nodes, stepzen=stepzen), *_foreign(nodes)]
    return "\n\n".join(print_ast(node) for node in added if _name(node) not in defined) + "\n"


def _definitions(text: str) -> Sequence[DefinitionNode]:
    try:
        return parse_sdl(Source(text)).definitions
    except GraphQLError:
        return ()


def _name(node: DefinitionNode) -> str:
    """Return the name of a type, or that of a directive after ``@``; an empty string for other definitions."""
    match node:
        case DirectiveDefinitionNode():
            return f"@{node.name.value}"
        case TypeDefinitionNode():
            return node.name.value
        case _:
            return ""


def _foreign(nodes: Sequence[DefinitionNode]) -> Iterator[DefinitionNode]:
    """Yield a definition for each directive of another system, with the arguments and locations that ``nodes`` use."""
    uses = _Uses()
    visit(DocumentNode(definitions=tuple(nodes)), uses)
    for name, places in uses.places.items():
        arguments = ", ".join(f"{each}: {ANYTHING}" for each in uses.arguments[name])
        listed = f"({arguments})" if arguments else ""
        yield from parse(f"directive @{name}{listed} repeatable on {' | '.join(places)}").definitions


class _Uses(Visitor):
    """Collector of other systems' directives: name -> locations, and name -> arguments."""

    def __init__(self) -> None:
        super().__init__()
        self.places: dict[str, dict[str, None]] = {}
        self.arguments: dict[str, dict[str, None]] = {}

    def enter_directive(self, node: DirectiveNode, _key: Any, _parent: Any, _path: Any, ancestors: Any) -> None:
        """Note one use."""
        place = LOCATIONS.get(type(ancestors[-2 if isinstance(ancestors[-1], tuple) else -1]).__name__)
        if place and is_foreign(node):
            self.places.setdefault(node.name.value, {})[place] = None
            named = self.arguments.setdefault(node.name.value, {})
            named |= dict.fromkeys(each.name.value for each in node.arguments or ())
