from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

import pytest
from graphql import parse, print_ast, strip_ignored_characters

from handler.compiler.compile import compile_endpoint
from handler.compiler.operations.validation import MAX_DEPRECATIONS
from tests.support.diagnostics import Reported
from tests.support.endpoints import (
    READABLE,
    compiled,
    doubted,
    prescribed_tool,
    reported,
    write_endpoint,
)

SDL = """
type Query { order(id: ID!): Order orders(first: Int): [Order!] }
type Mutation { cancel(id: ID!): Order }
type Subscription { placed: Order }
type Order { id: ID! total: Int customer: Customer }
type Customer { name: String orders: [Order!] }
"""


def refused(folder: Path, operations: str) -> list[Reported]:
    return reported(folder, {"index.graphql": SDL, "operations/o.graphql": operations})


def sent(folder: Path, operations: str, *, name: str = "O") -> str:
    """The text that goes upstream for one tool."""
    made = compiled(folder, {"index.graphql": SDL, "config.yaml": READABLE, "operations/o.graphql": operations})
    return prescribed_tool(made, name).operation.text


def test_unknown_field_is_reported_where_it_stands_in_the_file_of_operations(tmp_path: Path) -> None:
    operations = "query O($id: ID!) {\n  order(id: $id) {\n    totl\n  }\n}\n"

    (problem,) = reported(tmp_path, {"index.graphql": SDL, "operations/o.graphql": operations})

    assert problem == "operations/o.graphql:3:5 unknown-field: 'totl' & 'Order' & Did you mean 'total'?"


@pytest.mark.parametrize(
    ("operations", "line"),
    [
        ("query O { orders { id }", "1:24 syntax-error"),
        ("query O { orders { } }", "1:20 syntax-error: '}'"),
        ("query O { }", "1:11 syntax-error: '}'"),
        ("{ orders { id } }", "1:1 anonymous-operation"),
        (
            "subscription S { placed { id } }",
            '1:1 subscription: "S"',
        ),
        (
            "query O { orders { id } }\nfragment Unused on Order { id }",
            "2:1 unused-fragment: 'Unused'",
        ),
        (
            "query O { orders { ...A } }\nfragment A on Order { customer { orders { ...A } } }",
            "2:43 fragment-cycle: 'A'",
        ),
        (
            "query O { orders }",
            "1:11 wrong-selection: 'orders' & '[Order!]' & Did you mean 'orders { ... }'?",
        ),
        ("query O($x: Foo) { orders(first: $x) { id } }", "1:13 unknown-type: 'Foo'"),
        (
            "query O($x: String) { orders(first: $x) { id } }",
            "1:9 wrong-variable-type: '$x' & 'String' & 'Int' & operations/o.graphql:1:37",
        ),
        ('query O($x: Int = "a") { orders(first: $x) { id } }', '1:19 wrong-value: "a"'),
        ("query O { orders { id @fresh } }", "1:23 unknown-directive: '@fresh'"),
        ("query O { orders { id @cached } }", "1:23 unknown-directive: '@cached'"),
        ("query O @mcptool { orders { id } }", "1:9 unknown-directive: '@mcptool'"),
        (
            "query O { orders @mcpTool { id } }",
            "1:18 misplaced-directive: @mcpTool",
        ),
        (
            "query O { orders { id } }\ntype A { b: Int }",
            "2:1 misplaced-definition",
        ),
    ],
)
def test_bad_operation_is_reported(tmp_path: Path, operations: str, line: str) -> None:
    assert refused(tmp_path, operations) == [f"operations/o.graphql:{line}"]


def test_operations_beside_a_type_definition_are_judged(tmp_path: Path) -> None:
    assert refused(tmp_path, "type A { b: Int }\nquery O { orders { totl } }") == [
        "operations/o.graphql:1:1 misplaced-definition",
        "operations/o.graphql:2:20 unknown-field: 'totl' & 'Order' & Did you mean 'total'?",
    ]


def test_file_without_an_operation_is_reported(tmp_path: Path) -> None:
    assert refused(tmp_path, "fragment A on Order { id }") == [
        "operations/o.graphql no-operation",
        "operations/o.graphql:1:1 unused-fragment: 'A'",
    ]


