"""The sets of questions that ``benchmarks.find`` asks, of our search and of plain BM25."""

from __future__ import annotations

import gzip
import json
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import log
from pathlib import Path
from typing import NamedTuple

from graphql import build_schema  # noqa: TID251 - a benchmark compiles schemas

from handler.compiler.schema.schema_index import build_index, with_words
from handler.graph.index import named_type, read_index, write_index
from handler.graph.view import View, build_view
from handler.search.ranking import Ranked, Ranking
from handler.search.schema_search import SchemaSearch
from handler.search.stems import stem
from handler.search.words import split
from tests.corpora.fetch import fetch
from tests.find.questions import STEPS_OF, Question, read_questions, read_questions_by_corpus, read_steps

SPIDER_FIRST, OTHERS_FIRST = 10, 5
"""Results among which the answer has to be."""

VARIABLE = re.compile(r"\$(\w+)\??:")

Ask = Callable[[str, int], Sequence[str]]
"""A search: a question and a limit to the keys of the results, the best first."""


class Row(NamedTuple):
    """The hits of one set, by question in its order, of our search and of plain BM25."""

    name: str
    within: int
    hits: Sequence[bool]
    plain: Sequence[bool]
    gate: float | None  # a share
    goal: float | None


def github_rows(view: View) -> Iterator[Row]:
    search, plain = _asked(view), _plain(_member_texts(view))
    hits: dict[str, list[tuple[bool, bool]]] = {}
    questions = read_questions()
    for question, both in zip(questions, _hits(questions, search, plain), strict=True):
        hits.setdefault(question.group, []).append(both)
    halves = [hits["named"][:15], hits["described"][:15], hits["named"][15:], hits["described"][15:]]
    asked = [each for half in halves for each in half]
    yield Row("GitHub, 60 questions", OTHERS_FIRST, *_columns(asked), gate=0.9, goal=0.92)
    for group, name in (("named", "of these, with words of the field's name"), ("described", "of these, without")):
        yield Row(name, OTHERS_FIRST, *_columns(hits[group]), gate=None, goal=None)
    yield Row("GitHub, 10 without any word", OTHERS_FIRST, *_columns(hits["unsaid"]), gate=None, goal=None)


