"""Entries of lists as one caller may use them, by the sections of the catalog."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from handler.cold.records import record
from handler.strict_json import JSONObject

SECTIONS = ("tools", "prompts", "resources", "resource_templates")


@record(frozen=True, slots=True, kw_only=True)
class Listed:
    """One entry; ``hidden`` if its list leaves it out, ``pinned`` if a catalog keeps it listed.

    A search reads ``aliases``, the further names of a tool, and does not show them. ``role`` is that of a tool of the
    catalog itself: see ``CatalogTool``.
    """

    entry: JSONObject
    hidden: bool = False
    pinned: bool = False
    role: str = ""
    aliases: tuple[str, ...] = ()


Sections = Mapping[str, Iterable[Listed]]
"""The entries that a caller may use, by ``SECTIONS``."""


def category_of(entry: JSONObject) -> str:
    """Return the category of a tool; empty if it has none."""
    return str(entry.get("_meta", {}).get("category", ""))
