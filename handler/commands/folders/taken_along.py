"""The sentences on fields that hiding takes along, with the configuration line that restores them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from handler.compiler.access.propagation import TakenAlong
from handler.text.sentences import some

MAX_GROUPS = 5
MAX_NAMED = 8
"""The limit of each printed list of coordinates. ``--json`` has all coordinates."""


def told_of(groups: Sequence[TakenAlong]) -> Iterator[str]:
    """Yield two lines for each of the first ``MAX_GROUPS`` groups, largest losses first, and a line on the rest."""
    by_losses = sorted(groups, key=lambda group: (-len(group.lost), group))
    for group in by_losses[:MAX_GROUPS]:
        guarded, lost = some(group.guarded, most=MAX_NAMED), some(group.lost, most=MAX_NAMED)
        yield f"Hiding {guarded} also hides {lost}, because their inputs contain its name. To keep them:"
        more = f" and {len(group.show) - MAX_NAMED} more" if len(group.show) > MAX_NAMED else ""
        yield f"  access.show: {json.dumps(group.show[:MAX_NAMED])}{more}"
    left = sum(len(group.lost) for group in by_losses[MAX_GROUPS:])
    if left:
        yield f"{left} more fields are hidden with others: stile check --json lists them as takenAlong."
