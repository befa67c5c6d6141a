"""Large and hostile documents: each limit with the document that just fits, and the work that the worst ones cost."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from handler.errors.calls import DocumentRefused
from handler.graph.documents.document_check import answer_introspection
from handler.graph.documents.limits import MAX_FRAGMENT_NESTING
from tests.graph.shop import LIMITS, VIEW, WIDE, check
from tests.support.schemas import schemas_of


def refusal(text: str, variables: dict[str, Any] | None = None, **options: Any) -> tuple[str, ...]:
    """The sentences with which a document is refused; it must be."""
    with pytest.raises(DocumentRefused) as caught:
        check(text, variables, **options)
    return tuple(map(str, caught.value.faults))


def accepted(text: str, **options: Any) -> bool:
    """Whether a document is not refused, in which case the refusal shows."""
    return check(text, **options).kind == "query"


def nested(field: str, levels: int, leaf: str = "__typename") -> str:
    """``{ field { field { leaf } } }``: so many levels of fields, the leaf's included."""
    return "{ " + f"{field} {{ " * (levels - 1) + leaf + " }" * levels


def chain(fragments: int, *, last: str = "__typename") -> str:
    """An operation and fragments that spread each other one after the other."""
    links = [f"fragment F{number} on Query {{ ...F{number + 1} }}" for number in range(1, fragments)]
    return " ".join(["{ ...F1 }", *links, f"fragment F{fragments} on Query {{ {last} }}"])


def test_tokens_are_limited() -> None:
    assert accepted("{ __typename" + ",\n" * 50_000 + "}")
    assert accepted("{ employee(id: 1) { ...F } } fragment F on Employee { " + "id " * 150 + "}")
    assert refusal("{ " + "self { __typename } " * 1_250 + "}") == (
        "1:25001: Syntax Error: Document contains more than 5000 tokens. Parsing aborted.",
    )


def refused_as(what: str, text: str, **options: Any) -> str:
    """The selection at which a limit is passed, with its place; that is all that the refusal may say."""
    (message,) = refusal(text, **options)
    assert message.endswith(f" it has more than {what}: ask for less in one request")
    return message.removesuffix(f" it has more than {what}: ask for less in one request")


def test_depth_is_limited_through_fields_and_fragments() -> None:
    too_deep = "12 levels of fields (max_depth)"

    assert accepted(nested("self", 12))
    assert refused_as(too_deep, nested("self", 13)) == '1:87: with "__typename"'
    half = nested("self", 6, "...F")
    assert accepted(half + " fragment F on Query " + nested("self", 7))
    assert refused_as(too_deep, half + " fragment F on Query " + nested("self", 8)) == '1:126: with "__typename"'
    assert refused_as(too_deep, " fragment F on Query " + nested("self", 8) + half) == '1:101: with "self"'
    refused_as(too_deep, half + " fragment F on Query { ...G } fragment G on Query " + nested("self", 8))
    refused_as(too_deep, nested("self", 6, "... { ... on Query " + nested("self", 8) + "}"))


def test_fields_are_limited_after_fragments_are_expanded() -> None:
    too_many = "200 fields, fragments expanded (max_fields)"

    assert accepted("{ " + "__typename " * 200 + "}")
    assert refused_as(too_many, "{\n" + "__typename\n" * 200 + "a: __typename }") == '202:1: with "a: __typename"'
    fragment = " fragment F on Query { " + "__typename " * 20 + "}"
    assert accepted("{ " + "...F " * 10 + "}" + fragment)
    assert refused_as(too_many, "{ " + "...F " * 10 + "__typename }" + fragment) == '1:53: with "__typename"'
    assert refused_as(too_many, "{ " + "...F " * 11 + "}" + fragment) == '1:53: with "...F"'
    assert refused_as(too_many, "{ " + "... { ...F } " * 11 + "}" + fragment) == "1:133: with ..."


def test_aliases_are_limited_after_fragments_are_expanded() -> None:
    too_many = "20 aliases, fragments expanded (max_aliases)"

    def aliases(count: int) -> str:
        return " ".join(f"a{number}: self {{ __typename }}" for number in range(count))

    assert accepted(f"{{ {aliases(20)} }}")
    assert refused_as(too_many, f"{{ {aliases(21)} }}") == '1:493: with "a20: self"'
    fragment = f" fragment F on Query {{ {aliases(10)} }}"
    assert accepted("{ ...F self { ...F } }" + fragment)
    assert refused_as(too_many, "{ ...F self { ...F } b: self { __typename } }" + fragment) == '1:22: with "b: self"'


