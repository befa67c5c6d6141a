"""Errors of answers without data as each server writes them: drift, limits, and what is neither.

Source: the error formats of the projects named here.
"""

from __future__ import annotations

import time
from typing import Any

import pytest

from handler.server.upstream.graphql_errors import HABITS, LIMIT, MAX_MESSAGE_CHARS, VALIDATION, find_in, habits_in
from handler.server.upstream.named_coordinates import coordinate_in, document_names, without_names, without_suggestions

NAMES = document_names("query Orders($a: ID!, $e: Employee) { x(first: $a, e: $e, status: RED) { total } }")
AT = [{"line": 1, "column": 9}]
SPEC = "https://spec.graphql.org/October2021/#sec-Field-Selections-on-Objects-Interfaces-and-Unions-Types"
UNKNOWN = 'Cannot query field "x" on type "Query". Did you mean "salary"?'

VALIDATION_ERRORS: dict[str, tuple[str, dict[str, Any]]] = {
    "graphql-js": ("graphql-js", {"message": UNKNOWN, "locations": AT}),
    "graphql-js, a type that changed": (
        "graphql-js",
        {"message": 'Variable "$a" of type "ID!" used in position expecting type "Int!".', "locations": AT},
    ),
    "graphql-js, a type that went": (
        "graphql-js",
        {"message": 'Variable "$a" cannot be non-input type "Employee".', "locations": AT},
    ),
    "Strawberry": ("graphql-js", {"message": "Cannot query field 'x' on type 'Query'.", "locations": AT, "path": None}),
    "graphene": ("graphql-js", {"message": 'Cannot query field "x" on type "Query".', "locations": AT, "path": []}),
    "PostGraphile": ("graphql-js", {"message": UNKNOWN, "locations": AT, "extensions": {"exception": {}}}),
    "webonyx": ("graphql-js", {"message": UNKNOWN, "locations": AT, "extensions": {"category": "graphql"}}),
    "Lighthouse": ("graphql-js", {"message": UNKNOWN, "locations": AT, "extensions": {"file": "x.php", "line": 7}}),
    "Absinthe": ("graphql-js", {"message": 'Cannot query field "x" on type "RootQueryType".', "locations": AT}),
    "Juniper": ("graphql-js", {"message": 'Unknown field "x" on type "Query"', "locations": AT}),
    "async-graphql": (
        "graphql-js",
        {"message": 'Unknown field "x" on type "Query". Did you mean "salary"?', "locations": AT},
    ),
    "AppSync": (
        "graphql-js",
        {
            "path": None,
            "locations": [{"line": 1, "column": 9, "sourceName": None}],
            "message": "Validation error of type FieldUndefined: Field 'x' in type 'Query' is undefined @ 'x'",
        },
    ),
    "Apollo Server": (
        "Apollo",
        {"message": UNKNOWN, "locations": AT, "extensions": {"code": "GRAPHQL_VALIDATION_FAILED"}},
    ),
    "Apollo Server, syntax": ("Apollo", {"message": "Syntax Error", "extensions": {"code": "GRAPHQL_PARSE_FAILED"}}),
    "Apollo Router": (
        "Apollo",
        {"message": UNKNOWN, "locations": AT, "extensions": {"code": "INVALID_FIELD", "type": "Query", "field": "x"}},
    ),
    "gqlgen": ("Apollo", {"message": UNKNOWN, "locations": AT, "extensions": {"code": "GRAPHQL_VALIDATION_FAILED"}}),
    "graphql-ruby": (
        "graphql-ruby",
        {
            "message": "Field 'x' doesn't exist on type 'Query' (Did you mean `salary`?)",
            "locations": AT,
            "path": ["query Orders", "x"],
            "extensions": {"code": "undefinedField", "typeName": "Query", "fieldName": "x"},
        },
    ),
    "graphql-java": (
        "graphql-java",
        {
            "message": "Validation error (FieldUndefined@[x]) : Field 'x' in type 'Query' is undefined",
            "locations": AT,
            "extensions": {"classification": "ValidationError"},
        },
    ),
    "graphql-java with a path": (
        "graphql-java",
        {
            "message": "Validation error (FieldUndefined@[orders/x]) : Field 'x' in type 'Order' is undefined",
            "locations": AT,
            "path": ["orders", "x"],
            "extensions": {"classification": "ValidationError"},
        },
    ),
    "graphql-java, syntax": (
        "graphql-java",
        {
            "message": "Invalid syntax with offending token '}' at line 1 column 9",
            "locations": AT,
            "extensions": {"classification": "InvalidSyntax"},
        },
    ),
    "Hot Chocolate": (
        "Hot Chocolate",
        {
            "message": "The field `x` does not exist on the type `Query`.",
            "locations": AT,
            "extensions": {"type": "Query", "field": "x", "responseName": "x", "specifiedBy": SPEC},
        },
    ),
    "Hot Chocolate with a path": (
        "Hot Chocolate",
        {
            "message": "The field `x` does not exist on the type `Order`.",
            "locations": AT,
            "path": ["orders"],
            "extensions": {"type": "Order", "field": "x", "responseName": "x", "specifiedBy": SPEC},
        },
    ),
    "Hot Chocolate with a code": (
        "Hot Chocolate",
        {"message": "The field `x` does not exist.", "locations": AT, "extensions": {"code": "HC0020"}},
    ),
    "GraphQL.NET": (
        "GraphQL.NET",
        {
            "message": "Cannot query field 'x' on type 'Query'. Did you mean 'salary'?",
            "locations": AT,
            "extensions": {"code": "FIELDS_ON_CORRECT_TYPE", "codes": ["FIELDS_ON_CORRECT_TYPE"], "number": "5.3.1"},
        },
    ),
    "Hasura": (
        "Hasura",
        {
            "message": "field 'x' not found in type: 'query_root'",
            "extensions": {"path": "$.selectionSet.x", "code": "validation-failed"},
        },
    ),
}


