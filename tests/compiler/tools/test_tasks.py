"""``@mcpTask``: a mutation that starts a job, and the query that asks for the job's status."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from handler.bundle.stored import read_bundle
from handler.bundle.tools import PrescribedTool
from tests.support.endpoints import PUBLIC, compiled, doubted, prescribed_tool, reported

SDL = """
type Query { job(id: ID!, tenant: String): Job jobs: [Job!]! any(id: ID!): Node count: Int }
type Mutation { export(filter: String): Started cancel(id: ID!): Job }
type Started { job: Job jobs: [Job!] note: String size: Int! }
interface Node { id: ID! }
type Job implements Node { id: ID! status: Status! file: String ready: Boolean }
enum Status { QUEUED RUNNING SUCCESS FAILED CANCELED }
"""
EXPORT = """mutation Export($filter: String) @mcpTool(name: "export") @mcpTask(ARGUMENTS) {
  export(filter: $filter) { job { id status } jobs { id } note size }
}"""
STATE = "query State($id: ID!) { job(id: $id) { status file } }"
CANCEL = "mutation Cancel($id: ID!) { cancel(id: $id) { id } }"
GUARDED = """
access:
  anonymous: allow
  policies:
    - type: Query
      rules: [{fields: [job], condition: "?$jwt"}]