def test_every_mistake_of_a_file_is_reported_even_beyond_what_validation_counts(tmp_path: Path) -> None:
    lines = refused(tmp_path, "query O {\n" + "\n".join(f"  no{n}" for n in range(150)) + "\n}")

    assert lines[0] == "operations/o.graphql too-complex"
    assert lines[1] == "operations/o.graphql:2:3 unknown-field: 'no0' & 'Query'"
    assert len(lines) == 101


@pytest.mark.parametrize("levels", [90, 1_500])
def test_fragments_that_are_nested_without_end_are_reported(tmp_path: Path, levels: int) -> None:
    chain = "\n".join(f"fragment F{n} on Customer {{ orders {{ customer {{ ...F{n + 1} }} }} }}" for n in range(levels))
    operations = f"query O {{ orders {{ customer {{ ...F0 }} }} }}\n{chain}\nfragment F{levels} on Customer {{ name }}"

    assert refused(tmp_path, operations) == ["operations/o.graphql too-complex"]


def test_selections_that_are_nested_without_end_are_reported(tmp_path: Path) -> None:
    depth = 1_000

    (line,) = refused(tmp_path, "query O " + "{ orders { customer " * depth + "{ name }" + " } }" * depth)

    # The column is where Python's stack ended, which has the test's own frames in it.
    assert re.match(r"operations/o\.graphql:1:\d+ syntax-error: .*nested too deeply", line)


def test_operation_of_a_name_that_another_file_has_is_reported_with_both_places(tmp_path: Path) -> None:
    files = {
        "index.graphql": SDL,
        "operations/a.graphql": "query O { orders { id } }",
        "operations/b.graphql": "\nquery O { orders { total } }",
        "operations/c.graphql": "query P { orders { id } }\nquery P { nothing }",
    }

    assert reported(tmp_path, files) == [
        'operations/b.graphql:2:1 duplicate-operation: "O" & operations/a.graphql:1:1',
        'operations/c.graphql:2:1 duplicate-operation: "P" & operations/c.graphql:1:1',
        "operations/c.graphql:2:11 unknown-field: 'nothing' & 'Query'",
    ]


def test_file_that_is_named_and_lies_in_operations_is_read_once(tmp_path: Path) -> None:
    files = {
        "index.graphql": 'extend schema @sdl(executables: {document: "operations/o.graphql"})' + SDL,
        "operations/o.graphql": "query O @mcpTool { orders { id } }",
    }

    assert [tool.name for tool in compiled(tmp_path, files).bundle.tools] == ["O"]


def test_only_graphql_files_of_operations_are_read(tmp_path: Path) -> None:
    files = {
        "index.graphql": SDL,
        "operations/o.graphql": "query O @mcpTool { orders { id } }",
        "operations/o.graphql.bak": "query",
        "operations/README.md": "#",
    }

    assert [tool.name for tool in compiled(tmp_path, files).bundle.tools] == ["O"]


def test_what_needs_no_schema_is_judged_without_one(tmp_path: Path) -> None:
    files = {
        "index.graphql": "type Query {",
        "operations/a.graphql": "{ a }",
        "operations/b.graphql": "query O @mcpTool(nam: 1) { b }",
        "operations/c.graphql": "query O { c }",
    }

    assert reported(tmp_path, files) == [
        "index.graphql:1:13 syntax-error",
        "operations/a.graphql:1:1 anonymous-operation",
        'operations/b.graphql:1:18 unknown-argument: @mcpTool & "nam" & did you mean name?',
        'operations/c.graphql:1:1 duplicate-operation: "O" & operations/b.graphql:1:1',
    ]


def test_text_sent_upstream_is_the_operation_without_descriptions_and_our_directives(tmp_path: Path) -> None:
    operations = '''
"""An order, by its id."""
query O(
  "its id" $id: ID! @mcpToolArg(description: "of the order")
  $deep: Boolean! = true
) @mcpTool(name: "O", description: "d") {
  order(id: $id) { ...Total customer @include(if: $deep) { name } }
}

"what it costs"
fragment Total on Order { # a comment
  total
}
'''
    expected = """
query O($id: ID!, $deep: Boolean! = true) {
  order(id: $id) { ...Total customer @include(if: $deep) { name } }
}
fragment Total on Order { total }
"""
    text = sent(tmp_path, operations)

    assert parse(text, no_location=True) == parse(expected, no_location=True)
    assert text == print_ast(parse(expected))
    for ours in ("mcpTool", '"""', "its id", "what it costs", "#"):
        assert ours not in text


