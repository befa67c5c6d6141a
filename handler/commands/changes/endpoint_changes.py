"""The differences between two versions of an endpoint, for its models, users, readers and reviewers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from handler.commands.changes.change import Change
from handler.commands.changes.content_changes import content_changes
from handler.commands.changes.endpoint_version import Published
from handler.commands.changes.settings_changes import settings_changes
from handler.commands.changes.tool_changes import tool_changes


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointChanges:
    """All differences of one endpoint, those that open something first.

    ``notes`` limit what the comparison can say, such as too many combinations of conditions.
    """

    endpoint: str
    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True if there is no difference."""
        return not self.changes

    @property
    def breaking(self) -> bool:
        """True if a difference is breaking and not ignored."""
        return any(each.breaking for each in self.changes)

    def lines(self) -> list[str]:
        """Return the differences, a line for each."""
        return [*(each.line() for each in self.changes), *(f"note: {each}" for each in self.notes)]

    def as_json(self) -> dict[str, Any]:
        """Return the differences as JSON."""
        return {
            "endpoint": self.endpoint,
            "breaking": self.breaking,
            "changes": [each.as_json() for each in self.changes],
            "notes": list(self.notes),
        }


def compare(before: Published | None, after: Published | None) -> EndpointChanges:
    """Compare two versions of an endpoint; ``None`` for an endpoint that does not exist.

    Raises:
        StorageError, BundleError: a schema index that the comparison needs cannot be loaded.
    """
    if before is None or after is None:
        return _of_one(before, after)
    found = list(_differences(before, after)) if before.bundle != after.bundle else []
    return EndpointChanges(
        endpoint=after.bundle.endpoint,
        changes=tuple(sorted((_judged(each, after) for each in found), key=_rank)),
    )


def _of_one(before: Published | None, after: Published | None) -> EndpointChanges:
    version = after or before
    if version is None:
        return EndpointChanges(endpoint="", changes=())
    name, tools = version.bundle.endpoint, len(version.bundle.tools)
    code, what = ("endpoint-added", "is new") if after else ("endpoint-removed", "is gone")
    change = Change(code=code, about=name, sentence=f"the endpoint {name} {what}, with {tools} tools")
    return EndpointChanges(endpoint=name, changes=(_judged(change, version),))


def _differences(before: Published, after: Published) -> Iterator[Change]:
    yield from tool_changes(before.bundle, after.bundle)
    yield from content_changes(before.bundle, after.bundle)
    yield from settings_changes(before.bundle, after.bundle)


def _judged(change: Change, after: Published) -> Change:
    reason = next((each.reason for each in after.ignores if each.covers(change.code, _names(change))), "")
    return replace(change, ignored=reason) if reason else change


def _names(change: Change) -> Sequence[str]:
    return change.coordinates or (change.about,)


def _rank(change: Change) -> tuple[bool, bool, bool]:
    """Order reach first, then other differences that open something, then those that break."""
    return not change.coordinates, not change.opens, not change.breaking
