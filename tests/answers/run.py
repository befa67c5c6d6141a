"""Cut random answers, and judge each cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

from jsonschema import Draft202012Validator

from handler.answers.fit import CallForm, ResultLimit, fit
from handler.errors.upstream import ResultTooLarge
from handler.strict_json import to_well_formed_json
from tests.answers.cases import Case, Source
from tests.answers.judge import faults_of
from tests.answers.small import PLAN, most_rows, rows_in, small_answer


@dataclass(slots=True)
class Tally:
    """The number of cases of each outcome, and the faults."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def run_cases(sources: Sequence[Source], cases: int, *, seed: int) -> Tally:
    """Cut as many answers, of each source in turn."""
    tally, random = Tally(), Random(seed)
    streams = [source.cases(random) for source in sources]
    for number in range(cases):
        case = next(streams[number % len(streams)])
        for sentence in judged(case, random, tally.counts):
            tally.faults.append(f"case {number}: {sentence}\n  {case.text}")
    return tally


def judged(case: Case, random: Random, counts: Counter[str]) -> Iterator[str]:
    """Yield everything that is wrong with the cut of one answer."""
    size = len(to_well_formed_json(case.answer))
    max_bytes = max(600, int(size * random.uniform(0.05, 1)))
    if size <= max_bytes:
        counts["small enough"] += 1
        return
    before = to_well_formed_json(case.answer)
    limit = ResultLimit(max_bytes=max_bytes, form=case.form, size=random.choice([0, size]))
    try:
        found = fit(case.answer, case.plan, limit)
    except ResultTooLarge as exc:
        counts["too large to be cut"] += 1
        if len(str(exc)) > 1_000:
            yield f"a sentence of {len(str(exc))} characters"
        return
    counts["cut"] += 1
    if to_well_formed_json(case.answer) != before:
        yield "the API's answer was changed"
    if found.text != to_well_formed_json(found.answer) or len(found.text) > max_bytes:
        yield f"{len(found.text)} bytes of {max_bytes}"
    if fit(case.answer, case.plan, limit).text != found.text:
        yield "cut in another way the second time"
    faults = faults_of(case.answer, found.answer, backward=case.backward)
    if faults and "last:" in case.text:  # another list of the document may be read from the other end
        faults = faults_of(case.answer, found.answer, backward=not case.backward)
    yield from faults
    error = next(Draft202012Validator(case.schema).iter_errors(found.answer), None)
    if error is not None:
        yield f"violates its output schema: {error.message:.200}"


LEAST_SHARE = 0.95
"""Of the rows that the best cuts of small answers keep."""


def kept_share(answers: int, *, seed: int) -> float:
    """Return the kept share of the rows that the best cuts of small answers keep."""
    random, kept, best = Random(seed), 0, 0
    for _ in range(answers):
        data = small_answer(random)
        size = len(to_well_formed_json({"data": data}))
        max_bytes = random.randint(5_000, max(5_001, size - 1))
        if size > max_bytes:
            best += most_rows(data, max_bytes=max_bytes)
            with suppress(ResultTooLarge):
                limit = ResultLimit(max_bytes=max_bytes, form=CallForm(variables={}))
                kept += rows_in(fit({"data": data}, PLAN, limit).answer["data"])
    return kept / best
