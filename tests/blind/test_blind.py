"""A slice of ``make attack-hiding``: a blind search finds every field that is not hidden, and nothing hidden."""

from __future__ import annotations

import pytest

from tests.blind.__main__ import HIDDEN, run
from tests.blind.attacker import probes_of
from tests.blind.styles import STYLES

FIELDS = 3
"""The hidden fields that are looked for where they are not hidden."""


@pytest.mark.parametrize("style", STYLES)
def test_attacker_recovers_fields_that_are_shown_and_none_that_is_hidden(style: str) -> None:
    result = run(style, probes=50, documents=10, fields=FIELDS)

    assert len(result.without.recovered) == FIELDS
    assert result.told == []
    assert result.view.accepted > 0


@pytest.mark.parametrize("style", STYLES)
def test_each_hidden_field_can_be_compared_sorted_by_and_reached_through_links(style: str) -> None:
    api = STYLES[style]()
    probes = list(probes_of(api))
    hidden = [f"{name}.{each}" for name, entity in api.entities.items() for each in entity.hidden]

    assert len(hidden) == HIDDEN
    for coordinate in hidden:
        about = [probe for probe in probes if probe.about(coordinate)]
        assert {probe.kind for probe in about} == {"compare", "order"}, coordinate
        assert any(api.roots[probe.root].written for probe in about), coordinate


@pytest.mark.parametrize("style", ["relay", "vendure", "postgraphile"])
def test_default_alone_tells_the_order_where_nothing_is_hidden(style: str) -> None:
    result = run(style, probes=0, documents=0, fields=0)

    assert any("Books" in text or "Products" in text or "Employees" in text for text in result.without.told)
