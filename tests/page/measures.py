"""GitHub's endpoint and one of 500 tools, for measures of the page."""

from __future__ import annotations

import shutil
from pathlib import Path

from handler.compiler.compile import compile_endpoint
from handler.errors.authoring import CompileError
from tests.corpora.fetch import folder_of, is_fetched
from tests.support.require import requires

CORPUS = "github-named"
TOOL = """
extend schema @tool(name: "ask_github", title: "Ask GitHub", description: "GitHub. {graphql_tool}",
  graphql: [{expose: true, types: "Query", fields: ".*"}])
"""


def write_github(folder: Path) -> Path:
    """Write GitHub's endpoint with a tool over all of its queries, without the operations that are refused."""
    requires("corpora", is_fetched(CORPUS), "`make corpora` fetches GitHub's schema")
    endpoint = folder / "shop" / "github"
    shutil.copytree(folder_of(CORPUS), endpoint)
    with (endpoint / "index.graphql").open("a", encoding="utf-8") as schema:
        schema.write(TOOL)
    for file in _refused(endpoint):
        (endpoint / file).unlink()
    return endpoint


def _refused(endpoint: Path) -> set[str]:
    try:
        compile_endpoint(endpoint)
    except CompileError as exc:
        return {problem.file for problem in exc.problems}
    return set()
