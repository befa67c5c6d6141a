"""The cache that lets the entries go that are unused for longest."""

from __future__ import annotations

from dataclasses import dataclass

from handler.lru import Lru


@dataclass
class Entry:
    cost_bytes: int


def cost_of(entry: Entry) -> int:
    return entry.cost_bytes


def test_entries_that_fit_stay() -> None:
    lru: Lru[str, Entry] = Lru(max_bytes=10, cost_of=cost_of)
    for key in "ab":
        lru.put(key, Entry(5))

    assert (len(lru), lru.cost_bytes) == (2, 10)


def test_one_unused_for_longest_goes_first() -> None:
    lru: Lru[str, Entry] = Lru(max_bytes=10, cost_of=cost_of)
    for key in "ab":
        lru.put(key, Entry(5))
    lru.use("a")
    lru.put("c", Entry(1))

    assert [lru.peek(key) is not None for key in "abc"] == [True, False, True]
    assert lru.cost_bytes == 6


def test_newest_stays_however_large_it_is() -> None:
    lru: Lru[str, Entry] = Lru(max_bytes=10, cost_of=cost_of)
    lru.put("a", Entry(1))
    lru.put("b", Entry(100))

    assert (lru.peek("a"), lru.peek("b")) == (None, Entry(100))


def test_entry_that_grew_with_its_use_is_counted_again() -> None:
    lru: Lru[str, Entry] = Lru(max_bytes=10, cost_of=cost_of)
    growing = Entry(2)
    lru.put("a", Entry(2))
    lru.put("b", growing)
    lru.use("b")
    growing.cost_bytes = 9
    lru.fit()

    assert (lru.peek("a"), lru.cost_bytes) == (None, 9)


def test_entry_that_is_replaced_counts_once_and_a_dropped_one_not_at_all() -> None:
    lru: Lru[str, Entry] = Lru(max_bytes=10, cost_of=cost_of)
    lru.put("a", Entry(5))
    lru.put("a", Entry(7))
    assert lru.cost_bytes == 7
    lru.drop("a")
    lru.drop("a")

    assert (len(lru), lru.cost_bytes, lru.use("a")) == (0, 0, None)


def test_entries_above_their_number_go_and_are_told() -> None:
    lru: Lru[str, int | None] = Lru(most=2)

    assert [lru.put(key, number) for number, key in enumerate("ab")] == [[], []]
    assert lru.use("a") == 0
    assert lru.put("c", None) == [1]
    assert (list(lru), lru.values(), "c" in lru) == (["a", "c"], [0, None], True)


def test_entry_is_made_once_while_it_is_held() -> None:
    lru: Lru[str, int] = Lru(most=1)
    made = iter(range(10))

    assert [lru.use_or_make(key, lambda: next(made)) for key in "aabba"] == [0, 0, 1, 1, 2]
    assert (lru.drop("a"), lru.drop("a"), len(lru)) == (2, None, 0)


def test_cleared_cache_costs_nothing() -> None:
    lru: Lru[str, Entry] = Lru(max_bytes=10, cost_of=cost_of)
    lru.put("a", Entry(7))
    lru.clear()

    assert (len(lru), lru.cost_bytes) == (0, 0)
