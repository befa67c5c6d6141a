"""`stile adopt`: folders of Apollo MCP Server and of Cosmo's router, in the shapes of public repositories."""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from handler.compiler.compile import compile_endpoint
from tests.commands.running import Stile
from tests.support.diagnostics import Reported
from tests.support.endpoints import compiled

SCHEMA = """\
scalar Day
type Query { launches(first: Int = 3): [Launch!]! launch(id: ID!): Launch }
type Mutation { book(id: ID!): Launch }
type Subscription { launched: Launch }
type Launch { id: ID! day: Day }
"""
LAUNCHES = "# The next launches.\nquery NextLaunches { launches { id day } }\n"
BOOK = "mutation BookLaunch($id: ID!) { book(id: $id) { id } }\n"
TOKEN = "literal-0815"
"""A secret, which no file and no output may have."""


OF_THE_AUTHOR = {"untitled-tool", "undescribed-tool", "no-tool", "no-upstream"}
"""Warnings about what the other folder does not have either."""


def write(folder: Path, files: Mapping[str, Any]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def adopted(stile: Stile, folder: Path, *more: str) -> dict[str, Any]:
    """Adopt a folder, hold the promises that are for every shape, and return the report."""
    before = contents(folder)
    done = stile("adopt", str(folder), "new/api", *more, "--json")
    assert done.code == 0, done.out + done.err
    report: dict[str, Any] = json.loads(done.out)
    assert contents(folder) == before
    assert not any(TOKEN.encode() in text for text in contents(Path("new/api")).values())
    assert TOKEN not in done.out + done.err
    assert set(report["files"]) == set(contents(Path("new/api")))
    (checked,) = json.loads(stile("check", "new/api", "--json").out)["endpoints"]
    assert checked["problems"] == []
    assert {each["code"] for each in checked["warnings"]} <= OF_THE_AUTHOR
    return report


def manifest(**bodies: str) -> dict[str, Any]:
    entries = [
        {
            "id": hashlib.sha256(body.encode()).hexdigest(),
            "body": body,
            "name": name,
            "type": "mutation" if body.startswith("mutation") else "query",
        }
        for name, body in bodies.items()
    ]
    return {"format": "apollo-persisted-query-manifest", "version": 1, "operations": entries}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_local_operations_with_paths_from_the_root_of_a_repository(tmp_path: Path, stile: Stile) -> None:
    """The shape of apollographql/apollo-mcp-server, examples/weather and docs/source/config-file.mdx."""
    config = {
        "endpoint": "https://api.example.com/graphql",
        "transport": {"type": "streamable_http", "address": "0.0.0.0", "host_validation": {"enabled": False}},
        "operations": {"source": "local", "paths": ["./examples/space/operations", "extra/one.graphql"]},
        "schema": {"source": "local", "path": "/data/examples/space/api.graphql"},
        "headers": {
            "Authorization": f"Bearer ${{env.SPACE_TOKEN:-{TOKEN}}}",
            "apollographql-client-name": "mcp",
            "x-tenant": TOKEN,
        },
        "forward_headers": ["X-Request-Id", "Authorization"],
        "custom_scalars": "./examples/space/scalars.json",
        "introspection": {"execute": {"enabled": True}},
        "overrides": {
            "mutation_mode": "explicit",
            "enable_explorer": False,
            "descriptions": {"BookLaunch": 'It\'s "on"'},
        },
        "cors": {"enabled": True, "allow_any_origin": True},
        "health_check": {"enabled": True, "path": "/healthz"},
        "instructions": "Ask for launches first.",
        "graphos": {"apollo_key": TOKEN},
        "rhai": {"scripts": "./rhai"},
    }
    files = {
        "config.yaml": config,
        "docker-compose.yml": "services: {a: {image: b}}",
        "api.graphql": SCHEMA,
        "scalars.json": {"Day": {"type": "string", "format": "date", "examples": ["x"]}, "Other": {"type": "string"}},
        "operations/next.graphql": LAUNCHES,
        "operations/book.graphql": BOOK,
        "operations/watch.graphql": "subscription Watch { launched { id } }",
        "operations/below/not_read.graphql": "query NotRead { launches { id } }",
        "operations/notes.md": "# Notes",
        "operations/empty.graphql": "\n",
        "extra/one.graphql": "query OneLaunch($id: ID!) { launch(id: $id) { id } }",
    }

    report = adopted(stile, write(tmp_path / "space", files))

    assert set(report["tools"]) == {"BookLaunch", "NextLaunches", "OneLaunch"}
    assert report["left_out"].keys() == {
        *("operations/watch.graphql", "overrides.enable_explorer"),
        *("transport.type", "transport.address", "transport.host_validation", "cors", "health_check"),
    }
    assert report["decisions"].keys() == {
        *("headers.Authorization", "headers.x-tenant", "forward_headers: Authorization", "introspection", "graphos"),
        *("rhai", "access"),
    }
    assert "STILE_SECRET_SPACE_TOKEN=" in report["decisions"]["headers.Authorization"]
    config = yaml.safe_load(Path("new/api/config.yaml").read_text(encoding="utf-8"))
    assert config["upstream"] == {
        "url": "https://api.example.com/graphql",
        "auth": {"bearer": "secret:SPACE_TOKEN"},
        "headers": {"apollographql-client-name": "mcp"},
        "forward_headers": ["x-request-id"],
    }
    assert config["access"] == {"anonymous": "challenge"}
    assert Path("new/api/.gitignore").read_text(encoding="utf-8") == ".env\n"
    assert Path("new/api/.env").read_text(encoding="utf-8").endswith("\nSTILE_SECRET_SPACE_TOKEN=\n")
    assert stat.S_IMODE(Path("new/api/.env").stat().st_mode) == 0o600
    assert config["scalars"] == {"Day": {"type": "string", "format": "date"}}
    tools = {each.tool.name: each.tool.entry for each in compile_endpoint(Path("new/api")).made}
    assert tools["BookLaunch"]["description"] == 'It\'s "on"'
    assert tools["NextLaunches"]["description"] == "The next launches."


def test_manifest_is_renamed_and_the_schema_of_graphos_is_given(tmp_path: Path, stile: Stile) -> None:
    """The shape of apollographql/apollo-mcp-server, examples/TheSpaceDevs/config-manifest.yaml, with `uplink`."""
    files = {
        "mcp.yaml": {
            "endpoint": "${env.API:-http://localhost:4000}",
            "graphos": {"apollo_key": TOKEN, "apollo_graph_ref": "g@p"},
            "operations": {"source": "manifest", "path": "./examples/persisted_queries/apollo.json"},
            "schema": {"source": "uplink"},
            "transport": {"type": "stdio"},
            "overrides": {"mutation_mode": "none"},
        },
        "persisted_queries/apollo.json": manifest(NextLaunches=LAUNCHES),
    }
    folder = write(tmp_path / "space", files)
    write(tmp_path, {"exported.graphql": SCHEMA})

    refused = stile("adopt", str(folder), "new/api")
    report = adopted(stile, folder, "--from", "exported.graphql")

    assert (refused.code, "--from names the URL" in refused.err, "Nothing was written." in refused.err) == (
        1,
        True,
        True,
    )
    assert report["tools"] == ["NextLaunches"]
    assert "operations/persisted-query-manifest.json" in report["files"]
    assert report["decisions"].keys() == {"upstream.url", "endpoint", "graphos", "access"}
    assert report["taken"]["schema"] == "schema.graphql, from exported.graphql"


@pytest.mark.parametrize("source", ["collection", "uplink", "introspect", "infer"])
def test_operations_that_are_not_in_the_folder_are_the_authors(tmp_path: Path, stile: Stile, source: str) -> None:
    files = {
        "config.yaml": {
            "operations": {"source": source, "id": "default"},
            "introspection": {"execute": {"enabled": True}},
            "schema": {"source": "local", "path": "../schema.graphql"},
        },
        "schema.graphql": SCHEMA,
        "operations/not_read.graphql": LAUNCHES,
    }

    report = adopted(stile, write(tmp_path / "space", files))

    assert report["tools"] == []
    assert {"operations", "introspection", "upstream.url"} <= report["decisions"].keys()


def test_router_with_its_configuration_of_the_graph(tmp_path: Path, stile: Stile) -> None:
    """The shape of wundergraph/cosmo, docs-website/router/mcp."""
    files = {
        "config.yaml": {
            "version": "1",
            "graph": {"token": TOKEN},
            "headers": {"all": {"request": [{"op": "propagate", "named": "authorization"}]}},
            "execution_config": {"file": {"path": "./router.json", "watch": True}},
            "mcp": {
                "enabled": True,
                "server": {"listen_addr": "localhost:5025"},
                "router_url": "https://router.example.com/graphql",
                "graph_name": "space",
                "expose_schema": False,
                "enable_arbitrary_operations": True,
                "storage": {"provider_id": "mcp"},
                "oauth": {"enabled": True, "jwks": [{"url": "https://id.example.com/jwks"}]},
            },
            "storage_providers": {
                "file_system": [{"id": "other", "path": "queries"}, {"id": "mcp", "path": "tools/mcp"}],
                "s3": [{"id": "s", "secret_key": TOKEN}],
            },
        },
        "router.json": {"engineConfig": {"graphqlSchema": "type Query { hidden: Int }", "graphqlClientSchema": SCHEMA}},
        "tools/mcp/next.graphql": '"""\nThe next launches.\n"""\nquery NextLaunches2 { launches { id } }',
        "tools/mcp/deep/one-launch.gql": "# One.\nquery ($id: ID!) { launch(id: $id) { id } }",
        "tools/mcp/deep/first.gql": "{ launches(first: 1) { id } }",
        "tools/mcp/book.graphql": BOOK,
        "tools/mcp/named.graphql": 'query N @mcpTool(name: "mine") { launches { day } }',
        "queries/other.graphql": "query Other { launches { id } }",
    }

    report = adopted(stile, write(tmp_path / "router", files))

    assert set(report["tools"]) == {
        *("execute_operation_next_launches_2", "execute_operation_one_launch", "execute_operation_first"),
        *("execute_operation_book_launch", "mine"),
    }
    assert report["decisions"].keys() == {"headers", "mcp.enable_arbitrary_operations", "mcp.oauth", "access"}
    assert report["taken"]["mcp.expose_schema"].startswith("false")
    assert report["taken"]["execution_config"] == "schema.graphql, from router.json"
    assert {"version", "graph", "mcp.enabled", "mcp.server"} <= report["left_out"].keys()


def test_router_without_prefix_and_mutations(tmp_path: Path, stile: Stile) -> None:
    files = {
        "router.yaml": {
            "mcp": {"omit_tool_name_prefix": True, "exclude_mutations": True, "storage": {"provider_id": "a"}},
            "storage_providers": {"file_system": [{"id": "a", "path": "operations"}]},
        },
        "schema.graphql": SCHEMA,
        "operations/a.graphql": "query GetURLById { launches { id } }",
        "operations/b.graphql": BOOK,
        "operations/c.graphql": 'mutation C @mcpTool(name: "c") { book(id: 1) { id } }',
    }

    report = adopted(stile, write(tmp_path / "router", files))

    assert report["tools"] == ["get_url_by_id"]
    assert {"operations/b.graphql", "operations/c.graphql"} <= report["left_out"].keys()


@pytest.mark.parametrize(
    ("excluded", "tools"),
    [(False, 2), (None, 2), (True, 1), ("${MCP_EXCLUDE_MUTATIONS}", 1), ("false # no", 1)],
)
def test_mutations_are_tools_only_if_the_router_surely_takes_them(
    tmp_path: Path, stile: Stile, excluded: bool | str | None, tools: int
) -> None:
    mcp: dict[str, Any] = {"storage": {"provider_id": "a"}, "router_url": f"https://api.example/?key={TOKEN}"}
    files = {
        "config.yaml": {
            "mcp": mcp | ({} if excluded is None else {"exclude_mutations": excluded}),
            "storage_providers": {"file_system": [{"id": "a", "path": "operations"}, "b", {"id": "c"}]},
        },
        "schema.graphql": SCHEMA,
        "operations/a.graphql": LAUNCHES,
        "operations/b.graphql": BOOK,
    }

    report = adopted(stile, write(tmp_path / "router", files))

    assert len(report["tools"]) == tools
    assert "upstream.url" in report["decisions"]


@pytest.mark.parametrize(
    ("path", "tools"),
    [
        ("./tools/**/*.graphql", {"A", "B", "C"}),
        ("tools/*.graphql", {"A", "B"}),
        ("/work/tools/get*.graphql", {"A"}),
        ("tools/*/c.graphql", {"C"}),
        ("tools", {"A", "B"}),
        ("./tools/below/c.graphql", {"C"}),
        ("*.graphql", {"D"}),
        (".", {"D"}),
        ("nowhere/*.graphql", set()),
    ],
)
def test_paths_of_operations_may_be_patterns(tmp_path: Path, stile: Stile, path: str, tools: set[str]) -> None:
    """The shape of projects that `rover init --mcp` makes, whose configuration is in `.apollo`."""
    files = {
        ".apollo/mcp.local.yaml": {
            "overrides": {"mutation_mode": "all"},
            "operations": {"source": "local", "paths": [path]},
            "transport": {"type": "streamable_http", "port": 5000},
            "endpoint": "http://localhost:4000",
            "name": "Space",
        },
        "supergraph.yaml": {"subgraphs": {"space": {"schema": {"file": "schema.graphql"}}}},
        "schema.graphql": SCHEMA,
        "tools/getA.graphql": "query A { launches { id } }",
        "tools/b.graphql": "query B { launches { id } }",
        "tools/below/c.graphql": "query C { launches { id } }",
        "d.graphql": "query D { launches { id } }",
    }

    report = adopted(stile, write(tmp_path / "space", files))

    assert (set(report["tools"]), report["config"]) == (tools, ".apollo/mcp.local.yaml")
    assert (f"operations in {path}" in report["decisions"]) == (not tools)


def test_configuration_is_named_if_several_may_be_it(tmp_path: Path, stile: Stile) -> None:
    config = {"endpoint": "https://a.example/graphql", "operations": {"source": "local", "paths": ["ops"]}}
    files = {"a.yaml": config, "b.yaml": config, "schema.graphql": SCHEMA, "ops/a.graphql": LAUNCHES}
    folder = write(tmp_path / "space", files)

    refused = stile("adopt", str(folder), "new/api")

    assert (refused.code, "a.yaml, b.yaml: expected one" in refused.err) == (1, True), refused.err
    assert adopted(stile, folder, "--config", "b.yaml")["config"] == "b.yaml"


GOOD = {
    "config.yaml": "endpoint: https://a.example/graphql\noperations: {source: local, paths: [ops]}\n",
    "schema.graphql": SCHEMA,
    "ops/a.graphql": LAUNCHES,
}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("config.yaml", "endpoint: [\na: b", "config.yaml:2:"),
        ("config.yaml", "upstream: {url: https://a.example}\n", "expected one file of Apollo MCP Server"),
        ("config.yaml", "a: &a [*a]\nendpoint: b\nschema: c\n", "config.yaml:1:"),
        ("schema.graphql", "type Query {", "space/schema.graphql:2:1: the schema cannot be used"),
        ("schema.graphql", "type Query { a: Int } extend schema @sdl(files: [])", "belongs in index.graphql"),
        ("ops/a.graphql", None, "lies outside the endpoint folder"),
        ("schema.graphql", None, "lies outside the endpoint folder"),
        ("config.yaml", None, "lies outside the endpoint folder"),
    ],
)
def test_folder_that_cannot_be_read_leaves_nothing(
    tmp_path: Path, stile: Stile, name: str, content: str | None, message: str
) -> None:
    """``None``: a link out of the folder."""
    folder = write(tmp_path / "space", GOOD)
    if content is None:
        (folder / name).rename(tmp_path / "elsewhere")
        (folder / name).symlink_to(tmp_path / "elsewhere")
    else:
        (folder / name).write_text(content, encoding="utf-8")

    done = stile("adopt", str(folder), "new/api")

    assert (done.code, message in done.err) == (1, True), done.err
    assert not Path("new").exists()


