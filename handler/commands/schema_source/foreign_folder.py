"""The folder of Apollo MCP Server or of Cosmo's router: its configuration, schema and operations.

It is only read, and no link is followed out of it.
Source: Apollo MCP Server, "Config File Reference", "Define MCP Tools"; Cosmo router, "MCP Gateway".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatch
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Any

import yaml
from graphql import ExecutableDefinitionNode, GraphQLError, OperationDefinitionNode, Source, parse

from handler.commands.command_line import CommandRefused
from handler.commands.console import problem_line
from handler.commands.schema_source.source_options import SUFFIXES, SchemaSource
from handler.compiler.config.foreign import LEAST, ForeignSetting, foreign_settings, server_of
from handler.compiler.operations.sources import MANIFEST_SUFFIXES, OPERATIONS_FOLDER, operation_files
from handler.compiler.problems import Problems
from handler.compiler.source.files import CONFIG, SCHEMA_FILE, EndpointFiles
from handler.compiler.source.yaml_section import Section
from handler.compiler.source.yaml_tree import parse_yaml, value_of
from handler.strict_json import parse_json
from handler.text.sentences import some

WORD_ENDS = re.compile(r"(?<=[a-z])(?=[A-Z0-9])|(?<=\d)(?=[A-Za-z])|(?<=[A-Z])(?=\d|[A-Z][a-z])")
"""Places at which Cosmo divides a name."""


@dataclass(frozen=True, kw_only=True)
class ForeignFolder:
    """The configuration of another server, the files beside it, and what becomes of its settings."""

    files: EndpointFiles
    problems: Problems
    name: str
    server: str
    settings: Sequence[ForeignSetting]
    values: dict[str, Any]
    taken: dict[str, str] = field(default_factory=dict)  # setting -> its place here
    left_out: dict[str, str] = field(default_factory=dict)  # setting or file -> the reason
    decisions: dict[str, str] = field(default_factory=dict)  # setting, or a part of it -> what its author can do

    @property
    def is_cosmo(self) -> bool:
        return self.server == "Cosmo"

    @property
    def takes_mutations(self) -> bool:
        """True if the other server makes tools of mutations."""
        if self.is_cosmo:  # a variable in place of false may be true
            return self.at("mcp.exclude_mutations", object) is False or "exclude_mutations" not in self.at("mcp", dict)
        return self.at("overrides.mutation_mode") in ("explicit", "all")

    def at(self, name: str, kind: type = str) -> Any:
        """Return the value of a setting; an empty one of the kind if it is missing or of another kind."""
        value: Any = self.values
        for key in name.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        return value if isinstance(value, kind) else kind()

    def take(self, place: str, *names: str) -> None:
        """Note the place of settings, if the configuration has them."""
        self.taken.update({each.name: place for each in self.settings if each.name in names})

    def find(self, path: str) -> str:
        """Return the name of a file or folder, or an empty string. Other servers count paths from where they start."""
        parts = [part for part in PurePosixPath(path).parts if part not in ("/", "..")]
        names = ["/".join(parts[start:]) for start in range(len(parts))] or ([path] if path == "." else [])
        return next((name for name in names if self.files.exists(name)), "")

    def read(self, name: str) -> str:
        """Return the text of a file.

        Raises:
            CommandRefused: it cannot be read, or is a link out of the folder.
        """
        text = self.files.read(name)
        refuse_unread(self.problems, self.files.folder)
        return text or ""


def find_foreign(folder: Path, named: str | None) -> ForeignFolder:
    """Read the one configuration of another server in a folder. ``named`` is its file, if several may be it."""
    problems, foreign = Problems(), []
    files = EndpointFiles(folder, problems)
    beside = [f"{place}{name}" for place in ("", ".apollo/") for name in files.names_beside(f"{place}{CONFIG}")]
    names = [named] if named else [name for name in beside if name.endswith((".yaml", ".yml"))]
    for name in names:
        node = parse_yaml(files.read(name) or "", name, problems)
        top = Section(node, file=name, problems=problems, variables=None)
        server = server_of(top, least=1 if named else LEAST)
        if node is None or not server:
            continue
        try:
            values = value_of(node, text_of=lambda scalar: str(scalar.value))
        except yaml.MarkedYAMLError as exc:
            raise CommandRefused(f"{folder.as_posix()}/{name}: {exc.problem}. Nothing was written.") from exc
        settings = list(foreign_settings(top, list(top), server))
        own = Problems()  # without those of other files
        files_of_it = EndpointFiles(folder, own)
        foreign.append(
            ForeignFolder(files=files_of_it, problems=own, name=name, server=server, settings=settings, values=values)
        )
    if len(foreign) != 1:
        refuse_unread(problems, folder)
        found = some([each.name for each in foreign] or names) or "no YAML file"
        expected = "expected one file of Apollo MCP Server, or of Cosmo's router with a section mcp"
        raise CommandRefused(f"{folder.as_posix()}: {found}: {expected}; --config names it. Nothing was written.")
    return foreign[0]


def refuse_unread(problems: Problems, folder: Path) -> None:
    """Refuse a folder with a file that cannot be read.

    Raises:
        CommandRefused: there is one.
    """
    for problem in problems.error().problems[:1]:
        raise CommandRefused(f"{problem_line(problem, folder)}\nNothing was written.")


def foreign_schema(draft: Path, foreign: ForeignFolder) -> SchemaSource:
    """Return the file with the schema. One within the configuration of Cosmo's router is written to the draft."""
    named = foreign.at("schema.path") or foreign.at("execution_config.file.path") or foreign.at("router_config_path")
    name = foreign.find(named or SCHEMA_FILE)
    if not name:
        cause = f"{named} is not in it" if named else "no setting names a file with the schema"
        remedy = "--from names the URL of the API, or a file with its schema. Nothing was written."
        raise CommandRefused(f"{foreign.files.folder.as_posix()}: {cause}: {remedy}")
    file, text = foreign.files.folder / name, foreign.read(name)
    with suppress(ValueError, AttributeError, KeyError):  # SDL, or the JSON of an introspection
        engine = parse_json(text.encode())["engineConfig"]
        file = draft / SCHEMA_FILE
        file.write_text(engine.get("graphqlClientSchema") or engine["graphqlSchema"], encoding="utf-8", newline="")
    return SchemaSource(str(file), name, is_url=False, is_api=False, has_sdl=Path(file).suffix in SUFFIXES)


