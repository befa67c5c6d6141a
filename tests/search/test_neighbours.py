from __future__ import annotations

from handler.search.schema_search import with_neighbours

SHARES = [{"Order": 0.5, "Log": 0.2, "Plan": 0.2}, {"Buyer": 0.3}]
NEXT_TO = {"Order": ("Log", "Plan", "Line"), "Log": ("Order",), "Plan": ("Order", "Buyer"), "Buyer": ("Plan",)}


def scores(**with_fields: float) -> dict[str, float]:
    types = {name: share for shares in SHARES for name, share in shares.items()}
    return with_neighbours(types, shares=SHARES, next_to=NEXT_TO.__getitem__, with_fields=with_fields)


def test_a_type_comes_forward_with_the_words_that_the_types_next_to_it_have() -> None:
    found = scores()

    assert found["Order"] > found["Plan"] > found["Log"] > 0.2


def test_only_types_with_fields_come_forward_without_a_word() -> None:
    assert "Line" not in scores()
    assert scores(Line=0.5)["Line"] == 0.5 * scores(Line=1.0)["Line"] < scores()["Log"]