COORDINATES = {
    "graphql-js, a type that changed": "$a",
    "graphql-js, a type that went": "$a",
    "Apollo Server, syntax": "",
    "graphql-java, syntax": "",
    "graphql-java with a path": "Order.x",
    "Hot Chocolate with a path": "Order.x",
    "Hot Chocolate with a code": "x",
    "Hasura": "query_root.x",
    "Absinthe": "RootQueryType.x",
}
"""Of those that are not of ``Query.x``."""


@pytest.mark.parametrize("server", VALIDATION_ERRORS)
def test_validation_error_is_drift_of_a_coordinate_by_the_habit_of_its_server(server: str) -> None:
    habit, error = VALIDATION_ERRORS[server]

    finding = find_in(error, names=NAMES)

    assert (finding.kind, finding.coordinate) == (VALIDATION, COORDINATES.get(server, "Query.x"))
    assert habit in [name for _, name in habits_in(error)]


@pytest.mark.parametrize("server", VALIDATION_ERRORS)
def test_validation_error_about_what_the_document_does_not_use_is_no_drift(server: str) -> None:
    _, error = VALIDATION_ERRORS[server]

    assert find_in(error, names=document_names("{ other }")).coordinate == ""


@pytest.mark.parametrize(
    ("message", "coordinate"),
    [
        ('Unknown argument "first" on field "Query.x".', "Query.x(first:)"),
        ('Unknown argument "first" on field "x" of type "Query".', "x(first:)"),
        ("Field 'x' doesn't accept argument 'first'", "x"),
        ('Field "x" argument "n" of type "Int!" is required, but it was not provided.', "x(n:)"),
        ("Argument 'Query.x(n:)' of type 'Int!' is required, but it was not provided.", "Query.x(n:)"),
        ('Value "RED" does not exist in "Color" enum.', "Color.RED"),
        ('Expected value of type "Color", found RED.', "RED"),
        ('Unknown type "Employee". Did you mean "Employer"?', "Employee"),
        ('Field "x" must not have a selection since type "Int" has no subfields.', "x"),
        ('Field "x" of type "Order" must have a selection of subfields.', "x"),
        ('Fields "x" conflict because they return conflicting types "Int" and "String".', "x"),
        ('Field "total" is not defined by type "Order".', "Order.total"),
        ('Cannot query field "salary" on type "x".', "x"),
        ("x is broken", ""),
        ('Access denied for field "x"', ""),
        ('Authentication is required for "x"', ""),
    ],
)
def test_coordinate_is_what_a_rule_of_validation_complains_of(message: str, coordinate: str) -> None:
    assert find_in({"message": message, "locations": AT}, names=NAMES).coordinate == coordinate


