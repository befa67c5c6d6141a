"""The endpoint folders below tests/projects, and what is expected of each, which lies next to it.

``python -m tests.support.projects`` writes down what they give now, to be read before it is committed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from handler.compiler.compile import compile_endpoint
from tests.support.local_entries import local_entries

PROJECTS = Path(__file__).resolve().parents[1] / "projects"
FOLDERS = sorted(folder for folder in PROJECTS.iterdir() if folder.is_dir())


def expected(folder: Path) -> Path:
    return PROJECTS / f"{folder.name}.json"


def given(folder: Path) -> dict[str, Any]:
    """What a folder becomes: its name, its warnings, and what ``tools/list`` shows to somebody with a key.

    ``anonymous`` are the tools that callers without a credential are listed; ``None``: they are challenged.
    """
    made = compile_endpoint(folder)
    let_in = made.bundle.access.anonymous == "allow"
    return {
        "endpoint": made.bundle.endpoint,
        "upstream": made.bundle.upstream.url,
        "anonymous": [tool["name"] for tool in local_entries(made, unrestricted=False)] if let_in else None,
        "warnings": [str(warning) for warning in made.warnings],
        "tools": local_entries(made),
    }


if __name__ == "__main__":
    for each in FOLDERS:
        expected(each).write_text(json.dumps(given(each), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
