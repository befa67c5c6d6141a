"""The report of a publish: its plan before the writes, and its outcome after them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from handler.commands.published.publication import Publication
from handler.commands.published.publish_consent import MAX_NAMED, needed_consents
from handler.commands.published.publish_plan import Leftover, PlannedEndpoint
from handler.commands.terminal.console import complain, say, show_json, warn
from handler.commands.terminal.exit_codes import DONE, REFUSED
from handler.commands.terminal.json_answer import current_answer
from handler.text.sentences import counted, some

MAX_UNCHANGED = 20
"""The number of unchanged endpoints up to which each has a line."""


class PublishReport:
    """The report of one publish, as lines or as one JSON document."""

    def __init__(
        self,
        planned: Sequence[PlannedEndpoint],
        leftovers: Sequence[Leftover],
        *,
        location: str,
        options: argparse.Namespace,
    ) -> None:
        self._planned = planned
        self._leftovers = leftovers
        self._location = location
        self._options = options

    def tell_plan(self) -> None:
        """Print each endpoint with its differences, and the endpoints that the folder does not have."""
        unchanged = [each for each in self._planned if each.what == "unchanged"]
        for each in self._planned:
            if each.what != "unchanged" or len(unchanged) <= MAX_UNCHANGED:
                for line in each.lines():
                    say(line)
        if len(unchanged) > MAX_UNCHANGED:
            say(f"{len(unchanged)} endpoints: unchanged")
        if self._leftovers:
            names = some([each.name for each in self._leftovers], most=MAX_NAMED)
            end = "to be withdrawn" if self._options.prune else "--prune withdraws what the folder does not have"
            say(f"Published, and not in {self._options.folder.as_posix()}: {names}; {end}")

    def end_unpublished(self) -> int:
        """Report the end of a dry run, or of a publish that nobody allowed."""
        if not self._options.dry_run:
            complain("Nothing was published.")
            return self._end(None, REFUSED)
        needs = needed_consents(self._planned, self._leftovers if self._options.prune else ())
        say(" ".join(["Nothing was published, because of --dry-run.", *(need for _, need in needs)]))
        return self._end(None, DONE)

    def end(self, publication: Publication) -> int:
        """Report the outcome of the writes, and return the exit code."""
        if publication.is_whole:
            say(f"{counted(len(self._planned), 'endpoint')} in {self._location}", "green")
            if publication.withdrawn:
                say(f"Withdrawn: {some(publication.withdrawn, most=MAX_NAMED)}")
        else:
            self._complain_of_rest(publication)
        if any(not head.version for head in publication.stored.values()):
            warn(f"{self._location}: the bucket keeps no versions, and `stile rollback` needs them: turn on versioning")
        return self._end(publication, DONE if publication.is_whole else REFUSED)

    def _complain_of_rest(self, publication: Publication) -> None:
        complain(f"Stored: {some(self._stored(publication), most=MAX_NAMED) or 'nothing'}.")
        if publication.unconfirmed:
            complain(f"Stored or not, without an answer: {some(publication.unconfirmed, most=MAX_NAMED)}.")
        left = self._not_stored(publication)
        if left:
            complain(f"Not stored (unchanged): {some(left, most=MAX_NAMED)}. Run the command again.")
        if publication.withdrawn:
            complain(f"Withdrawn: {some(publication.withdrawn, most=MAX_NAMED)}.")
        served = [each.name for each in self._leftovers if each.name not in publication.withdrawn]
        if served and self._options.prune:
            complain(f"Not known to be withdrawn: {some(served, most=MAX_NAMED)}. Run the command again.")

    def _stored(self, publication: Publication) -> list[str]:
        return [each.name for each in self._planned if each.name in publication.stored]

    def _not_stored(self, publication: Publication | None) -> list[str]:
        chosen = [each.name for each in self._planned if self._options.force or each.what != "unchanged"]
        if publication is None:
            return chosen
        return [name for name in chosen if name not in publication.stored and name not in publication.unconfirmed]

    def _end(self, publication: Publication | None, code: int) -> int:
        answer = current_answer()
        if answer and self._options.json:
            told: dict[str, Any] = {
                "location": self._options.destination,
                "dryRun": self._options.dry_run,
                "endpoints": [each.plain() for each in self._planned],
                "stored": self._stored(publication) if publication else [],
                "notStored": self._not_stored(publication),
                "unconfirmed": publication.unconfirmed if publication else [],
                "notInFolder": [each.name for each in self._leftovers],
                "withdrawn": publication.withdrawn if publication else [],
                "warnings": answer.warnings,
            }
            show_json({**told, **({"error": answer.error(code)} if code else {})})
        return code
