from __future__ import annotations

from pathlib import Path

import pytest

from handler.bundle.identity import Access, ApiKey
from handler.bundle.model import Bundle
from handler.compiler.compile import Compiled
from handler.policy.evaluation import NEVER, Evaluation
from handler.policy.predicates import Predicate
from tests.support.diagnostics import Reported
from tests.support.endpoints import compiled, prescribed_tool, reported
from tests.support.outcomes import outcome_of

SDL = """
type Query { customer: Customer employee: Employee person: Person node: Node }
type Mutation { fire: Employee }
interface Node { id: ID! }
interface Person { name: String salary: Int }
type Customer implements Node & Person { id: ID! name: String salary: Int }
type Employee implements Node & Person { id: ID! name: String salary: Int boss: Employee }
"""

SHA256 = "0123456789abcdef" * 4


def bundle_with(folder: Path, config: str, *, sdl: str = SDL) -> Bundle:
    return compiled(folder, {"index.graphql": sdl, "config.yaml": config}).bundle


def refused(folder: Path, config: str) -> list[Reported]:
    return reported(folder, {"index.graphql": SDL, "config.yaml": config})


def policies(*texts: str) -> str:
    return "access:\n  policies:\n" + "".join(f"    - {text}\n" for text in texts)


def rule_with(condition: str) -> str:
    """A policy whose condition begins at 5:20."""
    return policies("type: Query\n      rules:\n      - condition: " + condition + "\n        fields: [node]")


def denied_of(bundle: Bundle) -> set[str]:
    """The coordinates that nobody but an unrestricted caller may use."""
    outcome = outcome_of(bundle.conditions, unrestricted=False)
    return {coordinate for coordinate, mask in bundle.guards.items() if not mask <= outcome}


def test_without_an_access_section_every_root_field_is_denied(tmp_path: Path) -> None:
    bundle = bundle_with(tmp_path, "")

    assert denied_of(bundle) == {
        "Query.customer",
        "Query.employee",
        "Query.person",
        "Query.node",
        "Mutation.fire",
    }
    assert bundle.access == Access(anonymous="challenge")


def test_unrestricted_caller_passes_every_policy(tmp_path: Path) -> None:
    bundle = bundle_with(tmp_path, "")
    outcome = outcome_of(bundle.conditions, unrestricted=True)

    assert all(mask <= outcome for mask in bundle.guards.values())


def test_first_condition_never_holds_for_anybody(tmp_path: Path) -> None:
    bundle = bundle_with(tmp_path, "")

    assert bundle.conditions == (NEVER, {"literal": False})
    assert 0 not in outcome_of(bundle.conditions, unrestricted=True)


@pytest.mark.parametrize("fields", ["", ", fields: []", ", fields: "])
def test_rule_that_guards_no_field_is_refused(tmp_path: Path, fields: str) -> None:
    config = policies(f"{{type: Query, rules: [{{condition: '?$jwt'{fields}}}], policyDefault: {{condition: true}}}}")

    (problem,) = refused(tmp_path, config)
    assert 'invalid-value: "access.policies[0].rules[0].fields": expected the names of the fields' in str(problem)


def test_policy_default_opens_a_root_type(tmp_path: Path) -> None:
    bundle = bundle_with(tmp_path, policies("{type: Query, policyDefault: {condition: true}}"))

    assert denied_of(bundle) == {"Mutation.fire"}


def test_policy_without_a_default_denies_the_other_fields(tmp_path: Path) -> None:
    bundle = bundle_with(
        tmp_path, policies("{type: Query, rules: [{name: some, condition: true, fields: [customer, node]}]}")
    )

    assert denied_of(bundle) == {"Query.employee", "Query.person", "Mutation.fire"}


def test_rule_denies_what_the_default_opens(tmp_path: Path) -> None:
    bundle = bundle_with(
        tmp_path,
        policies(
            "{type: Query, policyDefault: {condition: true}}",
            "{type: Employee, rules: [{condition: false, fields: [boss]}], policyDefault: {condition: true}}",
        ),
    )

    assert denied_of(bundle) == {"Mutation.fire", "Employee.boss"}


