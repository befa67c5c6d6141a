"""The plan of a publish, compared with what is stored, and its writes, several endpoints at a time."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from handler.audience.ways import Published, version_in, version_of
from handler.bundle.stored import bundle_key, older_bundle_keys
from handler.commands.changes.endpoint_changes import EndpointChanges, compare
from handler.commands.command_line import current_answer
from handler.commands.console import ERR, OUT, complain, one_line, slow_work, track, warn
from handler.commands.publishing.bundle_parts import BundleChange, changed_parts
from handler.commands.publishing.destination import AT_ONCE, bundles_by_endpoint, unmark, withdraw
from handler.commands.publishing.facts import PublishFacts, read_facts
from handler.compiler.compile import Compiled
from handler.errors import StileError
from handler.errors.infrastructure import BundleError, ObjectChanged, ObjectNotFound, StorageError, WriteUnconfirmed
from handler.storage.publishing import ObjectHead, PublishStorage, holds
from handler.text.sentences import counted

MANY = 50
"""The number of endpoints from which on slow work has a line where no progress bar is."""

LAST_WAIT_S = 2.0
"""The wait after Ctrl-C for requests that are under way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedEndpoint(BundleChange):
    """An endpoint, and its difference from the stored version."""

    raw: bytes = b""  # the bundle; empty if it was not compiled, because it has not changed
    index: tuple[str, bytes] | None = None  # key and bytes of the schema index
    present: ObjectHead | None = None  # the stored version; ``None`` if there is none of this release's format
    before: bytes | None = None  # the stored bundle, if it is another one
    changes: EndpointChanges | None = None
    fault: str = ""  # why the comparison is not complete
    unread: str = ""  # why this release cannot read the stored version, which no function of it has served
    older: str = ""  # the key of the stored version, if its format is an older one

    @property
    def is_breaking(self) -> bool:
        """True if callers may lose something."""
        return bool(self.fault or (self.changes and self.changes.breaking))

    @property
    def is_opening(self) -> bool:
        """True if ``--allow-open`` is needed, also if the comparison is not complete."""
        return bool(self.fault or (self.changes and self.changes.opening))

    def lines(self) -> Iterator[str]:
        """Yield the change in one line, and each difference below."""
        yield self.line()
        if self.what == "repaired" and self.index:
            yield f"  {self.index[0]} is missing or damaged, and is stored again"
        if self.older:
            yield f"  compared with {self.older}, which functions of the older release go on to serve"
        if self.unread:
            yield f"  compared with nothing, because the stored version cannot be read: {self.unread}"
        if self.what == "changed" and self.changes:
            yield from (f"  {line}" for line in self.changes.lines())
        if self.fault:
            yield f"  open: breaking: the stored version cannot be compared: {self.fault}"

    def plain(self) -> dict[str, Any]:
        """Return the plan as JSON."""
        changes = self.changes.as_json()["changes"] if self.changes and self.what == "changed" else []
        verdicts = {"breaking": self.is_breaking, "opening": self.is_opening}
        return {**BundleChange.plain(self), **verdicts, "changes": changes}


Leftovers = Mapping[str, Mapping[str, str]]
"""The stored endpoints that the published folder does not have: name -> the etags of its bundles by their keys."""


def plan_publish(compiled: Sequence[Compiled], storage: PublishStorage) -> list[PlannedEndpoint]:
    """Compare each endpoint with its stored version, with two HEADs for an unchanged one, several at a time.

    Raises:
        StorageError: the storage does not answer as it should.
    """
    work = Parallel(lambda one: _read_stored(one, storage), compiled)
    planned: dict[str, PlannedEndpoint] = {}
    try:
        sentence = f"Comparing {counted(len(compiled), 'endpoint')} with {storage.location}"
        for one, outcome in work.with_progress("Comparing", sentence, name=lambda one: one.bundle.endpoint):
            if isinstance(outcome, StileError):
                raise outcome
            planned[one.bundle.endpoint] = outcome
    finally:
        work.stop()
    return [_compared(one, planned[one.bundle.endpoint], storage) for one in compiled]


