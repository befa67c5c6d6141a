"""A function that is deployed where it was not built for, as `sam deploy` with another Architecture would make it."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from handler.bundle.stored import bundle_key, write_bundle
from handler.cold.artefact import CODE, artefact_fault, artefact_release, refusing_handler
from handler.compiler.compile import Compiled
from tests.conftest import ROOT
from tests.support.artefacts import copy_function, pack, run_in
from tests.support.function import Context, event_for
from tests.support.identities import HOLDER, identified

HERE = {"aarch64": "arm64"}.get(platform.machine(), platform.machine())
ELSEWHERE = "x86_64" if HERE == "arm64" else "arm64"
PYTHON = "{}.{}".format(*sys.version_info)
AS_DEPLOYED = {"architecture": HERE, "python": PYTHON, "extras": ["jwt"], "code": []}
EVENTS = sorted(path for path in (ROOT / "events").glob("*.json") if path.name != "local-env.json")

PROGRAM = """
import json, sys
from handler.lambda_function import handler
class Context:
    aws_request_id = "one"
answers = [handler(json.loads(event), Context()) for event in sys.argv[1:]]
loaded = sorted({name.partition(".")[0] for name in sys.modules} - sys.stdlib_module_names)
print(json.dumps([answers, loaded]), file=sys.stderr)
"""


def fault(folder: Path, built: Any) -> str:
    file = folder / "build.json"
    file.write_text(built if isinstance(built, str) else json.dumps(built), encoding="utf-8")
    return artefact_fault(str(file))


def test_without_a_build_there_is_nothing_to_compare(tmp_path: Path) -> None:
    assert artefact_fault(str(tmp_path / "build.json")) == ""
    assert artefact_fault() == ""  # this repository's own folder


def test_what_was_built_for_this_machine_runs(tmp_path: Path) -> None:
    assert fault(tmp_path, AS_DEPLOYED) == ""
    assert fault(tmp_path, {**AS_DEPLOYED, "more": 1}) == ""


def test_another_architecture_is_named_with_what_to_do(tmp_path: Path) -> None:
    assert fault(tmp_path, {**AS_DEPLOYED, "architecture": ELSEWHERE}) == (
        f"the function was built for architecture {ELSEWHERE}, and runs on {HERE}: set Architecture in samconfig.toml "
        "to what is meant, then `sam build` and `sam deploy`"
    )


def test_another_python_is_named_with_what_to_do(tmp_path: Path) -> None:
    assert fault(tmp_path, {**AS_DEPLOYED, "python": "3.9"}) == (
        f"the function was built for Python 3.9, and runs on {PYTHON}: set Runtime in template.yaml to what is meant, "
        "then `sam build` and `sam deploy`"
    )


@pytest.mark.parametrize("built", ["", "{", "[]", "null", "7", "{}", '{"architecture": "arm64"}'])
def test_a_build_that_cannot_be_read_is_one_that_does_not_run(tmp_path: Path, built: str) -> None:
    assert fault(tmp_path, built).startswith("build.json of the function cannot be read (")


def test_the_names_of_architectures_are_those_of_the_template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for machine, architecture in (("aarch64", "arm64"), ("x86_64", "x86_64")):
        monkeypatch.setattr(os, "uname", lambda machine=machine: type("Uname", (), {"machine": machine}))
        assert fault(tmp_path, {**AS_DEPLOYED, "architecture": architecture}) == ""


def deployed(
    folder: Path, built: dict[str, Any], *events: str, packed: bool = False
) -> subprocess.CompletedProcess[str]:
    """The function with this build.json, in a process of its own that handles the events."""
    copy_function(folder)
    if packed:
        pack(folder)
    (folder / "handler" / "build.json").write_text(json.dumps(built), encoding="utf-8")
    return run_in(folder, PROGRAM, *events)


def test_every_event_is_answered_with_503_in_its_own_form_and_each_is_an_error_in_the_log(tmp_path: Path) -> None:
    events = [*(path.read_text(encoding="utf-8") for path in EVENTS), "{}", "[1]", '"warm"', "null"]

    done = deployed(tmp_path, {**AS_DEPLOYED, "architecture": ELSEWHERE}, *events)

    assert done.returncode == 0, done.stderr
    answers, loaded = json.loads(done.stderr)
    assert [answer["statusCode"] for answer in answers] == [503] * len(events)
    for event, answer in zip(map(json.loads, events), answers, strict=True):
        balanced = isinstance(event, dict) and "elb" in event.get("requestContext", {})
        assert ("statusDescription" in answer) == balanced
        listed = balanced and "multiValueHeaders" in event
        assert ("headers" in answer) != listed
        headers = (
            {name: values[0] for name, values in answer["multiValueHeaders"].items()} if listed else answer["headers"]
        )
        assert headers == {"content-type": "application/json", "cache-control": "no-store"}
        assert list(json.loads(answer["body"])) == ["error", "code"]
        assert ELSEWHERE not in answer["body"]
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(line["level"], line["message"], line["status"]) for line in lines] == [("ERROR", "request", 503)] * len(
        events
    )
    assert {line["request_id"] for line in lines} == {"one"}
    assert all(f"built for architecture {ELSEWHERE}, and runs on {HERE}" in line["reason"] for line in lines)
    # Whatever else is imported may be compiled for the other one.
    assert set(loaded) - {"handler", "sitecustomize", "usercustomize"} - before_any_import() == set()


def before_any_import() -> set[str]:
    """What an environment imports by itself, such as hooks of editable installs."""
    program = "import sys; print(*{name.partition('.')[0] for name in sys.modules} - sys.stdlib_module_names)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_a_function_where_it_was_built_for_starts_as_ever(tmp_path: Path) -> None:
    done = deployed(tmp_path, AS_DEPLOYED, EVENTS[0].read_text(encoding="utf-8"), packed=True)

    assert "STILE_BUNDLES=''" in done.stderr  # which it asks for next


def test_a_function_without_its_pack_answers_503_and_the_log_says_why(tmp_path: Path) -> None:
    done = deployed(tmp_path, AS_DEPLOYED, EVENTS[0].read_text(encoding="utf-8"))

    ((answer,), _) = json.loads(done.stderr)
    assert answer["statusCode"] == 503
    reason = "modules.pack of the function is missing: build and deploy the function again"
    assert json.loads(done.stdout)["reason"] == reason
    assert json.loads(done.stdout)["code"] == json.loads(answer["body"])["code"] == CODE


def test_a_load_balancer_with_several_values_a_header_gets_them_so() -> None:
    event = {"requestContext": {"elb": {}}, "httpMethod": "GET", "path": "/health", "multiValueHeaders": {}}

    answer = refusing_handler("a fault", "stile")(event, Context())

    assert answer["multiValueHeaders"] == {"content-type": ["application/json"], "cache-control": ["no-store"]}
    assert "headers" not in answer


@pytest.mark.parametrize(
    ("built", "release"),
    [({**AS_DEPLOYED, "release": "0a1b"}, "0a1b"), (AS_DEPLOYED, ""), ([], ""), ("{", ""), (None, "")],
)
def test_release_is_the_digest_of_the_build(tmp_path: Path, built: Any, release: str) -> None:
    file = tmp_path / "build.json"
    if built is not None:
        file.write_text(built if isinstance(built, str) else json.dumps(built), "utf-8")

    assert artefact_release(str(file)) == release


def test_log_names_the_release_and_health_to_holders_of_a_key(tmp_path: Path, demo: Compiled) -> None:
    held = identified(demo)
    stored = tmp_path / "bundles" / bundle_key(held.bundle.endpoint)
    stored.parent.mkdir(parents=True)
    stored.write_bytes(write_bundle(held.bundle))
    copy_function(tmp_path / "task")
    pack(tmp_path / "task")
    built = {**AS_DEPLOYED, "release": "0a1b2c3d4e5f"}
    (tmp_path / "task" / "handler" / "build.json").write_text(json.dumps(built), encoding="utf-8")
    headers: list[dict[str, str]] = [{}, {"x-api-key": "stile_other"}, {"x-api-key": ""}, HOLDER]
    events = [json.dumps(event_for("GET", "/health", body="", headers=each)) for each in headers]
    environ = {
        "STILE_BUNDLES": str(tmp_path / "bundles"),
        "STILE_PRELOAD": held.bundle.endpoint,
        "STILE_ALLOW_LOCAL_UPSTREAMS": "true",
    }

    done = run_in(tmp_path / "task", PROGRAM, *events, **environ)

    answers = [json.loads(answer["body"]) for answer in json.loads(done.stderr)[0]]
    assert [answer.get("release") for answer in answers] == [None, None, None, "0a1b2c3d4e5f"]
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert {line["release"] for line in lines if line["message"] == "request"} == {"0a1b2c3d4e5f"}
