from __future__ import annotations

import pytest

from handler.compiler.naming import joined, speaks_of, words_of


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
def test_input_speaks_of_a_field_when_its_words_stand_in_it(name: str) -> None:
    assert speaks_of(name, joined("taxId"))
    assert speaks_of(name, joined("tax_id"))


@pytest.mark.parametrize("name", ["tax", "id", "taxCountryId", "idTax", "syntaxId", "taxIdle", "_", "pretax_id"])
def test_other_names_do_not(name: str) -> None:
    assert not speaks_of(name, joined("taxId"))


def test_name_without_words_is_its_own() -> None:
    assert speaks_of("__", "__")
    assert not speaks_of("salary", joined("_"))