"""
WHOLE = {
    "poll": '"State"',
    "variables": '{id: "export.job.id"}',
    "status": '"job.status"',
    "completed": '["SUCCESS"]',
}


def files_of(*, export: str = EXPORT, more: str = STATE, **arguments: str) -> dict[str, str]:
    written = " ".join(f"{name}: {value}" for name, value in {**WHOLE, **arguments}.items() if value)
    return {
        "index.graphql": SDL,
        "operations/a.graphql": export.replace("ARGUMENTS", written),
        "operations/b.graphql": f"{more}\n{CANCEL}",
        "config.yaml": PUBLIC,
    }


def tool_of(folder: Path, name: str = "export", **files: Any) -> PrescribedTool:
    return prescribed_tool(compiled(folder, files_of(**files)), name)


def test_directive_makes_a_task_and_a_tool_for_its_status(tmp_path: Path) -> None:
    options = {"failed": '["FAILED"]', "cancelled": '["CANCELED"]', "cancel": '"Cancel"', "wait": "7"}
    made = compiled(tmp_path, files_of(initialStatus='"export.job.status"', **options))
    export, status = prescribed_tool(made, "export"), prescribed_tool(made, "export_status")

    assert export.task
    assert export.task.cancel
    assert (export.task.status_tool, status.polls) == ("export_status", "export")
    assert dict(export.task.variables) == {"id": "export.job.id"}
    assert (export.task.every_s, export.task.ttl_s, export.task.wait_s) == (5, 3600, 7)
    assert export.task.cancel.operation.name == "Cancel"
    assert status.operation.name == "State"
    assert [*status.arguments["properties"]] == ["taskId"]
    assert status.entry["annotations"]["readOnlyHint"] is True
    assert [each.tool.name for each in made.made] == ["export", "export_status"]
    assert read_bundle(dict(made.objects())["api/things/bundle.v2.json"], endpoint="api/things") == made.bundle


def test_output_schema_has_both_answers(tmp_path: Path) -> None:
    schema = tool_of(tmp_path).entry["outputSchema"]

    assert schema["type"] == "object"
    started, job = (each["properties"]["data"]["anyOf"][0]["properties"] for each in schema["anyOf"])
    assert ([*started], [*job]) == (["export"], ["job"])


def test_query_that_fewer_callers_may_use_is_not_in_the_output_schema(tmp_path: Path) -> None:
    made = compiled(tmp_path, files_of() | {"config.yaml": GUARDED})

    assert "outputSchema" not in prescribed_tool(made, "export").entry
    assert prescribed_tool(made, "export_status").mask


def test_status_tool_has_the_conditions_of_the_tool_that_values_do_not_decide(tmp_path: Path) -> None:
    rules = 'rules: [{fields: [export], condition: "?$jwt && $variables.filter:String == $jwt.sub:String"}]'
    config = PUBLIC.replace("type: Mutation,", f"type: Mutation, {rules},")
    whole = prescribed_tool(compiled(tmp_path / "a", files_of() | {"config.yaml": config}), "export_status")
    config = config.replace(" && $variables.filter:String == $jwt.sub:String", "")
    split = prescribed_tool(compiled(tmp_path / "b", files_of() | {"config.yaml": config}), "export_status")

    assert (len(whole.mask), len(split.mask)) == (0, 1)


def test_status_tool_is_listed_or_hidden_as_its_author_says(tmp_path: Path) -> None:
    assert not tool_of(tmp_path, "export_status").options.hidden
    assert tool_of(tmp_path, "export_status", statusTool="hidden").options.hidden
    assert tool_of(tmp_path, "export_status", required="true").options.hidden
    pinned = EXPORT.replace('"export")', '"export", pinned: true)')
    assert tool_of(tmp_path, "export_status", export=pinned).options.pinned
    assert not tool_of(tmp_path, "export_status", export=pinned, statusTool="hidden").options.pinned


def test_variable_that_mcp_bind_fills_takes_no_path(tmp_path: Path) -> None:
    state = 'query State($id: ID! @mcpBind(claim: "job")) { job(id: $id) { status } }'

    assert reported(tmp_path, files_of(more=state)) == ["invalid-task: variables & a path for a variable of the query"]


def test_output_schema_keeps_shared_parts_of_both_answers_apart(tmp_path: Path) -> None:
    places = "a: job(id: 1) { ...F } b: job(id: 1) { ...F } c: job(id: 1) { ...F }"
    fields = "status id file s: status i: id f: file"
    started, polled = (dict.fromkeys((*fields.replace(":", "").split(), more), "X") for more in "mn")
    export = f'mutation Export @mcpTool(name: "export") @mcpTask(ARGUMENTS) {{ export {{ job {{ id }} }} {places} }}'
    made = compiled(
        tmp_path,
        files_of(
            export=f"{export} fragment F on Job {{ {fields} m: file }}",
            more=f"query State($id: ID!) {{ job(id: $id) {{ status }} {places} }} "
            f"fragment F on Job {{ {fields} n: file }}",
        )
        | {"index.graphql": SDL.replace("type Mutation {", "type Mutation { job(id: ID!): Job")},
    )
    schema = prescribed_tool(made, "export").entry["outputSchema"]

    assert {"Job", "Job2"} <= schema["$defs"].keys()
    answers = ({"export": {"job": {"id": "1"}}}, started), ({"job": {"status": "SUCCESS"}}, polled)
    for (first, own), (_, other) in (answers, answers[::-1]):
        check = Draft202012Validator(schema)
        assert check.is_valid({"data": {**first, "a": own, "b": own, "c": own}})
        assert not check.is_valid({"data": {**first, "a": own, "b": own, "c": other}})


def test_status_is_found_in_a_fragment_on_an_interface(tmp_path: Path) -> None:
    state = "query State($id: ID!) { any(id: $id) { ...F } } fragment F on Node { ... on Job { state: status } }"

    assert tool_of(tmp_path, more=state, status='"any.state"').task


def test_status_is_found_below_many_types_within_each_other(tmp_path: Path) -> None:
    names = [f"T{number}" for number in range(20)]
    types = [f"type {name} implements Tree {{ up: Tree job: Job }}" for name in names]
    sdl = SDL.replace("type Query {", "type Query { tree(id: ID!): Tree ") + "interface Tree { up: Tree job: Job }"
    depth = 12
    state = f"query State($id: ID!) {{ tree(id: $id) {'{ up ' * depth}{{ job {{ status }} }}{' }' * depth} }}"
    files = files_of(more=state, status=f'"tree.{"up." * depth}job.status"') | {
        "index.graphql": "\n".join([sdl, *types])
    }

    assert prescribed_tool(compiled(tmp_path, files), "export").task


def test_boolean_may_be_the_status(tmp_path: Path) -> None:
    state = "query State($id: ID!) { job(id: $id) { ready } }"

    assert tool_of(tmp_path, more=state, status='"job.ready"', completed='["true"]').task


def test_variable_with_a_default_or_mcp_bind_needs_no_path(tmp_path: Path) -> None:
    state = 'query State($id: ID!, $t: String @mcpBind(claim: "org")) { job(id: $id, tenant: $t) { status } }'

    assert tool_of(tmp_path, "export_status", more=state).bindings[0].name == "org"


def test_example_has_no_warnings_about_its_task(tmp_path: Path) -> None:
    assert doubted(tmp_path, files_of()) == []


def test_status_tool_has_the_title_of_the_tool(tmp_path: Path) -> None:
    titled = EXPORT.replace('"export")', '"export", title: "Export")')

    assert tool_of(tmp_path, "export_status", export=titled).entry["title"] == "Export: status"


FAULTS: dict[str, tuple[dict[str, str], str]] = {
    "poll is missing": ({"poll": '"Stat"'}, "1:74 unknown-operation: poll & no query & Stat & did you mean State"),
    "poll is empty": ({"poll": '""'}, "unknown-operation: poll & expected the name of a query"),
    "poll is a mutation": ({"poll": '"Cancel"'}, "1:74 unknown-operation: poll & there is no query & Cancel"),
    "cancel is missing": ({"cancel": '"Stop"'}, "unknown-operation: cancel & Stop & expected the name of a mutation"),
    "cancel is empty": ({"cancel": '""'}, "unknown-operation: cancel & expected the name of a mutation"),
    "cancel is a query": ({"cancel": '"State"'}, "unknown-operation: cancel & there is no mutation & State"),
    "status is not selected": (
        {"status": '"job.stat"', "more": STATE.replace(" file", "")},
        "invalid-task: status & job.stat & did you mean job.status",
    ),
    "status is an object": ({"status": '"job"'}, "invalid-task: status & job & expected response keys"),
    "status is empty": ({"status": '""'}, "invalid-task: status & not a path in the answer of & State"),
    "path goes on below a leaf": ({"status": '"job.status.x"'}, "invalid-task: status & job.status.x"),
    "initial status": ({"initialStatus": '"export.stat"'}, "invalid-task: initialStatus & export.stat & Export"),
    "enum": ({"completed": '["SUCESS"]'}, "invalid-task: completed & SUCESS & Status & did you mean SUCCESS"),
    "none": ({"completed": "[]"}, "invalid-task: completed & expected the statuses"),
    "status in two lists": (
        {"failed": '["FAILED", "SUCCESS"]'},
        'invalid-task: completed & "SUCCESS" is named twice | invalid-task: failed & "SUCCESS" is named twice',
    ),
    "no variables": ({"variables": "{}"}, "invalid-task: variables & expected an object with a path for $id"),
    "variables are a list": ({"variables": '["id"]'}, "invalid-task: variables & expected an object"),
    "path is a number": (
        {"variables": "{id: 1}"},
        "invalid-task: variables & 1 & is not a path in the answer of & Export",
    ),
    "path through a list": ({"variables": '{id: "export.jobs.id"}'}, "invalid-task: variables & export.jobs.id"),
    "unselected id": ({"variables": '{id: "export.job.uid"}'}, "invalid-task: id & export.job.uid & export.job.id?"),
    "other variable": (
        {"variables": '{id: "export.job.id", idd: "export.note"}'},
        "invalid-task: variables & a path for $id, such as",
    ),
    "path is null": ({"variables": "{id: null}"}, "invalid-task: variables & None & is not a path"),
    "unbound": ({"variables": '{ix: "export.job.id"}'}, "1:93 invalid-task: variables & a path for $id, such as"),
    "variable of the mutation that cancels": (
        {
            "cancel": '"Cancel"',
            "more": "query State($by: ID!) { job(id: $by) { status } }",
            "variables": '{by: "export.note"}',
        },
        "invalid-task: variables & a path for $by, $id, such as",
    ),
    "every": ({"every": "0"}, "invalid-task: every & 1 to 3,600 seconds"),
    "ttl": ({"ttl": "604801"}, "invalid-task: ttl & 5 to 604,800 seconds"),
    "wait": ({"wait": "-1"}, "invalid-task: wait & 0 to 20 seconds"),
    "every is longer": ({"every": "90", "ttl": "60"}, "invalid-task: ttl & expected 90 to"),
    "no argument": ({"status": ""}, "wrong-value: @mcpTask & status"),
    "unknown argument": ({"result": '"job.file"'}, 'unknown-argument: @mcpTask has no argument "result"'),
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_reported_by_its_place(name: str, tmp_path: Path) -> None:
    files, expected = FAULTS[name]

    assert reported(tmp_path, files_of(**files)) == [
        f"operations/a.graphql:{each}" if each[0].isdigit() else each for each in expected.split(" | ")
    ]


def test_operations_about_jobs_become_tools_by_mcp_tool_alone(tmp_path: Path) -> None:
    config = {"config.yaml": f"tools: {{operations: queries_and_mutations}}\n{PUBLIC}"}
    adopted = compiled(tmp_path / "a", files_of(cancel='"Cancel"', more=f"{STATE} query Other {{ count }}") | config)
    declared = compiled(tmp_path / "b", files_of(more=STATE.replace(" {", " @mcpTool {", 1)) | config)

    assert [tool.name for tool in adopted.bundle.tools] == ["export", "export_status", "Other"]
    assert {"State", "Cancel"} <= {tool.name for tool in declared.bundle.tools}  # it names no mutation that cancels


def test_id_of_a_job_cannot_be_logged(tmp_path: Path) -> None:
    files = files_of() | {"config.yaml": f"{PUBLIC}log: {{arguments: [export.filter, export_status.taskId]}}"}

    assert reported(tmp_path, files) == ["unloggable-argument: export_status.taskId & it is a secret"]


def test_job_of_an_operation_without_a_tool_is_reported(tmp_path: Path) -> None:
    export = EXPORT.replace('@mcpTool(name: "export") ', "")
    files = files_of(export=export) | {"operations/c.graphql": "query C @mcpTool { count }"}

    assert reported(tmp_path, files) == ["invalid-task: Export & is not a tool & expected @mcpTool"]


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("query O @mcpTool @mcpTask(ARGUMENTS) { count }", "misplaced-directive: @mcpTask is on a query & a mutation"),
        (
            "query O($id: ID! @mcpTask(ARGUMENTS)) @mcpTool { any(id: $id) { id } }",
            "misplaced-directive: @mcpTask is on a variable & expected it on a mutation",
        ),
    ],
)
def test_directive_at_another_place_is_reported(operation: str, expected: str, tmp_path: Path) -> None:
    assert reported(tmp_path, files_of(export=operation)) == [expected]


def test_name_of_the_status_tool_may_be_taken(tmp_path: Path) -> None:
    more = f'{STATE}\nquery Other @mcpTool(name: "export_status") {{ count }}'

    assert reported(tmp_path, files_of(more=more)) == ["duplicate-tool"]
