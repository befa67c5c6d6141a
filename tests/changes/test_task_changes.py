"""Differences of jobs that tools start: those that end the ids of running jobs are told, and no others."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from handler.audience.ways import version_of
from handler.commands.changes.endpoint_changes import compare
from handler.compiler.codes import CHANGE_CODES
from tests.support.endpoints import compiled
from tests.support.jobs import files_of, running_jobs, serving

OPERATIONS = "operations/o.graphql"
EDITS: Mapping[str, tuple[str, str, str]] = {
    "selection of the query": ("{ status file rows }", "{ status file }", "tasks-ended"),
    "variable": ('{id: "export.job.id"}', '{id: "export.problem"}', "tasks-ended"),
    "path of the status": (
        'status: "job.status" ',
        'status: "s.status" ',
        "tasks-ended",
    ),
    "name of the tool": ('"export" ', '"export2" aliases: ["export"] ', "tasks-ended"),
    "claim of the query": ("State($id: ID!)", 'State($id: ID!, $by: String @mcpBind(claim: "org"))', "tasks-ended"),
    "claim of the mutation": (
        "$filter: String)",
        '$filter: String @mcpBind(claim: "org"))',
        "tasks-ended",
    ),
    "no job": ("@mcpTask(", "@mcpTask_", "tasks-ended"),
    "statuses": ('failed: ["FAILED"]', "", "task-changed: outcomes"),
    "interval": ('cancelled: ["CANCELED"]', 'cancelled: ["CANCELED"] every: 9', "task-changed: every_s"),
    "wait": ('cancelled: ["CANCELED"]', 'cancelled: ["CANCELED"] wait: 9', "task-changed: wait_s"),
    "cancel": ('cancelled: ["CANCELED"]', 'cancelled: ["CANCELED"] cancel: "Cancel"', "task-changed: cancel"),
    "status tool": ('cancelled: ["CANCELED"]', 'cancelled: ["CANCELED"] statusTool: hidden', ""),
}


def edited(url: str, old: str, new: str) -> dict[str, str]:
    files = files_of(url)
    text = files[OPERATIONS]
    assert old in text
    text = text.replace(old, new)
    if "s.status" in new:
        text = text.replace("{ job(id: $id) {", "{ s: job(id: $id) {")
    if "$by" in new:
        text = text.replace("job(id: $id) {", "job(id: $id, by: $by) {")
    before, found, after = text.partition("@mcpTask_")
    return {**files, OPERATIONS: before + after.partition("\n) ")[2] if found else text}


@pytest.mark.parametrize("edit", EDITS)
def test_edit_ends_the_ids_of_running_jobs_if_the_comparison_says_so(edit: str, tmp_path: Path) -> None:
    old, new, expected = EDITS[edit]
    with running_jobs() as jobs:
        before = compiled(tmp_path / "a", files_of(jobs.api.url))
        after = compiled(tmp_path / "b", edited(jobs.api.url, old, new))
        changes = [each for each in compare(version_of(before), version_of(after)).changes if "task" in each.code]
        with serving(before, jobs) as site:
            task_id = site.start()
        with serving(after, jobs) as site:
            survives = "result" in site.get(task_id).json

    code, _, parts = expected.partition(": ")
    assert [each.code for each in changes] == ([code] if code else [])
    if parts:
        assert changes[0].sentence == f"tool export: another job: {parts}; jobs that run can still be asked about"
    assert survives == (code != "tasks-ended")


def test_tool_that_starts_jobs_now_is_told_and_breaks_nothing(tmp_path: Path) -> None:
    old = compiled(tmp_path / "a", edited("https://jobs.example.com", "@mcpTask(", "@mcpTask_"))
    new = compiled(tmp_path / "b", files_of("https://jobs.example.com"))
    changes = compare(version_of(old), version_of(new))

    assert "tool export starts jobs that callers can ask about [task-changed]" in changes.lines()
    assert CHANGE_CODES["tasks-ended"].breaking
    assert not CHANGE_CODES["task-changed"].breaking


def test_operation_that_requests_cannot_run_any_more_is_told(tmp_path: Path) -> None:
    def version(name: str, old: str, new: str) -> Any:
        files = edited("https://jobs.example.com", old, new)
        export, _, rest = files[OPERATIONS].partition("query State")
        files |= {OPERATIONS: export, "operations/p.graphql": f"query State{rest}"}
        return version_of(compiled(tmp_path / name, files))

    changes = compare(version("a", "@mcpTask(", "@mcpTask_"), version("b", "@mcpTask(", "@mcpTask("))
    (line,) = [each for each in changes.lines() if "document-removed" in each]

    assert line.startswith("breaking: the persisted document sha256:")
    assert line.endswith(" has no State any more [document-removed]")


def test_header_with_a_claim_ends_the_ids_of_running_jobs(tmp_path: Path) -> None:
    files = files_of("https://jobs.example.com")
    config = files["config.yaml"].replace(
        "'https://jobs.example.com'", "'https://jobs.example.com', headers: {X-Org: 'claim:org'}"
    )
    versions = [
        version_of(compiled(tmp_path / name, each))
        for name, each in (("a", files), ("b", {**files, "config.yaml": config}))
    ]

    lines = compare(*versions).lines()
    assert "breaking: tool export: jobs that run cannot be asked about any more [tasks-ended]" in lines
