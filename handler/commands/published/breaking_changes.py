"""The consent to a breaking change: an option, or an answer at a terminal."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from handler.commands.published.publish_plan import Leftover, PlannedEndpoint
from handler.commands.questions import can_ask, choose
from handler.commands.terminal.console import complain
from handler.text.sentences import some

MAX_NAMED = 20


def may_break(planned: Sequence[PlannedEndpoint], gone: Sequence[Leftover], options: argparse.Namespace) -> bool:
    """Tell if the changes may be published; complain if they are breaking, and nobody agrees."""
    names = breaking_names(planned, gone)
    if not names or options.allow_breaking:
        return True
    told = f"Breaking for callers: {some(names, most=MAX_NAMED)}."
    if not options.json and can_ask():
        return choose(f"{told} Publish?", ("yes", "no"), default="no") == "yes"
    complain(f"{told} --allow-breaking publishes it.")
    return False


def breaking_names(planned: Sequence[PlannedEndpoint], gone: Sequence[Leftover]) -> list[str]:
    """Return the endpoints of which callers may lose something, and those that are withdrawn."""
    return [each.name for each in planned if each.is_breaking] + [each.name for each in gone]