def test_names_in_strings_of_a_document_are_none_of_its_own() -> None:
    text = 'query Q { a(b: "secret \\" c", d: """long "hidden" text""") { e } }'

    assert document_names(text) == {"query", "Q", "a", "b", "d", "e"}


LIMITS: dict[str, dict[str, Any]] = {
    "Apollo Server with graphql-depth-limit": {
        "message": "'Orders' exceeds maximum operation depth of 3",
        "locations": AT,
        "extensions": {"code": "GRAPHQL_VALIDATION_FAILED"},
    },
    "Strawberry, depth": {"message": "'Orders' exceeds maximum operation depth of 3", "locations": AT},
    "Strawberry, aliases": {"message": "11 aliases found. Allowed: 10", "locations": AT},
    "Strawberry, tokens": {"message": "Syntax Error: Document contains more than 100 tokens. Parsing aborted."},
    "graphql-query-complexity": {
        "message": "The query exceeds the maximum complexity of 20. Actual complexity is 30",
        "locations": AT,
    },
    "graphql-java, depth": {
        "message": "maximum query depth exceeded 12 > 10",
        "locations": AT,
        "extensions": {"classification": "ExecutionAborted"},
    },
    "Spring, complexity": {
        "message": "maximum query complexity exceeded 120 > 100",
        "extensions": {"classification": "ExecutionAborted"},
    },
    "Hot Chocolate, cost": {
        "message": "The maximum allowed field cost was exceeded.",
        "extensions": {"fieldCost": 6020, "maxFieldCost": 1000, "code": "HC0047"},
    },
    "Hot Chocolate, depth": {
        "message": "The document has an execution depth of 5 which exceeds the max allowed execution depth of 3.",
        "locations": AT,
        "extensions": {"allowedExecutionDepth": 3, "detectedExecutionDepth": 5},
    },
    "graphql-ruby, depth": {"message": "Query has depth of 7, which exceeds max depth of 5"},
    "graphql-ruby, complexity": {"message": "Query has complexity of 30, which exceeds max complexity of 20"},
    "Hasura, depth": {
        "message": "depth limit of 3 exceeded",
        "extensions": {"path": "$", "code": "depth-limit-exceeded"},
    },
    "Hasura, rate": {"message": "too many requests", "extensions": {"path": "$", "code": "rate-limit-exceeded"}},
    "GraphQL Armor, depth": {"message": "Syntax Error: Query depth limit of 6 exceeded, found 7.", "locations": []},
    "GraphQL Armor, cost": {
        "message": "Syntax Error: Query Cost limit of 5000 exceeded, found 5023.",
        "extensions": {"code": "GRAPHQL_VALIDATION_FAILED"},
    },
    "Mercurius": {"message": "Orders query depth (4) exceeds the query depth limit of 3"},
    "Ariadne": {
        "message": "The query exceeds the maximum cost of 4. Actual cost is 5",
        "locations": AT,
        "extensions": {"cost": {"requestedQueryCost": 5, "maximumAvailable": 4}},
    },
    "Absinthe": {"message": "Operation is too complex: complexity is 30 and maximum is 20", "locations": AT},
    "Lighthouse, depth": {"message": "Max query depth should be 3 but got 5.", "locations": AT},
    "Lighthouse, complexity": {"message": "Max query complexity should be 10 but got 20."},
    "WPGraphQL": {
        "message": "The server administrator has limited the max query depth to 10. The requested query has 15 levels.",
        "locations": AT,
    },
    "Sangria": {"message": "Max query depth 10 is reached."},
    "async-graphql": {"message": "Query is nested too deep.", "locations": AT},
    "Contentful": {
        "message": "Query cannot be executed. The maximum allowed complexity for a query is 11000 but it was 50000.",
        "extensions": {"contentful": {"code": "TOO_COMPLEX_QUERY"}},
    },
    "monday.com": {
        "message": "Complexity budget exhausted, query cost 30001 budget remaining 29 out of 1000000",
        "extensions": {"code": "COMPLEXITY_BUDGET_EXHAUSTED"},
    },
    "Linear": {"message": "You made too many calls", "extensions": {"code": "RATELIMITED"}},
    "PostGraphile": {"message": "Query depth of 9 exceeds the maximum of 8", "locations": AT},
    "Apollo Router, depth": {
        "message": "Maximum depth limit exceeded in this operation",
        "extensions": {"code": "MAX_DEPTH_LIMIT"},
    },
    "Apollo Router, cost": {
        "message": "query estimated cost 200 exceeded configured maximum 100",
        "extensions": {"code": "COST_ESTIMATED_TOO_EXPENSIVE"},
    },
    "Hive Gateway": {"message": "Rate limit of 'Query.x' exceeded for 'anonymous'", "locations": AT},
    "GitHub, nodes": {
        "type": "MAX_NODE_LIMIT_EXCEEDED",
        "path": ["query", "x"],
        "locations": AT,
        "message": "This query requests up to 1,000,000 possible nodes which exceeds the maximum limit of 500,000.",
    },
    "GitHub, rate": {"type": "RATE_LIMITED", "message": "API rate limit exceeded for user ID 1."},
    "Shopify": {"message": "Throttled", "extensions": {"code": "THROTTLED"}},
}