def test_single_field_and_quoted_conditions_are_read_as_in_stepzen_files(tmp_path: Path) -> None:
    config = policies('{type: Query, rules: [{name: a, description: b, condition: "true", fields: node}]}')

    assert denied_of(bundle_with(tmp_path, config)) == {
        "Query.customer",
        "Query.employee",
        "Query.person",
        "Mutation.fire",
    }


def test_condition_of_a_default_guards_the_fields_without_a_rule(tmp_path: Path) -> None:
    rule = "rules: [{condition: true, fields: [customer]}]"
    bundle = bundle_with(tmp_path, policies(f"{{type: Query, {rule}, policyDefault: {{condition: '?$jwt'}}}}"))

    assert "Query.customer" not in bundle.guards
    mask = frozenset({bundle.conditions.index({"exists": {"jwt": []}})})
    assert {name: bundle.guards[name] for name in ("Query.employee", "Query.person", "Query.node")} == {
        "Query.employee": mask,
        "Query.person": mask,
        "Query.node": mask,
    }


def test_type_without_a_policy_is_open(tmp_path: Path) -> None:
    bundle = bundle_with(tmp_path, policies("{type: Query, policyDefault: {condition: true}}"))

    assert not any(coordinate.startswith(("Customer.", "Employee.")) for coordinate in bundle.guards)


def test_query_and_mutation_mean_the_root_types_whatever_they_are_called(tmp_path: Path) -> None:
    sdl = "schema { query: Reads mutation: Writes }\ntype Reads { a: Int }\ntype Writes { b: Int }"
    config = policies("{type: Query, policyDefault: {condition: true}}", "{type: Writes}")

    assert denied_of(bundle_with(tmp_path, config, sdl=sdl)) == {"Writes.b"}


def test_policy_is_for_the_type_of_its_name_before_it_is_for_a_root_type(tmp_path: Path) -> None:
    sdl = "schema { query: Reads }\ntype Reads { a: Query }\ntype Query { b: Int c: Int }"
    rules = "[{condition: true, fields: [c]}]"
    config = policies("{type: Reads, policyDefault: {condition: true}}", f"{{type: Query, rules: {rules}}}")

    assert denied_of(bundle_with(tmp_path, config, sdl=sdl)) == {"Query.b"}


def test_denied_on_an_interface_is_denied_on_every_implementer(tmp_path: Path) -> None:
    config = policies("{type: Person, rules: [{condition: false, fields: [salary]}], policyDefault: {condition: true}}")

    assert {"Person.salary", "Customer.salary", "Employee.salary"} <= denied_of(bundle_with(tmp_path, config))


def test_denied_on_one_implementer_is_denied_on_the_interface_but_not_on_the_others(tmp_path: Path) -> None:
    config = policies(
        "{type: Employee, rules: [{condition: false, fields: [salary]}], policyDefault: {condition: true}}"
    )
    denied = denied_of(bundle_with(tmp_path, config))

    assert {"Employee.salary", "Person.salary"} <= denied
    assert "Customer.salary" not in denied


def test_introspection_fields_in_a_policy_are_accepted(tmp_path: Path) -> None:
    config = policies("{type: Query, rules: [{condition: true, fields: [__schema, __type, _service, node]}]}")

    assert "Query.node" not in denied_of(bundle_with(tmp_path, config))


@pytest.mark.parametrize("condition", ["yes", "'True'", "TRUE", "truely", "on", "null"])
def test_only_true_and_false_are_constants(tmp_path: Path, condition: str) -> None:
    text = condition.strip("'")
    column = 21 if condition.startswith("'") else 20

    (line,) = refused(tmp_path, rule_with(condition))

    assert line == f'config.yaml:5:{column} invalid-condition: "{text}"'


