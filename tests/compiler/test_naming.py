from __future__ import annotations

import pytest

from handler.compiler.naming import joined, mentions, words_of


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("salaryGt", ["salary", "gt"]),
        ("salary_gt", ["salary", "gt"]),
        ("SALARY_ASC", ["salary", "asc"]),
        ("bySalary", ["by", "salary"]),
        ("SSNGt", ["ssn", "gt"]),
        ("taxID", ["tax", "id"]),
        ("address2Line", ["address", "2", "line"]),
        ("_and", ["and"]),
        ("_", []),
    ],
)
def test_names_are_taken_apart_into_words(name: str, words: list[str]) -> None:
    assert words_of(name) == words


@pytest.mark.parametrize(
    "name",
    [
        "taxId",
        "tax_id",
        "TAX_ID",
        "taxID",
        "taxIdIn",
        "byTaxId",
        "TAX_ID_DESC",
        "where_tax_id_eq",
        "TAXID_ASC",
        "taxid",
    ],
)
def test_name_mentions_a_field_when_its_words_stand_in_it(name: str) -> None:
    assert list(mentions(name, joined("taxId")))
    assert list(mentions(name, joined("tax_id")))


@pytest.mark.parametrize("name", ["tax", "id", "taxCountryId", "idTax", "syntaxId", "taxIdle", "_", "pretax_id"])
def test_other_names_do_not(name: str) -> None:
    assert not list(mentions(name, joined("taxId")))


@pytest.mark.parametrize(
    ("name", "field", "around"),
    [
        ("id", "id", [([], [])]),
        ("primarySubjectId", "id", [(["primary", "subject"], [])]),
        ("id_of_ID_gt", "id", [([], ["of", "id", "gt"]), (["id", "of"], ["gt"])]),
        ("byTaxIdIn", "taxid", [(["by"], ["in"])]),
    ],
)
def test_mention_has_the_words_around_it(name: str, field: str, around: list[tuple[list[str], list[str]]]) -> None:
    assert list(mentions(name, field)) == around


def test_name_without_words_is_its_own() -> None:
    assert list(mentions("__", "__")) == [([], [])]
    assert not list(mentions("salary", joined("_")))
