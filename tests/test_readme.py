"""What README.md tells its readers to do, done."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from handler.bundle.upstream import SECRET_SOURCES, SIGNED_SERVICES, HeaderAuth
from handler.bundle.upstream_stored import AUTH_KINDS
from handler.commands import COMMANDS
from handler.commands.publish_checks import address_faults
from handler.compiler.checks.tool_size import MAX_DESCRIPTION_BYTES
from handler.compiler.compile import compile_endpoint
from handler.compiler.config.config import MAX_INSTRUCTIONS_BYTES
from handler.compiler.config.identity import CALLER_KEYS, ISSUER_KEYS, MIN_SECRET_BYTES, PUBLIC_ALGORITHMS
from handler.compiler.config.oauth_proxy import KEYS as BRIDGE_KEYS
from handler.compiler.json_schemas.descriptions import MAX_ENUM_CHARS
from handler.compiler.json_schemas.regex_safety import MAX_PATTERN_CHARS
from handler.compiler.json_schemas.scalars import NUMBER_KEYWORDS, TEXT_KEYWORDS, TYPES
from handler.compiler.tools.resources import MAX_RESOURCE_BYTES, MAX_RESOURCES_BYTES
from handler.errors import InvalidArguments
from handler.json_schema.checker import MAX_VIOLATIONS
from handler.json_schema.formats import MAX_MATCHED_CHARS, STANDARD_FORMATS
from handler.policy.evaluation import Evaluation
from handler.server.auth.jwks import FRESH_S, STALE_S, UNKNOWN_KEY_PAUSE_S
from handler.server.auth.tokens import MAX_TOKEN_CHARS
from handler.server.endpoints.arguments import ArgumentsValidator
from handler.server.oauth_proxy.proxy import BridgeSite
from handler.server.outgoing.circuit_breaker import MAX_FAILURES, PAUSE_S
from handler.server.outgoing.secret_store import TTL_S
from handler.server.outgoing.token_endpoint import MARGIN_S, MAX_S
from handler.settings import read_settings
from tests.conftest import ROOT
from tests.support.endpoints import compiled, graphql_tool
from tests.support.function import Function, running_function
from tests.support.predicates import predicate_of
from tests.support.upstream import Upstream

README = (ROOT / "README.md").read_text(encoding="utf-8")
FILES = re.findall(r"^`(endpoints/\S+)`\n\n```\w+\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
SESSIONS = re.findall(r"^```console\n\$ (.*?)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
SHELL = re.findall(r"^```sh\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


@pytest.fixture
def workplace(tmp_path: Path, upstream: Upstream) -> Path:
    """A folder like the reader's: the demo with its API running, and the endpoint that the README writes."""
    shutil.copytree(ROOT / "examples" / "endpoints", tmp_path / "examples" / "endpoints")
    config = tmp_path / "examples" / "endpoints" / "api" / "customers" / "config.yaml"
    text = config.read_text(encoding="utf-8")
    assert "http://127.0.0.1:8001/graphql" in text
    config.write_text(text.replace("http://127.0.0.1:8001/graphql", upstream.url), encoding="utf-8")
    for name, content in FILES:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")
    return tmp_path


def test_readme_has_the_parts_that_these_tests_run() -> None:
    assert len(FILES) == 5
    assert len(SESSIONS) == 4
    assert len(SHELL) == 8


