"""The endpoint that is searched: the made-up schema, and tools of every kind over it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from handler.server.auth.sealed_state import RequestStates
from handler.storage.local import FolderStorage
from tests.support.endpoints import compiled
from tests.support.every_method import STATE_KEY
from tests.support.function import Function, running_function, store
from tests.support.kits import with_catalog, with_kit
from tests.support.secrecy import SESSION
from tests.work.schema import work_sdl

KIT = "tests.work.kit"
SECRETS = {"LOGIN": SESSION.keep("a secret that a bundle refers to", "qR7vT2mX9bL4nC6zW1kP8sD3fG5hJ0yA")}

CONFIG = """
upstream: {url: 'URL'}
graphql: on
identity:
  - issuer: https://login.example/
    audience: https://api.example/work
    keys: [{algorithm: HS256, key: 'env:LOGIN'}]
access:
  anonymous: allow
  policies:
    - type: Query
      rules: [{condition: '$jwt.admin:Boolean || $jwt.groups:String has "work"', fields: [account, accounts]}]
      policyDefault: {condition: true}
    - {type: Mutation, policyDefault: {condition: true}}
"""

OPERATIONS = """
query Everything($where: WideFilter, $colors: [Color!], $ids: [Int!], $matrix: [[Int]], $json: JSON)
  @mcpTool(name: "everything") {
  everything(where: $where, colors: $colors, ids: $ids, matrix: $matrix, json: $json) {
    __typename
    ... on Account { id name color amounts parent { id } }
  }
}
query Search($text: String!, $colors: [Color!]) @mcpTool(name: "search") {
  search(text: $text, colors: $colors) { __typename ... on Account { id } ... on Branch { id color } }
}
query Loose @mcpTool(name: "loose") { loose cubes }
mutation Add($input: AccountInput!) @mcpTool(name: "add", confirm: required) { addAccount(input: $input) { id name } }
"""

PROMPT = """\
---
title: Review
arguments:
  - {name: text, required: true}
  - {name: shade, values: [VALUES]}
---
Review {{text}} in {{shade}}, and {{text}}.
"""


SCHEMA = """
schema
  @tool(name: "ask", graphql: [{expose: true, types: "Query|Mutation", fields: ".*"}])
  @tool(
    name: "wide"
    hidden: true
    graphql: [{expose: true, types: "Query", fields: ".*"}]
    limits: {max_tokens: 100000, max_fields: 10000, max_aliases: 10000, max_cost: 1000000}
  ) {
  query: Query
  mutation: Mutation
}
"""
"""Documents to ``wide`` may cost what those to no other tool may, so that the search has something to find."""


def write_endpoint(folder: Path, url: str) -> None:
    """Compile the endpoint, and store it in ``folder / "bundles"``."""
    made = compiled(
        folder / "endpoint",
        {
            "index.graphql": SCHEMA + work_sdl(),
            "operations/o.graphql": OPERATIONS,
            "config.yaml": CONFIG.replace("URL", url),
            "prompts/review.md": PROMPT.replace("VALUES", ", ".join(f"shade{number}" for number in range(250))),
            "resources/notes.md": "# Notes\n",
        },
    )
    store(FolderStorage(folder / "bundles"), with_catalog(with_kit(made, f"{KIT}:kit"), hidden=False))


@contextmanager
def serving(folder: Path) -> Iterator[Function]:
    """The function over what was stored."""
    with running_function(
        storage=FolderStorage(folder / "bundles"),
        secrets=SECRETS,
        code_modules=[KIT],
        states=RequestStates([STATE_KEY]),
    ) as function:
        yield function
