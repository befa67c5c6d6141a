"""Documents against a view: what goes upstream, what is answered here, and what is refused in which words."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from graphql import parse, print_ast

from handler.compiler.config.config import read_config
from handler.compiler.problems import Problems
from handler.compiler.source.files import EndpointFiles
from handler.errors.calls import DocumentRefused, Fault
from handler.graph.documents.document_check import CheckedDocument, answer_introspection
from handler.graph.documents.operation import bare
from tests.conftest import DEMO
from tests.graph.shop import HIDDEN, LIMITS, SDL, VIEW, check
from tests.support.schemas import schemas_of


def refusal(text: str, variables: dict[str, Any] | None = None, **options: Any) -> tuple[str, ...]:
    """The sentences with which a document is refused; it must be."""
    with pytest.raises(DocumentRefused) as caught:
        check(text, variables, **options)
    assert str(caught.value).startswith("The GraphQL request was refused: " + "; ".join(map(str, caught.value.faults)))
    return tuple(map(str, caught.value.faults))


# What goes upstream.


def test_document_inside_the_view_is_printed_anew() -> None:
    checked = check("{employee(id:7){id,name # who\n}}")

    assert checked == CheckedDocument(
        kind="query",
        name=None,
        text="{\n  employee(id: 7) {\n    id\n    name\n  }\n}",
        variables={},
        introspection=None,
    )


def test_mutation_inside_the_view_goes_upstream_as_one() -> None:
    checked = check('mutation M { rename(id: 1, name: "x") { id } }')

    assert (checked.kind, checked.name) == ("mutation", "M")


def test_only_the_chosen_operation_and_its_fragments_are_sent() -> None:
    text = """
        query A { employee(id: 1) { ...F } }
        query B($x: ID!) { employee(id: $x) { ...G } }
        fragment F on Employee { id ...H }
        fragment G on Employee { name ...H }
        fragment H on Employee { reports { id } }
    """

    checked = check(text, {"x": 1, "y": 2}, operation_name="A")

    assert [node.name.value for node in parse(checked.text).definitions if hasattr(node, "name") and node.name] == [
        "A",
        "F",
        "H",
    ]
    assert (checked.name, checked.variables) == ("A", {})
    assert check(text, {"x": 1, "y": 2}, operation_name="B").variables == {"x": 1}


def test_descriptions_are_not_sent() -> None:
    checked = check(
        '''
        """of the operation"""
        query Q("""of the variable""" $id: ID!) { employee(id: $id) { ...F } }
        "of the fragment"
        fragment F on Employee { id }
        ''',
        {"id": "1"},
    )

    assert checked.text == (
        "query Q($id: ID!) {\n  employee(id: $id) {\n    ...F\n  }\n}\n\nfragment F on Employee {\n  id\n}"
    )


def test_own_directives_are_dropped_from_operations_and_variables_only() -> None:
    document = parse("query Q($a: Int @ours @theirs) @ours @theirs { self @ours { __typename } }")

    assert print_ast(bare(document, without_directives=["ours"])) == (
        "query Q($a: Int @theirs) @theirs {\n  self @ours {\n    __typename\n  }\n}"
    )


@pytest.mark.parametrize(
    "value", [r'"a \" \\ \n \u00e9 \u{1F600} \uD83D\uDE00"', '"""\n  block "\n    \\""" text\n"""', '""', "null"]
)
def test_values_mean_the_same_when_they_are_printed_anew(value: str) -> None:
    def sent(text: str) -> object:
        node: Any = parse(text).definitions[0]
        return getattr(node.selection_set.selections[0].arguments[0].value, "value", None)

    text = f"{{ echo(string: {value}) }}"

    assert sent(check(text).text) == sent(text)


def test_document_that_was_valid_is_judged_anew_for_its_operation_and_variables() -> None:
    text = "query A($id: ID!) { employee(id: $id) { id } } query B($n: Int) { employees(first: $n) { id } }"

    first, second = (check(text, {"id": given}, operation_name="A") for given in ("1", "2"))
    assert (first.variables, second.variables) == ({"id": "1"}, {"id": "2"})
    assert check(text, operation_name="B").text.startswith("query B")
    assert "of non-null type 'ID!'" in refusal(text, operation_name="A")[0]
    assert "max_cost" in refusal(text, {"n": 6_000}, operation_name="B")[0]
    assert refusal(text, operation_name="C") == ('it has no operation "C"',)
    assert "max_fields" in refusal(text, operation_name="B", limits=replace(LIMITS, max_fields=1))[0]


def test_document_that_was_refused_is_refused_again() -> None:
    text = "{ employee(id: 1) { ssn } }"

    assert refusal(text) == refusal(text) == ("1:21: Cannot query field 'ssn' on type 'Employee'.",)


def test_typename_alone_goes_upstream() -> None:
    assert check("{ __typename t: __typename self { __typename } }").introspection is None


def test_skip_and_include_go_upstream() -> None:
    checked = check("query($b: Boolean!) { self @skip(if: $b) { __typename @include(if: true) } }", {"b": False})

    assert "@skip(if: $b)" in checked.text
    assert "@include(if: true)" in checked.text


# Text that is none, and choosing the operation.


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1:1: Syntax Error: Unexpected <EOF>."),
        ("{", "1:2: Syntax Error: Expected Name, found <EOF>."),
        ("{\n  employee(id: )", "2:16: Syntax Error: Unexpected ')'."),
        ('{ echo(string: "\\uD800") }', "1:17: Syntax Error: Invalid Unicode escape sequence: '\\uD800'."),
        ("\ud800", "1:1: Syntax Error: Invalid character: U+D800."),
        ("{ \x00 }", "1:3: Syntax Error: Unexpected character: U+0000."),
        ("what is the salary of empl_01?", "1:1: Syntax Error: Unexpected Name 'what'."),
    ],
)
def test_text_that_is_no_document_is_refused_with_its_place(text: str, message: str) -> None:
    assert refusal(text) == (message,)


@pytest.mark.parametrize("text", ["{ }", "{ self { } }", "{ ... { } }", "{ ...F } fragment F on Query { }"])
def test_empty_selection_sets_are_refused(text: str) -> None:
    (message,) = refusal(text)

    assert "Syntax Error: Expected Name, found '}'." in message or "Expected Name" in message


def test_chosen_operation_is_the_named_one_or_the_only_one() -> None:
    both = "query A { self { __typename } } mutation B { rename(id: 1, name: 2) { id } }".replace("2", '"x"')

    assert check(both, operation_name="B").kind == "mutation"
    assert check("query A { self { __typename } }", operation_name="A").name == "A"
    assert check("query A { self { __typename } }", operation_name="").name == "A"
    assert refusal(both) == ("it has several operations: name one in operationName",)
    assert refusal(both, operation_name="C") == ('it has no operation "C"',)
    assert refusal("{ self { __typename } }", operation_name="A") == ('it has no operation "A"',)
    assert refusal("fragment F on Query { self { __typename } }") == ("it has no operation",)
    assert refusal("type T { a: Int }") == ("it has no operation",)


def test_operation_names_of_any_form_are_answered_in_bounds() -> None:
    (message,) = refusal("{ self { __typename } }", operation_name="\ud800" + "x" * 100_000)

    assert message.startswith('it has no operation "\\ud800xxx')
    assert len(message) < 600


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query A { __typename } query A { __typename }", 'it has several operations named "A"'),
        ("query A { __typename } { __typename }", "1:24: This anonymous operation must be the only defined operation."),
        (
            "query A { __typename } query B { __typename } mutation B { rename }",
            "1:30: There can be only one operation named 'B'.",
        ),
        (
            "query A { ...F } fragment F on Query { __typename } fragment F on Query { self { __typename } }",
            "1:27: There can be only one fragment named 'F'.",
        ),
        ("query A { __typename } type T { a: Int }", "1:24: The 'T' definition is not executable."),
        ("query A { __typename } fragment F on Query { __typename }", "1:24: Fragment 'F' is never used."),
        ("query A { __typename } query B { payroll { total } }", "1:34: Cannot query field 'payroll' on type 'Query'."),
    ],
)
def test_whole_document_is_validated_as_a_server_would(text: str, message: str) -> None:
    assert refusal(text, operation_name="A")[0] == message


@pytest.mark.parametrize(
    ("count", "last"),
    [(9, "a8"), (10, "a9"), (11, "and 1 more"), (12, "and more"), (200, "and more")],
)
def test_first_ten_faults_are_told_and_that_there_are_more(count: int, last: str) -> None:
    fields = "{" + " ".join(f"a{number}" for number in range(count)) + "}"
    values = {"w": {f"a{number}": 1 for number in range(count)}}

    for faults in (refusal(fields), refusal("query($w: EmployeeFilter) { employees(where: $w) { id } }", values)):
        assert len(faults) == min(count, 11)
        assert f"'{last}'" in faults[-1] or faults[-1] == last


def test_schema_of_mutations_alone_can_be_asked_for_and_nothing_else_by_a_query() -> None:
    writes = schemas_of("schema { query: Root mutation: M } type Root { a: Int } type M { b: Int }", ["Root.a"])
    schema = "{ __schema { queryType { name fields { name } } mutationType { name } types { name } } __typename }"

    checked = check(schema, schemas=writes)
    asked = answer_introspection(checked, writes)["data"]

    assert asked["__schema"]["queryType"] == {"name": "Root", "fields": [{"name": "_empty"}]}
    assert asked["__schema"]["mutationType"] == {"name": "M"}
    assert asked["__typename"] == "Root"
    assert refusal("query A { a } query B { b }", schemas=writes, operation_name="A") == (
        "there are no query fields here",
    )
    for field in ("a", "_empty", "b"):
        text = "{ __schema { types { name } } %s }"
        assert refusal(text % field, schemas=writes) == (f"1:31: Cannot query field '{field}' on type 'Root'.",)
    assert refusal("{ __schema { nothing } }", schemas=writes) == (
        "1:14: Cannot query field 'nothing' on type '__Schema'.",
    )


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("{ __typename }", {"__typename": "Root"}),
        ("{ t: __typename ...F } fragment F on Root { __typename }", {"t": "Root", "__typename": "Root"}),
        ("query A { __typename } query B { __schema { types { name } } }", {"__typename": "Root"}),
        ("{ __typename @skip(if: true) }", {}),
    ],
)
def test_query_type_of_mutations_alone_tells_its_name_and_asks_the_api_nothing(text: str, data: Any) -> None:
    writes = schemas_of("schema { query: Root mutation: M } type Root { a: Int } type M { b: Int }", ["Root.a"])

    name = "A" if "query A" in text else None

    assert answer_introspection(check(text, schemas=writes, operation_name=name), writes) == {"data": data}
    for field in ("a", "_empty", "b"):
        assert refusal(f"{{ __typename {field} }}", schemas=writes) == (
            f"1:14: Cannot query field '{field}' on type 'Root'.",
        )


def test_fault_has_its_place_as_numbers() -> None:
    with pytest.raises(DocumentRefused) as caught:
        check("{\n  payroll { total } }")
    assert caught.value.faults == (Fault("Cannot query field 'payroll' on type 'Query'.", 2, 3),)

    with pytest.raises(DocumentRefused) as caught:
        check("fragment F on Query { self { __typename } }")
    assert caught.value.faults == (Fault("it has no operation"),)


def test_subscriptions_are_refused() -> None:
    assert refusal("subscription { hired { id } }") == ("subscriptions are not supported: send a query",)


def test_kind_of_operation_that_the_view_has_no_field_of_is_refused() -> None:
    reads = schemas_of("type Query { a: Int } type Mutation { b: Int }", ["Mutation.b"])
    writes = schemas_of("type Query { a: Int } type Mutation { b: Int }", ["Query.a"])

    assert refusal("mutation { b }", schemas=reads) == ("there are no mutation fields here",)
    assert refusal("{ a }", schemas=writes) == ("there are no query fields here",)
    assert refusal("{ _empty }", schemas=writes) == ("there are no query fields here",)
    assert check("mutation { b }", schemas=writes).kind == "mutation"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{ ... @defer { employee(id: 1) { id } } }", "1:7: Unknown directive '@defer'."),
        ("{ employees @stream(initialCount: 1) { id } }", "1:13: Unknown directive '@stream'."),
        ('{ employees @sort(by: "salary") { id } }', "1:13: Unknown directive '@sort'."),
        ("query @cached { __typename }", "1:7: Unknown directive '@cached'."),
        ("query($a: Int @x) { echo(int: $a) }", "1:15: Unknown directive '@x'."),
        ("{ self @deprecated { __typename } }", "1:8: Directive '@deprecated' may not be used on field."),
        ("query @skip(if: true) { __typename }", "1:7: Directive '@skip' may not be used on query."),
    ],
)
def test_directives_other_than_skip_and_include_are_refused(text: str, message: str) -> None:
    assert refusal(text)[0] == message


# What is hidden.

NAMES_HIDDEN = {
    "directly": "{ employee(id: 1) { ssn } }",
    "by alias": "{ employee(id: 1) { name: ssn } }",
    "in a fragment": "{ employee(id: 1) { ...F } } fragment F on Employee { salary }",
    "in a fragment of a fragment": (
        "{ employee(id: 1) { ...F } } fragment F on Employee { ...G } fragment G on Person { ... on Employee { ssn } }"
    ),
    "in an inline fragment": "{ employee(id: 1) { ... on Employee { ssn } } }",
    "in an inline fragment without a type": "{ employee(id: 1) { ... { ssn } } }",
    "on an interface": "{ employee(id: 1) { ... on Person { address } } }",
    "on an interface of interfaces": "{ node(id: 1) { ... on Person { address } } }",
    "on a type below an interface": "{ node(id: 1) { ... on Employee { salary } } }",
    "through a union member": '{ search(text: "x") { ... on Employee { ssn } } }',
    "on a hidden union member": '{ search(text: "x") { ... on Payroll { total } } }',
    "on an interface through a union": '{ search(text: "x") { ... on Person { address } } }',
    "as a root field": "{ payroll { total } }",
    "as a root field, deeper": "{ self { self { payroll { total } } } }",
    "as a mutation": "mutation { fire(id: 1) { id } }",
    "below a mutation": 'mutation { rename(id: 1, name: "x") { salary } }',
    "behind @skip": "{ employee(id: 1) { id ssn @skip(if: true) } }",
    "behind @include": "query($b: Boolean = false) { employee(id: 1) { id ssn @include(if: $b) } }",
    "as an input field": "{ employees(where: {salaryGt: 5}) { id } }",
    "as an input field, deeper": "{ employees(where: {and: [{and: [{salaryGt: 5}]}]}) { id } }",
    "as an input field of a default": "query($w: EmployeeFilter = {salaryGt: 5}) { employees(where: $w) { id } }",
    "as an enum value": "{ employees(order: SALARY) { id } }",
    "as an enum value of a default": "query($o: Order = SALARY) { employees(order: $o) { id } }",
    "in an operation that is not chosen": "query A { __typename } query B { employee(id: 1) { ssn } }",
    "in a fragment that is not used": "query A { __typename } fragment F on Employee { ssn }",
    "beside introspection": "{ __schema { types { name } } employee(id: 1) { ssn } }",
    "as an object's federation field": "{ _service { sdl } }",
}


@pytest.mark.parametrize("way", NAMES_HIDDEN)
def test_document_that_names_what_is_hidden_is_refused_without_telling_more(way: str) -> None:
    text = NAMES_HIDDEN[way]

    with pytest.raises(DocumentRefused) as caught:
        check(text, operation_name="A" if "query A" in text else None)

    words = {coordinate.rpartition(".")[2] for coordinate in HIDDEN}
    told = {word for word in words if re.search(rf"\b{word}\b", str(caught.value))}
    assert told - {"address"} <= {word for word in words if word in text}  # Customer.address is not hidden


@pytest.mark.parametrize(
    ("given", "path"),
    [({"salaryGt": 5}, ""), ({"and": [{"salaryGt": 5}]}, " at .and[0]"), ({"and": {"salaryGt": 5}}, " at .and")],
)
def test_variable_that_names_what_is_hidden_is_refused_as_one_that_is_unknown(given: Any, path: str) -> None:
    text = "query($w: EmployeeFilter) { employees(where: $w) { id } }"

    (hidden,) = refusal(text, {"w": given})
    (unknown,) = refusal(text, {"w": json.loads(json.dumps(given).replace("salaryGt", "unknowns"))})

    assert hidden == unknown.replace("unknowns", "salaryGt")
    assert "not to include unknown field 'salaryGt'" in hidden
    assert path in hidden
    assert check(text, {"w": {"name": "x"}}).variables == {"w": {"name": "x"}}


def test_enum_value_that_is_hidden_is_refused_in_variables() -> None:
    text = "query($o: Order) { employees(order: $o) { id } }"

    (message,) = refusal(text, {"o": "SALARY"})

    assert message == refusal(text, {"o": "SALERY"})[0].replace("SALERY", "SALARY")
    assert check(text, {"o": "NAME"}).variables == {"o": "NAME"}


# Introspection.


def names_in(value: object) -> set[str]:
    """Every string anywhere in an answer."""
    match value:
        case dict():
            return set().union(*map(names_in, value.values()))
        case list():
            return set().union(*map(names_in, value))
        case str():
            return {value}
        case _:
            return set()


def answer(text: str, variables: dict[str, Any] | None = None) -> Any:
    """What introspection of the view says."""
    return answer_introspection(check(text, variables), VIEW)


EVERYTHING = """
{ __schema { description queryType { name } mutationType { name } subscriptionType { name }
  types {
    kind name description specifiedByURL isOneOf
    fields(includeDeprecated: true) {
      name type { ...T } args(includeDeprecated: true) { name defaultValue type { ...T } }
    }
    inputFields(includeDeprecated: true) { name defaultValue type { ...T } }
    interfaces { name } possibleTypes { name } enumValues(includeDeprecated: true) { name }
  }
  directives { name args { name type { ...T } } }
} }
fragment T on __Type { kind name ofType { kind name ofType { kind name ofType { name } } } }
"""


def test_introspection_shows_the_view_and_nothing_else() -> None:
    shown = answer(EVERYTHING)

    assert set(shown) == {"data"}
    names = names_in(shown)
    assert names >= {"Query", "Mutation", "Employee", "Person", "name", "EmployeeFilter", "Order", "NAME", "JSON"}
    assert names.isdisjoint({"payroll", "Payroll", "ssn", "salary", "salaryGt", "SALARY", "fire", "hired"})
    assert shown["data"]["__schema"]["subscriptionType"] is None


def test_types_are_answered_from_the_view() -> None:
    text = (
        "query($n: String!) { t: __type(name: $n) { name fields { name } enumValues { name } possibleTypes { name } } }"
    )

    employee = answer(text, {"n": "Employee"})["data"]["t"]
    assert [field["name"] for field in employee["fields"]] == ["id", "name", "manager", "reports"]
    assert answer(text, {"n": "Order"})["data"]["t"]["enumValues"] == [{"name": "NAME"}]
    assert answer(text, {"n": "Found"})["data"]["t"]["possibleTypes"] == [{"name": "Customer"}, {"name": "Employee"}]
    assert answer(text, {"n": "Payroll"}) == answer(text, {"n": "Nothing"}) == {"data": {"t": None}}


@pytest.mark.parametrize(
    "text",
    [
        "{ __schema { queryType { name } } }",
        "{ s: __schema { queryType { name } } __typename }",
        "{ ...F } fragment F on Query { __schema { queryType { name } } }",
        '{ ... { ... on Query { __type(name: "Query") { name } } } }',
        '{ ...F ...F } fragment F on Query { ...G } fragment G on Query { __type(name: "Query") { name } }',
    ],
)
def test_introspection_is_never_sent_however_it_is_written(text: str) -> None:
    checked = check(text)

    assert checked.introspection is not None
    assert "Query" in names_in(answer_introspection(checked, VIEW))


@pytest.mark.parametrize(
    "text",
    [
        "{ __schema { queryType { name } } employees { id } }",
        "{ employees: __schema { queryType { name } } __schema: employees { id } }",
        "{ ...F employees { id } } fragment F on Query { __schema { queryType { name } } }",
        "{ ... { ...F } ... { employees { id } } } fragment F on Query { __schema { queryType { name } } }",
        "{ __schema @skip(if: true) { queryType { name } } employees { id } }",
    ],
)
def test_introspection_beside_other_fields_is_refused(text: str) -> None:
    assert refusal(text) == ("__schema cannot stand beside or below other fields: ask separately",)


@pytest.mark.parametrize(
    "text",
    [
        "{ self { __schema { types { name } } } }",
        '{ self { self { t: __type(name: "Employee") { name } } } }',
        '{ ...F } fragment F on Query { self { ...G } } fragment G on Query { __type(name: "Employee") { name } }',
        '{ __schema { queryType { name } } self { __type(name: "Employee") { name } } }',
        'mutation { rename(id: 1, name: "x") { id } query { __schema { types { name } } } }',
    ],
)
def test_introspection_below_other_fields_is_refused(text: str) -> None:
    """A field may return the query type, and GraphQL has ``__schema`` wherever that is: upstream would answer it."""
    schemas = schemas_of(SDL.replace("type Mutation {", "type Mutation { query: Query!"), HIDDEN)

    (message,) = refusal(text, schemas=schemas)

    assert message.endswith("cannot stand beside or below other fields: ask separately")
    assert check("{ self { __typename } }", schemas=schemas).introspection is None


def test_document_that_asks_for_rows_has_no_introspection_to_answer() -> None:
    with pytest.raises(DocumentRefused, match="does not ask for the schema"):
        answer_introspection(check("{ __typename }"), VIEW)


# Variables.

ECHO = 'query($int: Int, $string: String = "x", $json: JSON) { echo(int: $int, string: $string, json: $json) }'


def test_declared_variables_are_sent_as_they_were_given() -> None:
    assert check(ECHO, {"int": 3, "other": 1, "secret": "x"}).variables == {"int": 3}
    assert check(ECHO, {"int": None, "string": None}).variables == {"int": None, "string": None}
    assert check(ECHO, {}).variables == {}
    assert check(ECHO, {"json": {"a": [1, None, "x", {"b": 1.5}]}}).variables == {
        "json": {"a": [1, None, "x", {"b": 1.5}]}
    }
    assert check("query($id: ID!) { employee(id: $id) { id } }", {"id": 7}).variables == {"id": 7}
    filters = {"w": {"ages": 7, "and": {"name": "x"}}}
    assert check("query($w: EmployeeFilter) { employees(where: $w) { id } }", filters).variables == filters


@pytest.mark.parametrize(
    ("text", "variables", "message"),
    [
        (
            "query($id: ID!) { employee(id: $id) { id } }",
            {},
            "1:7: Variable '$id' has invalid value: Expected a value of non-null type 'ID!' to be provided.",
        ),
        (
            "query($id: ID!) { employee(id: $id) { id } }",
            {"id": None},
            "1:7: Variable '$id' has invalid value: Expected value of non-null type 'ID!' not to be None.",
        ),
        (ECHO, {"int": "3"}, "1:7: Variable '$int' has invalid value: Int cannot represent non-integer value: '3'"),
        (ECHO, {"int": True}, "1:7: Variable '$int' has invalid value: Int cannot represent non-integer value: True"),
        ("query($x: Payroll) { echo(json: $x) }", {"x": 1}, "1:11: Unknown type 'Payroll'."),
        (
            "query($x: Employee) { echo(json: $x) }",
            {"x": 1},
            "1:11: Variable '$x' cannot be non-input type 'Employee'.",
        ),
        ("query($x: Int) { __typename }", {"x": 1}, "1:7: Variable '$x' is never used."),
        ("{ echo(int: $x) }", {"x": 1}, "1:13: Variable '$x' is not defined."),
        (
            "query($x: String) { echo(int: $x) }",
            {},
            "1:7: Variable '$x' of type 'String' used in position expecting type 'Int'.",
        ),
        ("query($x: Int, $x: Int) { echo(int: $x) }", {}, "1:8: There can be only one variable named '$x'."),
    ],
)
def test_variables_that_do_not_fit_are_refused(text: str, variables: dict[str, Any], message: str) -> None:
    assert refusal(text, variables)[0] == message


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan"), {"a": [float("inf")]}])
def test_variable_that_json_cannot_carry_is_refused(value: object) -> None:
    assert refusal(ECHO, {"json": value}) == ("a variable has a number that JSON cannot carry",)


def test_refusal_names_ten_mistakes_and_counts_the_others_each_in_bounds() -> None:
    many = refusal("{ " + " ".join(f"unknown{number}" for number in range(100)) + " }")
    (long,) = refusal("{ " + "x" * 100_000 + " }")
    (value,) = refusal(ECHO, {"int": "x" * 100_000})

    assert len(many) == 11
    assert long.startswith("1:3: Cannot query field 'xxx")
    assert len(long) < 600
    assert len(value) < 600


def test_limits_of_an_endpoint_that_sets_none_are_those_tested_here() -> None:
    problems = Problems()

    assert read_config(EndpointFiles(DEMO, problems), problems, stage=None).limits == LIMITS
