"""The functions that are measured, each with the gates that it has to stay under."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks import policies
from benchmarks.check import large_schema
from benchmarks.container import Function
from benchmarks.tls import behind_tls, trusting
from benchmarks.upstream import answering_upstream
from handler.compiler.compile import Compiled, compile_endpoint
from handler.storage.local import FolderStorage
from tests.corpora.fetch import fetch
from tests.support.authority import Authority
from tests.support.moto import Moto, running_moto

ROOT = Path(__file__).resolve().parent.parent.parent
DEMO = ROOT / "examples" / "endpoints" / "api" / "customers"
HANDLER = "handler.lambda_function.handler"
BUCKET, PREFIX = "stile-bundles", "endpoints"

FLOOR = "floor: an empty function"
ASKING = "an empty function that asks the API"
HELLO = "Starlette and Mangum, a constant"

OUR_LIST, OUR_CALL = "tools/list, demo, S3", "prescribed call, S3"
GITHUB_LIST, GITHUB_CALL = "tools/list, GraphQL tool, GitHub, S3", "GraphQL tool call, GitHub, S3"
CODE_LIST, CODE_CALL = "tools/list, tools in Python, S3", "call of a tool in Python, S3"
"""What peers are compared with."""

CODED = "code/customers"
CODE_MODULE = "customer_tools"  # of examples/code

LIST_GATE, PRESCRIBED_GATE, GRAPHQL_GATE, GITHUB_GATE, CODE_GATE = 3.2, 3.3, 4.4, 5.1, 4.9
"""Of cold starts by the clock, times the floor's: nine rounds on a quiet machine, plus 8 %.

The clock counts the answers of the stand-in for S3, too. The tool in Python asks with ``ctx.graphql``.
"""

LIST_CPU_GATE, PRESCRIBED_CPU_GATE, GRAPHQL_CPU_GATE, GITHUB_CPU_GATE, CODE_CPU_GATE = 3.1, 3.2, 4.2, 4.9, 4.8
"""Of the processor time of cold starts, times the floor's."""

LEAST_WARM = (ASKING, HELLO)
"""What a warm call through Starlette and Mangum to an API takes at least, over the floor: both of these together."""

PRESCRIBED_WARM_GATE, GRAPHQL_WARM_GATE = 2.4, 6.2
"""Times that."""

MEMORY_GATE = 2.2

ANSWERED = r"\"content\":"
"""A part of each result of a tool, as JSON in JSON. An error of the protocol has none, and one of a tool `isError`."""

LIST = ("tools/list", dict[str, Any]())

QUERY = """
query Issues($owner: String!, $name: String!, $first: Int = 10) {
  viewer { login }
  repository(owner: $owner, name: $name) {
    id name description url isPrivate stargazerCount
    owner { login __typename ... on User { name } ... on Organization { websiteUrl } }
    issues(first: $first, states: [OPEN], orderBy: {field: CREATED_AT, direction: DESC}) {
      totalCount
      nodes {
        id number title body createdAt
        author { login avatarUrl(size: 40) }
        labels(first: 5) { nodes { name color } }
        comments(first: 3) { totalCount nodes { body author { login } } }
      }
    }
  }
}
"""
VARIABLES = {"owner": "graphql-python", "name": "graphql-core"}

GUARDED = {"policies/github": 16, "policies/large": 64}
"""Endpoints with a GraphQL tool over GitHub's schema and over 3,000 types, and their rules."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A function and its gates; ``None``: it is measured and not judged. ``warm`` is in times of ``LEAST_WARM``.

    ``cold`` is by the clock, ``cold_cpu`` by processor time. ``goal`` is of ``cold_cpu`` too, and judges nothing.
    """

    function: Function
    cold: float | None = None
    cold_cpu: float | None = None
    goal: float | None = None
    warm: float | None = None
    memory: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Builds:
    """The built function, the same with tools in Python, and the Python that runs both."""

    artifact: Path
    coded: Path
    hello: Path  # Starlette and Mangum, as pip installs them
    python: Path


@contextmanager
def running_functions(builds: Builds, *, work: Path) -> Iterator[list[Made]]:
    """Yield all of them, while the API and S3 that they ask run. Both are behind TLS, as on AWS."""
    authority = Authority(work)
    trusting_builds = replace(
        builds,
        artifact=trusting(builds.artifact, work / "artifact", authority),
        coded=trusting(builds.coded, work / "coded", authority),
    )
    with (
        answering_upstream() as upstream,
        running_moto() as moto,
        behind_tls(upstream, authority) as secure_upstream,
        behind_tls(moto.url, authority) as secure_s3,
    ):
        yield _make_functions(
            trusting_builds, work=work, upstream=secure_upstream, plain_upstream=upstream, moto=moto, s3=secure_s3
        )