def test_strings_that_look_like_ours_are_kept(tmp_path: Path) -> None:
    sdl = "type Query { say(text: String): Int }"
    operation = 'query O @mcpTool { say(text: "@mcpTool \\"\\"\\" # no comment") }'
    files = {"index.graphql": sdl, "config.yaml": READABLE, "operations/o.graphql": operation}

    text = prescribed_tool(compiled(tmp_path, files), "O").operation.text

    assert strip_ignored_characters(text) == 'query O{say(text:"@mcpTool \\"\\"\\" # no comment")}'


def test_each_operation_is_sent_with_the_fragments_it_uses_and_no_others(tmp_path: Path) -> None:
    operations = """
query O @mcpTool { orders { ...A } }
query P @mcpTool { orders { ...B } }
fragment A on Order { customer { ...C } }
fragment B on Order { total }
fragment C on Customer { name }
"""
    text = sent(tmp_path, operations)

    assert [definition.name.value for definition in parse(text).definitions] == ["O", "A", "C"]  # type: ignore[attr-defined]


def test_kind_of_an_operation_is_kept(tmp_path: Path) -> None:
    files = {
        "index.graphql": SDL,
        "operations/q.graphql": "query Q @mcpTool { orders { id } }",
        "operations/m.graphql": "mutation M($id: ID!) @mcpTool { cancel(id: $id) { id } }",
    }
    made = compiled(tmp_path, files)

    assert prescribed_tool(made, "Q").operation.kind == "query"
    assert prescribed_tool(made, "M").operation.kind == "mutation"


def test_mutation_of_a_schema_without_mutations_is_reported(tmp_path: Path) -> None:
    files = {"index.graphql": "type Query { a: Int }", "operations/o.graphql": "mutation M { a }"}

    assert reported(tmp_path, files) == ["operations/o.graphql:1:1 missing-operation-type"]


NAMED = (
    'extend schema @sdl(executables: [{document: "a.graphql", persist: %s}, {document: "b.graphql", persist: %s}])\n'
)


def doubts(folder: Path, files: dict[str, str]) -> list[Reported]:
    """The warnings about operations."""
    return [line for line in doubted(folder, files) if not line.startswith("index.graphql")]


# GraphQL, "All Variables Used": "every variable defined by an operation must be used". StepZen's projects have some.
UNUSED = 'query O("Nothing." $x: [Int!]! @mcpToolArg(description: "X"), $id: ID!) @mcpTool { order(id: $id) { id } }'


def test_variable_that_is_never_used_is_a_warning_and_neither_sent_nor_asked_for(tmp_path: Path) -> None:
    files = {"index.graphql": SDL, "operations/o.graphql": UNUSED, "config.yaml": READABLE}
    tool = prescribed_tool(compiled(tmp_path / "1", files), "O")

    assert tool.operation.text.startswith("query O($id: ID!) {")
    assert list(tool.entry["inputSchema"]["properties"]) == list(tool.arguments["properties"]) == ["id"]
    assert tool.operation.variables == ("id",)
    assert doubts(tmp_path / "2", files) == ["operations/o.graphql:1:9 unused-variable: $x"]


def test_variable_of_a_fragment_or_a_directive_is_used(tmp_path: Path) -> None:
    fragment = "fragment F on Query { order(id: $x) { id } }"
    operation = f"query O($x: ID!, $y: Boolean!) @mcpTool {{ ...F @skip(if: $y) }} {fragment}"
    files = {"index.graphql": SDL, "operations/o.graphql": operation}

    assert doubts(tmp_path, files) == []


def test_variable_that_one_of_two_operations_uses_goes_from_the_other_alone(tmp_path: Path) -> None:
    operations = "query O($x: ID!) @mcpTool { orders { id } } query P($x: ID!) @mcpTool { order(id: $x) { id } }"
    made = compiled(tmp_path, {"index.graphql": SDL, "operations/o.graphql": operations})

    assert prescribed_tool(made, "O").operation.text.startswith("query O {")
    assert prescribed_tool(made, "P").operation.text.startswith("query P($x: ID!) {")


def test_unused_variable_is_not_told_of_where_the_operation_has_a_mistake(tmp_path: Path) -> None:
    files = {"index.graphql": SDL, "operations/o.graphql": "query O($x: Int) @mcpTool { orders { ...F } }"}

    assert reported(tmp_path, files) == ["operations/o.graphql:1:41 unknown-fragment: 'F'"]


