"""Warnings of files, descriptions and imports that have no effect, or not the expected one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from handler.compiler.checks.finding import CompiledEndpoint, Finding, check
from handler.compiler.json_schemas.descriptions import MAX_ENUM_CHARS, OF_GRAPHQL_TOOLS, comment_above
from handler.compiler.operations.read import TOOL_ARGUMENT
from handler.compiler.operations.sources import OPERATIONS_FOLDER
from handler.compiler.problems import Place
from handler.compiler.tools.declaration import CompiledTool
from handler.compiler.tools.graphql import REQUEST
from handler.text.sentences import did_you_mean, nearest, some

MAX_UNREAD = 10
"""Unread files that get a warning of their own."""

KNOWN = ("endpoint_folder", "endpoint_name", "schema_description", *OF_GRAPHQL_TOOLS)
"""The variables of templates."""

OLD_PLACES = {"handler": "stile", "handler.testing": "stile.testing"}
"""The API for authors' modules, before and now."""


@check("unread-file", remedy="Rename or move it, as the message says.")
def unread_file(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """A file looks as if it declared something, and is not read."""
    unread = endpoint.api.unread
    for one in unread[:MAX_UNREAD]:
        yield Finding(one.at, one.sentence, (one.at.file,))
    more = [one.at.file for one in unread[MAX_UNREAD:]]
    if more:
        at = Place(endpoint.context.project.path(OPERATIONS_FOLDER))
        yield Finding(at, f"more files look like operations and are not read: {some(more)}", tuple(more))


@check("unread-description", remedy="Remove it, or make the operation a tool.")
def unread_description(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """@mcpToolArg describes a variable that no model fills.

    The operation is not a tool, or ``@mcpBind`` fills the variable.
    """
    prescribed = {directive.prescribed for directive in endpoint.api.directives}
    for operation in endpoint.api.operations:
        is_tool = operation.tool is not None or operation.name in prescribed
        not_a_tool = f'"{operation.name}" is not a tool: expected @mcpTool on the {operation.kind}'
        for variable in operation.bound if is_tool else operation.node.variable_definitions or ():
            why = f"@mcpBind fills ${variable.variable.name.value}" if is_tool else not_a_tool
            for directive in variable.directives or ():
                if directive.name.value == TOOL_ARGUMENT:
                    yield Finding(directive, f"no model reads this description, as {why}", (operation.name,))


@check("unknown-parameter", remedy="Correct the name.")
def unknown_parameter(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """@tool describes a parameter that its tool does not have."""
    for directive in endpoint.api.directives:
        if directive.prescribed is None:
            parameters = list(REQUEST["properties"])
        else:
            operations = [each for each in endpoint.api.operations if each.name == directive.prescribed]
            parameters = [*(name for operation in operations for name in operation.variables), "variables"]
        for name in directive.descriptions:
            if name not in parameters:
                hint = did_you_mean(name, parameters)
                sentence = f'@tool "{directive.name}" has no parameter "{name}" to describe{hint}'
                yield Finding(directive.node, sentence, (directive.name,))


@check("template-variable", remedy="Correct or remove the variable.")
def template_variable(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """A description has a template variable that is misspelt, or for GraphQL tools only."""
    for each in endpoint.api.tools:
        if each.declaration is None:
            continue
        operation = each.operation
        texts = [each.declaration.description, *each.declaration.descriptions.values()]
        if operation:
            texts += [*operation.descriptions.values(), operation.description, comment_above(operation.node)]
        for name in dict.fromkeys(name for text in texts for name in re.findall(r"\{([\w-]+)\}", text or "")):
            near = nearest(name.replace("-", "_"), KNOWN)
            if name not in KNOWN and near:
                fault = f"stays as it is; did you mean {{{near}}}?"
            elif operation and name in OF_GRAPHQL_TOOLS:
                fault = "is for tools whose requests a model writes, and this tool runs an operation; "
                fault += OF_GRAPHQL_TOOLS[name]
            else:
                continue
            yield Finding(each.at, f'"{each.tool.name}": {{{name}}} {fault}', (each.tool.name,))


@check("unexplained-enum", remedy="Shorten them, or name the values in the tool's description.")
def unexplained_enum(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """The descriptions of an enum's values are too long for a tool's schema."""
    tools_of: dict[str, list[CompiledTool]] = {}
    sizes: dict[str, int] = {}
    for each in endpoint.api.tools:
        for name, size in each.long_enums.items():
            tools_of.setdefault(name, []).append(each)
            sizes[name] = max(size, sizes.get(name, 0))
    for name, tools in tools_of.items():
        sentence = (
            f'the descriptions of the values of "{name}" are left out of {some([each.tool.name for each in tools])}: '
            f"they have {sizes[name]} characters, more than {MAX_ENUM_CHARS}"
        )
        first = tools[0]
        yield Finding(first.operation.node if first.operation else first.at, sentence, (name,))


@check("old-import", remedy="Import from `stile`, as the message says.")
def old_import(endpoint: CompiledEndpoint) -> Iterator[Finding]:
    """A module imports tools in Python from the place where their API was before.

    All files of the packages of toolkits are read.
    """
    for package in dict.fromkeys(kit.module.partition(".")[0] for kit in endpoint.context.config.code.kits):
        from handler.compiler.tools.fastmcp_imports import module_nodes  # only endpoints with code need it

        for file, node in module_nodes([package]):
            match node:
                case ast.ImportFrom(module=str(old), names=names, level=0) if old in OLD_PLACES:
                    new: ast.stmt = ast.ImportFrom(module=OLD_PLACES[old], names=names, level=0)
                case ast.Import(names=names) if old := next(
                    (each.name for each in names if each.name in OLD_PLACES), ""
                ):
                    places = [(OLD_PLACES.get(each.name, each.name), each.asname) for each in names]
                    new = ast.Import(names=[ast.alias(name, asname) for name, asname in places])
                case _:
                    continue
            sentence = f"{old} offers the API of Python tools in this version only: write `{ast.unparse(new)}`"
            yield Finding(Place(str(file), node.lineno, node.col_offset + 1), sentence, (package,))