@pytest.mark.parametrize("condition", ["''", "' '", '""', "|"])
def test_empty_condition_is_refused(tmp_path: Path, condition: str) -> None:
    (line,) = refused(tmp_path, rule_with(condition))

    assert line == "invalid-condition: there is no condition"


def test_condition_over_claims_is_one_of_the_endpoints_conditions(tmp_path: Path) -> None:
    config = policies(
        """{type: Query, rules: [{condition: '?$jwt && $jwt.role:String == "admin"', fields: [customer, node]}],"""
        " policyDefault: {condition: '?$jwt'}}"
    )
    bundle = bundle_with(tmp_path, config)

    token: Predicate = {"exists": {"jwt": []}}
    role = {"compare": "==", "left": {"jwt": ["role"], "type": "String"}, "right": {"value": "admin"}}
    assert bundle.conditions == (NEVER, {"and": [token, role]}, token, {"literal": False})
    assert {name: mask for name, mask in bundle.guards.items() if name.startswith("Query.")} == {
        "Query.customer": frozenset({1}),
        "Query.node": frozenset({1}),
        "Query.employee": frozenset({2}),
        "Query.person": frozenset({2}),
    }
    assert {"Query.customer", "Query.employee"} <= denied_of(bundle)


def test_conditions_that_say_the_same_in_other_words_are_one(tmp_path: Path) -> None:
    config = policies(
        "{type: Query, rules: [{condition: '?$jwt && true', fields: node}, {condition: ' (?$jwt)', fields: person}]}",
        "{type: Mutation, policyDefault: {condition: '!!(? $jwt)'}}",
    )

    assert bundle_with(tmp_path, config).conditions == (NEVER, {"exists": {"jwt": []}}, {"literal": False})


def test_condition_that_always_holds_guards_nothing(tmp_path: Path) -> None:
    bundle = bundle_with(tmp_path, policies("{type: Query, policyDefault: {condition: '?$jwt || !false'}}"))

    assert denied_of(bundle) == {"Mutation.fire"}


@pytest.mark.parametrize(
    ("condition", "place"),
    [
        ("$jwt.role", "5:20"),
        ("true && $jwt.role", "5:28"),
        ("'true && $jwt.role'", "5:29"),
        ("'$jwt.a:String == ''x'' && $jwt.role'", "5:47"),
        (r'"$jwt.a:String == \"x\" && $jwt.role"', "5:47"),
        (r'"$jwt.a:String == \"\\\\\" && $jwt.role"', "5:50"),
        ("'?$jwt.日本 && $jwt.role'", "5:33"),
        (r'"true\t&& $jwt.role"', "5:20"),  # the file has two characters where the text has a tab
        ("&name true && $jwt.role", "5:20"),
        ("true &&\n          $jwt.role", "5:20"),
        (">\n          true && $jwt.role", "5:20"),
        ("|-\n          true &&\n          $jwt.role", "5:20"),
    ],
)
def test_mistake_in_a_condition_is_told_where_it_stands_or_where_the_condition_begins(
    tmp_path: Path, condition: str, place: str
) -> None:
    (line,) = refused(tmp_path, rule_with(condition))

    assert line == f'config.yaml:{place} invalid-condition: "$jwt.role"'


def test_condition_of_a_variable_is_read(tmp_path: Path) -> None:
    files = {"index.graphql": SDL, "config.yaml": rule_with("STEPZEN_WHO"), ".env": "STEPZEN_WHO=?$jwt\n"}

    assert {"exists": {"jwt": []}} in compiled(tmp_path, files).bundle.conditions


def test_condition_of_a_variable_is_not_shown(tmp_path: Path) -> None:
    files = {"index.graphql": SDL, "config.yaml": rule_with("STEPZEN_WHO"), ".env": "STEPZEN_WHO=a-secret\n"}

    (line,) = reported(tmp_path, files)
    assert line == "config.yaml:5:20 invalid-value: \"access.policies[0].rules[0].condition\" & 'STEPZEN_WHO'"


