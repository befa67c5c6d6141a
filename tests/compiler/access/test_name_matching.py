from __future__ import annotations

import pytest

from handler.compiler.access.name_matching import mentions, readings, spellings


def mentioned(name: str, field: str) -> list[tuple[list[str], list[str]]]:
    """The words, in the singular, before and after each mention of a field."""
    found = [each for each in mentions(name) if not spellings(field).isdisjoint(spellings_of(each.words))]
    return [([word[0] for word in each.before], [word[0] for word in each.after]) for each in found]


def spellings_of(words: tuple[tuple[str, ...], ...]) -> set[str]:
    found = {""}
    for word in words:
        found = {left + stem for left in found for stem in word}
    return found


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("salaryGt", [["salary", "gt"]]),
        ("salary_gt", [["salary", "gt"]]),
        ("SALARY_ASC", [["salary", "asc"]]),
        ("bySalary", [["by", "salary"]]),
        ("SSNGt", [["ssn", "gt"]]),
        ("taxID", [["tax", "id"]]),
        ("address2Line", [["address", "2", "line"]]),
        ("_and", [["and"]]),
        ("_", []),
        ("taxIDGT", [["tax", "idgt"], ["tax", "id", "gt"]]),
        ("taxIDIsNil", [["tax", "id", "is", "nil"], ["tax", "idi", "nil"]]),
        ("SALARYGT", [["salarygt"], ["salary", "gt"]]),
        ("IDLE", [["idle"]]),
        ("SSNs", [["ssn"]]),
    ],
)
def test_names_are_taken_apart_into_words_in_every_way(name: str, words: list[list[str]]) -> None:
    assert [[word[0] for word in read] for read in readings(name)] == words


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
    assert mentioned(name, "taxId")
    assert mentioned(name, "tax_id")


ENTGQL = "GT GTE LT LTE EQ NEQ In NotIn Contains ContainsFold HasPrefix HasSuffix EqualFold IsNil NotNil gt in s sIn"


@pytest.mark.parametrize("field", ["taxID", "SSN", "ssn", "pin", "apiURL", "IBAN"])
@pytest.mark.parametrize("operator", ENTGQL.split())
def test_acronym_is_mentioned_with_any_operator_behind_it(field: str, operator: str) -> None:
    acronym = field if field != field.lower() else field.upper()

    assert mentioned(f"{acronym}{operator}", field)
    assert mentioned(f"not{acronym[0].upper()}{acronym[1:]}{operator}", field)


@pytest.mark.parametrize("name", ["SALARYGT", "SALARYLTE", "SALARYNEQ", "SALARYDESC", "SALARYLIKE", "SALARIESEQ"])
def test_name_in_capitals_is_parted_from_an_operator_that_no_word_ends_in(name: str) -> None:
    assert mentioned(name, "salary")


@pytest.mark.parametrize(
    ("field", "name"),
    [
        ("id", "IDLE"),
        ("log", "LOGIN"),
        ("pho", "PHONE"),
        ("salary", "salarygt"),
        ("id", "identifier"),
        ("ssn", "lesson"),
    ],
)
def test_letters_alone_are_not_a_mention(field: str, name: str) -> None:
    assert not mentioned(name, field)


PLURALS = """
salary salaries;city cities;status statuses;bonus bonusesGt;diagnosis diagnoses;alias aliases;
crisis crises;child children;grandchild grandchildren;movie movies;cookie cookies;calorie calories;
cache caches;niche niches;hero heroes;virus viruses;quiz quizzes;person people;salesperson salespeople;
index indices;index indexes;analysis analyses;criterion criteria;matrix matrices;vertex vertices;
leaf leaves;half halves;wife wives;goose geese;axis axes;axe axes;datum data;medium media;radius radii;
formula formulae;box boxes;bus buses;gas gasses;potato potatoes;woman women;address addresses;key keys;
schema schemata;corpus corpora;genus genera;bureau bureaux;menu menus;sku SKUs;thesis theses;tooth teeth;
die dice;ox oxen;phenomenon phenomena;IPv4 IPv4s;taxId TAXIDS_DESC;apiKey APIKeysIn;
employeeBonus employee_bonuses_in
"""


@pytest.mark.parametrize(("one", "many"), [tuple(pair.split()) for pair in PLURALS.split(";")])
def test_plural_mentions_the_singular_and_the_other_way_round(one: str, many: str) -> None:
    assert mentioned(many, one)
    assert mentioned(one, many.removesuffix("Gt").removesuffix("In").removesuffix("_DESC").removesuffix("_in"))


@pytest.mark.parametrize("name", ["tax", "id", "taxCountryId", "idTax", "syntaxId", "taxIdle", "_", "pretax_id"])
def test_other_names_do_not(name: str) -> None:
    assert not mentioned(name, "taxId")


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
    assert mentioned(name, field) == around


def test_name_without_words_is_its_own() -> None:
    assert mentioned("__", "__") == [([], [])]
    assert not mentioned("salary", "_")


def test_name_of_very_many_words_is_read_within_bounds() -> None:
    name = "statusesIDGT" * 12

    assert len(readings(name)) <= 16
    assert mentioned(name, "status")
