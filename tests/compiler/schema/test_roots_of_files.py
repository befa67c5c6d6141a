"""Root types that the schema definition does not name: served in projects of StepZen's form, else reported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from handler.compiler.compile import Compiled, compile_endpoint
from handler.errors.authoring import CompileError
from handler.graph.index import read_index
from tests.support.endpoints import write_endpoint

QUERY = "type Query { dummy: String }\n"
MUTATION = "type Mutation { auth(email: String!): Account }\ntype Account { id: ID }\n"
STEPZEN = {"stepzen.config.json": '{"endpoint": "api/miscellaneous"}'}
CONFIG = "upstream: {url: https://things.example/graphql}\n"


def made(folder: Path, **files: str) -> Compiled:
    named = {name.replace("__", "/").replace("_", "."): text for name, text in files.items()}
    config = {"config.yaml": CONFIG} | (STEPZEN if named.pop("stepzen", None) else {})
    return compile_endpoint(write_endpoint(folder, {**config, **named}))


def roots(compiled: Compiled) -> dict[str, str]:
    return dict(read_index(compiled.index, sha256=compiled.bundle.index).roots)


def unnamed(compiled: Compiled) -> list[tuple[str, str]]:
    return [(f"{one.file}:{one.line}", one.sentence) for one in compiled.warnings if one.code == "unnamed-root-type"]


SDL = 'schema @sdl(files: ["api.graphql"]) { query: Query }\n'
SEVERAL = 'schema @sdl(files: ["api.graphql", "b.graphql"]) { query: Query }\n'
NESTED = 'extend schema @sdl(files: ["b.graphql"])\n'


@pytest.mark.parametrize(
    "files",
    [
        {"index_graphql": SDL + QUERY, "api_graphql": MUTATION},
        {"index_graphql": SDL, "api_graphql": QUERY + MUTATION},
        {"index_graphql": SDL, "api_graphql": QUERY + MUTATION.replace("type Mutation", "extend type Mutation")},
        {"index_graphql": SEVERAL, "api_graphql": QUERY, "b_graphql": MUTATION},
        {"index_graphql": SEVERAL, "api_graphql": QUERY + MUTATION, "b_graphql": "type Mutation { more: Int }"},
        {"index_graphql": SDL, "api_graphql": NESTED + QUERY, "b_graphql": MUTATION},
        {"index_graphql": SDL.replace("Query", "Query mutation: Mutation"), "api_graphql": QUERY + MUTATION},
        {
            "index_graphql": SDL.replace("Query", "Query mutation: Mutation subscription: Subscription"),
            "api_graphql": QUERY + MUTATION,
        },
        {"index_graphql": SDL.replace("Query", "Everything"), "api_graphql": "type Everything { a: Int }" + MUTATION},
        {"index_graphql": SDL, "api_graphql": f"schema {{ mutation: Mutation }} {QUERY}{MUTATION}"},
    ],
)
@pytest.mark.parametrize("stepzen", ["", "yes"])
def test_project_of_stepzens_form_keeps_its_mutations(tmp_path: Path, stepzen: str, files: dict[str, str]) -> None:
    compiled = made(tmp_path, **files, **({"stepzen": stepzen} if stepzen else {}))

    assert roots(compiled)["mutation"] == "Mutation"
    assert unnamed(compiled) == []


def test_project_file_alone_makes_the_form(tmp_path: Path) -> None:
    files = {
        "index_graphql": 'extend schema @sdl(files: ["api.graphql"]) schema { query: Query }',
        "api_graphql": QUERY + MUTATION,
    }

    assert "mutation" in roots(made(tmp_path / "a", stepzen="yes", **files))
    assert "mutation" not in roots(made(tmp_path / "b", **files))


def test_subscriptions_of_a_file_are_those_of_the_schema_which_no_request_reaches(tmp_path: Path) -> None:
    named = SDL.replace("Query", "Query subscription: Subscription")
    api = QUERY + "type Subscription { news: String }"
    one, other = (made(tmp_path / index[-30:-25], index_graphql=index, api_graphql=api) for index in (SDL, named))

    assert (roots(one), one.index) == ({"query": "Query"}, other.index)
    assert unnamed(one) == []


@pytest.mark.parametrize(
    ("index", "api", "name", "place"),
    [
        ("schema { query: Query }\n" + QUERY + MUTATION, "", "Mutation", "index.graphql:3"),
        (SDL + MUTATION, QUERY, "Mutation", "index.graphql:2"),
        (SDL, "schema { query: Query }\n" + QUERY + MUTATION, "Mutation", "api.graphql:3"),
        ("schema { query: Query }\n" + QUERY + "type Subscription { a: Int }", "", "Subscription", "index.graphql:3"),
        (
            SDL.replace("Query", "Query mutation: Writes"),
            QUERY + "type Writes { b: Int }\ntype Mutation { a: Int }",
            "Mutation",
            "api.graphql:3",
        ),
    ],
    ids=["one file", "beside the definition", "a file with a definition", "subscriptions", "another mutation type"],
)
def test_other_types_with_the_name_are_reported_with_the_cause(
    tmp_path: Path, index: str, api: str, name: str, place: str
) -> None:
    compiled = made(tmp_path, index_graphql=index, **({"api_graphql": api} if api else {}))

    cause = f"the schema definition at index.graphql:1:1 does not name it ({name.lower()}: {name})"
    assert unnamed(compiled) == [(place, f'"{name}" is not a root type: {cause}')]
    assert name not in roots(compiled).values()


@pytest.mark.parametrize(
    "types",
    [
        "type Query { a: Mutation b: [Subscription!]! } type Mutation { a: Int } type Subscription { b: Int }",
        "type Query { a: A } union A = Mutation | Subscription type Mutation { a: Int } type Subscription { b: Int }",
        "type Query { a: Int } type Mutation {}",
        "type Query { a: Int } enum Mutation { A }",
    ],
)
@pytest.mark.parametrize("index", [SDL, 'schema { query: Query } extend schema @sdl(files: ["api.graphql"])'])
def test_ordinary_types_of_these_names_stay_what_they_are(tmp_path: Path, index: str, types: str) -> None:
    compiled = made(tmp_path, index_graphql=index, api_graphql=types)

    assert roots(compiled) == {"query": "Query"}
    assert unnamed(compiled) == []


PLAIN = "schema { query: Query }\n" + QUERY + MUTATION
CAUSE = (
    '"Mutation" is not a root type: the schema definition at index.graphql:1:1 does not name it (mutation: Mutation)'
)


@pytest.mark.parametrize(
    ("files", "code"),
    [
        (
            {
                "index_graphql": PLAIN.replace(
                    "schema", 'schema @tool(name: "t", graphql: {expose: true, types: "Mutation", fields: "auth"})', 1
                )
            },
            "nothing-exposed",
        ),
        (
            {"index_graphql": PLAIN, "operations__a_graphql": 'mutation A { auth(email: "a") { id } }'},
            "missing-operation-type",
        ),
    ],
    ids=["a tool", "an operation"],
)
def test_errors_that_follow_name_the_cause(tmp_path: Path, files: dict[str, str], code: str) -> None:
    with pytest.raises(CompileError) as caught:
        made(tmp_path, **files)

    (problem,) = caught.value.problems
    assert problem.code == code
    assert problem.sentence.endswith(f": {CAUSE}")


def test_policy_for_such_a_type_is_told_that_no_request_reaches_it(tmp_path: Path) -> None:
    config = CONFIG + "access:\n  policies:\n    - {type: Mutation, policyDefault: {condition: true}}\n"
    folder = write_endpoint(tmp_path, {"index.graphql": PLAIN, "config.yaml": config})

    (_, (place, sentence)) = sorted(unnamed(compile_endpoint(folder)), reverse=True)
    assert (place, sentence) == ("config.yaml:4", f"no request reaches it: {CAUSE}")


def test_project_file_names_the_tool_of_the_mutation(tmp_path: Path) -> None:
    """A prescribed mutation of an unmodified project compiles, as StepZen serves it."""
    tool = '@tool(name: "sign-in", prescribed: "SignIn")'
    operation = "mutation SignIn($email: String!) { auth(email: $email) { id } }"
    index = SDL.replace("@sdl(", f"{tool} @sdl(executables: [{json.dumps('x')}], ").replace(
        '["x"]', '[{document: "ops.graphql", persist: true}]'
    )
    folder = write_endpoint(
        tmp_path,
        {
            **STEPZEN,
            "config.yaml": CONFIG,
            "index.graphql": index,
            "api.graphql": QUERY + MUTATION,
            "ops.graphql": operation,
        },
    )

    (tool_of_it,) = compile_endpoint(folder).bundle.tools
    assert tool_of_it.name == "sign-in"
