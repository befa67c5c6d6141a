"""Settings of Apollo MCP Server and of Cosmo's router, whose files are named ``config.yaml`` too.

They have no effect. Each gets a warning with the setting of Stile that stands for it.
Source: Apollo MCP Server, "Config File Reference"; Cosmo router, "MCP".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from handler.compiler.problems import Place, Problems
from handler.compiler.source.yaml_section import Section
from handler.text.sentences import some

OPERATIONS = "put the files into operations/, and write tools: operations"
MUTATIONS = "write tools: {operations: queries_and_mutations} if models may send mutations"
ANY_DOCUMENT = "write @tool(graphql:) with patterns on the schema if models may write requests"
TOOL = "write it in @mcpTool on the operation"
NO_SERVER = "remove it, as the function or stile serve answers by HTTP"
NO_SESSIONS = "remove it, as there are no sessions"
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
    "overrides.annotations": TOOL,
    "overrides.descriptions": TOOL,
    "overrides.disable_schema_description": "write a description by @mcpTool, as it comes before the schema's",
    "overrides.disable_type_description": "write a description by @mcpTool, as it comes before the schema's",
    "overrides.enable_explorer": "remove it, as there is no such tool",
    "overrides.enable_output_schema": "write output_schema: off if no tool should have one",
    "overrides.mutation_mode": MUTATIONS,
    "overrides.required_scopes": TOOL,
    "rhai": "write a tool in Python for what a script changes",
    "schema": "name the file in @sdl(files:) of index.graphql; stile init gets it from a URL",
    "server_info": "write server, with website for website_url",
    "telemetry": "remove it, as the log and traces have their own form",
    "transport.address": NO_SERVER,
    "transport.auth": "write identity, and upstream.auth: {passthrough: …} if the API takes the caller's token",
    "transport.host_validation": "remove it; STILE_ALLOWED_ORIGINS has the origins of browsers",
    "transport.port": NO_SERVER,
    "transport.stateful_mode": NO_SESSIONS,
    "transport.type": NO_SERVER,
}
"""Key -> what to do instead. A key with a dot is in the mapping that it begins with."""

COSMO: Mapping[str, str] = {
    "headers": "write upstream.forward_headers for those that the router gets from clients",
    "mcp.enable_arbitrary_operations": ANY_DOCUMENT,
    "mcp.enabled": "remove it, as every endpoint speaks MCP",
    "mcp.exclude_mutations": MUTATIONS,
    "mcp.expose_schema": ANY_DOCUMENT,
    "mcp.graph_name": "remove it, as an endpoint has the name of its folder",
    "mcp.oauth": "write identity",
    "mcp.omit_tool_name_prefix": NAMES,
    "mcp.resources": "put the files into resources/ and skills/",
    "mcp.router_url": "write upstream.url",
    "mcp.server": NO_SERVER,
    "mcp.session": NO_SESSIONS,
    "mcp.storage": OPERATIONS,
    "storage_providers": OPERATIONS,
}

SHARED = "instructions"
"""A key that Apollo MCP Server and Stile have with one meaning: it tells nothing about its file, and has an effect."""

LEAST = 2
"""Top keys that make a file Apollo's: a single one may be a slip in a file for Stile."""


SERVERS: Mapping[str, Mapping[str, str]] = {"Apollo MCP Server": APOLLO, "Cosmo": COSMO}


@dataclass(frozen=True, slots=True)
class ForeignSetting:
    """A setting of another server. ``remedy`` is empty if its table does not have it."""

    name: str
    at: Place
    remedy: str

    @property
    def is_superfluous(self) -> bool:
        """True if Stile has no counterpart, and needs none."""
        return self.remedy.startswith("remove it")


def server_of(top: Section, *, least: int = LEAST) -> str:
    """Return the server that a ``config.yaml`` is for; an empty string for Stile. ``least`` keys make it Apollo's."""
    apollo = {name.partition(".")[0] for name in APOLLO}.intersection(top)
    return "Cosmo" if top.is_mapping("mcp") else "Apollo MCP Server" if len(apollo) >= least else ""


def foreign_settings(section: Section, keys: Collection[str], server: str, path: str = "") -> Iterator[ForeignSetting]:
    """Yield the settings of another server at and below some keys of a section."""
    table = SERVERS[server]
    for key in keys:
        name = f"{path}{key}"
        if section.is_mapping(key) and any(each.startswith(f"{name}.") for each in table):
            below = section.section(key)
            yield from foreign_settings(below, list(below), server, f"{name}.")
        else:
            yield ForeignSetting(name, section.key_place(key), table.get(name, ""))


def warn_of_foreign_keys(top: Section, problems: Problems, *, own: Collection[str]) -> str:
    """Accept the settings of another server, with a warning for each, and return its name. ``own``: keys of Stile.

    In a file with settings of Stile, keys that no server documents remain errors.
    """
    server = server_of(top)
    if not server:
        return ""
    top_keys = {name.partition(".")[0] for name in SERVERS[server]}
    mixed = any(key in top for key in own if key != SHARED)
    foreign = [key for key in top if key in top_keys or not (mixed or key in own)]
    top.accept(*foreign)
    settings = list(foreign_settings(top, foreign, server))
    for each in settings:
        if each.remedy:
            sentence = f'"{each.name}" is a setting of {server} without effect here: {each.remedy}'
            problems.warn(each.at, sentence, code="foreign-setting", about=[each.name])
    others = {each.name: each.at for each in settings if not each.remedy}
    if others:
        names = some([f'"{name}"' for name in others])
        sentence = f"{names}: a setting of {server} without effect here; docs/reference/config.md has those of Stile"
        problems.warn(next(iter(others.values())), sentence, code="foreign-setting", about=others)
    return server
