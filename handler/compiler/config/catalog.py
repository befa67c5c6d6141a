"""Read ``catalog`` of ``config.yaml``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from handler.compiler.problems import Place
from handler.compiler.source.yaml_section import Section

LIST_BUDGET_TOKENS = 8_000
"""Tokens of a caller's list above which only pinned tools are listed: 4 % of a context of 200,000 tokens."""

CATALOG_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")
"""Names of tools have 128 characters at most, and two tools have more behind this one."""

UNLISTED = {"auto": "above_budget", "pinned": "always", "all": "never"}
"""Value of ``catalog.list`` -> when lists leave out the tools that are not pinned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogUse:
    """The tools that find other tools and call them by name."""

    at: Place
    name: str = "catalog"
    hidden: bool = True  # not listed as long as all tools are
    unlisted: str = UNLISTED["auto"]
    list_budget: int = LIST_BUDGET_TOKENS


def read_catalog(top: Section) -> CatalogUse | None:
    """Read ``catalog``: a boolean, or a mapping that overrides the defaults. ``None``: the endpoint has none."""
    if "catalog" not in top:
        return None
    if not top.is_mapping("catalog"):
        return CatalogUse(at=top.place("catalog")) if top.boolean("catalog", default=False) else None
    section = top.section("catalog")
    section.expect("name", "hidden", "list", "list_budget")
    if not CATALOG_NAME.fullmatch(section.text("name", "catalog")):
        section.refuse("name", "1 to 100 letters, digits, _, - or .")
    return CatalogUse(
        at=section.place("name") if "name" in section else top.place("catalog"),
        name=section.text("name", "catalog"),
        hidden=section.boolean("hidden", default=True),
        unlisted=UNLISTED[section.choice("list", tuple(UNLISTED), default="auto")],
        list_budget=section.integer("list_budget", LIST_BUDGET_TOKENS, least=1, most=1_000_000),
    )