def other_rows() -> Iterator[Row]:
    """Yield the hits of the project's own questions on the schemas and the operations of other corpora."""
    first: list[tuple[bool, bool]] = []
    second: list[tuple[bool, bool]] = []
    for corpus, questions in read_questions_by_corpus().items():
        view, *_ = compiled((fetch(corpus, say=print) / "index.graphql").read_text(encoding="utf-8"))
        hits = _hits(questions, _asked(view), _plain(_member_texts(view)))
        first += hits[: len(hits) // 2]
        second += hits[len(hits) // 2 :]
    asked = [*first, *second]
    yield Row(f"Four other schemas, {len(asked)} questions", OTHERS_FIRST, *_columns(asked), gate=0.78, goal=None)
    tools = {path.stem: _variables(path) for path in sorted((fetch(STEPS_OF, say=print) / "operations").iterdir())}
    ranking = Ranking([Ranked(name, (name,), (), variables) for name, variables in tools.items()])
    plain = _plain({name: " ".join((name, *variables)) for name, variables in tools.items()})
    hits = _hits(
        steps := read_steps(), lambda question, limit: [key for key, _ in ranking.rank(question)[:limit]], plain
    )
    yield Row(f"Vendure's operations, {len(steps)} steps", OTHERS_FIRST, *_columns(hits), gate=0.7, goal=None)


def spider_row(sets: Path) -> Row:
    view, *_ = compiled((sets / "spider.graphql").read_text(encoding="utf-8"))
    questions = json.loads((sets / "spider.json").read_text(encoding="utf-8"))
    search, plain = _asked(view), _plain(_type_texts(view))
    hits = [
        (
            set(each["types"]) <= _types_of(view, search(each["question"], SPIDER_FIRST)),
            set(each["types"]) <= set(plain(each["question"], SPIDER_FIRST)),
        )
        for each in questions
    ]
    return Row(f"Spider, {len(hits):,} questions", SPIDER_FIRST, *_columns(hits), gate=0.91, goal=0.93)


def live_row(sets: Path) -> Row:
    live = json.loads((sets / "live.json").read_text(encoding="utf-8"))
    tools = live["tools"]
    ranking = Ranking(
        [Ranked(str(n), (t["name"],), (t["description"],), tuple(t["parameters"])) for n, t in enumerate(tools)]
    )
    plain = _plain({str(n): f"{t['name']} {t['description']} {' '.join(t['parameters'])}" for n, t in enumerate(tools)})
    hits = [
        (
            each["tool"] in {tools[int(key)]["name"] for key, _ in ranking.rank(each["question"])[:OTHERS_FIRST]},
            each["tool"] in {tools[int(key)]["name"] for key in plain(each["question"], OTHERS_FIRST)},
        )
        for each in live["steps"]
    ]
    return Row(f"LiveMCPBench, {len(hits)} steps", OTHERS_FIRST, *_columns(hits), gate=0.72, goal=0.75)


def _hits(questions: Sequence[Question], *asks: Ask) -> list[tuple[bool, bool]]:
    found = [[not set(each.answers).isdisjoint(ask(each.ask, OTHERS_FIRST)) for each in questions] for ask in asks]
    return list(zip(*found, strict=True))


def _variables(operation: Path) -> tuple[str, ...]:
    return tuple(dict.fromkeys(VARIABLE.findall(operation.read_text(encoding="utf-8"))))


def _types_of(view: View, coordinates: Sequence[str]) -> set[str]:
    """Return the types of results: the owner of a member, and what a root field returns."""
    found = set()
    for coordinate in coordinates:
        owner, _, member = coordinate.partition(".")
        is_root = owner in view.index.roots.values()
        found.add(named_type(view.index[owner].fields[member].type) if is_root and member else owner)
    return found


def _asked(view: View) -> Ask:
    search = SchemaSearch(view)
    return lambda question, limit: [match.coordinate for match in search.search(question, limit)]


def _plain(texts: Mapping[str, str]) -> Ask:
    """Return an untuned BM25 (k1 1.2, b 0.75) over split words with stems, one text for each document."""
    counts = {key: Counter(map(stem, split(text))) for key, text in texts.items()}
    lengths = {key: count.total() for key, count in counts.items()}
    average = statistics.fmean(lengths.values())
    having = Counter(word for count in counts.values() for word in count)

    def ask(question: str, limit: int) -> Sequence[str]:
        words = set(map(stem, split(question))) & having.keys()
        scores = {
            key: sum(
                log(1 + (len(counts) - having[word] + 0.5) / (having[word] + 0.5))
                * count[word]
                * 2.2
                / (count[word] + 1.2 * (0.25 + 0.75 * lengths[key] / average))
                for word in sorted(words & count.keys())
            )
            for key, count in counts.items()
        }
        return sorted(scores, key=lambda key: (-scores[key], key))[:limit]

    return ask


def _member_texts(view: View) -> dict[str, str]:
    """Return each type's and each member's names and description."""
    found = {}
    for owner in view.members:
        for member, argument, _, description in view.index.texts(owner):
            if not argument:
                found[f"{owner}.{member}" if member else owner] = f"{owner} {member} {description}"
    return found


def _type_texts(view: View) -> dict[str, str]:
    """Return the text of each type with those of its members; root types are not results."""
    return {
        owner: " ".join([owner, *(f"{member} {text}" for member, _, _, text in view.index.texts(owner))])
        for owner in view.members
        if owner not in view.index.roots.values()
    }


def compiled(sdl: str) -> tuple[View, str, float]:
    """Return the whole view of a schema, a sentence on the size of its stored index, and the share that words add."""
    content = build_index(build_schema(sdl, assume_valid=True))
    _, without = write_index(content)
    digest, stored = write_index(with_words(content, {}))
    added, zipped = len(stored) / len(without) - 1, _zipped(stored) / _zipped(without) - 1
    sizes = f"{len(stored):,} bytes, {added:.1%} more than without the words; compressed {zipped:.1%} more"
    return build_view(read_index(stored, sha256=digest), ()), sizes, added


def _zipped(raw: bytes) -> int:
    return len(gzip.compress(raw, 9, mtime=0))


def _columns(hits: Sequence[tuple[bool, bool]]) -> tuple[list[bool], list[bool]]:
    return [ours for ours, _ in hits], [plain for _, plain in hits]
