"""The pages of ``docs/security/``: their examples are compiled, and their recipes tried with two callers each."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from handler.bundle.tools import PrescribedTool
from handler.commands.folders.policy_tests import KEYS
from handler.commands.publishing.checks import address_faults, publish_rules
from handler.compiler.compile import compile_endpoint
from handler.compiler.config.identity import MIN_SECRET_BYTES
from handler.compiler.config.table import ISSUER, PROXY
from handler.compiler.config.values import PUBLIC_ALGORITHMS
from handler.policy.evaluation import Evaluation
from handler.server.auth.jwks import FRESH_S, STALE_S, UNKNOWN_KEY_PAUSE_S
from handler.server.auth.tokens import MAX_TOKEN_CHARS
from handler.server.oauth_proxy.proxy import ProxySite
from tests.commands.running import Stile
from tests.conftest import ROOT
from tests.docs.reference import codes, first_codes, page, table, tables, write_demo, write_files
from tests.support.endpoints import compiled, graphql_tool
from tests.support.predicates import predicate_of
from tests.support.upstream import Upstream

HIDING, CALLERS, POLICIES, TOKENS, SIGN_IN = (
    page(f"security/{name}") for name in ("hiding", "callers", "policies", "tokens", "sign-in")
)
QUERY = "type Query { a: Int }"


# Hiding


def test_shown_filter_comes_back_in_the_demo(tmp_path: Path, upstream: Upstream) -> None:
    (access,) = (block.text for block in HIDING.blocks if "show:" in block.text and not block.name)
    demo = write_demo(tmp_path, upstream)
    (demo / "config.shown.yaml").write_text(access, encoding="utf-8")

    shown = {
        stage: json.dumps(graphql_tool(compile_endpoint(demo, stage=stage), "employee-lookup").listings[0].entry)
        for stage in (None, "shown")
    }

    named = {stage: set(re.findall(r"salary\w*|SALARY\w*", text)) for stage, text in shown.items()}
    assert named == {None: set(), "shown": {"salary", "salaryGt"}}  # "salary" stands in the filter's description


@pytest.mark.parametrize(
    ("hidden", "name"),
    [
        (hidden, name)
        for row in table(HIDING.text, "hidden name", "names that contain it")
        for hidden in codes(row[0])
        for name in codes(row[1])
        if len(codes(row[0])) == 1 or name == {"status": "statuses", "child": "children", "index": "indices"}[hidden]
    ],
)
def test_input_with_the_name_of_a_hidden_field_is_hidden(tmp_path: Path, hidden: str, name: str) -> None:
    assert name in _lost(tmp_path, hidden, name)


@pytest.mark.parametrize(("hidden", "name"), [("log", "LOGIN"), ("salary", "salaryman"), ("salary", "salarygt")])
def test_input_with_another_name_stays(tmp_path: Path, hidden: str, name: str) -> None:
    assert name in HIDING.text
    assert _lost(tmp_path, hidden, name) == set()


def _lost(folder: Path, hidden: str, name: str) -> set[str]:
    types = f"type Row {{ a: Int {hidden}: Int }} input Where {{ a: Int {name}: Int }}"
    sdl = f"type Query {{ rows(where: Where): [Row] }} {types}"
    access = f"hide: [Row.{hidden}], policies: [{{type: Query, policyDefault: {{condition: true}}}}]"
    guards = compiled(folder, {"index.graphql": sdl, "config.yaml": f"access: {{{access}}}"}).bundle.guards
    return {coordinate.removeprefix("Where.") for coordinate in guards if coordinate.startswith("Where.")}


# Callers


def test_keys_of_the_page_are_read(tmp_path: Path) -> None:
    config = f"default_tool: false\n{CALLERS.yaml('identity')}"
    (key,) = compiled(tmp_path, {"index.graphql": QUERY, "config.yaml": config}).bundle.identity.api_keys
    told = first_codes(table(CALLERS.text, "key", "meaning"))

    assert (key.name, dict(key.claims or {})) == ("partner", {"kind": "partner"})
    assert key.expires > 0
    assert sorted(told) == ["claims", "expires", "name", "sha256"]


def test_condition_of_the_page_is_for_payroll_alone(tmp_path: Path, upstream: Upstream) -> None:
    demo = write_demo(tmp_path, upstream)
    (operation,) = (text for name, text in CALLERS.files.items() if name.startswith("payroll/"))
    (demo / "operations" / "pay_runs.graphql").write_text(operation, encoding="utf-8")
    made = compile_endpoint(demo).bundle
    mask = next(tool.mask for tool in made.tools if isinstance(tool, PrescribedTool) and tool.name == "pay_runs")

    for roles, meets in (["payroll"], True), (["clerk"], False), (None, False):
        claims = None if roles is None else {"sub": "ada", "roles": roles}
        assert Evaluation(made.conditions, claims=claims).meets(mask) is meets


# Policy tests


def test_policy_tests_of_the_page_are_met_and_slips_in_them_are_told_as_it_shows(
    tmp_path: Path, stile: Stile, monkeypatch: pytest.MonkeyPatch
) -> None:
    tests = page("security/policy-tests")
    schema = (ROOT / "examples" / "endpoints" / "api" / "customers" / "schema.graphql").read_text("utf-8")
    index = 'schema @sdl(files: ["schema.graphql"]) { query: Query mutation: Mutation }'
    write_files(tmp_path / "shop" / "payroll", {"schema.graphql": schema, "index.graphql": index})
    write_files(tmp_path / "shop", tests.files)
    monkeypatch.chdir(tmp_path / "shop" / "payroll")
    met = stile("check", ".")
    file = Path("policies.test.yaml")
    changed = (
        file.read_text("utf-8").replace("Employee.name]", "Employee.name, staff]").replace("[staff", "[Employee.name")
    )
    file.write_text(changed, encoding="utf-8")
    (shown,) = (block.text for block in tests.blocks if "[unmet-expectation]" in block.text)

    assert (met.code, "No problems in 1 endpoint" in met.out) == (0, True)
    assert stile("check", ".").out.splitlines()[-3:-1] == shown.splitlines()
    told = {key.partition(".")[0] for key in first_codes(table(tests.text, "key", "expects"))}
    assert told == set(KEYS)


# Policies

POLICIES_SDL = """
type Query { employees: [Employee!]! employee(id: ID!): Employee customer(email: String!): String }
type Mutation { fire(id: ID!): Boolean }
type Employee { name: String salary: Int ssn: String }
"""


def test_policies_of_the_page_are_read_and_conditions_are_as_its_table_says(tmp_path: Path) -> None:
    made = compiled(tmp_path, {"index.graphql": POLICIES_SDL, "config.yaml": POLICIES.yaml("access")}).bundle
    forms = first_codes(table(POLICIES.text, "condition", "holds"))

    assert len(made.conditions) == 5  # never, and four of the example
    hr, clerk = (Evaluation(made.conditions, claims={"roles": roles}) for roles in (["hr"], []))
    assert (hr.meets(made.guards["Employee.salary"]), clerk.meets(made.guards["Employee.salary"])) == (True, False)
    assert len([predicate_of(form) for form in forms if "$" in form or form in ("true", "false")]) == 8


@dataclass(frozen=True, slots=True)
class Try:
    """A caller of a recipe: the claims, and what each column of the table says."""

    recipe: str
    claims: str
    expected: Mapping[str, str]


def _tries() -> list[Try]:
    found: list[Try] = []
    names = re.finditer(r"^`([\w-]+)/config\.yaml`$", POLICIES.text, re.MULTILINE)
    for name in names:
        rows = next(rows for rows in tables(POLICIES.text[name.end() :]) if rows[0][0] == "claims")
        found += [Try(name[1], codes(row[0])[0], dict(zip(rows[0][1:], row[1:], strict=True))) for row in rows[1:]]
    return found


TRIES = _tries()

REQUESTS = {
    "Query.customer": '{ customer(email: "elif.nunez@example.com") { id } }',
    "Query.employees": "{ employees(first: 1) { id } }",
    "Query.employee": '{ employee(id: "empl_01") { id } }',
    "Customer.name": '{ customer(email: "elif.nunez@example.com") { name } }',
    "Customer.phone": '{ customer(email: "elif.nunez@example.com") { phone } }',
    "Employee.name": "{ employees(first: 1) { name } }",
    "Employee.salary": "{ employees(first: 1) { salary } }",
    "EmployeeFilter.salaryGt": "{ employees(where: {salaryGt: 1}) { id } }",
}
"""Coordinate -> a request that needs it, for the default tool over all of Query."""


def test_each_recipe_has_two_callers() -> None:
    recipes = {name.partition("/")[0] for name in POLICIES.files}

    assert {recipe: sum(each.recipe == recipe for each in TRIES) for recipe in recipes} == dict.fromkeys(recipes, 2)
    assert len(recipes) == 4


@pytest.fixture
def asking(tmp_path: Path, upstream: Upstream, stile: Stile, monkeypatch: pytest.MonkeyPatch) -> Stile:
    """The command in a folder with all recipes below ``shop``, and their API running."""
    schema = (ROOT / "examples" / "endpoints" / "api" / "customers" / "schema.graphql").read_text("utf-8")
    index = 'schema @sdl(files: ["schema.graphql"]) { query: Query mutation: Mutation }'
    for recipe in {each.recipe for each in TRIES}:
        write_files(tmp_path / "shop" / recipe, {"schema.graphql": schema, "index.graphql": index})
    files = {
        f"shop/{name}": text.replace("https://api.example.com/graphql", upstream.url)
        for name, text in POLICIES.files.items()
    }
    write_files(tmp_path, files)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STILE_SECRET_API", "the-api-key-of-a-recipe")
    upstream.clear()
    return stile


def test_check_warns_only_of_an_operation_that_walks_on(asking: Stile) -> None:
    (sentence,) = (block.text for block in POLICIES.blocks if "of an object that no argument names" in block.text)
    operation = POLICIES.files["own-salary/operations/my_pay.graphql"].replace("MyPay", "TeamPay")
    operation = operation.replace("my_pay", "team_pay").replace("    salary\n", "    reports { salary }\n")

    def walks(recipe: str) -> list[str]:
        (reported,) = json.loads(asking("check", f"shop/{recipe}", "--json").out)["endpoints"]
        return [each["sentence"] for each in reported["warnings"] if each["code"] == "variable-walk"]

    assert [recipe for recipe in {each.recipe for each in TRIES} if walks(recipe)] == []
    Path("shop/own-salary/operations/team_pay.graphql").write_text(operation, encoding="utf-8")
    (found,) = walks("own-salary")
    assert found.startswith(sentence.strip())


@pytest.mark.parametrize("tried", TRIES, ids=lambda each: f"{each.recipe}-{each.claims}")
def test_recipe_gives_each_caller_what_its_table_says(asking: Stile, upstream: Upstream, tried: Try) -> None:
    folder = f"shop/{tried.recipe}"
    Path("claims.json").write_text(tried.claims, encoding="utf-8")
    (explained,) = json.loads(asking("explain", folder, "--as", "claims.json", "--json").out)["endpoints"]
    tools = {tool["name"]: tool["listed"] for tool in explained["tools"]}

    for heading, says in tried.expected.items():
        name = (codes(heading) or [""])[0]
        if "at the API" in heading:
            assert (
                asking(
                    "call", folder, f"shop-{tried.recipe}", "--as", "claims.json", f"query={REQUESTS['Query.employee']}"
                ).code
                == 0
            )
            assert upstream.requests()[-1]["headers"][name] == says.strip("`")
        elif heading == "name in the answer":
            answer = json.loads(asking("call", folder, "my_card", "--as", "claims.json").out)
            assert answer["data"]["employee"]["name"] == says.strip("`")
        elif heading.endswith(" answers"):
            ran = asking("call", folder, name, "--as", "claims.json")
            assert (ran.code == 0) == (says != "refused"), ran
            assert says == "refused" or says.strip("`") in ran.out
        elif "." not in name:
            assert (tools[name] == "yes") == (says == "listed")
        else:
            assert (name not in explained["hidden"]) == (says == "visible"), name
            if name in REQUESTS:
                ran = asking("call", folder, f"shop-{tried.recipe}", "--as", "claims.json", f"query={REQUESTS[name]}")
                assert (ran.code == 0) == (says == "visible"), ran


# Tokens


def test_issuers_of_the_page_are_read_and_all_their_keys_are_told(tmp_path: Path) -> None:
    files = {"index.graphql": QUERY, "config.yaml": f"default_tool: false\n{TOKENS.yaml('identity')}"}
    told = {codes(row[0])[0]: row[1] for row in table(TOKENS.text, "key", "default", "meaning")}

    made = compiled(tmp_path, files)

    assert [issuer.issuer for issuer in made.bundle.identity.issuers] == [
        "https://login.example.com/",
        "https://ci.example.com/",
    ]
    assert made.warnings == ()
    assert set(told) == {*ISSUER, "api_keys", "trust_authorizer", "oauth_proxy"}
    assert told["algorithms"] == ", ".join(PUBLIC_ALGORITHMS)
    assert f"a secret of {MIN_SECRET_BYTES} bytes or more" in TOKENS.text
    assert f"Tokens of {MAX_TOKEN_CHARS // 1024} KB at most" in TOKENS.text
    assert (FRESH_S, STALE_S, UNKNOWN_KEY_PAUSE_S) == (10 * 60, 24 * 3600, 60)  # as its words say


def test_what_trust_authorizer_takes_is_as_the_page_says(tmp_path: Path) -> None:
    section = TOKENS.section("## Claims that API Gateway has verified")
    entries = [*re.findall(r"`trust_authorizer: \[(\w+)\]`", section), *re.findall(r"`(\{api: [^`]+\})`", section)]
    config = f"default_tool: false\nidentity: {{trust_authorizer: [{', '.join(entries)}]}}"

    made = compiled(tmp_path, {"index.graphql": QUERY, "config.yaml": config}).bundle.identity

    assert (made.trusted_apis, made.typed_apis) == (("a1b2c3d4e5",) * 2, ("a1b2c3d4e5",))


# Sign-in


@pytest.mark.parametrize("provider", ["cognito", "entra"])
def test_oauth_proxies_of_the_pages_are_read(tmp_path: Path, provider: str) -> None:
    config = page(f"security/{provider}").files["config.yaml"]
    made = compiled(tmp_path, {"index.graphql": QUERY, "config.yaml": f"default_tool: false\n{config}"})

    assert made.bundle.identity.oauth_proxy is not None
    assert made.warnings == ()
    assert address_faults(made.bundle, publish_rules()) == []
    site = ProxySite(
        proxy=made.bundle.identity.oauth_proxy, url="https://mcp.example.com/a/b", scopes=(), known_scopes=()
    )
    for uri in (
        "http://localhost:3334/oauth/callback",  # mcp-remote
        "http://localhost:6274/oauth/callback",  # the Inspector
        "http://localhost:49152/callback",  # Claude Code
    ):
        assert site.require_allowed(uri, code="invalid_request") == uri


def test_all_keys_of_the_oauth_proxy_are_told() -> None:
    assert first_codes(table(SIGN_IN.text, "key", "default", "meaning")) == list(PROXY)


def test_redirect_uris_of_clients_can_all_be_named(tmp_path: Path) -> None:
    uris = [uri for row in table(SIGN_IN.text, "client", "redirect URIs") for uri in codes(row[1])]
    proxy = f"{{authorize_url: 'https://a.b/c', token_url: 'https://a.b/d', client_id: x, redirect_uris: {uris}}}"
    issuer = "issuer: 'https://a.b/', audience: e, jwksendpoint: 'https://a.b/f'"
    config = f"default_tool: false\nidentity: {{{issuer}, oauth_proxy: {proxy}}}"

    made = compiled(tmp_path, {"index.graphql": QUERY, "config.yaml": config})

    assert len(uris) >= 9
    assert made.bundle.identity.oauth_proxy is not None
    assert made.bundle.identity.oauth_proxy.redirect_uris == tuple(uris)
