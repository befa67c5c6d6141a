"""The rights to a task, as they are at each request for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from handler.bundle.identity import Identity
from tests.server.outgoing.serving import ISSUER, with_token
from tests.support.endpoints import compiled
from tests.support.identities import HOLDER, api_key
from tests.support.jobs import Jobs, Site, files_of, running_jobs, serving

UNKNOWN = "Unknown task: this taskId is not one that you may use, or it is too old."
POLICIES = """
access:
  anonymous: allow
  policies:
    - type: Query
      policyDefault: {condition: true}
      rules: [{fields: [job], condition: "$jwt.role:String == 'staff'"}]
    - {type: Mutation, policyDefault: {condition: true}}
"""
OPEN = """
access:
  anonymous: allow
  policies:
    - {type: Query, policyDefault: {condition: true}}
    - {type: Mutation, policyDefault: {condition: true}}
"""
KNOWN = '{type: Mutation, policyDefault: {condition: "?$jwt"}}'
STAFF = """type: Mutation
      policyDefault: {condition: true}
      rules: [{fields: [cancelJob], condition: "$jwt.role:String == 'staff'"}]
"""
SECOND = """
mutation B @mcpTool @mcpTask(
  poll: "State" variables: {id: "export.job.id"} status: "job.status" completed: ["SUCCESS"]
) { export { job { id } } }
"""
BOUND = {
    "State($id: ID!)": 'State($id: ID!, $org: String @mcpBind(claim: "org"))',
    "{ job(id: $id) {": "{ job(id: $id, by: $org) {",
}


@contextmanager
def running(
    folder: Path, *, jobs: Jobs | None = None, config: str = OPEN, bound: bool = False, endpoint: str = "", **more: str
) -> Iterator[Site]:
    """A site whose callers have tokens."""
    with running_jobs() as own:
        files = files_of((jobs or own).api.url, config=config, **more)
        if bound:
            for old, new in BOUND.items():
                files["operations/o.graphql"] = files["operations/o.graphql"].replace(old, new)
        made = compiled(folder, files)
        identity = Identity(issuers=(ISSUER,), api_keys=(api_key({"role": "staff"}),), trusted_apis=())
        name = endpoint or made.bundle.endpoint
        made = replace(made, bundle=replace(made.bundle, identity=identity, endpoint=name))
        with serving(made, jobs or own) as site:
            yield site


def token(**claims: Any) -> dict[str, str]:
    """The headers of a caller whose token is valid for long."""
    return with_token(exp=4_000_000_000, **claims)


def words(answer: Any) -> tuple[int, str]:
    return answer.json["error"]["code"], answer.json["error"]["message"]


def test_id_is_for_the_caller_who_started_the_job(tmp_path: Path) -> None:
    with running(tmp_path) as site:
        task_id = site.start(headers=token(sub="ann"))
        others = [token(sub="bob"), {}, HOLDER]

        assert {words(site.get(task_id, headers=each)) for each in others} == {(-32602, UNKNOWN)}
        for method in ("tasks/cancel", "tasks/update"):
            assert words(site.ask(method, {"taskId": task_id}, headers=token(sub="bob"))) == (-32602, UNKNOWN)
        assert site.call("export_status", {"taskId": task_id}, headers=token(sub="bob")).code == "unknown-task"
        assert site.jobs.asked == ["Export"]
        assert site.get(task_id, headers=token(sub="ann", jti="new")).result["status"] == "working"


def test_id_is_for_the_tenant_whose_claim_fills_a_variable(tmp_path: Path) -> None:
    with running(tmp_path, bound=True) as site:
        task_id = site.start(headers=token(sub="ann", org="acme"))

        assert words(site.get(task_id, headers=token(sub="ann", org="beta"))) == (-32602, UNKNOWN)
        assert words(site.get(task_id, headers=token(sub="ann"))) == (-32602, UNKNOWN)
        assert site.jobs.asked == ["Export"]
        site.get(task_id, headers=token(sub="ann", org="acme"))
        assert site.jobs.api.asked[-1].json["variables"] == {"id": "job-1", "org": "acme"}


def test_id_is_for_its_endpoint(tmp_path: Path) -> None:
    with running_jobs() as jobs:
        with running(tmp_path / "a", jobs=jobs) as site:
            task_id = site.start(headers=token(sub="ann"))
        with running(tmp_path / "b", jobs=jobs, endpoint="api/others") as site:
            assert words(site.get(task_id, headers=token(sub="ann"))) == (-32602, UNKNOWN)


def test_right_that_a_policy_takes_away_ends_the_task_as_an_unknown_one(tmp_path: Path) -> None:
    with running(tmp_path, config=POLICIES) as site:
        task_id = site.start(headers=token(sub="ann", role="staff"))

        assert site.get(task_id, headers=token(sub="ann", role="staff")).result["status"] == "working"
        assert words(site.get(task_id, headers=token(sub="ann", role="guest"))) == (-32602, UNKNOWN)
        assert words(site.get("x", headers=token(sub="ann", role="guest"))) == (-32602, UNKNOWN)
        assert site.jobs.asked == ["Export", "State"]


def test_caller_who_may_not_ask_about_the_job_gets_an_ordinary_result(tmp_path: Path) -> None:
    with running(tmp_path, config=POLICIES) as site:
        guest = token(sub="ann", role="guest")

        assert site.call(headers=guest).result["resultType"] == "complete"
        assert [each["name"] for each in site.ask("tools/list", {}, headers=guest).result["tools"]] == ["export"]
        listed = str(site.ask("tools/list", {}, headers=guest).result)
        assert not [word for word in ("file", "rows", "State") if word in listed]


def test_tool_that_a_caller_may_not_use_has_no_status_tool_for_them(tmp_path: Path) -> None:
    options = "condition: \"$jwt.role:String == 'staff'\""
    with running(tmp_path, options=options) as site:
        task_id = site.start(headers=token(sub="ann", role="staff"))
        guest = token(sub="ann")

        assert site.ask("tools/list", {}, headers=guest).result["tools"] == []
        assert site.call("export_status", {"taskId": task_id}, headers=guest).json["error"]["code"] == -32602
        assert words(site.get(task_id, headers=guest)) == (-32602, UNKNOWN)


def test_policy_on_the_mutation_alone_hides_the_status_tool(tmp_path: Path) -> None:
    config = OPEN.replace("{type: Mutation, policyDefault: {condition: true}}", KNOWN)
    with running(tmp_path, config=config) as site:
        assert site.ask("tools/list", {}).result["tools"] == []


def test_scope_that_is_taken_away_ends_the_task_as_an_unknown_one(tmp_path: Path) -> None:
    with running(tmp_path, options='scopes: ["jobs"]') as site:
        task_id = site.start(headers=token(sub="ann", scope="jobs"))

        assert site.get(task_id, headers=token(sub="ann", scope="jobs")).result["status"] == "working"
        assert words(site.get(task_id, headers=token(sub="ann", scope="other"))) == (-32602, UNKNOWN)
        refused = site.call("export_status", {"taskId": task_id}, headers=token(sub="ann", scope="other"))
        assert refused.status == 403


def test_policy_on_the_value_of_a_variable_is_judged_at_each_poll(tmp_path: Path) -> None:
    config = POLICIES.replace("$jwt.role:String == 'staff'", "$variables.id:String == $jwt.job:String")
    with running(tmp_path, config=config) as site:
        task_id = site.start(headers=token(sub="ann", job="job-1"))

        assert site.get(task_id, headers=token(sub="ann", job="job-1")).result["status"] == "working"
        assert words(site.get(task_id, headers=token(sub="ann", job="job-2"))) == (-32602, UNKNOWN)


def test_cancel_needs_the_rights_of_its_own_operation(tmp_path: Path) -> None:
    config = OPEN.replace("{type: Mutation, policyDefault: {condition: true}}", STAFF)
    with running(tmp_path, config=config, cancel='"Cancel"') as site:
        task_id = site.start(headers=token(sub="ann"))
        guest, staff = token(sub="ann"), token(sub="ann", role="staff")

        assert words(site.ask("tasks/cancel", {"taskId": task_id}, headers=guest)) == (-32602, UNKNOWN)
        assert site.ask("tasks/cancel", {"taskId": task_id}, headers=staff).result["resultType"] == "complete"
        assert site.jobs.asked == ["Export", "Cancel"]


def test_operations_about_jobs_are_not_persisted_documents(tmp_path: Path) -> None:
    tool = "query Own($id: ID!) @mcpTool { job(id: $id) { status } }"
    with running(tmp_path, cancel='"Cancel"', more=tool) as site:
        digest = sha256((tmp_path / "api/things/operations/o.graphql").read_bytes()).hexdigest()
        asked = {"documentId": f"sha256:{digest}", "variables": {"id": "job-1"}}
        answers = [
            site.function.graphql({**asked, "operationName": name}) for name in ("Export", "State", "Cancel", "Own")
        ]

        assert [each.status for each in answers] == [200, 400, 400, 200]
        assert site.jobs.asked == ["Export", "Own"]


def test_anonymous_id_works_for_anonymous_callers_only(tmp_path: Path) -> None:
    with running(tmp_path) as site:
        task_id = site.start()

        assert site.get(task_id).result["status"] == "working"
        assert words(site.get(task_id, headers=token(sub="ann"))) == (-32602, UNKNOWN)


@pytest.mark.parametrize("change", ["hidden", "renamed", "gone"])
def test_withdrawn_tool_ends_its_tasks(change: str, tmp_path: Path) -> None:
    with running_jobs() as jobs:
        with running(tmp_path / "a", jobs=jobs) as site:
            task_id = site.start(headers=token(sub="ann"))
        config = OPEN if change != "hidden" else f"{OPEN}  hide: [Mutation.export]\n"
        files = files_of(jobs.api.url, config=config, more=SECOND)
        text = files["operations/o.graphql"]
        if change == "renamed":
            files["operations/o.graphql"] = text.replace('"export" ', '"export2" aliases: ["export"] ')
        if change == "gone":
            files["operations/o.graphql"] = text[text.index("query State") :]
        made = compiled(tmp_path / "b", files)
        identity = Identity(issuers=(ISSUER,), api_keys=(), trusted_apis=())
        with serving(replace(made, bundle=replace(made.bundle, identity=identity)), jobs) as site:
            assert words(site.get(task_id, headers=token(sub="ann"))) == (-32602, UNKNOWN)
        assert jobs.asked == ["Export"]