def test_fragments_in_each_other_are_limited() -> None:
    too_deep = f"{MAX_FRAGMENT_NESTING} fragments in each other"

    assert accepted(chain(40))
    assert refused_as(too_deep, chain(41)).endswith('with "...F41"')
    assert accepted("{ " + "... { " * 40 + "__typename" + " }" * 41)
    assert refused_as(too_deep, "{ " + "... { " * 41 + "__typename" + " }" * 42) == "1:243: with ..."
    refused_as(too_deep, chain(30, last="... { " * 11 + "__typename" + " }" * 11))


def test_fragments_in_each_other_are_limited_in_any_order_of_definitions() -> None:
    """Each fragment is measured once; what was measured first counts for those that spread it later."""
    links = [f"fragment F{number} on Query {{ ...F{number + 1} }}" for number in range(1, 600)]
    leaf = "fragment F600 on Query { __typename }"

    assert "fragments in each other" in refusal(" ".join([leaf, *reversed(links), "{ ...F1 }"]))[0]
    spread_backwards = "{ " + " ".join(f"...F{number}" for number in range(600, 0, -1)) + " }"
    assert "fragments in each other" in refusal(" ".join([spread_backwards, *links, leaf]), limits=WIDE)[0]


def test_deep_fragments_of_deep_fields_end_in_a_refusal_and_not_in_python() -> None:
    links = [f"fragment F{number} on Query " + nested("self", 50, f"...F{number + 1}") for number in range(40)]

    refused_as(
        "50 levels of fields (max_depth)",
        " ".join(["{ ...F0 }", *links, "fragment F40 on Query { __typename }"]),
        limits=WIDE,
    )


def test_fragment_cycles_and_unknown_fragments_are_refused() -> None:
    assert refusal("{ ...F } fragment F on Query { ...F }") == ('1:32: fragment "F" spreads itself',)
    assert refusal("{ ...A } fragment A on Query { self { ...B } } fragment B on Query { ... { ...A } }") == (
        '1:76: fragment "A" spreads itself',
    )
    assert refusal("{ __typename } fragment F on Query { ...F }") == ('1:38: fragment "F" spreads itself',)
    assert refusal("{ ...F }") == ('1:3: it has no fragment "F"',)
    assert len(refusal("{ ..." + "F" * 10_000 + " }")[0]) < 100


def test_fields_of_the_api_may_be_named_like_those_of_introspection() -> None:
    schemas = schemas_of("type Query { fields: [Query] interfaces: [Query] possibleTypes: [Query] a: Int }")

    assert accepted("{ fields { fields { interfaces { a } } } }", schemas=schemas)


# What asks for the schema has bounds of its own.


def test_one_schema_is_asked_for_at_a_time() -> None:
    assert accepted("{ a: __schema { types { name } } }")
    two = "{ a: __schema { types { name } } b: __schema { types { name } } }"
    assert refused_as("1 __schema", two) == '1:34: with "b: __schema"'


def test_introspection_is_measured_apart_from_the_limits_for_data() -> None:
    tight = replace(LIMITS, max_depth=1, max_fields=1, max_aliases=0)

    assert accepted(
        "{ __schema { types { n: name fields { name type { ofType { ofType { name } } } } } } }", limits=tight
    )
    assert accepted(
        "{ __schema { types { ...T } } } fragment T on __Type { a: kind b: name c: description }", limits=tight
    )


def test_depth_of_introspection_is_limited() -> None:
    too_deep = "20 levels below fields of introspection"

    assert accepted('{ __type(name: "Query") ' + nested("ofType", 20, "name") + " }")
    deep = '{ __type(name: "Query") ' + nested("ofType", 21, "name") + " }"
    assert refused_as(too_deep, deep) == '1:207: with "name"'
    fragment = '{ __type(name: "Query") { ...F } } fragment F on __Type ' + nested("ofType", 21, "name")
    refused_as(too_deep, fragment)


def test_fields_of_introspection_are_limited() -> None:
    too_many = "500 fields below those of introspection, fragments expanded"

    assert accepted('{ __type(name: "Query") { ' + "name " * 500 + "} }")
    assert refused_as(too_many, '{ __type(name: "Query") {\n' + "name\n" * 501 + "} }") == '502:1: with "name"'
    spread = '{ __type(name: "Query") { ' + "...F " * 6 + "} } fragment F on __Type { " + "name " * 100 + "}"
    assert refused_as(too_many, spread) == '1:52: with "...F"'