def test_rule_without_a_condition_is_refused(tmp_path: Path) -> None:
    (problem,) = reported(
        tmp_path,
        {"index.graphql": SDL, "config.yaml": policies("{type: Query, rules: [{name: a, fields: [node]}]}")},
    )

    assert problem == "config.yaml:3:29 invalid-condition"


@pytest.mark.parametrize(
    ("policy", "line"),
    [
        ("{type: Kunde}", 'config.yaml:3:14 unknown-type: "Kunde"'),
        ("{type: Custmer}", 'config.yaml:3:14 unknown-type: "Custmer" & did you mean Customer?'),
        ("{type: ID}", 'config.yaml:3:14 unknown-type: "ID" & ID is a scalar: name the fields that have it'),
        (
            "{policyDefault: {condition: true}}",
            'config.yaml:3:7 invalid-value: "access.policies[0].type"',
        ),
        (
            "{type: Query, rules: [{condition: true, fields: [nod]}]}",
            'config.yaml:3:56 unknown-field: "Query" & "nod" & did you mean node?',
        ),
        (
            "{type: Query, rules: [{condition: true, fields: [node, node]}]}",
            'config.yaml:3:62 duplicate-rule: "node"',
        ),
        (
            "{type: Query, rules: [{condition: true, fields: node}, {condition: false, fields: [node]}]}",
            'config.yaml:3:90 duplicate-rule: "node"',
        ),
        (
            "{type: Query, rules: [{condition: true, fields: [{a: b}]}]}",
            'config.yaml:3:56 invalid-value: "access.policies[0].rules[0].fields[0]"',
        ),
        (
            "{type: Query, policyDefault: true}",
            "config.yaml:3:36 invalid-value: \"access.policies[0].policyDefault\" & 'true'",
        ),
    ],
)
def test_policy_that_fits_nothing_is_reported(tmp_path: Path, policy: str, line: str) -> None:
    assert refused(tmp_path, policies(policy)) == [line]


def test_second_policy_for_a_type_is_reported(tmp_path: Path) -> None:
    assert refused(tmp_path, policies("{type: Query}", "{type: Mutation}", "{type: Query}")) == [
        'config.yaml:5:14 duplicate-policy: "Query"'
    ]


def test_rest_of_a_policy_whose_type_does_not_fit_is_judged(tmp_path: Path) -> None:
    wrong = "rules: [{condition: x, fields: nothing}], policyDefault: {conditon: true}"

    assert refused(tmp_path, policies(f"{{type: Kunde, {wrong}}}")) == [
        'config.yaml:3:14 unknown-type: "Kunde"',
        'config.yaml:3:41 invalid-condition: "x"',
        "config.yaml:3:78 invalid-condition",
        'config.yaml:3:79 unknown-key: "access.policies[0].policyDefault.conditon" & did you mean condition?',
    ]


def test_rules_of_a_second_policy_for_a_type_are_judged(tmp_path: Path) -> None:
    second = "{type: Query, rules: [{condition: true, fields: [nod]}]}"

    assert refused(tmp_path, policies("{type: Query}", second)) == [
        'config.yaml:4:14 duplicate-policy: "Query"',
        'config.yaml:4:56 unknown-field: "Query" & "nod" & did you mean node?',
    ]


