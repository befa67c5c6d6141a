"""What a container loads, and when. In fresh processes, through ``handler.lambda_function``."""

from __future__ import annotations

import ast
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from handler.compiler.compile import Compiled
from handler.storage.local import FolderStorage
from tests.conftest import ROOT
from tests.support.api import Reply, running_api
from tests.support.bucket import BundleBucket
from tests.support.endpoints import PUBLIC, READABLE, compiled
from tests.support.function import store
from tests.support.icons import SVG
from tests.support.issuers import AUDIENCE, Provider, ec_key, given
from tests.support.jobs import KEY, files_of, running_jobs
from tests.support.kits import TOOLS, with_catalog, with_kit
from tests.support.raw_http import Peer, RawServer, running_server
from tests.support.secrecy import SESSION, Output

# Powertools imports botocore's empty top module to name itself in the user agent; botocore.session is the weight.
HEAVY = {
    "graphql",
    "boto3",
    "botocore.session",
    "pydantic",
    "mcp",
    "httpx",
    "httpx2",
    "yaml",
    "rich",
    "re2",
    "jwt",
    "cryptography",
}

LISTING = {
    "aws",
    "aws.json_client",
    "aws.sigv4",
    "bundle",
    "bundle.content",
    "bundle.identity",
    "bundle.model",
    "bundle.stored",
    "bundle.tools",
    "bundle.upstream",
    "cold",
    "cold.artefact",
    "cold.prefetch",
    "cold.records",
    "errors",
    "errors.access",
    "errors.calls",
    "errors.infrastructure",
    "errors.protocol",
    "errors.upstream",
    "http",
    "http.addresses",
    "http.client",
    "http.connections",
    "http.response",
    "json_schema",
    "json_schema.json_bounds",
    "lambda_function",
    "lru",
    "list_entries",
    "policy",
    "policy.evaluation",
    "policy.predicates",
    "server",
    "server.app",
    "server.asgi",
    "server.asgi.content_negotiation",
    "server.asgi.cors",
    "server.asgi.deadlines",
    "server.asgi.headers",
    "server.asgi.public_url",
    "server.asgi.request_log",
    "server.asgi.response_size",
    "server.asgi.responses",
    "server.asgi.trace_context",
    "server.auth",
    "server.auth.own_secrets",
    "server.auth.jwks",
    "server.auth.identification",
    "server.auth.principal",
    "server.auth.resource_metadata",
    "server.auth.sealed_state",
    "server.auth.tokens",
    "server.context",
    "server.endpoints",
    "server.endpoints.endpoint",
    "server.endpoints.registry",
    "server.endpoints.schema_views",
    "server.function",
    "server.log",
    "server.mcp",
    "server.mcp.jsonrpc",
    "server.mcp.methods",
    "server.mcp.revisions",
    "server.mcp.route",
    "server.mcp.tools_list",
    "server.outgoing",
    "server.outgoing.circuit_breaker",
    "server.outgoing.secret_store",
    "server.outgoing.outgoing_services",
    "server.start",
    "settings",
    "storage",
    "storage.local",
    "storage.location",
    "storage.storage",
    "strict_json",
}
"""Of ours, all that a cold ``tools/list`` from a folder loads. What is added here, every cold start pays for."""

S3_LISTING = LISTING - {"storage.local"} | {"storage.s3"}
"""The same from S3."""

CALLING = {
    "json_schema",
    "json_schema.answer_check",
    "json_schema.deferred_checker",
    "json_schema.fast_path",
    "json_schema.formats",
    "policy",
    "policy.guarded_schema",
    "server",
    "server.auth",
    "server.endpoints",
    "server.endpoints.arguments_validator",
    "server.mcp",
    "server.mcp.graphql_results",
    "server.mcp.tools_call",
    "server.outgoing",
    "server.upstream",
    "server.upstream.bound_variables",
    "server.upstream.credentials",
    "server.upstream.graphql_client",
    "server.upstream.graphql_request",
    "server.upstream.sending",
}
"""The same of a prescribed call, beside those."""

WITH_NEEDS = {"code_tools", "code_tools.modules"}
"""What is loaded with an endpoint that needs an extra or a module of its author's, to see whether it is there."""

OF_DENIALS = {"server.denials"}

OTHERS = "tests.leaks.passing_on:kit"
"""A kit whose tools nobody calls."""

