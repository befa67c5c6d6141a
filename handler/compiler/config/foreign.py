"""Settings of Apollo MCP Server and of Cosmo's router, whose files are named ``config.yaml`` too.

They have no effect. Each gets a warning with the setting of Stile that stands for it.
Source: Apollo MCP Server, "Config File Reference"; Cosmo router, "MCP".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from handler.compiler.problems import Place, Problems
from handler.compiler.source.yaml_section import Section
from handler.text.sentences import some

OPERATIONS = "put the files into operations/, and write tools: operations"
MUTATIONS = "write tools: {operations: queries_and_mutations} if models may send mutations"
ANY_DOCUMENT = "write @tool(graphql:) with patterns on the schema if models may write requests"
NO_SERVER = "remove it, as the function or stile serve answers by HTTP"
NAMES = "remove it, as a tool has the name of its operation, or that of @mcpTool(name:)"

APOLLO: Mapping[str, str] = {
    "cors": "remove it; STILE_ALLOWED_ORIGINS has the origins of browsers",
    "custom_scalars": "write scalars",
    "endpoint": "write upstream.url",
    "forward_headers": "write upstream.forward_headers, or upstream.auth for credentials",
    "graphos": "export schema and operations to files, as nothing is read from GraphOS",
    "headers": "write upstream.headers, or upstream.auth for credentials",
    "health_check": "remove it, as /health is always there",
    "introspection": ANY_DOCUMENT,
    "logging": "remove it, as the log has one form",
    "operations": OPERATIONS,
    "overrides.disable_schema_description": "write a description by @mcpTool, as it comes before the schema's",
    "overrides.disable_type_description": "write a description by @mcpTool, as it comes before the schema's",
    "overrides.enable_explorer": "remove it, as there is no such tool",
    "overrides.mutation_mode": MUTATIONS,
    "schema": "name the file in @sdl(files:) of index.graphql; stile init gets it from a URL",
    "server_info": "remove it, as Stile tells its own name and version",
    "telemetry": "remove it, as the log and traces have their own form",
    "transport.address": NO_SERVER,
    "transport.auth": "write identity",
    "transport.port": NO_SERVER,
    "transport.type": NO_SERVER,
}
"""Key -> what to do instead. A key with a dot is in the mapping that it begins with."""

COSMO: Mapping[str, str] = {
    "mcp.enable_arbitrary_operations": ANY_DOCUMENT,
    "mcp.enabled": "remove it, as every endpoint speaks MCP",
    "mcp.exclude_mutations": MUTATIONS,
    "mcp.expose_schema": ANY_DOCUMENT,
    "mcp.graph_name": "remove it, as an endpoint has the name of its folder",
    "mcp.oauth": "write identity",
    "mcp.omit_tool_name_prefix": NAMES,
    "mcp.router_url": "write upstream.url",
    "mcp.server": NO_SERVER,
    "mcp.session": "remove it, as there are no sessions",
    "mcp.storage": OPERATIONS,
    "storage_providers": OPERATIONS,
}

SHARED = "instructions"
"""A key that Apollo MCP Server and Stile have with one meaning: it tells nothing about its file, and has an effect."""

LEAST = 2
"""Top keys that make a file Apollo's: a single one may be a slip in a file for Stile."""


def warn_of_foreign_keys(top: Section, problems: Problems, *, own: Collection[str]) -> None:
    """Accept the settings of another server, with a warning for each. ``own`` are the keys of Stile.

    In a file with settings of Stile, keys that no server documents remain errors.
    """
    apollo = {name.partition(".")[0] for name in APOLLO}.intersection(top)
    if not top.is_mapping("mcp") and len(apollo) < LEAST:
        return
    server, table = ("Cosmo", COSMO) if top.is_mapping("mcp") else ("Apollo MCP Server", APOLLO)
    top_keys = {name.partition(".")[0] for name in table}
    mixed = any(key in top for key in own if key != SHARED)
    foreign = [key for key in top if key in top_keys or not (mixed or key in own)]
    top.accept(*foreign)
    others: dict[str, Place] = {}  # keys that the table does not have

    def warn_below(section: Section, keys: Collection[str], path: str) -> None:
        for key in keys:
            name = f"{path}{key}"
            if section.is_mapping(key) and any(each.startswith(f"{name}.") for each in table):
                below = section.section(key)
                warn_below(below, list(below), f"{name}.")
            elif name in table:
                sentence = f'"{name}" is a setting of {server} without effect here: {table[name]}'
                problems.warn(section.key_place(key), sentence, code="foreign-setting", about=[name])
            else:
                others[name] = section.key_place(key)

    warn_below(top, foreign, "")
    if others:
        names = some([f'"{name}"' for name in others])
        sentence = f"{names}: a setting of {server} without effect here; docs/reference/config.md has those of Stile"
        problems.warn(next(iter(others.values())), sentence, code="foreign-setting", about=others)