@pytest.mark.parametrize("server", LIMITS)
def test_limit_is_none_of_the_schema(server: str) -> None:
    finding = find_in(LIMITS[server], names=NAMES)

    assert (finding.kind, finding.coordinate) == (LIMIT, "")


def test_every_habit_has_a_server_here() -> None:
    errors = [*(error for _, error in VALIDATION_ERRORS.values()), *LIMITS.values(), *DOCUMENTS.values()]

    shown = {habit for error in errors for habit in habits_in(error)}
    assert shown == {(kind, name) for kind, habits in HABITS.items() for name in habits}


DOCUMENTS: dict[str, dict[str, Any]] = {
    "unlisted": {"message": "PersistedQueryNotFound", "extensions": {"code": "PERSISTED_QUERY_NOT_FOUND"}},
    "unlisted by Mercurius": {"message": "x", "extensions": {"code": "MER_ERR_GQL_PERSISTED_QUERY_NOT_FOUND"}},
    "as text only": {"message": "PersistedQueryNotSupported", "extensions": {"code": "PERSISTED_QUERY_NOT_SUPPORTED"}},
    "by id only": {"message": "PersistedQueryOnly"},
}


@pytest.mark.parametrize("case", DOCUMENTS)
def test_documents_by_their_id_are_told_apart(case: str) -> None:
    assert find_in(DOCUMENTS[case], names=NAMES).kind == case.removesuffix(" by Mercurius")


@pytest.mark.parametrize("filler", ['"', '"""', '"" ', '"\\', '\\"""', '"""\\'])
def test_names_of_a_document_are_found_in_linear_time(filler: str) -> None:
    started = time.process_time()

    document_names('"""' + filler * 100_000)
    document_names(filler * 100_000)

    assert time.process_time() - started < 5


FOREIGN = {
    "spaces": " ",
    "quotes": '"',
    "names in quotes": '"a" ',
    "digits": "1",
    "words": "type ",
    "letters": "a",
    "suggestions": "did you mea",
    "documents": "persistedquery",
    "lines": "\n",
}


