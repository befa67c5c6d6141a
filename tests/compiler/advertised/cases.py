"""Endpoints compiled twice: with whole schemas of arguments and results, and with shortened ones."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from graphql import GraphQLSchema, OperationDefinitionNode, build_schema, parse

from handler.bundle.tools import PrescribedTool
from handler.compiler.compile import Compiled
from tests.compiler.advertised.endpoints import CONFIG, random_files
from tests.compiler.advertised.judged import Case, Found, judge_case, size
from tests.corpora.attempts import attempt
from tests.corpora.fetch import folder_of
from tests.support.endpoints import compiled


@dataclass(frozen=True)
class Budget:
    """Limits of a list's schemas. ``output`` is 0 for none, and -1 for lists without output schemas."""

    arguments: int
    output: int = 0

    def __str__(self) -> str:
        return f"{self.arguments}/{'off' if self.output < 0 else self.output}"

    @property
    def yaml(self) -> str:
        """The lines of ``config.yaml``."""
        output = "output_schema: off\n" if self.output < 0 else ""
        most = f", max_output_schema_bytes: {max(self.output, 0)}"
        return f"{output}limits: {{max_schema_bytes: {self.arguments}{most}}}\n"


WHOLE = Budget(0)
BUDGETS = (Budget(500, 500), Budget(1_000, 500), Budget(2_000, -1), Budget(6_000, 4_000), Budget(20_000, 20_000))


def try_random(count: int, *, seed: str, found: Found) -> None:
    """Try random endpoints, each at one random size."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            random = Random(f"{seed} {number}")
            _try_files(random_files(random), Path(folder) / str(number), random, found, label=f"{seed} {number}")


def _try_files(files: dict[str, str], folder: Path, random: Random, found: Found, *, label: str) -> None:
    max_bytes = random.choice([500, 800, 1_500, 3_000, 6_000, 20_000, random.randint(500, 20_000)])
    recursion = random.choice(["unroll", "unroll", "unroll", "ref"])
    tools = [
        _tools(compiled(folder / name, {**files, "config.yaml": CONFIG.format(max_bytes=limit, recursion=recursion)}))
        for name, limit in (("whole", 0), ("short", max_bytes))
    ]
    shutil.rmtree(folder)
    text = files["operations/o.graphql"].replace("@mcpTool", "")
    sdl = files["index.graphql"].partition("\n")[2]
    for name, whole in tools[0].items():
        case = Case(
            label=f"{label} {name} {max_bytes}",
            whole=whole,
            short=tools[1][name],
            max_bytes=max_bytes,
            recursive=recursion == "ref",
            schema=build_schema(sdl),
            node=_operation(text),
        )
        judge_case(case, random, found)


def try_corpus(corpus: str, budget: Budget, *, seed: str, found: Found) -> float:
    """Try each operation of a corpus, and return the share of the whole list's bytes that is left."""
    whole, schema = _compiled(corpus, WHOLE)
    short, _ = _compiled(corpus, budget)
    for name, tool in whole.items():
        case = Case(
            label=f"{corpus} {name} {budget}",
            whole=tool,
            short=short[name],
            max_bytes=budget.arguments,
            recursive=False,
            schema=schema,
            node=_operation(tool.operation.text),
        )
        judge_case(case, Random(f"{seed} {name}"), found, values=4)
    return sum(size(each.entry) for each in short.values()) / sum(size(each.entry) for each in whole.values())


@cache
def _compiled(corpus: str, budget: Budget) -> tuple[dict[str, PrescribedTool], GraphQLSchema]:
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / "corpora" / corpus
        shutil.copytree(folder_of(corpus), folder)
        with (folder / "config.yaml").open("a", encoding="utf-8") as config:
            config.write(budget.yaml)
        made = attempt(folder)
    return {tool.name: tool for tool in made.tools}, made.schema


def _tools(made: Compiled) -> dict[str, PrescribedTool]:
    return {tool.name: tool for tool in made.bundle.tools if isinstance(tool, PrescribedTool)}


def _operation(text: str) -> OperationDefinitionNode:
    return next(node for node in parse(text).definitions if isinstance(node, OperationDefinitionNode))