@pytest.mark.parametrize("documents", ["documentId", "apollo"])
def test_text_that_the_api_knows_keeps_a_variable_that_is_never_used(tmp_path: Path, documents: str) -> None:
    """The id of an operation is the digest of its text."""
    text = "query O($x: Int, $y: Int! = 1, $z: Int!, $id: ID!) { order(id: $id) { id } }\n"
    tool_directive = '@tool(name: "t", prescribed: "O")'
    files = {
        "index.graphql": f"extend schema {tool_directive}\n{SDL}",
        "operations/o.graphql": text,
        "config.yaml": f"{READABLE}upstream: {{documents: {documents}}}\n",
    }
    tool = prescribed_tool(compiled(tmp_path / "1", files), "t")

    assert tool.operation.text == text
    assert list(tool.entry["inputSchema"]["properties"]["variables"]["properties"]) == ["z", "id"]
    assert tool.operation.variables == ("z", "id")
    assert doubts(tmp_path / "2", files) == [
        "operations/o.graphql:1:9 unused-variable: $x is not taken",
        "operations/o.graphql:1:18 unused-variable: $y is not taken",
        "operations/o.graphql:1:32 unused-variable: $z & asked for",
    ]


def test_bound_variable_that_is_never_used_is_reported(tmp_path: Path) -> None:
    """Who binds a variable to a claim relies on what it does."""
    operation = 'query O($tenant: ID! @mcpBind(claim: "tenant")) @mcpTool { orders { id } }'

    assert reported(tmp_path, {"index.graphql": SDL, "operations/o.graphql": operation}) == [
        "operations/o.graphql:1:9 unused-binding: $tenant"
    ]


def test_what_is_deprecated_is_one_warning_however_often_it_is_used(tmp_path: Path) -> None:
    files = {
        "index.graphql": 'type Query { a: Int @deprecated(reason: "Use b.") old: Int @deprecated b: Int }',
        "operations/a.graphql": '"x" query A @mcpTool { a b }',
        "operations/b.graphql": '"x" query B @mcpTool { a x: a old }',
    }

    assert doubts(tmp_path, files) == [
        "operations/a.graphql:1:24 deprecated: Query.a & Use b. (3 uses)",
        "operations/b.graphql:1:31 deprecated: Query.old & No longer supported",
    ]


def test_much_that_is_deprecated_is_counted(tmp_path: Path) -> None:
    fields = " ".join(f"f{number}: Int @deprecated" for number in range(MAX_DEPRECATIONS + 3))
    names = [f"f{number}" for number in range(MAX_DEPRECATIONS + 3)]
    files = {
        "index.graphql": f"type Query {{ {fields} }}",
        "operations/o.graphql": f'"x" query O @mcpTool {{ {" ".join(names)} x: f0 }}',
    }

    warnings = doubts(tmp_path, files)

    assert len(warnings) == MAX_DEPRECATIONS + 1
    assert warnings[-1].endswith(": 3 more that are deprecated are used 3 times, this among them")


def test_deprecated_field_argument_and_value_are_warnings(tmp_path: Path) -> None:
    files = {
        "index.graphql": 'type Query { a(e: E, x: Int @deprecated(reason: "x")): Int @deprecated(reason: "Use b") }\n'
        "enum E { A B @deprecated }",
        "operations/o.graphql": "query O @mcpTool {\n  a(\n    e: B\n    x: 1\n  )\n}",
    }

    assert doubts(tmp_path, files) == [
        "operations/o.graphql:2:3 deprecated: Query.a & Use b",
        "operations/o.graphql:3:8 deprecated: 'E.B' & No longer supported",
        "operations/o.graphql:4:5 deprecated: 'Query.a(x:)' & deprecated. x",
    ]


def test_file_holds_many_operations_that_share_fragments(tmp_path: Path) -> None:
    operations = """
query One @mcpTool { order(id: 1) { ...Part } }
query Two @mcpTool { order(id: 2) { ...Part ...Whose } }
fragment Part on Order { id }
fragment Whose on Order { customer { name } }
"""

    assert strip_ignored_characters(sent(tmp_path / "1", operations, name="One")) == (
        "query One{order(id:1){...Part}}fragment Part on Order{id}"
    )
    assert "fragment Whose" in sent(tmp_path / "2", operations, name="Two")


