"""The changes of an endpoint that its clients see, by parts with the signs +added, -removed, ~changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from handler.bundle.content import Prompt, Resource, Skill
from handler.bundle.model import Bundle
from handler.bundle.stored import read_bundle
from handler.errors.infrastructure import BundleError

Content = Prompt | Resource | Skill

SIGNS = {"added": "+", "removed": "-", "changed": "~"}


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleChange:
    """The difference between a bundle and the stored one, for clients."""

    name: str  # of the endpoint
    what: str  # new | changed | unchanged | repaired: unchanged, and its stored schema index is not whole
    parts: tuple[str, ...] = ()

    def line(self) -> str:
        """Return the change in one line."""
        return "  ".join([f"{self.name}: {self.what}", *self.parts])

    def plain(self) -> dict[str, Any]:
        """Return the change as JSON, with the names of parts by their kind of change."""
        by_kind = {key: [part[1:] for part in self.parts if part[0] == sign] for key, sign in SIGNS.items()}
        return {"endpoint": self.name, "what": self.what, **by_kind}


def changed_parts(bundle: Bundle, before: bytes | None) -> tuple[str, ...]:
    """Return the changed parts, each after its sign. A stored bundle that cannot be read has no parts."""
    try:
        was = _parts_of(read_bundle(before, endpoint=bundle.endpoint)) if before else {}
    except BundleError:
        was = {}
    now = _parts_of(bundle)
    added = [f"+{name}" for name in now if name not in was]
    removed = [f"-{name}" for name in was if name not in now]
    changed = [f"~{name}" for name in now if name in was and was[name] != now[name]]
    return (*added, *removed, *changed)


def _parts_of(bundle: Bundle) -> Mapping[str, object]:
    """Return the parts of an endpoint that clients see, by name; a name that is not a tool's begins with its kind."""
    tools = {tool.name: tool for tool in bundle.tools}
    texts = {"instructions": bundle.instructions, "server identity": bundle.server}
    return {**tools, **contents_of(bundle), **{name: each for name, each in texts.items() if each}}


def contents_of(bundle: Bundle) -> dict[str, Content]:
    """Return the prompts, resources and skills by their kind and name."""
    prompts: dict[str, Content] = {f"prompt {prompt.name}": prompt for prompt in bundle.prompts}
    resources = {f"resource {each.entry.get('uri') or each.entry['uriTemplate']}": each for each in bundle.resources}
    return prompts | resources | {f"skill {skill.name}": skill for skill in bundle.skills}
