"""What policies cost a warm function: calls and lists with a hundred rules, in turns with the same without any.

Cold starts under policies are among those of ``benchmarks.cold``, with schemas of ``guarded_files``.

python -m benchmarks.policies --calls 2000
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from graphql import ObjectTypeDefinitionNode, parse

from benchmarks.call import Handler, cpu_us, in_turns
from benchmarks.report import machine, write_page
from benchmarks.upstream import answering_upstream
from handler.compiler.compile import compile_endpoint
from handler.storage.local import FolderStorage

RULES = 100
GUARDED = 20
"""As many of the rules guard the operation that is called."""

CALLERS = 300
"""More than a function remembers evaluations of, so that with another caller each time all is judged anew."""

CLAIMS = {"roles": ["reader", "writer"], "org": {"id": "acme", "level": 7}, "email": "ada@example.com", "active": True}

CONDITIONS = (
    '?$jwt && $jwt.roles:String has "reader" && $jwt.org.level:Int >= -{n}',
    '$jwt.org.id:String == "acme" && !($jwt.org.level:Int == -{n})',
    '$jwt.active:Boolean && $jwt.email:String != "{n}"',
    '$jwt.roles:String has "writer" || $jwt.org.level:Int > {n}',
)
"""Each differs from rule to rule, and holds."""

PLAIN, RULED = "policies/none", "policies/hundred"

HIDING = "$jwt.org.level:Int >= {n}"
"""It holds in the first eight rules of ``guarded_files``, by ``CLAIMS``."""


def key_of(caller: int) -> str:
    """The API key of one of the callers."""
    return f"stile_benchmark_{caller}"


def files(url: str, *, ruled: bool) -> dict[str, str]:
    """An endpoint with a type of a hundred fields, of which an operation selects twenty."""
    fields = " ".join(f"f{number}: Int" for number in range(RULES))
    selected = " ".join(f"f{number}" for number in range(GUARDED))
    rules = "".join(
        f"        - condition: {json.dumps(CONDITIONS[number % len(CONDITIONS)].replace('{n}', str(number)))}\n"
        f"          fields: [f{number}]\n"
        for number in range(RULES)
    )
    policy = f"    - type: Thing\n      policyDefault: {{condition: true}}\n      rules:\n{rules}" if ruled else ""
    return {
        "index.graphql": 'schema @tool(name: "ask", graphql: {expose: true, types: "Query", fields: ".*"}) '
        f"{{ query: Query }} type Query {{ thing(id: ID!): Thing }} type Thing {{ id: ID {fields} }}",
        "operations/o.graphql": f'query Thing($id: ID!) @mcpTool(name: "thing") {{ thing(id: $id) {{ {selected} }} }}',
        "config.yaml": _config(url, policy, callers=CALLERS),
    }


def guarded_files(sdl: str, url: str, *, rules: int) -> dict[str, str]:
    """An endpoint with one GraphQL tool over a schema, of which rules hide types and fields.

    The rules are spread over the schema. Every other one hides a type, and the rest a field each.
    """
    types = [
        each
        for each in parse(sdl, no_location=True).definitions
        if isinstance(each, ObjectTypeDefinitionNode) and each.fields and each.name.value not in ("Query", "Mutation")
    ]
    policies = ""
    for number in range(rules):
        guarded = types[number * len(types) // rules]
        condition = json.dumps(HIDING.replace("{n}", str(number)))
        (*_, field) = (each.name.value for each in guarded.fields or ())
        rest = f"rules: [{{condition: {condition}, fields: [{field}]}}]" if number % 2 else ""
        default = "true" if number % 2 else condition
        policies += f"    - {{type: {guarded.name.value}, policyDefault: {{condition: {default}}}, {rest}}}\n"
    return {"index.graphql": sdl, "config.yaml": _config(url, policies, callers=1)}


def _config(url: str, policies: str, *, callers: int) -> str:
    keys = [
        {"name": f"c{n}", "sha256": hashlib.sha256(key_of(n).encode()).hexdigest(), "claims": {**CLAIMS, "sub": str(n)}}
        for n in range(callers)
    ]
    return (
        f"upstream: {{url: {json.dumps(url)}}}\naccess:\n  policies:\n"
        f"    - {{type: Query, policyDefault: {{condition: true}}}}\n{policies}"
        f"identity: {{api_keys: {json.dumps(keys)}}}\n"
    )


def publish(url: str, work: Path) -> Path:
    """A folder of bundles with both endpoints."""
    storage = FolderStorage(work / "bundles")
    for name, ruled in ((PLAIN, False), (RULED, True)):
        for file, text in files(url, ruled=ruled).items():
            path = work / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        made = compile_endpoint(work / name)
        for key, content in made.objects():
            storage.write(key, content)
    return work / "bundles"


def event_of(name: str, method: str, params: Mapping[str, Any], *, caller: int = 0) -> dict[str, Any]:
    """What API Gateway would hand over."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return {
        "version": "2.0",
        "rawPath": f"/{name}/mcp",
        "rawQueryString": "",
        "headers": {
            "content-type": "application/json",
            "mcp-protocol-version": "2025-11-25",
            "x-api-key": key_of(caller),
        },
        "requestContext": {"http": {"method": "POST", "path": f"/{name}/mcp", "sourceIp": "127.0.0.1"}},
        "body": json.dumps(message),
        "isBase64Encoded": False,
    }


