"""The share of questions that a search answers, beside plain BM25, and the time and size that it costs.

python -m benchmarks.find --sets FOLDER

The project's own questions are in ``tests/find``. FOLDER has two public sets that are not part of the project:
``spider.graphql`` and ``spider.json`` (questions, each with the types that answer it), and ``live.json`` (tools, and
steps, each with its tool). Ranking is tuned on the first half of each set.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from string import ascii_lowercase
from typing import Any, NamedTuple

from graphql import build_schema  # noqa: TID251 - a benchmark compiles schemas

from benchmarks.find_sets import Row, compiled, github_rows, live_row, other_rows, spider_row
from benchmarks.report import machine, write_page
from handler.compiler.schema.schema_index import build_index, with_words
from handler.graph.index import read_index, write_index
from handler.graph.view import build_view
from handler.search.schema_search import SchemaSearch
from handler.search.words import MAX_WORDS
from tests.corpora.fetch import fetch
from tests.find.questions import read_questions

ROUNDS = 9
"""First searches that are timed."""

MAX_FIRST_MS, MAX_MS = 60.0, 5.0
"""Milliseconds of CPU of a view's first search, and of a later one, at most."""

LARGE_TYPES, MAX_LARGE_MS = 3_000, 150.0
"""Types of twenty fields of a generated schema, and milliseconds of CPU of a first search with the index read."""

MAX_ADDED = 0.1
"""Share of the stored index that the words add at most."""


class Cost(NamedTuple):
    """A search, its milliseconds of CPU, and how many it may take."""

    name: str
    ms: float
    most: float | None


def main() -> int:
    """Measure, write ``benchmarks/results/find.md`` if all sets are there, and return 1 if a gate is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.find")
    parser.add_argument("--sets", type=Path, help="folder with spider.graphql, spider.json and live.json")
    sets: Path | None = parser.parse_args().sets
    github = (fetch("github", say=print) / "index.graphql").read_text(encoding="utf-8")
    view, sizes, added = compiled(github)
    rows = [*github_rows(view), *other_rows()]
    if sets is not None and sets.is_dir():
        rows += [spider_row(sets), live_row(sets)]
    absent = sets is None or not sets.is_dir()
    text = _page(rows, costs := _costs(github), sizes, absent=absent)
    if absent:
        print(text)  # the page keeps the rows of the other sets
    else:
        write_page("find", text)
    missed = [row for row in rows if row.gate is not None and _share(row.hits) < row.gate]
    for row in missed:
        print(f"{row.name}: {_share(row.hits):.1%}, and the gate is {row.gate:.0%}", file=sys.stderr)
    dear = [cost for cost in costs if cost.most is not None and cost.ms > cost.most]
    for cost in dear:
        print(f"{cost.name}: {cost.ms:.1f} ms of CPU, expected at most {cost.most:g} ms", file=sys.stderr)
    if added > MAX_ADDED:
        print(f"words add {added:.1%} to the index, expected at most {MAX_ADDED:.0%}", file=sys.stderr)
    if absent:
        print("The two public sets are not there: FIND_SETS=folder names them. Only GitHub's questions were asked.")
    return 1 if missed or dear or added > MAX_ADDED else 0


def _costs(sdl: str) -> list[Cost]:
    """Return the median milliseconds of CPU of a view's first search, and of new, repeated and hostile questions."""
    random = Random("words")
    words = ["".join(random.choices(ascii_lowercase, k=16)) for _ in range(ROUNDS * MAX_WORDS)]
    _, stored = write_index(with_words(build_index(build_schema(sdl, assume_valid=True)), {}))
    digest = hashlib.sha256(stored).hexdigest()
    questions = [question.ask for question in read_questions()]
    gc.collect()
    gc.disable()  # as in the function
    first = []
    for _ in range(ROUNDS):
        search = SchemaSearch(build_view(read_index(stored, sha256=digest), ()))
        first.append(_timed(search, questions[0]))
    new = [_timed(search, question) for question in questions[1:]]
    again = [_timed(search, question) for question in questions]
    hostile = [_timed(search, question) for question in (" ".join(words[at::ROUNDS]) for at in range(ROUNDS))]
    large = statistics.median(_large(ROUNDS))
    gc.enable()
    return [
        Cost("the first search of 60,000 fields, with their index read", large, MAX_LARGE_MS),
        Cost("the first search of a view", statistics.median(first), MAX_FIRST_MS),
        Cost("a new question", statistics.median(new), MAX_MS),
        Cost("a new question, the slowest", max(new), None),
        Cost("a question again", statistics.median(again), MAX_MS),
        Cost(f"a question of {MAX_WORDS} unknown words", statistics.median(hostile), MAX_MS),
    ]