@pytest.mark.parametrize(("command", "expected"), SESSIONS)
def test_session_prints_what_the_readme_shows(workplace: Path, command: str, expected: str) -> None:
    program, *arguments = shlex.split(command)
    assert Path(program).name == "stile"

    done = subprocess.run(
        [sys.executable, "-m", "handler", *arguments],
        cwd=workplace,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    printed = [line.rstrip() for line in (done.stdout + done.stderr).splitlines()]
    assert printed == expected.splitlines()


def test_curl_gets_the_customer(function: Function) -> None:
    mcp, graphql = [shlex.split(block) for block in SHELL if block.startswith("curl")]

    assert mcp[2] == f"http://127.0.0.1:8000{function.path}"
    assert json.loads(function.post(mcp[-1]).text)["data"]["customer"]["id"] == "cust_0001"
    path = graphql[2].removeprefix("http://127.0.0.1:8000")
    assert function.post(graphql[-1], path=path).json == {
        "data": {"customer": {"id": "cust_0001", "name": "Elif Núñez"}}
    }


def test_prompts_and_resources_are_what_the_readme_says(workplace: Path) -> None:
    section = README[README.index("### Prompts, resources") : README.index("### An API that takes only")]
    folder = workplace / "endpoints" / "shop" / "orders"
    (folder / "resources").mkdir()
    (folder / "resources" / "terms.md").write_text("# Terms", encoding="utf-8")
    made = compile_endpoint(folder)

    with running_function(made) as function:
        review = {"name": "order-review", "arguments": {"number": "7", "tone": "brief"}}
        (message,) = function.request("prompts/get", review).result["messages"]
        listed = [each["uri"] for each in function.request("resources/list").result["resources"]]

    assert message["content"]["text"].endswith("order 7 and explain its status to the customer. Tone: brief")
    assert listed == re.findall(r"`(stile://[^`]+(?:terms.md|search.graphql))`", section)
    for number in (MAX_RESOURCE_BYTES, MAX_RESOURCES_BYTES, MAX_INSTRUCTIONS_BYTES):
        assert f"{number:,} bytes at most" in section or f"{number:,} together" in section


def test_every_shell_line_names_what_is_there() -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for line in "".join(block for block in SHELL if not block.startswith("curl")).splitlines():
        words = [word for word in shlex.split(line) if "=" not in word]
        match Path(words[0]).name, words[1:]:
            case "make", [target]:
                assert target in targets
            case "stile", [command, *_]:
                assert command in COMMANDS
            case "sam", [command, *_]:
                assert command in ("build", "deploy", "local")
            case "python", ["-m", module, *_]:
                assert (ROOT / module.replace(".", "/")).exists()
            case unknown:
                raise AssertionError(unknown)
        for word in words:
            if word.startswith(("events/", "examples/")):
                assert (ROOT / word).exists(), word


def test_every_configuration_key_of_the_readme_is_known(tmp_path: Path) -> None:
    config = """
        upstream: {url: "https://api.example.com/graphql", timeout_s: 10, max_bytes: 5000000, headers: {x-client: s},
          forward_headers: [x-request-id], documents: text, auth: none}
        limits: {max_tokens: 5000, max_depth: 12, max_fields: 200, max_aliases: 20, max_cost: 5000,
          max_values: 10000, list_sizes: {}}
        access: {anonymous: allow, hide: [], show: []}
        identity: {}
        default_tool: true
        graphql: persisted
        scalars: {}
        instructions: Ask for orders.
        resources: {condition: "true"}
        code: []
        catalog: false
    """
    table = README[README.index("All of `config.yaml`") :].split("\n\n")[1]
    named = re.findall(r"`([a-z_.]+)`", "".join(row.split("|")[1] for row in table.splitlines()[2:]))

    made = compiled(tmp_path, {"index.graphql": "type Query { a: Int }", "config.yaml": config}).bundle

    assert {name.split(".")[-1] for name in named} == set(re.findall(r"(\w+):", config)) - {
        "upstream", "limits", "resources", "https", "client", "anonymous"
    }  # fmt: skip
    assert made.upstream.timeout_s == 10
    assert (made.limits.max_tokens, made.limits.max_depth) == (5000, 12)


POLICIES_SDL = """
type Query { employees: [Employee!]! employee(id: ID!): Employee customer(email: String!): String }
type Mutation { fire(id: ID!): Boolean }
type Employee { name: String salary: Int ssn: String }
"""


def test_policies_of_the_readme_are_read_and_conditions_are_as_its_table_says(tmp_path: Path) -> None:
    section = README[README.index("### Policies") : README.index("### Tokens")]
    (config,) = re.findall(r"^```yaml\n(access:\n.*?)^```", section, re.MULTILINE | re.DOTALL)
    made = compiled(tmp_path, {"index.graphql": POLICIES_SDL, "config.yaml": config}).bundle
    cells = [re.split(r"(?<!\\)\|", row)[1] for row in section.splitlines() if row.startswith("| `")]
    forms = [form for cell in cells for form in re.findall(r"`([^`]+)`", cell)]

    assert len(made.conditions) == 5  # never, and four of the example
    hr, clerk = (Evaluation(made.conditions, claims={"roles": roles}) for roles in (["hr"], []))
    assert (hr.meets(made.guards["Employee.salary"]), clerk.meets(made.guards["Employee.salary"])) == (True, False)
    assert len([predicate_of(form) for form in forms if "$" in form or form in ("true", "false")]) == 8


def test_modes_of_the_readme_are_all_there_are_and_its_example_is_read(tmp_path: Path) -> None:
    text = README[README.index("### As whom the API is asked") : README.index("### An API that takes only operations")]
    (example,) = re.findall(r"^```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    firsts = [row.split("`")[1].strip("{}").split(":")[0] for row in text.splitlines() if row.startswith("| `")]

    made = compiled(tmp_path, {"index.graphql": "type Query { a: Int }", "config.yaml": example}).bundle

    assert sorted(firsts) == sorted(["auth", *AUTH_KINDS.values(), *SECRET_SOURCES])
    assert made.upstream.auth == HeaderAuth(header="x-hasura-admin-secret", value="secret:HASURA")
    assert made.upstream.claim_headers == {"x-hasura-role": "role", "x-hasura-org-id": "org.id"}
    assert f"{', '.join(f'`{each}`' for each in SIGNED_SERVICES[:-1])} and `{SIGNED_SERVICES[-1]}`" in text
    assert f"left alone for {PAUSE_S:g} seconds" in text
    assert (MAX_FAILURES, TTL_S, MARGIN_S, MAX_S) == (5, 300, 30, 3_600)  # which the text has in words


def test_issuers_of_the_readme_are_read_and_all_their_keys_are_told(tmp_path: Path) -> None:
    section = README[README.index("### Tokens") : README.index("### Sign-in for clients")]
    (config,) = re.findall(r"^```yaml\n(identity:\n.*?)^```", section, re.MULTILINE | re.DOTALL)
    files = {"index.graphql": "type Query { a: Int }", "config.yaml": f"default_tool: false\n{config}"}
    told = {row[1]: row[2] for row in re.finditer(r"^\| `(\w+)` \| ([^|]+) \|", section, re.MULTILINE)}

    made = compiled(tmp_path, files)

    assert [issuer.issuer for issuer in made.bundle.identity.issuers] == [
        "https://login.example.com/",
        "https://ci.example.com/",
    ]
    assert made.warnings == ()
    assert set(told) == {*ISSUER_KEYS, *CALLER_KEYS, "bridge"}
    assert told["algorithms"] == ", ".join(PUBLIC_ALGORITHMS)
    assert f"a secret of {MIN_SECRET_BYTES} bytes or more" in section
    assert f"Tokens of {MAX_TOKEN_CHARS // 1024} KB at most" in section
    assert (FRESH_S, STALE_S, UNKNOWN_KEY_PAUSE_S) == (10 * 60, 24 * 3600, 60)  # as its words say


@pytest.mark.parametrize("provider", ["amazoncognito.com", "login.microsoftonline.com"])
def test_bridges_of_the_readme_are_read_and_all_their_keys_are_told(tmp_path: Path, provider: str) -> None:
    section = README[README.index("### Sign-in for clients") : README.index("## Deploy")]
    (config,) = re.findall(rf"^```yaml\n(identity:\n(?:(?!```).)*{provider}.*?)^```", section, re.MULTILINE | re.DOTALL)
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", section, re.MULTILINE)

    files = {"index.graphql": "type Query { a: Int }", "config.yaml": f"default_tool: false\n{config}"}
    made = compiled(tmp_path, files)

    assert made.bundle.identity.bridge is not None
    assert made.warnings == ()
    assert address_faults(made.bundle) == []
    assert {name for row in rows for name in re.findall(r"\w+", row)} == set(BRIDGE_KEYS)
    site = BridgeSite(bridge=made.bundle.identity.bridge, url="https://mcp.example.com/a/b", scopes=(), known_scopes=())
    for uri in (
        "http://localhost:3334/oauth/callback",
        "http://localhost:6274/oauth/callback",
    ):  # mcp-remote, Inspector
        assert site.allows(uri)
    assert site.allows("http://localhost:49152/callback")  # Claude Code


def test_redirect_uris_of_clients_in_the_readme_can_all_be_named(tmp_path: Path) -> None:
    section = README[README.index("| client | redirect URIs |") : README.index("Clients may ask for the scopes of the")]
    uris = re.findall(r"`([a-z]+://[^`]+)`", section)
    bridge = f"{{authorize_url: 'https://a.b/c', token_url: 'https://a.b/d', client_id: x, redirect_uris: {uris}}}"
    issuer = "issuer: 'https://a.b/', audience: e, jwksendpoint: 'https://a.b/f'"
    config = f"default_tool: false\nidentity: {{{issuer}, bridge: {bridge}}}"

    made = compiled(tmp_path, {"index.graphql": "type Query { a: Int }", "config.yaml": config})

    assert len(uris) >= 9
    assert made.bundle.identity.bridge is not None
    assert made.bundle.identity.bridge.redirect_uris == tuple(uris)


def test_what_trust_authorizer_takes_is_as_the_readme_says(tmp_path: Path) -> None:
    section = README[README.index("`trust_authorizer: [a1b2c3d4e5]`") : README.index("Where an endpoint names issuers")]
    entries = ["a1b2c3d4e5", *re.findall(r"`(\{api: [^`]+\})`", section)]
    config = f"default_tool: false\nidentity: {{trust_authorizer: [{', '.join(entries)}]}}"

    made = compiled(tmp_path, {"index.graphql": "type Query { a: Int }", "config.yaml": config}).bundle.identity

    assert (made.trusted_apis, made.typed_apis) == (("a1b2c3d4e5",) * 2, ("a1b2c3d4e5",))


def test_shown_filter_of_the_readme_comes_back_in_the_demo(workplace: Path) -> None:
    (access,) = re.findall(r"^```yaml\n(access:\n  show: .*?)^```", README, re.MULTILINE | re.DOTALL)
    demo = workplace / "examples" / "endpoints" / "api" / "customers"
    (demo / "config.shown.yaml").write_text(access, encoding="utf-8")

    shown = {
        stage: json.dumps(graphql_tool(compile_endpoint(demo, stage=stage), "employee-lookup").listings[0].entry)
        for stage in (None, "shown")
    }

    named = {stage: set(re.findall(r"salary\w*|SALARY\w*", text)) for stage, text in shown.items()}
    assert named == {None: set(), "shown": {"salary", "salaryGt"}}  # "salary" stands in the filter's description


def test_scalars_of_the_readme_are_taken_and_refuse_as_it_says(tmp_path: Path) -> None:
    (scalars,) = re.findall(r"^```yaml\n(scalars:\n.*?)^```", README, re.MULTILINE | re.DOTALL)
    files = {
        "index.graphql": "scalar Money scalar Percent type Query { a(x: Money, y: String, z: Percent): Int }",
        "operations/price.graphql": "query price($max: Money, $currency: String, $off: Percent) "
        "@mcpTool { a(x: $max, y: $currency, z: $off) }",
        "config.yaml": scalars,
    }
    (tool,) = compiled(tmp_path, files).bundle.tools
    (shown,) = re.findall(r"^Invalid arguments .*?(?=\n```)", README, re.MULTILINE | re.DOTALL)

    with pytest.raises(InvalidArguments) as caught:
        ArgumentsValidator("price", tool.arguments).check({"max": "12.9", "curency": "EUR"})

    assert str(caught.value) == shown.replace("\n", " ")
    ArgumentsValidator("price", tool.arguments).check({"max": "12.90", "off": 100})


def test_keywords_and_formats_of_scalars_in_the_readme_are_all_there_are() -> None:
    text = README[README.index("`type` is `string`") : README.index("A pattern has 200 characters")]
    named = set(re.findall(r"`([A-Za-z0-9-]+)`", text))

    assert named == {"type", *TYPES, *TEXT_KEYWORDS, *NUMBER_KEYWORDS, *STANDARD_FORMATS}
    assert f"A pattern has {MAX_PATTERN_CHARS} characters at most" in README
    assert f"up to {MAX_MATCHED_CHARS:,} characters" in README
    assert f"in up to {MAX_ENUM_CHARS:,} characters" in README
    assert f"the first {MAX_VIOLATIONS} and" in README
    assert f"over {MAX_DESCRIPTION_BYTES:,} bytes" in README


def test_every_environment_variable_of_the_readme_is_read() -> None:
    named = re.findall(r"^\| `(STILE_\w+)`", README, re.MULTILINE)

    class Asked(dict[str, str]):
        def get(self, key: str, default: str = "") -> str:  # type: ignore[override] # all values are texts
            self[key] = default
            return "folder" if key == "STILE_BUNDLES" else default

    asked = Asked()
    read_settings(asked)

    assert sorted(named) == sorted(asked)
