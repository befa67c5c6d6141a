"""Read ``catalog`` of ``config.yaml``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from handler.compiler.config.table import UNLISTED
from handler.compiler.problems import Place
from handler.compiler.source.yaml_section import Section

CATALOG_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")
"""Names of tools have 128 characters at most, and two tools have more behind this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogUse:
    """The tools that find other tools and call them by name."""

    at: Place
    name: str
    hidden: bool  # not listed as long as all tools are
    unlisted: str  # a value of UNLISTED
    list_budget: int  # tokens of a caller's list above which only pinned tools are listed


def read_catalog(top: Section) -> CatalogUse | None:
    """Read ``catalog``: a boolean, or a mapping that overrides the defaults. ``None``: the endpoint has none."""
    if "catalog" not in top:
        return None
    if not top.is_mapping("catalog") and not top.boolean("catalog"):
        return None
    section = top.section("catalog") if top.is_mapping("catalog") else top.defaults("catalog")
    section.expect()
    if not CATALOG_NAME.fullmatch(section.text("name", "catalog")):
        section.refuse("name", "1 to 100 letters, digits, _, - or .")
    return CatalogUse(
        at=section.place("name") if "name" in section else top.place("catalog"),
        name=section.text("name", "catalog"),
        hidden=section.boolean("hidden"),
        unlisted=UNLISTED[section.choice("list")],
        list_budget=section.integer("list_budget"),
    )
