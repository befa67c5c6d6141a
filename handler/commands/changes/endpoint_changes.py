"""The differences between two versions of an endpoint, for its models, users, readers and reviewers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import chain
from typing import Any

from handler.audience.caller_classes import MAX_CLASSES
from handler.audience.ways import Published
from handler.bundle.model import Bundle
from handler.commands.changes.change import Change
from handler.commands.changes.reach_changes import ReachChanges
from handler.commands.changes.settings_changes import content_changes, settings_changes
from handler.commands.changes.tool_changes import renamed_tools, tool_changes
from handler.text.sentences import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointChanges:
    """All differences of one endpoint, those that open something first."""

    endpoint: str
    changes: tuple[Change, ...]

    @property
    def is_empty(self) -> bool:
        """True if there is no difference."""
        return not self.changes

    @property
    def breaking(self) -> bool:
        """True if a difference is breaking and not ignored."""
        return any(each.breaking for each in self.changes)

    @property
    def opening(self) -> bool:
        """True if ``publish`` needs ``--allow-open``."""
        return any(each.opening for each in self.changes)

    def lines(self) -> list[str]:
        """Return the differences, a line for each."""
        return [each.line() for each in self.changes]

    def as_json(self) -> dict[str, Any]:
        """Return the differences as JSON."""
        return {
            "endpoint": self.endpoint,
            "breaking": self.breaking,
            "opening": self.opening,
            "changes": [each.as_json() for each in self.changes],
        }


def compare(before: Published | None, after: Published | None, *, most_classes: int = MAX_CLASSES) -> EndpointChanges:
    """Compare two versions of an endpoint; ``None`` for an endpoint that does not exist.

    ``most_classes`` bounds the classes of callers that are compared.

    Raises:
        StorageError, BundleError: a schema index that the comparison needs cannot be loaded.
    """
    if before is None or after is None:
        return _of_one(before, after, most_classes=most_classes)
    if before.bundle == after.bundle:
        return EndpointChanges(endpoint=after.bundle.endpoint, changes=())
    if before.bundle.index == after.bundle.index:
        before = replace(before, load_index=after.load_index)  # the same bytes: a folder's need no storage
    reach = ReachChanges(before, after, renamed=renamed_tools(before.bundle, after.bundle), most_classes=most_classes)
    pair = before.bundle, after.bundle
    others = chain(tool_changes(*pair), content_changes(*pair), settings_changes(*pair))
    judged = (replace(each, for_everybody=reach.opens_to_everybody(each)) for each in others)
    found = [*reach.changes(), *judged] or list(_others(before.bundle, after.bundle))
    return EndpointChanges(
        endpoint=after.bundle.endpoint,
        changes=tuple(sorted((_judged(each, after) for each in found), key=_rank)),
    )


def _of_one(before: Published | None, after: Published | None, *, most_classes: int) -> EndpointChanges:
    version = after or before
    if version is None:
        return EndpointChanges(endpoint="", changes=())
    name, tools = version.bundle.endpoint, counted(len(version.bundle.tools), "tool")
    code, what = ("endpoint-added", "is new") if after else ("endpoint-removed", "is gone")
    is_open = after is not None and after.bundle.access.anonymous == "allow"
    sentence = f"the endpoint {name} {what}, with {tools}"
    change = Change(code=code, about=name, sentence=sentence, for_everybody=is_open)
    opened = _opened_by(after, most_classes) if after else ()
    return EndpointChanges(endpoint=name, changes=tuple(_judged(each, version) for each in (*opened, change)))


def _opened_by(new: Published, most_classes: int) -> Iterator[Change]:
    """Yield the coordinates that callers reach through a new endpoint, which is compared with one without tools."""
    graphql = replace(new.bundle.graphql, mode="off")
    nothing = replace(new, bundle=replace(new.bundle, tools=(), graphql=graphql))
    for each in ReachChanges(nothing, new, renamed={}, most_classes=most_classes).changes():
        if each.code == "reach-gained":
            yield replace(each, rules=tuple(rule for rule in each.rules if rule.startswith("now: ")))


def _others(before: Bundle, after: Bundle) -> Iterator[Change]:
    """Yield a difference of a part that no comparison is about. Comments in files are none."""
    names = [each.name for each in fields(Bundle) if each.name != "sources"]
    parts = [name for name in names if getattr(before, name) != getattr(after, name)]
    if parts:
        sentence = f"other differences: {', '.join(parts)}"
        yield Change(code="other-changed", about=", ".join(parts), sentence=sentence)


def _judged(change: Change, after: Published) -> Change:
    reason = next(
        (each.reason for each in after.ignores if each.covers(change.code, change.coordinates or (change.about,))), ""
    )
    return replace(change, ignored=reason) if reason else change


def _rank(change: Change) -> tuple[bool, bool, bool, bool]:
    """Order openings first, then reach, then other differences that open something, then those that break."""
    is_reach = bool(change.coordinates) and (bool(change.callers) or change.opens)
    return not change.opening, not is_reach, not change.opens, not change.breaking