def adopted_operations(foreign: ForeignFolder) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of the files of operations."""
    if foreign.at("operations.source") == "manifest" and (name := foreign.find(foreign.at("operations.path"))):
        foreign.take(f"{OPERATIONS_FOLDER}/{MANIFEST_SUFFIXES[0]}, from {name}", "operations")
        yield f"{OPERATIONS_FOLDER}/{MANIFEST_SUFFIXES[0]}", foreign.read(name)
    used = foreign.at("mcp.storage.provider_id")
    folders = [each for each in foreign.at("storage_providers.file_system", list) if isinstance(each, dict)]
    paths = foreign.at("operations.paths", list) + [each.get("path") for each in folders if each.get("id") == used]
    names: dict[str, None] = {}
    for path in map(str, paths):
        parts = PurePosixPath(path).parts
        plain = list(takewhile(lambda part: "*" not in part, parts))  # a pattern such as operations/**/*.graphql
        top = foreign.find("/".join(plain) or ".")
        if not top:
            foreign.decisions[f"operations in {path}"] = (
                f"copy them into {OPERATIONS_FOLDER}/: FOLDER does not have them"
            )
            continue
        foreign.take(f"{OPERATIONS_FOLDER}/, from {top}", "operations", "mcp.storage", "storage_providers")
        below = [top]
        if (foreign.files.folder / top).is_dir():
            below = operation_files(foreign.files, top, foreign.problems)
        pattern = parts[len(plain) :]
        if not (foreign.is_cosmo or len(pattern) > 1):  # Apollo MCP Server reads no folders below
            below = [name for name in below if name == top or "/" not in name.removeprefix(f"{top}/")]
        below = [name for name in below if not pattern or fnmatch(PurePosixPath(name).name, pattern[-1])]
        names |= dict.fromkeys(below)
    refuse_unread(foreign.problems, foreign.files.folder)
    for name in names:
        if text := _as_tool(foreign.read(name), name, foreign):
            yield f"{OPERATIONS_FOLDER}/{name.removeprefix(f'{OPERATIONS_FOLDER}/')}", text


def _as_tool(text: str, name: str, foreign: ForeignFolder) -> str:
    """Return a document whose operation has the name and description of its tool in the other server.

    A document with a mistake, or an operation with ``@mcpTool``, stays as it is. A document without a tool there gives
    an empty string.
    """
    try:
        nodes = parse(Source(text)).definitions
    except (GraphQLError, RecursionError):
        return text if text.strip() else ""
    operations = [node for node in nodes if isinstance(node, OperationDefinitionNode)]
    kinds = {node.operation.value for node in operations} - {
        "query",
        *(["mutation"] if foreign.takes_mutations else ()),
    }
    if kinds:
        foreign.left_out[name] = f"left out, as {foreign.server} makes no tool of a {' or '.join(sorted(kinds))} here"
        return ""
    if len(operations) != 1 or any(each.name.value == "mcpTool" for each in operations[0].directives or ()):
        return text if any(isinstance(node, ExecutableDefinitionNode) for node in nodes) else ""
    (node,) = operations
    title = node.name.value if node.name else re.sub(r"\W|^(?=\d)", "_", Path(name).stem, flags=re.ASCII)
    arguments: dict[str, str] = {}
    if foreign.is_cosmo:
        foreign.take("@mcpTool(name:) of the operations", "mcp.omit_tool_name_prefix")
        prefix = "" if foreign.at("mcp.omit_tool_name_prefix", bool) else "execute_operation_"
        arguments["name"] = prefix + WORD_ENDS.sub("_", title).lower()
    if description := foreign.at("overrides.descriptions", dict).get(title):
        foreign.take("@mcpTool(description:) of the operations", "overrides.descriptions")
        arguments["description"] = str(description)
    if not (arguments and node.loc and node.selection_set.loc):
        return text
    start, end = node.loc.start, node.selection_set.loc.start
    head = text[start:end].rstrip() or "query"
    head = head if node.name else re.sub(rf"\b{node.operation.value}\b", rf"\g<0> {title}", head, count=1)
    values = ", ".join(f"{key}: {json.dumps(value)}" for key, value in arguments.items())
    return f"{text[:start]}{head} @mcpTool({values}) {text[end:]}"