def test_operation_of_two_persisted_files_is_reported_with_both_places(tmp_path: Path) -> None:
    query = "query O { orders { id } }"
    files = {"index.graphql": NAMED % ("true", "true") + SDL, "a.graphql": query, "b.graphql": f"\n{query}"}

    assert reported(tmp_path, files) == ['b.graphql:2:1 duplicate-operation: "O" & a.graphql:1:1']


@pytest.mark.parametrize("persisted", [("true", "false"), ("false", "true"), ("false", "false")])
def test_files_that_are_only_validated_may_use_a_name_again(tmp_path: Path, persisted: tuple[str, str]) -> None:
    query = "query O { orders { id } }"
    files = {"index.graphql": NAMED % persisted + SDL, "a.graphql": query, "b.graphql": query}

    assert doubts(tmp_path, files) == []


def test_name_that_is_used_again_stands_for_the_persisted_operation(tmp_path: Path) -> None:
    tool = 'extend schema @tool(name: "t", prescribed: "O")\n'
    files = {
        "index.graphql": NAMED % ("false", "true") + tool + SDL,
        "a.graphql": "query O { orders { total } }",
        "b.graphql": "query O { orders { id } }",
    }

    assert "id" in prescribed_tool(compiled(tmp_path, files), "t").operation.text


def test_operation_that_stands_twice_in_one_file_is_reported_even_if_that_is_only_validated(tmp_path: Path) -> None:
    files = {
        "index.graphql": NAMED % ("false", "false") + SDL,
        "a.graphql": "query O { orders { id } }\nquery O { orders { total } }",
        "b.graphql": "query P { orders { id } }",
    }

    assert reported(tmp_path, files) == ['a.graphql:2:1 duplicate-operation: "O" & a.graphql:1:1']


def test_file_that_is_named_twice_is_read_once_and_persisted_if_one_says_so(tmp_path: Path) -> None:
    files = {
        "index.graphql": 'extend schema @sdl(executables: {document: "a.graphql"})\n'
        'extend schema @sdl(executables: {document: "./a.graphql", persist: true})\n'
        f'@tool(name: "t", prescribed: "O")\n{SDL}',
        "a.graphql": "query O { orders { id } }",
    }

    assert [tool.name for tool in compiled(tmp_path, files).bundle.tools] == ["t"]


UNNAMED = ["a.graphql:1:1 uncallable-operation"]


def test_only_operation_of_a_persisted_file_that_the_schema_names_may_be_without_a_name(tmp_path: Path) -> None:
    index = 'extend schema @sdl(executables: {document: "a.graphql", persist: true})\n' + SDL

    assert doubts(tmp_path / "1", {"index.graphql": index, "a.graphql": "{ orders { id } }"}) == []
    files = {"index.graphql": index, "a.graphql": "{ orders { id } }\nquery O { orders { id } }"}
    assert reported(tmp_path / "2", files) == ["a.graphql:1:1 anonymous-operation"]
    as_tool = {"index.graphql": index, "a.graphql": 'query @mcpTool(name: "t") { orders { id } }'}
    assert reported(tmp_path / "3", as_tool) == ["a.graphql:1:1 anonymous-operation"]


def test_operation_without_a_name_of_a_file_that_is_not_persisted_is_doubted(tmp_path: Path) -> None:
    index = 'extend schema @sdl(executables: {document: "a.graphql"})\n' + SDL

    assert doubts(tmp_path, {"index.graphql": index, "a.graphql": "{ orders { id } }"}) == UNNAMED


def test_operation_without_a_name_is_judged_too(tmp_path: Path) -> None:
    index = 'extend schema @sdl(executables: {document: "a.graphql"})\n' + SDL

    assert reported(tmp_path, {"index.graphql": index, "a.graphql": "{ totl }"}) == [
        "a.graphql:1:3 unknown-field: 'totl' & 'Query'"
    ]


