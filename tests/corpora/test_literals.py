from __future__ import annotations

from tests.corpora.literals import graphql_in_javascript, graphql_in_python


def javascript(source: str) -> list[str]:
    return [literal.text.strip() for literal in graphql_in_javascript(source)]


def python(source: str) -> list[tuple[str, str]]:
    return [(literal.place, literal.text.strip()) for literal in graphql_in_python(source)]


def test_template_literal_with_a_document_is_found_with_and_without_a_tag() -> None:
    source = "const a = gql `query A { a }`; ask(`\n  mutation B($x: Int) { b(x: $x) }\n`, {});"

    assert javascript(source) == ["query A { a }", "mutation B($x: Int) { b(x: $x) }"]


def test_comments_and_interpolations_may_come_first() -> None:
    source = "export const Q = `#graphql\n  # NOTE: see the reference\n  ${MONEY}\n  query Q { a }\n`;"

    (text,) = javascript(source)

    assert text.endswith("query Q { a }")
    assert "MONEY" not in text


def test_interpolations_are_cut_with_the_templates_and_braces_in_them() -> None:
    inner = '${ids.map((id) => { return `x${id}: node(id: "${id}") { id }`; })}'
    source = f"`query Q {{ a {{ id {inner} }} }}` + `fragment F on A {{ b }}`"

    assert javascript(source) == ["query Q { a { id  } }", "fragment F on A { b }"]


def test_other_template_literals_are_left_alone() -> None:
    source = (
        "`${count} queries`; `query the owner of it`; `mutations`; // the `query` resolver { }\n`a \\` query { b }`"
    )

    assert javascript(source) == []


def test_escaped_backtick_does_not_end_a_literal() -> None:
    assert javascript("`query Q { a # \\` b\n}`") == ["query Q { a # \\` b\n}"]


def test_string_is_found_with_the_function_it_stands_in() -> None:
    source = 'class C:\n    async def lookup(self):\n        return ask("""\n  query ($a: Int) { a }""")\n'

    assert python(source) == [("lookup", "query ($a: Int) { a }")]


def test_string_outside_of_functions_has_the_name_of_its_constant() -> None:
    source = 'ASK = (PART + """mutation { a }""")\nOTHER: str = "a query { b }"\n'

    assert python(source) == [("ASK", "mutation { a }")]


def test_inner_function_counts() -> None:
    source = 'def outer():\n    def inner():\n        return "query { a }"\n    return "query { b }"\n'

    assert python(source) == [("inner", "query { a }"), ("outer", "query { b }")]