@pytest.mark.parametrize("filler", FOREIGN)
@pytest.mark.parametrize("start", ["", "Variable ", "Validation error", "https://spec.graphql.org/", "field '"])
def test_judging_foreign_text_takes_no_longer_than_reading_it(start: str, filler: str) -> None:
    text = start + FOREIGN[filler] * 200_000
    error = {
        "message": text,
        "locations": AT,
        "path": [text, text],
        "extensions": dict.fromkeys(("code", "specifiedBy", "number", "classification", "path"), text),
    }
    started = time.process_time()

    find_in(error, names=NAMES)

    assert time.process_time() - started < 2


def test_word_that_begins_a_sentence_is_none_of_the_schema() -> None:
    said = without_names("Query has too many fields: 8. Max fields: 5. Unknown field wage", but=NAMES)

    assert said == "Query has too many fields: 8. Max fields: 5. Unknown field …"


@pytest.mark.parametrize("filler", FOREIGN)
def test_names_in_a_message_are_replaced_in_linear_time(filler: str) -> None:
    started = time.process_time()

    without_names(without_suggestions(FOREIGN[filler] * 20_000), but=NAMES)
    coordinate_in("unknown field " + FOREIGN[filler] * 20_000, names=NAMES)

    assert time.process_time() - started < 5


@pytest.mark.parametrize("server", VALIDATION_ERRORS)
def test_of_a_message_only_so_much_is_read(server: str) -> None:
    _, error = VALIDATION_ERRORS[server]
    late = {**error, "message": "Validation error " + "." * MAX_MESSAGE_CHARS + str(error["message"])}

    assert find_in(late, names=NAMES).coordinate == ""


