"""Checks of the fuzzed parsers hold for their seeds, and for small changes of these, without atheris."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from handler.bundle.stored import write_bundle
from tests.bundle.test_model import EMPTY, HANDMADE, read
from tests.fuzz_parsers.__main__ import NAMES
from tests.fuzz_parsers.targets import TARGETS
from tests.support.examples import examples

SEEDS = [(name, seed) for name, target in TARGETS.items() for seed in target.seeds]


def test_every_parser_has_a_process() -> None:
    assert set(NAMES) == set(TARGETS)


def test_seeds_pass_the_checks() -> None:
    for name, seed in SEEDS:
        TARGETS[name].check(seed)


def test_seeds_of_bundles_are_whole_bundles() -> None:
    for bundle, seed in zip((HANDMADE, EMPTY), TARGETS["bundle"].seeds[:2], strict=True):
        assert b',"content":' + seed + b"}" in write_bundle(bundle)
    assert read(TARGETS["bundle"].seeds[2]).tools


@settings(max_examples=examples(400), deadline=None)
@given(seed=st.sampled_from(SEEDS), at=st.floats(0, 1), cut=st.integers(0, 9), put=st.binary(max_size=9))
def test_seeds_that_are_changed_at_one_place_pass_the_checks(
    seed: tuple[str, bytes], at: float, cut: int, put: bytes
) -> None:
    name, data = seed
    place = int(at * len(data))
    TARGETS[name].check(data[:place] + put + data[place + cut :])