def test_id_of_a_persisted_document_is_the_digest_of_its_bytes(tmp_path: Path) -> None:
    index = """
    extend schema @sdl(executables: [
      {document: "a.graphql", persist: true} {document: "b.graphql"} {document: "c.graphql", persist: true}
    ])
    type Query { a: Int }
    """
    files = {"index.graphql": index, "a.graphql": "query A { a }\r\nquery B { a }\n", "b.graphql": "query C { a }"}
    folder = write_endpoint(tmp_path, {**files, "operations/d.graphql": "query D { a }"})
    (folder / "a.graphql").write_bytes(b"query A { a }\r\nquery B { a }\n")
    (folder / "c.graphql").write_bytes(b"\xef\xbb\xbf{__typename}")

    # Line ends, the last one and a byte order mark count: the id is the digest of the file as it is.
    assert {(each.file, each.id, each.operations) for each in compile_endpoint(folder).documents} == {
        ("a.graphql", "sha256:" + sha256(b"query A { a }\r\nquery B { a }\n").hexdigest(), ("A", "B")),
        ("c.graphql", "sha256:" + sha256(b"\xef\xbb\xbf{__typename}").hexdigest(), ()),
        ("operations/d.graphql", "sha256:" + sha256(b"query D { a }").hexdigest(), ("D",)),
    }


def test_id_of_a_persisted_document_is_the_published_one(tmp_path: Path) -> None:
    """The digest that IBM's public examples show for the text ``{__typename}``."""
    index = 'extend schema @sdl(executables: {document: "a.graphql", persist: true}) type Query { a: Int }'

    (document,) = compiled(tmp_path, {"index.graphql": index, "a.graphql": "{__typename}"}).documents

    assert document.id.startswith("sha256:ecf4edb4")
    assert document.id.endswith("a6b38")


UNTOUCHED = "query  O($id: ID!,) { # by id\n  order(id: $id) { id }\r\n}\n"


def test_operation_that_needs_no_change_is_sent_byte_for_byte(tmp_path: Path) -> None:
    folder = write_endpoint(
        tmp_path, {"index.graphql": 'extend schema @tool(name: "O", prescribed: "O")' + SDL, "config.yaml": READABLE}
    )
    (folder / "operations").mkdir()
    (folder / "operations" / "o.graphql").write_bytes(UNTOUCHED.encode())
    made = compile_endpoint(folder)

    text = prescribed_tool(made, "O").operation.text
    assert text == UNTOUCHED
    assert made.documents[0].id == f"sha256:{sha256(text.encode()).hexdigest()}"


def test_operation_beside_others_is_sent_alone_and_equal_as_a_tree(tmp_path: Path) -> None:
    fragment = "fragment F on Order { id }"

    text = sent(tmp_path, f"query O @mcpTool {{ orders {{ ...F }} }} query P {{ orders {{ ...F }} }} {fragment}")

    assert parse(text, no_location=True) == parse(f"query O {{ orders {{ ...F }} }} {fragment}", no_location=True)


def test_directives_for_clients_are_not_sent(tmp_path: Path) -> None:
    selections = '... @defer(label: "l") { id } ...F @unmask customer @nonreactive { name }'
    operation = (
        f'query O @mcpTool {{ orders @connection(key: "k") {{ {selections} }} }} fragment F on Order {{ total }}'
    )

    text = sent(tmp_path, operation)

    assert "@" not in text
    assert "... {" in text


DEFERRED = "query O($d: Boolean!) @mcpTool { orders { total ... @defer(if: $d) { id } } }"


@pytest.mark.parametrize(
    ("operation", "directive"),
    [
        (DEFERRED, "defer"),
        ("query O($d: Int) @mcpTool { orders @stream(initialCount: $d) { total } }", "stream"),
        (
            "query O($d: Boolean!) @mcpTool { orders { ...F } } fragment F on Order { ... @defer(if: $d) { id } }",
            "defer",
        ),
        ("query O($d: Int) @mcpTool { orders @connection(filter: [$d]) { total } }", "connection"),
    ],
)
def test_variable_of_directives_that_are_not_sent_goes_with_them(
    tmp_path: Path, operation: str, directive: str
) -> None:
    files = {"index.graphql": SDL, "operations/o.graphql": operation, "config.yaml": READABLE}
    tool = prescribed_tool(compiled(tmp_path / "1", files), "O")

    assert "$" not in tool.operation.text
    assert tool.entry["inputSchema"] == {"type": "object", "properties": {}}
    assert tool.arguments["properties"] == {}
    assert (f"operations/o.graphql:1:9 unsent-variable: $d & @{directive}") in doubted(tmp_path / "2", files)


def test_variable_that_is_left_somewhere_else_stays(tmp_path: Path) -> None:
    operation = DEFERRED.replace("total", "total @include(if: $d)")

    assert sent(tmp_path, operation).startswith("query O($d: Boolean!) {")


