"""The consent to breaking changes and to openings: an option for each, or an answer at a terminal."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from handler.commands.published.publish_plan import Leftover, PlannedEndpoint
from handler.commands.questions import can_ask, choose
from handler.commands.terminal.console import complain
from handler.text.sentences import some

MAX_NAMED = 20


def may_publish(planned: Sequence[PlannedEndpoint], gone: Sequence[Leftover], options: argparse.Namespace) -> bool:
    """Return whether the changes may be published; complain if one needs a consent that nobody gives."""
    needs = {option: need for option, need in needed_consents(planned, gone) if not getattr(options, option)}
    if not needs:
        return True
    told = " ".join(needs.values())
    if not options.json and can_ask():
        return choose(f"{told} Publish?", ("yes", "no"), default="no") == "yes"
    flags = " ".join(f"--{option.replace('_', '-')}" for option in needs)
    complain(f"{told} {flags} publishes it.")
    return False


def needed_consents(planned: Sequence[PlannedEndpoint], gone: Sequence[Leftover]) -> Iterator[tuple[str, str]]:
    """Yield each option that the changes need, with a sentence on the endpoints."""
    breaking = [*(each.name for each in planned if each.is_breaking), *(each.name for each in gone)]
    if breaking:
        yield "allow_breaking", f"Breaking for callers: {some(breaking, most=MAX_NAMED)}."
    opening = [each.name for each in planned if each.is_opening]
    if opening:
        yield "allow_open", f"Open to everybody, or a new root type: {some(opening, most=MAX_NAMED)}."
