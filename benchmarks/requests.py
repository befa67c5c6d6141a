"""What requests to GraphQL tools cost on GitHub's schema: from a cold process, and warm.

python -m benchmarks.requests --rounds 9
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import tracemalloc
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.report import MB, page, show_round, write_page
from benchmarks.runner import ROOT, Case, measure
from benchmarks.upstream import answering_upstream
from handler.compiler.compile import compile_endpoint
from tests.corpora.downloads import FetchError
from tests.corpora.fetch import fetch

CORPUS = "github-named"
ENDPOINT = "corpora/github"
TOOL = "corpora-github"

FLOOR = "`python -c pass`"
WHOLE = "graphql-core alone: the SDL parsed and built, the query validated"
LISTED = "a fresh function, to its first `tools/list`"
CALLED = "a fresh function, to its first call of a GraphQL tool"

WARM_CALLS = 200

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

ALONE = (
    "import sys, pathlib, graphql; read = lambda at: pathlib.Path(sys.argv[at]).read_text(encoding='utf-8');"
    "sdl = graphql.parse(read(1), no_location=True);"
    "schema = graphql.build_ast_schema(sdl, assume_valid=True, assume_valid_sdl=True);"
    "sys.exit(bool(graphql.validate(schema, graphql.parse(read(2)), hide_suggestions=True)))"
)


def publish(sdl: Path, url: str, work: Path) -> Path:
    """A folder of bundles with one endpoint: all of an API, for everybody, through one GraphQL tool."""
    folder = work / "endpoints" / ENDPOINT
    folder.mkdir(parents=True)
    (folder / "index.graphql").write_bytes(sdl.read_bytes())
    policy = "{type: Query, policyDefault: {condition: true}}"
    (folder / "config.yaml").write_text(
        f"upstream: {{url: {json.dumps(url)}}}\naccess: {{anonymous: allow, policies: [{policy}]}}\n", encoding="utf-8"
    )
    made = compile_endpoint(folder)
    bundles = work / "bundles"
    for key, content in made.objects():
        (bundles / key).parent.mkdir(parents=True, exist_ok=True)
        (bundles / key).write_bytes(content)
    return bundles


def write_request(file: Path, method: str, params: Any, *, upstream: str) -> Path:
    """A request file for ``benchmarks.call``."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "benchmarks", "version": "1"},
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    request = {"path": f"/{ENDPOINT}/mcp", "upstream": upstream, "message": message}
    file.write_text(json.dumps(request), encoding="utf-8")
    return file


def cases(work: Path, sdl: Path, bundles: Path, upstream: str) -> list[Case]:
    """The processes that are compared."""
    query = work / "query.graphql"
    query.write_text(QUERY, encoding="utf-8")
    call = {"name": TOOL, "arguments": {"query": QUERY, "variables": VARIABLES}}
    listed = write_request(work / "list.json", "tools/list", {}, upstream=upstream)
    called = write_request(work / "call.json", "tools/call", call, upstream=upstream)
    function = (sys.executable, "-m", "benchmarks.call", str(bundles))
    return [
        Case(name=FLOOR, command=(sys.executable, "-c", "pass")),
        Case(name=LISTED, command=(*function, str(listed))),
        Case(name=CALLED, command=(*function, str(called))),
        Case(name=WHOLE, command=(sys.executable, "-c", ALONE, str(sdl), str(query))),
    ]


def warm(command: tuple[str, ...]) -> dict[str, float]:
    """The medians of a process that calls the function again and again, in milliseconds."""
    done = subprocess.run([*command, "--warm", str(WARM_CALLS)], cwd=ROOT, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def held_bytes(bundles: Path) -> dict[str, int]:
    """What stays in memory of the index, of a view of all of it, and of the schema for the query."""
    from graphql import parse

    from handler.graph.documents.partial_schema import ViewSchemas
    from handler.graph.index import read_index
    from handler.graph.view import build_view

    (file,) = bundles.glob("*/*/.index/*")
    document = parse(QUERY)
    tracemalloc.start()
    index = read_index(file.read_bytes(), sha256=file.name)
    held = {"the index": tracemalloc.get_traced_memory()[0]}
    schemas = ViewSchemas(build_view(index, ()))
    held["a view of all of it"] = tracemalloc.get_traced_memory()[0] - sum(held.values())
    schemas.touched_by(document)
    held["the schema for the query"] = tracemalloc.get_traced_memory()[0] - sum(held.values())
    tracemalloc.stop()
    return held


def more(medians: dict[str, float], held: dict[str, int]) -> str:
    """The part of the page that is not of whole processes."""
    same, other = (medians[name] - medians["upstream_ms"] for name in ("same_ms", "other_ms"))
    rows = "\n".join(f"| {name} | {size / MB:.2f} |" for name, size in held.items())
    return (
        f"\nThat call again in a warm process, {WARM_CALLS} times each, medians over the upstream's own "
        f"{medians['upstream_ms']:.1f} ms: {same:.1f} ms for the same query, {other:.1f} ms for one of another text.\n"
        f"\n| what stays in memory | MB |\n| --- | ---: |\n{rows}\n"
    )


def main() -> int:
    """Measure, and write ``benchmarks/results/requests.md``."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.requests")
    parser.add_argument("--rounds", type=int, default=9, metavar="N")
    rounds = parser.parse_args().rounds
    try:
        sdl = fetch(CORPUS, print) / "index.graphql"
    except FetchError as exc:
        sys.exit(f"{CORPUS} cannot be fetched: {exc}")
    with tempfile.TemporaryDirectory() as folder, answering_upstream() as url:
        work = Path(folder)
        bundles = publish(sdl, url, work)
        compared = cases(work, sdl, bundles, url)
        summaries = measure(compared, rounds=rounds, on_round=partial(show_round, rounds=rounds))
        rest = more(warm(compared[2].command), held_bytes(bundles))
    title = "Requests to a GraphQL tool over GitHub's schema"
    write_page("requests", page(title, summaries, floor=FLOOR, rounds=rounds, packages=("graphql-core",)) + rest)
    return 0


if __name__ == "__main__":
    sys.exit(main())
