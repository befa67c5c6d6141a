"""The alternatives of a regular expression, held against a matcher that knows which alternatives a name takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from handler.compiler.schema.name_patterns import Alternative, matcher_of, pattern_alternatives, untaken
from handler.errors.authoring import PatternRefused

NAMES = ["".join(letters) for length in range(1, 5) for letters in product("abC", repeat=length)]


def patterns(expression: str) -> list[tuple[str, str]]:
    """The text and the pattern of every alternative, outer ones first."""
    found = pattern_alternatives(expression)
    for each in found:
        found += each.inside()
    return [(each.text, each.pattern) for each in found]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("salary", [("salary", "salary")]),
        ("salary|ssn", [("salary", "salary"), ("ssn", "ssn")]),
        ("^salary$|^ssn$", [("^salary$", "^salary$"), ("^ssn$", "^ssn$")]),
        (
            "(gross|net)Pay|ssn",
            [
                ("(gross|net)Pay", "(gross|net)Pay"),
                ("ssn", "ssn"),
                ("gross", "(gross)Pay"),
                ("net", "(net)Pay"),
            ],
        ),
        ("a(b(c|d)|e)f", [*[("a(b(c|d)|e)f",) * 2], ("b(c|d)", "a(b(c|d))f"), ("e", "a(e)f"), *[("c", "a(b(c))f")]]),
        ("(?:a|b)?c", [("(?:a|b)?c",) * 2, ("a", "(?:a)c"), ("b", "(?:b)c")]),
        ("(a|b)+", [("(a|b)+",) * 2, ("a", "(a|b)*(a)(a|b)*"), ("b", "(a|b)*(b)(a|b)*")]),
        ("((a|b))", [("((a|b))",) * 2, ("a", "((a))"), ("b", "((b))")]),
        ("a|(?i)b|c", [("a", "a"), ("(?i)b", "(?i)b"), ("c", "(?i)c")]),
        ("(?i:a|b)", [("(?i:a|b)",) * 2, ("a", "(?i:a)"), ("b", "(?i:b)")]),
        ("(?P<n>a|b)", [("(?:a|b)",) * 2, ("a", "(?:a)"), ("b", "(?:b)")]),
        ("[a|b]", [("[a|b]",) * 2]),
        ("[]|]|a", [("[]|]", "[]|]"), ("a", "a")]),
        ("[^]|]", [("[^]|]",) * 2]),
        ("[[:alpha:]|]|a", [("[[:alpha:]|]", "[[:alpha:]|]"), ("a", "a")]),
        (r"[\]|]", [(r"[\]|]",) * 2]),
        (r"a\|b", [(r"a\|b",) * 2]),
        (r"a\(b|c", [(r"a\(b", r"a\(b"), ("c", "c")]),
        (r"\Qa|b\E|c", [(r"a\|b", r"a\|b"), ("c", "c")]),
        (r"a|\Qb|c", [("a", "a"), (r"b\|c", r"b\|c")]),
        (r"\p{L}|\x{41}", [(r"\p{L}", r"\p{L}"), (r"\x{41}", r"\x{41}")]),
    ],
)
def test_expression_is_split_at_its_bars(expression: str, expected: list[tuple[str, str]]) -> None:
    matcher_of(expression)

    assert patterns(expression)[: len(expected)] == expected
    assert len(patterns(expression)) in (len(expected), len(expected) + ("(c|d)" in expression))


@pytest.mark.parametrize(
    ("expression", "names", "expected"),
    [
        ("salery|payslips", {"payslips"}, ["salery"]),
        ("salary|payslips", {"salary", "payslips"}, []),
        ("sal.*|salary", {"salary"}, []),  # a name may take several
        ("(gross|net)(Pay|Salary)", {"grossPay", "netSalary"}, []),
        ("(gross|nett)(Pay|Salary)", {"grossPay", "grossSalary"}, ["nett"]),
        ("(gross|net)Pay|ssn", {"ssn"}, ["(gross|net)Pay"]),  # and not its two alternatives
        ("employee(s|)", {"employees"}, []),  # an empty alternative
        ("employees?", {"employee"}, []),
        ("employee(s|List)?", {"employee", "employees"}, ["List"]),
        ("(a|b)*", {"ab"}, []),
        ("(a|b|c)*", {"ab"}, ["c"]),
        ("(a|b){2}", {"ab"}, []),
        ("((a|b)c){1,2}", {"acbc"}, []),
        ("(?i)SALARY|SSN", {"salary", "ssn"}, []),
        ("x|(?i)SALARY|SSN", {"x", "salary", "ssn"}, []),
        ("(?P<n>a|b)+", {"ab"}, []),
        (r"\bsalary\b|^ssn$", {"salary", "ssn"}, []),
    ],
)
def test_alternative_that_no_name_takes_is_found(expression: str, names: set[str], expected: list[str]) -> None:
    assert [each.text for each in untaken(expression, names)] == expected


def test_expression_with_too_many_alternatives_to_judge_is_refused() -> None:
    many = "|".join(f"a{n}" for n in range(1500))

    with pytest.raises(PatternRefused, match="several patterns"):
        list(untaken(f"({many})({many})", {"a1a1"}))


def test_many_alternatives_at_the_top_are_judged() -> None:
    names = {f"a{n}" for n in range(5000)}

    assert list(untaken("|".join(sorted(names)), names)) == []


def test_deep_groups_are_judged() -> None:
    assert [each.text for each in untaken("(" * 900 + "a|b" + ")" * 900, {"a"})] == ["b"]


@dataclass(frozen=True)
class Letter:
    letter: str


@dataclass(frozen=True)
class Group:
    branches: tuple[tuple[Letter | Group, ...], ...]
    quantifier: str


REPEATED = {"": (1, 1), "?": (0, 1), "*": (0, 9), "+": (1, 9), "{2}": (2, 2), "{1,2}": (1, 2)}


def random_group(random: Random, depth: int, quantifiers: list[str]) -> Group:
    def part() -> Letter | Group:
        if depth and random.random() < 0.5:
            return random_group(random, depth - 1, quantifiers)
        return Letter(random.choice(["a", "b", "[ab]", ".", "(?i:c)"]))

    branches = tuple(tuple(part() for _ in range(random.randrange(1, 4))) for _ in range(random.randrange(1, 4)))
    return Group(branches, random.choice(quantifiers))


def written(group: Group) -> str:
    return "|".join("".join(_part(part) for part in branch) for branch in group.branches)


def _part(part: Letter | Group) -> str:
    return part.letter if isinstance(part, Letter) else f"({written(part)}){part.quantifier}"


LETTERS = {"a": "a", "b": "b", "[ab]": "ab", ".": "abC", "(?i:c)": "C"}
Taken = frozenset[tuple[int, int]]
"""The alternatives that a name took: the identity of the group, and the number of the branch."""


def ends(part: Letter | Group, name: str, at: int) -> Iterator[tuple[int, Taken]]:
    """Yield each place where a part may end that begins at ``at``, with the alternatives taken on the way."""
    if isinstance(part, Letter):
        if at < len(name) and name[at] in LETTERS[part.letter]:
            yield at + 1, frozenset()
        return
    least, most = REPEATED[part.quantifier]
    found: set[tuple[int, Taken]] = {(at, frozenset())} if least == 0 else set()
    now: set[tuple[int, Taken]] = {(at, frozenset())}
    for times in range(1, most + 1):
        now = {(end, taken | more) for start, taken in now for end, more in once(part, name, start)}
        if now <= found:
            break
        found |= now if times >= least else set()
    yield from found


def once(group: Group, name: str, at: int) -> Iterator[tuple[int, Taken]]:
    for number, branch in enumerate(group.branches):
        now: set[tuple[int, Taken]] = {(at, frozenset({(id(group), number)}))}
        for part in branch:
            now = {(end, taken | more) for start, taken in now for end, more in ends(part, name, start)}
        yield from now


def in_order(group: Group, found: list[Alternative]) -> Iterator[tuple[tuple[int, int], Alternative]]:
    """Yield the alternatives of a group of the test beside those that the product found."""
    for number, (branch, alternative) in enumerate(zip(group.branches, found, strict=True)):
        yield (id(group), number), alternative
        groups = [part for part in branch if isinstance(part, Group)]
        inside = list(alternative.inside())
        yield from _inner(groups, inside)


def _inner(groups: list[Group], inside: list[Alternative]) -> Iterator[tuple[tuple[int, int], Alternative]]:
    by_text: dict[str, list[Alternative]] = {}
    for each in inside:
        by_text.setdefault(each.text, []).append(each)
    waiting = groups
    while waiting:
        group = waiting.pop(0)
        if len(group.branches) == 1:  # not an alternative: its groups belong to the outer one
            waiting += [part for part in group.branches[0] if isinstance(part, Group)]
            continue
        texts = ["".join(map(_part, branch)) for branch in group.branches]
        # Groups of one text are alike except for their place, which the pattern of the first one has too.
        if all(len(by_text[text]) == 1 for text in texts):
            yield from in_order(group, [by_text[text][0] for text in texts])


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32), quantifiers=st.sampled_from([[""], ["", "?"], ["", "*", "+"], [*REPEATED]]))
def test_name_matches_the_pattern_of_the_alternatives_that_it_takes(seed: int, quantifiers: list[str]) -> None:
    group = random_group(Random(seed), 2, quantifiers)
    expression = written(group)
    whole = matcher_of(expression)
    names = [name for name in NAMES if whole(name)]

    takes = {name: [taken for end, taken in once(group, name, 0) if end == len(name)] for name in NAMES}

    assert names == [name for name in NAMES if takes[name]]
    for key, alternative in in_order(group, pattern_alternatives(expression)):
        matched = {name for name in names if matcher_of(alternative.pattern)(name)}
        taken = {name for name in names if any(key in ways for ways in takes[name])}
        assert matched >= taken
        if "{" not in expression:
            assert matched == taken


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_alternatives_at_the_top_match_together_what_the_expression_matches(seed: int) -> None:
    expression = written(random_group(Random(seed), 2, [*REPEATED]))
    found = [matcher_of(each.pattern) for each in pattern_alternatives(expression)]

    whole = matcher_of(expression)
    assert [name for name in NAMES if whole(name)] == [name for name in NAMES if any(each(name) for each in found)]


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_no_alternative_is_untaken_if_each_has_a_name(seed: int) -> None:
    random = Random(seed)
    group = random_group(random, 2, [*REPEATED])
    derived = [derive(group, random) for _ in range(300)]
    assume({key for _, taken in derived for key in taken} == set(keys(group)))

    assert list(untaken(written(group), {name for name, _ in derived})) == []


def derive(group: Group, random: Random) -> tuple[str, Taken]:
    """A name that matches a group once, and the alternatives that the name takes."""
    number = random.randrange(len(group.branches))
    name, taken = "", frozenset({(id(group), number)})
    for part in group.branches[number]:
        if isinstance(part, Letter):
            name += random.choice(LETTERS[part.letter])
            continue
        least, most = REPEATED[part.quantifier]
        for _ in range(random.randint(least, min(most, 3))):
            below, more = derive(part, random)
            name, taken = name + below, taken | more
    return name, taken


def keys(group: Group) -> Iterator[tuple[int, int]]:
    for number, branch in enumerate(group.branches):
        yield id(group), number
        for part in branch:
            if isinstance(part, Group):
                yield from keys(part)