def _large(rounds: int) -> Iterator[float]:
    """Yield the milliseconds of first searches in a generated schema of many fields, with its index read."""
    random = Random("large")
    names = [f"{''.join(random.choices(ascii_lowercase, k=5)).title()}Of{place}" for place in range(LARGE_TYPES)]
    words = ["".join(random.choices(ascii_lowercase, k=6)) for _ in range(600)]
    types = []
    for name in names:
        returned = random.choices(["Int", "String", *random.sample(names, 2)], k=19)
        fields = " ".join(
            f'"The {" ".join(random.choices(words, k=4))}" {words[at]}{random.choice(words).title()}{at}: {type_}'
            for at, type_ in enumerate(returned)
        )
        types.append(f"type {name} {{ id: ID! {fields} }}")
    roots = " ".join(f"get{name}(id: ID!): {name} all{name}(first: Int): [{name}!]!" for name in names[:350])
    content = build_index(build_schema(f"type Query {{ {roots} }} {' '.join(types)}"))
    digest, stored = write_index(with_words(content, {}))
    question = " ".join(random.sample(words, 5))
    for _ in range(rounds):
        started = time.process_time()
        SchemaSearch(build_view(read_index(stored, sha256=digest), ())).search(question, 10)
        yield (time.process_time() - started) * 1_000


def _timed(search: SchemaSearch, question: str) -> float:
    started = time.process_time()
    search.search(question, 10)
    return (time.process_time() - started) * 1_000


def _share(hits: Sequence[bool]) -> float:
    return sum(hits) / len(hits)


def _page(rows: Sequence[Row], costs: Sequence[Cost], sizes: str, *, absent: bool) -> str:
    sets = "The two public sets were not there." if absent else "The two public sets are Spider's and LiveMCPBench's."
    lines = [
        "# Search: hits, and costs",
        "",
        f"`make find{'' if absent else ' FIND_SETS=folder'}`: the share of questions whose answers are among the first",
        "results. A Spider question needs all its types among them. Ranking is tuned on the first half of each set.",
        "Plain: BM25 with k1 = 1.2 and b = 0.75 over split words with stems. The questions on four other schemas, and",
        "the steps over Vendure's operations, which have no descriptions, were written before they were asked. Changes",
        "are checked against all of them.",
        sets,
        machine(["graphql-core"]),
        "",
        "| questions | among first | found | first half | second half | plain BM25 | its second half | gate | goal |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        *map(_line, rows),
        "",
        "Milliseconds of CPU on GitHub's schema, whose view has 1,600 types; medians:",
        "",
        "| search | ms | at most |",
        "| --- | ---: | ---: |",
        *(f"| {each.name} | {each.ms:.1f} | {'' if each.most is None else f'{each.most:g}'} |" for each in costs),
        "",
        f"GitHub's stored index: {sizes}.",
    ]
    return "\n".join(lines) + "\n"


def _line(row: Row) -> str:
    half = len(row.hits) // 2
    shares: list[Any] = [_share(row.hits), _share(row.hits[:half]), _share(row.hits[half:])]
    shares += [_share(row.plain), _share(row.plain[half:])]
    cells = [row.name, str(row.within), *(f"{share:.1%}" for share in shares)]
    cells += ["" if share is None else f"{share:.0%}" for share in (row.gate, row.goal)]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