PROGRAM = """
import json, sys
from handler.lambda_function import handler
if "snapshot_restore_py" in sys.modules:
    from awslambdaric import lambda_runtime_hooks_runner as hooks
    hooks.run_before_snapshot()
    hooks.run_after_restore()
steps = [sorted(sys.modules)]
class Context:
    aws_request_id = "one"
for path in sys.argv[1:]:
    with open(path) as file:
        response = handler(json.load(file), Context())
    print(json.dumps({"status": response.get("statusCode", 200), "body": response.get("body")}), file=sys.stderr)
    steps.append(sorted(sys.modules))
print(json.dumps(steps), file=sys.stderr)
"""


@pytest.fixture
def bundles(served_demo: Compiled, folder_storage: FolderStorage) -> str:
    store(folder_storage, served_demo)
    return folder_storage.location


@pytest.fixture
def counted_s3(bucket: BundleBucket) -> Iterator[tuple[RawServer, dict[str, str]]]:
    """The bucket behind a relay that keeps every request, and the role's environment that goes through it."""
    target = bucket.role["AWS_ENDPOINT_URL"].removeprefix("http://").split(":")

    def relay(peer: Peer) -> None:
        request = peer.read_request()
        with socket.create_connection((target[0], int(target[1]))) as moto:
            moto.sendall(request)
            moto.shutdown(socket.SHUT_WR)
            while chunk := moto.recv(65_536):
                peer.send(chunk)

    with running_server(relay) as server:
        environ = {**bucket.role, "AWS_ENDPOINT_URL": server.url.rstrip("/"), "STILE_BUNDLES": bucket.location}
        yield server, environ


def test_init_and_list_load_neither_graphql_nor_jsonschema(bundles: str) -> None:
    after_init, after_list = _modules({"STILE_BUNDLES": bundles, "STILE_PRELOAD": "api/customers"}, "tools-list")

    assert not (HEAVY | {"jsonschema", "handler.compiler"}) & after_init
    assert not (HEAVY | {"jsonschema", "handler.compiler"}) & after_list
    assert _ours(after_list) == LISTING
    assert _of_stile(after_list) == set()


def test_cold_prescribed_call_loads_none_of_the_heavy_packages(
    counted_s3: tuple[RawServer, dict[str, str]], bundles: str
) -> None:
    for environ, listing in ((counted_s3[1], S3_LISTING), ({"STILE_BUNDLES": bundles}, LISTING)):
        *_, after_call = _modules(environ, "tools-call-prescribed")

        assert _ours(after_call) == listing | CALLING
        assert _of_stile(after_call) == set()
        assert not (HEAVY | {"jsonschema", "handler.compiler"}) & after_call


def test_snapshot_leaves_nothing_to_load_for_first_requests(bundles: str) -> None:
    environ = {"STILE_BUNDLES": bundles, "STILE_PRELOAD": "api/customers"}
    calls = ("tools-list", "tools-call-prescribed", "tools-call-graphql", "graphql-persisted")

    after_restore, *_, after_calls = _modules({**environ, "AWS_LAMBDA_INITIALIZATION_TYPE": "snap-start"}, *calls)

    assert _ours(after_calls) - _ours(after_restore) == set()
    assert HEAVY & after_calls <= after_restore


@pytest.mark.parametrize("call", ["tools-list", "tools-call-prescribed", "tools-call-graphql", "graphql-persisted"])
def test_warmer_leaves_nothing_to_load_for_first_requests(bundles: str, call: str) -> None:
    environ = {"STILE_BUNDLES": bundles, "STILE_PRELOAD": "api/customers"}

    *_, after_warm, after_call = _modules(environ, "other-warm", call)

    assert _ours(after_call) - _ours(after_warm) == set()
    assert HEAVY & after_call <= after_warm


def test_graphql_tool_call_loads_graphql_core_and_no_compiler(bundles: str) -> None:
    *_, after_call = _modules({"STILE_BUNDLES": bundles}, "tools-call-graphql")

    assert {"graphql", "handler.cold.fast_nodes"} <= after_call
    assert _of_stile(after_call) == set()
    assert not (HEAVY - {"graphql"} | {"handler.compiler"}) & after_call


