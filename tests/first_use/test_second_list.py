"""The second list of mistakes of first use: messages that were mended stay so, and no message gets worse.

`python -m tests.first_use --list second` prints the messages. Whoever mends one takes its fault from the list.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.first_use.judging import Mistake, judged, verdict_of
from tests.first_use.mistakes import MISTAKES
from tests.first_use.second import SECOND
from tests.first_use.workshop import opened


@pytest.mark.parametrize("mistake", SECOND, ids=lambda each: f"{each.number}: {each.title}")
def test_message_has_no_fault_but_those_of_the_list(mistake: Mistake, tmp_path: Path) -> None:
    with opened(tmp_path / "shop") as shop:
        printed = mistake.make(shop)
        verdict = judged(mistake, printed, shop)

    assert printed.strip()
    assert verdict.faults <= mistake.faults, verdict.message


def test_there_are_60_mistakes_each_with_its_number() -> None:
    assert [mistake.number for mistake in SECOND] == list(range(1, 61))


def test_no_mistake_is_in_both_lists() -> None:
    assert not {mistake.title for mistake in SECOND} & {mistake.title for mistake in MISTAKES}


def test_no_criterion_is_met_by_silence_or_by_an_endpoint_without_mistakes(tmp_path: Path) -> None:
    with opened(tmp_path / "shop") as shop:
        table = shop.stile("check", "endpoints")
        called = shop.stile("call", "endpoints", "card", "id=1", "--as", "anonymous")
    for mistake in SECOND:
        for message in ("", table, called):
            verdict = verdict_of(mistake, message, is_placed=False)
            assert not verdict.cause, mistake.title
            assert not verdict.remedy, mistake.title
