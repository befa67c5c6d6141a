"""The page of codes has every code of the compiler with its meaning and its remedy, and no other."""

from __future__ import annotations

import pytest

from handler.compiler.codes import CODES
from tests.docs.reference import page


@pytest.mark.parametrize(("heading", "are_warnings"), [("## Errors", False), ("## Warnings", True)])
def test_codes_of_the_page_are_those_of_the_compiler(heading: str, are_warnings: bool) -> None:
    written = [line for line in page("reference/codes").section(heading).splitlines() if line.startswith("| `")]

    assert written == [
        f"| `{name}` | {code.meaning} | {code.remedy} |".replace("\n", " ")
        for name, code in sorted(CODES.items())
        if code.is_warning == are_warnings
    ]