def test_cold_call_with_a_secret_of_aws_loads_none_of_the_heavy_packages(
    tmp_path: Path, folder_storage: FolderStorage
) -> None:
    with (
        running_api() as api,
        running_api(lambda _: Reply({"SecretString": "a-secret-0815"}), takes_secrets=True) as aws,
    ):
        operation = 'query Me @mcpTool(name: "customer-by-email") { me }'
        files = {
            "index.graphql": "type Query { me: String }",
            "operations/me.graphql": operation,
            "config.yaml": f"upstream: {{url: '{api.url}', auth: {{bearer: secret:K}}}}\n{READABLE}",
        }
        store(folder_storage, compiled(tmp_path, files))
        event = json.loads((ROOT / "events" / "tools-list.json").read_text(encoding="utf-8"))
        event["rawPath"] = event["requestContext"]["http"]["path"] = "/api/things/mcp"
        call = {"name": "customer-by-email", "arguments": {}}
        event["body"] = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
        event["headers"] = {"content-type": "application/json"}
        (tmp_path / "call.json").write_text(json.dumps(event), encoding="utf-8")
        environ = {
            "STILE_BUNDLES": folder_storage.location,
            "STILE_SECRETS": "stile",
            "STILE_ALLOW_LOCAL_UPSTREAMS": "true",
            "AWS_ENDPOINT_URL": aws.url,
            "AWS_REGION": "eu-central-1",
            "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
            "AWS_SECRET_ACCESS_KEY": "a-secret-key-of-the-role",
        }
        done = run(environ, tmp_path / "call.json")

    assert done.returncode == 0, done.stderr
    answer, steps = (json.loads(line) for line in done.stderr.splitlines())
    assert (answer["status"], api.authorizations) == (200, ["Bearer a-secret-0815"])
    assert not (HEAVY | {"handler.compiler"}) & set(steps[-1])
    assert aws.asked[0].json == {"SecretId": "stile/api/things/K"}


def test_cold_list_with_companions_loads_no_search_and_a_companion_no_graphql_core(
    tmp_path: Path, folder_storage: FolderStorage
) -> None:
    wide = " ".join(f"column_{number}: Int" for number in range(1_200))
    tool = '@tool(name: "shop", graphql: [{expose: true, types: "Query", fields: ".*"}])'
    files = {
        "index.graphql": f"schema {tool} {{ query: Query }} type Query {{ a: Int wide: Wide }} type Wide {{ {wide} }}",
        "config.yaml": PUBLIC.replace("    - {type: Mutation, policyDefault: {condition: true}}\n", ""),
    }
    store(folder_storage, compiled(tmp_path, files))
    event = json.loads((ROOT / "events" / "tools-list.json").read_text(encoding="utf-8"))
    event["rawPath"] = event["requestContext"]["http"]["path"] = "/api/things/mcp"
    event["headers"] = {"content-type": "application/json"}
    calls = {
        "list": ("tools/list", {}),
        "search": ("tools/call", {"name": "shop-search", "arguments": {"question": "wide"}}),
    }
    for name, (method, params) in calls.items():
        event["body"] = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        (tmp_path / f"{name}.json").write_text(json.dumps(event), encoding="utf-8")
    done = run({"STILE_BUNDLES": folder_storage.location}, *(tmp_path / f"{name}.json" for name in calls))

    assert done.returncode == 0, done.stderr
    listed, found, steps = (json.loads(line) for line in done.stderr.splitlines())
    _, after_list, after_search = map(set, steps)
    assert "shop-search" in listed["body"]
    assert "wide: Wide" in found["body"]
    assert _ours(after_list) == LISTING
    assert "search.schema_search" in _ours(after_search)
    assert not (HEAVY | {"handler.compiler"}) & after_search


def test_persisted_document_by_its_id_loads_no_graphql_core(bundles: str) -> None:
    *_, after_request = _modules({"STILE_BUNDLES": bundles}, "graphql-persisted")

    assert not (HEAVY | {"jsonschema", "handler.compiler"}) & after_request


