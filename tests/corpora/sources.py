"""Which schemas and operations there are, and where in which packages they stand."""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from graphql import StringValueNode, Visitor, build_client_schema, parse, print_ast, print_schema, visit

from tests.corpora.documents import Operation, read_operations, uniquely_named
from tests.corpora.downloads import HERE, NpmPackage, npm_packages, npm_tree, pypi_packages, run
from tests.corpora.literals import graphql_in_javascript, graphql_in_python

STARTER = "dist/assets/hydrogen/starter/app/"
CUSTOMER_ACCOUNT = STARTER + "graphql/customer-account/"

PRINT_DAGSTER = "import dagster_graphql.schema as made; print(made.create_schema())"


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """One API: its schema as SDL, and the operations that others wrote for it."""

    name: str
    sdl: str
    operations: tuple[Operation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Packages that are fetched together, and the corpora they give. ``read`` may write to the folder it is given."""

    needs: str  # node | pypi
    corpora: tuple[str, ...]
    read: Callable[[Path], list[Corpus]]


def _github(work: Path) -> list[Corpus]:
    """GitHub's public API; operations of three programs for releases and catalogues."""
    wanted = {
        "release-please": "build/src/*.js",
        "@backstage/plugin-catalog-backend-module-github": "dist/*.js",
        "@semantic-release/github": "lib/*.js",
    }
    packages = npm_packages(["@octokit/graphql-schema", *wanted], work)
    found = [operation for name, files in wanted.items() for operation in _javascript(packages[name], files)]
    return _as_found_and_named("github", packages["@octokit/graphql-schema"].text("schema.graphql"), found)


def _shopify(work: Path) -> list[Corpus]:
    """Shopify's two APIs for shops; operations of the starter that Hydrogen writes for a new shop."""
    packages = npm_packages(["@shopify/hydrogen", "@shopify/create-hydrogen"], work)
    starter = packages["@shopify/create-hydrogen"]
    account = _javascript(starter, CUSTOMER_ACCOUNT + "*.ts*")
    elsewhere = {operation.name for operation in account}
    storefront = [each for each in _javascript(starter, STARTER + "*.ts*") if each.name not in elsewhere]
    return [
        Corpus(name=f"shopify-{name}", sdl=_printed(packages["@shopify/hydrogen"], file), operations=tuple(operations))
        for name, file, operations in (
            ("storefront", "dist/storefront.schema.json", storefront),
            ("customer-account", "dist/customer-account.schema.json", account),
        )
    ]


def _vendure(work: Path) -> list[Corpus]:
    """The admin API of Vendure, a shop; operations of its own admin pages."""
    packages = npm_packages(["@vendure/core", "@vendure/admin-ui"], work)
    core = packages["@vendure/core"].unpack(work)
    project = HERE / "vendure"
    environ = {**os.environ, "NODE_PATH": str(npm_tree(project, work))}
    sdl = run(["node", str(project / "print_schema.cjs"), str(core)], cwd=work, environ=environ)
    return [
        Corpus(
            name="vendure-admin",
            sdl=sdl,
            operations=tuple(_javascript(packages["@vendure/admin-ui"], "fesm2022/*.mjs")),
        )
    ]


def _dagster_and_ghstack(work: Path) -> list[Corpus]:
    """Dagster's API and what its own client sends; the part of GitHub's that ghstack keeps, and what ghstack sends."""
    site = pypi_packages(work)
    # Dagster holds an older graphql-core than Stile: -S leaves out what is installed here.
    isolated = {**os.environ, "PYTHONPATH": str(site)}
    sdl = run([sys.executable, "-S", "-c", PRINT_DAGSTER], cwd=work, environ=isolated)
    ghstack = site / "ghstack"
    subset = (ghstack / "github_schema.graphql").read_text(encoding="utf-8")
    return [
        *_as_found_and_named("dagster", _with_clean_descriptions(sdl), _python(site / "dagster_graphql")),
        *_as_found_and_named("ghstack", subset, _python(ghstack)),
    ]


SOURCES = (
    Source(needs="pypi", corpora=("dagster", "dagster-named", "ghstack", "ghstack-named"), read=_dagster_and_ghstack),
    Source(needs="node", corpora=("github", "github-named"), read=_github),
    Source(needs="node", corpora=("shopify-storefront", "shopify-customer-account"), read=_shopify),
    Source(needs="node", corpora=("vendure-admin",), read=_vendure),
)
"""In the order in which they are fetched and listed."""

SOURCE_OF: Mapping[str, Source] = {name: source for source in SOURCES for name in source.corpora}


def _as_found_and_named(name: str, sdl: str, operations: list[Operation]) -> list[Corpus]:
    """Two corpora where operations have no names or the same one: these, and the same ones with names of their own."""
    return [
        Corpus(name=name, sdl=sdl, operations=tuple(operations)),
        Corpus(name=f"{name}-named", sdl=sdl, operations=tuple(uniquely_named(operations))),
    ]


def _javascript(package: NpmPackage, files: str) -> list[Operation]:
    return read_operations(literal for text in package.texts(files) for literal in graphql_in_javascript(text))


def _python(folder: Path) -> list[Operation]:
    sources = [file.read_text(encoding="utf-8") for file in sorted(folder.rglob("*.py"))]
    return read_operations(literal for source in sources for literal in graphql_in_python(source))


def _printed(package: NpmPackage, file: str) -> str:
    """The SDL of a schema that is kept as the answer to an introspection query."""
    answer = json.loads(package.text(file))
    return print_schema(build_client_schema(answer.get("data", answer), assume_valid=True)) + "\n"


def _with_clean_descriptions(sdl: str) -> str:
    """The same SDL whatever Python printed it: from 3.13 on docstrings come without their indentation."""
    return print_ast(visit(parse(sdl, no_location=True), _CleanDescriptions())) + "\n"


class _CleanDescriptions(Visitor):
    def enter_string_value(self, node: StringValueNode, key: object, *_: object) -> StringValueNode | None:
        return replace(node, value=inspect.cleandoc(node.value), block=True) if key == "description" else None