def test_mask_of_a_prescribed_tool_is_the_union_over_all_that_it_selects(tmp_path: Path) -> None:
    config = policies(
        "{type: Query, policyDefault: {condition: true}}",
        "{type: Employee, rules: [{condition: false, fields: [boss]}], policyDefault: {condition: true}}",
    )
    operations = """
query Open @mcpTool { employee { name } }
query Field @mcpTool { employee { boss { name } } }
query InAFragment @mcpTool { employee { ...A } }
query Inline @mcpTool { person { ... on Employee { boss { id } } } }
query Skipped($no: Boolean = false) @mcpTool { employee { name boss @include(if: $no) { id } } }
query Aliased @mcpTool { employee { name: boss { id } } }
query NotIts @mcpTool { node { ...B } }
mutation Root @mcpTool { fire { name } }
fragment A on Employee { name ...C }
fragment C on Employee { boss { id } }
fragment B on Node { id }
"""
    made = compiled(tmp_path, {"index.graphql": SDL, "config.yaml": config, "operations/o.graphql": operations})
    denied = frozenset({made.bundle.conditions.index({"literal": False})})

    assert {tool.name: prescribed_tool(made, tool.name).mask for tool in made.bundle.tools} == {
        "Open": frozenset(),
        "Field": denied,
        "InAFragment": denied,
        "Inline": denied,
        "Skipped": denied,
        "Aliased": denied,
        "NotIts": frozenset(),
        "Root": denied,
    }


@pytest.mark.parametrize(
    ("config", "anonymous"),
    [
        ("", "challenge"),
        ("access: {hide: [Employee.salary]}\n", "challenge"),
        ("access: {hide: [Employee.salary], anonymous: allow}\n", "allow"),
        (policies("{type: Query}"), "allow"),
        ("access: {anonymous: allow}", "allow"),
        (policies("{type: Query}") + "  anonymous: challenge\n", "challenge"),
        (policies("{type: Query}") + f"identity: {{api_keys: [{{name: a, sha256: {SHA256}}}]}}\n", "challenge"),
        (
            policies("{type: Query}")
            + f"  anonymous: allow\nidentity: {{api_keys: [{{name: a, sha256: {SHA256}}}]}}\n",
            "allow",
        ),
    ],
)
def test_anonymous_callers_are_challenged_where_there_is_a_credential_to_ask_for(
    tmp_path: Path, config: str, anonymous: str
) -> None:
    assert bundle_with(tmp_path, config).access.anonymous == anonymous


def test_api_keys_are_kept_as_digests(tmp_path: Path) -> None:
    config = f"""
identity:
  api_keys:
    - {{name: ci, sha256: {SHA256}}}
    - {{name: old, sha256: {SHA256.upper()}, expires: 2030-01-31}}
    - {{name: precise, sha256: {SHA256}, expires: "2030-01-31T12:00:00+02:00"}}
    - {{name: ancient, sha256: {SHA256}, expires: 1970-01-01}}
"""
    assert bundle_with(tmp_path, config).identity.api_keys == (
        ApiKey(name="ci", sha256=SHA256, expires=0, claims=None),
        ApiKey(name="old", sha256=SHA256, expires=1_896_048_000, claims=None),
        ApiKey(name="precise", sha256=SHA256, expires=1_896_084_000, claims=None),
        ApiKey(name="ancient", sha256=SHA256, expires=1, claims=None),  # 0 would be: never
    )


@pytest.mark.parametrize(
    ("key", "line"),
    [
        (
            "{name: a, sha256: abc}",
            'config.yaml:3:25 invalid-value: "identity.api_keys[0].sha256"',
        ),
        (
            "{name: a}",
            'config.yaml:3:7 invalid-value: "identity.api_keys[0].sha256"',
        ),
        (
            f"{{sha256: {SHA256}}}",
            'config.yaml:3:7 invalid-value: "identity.api_keys[0].name"',
        ),
        (
            f"{{name: a, sha256: {SHA256}, expires: soon}}",
            'config.yaml:3:100 invalid-value: "identity.api_keys[0].expires"',
        ),
        (
            f"{{name: a, sha256: {SHA256}, expires: 2030-02-30}}",
            'config.yaml:3:100 invalid-value: "identity.api_keys[0].expires"',
        ),
    ],
)
def test_api_key_that_does_not_fit_is_reported(tmp_path: Path, key: str, line: str) -> None:
    assert refused(tmp_path, f"identity:\n  api_keys:\n    - {key}\n") == [line]


