"""Directives that clients write, against schemas that define them and one that does not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from handler.compiler.compile import Compiled, compile_endpoint
from handler.errors.authoring import CompileError
from tests.corpora.attempts import Tried
from tests.corpora.fetch import folder_of
from tests.support.endpoints import prescribed_tool


def compile_on(corpus: str, operation: str, folder: Path) -> Compiled:
    """One operation on the schema of a corpus."""
    endpoint = folder / "corpora" / "one"
    (endpoint / "operations").mkdir(parents=True)
    for name in ("index.graphql", "config.yaml"):
        shutil.copy(folder_of(corpus) / name, endpoint / name)
    (endpoint / "operations" / "one.graphql").write_text(operation, encoding="utf-8")
    return compile_endpoint(endpoint)


@pytest.mark.parametrize("corpus", ["shopify-storefront", "ghstack"])
def test_defer_is_not_sent_whether_or_not_the_schema_defines_it(tried: Tried, tmp_path: Path, corpus: str) -> None:
    """A tool has one answer, and a server may answer at once."""
    tried(corpus)
    root, first, later = ("shop", "name", "id") if corpus == "shopify-storefront" else ("viewer", "login", "id")
    operation = f'query Later @mcpTool {{ {root} {{ {first} ... @defer(if: true, label: "l") {{ {later} }} }} }}'

    text = prescribed_tool(compile_on(corpus, operation, tmp_path), "Later").operation.text

    assert text.split() == f"query Later {{ {root} {{ {first} ... {{ {later} }} }} }}".split()


def test_directives_of_graphql_itself_are_sent(tried: Tried, tmp_path: Path) -> None:
    tried("ghstack")
    operation = "query Me($full: Boolean!) @mcpTool { viewer { login id @include(if: $full) } }"

    made = compile_on("ghstack", operation, tmp_path)

    assert "id @include(if: $full)" in prescribed_tool(made, "Me").operation.text


def test_directive_of_the_schema_is_refused_where_it_may_not_stand(tried: Tried, tmp_path: Path) -> None:
    tried("shopify-storefront")

    with pytest.raises(CompileError) as caught:
        compile_on("shopify-storefront", "query Shop @mcpTool @accessRestricted { shop { name } }", tmp_path)

    assert str(caught.value) == "operations/one.graphql:1:21: Directive '@accessRestricted' may not be used on query."