def test_token_that_names_no_issuer_loads_nothing_and_a_good_one_what_verifies_it(
    tmp_path: Path, folder_storage: FolderStorage
) -> None:
    provider = Provider("https://login.example/", (ec_key(),))
    (key,) = given(*provider.keys)
    block = "".join(f"          {line}\n" for line in key.key.splitlines())
    config = (
        f"identity:\n  issuer: {provider.name}\n  audience: {AUDIENCE}\n"
        f"  keys:\n    - algorithm: ES256\n      key: |\n{block}"
        "access: {policies: [{type: Query, policyDefault: {condition: true}}]}\n"
    )
    store(folder_storage, compiled(tmp_path, {"index.graphql": "type Query { a: Int }", "config.yaml": config}))
    event = json.loads((ROOT / "events" / "tools-list.json").read_text(encoding="utf-8"))
    event["rawPath"] = event["requestContext"]["http"]["path"] = "/api/things/mcp"
    steps = []
    for name, token, status in (("other", provider.token(iss="other"), 401), ("good", provider.token(), 200)):
        event["headers"]["authorization"] = f"Bearer {token}"
        (tmp_path / f"{name}.json").write_text(json.dumps(event), encoding="utf-8")
        done = run({"STILE_BUNDLES": folder_storage.location}, tmp_path / f"{name}.json")
        assert done.returncode == 0, done.stderr
        answer, modules = (json.loads(line) for line in done.stderr.splitlines())
        assert answer["status"] == status, answer
        steps.append(set(modules[-1]))

    after_other, after_good = steps
    assert not HEAVY & after_other
    assert _ours(after_other) - LISTING == WITH_NEEDS | OF_DENIALS | {"errors.consent_errors"}
    assert {"jwt", "cryptography"} <= after_good
    assert not (HEAVY - {"jwt", "cryptography"}) & after_good


def test_init_alone_asks_s3_once_and_the_first_requests_do_not(
    counted_s3: tuple[RawServer, dict[str, str]],
) -> None:
    server, environ = counted_s3
    environ["STILE_PRELOAD"] = "api/customers"

    _modules(environ)
    after_init = [_first_line(request) for request in server.requests]
    server.requests.clear()
    _modules(environ, "tools-list", "tools-call-prescribed", "ping")

    assert after_init == ["GET /stile-bundles/endpoints/api/customers/bundle.v2.json HTTP/1.1"]
    assert [_first_line(request) for request in server.requests] == after_init


def test_without_preload_the_first_request_asks_s3_once(counted_s3: tuple[RawServer, dict[str, str]]) -> None:
    server, environ = counted_s3

    _modules(environ)
    assert server.requests == []
    _modules(environ, "tools-list", "ping", "tools-list-legacy")
    assert len(server.requests) == 1


def test_list_neither_reads_nor_loads_more_where_the_schema_is_large(
    tmp_path: Path, folder_storage: FolderStorage
) -> None:
    operation = 'query Thing($id: ID!) @mcpTool(name: "thing") { thing(id: $id) { id } }'
    loaded = []
    for types in (3, 600):
        many = " ".join(f"type T{number} {{ id: ID next: T{(number + 1) % types} }}" for number in range(types))
        files = {
            "index.graphql": f"type Query {{ thing(id: ID!): T0 }} {many}",
            "operations/o.graphql": operation,
            "config.yaml": "access: {policies: [{type: Query, policyDefault: {condition: true}}]}\n",
        }
        store(folder_storage, compiled(tmp_path / str(types), files))
        shutil.rmtree(Path(folder_storage.location) / "api" / "things" / ".index")  # who reads it fails
        event = json.loads((ROOT / "events" / "tools-list.json").read_text(encoding="utf-8"))
        event["rawPath"] = event["requestContext"]["http"]["path"] = "/api/things/mcp"
        (tmp_path / "list.json").write_text(json.dumps(event), encoding="utf-8")
        done = run({"STILE_BUNDLES": folder_storage.location}, tmp_path / "list.json")
        assert done.returncode == 0, done.stderr
        answer, modules = (json.loads(line) for line in done.stderr.splitlines())
        assert [tool["name"] for tool in json.loads(answer["body"])["result"]["tools"]] == ["thing"]
        loaded.append(modules)

    assert loaded[0] == loaded[1]