def find_leftovers(names: Collection[str], etags: Mapping[str, str]) -> Leftovers:
    """Return the stored endpoints that are not among ``names``. ``etags``: those of all stored objects."""
    return {name: bundles for name, bundles in bundles_by_endpoint(etags).items() if name not in names}


def _read_stored(one: Compiled, storage: PublishStorage) -> PlannedEndpoint:
    """Return an endpoint beside its stored version, not compared yet."""
    *indexes, (key, raw) = one.objects()
    name = one.bundle.endpoint
    planned = PlannedEndpoint(name=name, what="new", raw=raw, index=indexes[0] if indexes else None)
    try:
        head = storage.head(key)
        if head.sha256 != hashlib.sha256(raw).hexdigest():
            head, body = storage.get(key)
            if body != raw:
                return replace(planned, what="changed", present=head, before=body)
    except ObjectNotFound:
        # Callers have the version of an older format until a function of this release is deployed.
        for older in older_bundle_keys(name):
            with suppress(ObjectNotFound):
                return replace(planned, what="changed", before=storage.get(older)[1], older=older)
        return planned
    is_whole = all(holds(storage, *index) for index in indexes)
    return replace(planned, what="unchanged" if is_whole else "repaired", present=head)


def _compared(one: Compiled, planned: PlannedEndpoint, storage: PublishStorage) -> PlannedEndpoint:
    """Return an endpoint with its differences from the stored bundle.

    A stored bundle that this release cannot read has no version to compare with: the endpoint counts as changed.

    Raises:
        StorageError: the storage does not answer as it should.
    """
    if planned.what in ("unchanged", "repaired"):
        return planned
    before = planned.before
    planned = replace(planned, before=None, parts=changed_parts(one.bundle, before))
    if before is None:
        return planned
    now = version_of(one)
    was: Published | None = None
    try:
        was = version_in(storage, before, endpoint=one.bundle.endpoint)
        return replace(planned, changes=compare(was, now))
    except (BundleError, ObjectNotFound) as exc:
        return replace(planned, fault=str(exc)) if was else replace(planned, unread=str(exc))


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
        self._complaints: set[str] = set()

    def publish(self, planned: Sequence[PlannedEndpoint], facts: PublishFacts) -> None:
        """Store each endpoint in one step after its schema index, and complain of each that cannot be stored.

        An endpoint that another publisher stored first stays as it is, and the rest goes on. Another failure ends the
        work: what is under way is finished, and nothing else begins.
        """
        begun: list[str] = []
        marks: list[str] = []

        def store(each: PlannedEndpoint) -> ObjectHead:
            begun.append(each.name)
            # The key of a schema index is its digest, so a stored one is equal, unless it is damaged.
            if each.index and (
                self._force or not (self._storage.add(*each.index) or holds(self._storage, *each.index))
            ):
                self._storage.write(*each.index)
            if each.present and each.what == "repaired" and not self._force:
                return each.present
            expected = each.present.etag if each.present else None
            head = self._storage.put(bundle_key(each.name), each.raw, expected=expected, facts=facts.stored())
            marks.append(unmark(self._storage, each.name))
            return head

        work = Parallel(store, planned)
        sentence = f"Storing {counted(len(planned), 'endpoint')} in {self._storage.location}"
        try:
            try:
                for each, outcome in work.with_progress("Storing", sentence, name=lambda each: each.name):
                    self._settle(each, outcome)
                    if not self._goes_on:
                        work.stop()
            except KeyboardInterrupt:
                self._fail("Interrupted.")
                for each, outcome in work.finished_within(LAST_WAIT_S):
                    self._settle(each, outcome)
            finally:
                work.stop()
        except KeyboardInterrupt:  # a second one, or one beside the work
            self._fail("Interrupted.")
        for sentence in filter(None, marks):
            warn(sentence)
        self.unconfirmed += [name for name in begun if name not in self._settled]
        self.is_whole &= not self.unconfirmed

    def withdraw(self, leftovers: Leftovers, facts: PublishFacts) -> None:
        """Withdraw endpoints, and complain of each that cannot be withdrawn."""
        try:
            for name, etags in leftovers.items():
                try:
                    withdraw(self._storage, etags, facts)
                    self.withdrawn.append(name)
                except StileError as exc:
                    self.is_whole = False
                    complain(f"{name} is not withdrawn: {self._reason(name, exc)}")
        except KeyboardInterrupt:
            self._fail("Interrupted.")

    def _settle(self, each: PlannedEndpoint, outcome: ObjectHead | StileError) -> None:
        self._settled.add(each.name)
        match outcome:
            case ObjectHead():
                self.stored[each.name] = outcome
            case ObjectChanged():
                self.is_whole = False
                complain(f"{each.name} is not stored: {self._reason(each.name, outcome)}")
            case WriteUnconfirmed():
                self.unconfirmed.append(each.name)
                self._fail(str(outcome))
            case StileError():
                self._fail(str(outcome))

    def _fail(self, sentence: str) -> None:
        """Complain, once of each sentence: the same reason may meet several requests."""
        if sentence not in self._complaints:
            self._complaints.add(sentence)
            complain(sentence)
        self.is_whole = self._goes_on = False

    def _reason(self, name: str, error: StileError) -> str:
        """Return the reason of a failed write; for one that met another publisher's, that publication."""
        if not isinstance(error, ObjectChanged):
            return str(error)
        try:
            head = self._storage.head(bundle_key(name))
        except ObjectNotFound:
            return "another publisher has withdrawn it meanwhile. Run the command again"
        except StorageError:
            return "another publisher was faster. Run the command again"
        facts = read_facts(head.facts)
        by = one_line(facts.by) or "another publisher"
        at = one_line(facts.at) or head.modified.strftime("%Y-%m-%dT%H:%M:%SZ")
        version = f", as version {head.version}" if head.version else ""
        return f"{by} was faster, at {at}{version}. Run the command again to compare with that version"


