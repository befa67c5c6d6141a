"""Every diagnostic of the compiler with a small input, its place and its exact sentence: the texts beside this file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from handler.compiler.codes import CODES
from handler.compiler.error_codes import ERRORS
from tests.compiler.catalogue.entries import CATALOGUE, Entry, found_by_check, print_entries, read_entries
from tests.compiler.catalogue.generated import GENERATED

AREAS = {"graphql_errors": ERRORS, "project_errors": ERRORS, "warnings": CODES.keys() - ERRORS.keys()}
WRITTEN = [entry for area in AREAS for entry in read_entries(area)]
WITHOUT_ENTRY = {
    "duplicate-schema": "schema definitions are merged before graphql-core's rule sees them",
    "invalid-graphql": "the code of rules that later versions of graphql-core add",
}
DIALECT = re.compile(r"(?<!there )\b(is|are) (no|none)\b|\bstands?\b|\bthis is no\b|\b(whom|whoever|whatever)\b")


@pytest.mark.parametrize("entry", [pytest.param(each, id=each.code) for each in (*WRITTEN, *GENERATED)])
def test_files_get_the_sentences_of_the_catalogue(entry: Entry, tmp_path: Path) -> None:
    assert found_by_check(entry, tmp_path) == entry.reports


def test_every_code_has_an_entry() -> None:
    assert {entry.code for entry in (*WRITTEN, *GENERATED)} | WITHOUT_ENTRY.keys() == CODES.keys()


def test_sentences_are_plain_english() -> None:
    lines = [line for entry in (*WRITTEN, *GENERATED) for line in entry.reports]

    assert [line for line in lines if DIALECT.search(line)] == []


@pytest.mark.parametrize("area", AREAS)
def test_area_has_its_own_codes_in_order(area: str) -> None:
    codes = [entry.code for entry in read_entries(area)]

    assert codes == sorted(codes)
    assert set(codes) <= set(AREAS[area])


@pytest.mark.parametrize("area", AREAS)
def test_catalogue_is_written_as_it_is_recorded(area: str) -> None:
    assert print_entries(read_entries(area)) == (CATALOGUE / f"{area}.txt").read_text(encoding="utf-8")
