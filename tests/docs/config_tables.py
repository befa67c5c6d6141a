"""The tables of ``docs/reference/config.md``, made from the compiler's table of keys.

``python -m tests.docs.config_tables`` (``make reference``) writes them anew. A table stands between a comment that
names its top keys and ``<!-- end -->``.
"""

from __future__ import annotations

import re

from handler.compiler.config.table import KEYS
from handler.compiler.source.keys import rows
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "reference" / "config.md"
TABLE = re.compile(r"<!-- keys: (.*?) -->\n.*?<!-- end -->", re.DOTALL)


def with_tables(text: str) -> str:
    """Return the page's text with all tables as the code has them."""
    return TABLE.sub(_table, text)


def _table(found: re.Match[str]) -> str:
    tops = found[1].split()
    lines = [f"<!-- keys: {found[1]} -->", "| key | type | default | meaning |", "| --- | --- | --- | --- |"]
    lines += [
        "| " + " | ".join(cell.replace("|", "\\|") for cell in (f"`{path}`", key.form, key.missing, key.meaning)) + " |"
        for top in tops
        for path, key in rows({top: KEYS[top]})
    ]
    return "\n".join([*lines, "<!-- end -->"])


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