def test_second_api_key_of_a_name_is_reported(tmp_path: Path) -> None:
    config = f"""\
identity:
  api_keys:
    - {{name: a, sha256: {SHA256}}}
    - {{name: b, sha256: {SHA256}}}
    - {{name: a, sha256: {SHA256}}}
"""

    assert refused(tmp_path, config) == ['config.yaml:5:14 duplicate-api-key: "a"']


def test_api_keys_without_a_name_are_not_said_to_have_the_same(tmp_path: Path) -> None:
    config = f"identity:\n  api_keys:\n    - {{sha256: {SHA256}}}\n    - {{sha256: {SHA256}}}\n"

    assert refused(tmp_path, config) == [
        'config.yaml:3:7 invalid-value: "identity.api_keys[0].name"',
        'config.yaml:4:7 invalid-value: "identity.api_keys[1].name"',
    ]


# StepZen enforces field policies for requests "without a token" as well: its simpleABACSample says of policyDefault
# true "The default policy for fields not covered by the above policies is to allow access, no JWT required", and of
# "?$jwt" that it requires one. Without an `access` section only its keys work.
DEPLOYMENT = "deployment: {identity: {keys: [{algorithm: HS256, key: development-only}]}}\n"
PROJECT = '{"endpoint": "api/things"}'
SHUT = policies('{type: Query, policyDefault: {condition: "?$jwt"}}')
OPENED = policies("{type: Query, policyDefault: {condition: true}}")


def of_stepzen(folder: Path, config: str, **files: str) -> Compiled:
    texts = {"index.graphql": SDL, "config.yaml": config, "stepzen.config.json": PROJECT}
    return compiled(folder, texts | {name.replace("__", "/"): text for name, text in files.items()})


@pytest.mark.parametrize(
    ("config", "anonymous"),
    [
        (DEPLOYMENT + OPENED, "allow"),
        (DEPLOYMENT + OPENED + "  anonymous: challenge\n", "challenge"),
        (DEPLOYMENT + OPENED + "  anonymous: allow\n", "allow"),
        (DEPLOYMENT + SHUT + "  anonymous: allow\n", "allow"),
        (DEPLOYMENT, "challenge"),
        (DEPLOYMENT + "access: {}\n", "challenge"),
        (DEPLOYMENT + "access: {policies: []}\n", "challenge"),
        (DEPLOYMENT + "access: {hide: [Employee.salary]}\n", "challenge"),
        (DEPLOYMENT + SHUT, "challenge"),
        (DEPLOYMENT + policies("{type: Query}"), "challenge"),
        (DEPLOYMENT + policies("{type: Query, policyDefault: {condition: false}}"), "challenge"),
        (DEPLOYMENT + policies('{type: Query, policyDefault: {condition: "!(?$jwt)"}}'), "allow"),
        (DEPLOYMENT + policies('{type: Query, policyDefault: {condition: "$jwt.a:Int != 1"}}'), "challenge"),
        (DEPLOYMENT + policies('{type: Query, policyDefault: {condition: "!($jwt.a:Int == 1)"}}'), "challenge"),
        (DEPLOYMENT + policies('{type: Query, policyDefault: {condition: "?$jwt || $variables.a:Int == 1"}}'), "allow"),
        (
            DEPLOYMENT + policies('{type: Query, policyDefault: {condition: "?$jwt && $variables.a:Int == 1"}}'),
            "challenge",
        ),
        (DEPLOYMENT + policies("{type: Employee, policyDefault: {condition: true}}"), "challenge"),
        (DEPLOYMENT + policies("{type: Query, rules: [{condition: true, fields: [node]}]}"), "allow"),
        (DEPLOYMENT + policies("{type: Query, rules: [{condition: true, fields: [__schema]}]}"), "allow"),
        (DEPLOYMENT + OPENED + "  hide: [Query]\ngraphql: persisted\n", "challenge"),
        (OPENED, "allow"),
        # An identity of Stile's own keys is not StepZen's.
        (OPENED + f"identity: {{api_keys: [{{name: a, sha256: {SHA256}}}]}}\n", "challenge"),
    ],
)
def test_anonymous_callers_of_a_stepzen_project_get_in_for_what_its_policies_open(
    tmp_path: Path, config: str, anonymous: str
) -> None:
    assert of_stepzen(tmp_path, config).bundle.access.anonymous == anonymous