def test_variable_of_one_operation_goes_and_the_same_name_in_another_stays(tmp_path: Path) -> None:
    files = {
        "index.graphql": SDL,
        "operations/o.graphql": "query O($id: ID!) @mcpTool { orders @connection(key: $id) { id } }"
        " query P($id: ID!) @mcpTool { order(id: $id) { id } }",
    }
    made = compiled(tmp_path, files)

    assert prescribed_tool(made, "O").operation.text == "query O {\n  orders {\n    id\n  }\n}"
    assert prescribed_tool(made, "P").operation.text.startswith("query P($id: ID!) {")


def test_bound_variable_of_directives_that_are_not_sent_is_not_filled(tmp_path: Path) -> None:
    operation = DEFERRED.replace("Boolean!", "Boolean! @mcpBind(value: true)")
    made = compiled(tmp_path, {"index.graphql": SDL, "operations/o.graphql": operation, "config.yaml": READABLE})

    assert prescribed_tool(made, "O").bindings == ()


def test_directive_that_asks_for_an_answer_in_parts_is_doubted_and_not_sent(tmp_path: Path) -> None:
    files = {
        "index.graphql": SDL
        + "directive @defer(if: Boolean) on INLINE_FRAGMENT directive @stream(initialCount: Int) on FIELD",
        "operations/o.graphql": "query O @mcpTool { orders @stream(initialCount: 1) { id ... @defer { total } } }",
    }

    assert doubts(tmp_path / "1", files) == [
        "operations/o.graphql:1:27 unsent-directive: @stream",
        "operations/o.graphql:1:61 unsent-directive: @defer",
    ]
    assert "@" not in prescribed_tool(compiled(tmp_path / "2", files), "O").operation.text


@pytest.mark.parametrize("name", ["connection", "nonreactive", "unmask"])
def test_directive_of_the_api_is_sent_though_clients_have_one_of_that_name(tmp_path: Path, name: str) -> None:
    files = {
        "index.graphql": f"{SDL} directive @{name}(key: String) on FIELD",
        "operations/o.graphql": f"query O($k: String) @mcpTool {{ orders @{name}(key: $k) {{ id }} }}",
    }
    tool = prescribed_tool(compiled(tmp_path, files), "O")

    assert f"orders @{name}(key: $k)" in tool.operation.text
    assert list(tool.arguments["properties"]) == ["k"]


CONDITIONAL = "query O($deep: Boolean) { orders { id customer @include(if: $deep) { name } } }"


@pytest.mark.parametrize(
    "operation",
    [
        CONDITIONAL,
        "query O($deep: Boolean) { orders { id @skip(if: $deep) } }",
        "query O($deep: Boolean) { orders { ...F } } fragment F on Order { id customer @include(if: $deep) { name } }",
    ],
)
def test_nullable_condition_is_doubted_and_sent_with_a_default(tmp_path: Path, operation: str) -> None:
    files = {"index.graphql": SDL, "operations/o.graphql": operation.replace(") {", ") @mcpTool {", 1)}

    assert doubted(tmp_path / "1", files)[-1] == (
        "operations/o.graphql:1:9 nullable-condition: $deep & @skip & @include"
    )
    tool = prescribed_tool(compiled(tmp_path / "2", files), "O")
    assert tool.operation.text.startswith("query O($deep: Boolean = false) {")
    assert tool.operation.null_is_absent == ("deep",)
    assert tool.entry["inputSchema"] == {"type": "object", "properties": {"deep": {"type": "boolean"}}}


def test_nullable_condition_that_is_an_argument_too_stays_a_mistake(tmp_path: Path) -> None:
    sdl = "type Query { a(b: Boolean): Int }"
    files = {"index.graphql": sdl, "operations/o.graphql": "query O($x: Boolean) { a(b: $x) @include(if: $x) }"}

    assert reported(tmp_path, files) == [
        "operations/o.graphql:1:9 wrong-variable-type: '$x' & 'Boolean' & 'Boolean!' & operations/o.graphql:1:46"
    ]


def test_condition_with_a_default_of_its_own_is_left_alone(tmp_path: Path) -> None:
    operation = CONDITIONAL.replace("$deep: Boolean)", "$deep: Boolean = true) @mcpTool")

    assert sent(tmp_path, operation).startswith("query O($deep: Boolean = true) {")


