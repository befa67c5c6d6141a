"""The URIs of resources: those that are not an author's own, in one spelling each, and what is of a template."""

from __future__ import annotations

import re
from urllib.parse import quote

SCHEME = "stile"

EXPRESSION = re.compile(r"\{(\+?)(\w+)\}")
"""Source: RFC 6570, levels 1 and 2."""


def file_uri(endpoint: str, path: str) -> str:
    """The URI of a file, by its path below ``resources/``."""
    return f"{SCHEME}://{endpoint}/resources/{quote(path)}"


def schema_uri(endpoint: str) -> str:
    """The URI of what a caller may ask the endpoint's own GraphQL, as SDL."""
    return f"{SCHEME}://{endpoint}/schema.graphql"


def tool_schema_uri(endpoint: str, tool: str) -> str:
    """The URI of what a caller may ask a GraphQL tool, as SDL."""
    return f"{SCHEME}://{endpoint}/tools/{quote(tool)}.graphql"


def pattern_of(template: str) -> re.Pattern[str]:
    """What matches the URIs of a template, with a group for each of its expressions."""
    parts, at = [], 0
    for found in EXPRESSION.finditer(template):
        allowed = ".+" if found[1] else "[^/?#]+"
        parts += [re.escape(template[at : found.start()]), f"(?P<{found[2]}>{allowed})"]
        at = found.end()
    return re.compile("".join([*parts, re.escape(template[at:])]))
