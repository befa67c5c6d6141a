"""The second and third lists of mistakes of first use: messages that were mended stay so, and no message gets worse.

`python -m tests.first_use --list second` prints the messages. Whoever mends one takes its fault from the list.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.first_use.judging import Mistake, judged, verdict_of
from tests.first_use.mistakes import MISTAKES
from tests.first_use.second import SECOND
from tests.first_use.third import THIRD
from tests.first_use.workshop import opened


@pytest.mark.parametrize("mistake", [*SECOND, *THIRD], ids=lambda each: f"{each.number}: {each.title}")
def test_message_has_no_fault_but_those_of_the_list(mistake: Mistake, tmp_path: Path) -> None:
    with opened(tmp_path / "shop") as shop:
        printed = mistake.make(shop)
        verdict = judged(mistake, printed, shop)

    assert printed.strip()
    assert verdict.faults <= mistake.faults, verdict.message


@pytest.mark.parametrize(("mistakes", "count"), [(SECOND, 60), (THIRD, 15)])
def test_each_mistake_has_its_number(mistakes: Sequence[Mistake], count: int) -> None:
    assert [mistake.number for mistake in mistakes] == list(range(1, count + 1))


def test_no_mistake_is_in_two_lists() -> None:
    titles = [mistake.title for mistake in (*MISTAKES, *SECOND, *THIRD)]
    assert len(set(titles)) == len(titles)


def test_no_criterion_is_met_by_silence_or_by_an_endpoint_without_mistakes(tmp_path: Path) -> None:
    with opened(tmp_path / "shop") as shop:
        table = shop.stile("check", "endpoints")
        called = shop.stile("call", "endpoints", "card", "id=1", "--as", "anonymous")
    for mistake in (*SECOND, *THIRD):
        for message in ("", table, called):
            verdict = verdict_of(mistake, message, is_placed=False)
            assert not verdict.cause, mistake.title
            assert not verdict.remedy, mistake.title