def test_condition_of_one_operation_leaves_the_same_name_in_another(tmp_path: Path) -> None:
    files = {
        "index.graphql": "type Query { a(b: Boolean): Int }",
        "operations/o.graphql": "query O($x: Boolean) @mcpTool { a @include(if: $x) }"
        " query P($x: Boolean) @mcpTool { a(b: $x) }",
    }
    made = compiled(tmp_path, files)

    assert prescribed_tool(made, "O").operation.null_is_absent == ("x",)
    assert prescribed_tool(made, "P").operation.null_is_absent == ()
    assert "= false" not in prescribed_tool(made, "P").operation.text


ARGUMENT = '@mcpToolArg(description: "d")'


@pytest.mark.parametrize(
    ("operation", "problem"),
    [
        # Cosmo, @mcpToolArg: "Directive location is VARIABLE_DEFINITION".
        (
            f"query O($n: Int) @mcpTool {ARGUMENT} {{ a(n: $n) }}",
            "1:27 misplaced-directive: @mcpToolArg & query",
        ),
        (
            f"mutation M($n: Int)\n{ARGUMENT} @mcpTool {{ b(n: $n) }}",
            "2:1 misplaced-directive: @mcpToolArg & mutation",
        ),
        (
            f"query O @mcpTool {{ b {ARGUMENT} }}",
            "1:22 misplaced-directive: @mcpToolArg",
        ),
        (
            f"query O @mcpTool {{ ...F }}\nfragment F on Query {ARGUMENT} {{ b }}",
            "2:21 misplaced-directive: @mcpToolArg",
        ),
        (
            "query O @mcpTool @mcpBind(value: 1) { b }",
            "1:18 misplaced-directive: @mcpBind & query",
        ),
        # Cosmo, @mcpTool: it stands on QUERY | MUTATION.
        (
            "query O { b @mcpTool }",
            "1:13 misplaced-directive: @mcpTool",
        ),
        (
            "query O($n: Int @mcpTool) { a(n: $n) }",
            "1:17 misplaced-directive: @mcpTool & variable",
        ),
        (
            f'query O($n: Int\n  {ARGUMENT}\n  @mcpToolArg(description: "e")) @mcpTool {{ a(n: $n) }}',
            "3:3 repeated-directive: @mcpToolArg",
        ),
    ],
)
def test_directive_that_nothing_reads_at_its_place_is_reported(tmp_path: Path, operation: str, problem: str) -> None:
    sdl = "type Query { a(n: Int): Int b: Int } type Mutation { b(n: Int): Int }"
    files = {"index.graphql": sdl, "operations/sub/o.gql": operation}

    assert reported(tmp_path, files) == [f"operations/sub/o.gql:{problem}"]


def test_directive_at_a_wrong_place_is_reported_without_a_schema(tmp_path: Path) -> None:
    files = {"index.graphql": "type Query {", "operations/o.graphql": f"query O @mcpTool {ARGUMENT} {{ b }}"}

    assert "operations/o.graphql:1:18 misplaced-directive: @mcpToolArg" in reported(tmp_path, files)


@pytest.mark.parametrize(
    ("operation", "warning"),
    [
        (
            f"query O($n: Int {ARGUMENT}) {{ a(n: $n) }}",
            '1:17 unread-description: "O"',
        ),
        (
            f"query O($n: Int @mcpBind(value: 1) {ARGUMENT}) @mcpTool {{ a(n: $n) }}",
            "1:36 unread-description: @mcpBind & $n",
        ),
    ],
)
def test_description_that_no_model_reads_is_a_doubt(tmp_path: Path, operation: str, warning: str) -> None:
    files = {"index.graphql": "type Query { a(n: Int): Int }", "operations/o.graphql": operation}

    assert f"operations/o.graphql:{warning}" in doubted(tmp_path, {**files, "config.yaml": READABLE})


def test_description_of_a_prescribed_operations_argument_is_no_doubt(tmp_path: Path) -> None:
    files = {
        "index.graphql": 'extend schema @tool(name: "t", prescribed: "O")\ntype Query { a(n: Int): Int }',
        "operations/o.graphql": f"query O($n: Int {ARGUMENT}) {{ a(n: $n) }}",
        "config.yaml": READABLE,
    }

    assert not [each for each in doubted(tmp_path, files) if "no model reads" in each]