CASES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "a prescribed call, 20 fields": ("tools/call", {"name": "thing", "arguments": {"id": "1"}}),
    "a GraphQL tool call, the same 20 fields": (
        "tools/call",
        {
            "name": "ask",
            "arguments": {"query": f"{{ thing(id: 1) {{ {' '.join(f'f{number}' for number in range(GUARDED))} }} }}"},
        },
    ),
    "tools/list": ("tools/list", {}),
}


def compare(handler: Handler, *, calls: int, others: bool) -> dict[str, tuple[float, float]]:
    """Case -> the medians without and with rules, in microseconds, of calls that take turns.

    ``others``: each call is another caller's.
    """
    found = {}
    for case in CASES:
        turns = {name: _calling(handler, name, case, others=others) for name in (PLAIN, RULED)}
        in_turns(turns, rounds=20)  # the first ones build what the others find
        taken = in_turns(turns, rounds=calls)
        found[case] = (statistics.median(taken[PLAIN]), statistics.median(taken[RULED]))
    return found


def _calling(handler: Handler, name: str, case: str, *, others: bool) -> Callable[[], float]:
    numbers = count()
    return lambda: cpu_us(handler, event_of(name, *CASES[case], caller=next(numbers) % CALLERS if others else 0))


def text_of(same: Mapping[str, tuple[float, float]], others: Mapping[str, tuple[float, float]], *, calls: int) -> str:
    """The page."""
    rows = "\n".join(
        f"| {case} | {who} | {plain:.0f} | {ruled:.0f} | {ruled - plain:.0f} |"
        for case in same
        for who, (plain, ruled) in (("the same", same[case]), ("another each time", others[case]))
    )
    return (
        "# What policies cost\n\n"
        f"`python -m benchmarks.policies --calls {calls}`: one warm process, the same requests in turns to two\n"
        f"endpoints, one without rules and one with {RULES}, of which {GUARDED} guard the fields that are asked for;\n"
        "medians of processor time. What holds for a caller is remembered; with another caller each time it is\n"
        "judged anew.\n"
        f"The upstream answers at once on loopback. {machine(('graphql-core',))}\n\n"
        f"| request | caller | without, µs | {RULES} rules, µs | difference, µs |\n| --- | --- | ---: | ---: | ---: |\n"
        f"{rows}\n"
    )


def main() -> int:
    """Measure, and write ``benchmarks/results/policies.md``."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.policies")
    parser.add_argument("--calls", type=int, default=2000, metavar="N")
    calls = parser.parse_args().calls
    with tempfile.TemporaryDirectory() as folder, answering_upstream() as url:
        bundles = publish(url, Path(folder))
        os.environ.update(
            STILE_BUNDLES=str(bundles),
            STILE_ALLOW_LOCAL_UPSTREAMS="true",
            POWERTOOLS_LOG_LEVEL="CRITICAL",
            AWS_LAMBDA_FUNCTION_NAME="stile",
        )
        from handler.lambda_function import handler

        same, others = (compare(handler, calls=calls, others=others) for others in (False, True))
    write_page("policies", text_of(same, others, calls=calls))
    return 0


if __name__ == "__main__":
    sys.exit(main())
