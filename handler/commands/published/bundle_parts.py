"""The parts of an endpoint that clients see, and the signs of their changes: +added, -removed, ~changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handler.bundle.model import Bundle
from handler.bundle.stored import read_bundle
from handler.errors.infrastructure import BundleError

SIGNS = {"added": "+", "removed": "-", "changed": "~"}


def changed_parts(bundle: Bundle, before: bytes | None) -> tuple[str, ...]:
    """Return the changed parts, each after its sign. A stored bundle that cannot be read has no parts."""
    was, now = _parts_in(before, bundle.endpoint), _parts_of(bundle)
    added = [f"+{name}" for name in now if name not in was]
    removed = [f"-{name}" for name in was if name not in now]
    changed = [f"~{name}" for name in now if name in was and was[name] != now[name]]
    return (*added, *removed, *changed)


def parts_as_json(parts: tuple[str, ...]) -> dict[str, Any]:
    """Return the names of changed parts by their kind of change."""
    return {key: [each[1:] for each in parts if each[0] == sign] for key, sign in SIGNS.items()}


def _parts_in(raw: bytes | None, endpoint: str) -> Mapping[str, object]:
    try:
        return _parts_of(read_bundle(raw, endpoint=endpoint)) if raw else {}
    except BundleError:
        return {}


def _parts_of(bundle: Bundle) -> Mapping[str, object]:
    """Return the parts of an endpoint that clients see, by name; a name that is not a tool's begins with its kind."""
    tools = {tool.name: tool for tool in bundle.tools}
    prompts = {f"prompt {prompt.name}": prompt for prompt in bundle.prompts}
    uris = [str(each.entry.get("uri") or each.entry["uriTemplate"]) for each in bundle.resources]
    resources = {f"resource {uri}": each for uri, each in zip(uris, bundle.resources, strict=True)}
    skills = {f"skill {skill.name}": skill for skill in bundle.skills}
    instructions = {"instructions": bundle.instructions} if bundle.instructions else {}
    return {**tools, **prompts, **resources, **skills, **instructions}