OTHER_ERRORS: dict[str, dict[str, Any]] = {
    "graphql-js, execution": {"message": "no rows", "locations": AT, "path": ["orders", 0, "total"]},
    "graphql-js, a value": {"message": 'Variable "$n" got invalid value "x"; Int cannot ...', "locations": AT},
    "graphql-js, a value that is missing": {
        "message": 'Variable "$n" of required type "Int!" was not provided.',
        "locations": AT,
    },
    "Strawberry, execution": {"message": "no rows", "locations": AT, "path": ["orders"]},
    "PostGraphile, execution": {
        "message": "permission denied for table orders",
        "locations": AT,
        "path": ["orders"],
        "extensions": {"exception": {"errcode": "42501"}},
    },
    "webonyx, execution": {"message": "Internal server error", "locations": AT, "path": ["orders"]},
    "Lighthouse, rules of arguments": {
        "message": "Validation failed for the field [createOrder].",
        "locations": AT,
        "path": ["createOrder"],
        "extensions": {"validation": {"total": ["The total is too small."]}, "category": "validation"},
    },
    "Absinthe, execution": {"message": "not found", "locations": AT, "path": ["orders"]},
    "Absinthe, a value": {"message": 'Argument "day" has invalid value $day.', "locations": AT},
    "Juniper, a value": {"message": 'Variable "n" got invalid value. Expected "Int".', "locations": AT},
    "async-graphql, execution": {"message": "no rows", "locations": AT, "path": ["orders"]},
    "async-graphql, a value": {"message": 'Invalid value for argument "n", expected type "Int"', "locations": AT},
    "AppSync, execution": {
        "path": ["orders"],
        "data": None,
        "errorType": "DynamoDB:ConditionalCheckFailedException",
        "errorInfo": None,
        "locations": [{"line": 1, "column": 9, "sourceName": None}],
        "message": "The conditional request failed",
    },
    "AppSync, access": {"errorType": "UnauthorizedException", "message": "Valid authorization header not provided."},
    "Apollo Server, a value": {
        "message": 'Variable "$n" got invalid value "x"',
        "locations": AT,
        "extensions": {"code": "BAD_USER_INPUT"},
    },
    "Apollo Server, access": {"message": "Sign in first", "extensions": {"code": "UNAUTHENTICATED"}},
    "Apollo Server, execution": {
        "message": "no rows",
        "locations": AT,
        "path": ["orders"],
        "extensions": {"code": "INTERNAL_SERVER_ERROR"},
    },
    "gqlgen, a value": {
        "message": "cannot use string as Int",
        "path": ["variable", "n"],
        "extensions": {"code": "GRAPHQL_VALIDATION_FAILED"},
    },
    "gqlgen, execution": {"message": "no rows", "path": ["orders"]},
    "graphql-ruby, execution": {"message": "no rows", "locations": AT, "path": ["orders"]},
    "graphql-ruby, a value": {
        "message": "Variable $n of type Int! was provided invalid value",
        "locations": AT,
        "extensions": {"value": "x", "problems": [{"path": [], "explanation": "Could not coerce value"}]},
    },
    "graphql-java, execution": {
        "message": "Exception while fetching data (/orders) : no rows",
        "locations": AT,
        "path": ["orders"],
        "extensions": {"classification": "DataFetchingException"},
    },
    "graphql-java, a null": {
        "message": "The field at path '/orders' was declared as a non null type",
        "path": ["orders"],
        "extensions": {"classification": "NullValueInNonNullableField"},
    },
    "graphql-java, a resolver's own check": {
        "message": "This email is taken",
        "locations": AT,
        "path": ["signUp"],
        "extensions": {"classification": "ValidationError"},
    },
    "graphql-java, a value": {
        "message": "Variable 'n' has an invalid value: Expected a value that can be converted to type 'Int'",
        "locations": AT,
        "extensions": {"classification": "ValidationError"},
    },
    "graphql-java, a limit": {
        "message": "maximum query depth exceeded 12 > 10",
        "locations": AT,
        "extensions": {"classification": "ExecutionAborted"},
    },
    "Hot Chocolate, execution": {
        "message": "Unexpected Execution Error",
        "locations": AT,
        "path": ["orders"],
        "extensions": {"code": "HC0008"},
    },
    "Hot Chocolate, a null": {
        "message": "Cannot return null for non-nullable field.",
        "locations": AT,
        "path": ["orders"],
        "extensions": {"code": "HC0018"},
    },
    "Hot Chocolate, a value": {
        "message": "Variable `n` got an invalid value.",
        "locations": AT,
        "extensions": {"code": "HC0016"},
    },
    "Hot Chocolate, time": {"message": "The request exceeded the timeout.", "extensions": {"code": "HC0045"}},
    "Hot Chocolate, access": {
        "message": "The current user is not authorized to access this resource.",
        "locations": AT,
        "path": ["orders"],
        "extensions": {"code": "AUTH_NOT_AUTHORIZED"},
    },
    "GraphQL.NET, a value": {
        "message": "Variable '$n' is invalid. No value provided for a non-null variable.",
        "locations": AT,
        "extensions": {"code": "INVALID_VALUE", "codes": ["INVALID_VALUE"], "number": "5.8"},
    },
    "GraphQL.NET, execution": {
        "message": "Error trying to resolve field 'orders'.",
        "locations": AT,
        "path": ["orders"],
        "extensions": {"code": "SQL", "codes": ["SQL"]},
    },
    "Hasura, a value": {
        "message": 'expecting a value for non-nullable variable: "n"',
        "extensions": {"path": "$.variableValues", "code": "validation-failed"},
    },
    "Hasura, a webhook's check": {
        "message": "this phone number is none",
        "extensions": {"path": "$", "code": "validation-failed"},
    },
    "Hasura, execution": {
        "message": 'Uniqueness violation. duplicate key value violates unique constraint "users_email_key"',
        "extensions": {"path": "$.selectionSet.insert_users.args.objects", "code": "constraint-violation"},
    },
    "Hasura, access": {
        "message": "check constraint of an insert/update permission has failed",
        "extensions": {"path": "$.selectionSet.insert_users.args.objects", "code": "permission-error"},
    },
    "odd forms": {"message": 1, "locations": "x", "path": ["a"], "extensions": [1]},
    "nothing": {},
}


@pytest.mark.parametrize("error", OTHER_ERRORS)
def test_other_errors_are_none(error: str) -> None:
    assert find_in(OTHER_ERRORS[error], names=NAMES | {"n", "orders", "day", "createOrder"}).coordinate == ""