def test_identity_in_deployment_opens_nothing_where_the_project_is_not_of_stepzen(tmp_path: Path) -> None:
    assert bundle_with(tmp_path, DEPLOYMENT + OPENED).access.anonymous == "challenge"


def test_fields_that_policies_of_stepzen_open_to_anonymous_callers_are_doubted(tmp_path: Path) -> None:
    rules = policies(
        '{type: Query, rules: [{condition: true, fields: [node]}, {condition: "?$jwt", fields: [person]}]}'
    )

    def told(folder: str, config: str) -> list[Reported]:
        warnings = of_stepzen(tmp_path / folder, config).warnings
        return [Reported(each) for each in warnings if each.code == "open-to-anonymous"]

    assert told("default", DEPLOYMENT + rules) == ["config.yaml:3:3 open-to-anonymous: Query.node"]
    assert told("said", DEPLOYMENT + rules + "  anonymous: allow\n") == []
    assert told("shut", DEPLOYMENT + SHUT) == []
    assert told("keyless", rules) == []


def test_keys_that_shut_out_callers_whom_policies_of_stepzen_let_in_are_doubted(tmp_path: Path) -> None:
    keys = f"identity: {{api_keys: [{{name: a, sha256: {SHA256}}}]}}\n"

    def told(folder: str, config: str, **files: str) -> list[Reported]:
        warnings = of_stepzen(tmp_path / folder, config, **files).warnings
        return [Reported(each) for each in warnings if each.code == "closed-to-anonymous"]

    rules = policies("{type: Query, rules: [{condition: true, fields: [node]}]}")
    assert told("default", keys + rules) == [
        "config.yaml:3:3 closed-to-anonymous: Query.node & access.anonymous: allow"
    ]
    assert told("said", keys + OPENED + "  anonymous: challenge\n") == []
    assert told("open", keys + OPENED + "  anonymous: allow\n") == []
    assert told("shut", keys + SHUT) == []
    assert told("bare", keys) == []
    assert told("keyless", OPENED) == []
    assert told("of stepzen", DEPLOYMENT + OPENED) == []
    texts = {"index.graphql": SDL, "config.yaml": keys + OPENED}
    assert "closed-to-anonymous" not in [each.code for each in compiled(tmp_path / "other", texts).warnings]


def test_what_no_policy_of_stepzen_opens_stays_shut_to_anonymous_callers(tmp_path: Path) -> None:
    # The policies guard fields; prompts and resources from files were for whoever has a credential.
    files = {"prompts__hello.md": "Say hello.", "resources__a.txt": "text"}

    def masks(folder: str, config: str) -> list[bool]:
        bundle = of_stepzen(tmp_path / folder, config, **files).bundle
        callers = [
            Evaluation(bundle.conditions, claims=None),
            Evaluation(bundle.conditions, claims={}),
            Evaluation(bundle.conditions, claims=None, unrestricted=True),
        ]
        (prompt,), (resource,) = bundle.prompts, bundle.resources
        return [caller.meets(each.mask) for each in (prompt, resource) for caller in callers]

    assert masks("default", DEPLOYMENT + OPENED) == [False, True, True] * 2
    assert masks("keyless", "deployment: {identity: {}}\n" + OPENED) == [True] * 6
    assert masks("said", DEPLOYMENT + OPENED + "  anonymous: allow\n") == [True] * 6
    assert masks("conditioned", DEPLOYMENT + OPENED + "resources: {condition: true}\n")[3:] == [True] * 3
