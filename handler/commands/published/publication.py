"""The writes of a publish, several endpoints at a time: the schema index, then the bundle as the plan expects it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from handler.bundle.stored import bundle_key
from handler.commands.published.facts import PublishFacts, read_facts
from handler.commands.published.parallel import Parallel
from handler.commands.published.publish_plan import MANY, Leftover, PlannedEndpoint
from handler.commands.published.withdrawal import withdraw
from handler.commands.terminal.console import ERR, OUT, complain, one_line, track
from handler.commands.terminal.json_answer import current_answer
from handler.commands.terminal.progress import told_if_slow
from handler.errors import StileError
from handler.errors.infrastructure import ObjectChanged, ObjectNotFound, StorageError, WriteUnconfirmed
from handler.storage.publishing import ObjectHead, PublishStorage, holds
from handler.text.sentences import counted

LAST_WAIT_S = 2.0
"""The wait after Ctrl-C for requests that are under way."""


class Publication:
    """The writes of one publish, and their outcome by names of endpoints."""

    def __init__(self, storage: PublishStorage, *, force: bool) -> None:
        self.stored: dict[str, ObjectHead] = {}
        self.unconfirmed: list[str] = []
        self.withdrawn: list[str] = []
        self.is_whole = True  # every write was done
        self._storage = storage
        self._force = force
        self._goes_on = True
        self._settled: set[str] = set()
        self._told: set[str] = set()

    def publish(self, planned: Sequence[PlannedEndpoint], facts: PublishFacts) -> None:
        """Store each endpoint in one step after its schema index, and complain of each that cannot be stored.

        An endpoint that another publisher stored first stays as it is, and the rest goes on. Another failure ends the
        work: what is under way is finished, and nothing else begins.
        """
        begun: list[str] = []

        def store(each: PlannedEndpoint) -> ObjectHead:
            begun.append(each.name)
            if each.index:
                self._store_index(*each.index)
            if each.present and each.what == "repaired" and not self._force:
                return each.present
            expected = each.present.etag if each.present else None
            return self._storage.put(bundle_key(each.name), each.raw, expected=expected, facts=facts.stored())

        told = f"Storing {counted(len(planned), 'endpoint')} in {self._storage.location}"
        try:
            with told_if_slow(told, when=len(planned) > MANY):
                self._do(store, planned)
        except KeyboardInterrupt:  # a second one, or one beside the work
            self._fail("Interrupted.")
        self.unconfirmed += [name for name in begun if name not in self._settled]
        self.is_whole &= not self.unconfirmed

    def withdraw(self, leftovers: Sequence[Leftover], facts: PublishFacts) -> None:
        """Withdraw endpoints, and complain of each that cannot be withdrawn."""
        try:
            for each in leftovers:
                self._withdraw(each, facts)
        except KeyboardInterrupt:
            self._fail("Interrupted.")

    def _withdraw(self, each: Leftover, facts: PublishFacts) -> None:
        try:
            withdraw(self._storage, each.etags, facts)
        except StileError as exc:
            self.is_whole = False
            complain(f"{each.name} is not withdrawn: {self._reason(bundle_key(each.name), exc)}")
        else:
            self.withdrawn.append(each.name)

    def _store_index(self, key: str, body: bytes) -> None:
        """Store a schema index. Its key is its digest, so a stored one is equal, unless it is damaged."""
        if self._force or not (self._storage.add(key, body) or holds(self._storage, key, body)):
            self._storage.write(key, body)

    def _settle(self, each: PlannedEndpoint, outcome: ObjectHead | StileError) -> None:
        self._settled.add(each.name)
        match outcome:
            case ObjectHead():
                self.stored[each.name] = outcome
            case ObjectChanged():
                self.is_whole = False
                complain(f"{each.name} is not stored: {self._reason(bundle_key(each.name), outcome)}")
            case WriteUnconfirmed():
                self.unconfirmed.append(each.name)
                self._fail(str(outcome))
            case _:
                self._fail(str(outcome))

    def _fail(self, sentence: str) -> None:
        """Complain, once of each sentence: the same reason may meet several requests."""
        if sentence not in self._told:
            self._told.add(sentence)
            complain(sentence)
        self.is_whole = self._goes_on = False

    def _do(self, store: Callable[[PlannedEndpoint], ObjectHead], planned: Sequence[PlannedEndpoint]) -> None:
        """Store the endpoints until one fails."""
        running = Parallel(store, planned)
        try:
            shown = track(planned, "Storing", ERR if current_answer() else OUT, name=lambda each: each.name)
            for _, (each, outcome) in zip(shown, running, strict=False):
                self._settle(each, outcome)
                if not self._goes_on:
                    running.stop()
        except KeyboardInterrupt:
            self._fail("Interrupted.")
            for each, outcome in running.finished_within(LAST_WAIT_S):
                self._settle(each, outcome)
        finally:
            running.stop()

    def _reason(self, key: str, error: StileError) -> str:
        """Return the reason of a failed write; for one that met another publisher's, who was faster with what."""
        if not isinstance(error, ObjectChanged):
            return str(error)
        try:
            head = self._storage.head(key)
        except ObjectNotFound:
            return "another publisher has withdrawn it meanwhile. Run the command again"
        except StorageError:
            return "another publisher was faster. Run the command again"
        facts = read_facts(head.facts)
        by = one_line(facts.by) or "another publisher"
        at = one_line(facts.at) or head.modified.strftime("%Y-%m-%dT%H:%M:%SZ")
        version = f", as version {head.version}" if head.version else ""
        return f"{by} was faster, at {at}{version}. Run the command again to compare with that version"
