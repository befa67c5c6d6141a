"""How to get Stile, in README.md and docs/install.md: from a clone until the name on the index is the project's.

`name-is-reserved` in pyproject.toml decides, and docs/owner.md says when it changes. ``python -m
tests.docs.install_lines`` (``make reference``) writes the lines anew.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping

from tests.conftest import ROOT

LINES: Mapping[str, tuple[re.Pattern[str], str, str]] = {
    "README.md": (
        re.compile(r"^- \*\*Get it\*\* .*$", re.MULTILINE),
        "- **Get it** by a clone of this repository: [install](docs/install.md). `stile` on PyPI is another project.",
        "- **Get it** as `stile-mcp` from PyPI, or by a clone: [install](docs/install.md). `uvx stile-mcp` runs it.",
    ),
    "docs/install.md": (
        re.compile(r"(?<=<!-- how to get it -->\n).*?(?=<!-- end -->)", re.DOTALL),
        """\
Stile is installed from a clone of this repository, as `stile-mcp`. There is no release yet: `stile` on PyPI is another
project, so install from a path and never by name.
""",
        """\
Stile is on PyPI as `stile-mcp`; `stile` is another project there. `uvx` runs a command without an installation: where a
page says `stile`, write `uvx stile-mcp`.

```text
uvx stile-mcp init shop/products --from https://api.example.com/graphql
pipx install stile-mcp
```
""",
    ),
}
"""Each page, with the place of the lines, and the lines before and after the name is reserved."""


def name_is_reserved() -> bool:
    """Return whether the name on the index is the project's."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    return project["tool"]["stile"]["name-is-reserved"] is True


def with_lines(page: str, text: str, *, reserved: bool) -> str:
    """Return a page's text with the lines for a name that is reserved or not."""
    place, before, after = LINES[page]
    made, count = place.subn((after if reserved else before).replace("\\", r"\\"), text)
    assert count == 1, f"{page} has {count} places for the lines on how to get Stile"
    return made


if __name__ == "__main__":
    for page in LINES:
        file = ROOT / page
        made = with_lines(page, file.read_text("utf-8"), reserved=name_is_reserved())
        file.write_text(made, encoding="utf-8")