def _make_functions(
    builds: Builds, *, work: Path, upstream: str, plain_upstream: str, moto: Moto, s3: str
) -> list[Made]:
    """Publish what functions serve to a folder and to a bucket."""
    folder = work / "bundles"
    storage = FolderStorage(folder)
    for made in _endpoints(work, upstream):
        for key, content in made.objects():
            storage.write(key, content)
    objects = {
        f"{PREFIX}/{path.relative_to(folder)}": path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }
    moto.add_bucket(BUCKET, objects)
    here = Path(__file__).resolve().parent
    local = {"STILE_ALLOW_LOCAL_UPSTREAMS": "true"}
    in_folder = {**local, "STILE_BUNDLES": str(folder)}
    plain_s3 = {**local, **moto.environ(), "STILE_BUNDLES": f"s3://{BUCKET}/{PREFIX}"}
    in_s3 = {**plain_s3, "AWS_ENDPOINT_URL": s3}

    def ours(name: str, endpoint: str, call: tuple[str, Mapping[str, Any]], environ: Mapping[str, str]) -> Function:
        return Function(
            name=name,
            python=builds.python,
            folder=builds.coded if "STILE_CODE_MODULES" in environ else builds.artifact,
            handler=HANDLER,
            event=event_of(endpoint, *call),
            expects=ANSWERED if call[0] == "tools/call" else "result",
            environ=environ,
        )

    def plain(name: str, handler: str, environ: Mapping[str, str]) -> Made:
        event = event_of("api/customers", *LIST)
        return Made(
            function=Function(
                name=name, python=builds.python, folder=here, handler=handler, event=event, environ=environ
            )
        )

    prescribed = ("tools/call", {"name": "customer-by-email", "arguments": {"variables": {"email": "a@b.example"}}})
    query = ("tools/call", {"name": "github-api", "arguments": {"query": QUERY, "variables": VARIABLES}})
    small = ("tools/call", {"name": "employee-lookup", "arguments": {"query": "{ employees { id } }"}})
    tool = ("tools/call", {"name": "find_customers", "arguments": {"city": "Seattle"}})
    coded = {**in_s3, "STILE_CODE_MODULES": CODE_MODULE}
    return [
        plain(FLOOR, "floor.handler", {}),
        plain(ASKING, "asking.handler", {"UPSTREAM": plain_upstream}),
        plain(HELLO, "hello.handler", {"PYTHONPATH": str(builds.hello)}),
        Made(
            function=ours(OUR_LIST, "api/customers", LIST, in_s3),
            cold=LIST_GATE,
            cold_cpu=LIST_CPU_GATE,
            goal=2.7,
            memory=MEMORY_GATE,
        ),
        Made(
            function=ours("the same, preloaded", "api/customers", LIST, {**in_s3, "STILE_PRELOAD": "api/customers"}),
            cold=LIST_GATE,
            cold_cpu=LIST_CPU_GATE,
            memory=MEMORY_GATE,
        ),
        Made(function=ours("the same, S3 without TLS", "api/customers", LIST, plain_s3), memory=MEMORY_GATE),
        Made(function=ours("tools/list, demo, folder", "api/customers", LIST, in_folder), memory=MEMORY_GATE),
        *(
            Made(function=ours(f"tools/list, {count} tools, S3", f"size/t{count}", LIST, in_s3), memory=MEMORY_GATE)
            for count in (1, 20, 200)
        ),
        Made(
            function=ours("tools/list, GitHub, 20 prescribed, S3", "github/twenty", LIST, in_s3),
            cold=LIST_GATE,
            cold_cpu=LIST_CPU_GATE,
        ),
        Made(function=ours(GITHUB_LIST, "github/api", LIST, in_s3)),
        *(
            Made(
                function=ours(
                    f"tools/list, GraphQL tool, {schema}, {rules} rules, S3 without TLS", name, LIST, plain_s3
                ),
                goal=goal,
            )
            for (name, rules), schema, goal in zip(GUARDED.items(), ("GitHub", "3,000 types"), (3.2, 4.5), strict=True)
        ),
        Made(
            function=ours(OUR_CALL, "api/customers", prescribed, in_s3),
            cold=PRESCRIBED_GATE,
            cold_cpu=PRESCRIBED_CPU_GATE,
            goal=2.9,
            warm=PRESCRIBED_WARM_GATE,
            memory=MEMORY_GATE,
        ),
        Made(
            function=ours(
                "prescribed call, 100 rules",
                policies.RULED,
                ("tools/call", policies.CASES["a prescribed call, 20 fields"][1]),
                in_s3,
            )
        ),
        Made(
            function=ours("GraphQL tool call, demo, S3", "api/customers", small, in_s3),
            cold=GRAPHQL_GATE,
            cold_cpu=GRAPHQL_CPU_GATE,
        ),
        Made(
            function=ours(GITHUB_CALL, "github/api", query, in_s3),
            cold=GITHUB_GATE,
            cold_cpu=GITHUB_CPU_GATE,
            goal=4.5,
            warm=GRAPHQL_WARM_GATE,
        ),
        Made(function=ours(CODE_LIST, CODED, LIST, coded)),
        Made(function=ours(CODE_CALL, CODED, tool, coded), cold=CODE_GATE, cold_cpu=CODE_CPU_GATE, goal=4.3),
    ]


