"""Validation errors as each server writes them, and its other errors of answers without data, which are no drift.

Source: the error formats of the projects named here.
"""

from __future__ import annotations

from typing import Any

import pytest

from handler.server.drift import VALIDATION, habits_in, is_drift

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


@pytest.mark.parametrize("server", VALIDATION_ERRORS)
def test_validation_error_is_drift_by_the_habit_of_its_server(server: str) -> None:
    habit, error = VALIDATION_ERRORS[server]

    assert is_drift(error)
    assert habit in habits_in(error)


def test_every_habit_has_a_server_here() -> None:
    assert {habit for habit, _ in VALIDATION_ERRORS.values()} == set(VALIDATION)


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
    assert not is_drift(OTHER_ERRORS[error])
