"""The language servers of editors accept the files that Stile writes, and find what is wrong in changed ones."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from handler.__main__ import main
from tests.conftest import ROOT
from tests.editors.language_server import LanguageServer, running_server
from tests.support.require import requires

INSTALLED = ROOT / ".stile" / "node-editors" / "node_modules"
YAML = ("node", f"{INSTALLED}/yaml-language-server/bin/yaml-language-server", "--stdio")
GRAPHQL = ("node", f"{INSTALLED}/graphql-language-service-cli/bin/graphql.js", "server", "-m", "stream")

SDL = """\
directive @cached(ttl: Int! = 60, refresh: Boolean! = false) on QUERY
type Query { "A product." product(id: ID!): Product "All products." products(first: Int = 10): [Product!]! }
type Product { id: ID! name: String! }
"""


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `stile init` makes."""
    requires("node", shutil.which("node") and INSTALLED.is_dir(), "`make editors` installs the language servers")
    folder = tmp_path_factory.mktemp("editors")
    (folder / "api.graphql").write_text(SDL, encoding="utf-8")
    target = folder / "shop" / "products"
    source = ["--from", str(folder / "api.graphql"), "--url", "https://shop.example/graphql"]
    assert main(["init", str(target), *source, "--access", "open"]) == 0
    return target


@pytest.fixture(scope="module")
def yaml_server(endpoint: Path) -> Iterator[LanguageServer]:
    with running_server(YAML, endpoint) as server:
        yield server


@pytest.fixture(scope="module")
def graphql_server(endpoint: Path) -> Iterator[LanguageServer]:
    with running_server(GRAPHQL, endpoint) as server:
        yield server


def _written(endpoint: Path, name: str, text: str) -> Path:
    file = endpoint / name
    file.write_text(text, encoding="utf-8")
    return file


def test_config_that_init_writes_has_no_diagnostics(endpoint: Path, yaml_server: LanguageServer) -> None:
    assert yaml_server.diagnostics(endpoint / "config.yaml", "yaml") == []


def test_misspelt_key_and_wrong_value_are_underlined(endpoint: Path, yaml_server: LanguageServer) -> None:
    right = (endpoint / "config.yaml").read_text(encoding="utf-8")
    wrong = right.replace("upstream:", "upsteam:") + "limits:\n  max_depth: 500\n"
    file = _written(endpoint, "config.wrong.yaml", wrong)

    assert sorted(yaml_server.diagnostics(file, "yaml")) == [
        f"{len(wrong.splitlines())}:14: Value is above the maximum of 50.",
        "3:1: Property upsteam is not allowed.",
    ]


def test_keys_of_a_section_are_offered(endpoint: Path, yaml_server: LanguageServer) -> None:
    right = (endpoint / "config.yaml").read_text(encoding="utf-8")
    file = _written(endpoint, "config.half.yaml", f"{right}limits:\n  max_depth: 5\n  \n")
    yaml_server.diagnostics(file, "yaml")
    line = len(right.splitlines()) + 2

    assert yaml_server.completions(file, line=line, character=2) == [
        "max_tokens", "max_fields", "max_aliases", "max_cost", "max_values", "max_result_bytes", "list_sizes",
        "continue", "max_schema_bytes", "max_output_schema_bytes", "list_budget", "recursion",
    ]  # fmt: skip


def test_sdl_and_operations_that_init_writes_have_no_diagnostics(
    endpoint: Path, graphql_server: LanguageServer
) -> None:
    files = sorted(endpoint.glob("*.graphql")) + sorted((endpoint / "operations").glob("*.graphql"))

    assert len(files) == 4
    for file in files:
        assert graphql_server.diagnostics(file, "graphql") == [], file


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        (
            "operations/wrong.graphql",
            'query Wrong @mcpTol(name: "a") { products { nam } }',
            [
                '1:14: Unknown directive "@mcpTol".',
                '1:45: Cannot query field "nam" on type "Product". Did you mean "name"?',
            ],
        ),
        ("wrong.graphql", 'extend schema @tol(name: "a")', ['1:16: Unknown directive "@tol".']),
    ],
)
def test_misspelt_directive_and_field_are_underlined(
    endpoint: Path, graphql_server: LanguageServer, name: str, text: str, found: list[str]
) -> None:
    assert graphql_server.diagnostics(_written(endpoint, name, text), "graphql") == found