def event_of(endpoint: str, method: str, params: Mapping[str, Any]) -> bytes:
    """What API Gateway would hand over."""
    event = policies.event_of(endpoint, method, params)
    event["requestContext"] |= {"domainName": "id.execute-api.us-east-1.amazonaws.com", "stage": "$default"}
    if endpoint not in (policies.RULED, *GUARDED):
        del event["headers"]["x-api-key"]
    return json.dumps(event).encode()


def _endpoints(work: Path, upstream: str) -> list[Compiled]:
    made = [
        demo_endpoint(work, "api/customers", upstream),
        demo_endpoint(work, CODED, upstream, code=True),
        *(sized_endpoint(work, upstream, count) for count in (1, 20, 200)),
    ]
    github = github_schema()
    made.append(written_endpoint(work, "github/api", {"index.graphql": github, "config.yaml": open_config(upstream)}))
    operations = "".join(
        f'query Repository{number}($owner: String!, $name: String!) @mcpTool(name: "repository-{number}") '
        "{ repository(owner: $owner, name: $name) { id name description stargazerCount owner { login } } }\n"
        for number in range(20)
    )
    files = {"index.graphql": github, "operations/o.graphql": operations, "config.yaml": open_config(upstream)}
    made.append(written_endpoint(work, "github/twenty", files))
    made.append(written_endpoint(work, policies.RULED, policies.files(upstream, ruled=True)))
    for (name, rules), schema in zip(GUARDED.items(), (github, large_schema()), strict=True):
        made.append(written_endpoint(work, name, policies.guarded_files(schema, upstream, rules=rules)))
    return made


def github_schema() -> str:
    """The SDL, fetched if need be."""
    return (fetch("github-named", print) / "index.graphql").read_text(encoding="utf-8")


def demo_endpoint(work: Path, name: str, upstream: str, *, code: bool = False) -> Compiled:
    folder = work / "demo" / name
    shutil.copytree(DEMO, folder)
    config = f"upstream: {{url: {json.dumps(upstream)}}}\n"
    if code:
        config += f"code: [{{use: '{CODE_MODULE}:kit', condition: true}}]\n"
        sys.path.append(str(ROOT / "examples" / "code"))
    (folder / "config.measured.yaml").write_text(config, encoding="utf-8")
    return compile_endpoint(folder, stage="measured", environ={"STILE_CODE_MODULES": CODE_MODULE})


def sized_endpoint(work: Path, upstream: str, count: int) -> Compiled:
    """An endpoint with so many prescribed tools over a schema of three types."""
    schema = "type Query { thing(id: ID!): Thing } type Thing { id: ID! name: String part: Part } type Part { id: ID! }"
    operations = "".join(
        f'query Thing{number}($id: ID!) @mcpTool(name: "thing-{number}", description: "Thing number {number}.") '
        "{ thing(id: $id) { id name part { id } } }\n"
        for number in range(count)
    )
    files = {"index.graphql": schema, "operations/o.graphql": operations, "config.yaml": open_config(upstream)}
    return written_endpoint(work, f"size/t{count}", files)


def open_config(upstream: str) -> str:
    policy = "{type: Query, policyDefault: {condition: true}}"
    return f"upstream: {{url: {json.dumps(upstream)}}}\naccess: {{anonymous: allow, policies: [{policy}]}}\n"


def written_endpoint(work: Path, name: str, files: Mapping[str, str]) -> Compiled:
    for file, text in files.items():
        path = work / "written" / name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return compile_endpoint(work / "written" / name)
