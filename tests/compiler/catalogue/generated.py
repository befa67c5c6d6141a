"""Entries of the catalogue whose files are too large for a text, or have names and bytes that a text cannot hold."""

from __future__ import annotations

from tests.compiler.catalogue.entries import Entry

LONG_NAME = "d" * 3_100_000
VALUES = "\n".join(f'"{"e" * 100}" VALUE_{n}' for n in range(10))

GENERATED = (
    Entry(
        code="long-consent",
        files={
            "index.graphql": "type Query { a: Int } type Mutation { b(c: String): Int }",
            "operations/o.graphql": f'mutation O @mcpTool(confirm: required) {{ b(c: "{"x" * 8_000}") }}',
        },
        reports=(
            (
                'operations/o.graphql:1:12: "O" says confirm, and its operation has 8,033 characters: '
                "a user can be asked about 8,000 at most"
            ),
        ),
    ),
    Entry(
        code="too-complex",
        files={
            "index.graphql": "type Query { me: Query a: Int }",
            "operations/o.graphql": "query O { ...F0 }\n"
            + "\n".join(f"fragment F{n} on Query {{ me {{ me {{ ...F{n + 1} }} }} }}" for n in range(90))
            + "\nfragment F90 on Query { a }",
        },
        reports=("operations/o.graphql:1:1: it has too many errors, fields or fragments to be checked completely",),
    ),
    Entry(
        code="unlistable-tool",
        files={
            "index.graphql": 'schema @sdl(files: ["0.graphql", "1.graphql", "q.graphql"]) { query: Query }',
            "0.graphql": f'input In0 {{ "{LONG_NAME}" x: Int }}',
            "1.graphql": f'input In1 {{ "{LONG_NAME}" x: Int }}',
            "q.graphql": "type Query { a(one: In0, two: In1): Int }",
            "operations/o.graphql": "query O($one: In0, $two: In1) @mcpTool { a(one: $one, two: $two) }",
            "config.yaml": "limits: {max_schema_bytes: 0}\n",
        },
        reports=(
            (
                'operations/o.graphql:1:1: "O" cannot be listed, as its inputs exceed the size of a response: '
                "expected fewer or shorter inputs"
            ),
        ),
    ),
    Entry(
        code="invalid-file-name",
        files={"operations/\udcff.graphql": "query O { a }", "resources/\udcff.txt": "text"},
        reports=(
            "operations/\\udcff.graphql:1:1: its name is not UTF-8",
            "resources/\\udcff.txt:1:1: its name is not UTF-8",
        ),
    ),
    Entry(
        code="large-resources",
        files={f"resources/{n}.txt": "x" * 900_000 for n in range(5)},
        reports=("resources:1:1: its files have 4500000 bytes together; the bundle that holds them takes 4000000",),
    ),
    Entry(
        code="large-skill",
        files={
            "skills/refunds/SKILL.md": "---\nname: refunds\ndescription: Refund an order\n---\nAsk first.\n",
            **{f"skills/refunds/{n}.md": "x" for n in range(512)},
        },
        reports=("skills/refunds:1:1: it has 513 files: hosts take 512 of one skill",),
    ),
    Entry(
        code="long-instructions",
        files={"config.yaml": f"instructions: {'x' * 2_049}\n"},
        reports=('config.yaml:1:15: "instructions": 2049 bytes of UTF-8; clients take 2048',),
    ),
    Entry(
        code="no-companion",
        files={
            "index.graphql": """schema
  @tool(name: "shop", graphql: [{expose: true, types: "Query", fields: ".*"}])
  @tool(name: "shop-search", graphql: [{expose: true, types: "Query", fields: "a"}], find: false)
{ query: Query }
type Query { a: Int wide: Wide }
"""
            f"type Wide {{ {' '.join(f'column_{n}: Int' for n in range(1_200))} }}",
            "config.yaml": "access: {anonymous: allow, policies: [{type: Query, policyDefault: {condition: true}}]}\n",
        },
        reports=(
            (
                'index.graphql:2:3: "shop" gets no companion "shop-search": a tool of that name is defined at '
                "index.graphql:3:3; find: false asks for none"
            ),
        ),
    ),
    Entry(
        code="unreadable-file",
        files={"index.graphql": "x" * 8_000_001},
        reports=("index.graphql:1:1: it has 8000001 bytes; a file may have 8000000",),
    ),
    Entry(
        code="invalid-yaml",
        files={"config.yaml": "access: " + "[" * 3_000},
        reports=("config.yaml:1:1: it is nested too deeply to be read",),
    ),
    Entry(
        code="invalid-yaml",
        files={"config.yaml": "access:\n  a: \0"},
        reports=("config.yaml:2:6: U+0000 is not allowed in YAML",),
    ),
    Entry(
        code="long-description",
        files={"operations/o.graphql": f'query O @mcpTool(description: "{"d" * 2_049}") {{ a }}'},
        reports=('operations/o.graphql:1:1: "O" has a description of 2049 bytes: clients cut it after 2048',),
    ),
    Entry(
        code="missing-cursor",
        files={
            "index.graphql": "type Query { a: Page } type Page { edges: [Edge] pageInfo: Info } "
            "type Edge { cursor: ID node: Row } type Row { x: Int } type Info { endCursor: ID }",
            "operations/o.graphql": "query O @mcpTool { a { edges { node { x } } pageInfo { endCursor } } }",
        },
        reports=('operations/o.graphql:1:1: "O" cannot shorten a: it selects endCursor, and not the cursors of edges',),
    ),
    Entry(
        code="large-tool",
        files={"operations/o.graphql": f'query O @mcpTool(description: "{"d" * 17_000}") {{ a }}'},
        reports=(
            (
                'operations/o.graphql:1:1: "O" takes 17490 bytes of the list of tools, about 4372 tokens in every '
                "conversation: more than 16384 bytes"
            ),
        ),
    ),
    Entry(
        code="long-tool-list",
        files={"operations/o.graphql": f'query O @mcpTool(description: "{"d" * 101_000}") {{ a }}'},
        reports=(
            (
                "index.graphql:1:1: names and arguments of the tools take about 25278 tokens in every conversation, "
                "more than 24000: expected fewer, or catalog: true in config.yaml, or several endpoints"
            ),
        ),
    ),
    Entry(
        code="too-many-tools",
        files={"operations/o.graphql": "\n".join(f"query O{n} @mcpTool {{ a }}" for n in range(41))},
        reports=(
            (
                "index.graphql:1:1: 41 tools are listed, and some clients take 40 at most: "
                "expected fewer, or catalog: true in config.yaml, or several endpoints"
            ),
        ),
    ),
    Entry(
        code="unexplained-enum",
        files={
            "index.graphql": f"type Query {{ a(e: E): Int }}\nenum E {{\n{VALUES}\n}}",
            "operations/o.graphql": "query O($e: E) @mcpTool { a(e: $e) }",
        },
        reports=(
            (
                'operations/o.graphql:1:1: the descriptions of the values of "E" are left out of O: '
                "they have 1119 characters, more than 1000"
            ),
        ),
    ),
)