def test_identity_is_checked_for_introductions_alone_and_before_a_snapshot(
    tmp_path: Path, folder_storage: FolderStorage
) -> None:
    operation = 'query Thing @mcpTool(name: "thing") { thing }'
    config = f"{READABLE}server: {{title: Things, icons: a.svg}}\n"
    index = {"index.graphql": "type Query { thing: Int }", "operations/o.graphql": operation}
    store(folder_storage, compiled(tmp_path, {**index, "config.yaml": config, "a.svg": SVG}))
    events: list[Path] = []
    for method in ("tools/list", "initialize"):
        event = json.loads((ROOT / "events" / "tools-list.json").read_text(encoding="utf-8"))
        event["rawPath"] = event["requestContext"]["http"]["path"] = "/api/things/mcp"
        event["headers"] = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        event |= {
            "isBase64Encoded": False,
            "body": json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}),
        }
        events.append(tmp_path / f"{len(events)}.json")
        events[-1].write_text(json.dumps(event), encoding="utf-8")
    environ = {"STILE_BUNDLES": folder_storage.location, "STILE_PRELOAD": "api/things"}
    checks = {"handler.bundle.server_identity", "xml.parsers.expat"}

    cold, frozen = ({**environ, "AWS_LAMBDA_INITIALIZATION_TYPE": kind} for kind in ("on-demand", "snap-start"))
    loaded = []
    for each in (cold, frozen):
        done = run(each, *events)
        assert done.returncode == 0, done.stderr
        *answers, steps = (json.loads(line) for line in done.stderr.splitlines())
        assert ["result" in json.loads(answer["body"]) for answer in answers] == [True, True]
        loaded.append([checks & {*step} for step in steps])

    assert loaded == [[set(), set(), checks], [checks, checks, checks]]


def test_preload_of_an_endpoint_that_is_not_there_does_not_stop_the_others(bundles: str) -> None:
    _modules({"STILE_BUNDLES": bundles, "STILE_PRELOAD": "api/missing,api/customers"}, "tools-list")


def test_missing_setting_stops_the_init_with_a_sentence() -> None:
    done = run({}, ROOT / "events" / "tools-list.json")

    assert done.returncode != 0
    assert "STILE_BUNDLES='': expected a folder, or s3://bucket/prefix" in done.stderr


def test_no_module_of_the_server_names_the_compiler() -> None:
    for half, other in (("server", "compiler"), ("compiler", "server"), ("graph", "server"), ("graph", "compiler")):
        for file in (ROOT / "handler" / half).rglob("*.py"):
            assert not [name for name in _imports(file) if name.startswith(f"handler.{other}")], file


def test_secrets_that_no_request_needs_cost_nothing(bundles: str) -> None:
    arn = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:{}-AbCd12"
    with running_api(takes_secrets=True) as aws:
        environ = {
            "STILE_BUNDLES": bundles,
            "STILE_LOG_KEY": arn.format("log-key"),
            "STILE_STATE_KEY": arn.format("state-key"),
            "STILE_SECRET_K": arn.format("K"),
            "STILE_SECRET_ARNS": f"{arn.format('stile/COGNITO')},{arn.format('CI')}",
            "AWS_ENDPOINT_URL": aws.url,
            "AWS_REGION": "eu-west-1",
        }
        *_, after_list, after_call = _modules(environ, "tools-list", "tools-call-prescribed")

    assert aws.asked == []
    assert (_ours(after_list), _ours(after_call)) == (LISTING, LISTING | CALLING)
    assert not HEAVY & after_call


def _ours(modules: set[str]) -> set[str]:
    return {name.removeprefix("handler.") for name in modules if name.startswith("handler.")}


def _of_stile(modules: set[str]) -> set[str]:
    """The modules of the package that authors import from."""
    return {name for name in modules if name.partition(".")[0] == "stile"}


def _modules(environ: dict[str, str], *events: str) -> list[set[str]]:
    on_loopback = {"STILE_ALLOW_LOCAL_UPSTREAMS": "true"}
    done = run({**on_loopback, **environ}, *(ROOT / "events" / f"{name}.json" for name in events))
    assert done.returncode == 0, done.stderr
    *answers, steps = (json.loads(line) for line in done.stderr.splitlines())
    for answer in answers:
        assert answer["status"] == 200
        assert answer["body"] is None or {"result", "data"} & set(json.loads(answer["body"])), answer
    return [set(step) for step in steps]


def run(environ: dict[str, str], *events: Path) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    SESSION.keep_environ(environ)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, events)],
        cwd=ROOT,
        env={**kept, **environ},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    SESSION.note(Output.HANDLER_LOG, done.stdout + done.stderr)
    return done


def _first_line(request: bytes) -> str:
    return request.split(b"\r\n", 1)[0].decode()


