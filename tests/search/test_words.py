from __future__ import annotations

import pytest

from handler.search.stems import doers, stem
from handler.search.words import Vocabulary, split


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("PullRequestURLs", ["pull", "request", "urls"]),
        ("CVSSScore", ["cvss", "score"]),
        ("snake_case-name", ["snake", "case", "name"]),
        ("oauth2Token", ["oauth", "2", "token"]),
        ("Größe Éclair", ["grosse", "eclair"]),
        ("заказ", ["заказ"]),
        ("注文一覧", ["注文", "文一", "一覧"]),
        ("order注文id", ["order", "注文", "id"]),
        ("\x00 \x1b[31m ?!…", ["31", "m"]),
        ("ﷺ ⑴ ℀ ½", ["صلى", "الله", "عليه", "وسلم", "1", "1", "2"]),
        ("", []),
    ],
)
def test_text_is_split_at_case_digits_and_underscores(text: str, words: list[str]) -> None:
    assert list(split(text)) == words


@pytest.mark.parametrize(
    "forms",
    [
        ("merge", "merges", "merged", "merging"),
        ("repository", "repositories"),
        ("status", "statuses"),
        ("ship", "shipped", "shipping"),
        ("person", "people"),
        ("write", "wrote", "written"),
        ("address", "addresses"),
        ("subscribe", "subscribed", "subscriptions"),
        ("verify", "verified", "verification"),
        ("resolve", "resolved", "resolutions"),
        ("create", "created", "creation"),
        ("organize", "organization", "organisations"),
        ("sell", "sold", "sales"),
    ],
)
def test_forms_of_a_word_have_one_stem(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [("customer", "custom"), ("news", "new"), ("authorization", "author"), ("organization", "organ")],
)
def test_words_that_only_look_alike_have_two_stems(one: str, other: str) -> None:
    assert stem(one) != stem(other)
    assert stem(f"{one}s") == stem(one) or one == "news"


@pytest.mark.parametrize(
    ("verb", "noun"),
    [
        ("won", "winners"),
        ("owns", "owner"),
        ("directed", "director"),
        ("assigned", "assignees"),
        ("employed", "employee"),
        ("plays", "player"),
        ("supplied", "supplier"),
        ("drives", "driver"),
    ],
)
def test_doers_of_a_verb_are_known(verb: str, noun: str) -> None:
    assert stem(noun) in {stem(verb), *doers(stem(verb))}


@pytest.mark.parametrize(("verb", "noun"), [("plan", "plane"), ("us", "user"), ("7", "7er"), ("заказ", "заказer")])
def test_other_words_have_no_doers(verb: str, noun: str) -> None:
    assert stem(noun) not in doers(stem(verb))


def test_a_question_of_stop_words_alone_is_asked_with_them() -> None:
    assert Vocabulary().asked("who is it") == ["who", "is", "it"]
    assert Vocabulary().asked("who is the owner") == ["owner"]


def test_synonyms_are_found_in_each_form_and_spelling_of_their_word() -> None:
    given = {"Turnover": ["revenue"], "Umsätze": ["revenue"], "invoice": ["bill"], "invoices": ["receipt", "bills"]}
    vocabulary = Vocabulary(synonyms=given)

    assert [vocabulary.synonyms(word) for word in vocabulary.asked("turnover umsätze invoices")] == [
        ("revenu",),
        ("revenu",),
        ("bill", "receipt"),
    ]
