"""Makes tools of the same APIs by Stile and its peers, judges them, and writes ``benchmarks/results/peers.md``."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphql import GraphQLField

from benchmarks.peers.cases import ROOT, Api, read_apis
from benchmarks.peers.criteria import CRITERIA, Judged
from benchmarks.peers.makers import Maker, find_makers

RESULTS = ROOT / "benchmarks" / "results" / "peers.md"

COMMAND = "python -m benchmarks.peers"

NOTES = """\
Read it with this in mind. The peers make tools of schema fields and choose themselves what an answer has; Stile makes
one of each operation that somebody wrote. Here these were written by a program: every argument of the field is a
variable, with the default and the description that the schema has, and only Stile asks its author for that work.
What Stile advertises says nothing of null, as in the documentation that it follows, so it does not tell the two
defaults that have a null either; a null that GraphQL takes is accepted when it comes. Its one slip in nullability is a
null for a custom scalar that may not be null, of which an open schema says nothing; Stile refuses it itself.
graphql-mcp describes arguments where the API's own code has its `@mcp` directive, which introspection does not show.
mcp-graphql from PyPI does not start with mcp 2, so it has mcp 1.30; it ends at the API with recursive inputs. The one
from npm makes one tool for any request, so there is nothing to judge: the model reads the whole schema and writes the
request. Packages are compared as they come, over stdio, at an API that they introspect. Counts are of tools that get it
right, of those where it applies."""

JSONObject = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a maker made of one operation. ``right`` has ``None`` where there is nothing of a criterion's kind."""

    operation: str
    input_bytes: int  # of the tool's list entry without its output schema
    output_bytes: int
    right: Mapping[str, bool | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What a maker made of all operations."""

    maker: Maker
    verdicts: Mapping[str, Verdict]  # by operation
    other_bytes: Sequence[int]  # of tools that are for no single operation, of the first API

    def right(self, criterion: str) -> str:
        """How many tools get it right, of those where it applies."""
        judged = [verdict.right[criterion] for verdict in self.verdicts.values()]
        applies = [right for right in judged if right is not None]
        return f"{sum(applies)} of {len(applies)}" if applies else "–"

    def bytes(self, sizes: Sequence[int]) -> str:
        return f"{statistics.mean(sizes):.0f}" if sizes else "–"


def main() -> None:
    apis = read_apis()
    made = [_made(maker, apis) for maker in find_makers()]
    operations = [_operation(api, name) for api in apis for _, name, _ in api.fields()]
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text("\n".join(_page(made, operations)) + "\n", encoding="utf-8")
    print(RESULTS.read_text(encoding="utf-8"))


def _made(maker: Maker, apis: Sequence[Api]) -> Made:
    listed = {api.name: maker.tools(api) for api in apis}
    verdicts = {}
    for api in apis:
        tools = {_plain(tool["name"]): tool for tool in listed[api.name]}
        for _, name, field in api.fields():
            if _plain(name) in tools:
                verdicts[_operation(api, name)] = _verdict(_operation(api, name), tools[_plain(name)], field)
    names = {_plain(name) for _, name, _ in apis[0].fields()}
    others = [_bytes(tool) for tool in listed[apis[0].name] if _plain(tool["name"]) not in names]
    return Made(maker=maker, verdicts=verdicts, other_bytes=others)


def _verdict(operation: str, tool: JSONObject, field: GraphQLField) -> Verdict:
    judged = Judged(tool, field)
    entry = {key: value for key, value in tool.items() if key != "outputSchema"}
    return Verdict(
        operation=operation,
        input_bytes=_bytes(entry),
        output_bytes=_bytes(tool) - _bytes(entry),
        right={name: judge(judged) for name, judge in CRITERIA.items()},
    )


def _page(made: Sequence[Made], operations: Sequence[str]) -> Iterator[str]:
    yield from ("# Stile and its peers on the same operations", "", f"`{COMMAND}`, which installs the peers.", "")
    yield from summary(made, len(operations))
    yield ""
    yield NOTES
    yield from ("", "What the columns mean, and how they are judged (`benchmarks/peers/criteria.py`):", "")
    yield from (f"- **{name}**: {' '.join((judge.__doc__ or '').split())}" for name, judge in CRITERIA.items())
    yield from ("", "## Operation by operation", "", "Bytes without and with the output schema, and what is wrong.", "")
    yield f"| operation | {' | '.join(each.maker.name for each in made)} |"
    yield f"| --- |{' --- |' * len(made)}"
    for operation in operations:
        yield f"| {operation} | {' | '.join(_cell(each.verdicts.get(operation)) for each in made)} |"


def summary(made: Sequence[Made], operations: int) -> Iterator[str]:
    """The table that docs/compared.md shows too."""
    yield f"| | makes a tool of | operations | bytes a tool | with output schema | {' | '.join(CRITERIA)} |"
    yield f"| --- | --- | --- | ---: | ---: |{' --- |' * len(CRITERIA)}"
    for each in made:
        verdicts = each.verdicts.values()
        plain = [verdict.input_bytes for verdict in verdicts] or each.other_bytes
        whole = [verdict.input_bytes + verdict.output_bytes for verdict in verdicts if verdict.output_bytes]
        cells = [
            f"{each.maker.name} {each.maker.version}".strip(),
            each.maker.manner,
            f"{len(each.verdicts)} of {operations}",
            each.bytes(plain),
            each.bytes(whole),
            *map(each.right, CRITERIA),
        ]
        yield f"| {' | '.join(cells)} |"


def _cell(verdict: Verdict | None) -> str:
    if verdict is None:
        return "no tool"
    wrong = [name for name, right in verdict.right.items() if right is False]
    whole = f" / {verdict.input_bytes + verdict.output_bytes}" if verdict.output_bytes else ""
    return f"{verdict.input_bytes}{whole}{': not ' + ', '.join(wrong) if wrong else ''}"


def _operation(api: Api, name: str) -> str:
    return name if api.name == "demo" else f"{name} ({api.name})"


def _plain(name: str) -> str:
    """Some write placeOrder as place_order."""
    return name.replace("_", "").lower()


def _bytes(value: JSONObject) -> int:
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())


if __name__ == "__main__":
    main()