def _imports(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


OF_JOBS = {
    "errors.consent_errors",
    "errors.cursor_errors",  # of ids that are not valid, too
    "server.mcp.input_required",
    "server.mcp.tasks",
    "text",
    "text.invisible",
}
"""Loaded for the first job."""

SHORTENING = {"code_tools.sections"}
"""Loaded for a list that a catalog may shorten."""


def test_listing_tools_in_python_loads_no_module_of_their_author_and_a_call_loads_its_own_alone(
    tmp_path: Path, folder_storage: FolderStorage
) -> None:
    endpoint = compiled(
        tmp_path, {"index.graphql": "type Query { a: Int }\ntype Mutation { b: Int }", "config.yaml": PUBLIC}
    )
    store(folder_storage, with_catalog(with_kit(with_kit(endpoint, TOOLS), OTHERS)))
    events = [
        _event(tmp_path, "list", "tools/list", {}),
        _event(tmp_path, "prompts", "prompts/list", {}),
        _event(tmp_path, "catalog", "tools/call", {"name": "catalog", "arguments": {}}),
        _event(tmp_path, "call", "tools/call", {"name": "echo", "arguments": {"text": "hi"}}),
    ]
    environ = {"STILE_BUNDLES": folder_storage.location, "STILE_CODE_MODULES": "tests"}

    done = run(environ, *events)
    assert done.returncode == 0, done.stderr
    *answers, steps = (json.loads(line) for line in done.stderr.splitlines())
    assert all("result" in json.loads(answer["body"]) for answer in answers), answers
    after_init, after_list, after_prompts, after_catalog, after_call = map(set, steps)
    authors = {use.partition(":")[0] for use in (TOOLS, OTHERS)}

    for listed in (after_init, after_list, after_prompts):
        assert not (HEAVY | authors | {"jsonschema", "handler.compiler", "handler.code_tools.definition"}) & listed
    assert _ours(after_list) - LISTING == WITH_NEEDS | SHORTENING
    assert not (HEAVY | authors | {"jsonschema", "handler.compiler", "handler.code_tools.definition"}) & after_catalog
    assert not (HEAVY | {"jsonschema", "handler.compiler"}) & after_call
    assert after_call & authors == {"tests.support.acme_tools"}
    assert _of_stile(after_catalog) == set()
    assert _of_stile(after_call) == {"stile"}  # which its author imports from
    assert json.loads(answers[-1]["body"])["result"]["structuredContent"]["said"] == "hi"


def test_jobs_load_what_they_need_with_the_first_job_and_cost_other_requests_nothing(
    tmp_path: Path, folder_storage: FolderStorage
) -> None:
    count = 'query Count @mcpTool(name: "count") { count }'
    with running_jobs() as jobs:
        store(folder_storage, compiled(tmp_path, files_of(jobs.api.url, more=count)))
        events = [
            _event(tmp_path, "list", "tools/list", {}),
            _event(tmp_path, "count", "tools/call", {"name": "count", "arguments": {}}),
            _event(tmp_path, "export", "tools/call", {"name": "export", "arguments": {}}),
        ]
        environ = {"STILE_BUNDLES": folder_storage.location, "STILE_STATE_KEY": KEY}
        done = run({"STILE_ALLOW_LOCAL_UPSTREAMS": "true", **environ}, *events)
    assert done.returncode == 0, done.stderr
    *answers, steps = (json.loads(line) for line in done.stderr.splitlines())
    assert "The job is not finished" in answers[-1]["body"]
    _, after_list, after_call, after_start = map(set, steps)

    assert _ours(after_list) == LISTING
    assert _ours(after_call) == LISTING | CALLING
    assert _ours(after_start) - _ours(after_call) == OF_JOBS
    assert not (HEAVY | {"jsonschema", "handler.compiler"}) & after_start


def _event(folder: Path, name: str, method: str, params: dict[str, Any]) -> Path:
    """An event with a request of a legacy client to the endpoint of these tests."""
    event = json.loads((ROOT / "events" / "tools-list-legacy.json").read_text(encoding="utf-8"))
    event["rawPath"] = event["requestContext"]["http"]["path"] = "/api/things/mcp"
    event["body"] = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    file = folder / f"{name}.json"
    file.write_text(json.dumps(event), encoding="utf-8")
    return file