T = TypeVar("T")
R = TypeVar("R")


class Parallel(Generic[T, R]):
    """The work on some items. Iterate over it for the items that are done, each with its result or its error.

    The work begins with the iteration, so that Ctrl-C meets nothing that is under way before.
    The threads are daemons: a request that nobody answers holds up neither Ctrl-C nor the end of the process.
    """

    def __init__(self, work: Callable[[T], R], items: Sequence[T], *, at_once: int = AT_ONCE) -> None:
        self._work = work
        self._items = items
        self._waiting = iter(items)  # the threads share it
        self._done: SimpleQueue[tuple[T, R | StileError] | None] = SimpleQueue()
        self._is_stopped = False
        self._at_once = min(at_once, len(items))
        self._threads = 0

    def __iter__(self) -> Iterator[tuple[T, R | StileError]]:
        while self._threads < self._at_once:
            self._threads += 1
            threading.Thread(target=self._run, daemon=True).start()
        yield from self._collected(None)

    def with_progress(
        self, verb: str, sentence: str, *, name: Callable[[T], str]
    ) -> Iterator[tuple[T, R | StileError]]:
        """Iterate with a progress bar; of many items without one, print the sentence if they take over a second."""
        with slow_work(sentence, when=len(self._items) > MANY):
            bar = track(self._items, verb, ERR if current_answer() else OUT, name=name)
            for _, outcome in zip(bar, self, strict=False):
                yield outcome

    def stop(self) -> None:
        """Begin no further item. Those that are begun go on."""
        self._is_stopped = True

    def finished_within(self, timeout_s: float) -> Iterator[tuple[T, R | StileError]]:
        """Stop, and yield the items that end before a silence of ``timeout_s``."""
        self.stop()
        yield from self._collected(timeout_s)

    def _collected(self, timeout_s: float | None) -> Iterator[tuple[T, R | StileError]]:
        while self._threads:
            try:
                outcome = self._done.get(timeout=timeout_s)
            except Empty:
                return
            if outcome is None:
                self._threads -= 1
            else:
                yield outcome

    def _run(self) -> None:
        try:
            for item in self._waiting:
                if self._is_stopped:
                    break
                try:
                    self._done.put((item, self._work(item)))
                except StileError as exc:
                    self._done.put((item, exc))
        finally:
            self._done.put(None)