def test_existing_folder_and_the_other_folder_stay_as_they_are(tmp_path: Path, stile: Stile) -> None:
    folder = write(tmp_path / "space", GOOD)
    write(tmp_path / "new" / "api", {"mine.txt": "mine"})

    over, within = stile("adopt", str(folder), "new/api"), stile("adopt", str(folder), "space/api")

    assert (over.code, "exists already" in over.err) == (1, True)
    assert (within.code, "stays as it is" in within.err) == (1, True)
    assert contents(tmp_path / "new") == {"api/mine.txt": b"mine"}
    assert contents(folder).keys() == GOOD.keys()


def test_new_folder_is_beside_the_other_one_by_default(
    tmp_path: Path, stile: Stile, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "teams" / "space", GOOD)
    monkeypatch.chdir(tmp_path / "teams" / "space")

    done = stile("adopt", ".")

    assert (done.code, done.out.splitlines()[0]) == (0, "../space-stile: 1 tool of config.yaml, for Apollo MCP Server")
    assert done.out.endswith("Next:\n  stile check ../space-stile\n")
    assert (tmp_path / "teams" / "space-stile" / "operations" / "ops" / "a.graphql").read_text() == LAUNCHES


@pytest.mark.parametrize(
    ("config", "server"), [("endpoint: a\nschema: b\n", "Apollo MCP Server"), ("mcp: {}\n", "Cosmo")]
)
def test_folder_of_another_server_gets_no_default_tool(tmp_path: Path, config: str, server: str) -> None:
    files = {"index.graphql": SCHEMA, "operations/a.graphql": LAUNCHES, "config.yaml": config}

    made = compiled(tmp_path, files)
    chosen = compiled(tmp_path / "chosen", {**files, "config.yaml": f"{config}default_tool: true\n"})

    assert (made.made, made.bundle.graphql.mode) == ((), "persisted")
    assert [Reported(each) for each in made.warnings if each.code == "no-tool"] == [
        f"index.graphql no-tool: {server} & `stile adopt FOLDER`"
    ]
    assert len(chosen.made) == 1