BOMBS = {
    "same field with different fields below": "{" + "self{self{payroll}}" * 500 + "}",
    "same field with the same fields below": "{" + "self{self{__typename}}" * 66 + "}",
    "same fields in many inline fragments": "{ search(text: 1) {".replace("1", '"x"')
    + "... on Employee { manager { id } } ... on Customer { manager { id } }" * 40
    + "} }",
    "exponential fragments": "{ ...F0 } "
    + " ".join(f"fragment F{n} on Query {{ ...F{n + 1} ...F{n + 1} }}" for n in range(39))
    + " fragment F39 on Query { __typename }",
    "exponential fragments of fields": "{ ...F0 } "
    + " ".join(f"fragment F{n} on Query {{ a: self {{ ...F{n + 1} }} b: self {{ ...F{n + 1} }} }}" for n in range(11))
    + " fragment F11 on Query { __typename }",
    "fragments that all spread all later ones": "{ ...F0 } "
    + " ".join(f"fragment F{n} on Query {{ {' '.join(f'...F{m}' for m in range(n + 1, 40))} }}" for n in range(39))
    + " fragment F39 on Query { __typename }",
    "one fragment spread by many fields": "{" + "self{...F}" * 60 + "} fragment F on Query { self { __typename } }",
    "many fragments beside each other": "{"
    + " ".join(f"...F{n}" for n in range(150))
    + "}"
    + " ".join(f"fragment F{n} on Query {{ __typename }}" for n in range(150)),
    "many operations that spread many fragments": " ".join(f"query Q{n} {{ ...F }}" for n in range(190))
    + "fragment F on Query {"
    + " ".join(f"...F{n}" for n in range(150))
    + "}"
    + " ".join(f"fragment F{n} on Query {{ __typename }}" for n in range(150)),
    "unused fragments of one name": "{ __typename }" + "fragment F on Query { __typename }" * 600,
    "directives": "{ __typename" + "@include(if: true)" * 800 + "}",
    "unknown directives": "{ __typename" + "@a" * 2_400 + "}",
    "10,000 directives": "{ __typename" + "@a" * 10_000 + "}",
    "directives on many fields": "{" + ("__typename " + "@a" * 11) * 190 + "}",
    "arguments": "{ echo(" + " ".join(f"a{n}: 1" for n in range(1_600)) + ") }",
    "arguments of one name": "{ echo(" + "int: 1 " * 1_600 + ") }",
    "5,000 arguments": "{ echo(" + "int: 1 " * 5_000 + ") }",
    "long lists as arguments that are compared": "{" + ("echo(json: [" + "1 " * 40 + "])") * 100 + "}",
    "long objects as arguments that are compared": "{"
    + ("echo(json: {" + " ".join(f"k{n}: 1" for n in range(9)) + "})") * 150
    + "}",
    "a long list": "{ echo(json: [" + "1 " * 4_900 + "]) }",
    "a wide object": "{ echo(json: {" + " ".join(f"k{n}: 1" for n in range(1_600)) + "}) }",
    "an input object's wrong items": "{ employees(where: {and: [" + "{ssn: 1}" * 900 + "]}) { id } }",
    "variables": "query(" + " ".join(f"$v{n}: Int" for n in range(1_200)) + ") { __typename }",
    "undefined variables": "{ echo(json: [" + " ".join(f"$v{n}" for n in range(1_600)) + "]) }",
    "used variables": "query("
    + " ".join(f"$v{n}: Int" for n in range(600))
    + ") { echo(json: ["
    + " ".join(f"$v{n}" for n in range(600))
    + "]) }",
    "many operations with one fragment's variables": " ".join(f"query Q{n}($a: Int) {{ ...F }}" for n in range(200))
    + "fragment F on Query { echo(json: ["
    + "$a " * 2_000
    + "]) }",
    "a long default": "query($v: JSON = [" + "1 " * 4_800 + "]) { echo(json: $v) }",
    "introspection under aliases": "{"
    + " ".join(f'a{n}: __type(name: "Query") {{ fields {{ args {{ type {{ name }} }} }} }}' for n in range(20))
    + "}",
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_work_for_the_worst_documents_within_the_limits_is_bounded(bomb: str) -> None:
    """Counted in Python calls, which a slow machine does not change: 2,000,000 are about a third of a second."""
    assert calls(lambda: ended(BOMBS[bomb], operation_name="Q1" if "Q1" in BOMBS[bomb] else None)) < 2_000_000


def ended(text: str, **options: Any) -> str:
    """How it ends; nothing but these two may happen."""
    try:
        checked = check(text, {"v": 1, "w": {"name": "x"}, "id": 1}, **options)
        if checked.introspection:
            answer_introspection(checked, VIEW)
    except DocumentRefused as refused:
        return str(refused)
    return "sent"


def calls(work: Callable[[], object]) -> int:
    """How many calls of functions, C or Python, some work is."""
    count = 0

    def counted(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize(
    "text",
    {
        "nested lists": "{ echo(json: " + "[" * 150 + "]" * 150 + ") }",
        "lists too deep": "{ echo(json: " + "[" * 5_000 + "]" * 5_000 + ") }",
        "objects too deep": "{ echo(json: " + "{a: " * 5_000 + "1" + "}" * 5_000 + ") }",
        "input objects": "{ employees(where: " + "{and: " * 150 + "[]" + "}" * 150 + ") { id } }",
        "list types": "query($v: " + "[" * 190 + "Int" + "]" * 190 + ") { echo(json: $v) }",
        "list types too deep": "query($v: " + "[" * 5_000 + "Int" + "]" * 5_000 + ") { echo(json: $v) }",
        "fields too deep": nested("self", 10_000),
        "inline fragments too deep": "{ " + "... { " * 10_000 + "__typename" + " }" * 10_001,
        "an unclosed document": "{ self " * 30_000,
        "a chain of fragments": chain(5_000),
        "a huge integer": "{ echo(int: " + "1" * 1_000_000 + ") }",
        "a huge integer in a scalar": "{ echo(json: [" + "1" * 1_000_000 + "]) }",
        "a huge integer as a float": "{ echo(float: " + "1" * 1_000_000 + ") }",
        "a huge integer as an id": "{ echo(id: " + "1" * 1_000_000 + ") }",
        "a huge exponent": "{ echo(float: 1e" + "9" * 100_000 + ") }",
        "a huge exponent in a scalar": "{ echo(json: 1e" + "9" * 100_000 + ") }",
        "a huge default": "query($v: Int = " + "1" * 1_000_000 + ") { echo(int: $v) }",
        "a huge string": '{ echo(string: "' + "x" * 1_000_000 + '") }',
        "a huge string for an integer": '{ echo(int: "' + "x" * 1_000_000 + '") }',
        "a huge block string": '{ echo(string: """' + "\n x" * 300_000 + '""") }',
        "many escapes": '{ echo(string: "' + "\\u{1F600}" * 90_000 + '") }',
        "a huge name": "{ " + "x" * 1_000_000 + " }",
        "a huge comment": "{ __typename #" + "x" * 1_000_000 + "\n}",
        "many comments": "{ __typename " + "#\n" * 400_000 + "}",
        "a byte order mark": "\ufeff{ __typename }",
        "half a surrogate pair": '{ echo(string: "\ud83d") }',
    }.items(),
    ids=lambda item: item[0],
)
@pytest.mark.parametrize("limits", [LIMITS, WIDE], ids=["default", "widest"])
def test_documents_of_any_form_are_checked_or_refused(text: tuple[str, str], limits: Any) -> None:
    assert len(ended(text[1], limits=limits)) < 6_000


SEEDS = (
    """query A($id: ID!, $w: EmployeeFilter = {name: "x"}) { employee(id: $id) { ...F } employees(where: $w) { name } }
    fragment F on Employee { manager { id ... on Person { name } } }""",
    'mutation M { rename(id: 1, name: "x") { id reports { id } } }',
    """{ search(text: "a") { ... on Employee { id } ... on Customer { orders } __typename } node(id: 1) { ...N } }
    fragment N on Node { id }""",
    '{ __schema { types { ...T } } __type(name: "Employee") { ...T } } fragment T on __Type { name fields { name } }',
    "query A($v: JSON) { echo(json: {a: [$v, 1.5e3, null, true, E]}) @skip(if: false) } query B { __typename }",
    "{ ...A } fragment A on Query { self { ...B } } fragment B on Query { self { __typename } }",
)
PIECES = (
    *"{}()[]:!$@=&|\"\\,#\n\x00",
    *("...", "on", "fragment", "query", "mutation", "subscription", "null", "true", "-1", "1e999", '"""', "A", "v"),
    *("ssn", "salary", "payroll", "__schema", "__type", "__typename", "@defer", "@skip(if: $x)", "type T { a: Int }"),
    *("\ud800", "\U0001f600", "\ufeff", "\\u{D800}", '"\\uD83D"', "9" * 5_000, "{" * 50, "[" * 300, "self{" * 30),
)  # fmt: skip


def test_any_mutated_document_is_checked_or_refused() -> None:
    random = Random(7)
    ends = [ended(_mutated(random), operation_name=random.choice([None, None, "A", "M"])) for _ in range(3_000)]

    assert ends.count("sent") > 100
    assert len(set(ends)) > 500


def _mutated(random: Random) -> str:
    text = random.choice(SEEDS)
    for _ in range(random.choice([0, 1, 1, 2, 3, 8])):
        start = random.randrange(len(text) + 1)
        end = min(len(text), start + random.choice([0, 0, 1, 5, 30]))
        other = random.choice(SEEDS)
        cut = random.randrange(len(other))
        piece = random.choice([random.choice(PIECES), f" {random.choice(PIECES)} ", other[cut : cut + 20], ""])
        text = text[:start] + piece + text[end:]
    return text
