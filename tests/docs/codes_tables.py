"""The tables of ``docs/reference/codes.md``, made from the compiler's codes.

``python -m tests.docs.codes_tables`` (``make reference``) writes them anew.
"""

from __future__ import annotations

import re

from handler.compiler.checks import CHECKS, CLIENT_CHECKS
from handler.compiler.codes import CODES
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "reference" / "codes.md"
TABLE = re.compile(r"(^## (Errors|Warnings)\n\n\| code .*\n\| ---.*\n)(?:\|.*\n)*", re.MULTILINE)


def with_tables(text: str) -> str:
    """Return the page's text with both tables as the code has them."""
    assert CODES.keys() >= {check.code for check in (*CHECKS, *CLIENT_CHECKS)}
    return TABLE.sub(_table, text)


def _table(found: re.Match[str]) -> str:
    rows = [
        f"| `{name}` | {code.meaning} | {code.remedy} |\n"
        for name, code in sorted(CODES.items())
        if code.is_warning == (found[2] == "Warnings")
    ]
    return found[1] + "".join(rows)


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
