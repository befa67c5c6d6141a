"""Sentences on fields that hiding takes along, with the line that brings them back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from handler.compiler.access.hidden_along import TakenAlong

MAX_GROUPS = 5
MAX_NAMED = 8
"""Of each list of coordinates. ``--json`` has all of them."""


def told_of(groups: Sequence[TakenAlong]) -> Iterator[str]:
    """Two lines for each group, the ones that lose most first."""
    by_losses = sorted(groups, key=lambda group: (-len(group.lost), group))
    for group in by_losses[:MAX_GROUPS]:
        yield f"Hiding {_some(group.guarded)} takes along {_some(group.lost)}, whose inputs have its name. To keep:"
        shown = ", ".join(json.dumps(each) for each in group.show[:MAX_NAMED])
        yield f"  access.show: [{shown}]{_more(group.show)}"
    left = sum(len(group.lost) for group in by_losses[MAX_GROUPS:])
    if left:
        yield f"{left} more fields are taken along: stile check --json lists them as takenAlong."


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:MAX_NAMED]) + _more(names)


def _more(names: Sequence[str]) -> str:
    return f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
