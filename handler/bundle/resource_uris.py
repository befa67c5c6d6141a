"""The URIs of resources: canonical URIs of resources without an author's URI, and matching of URI templates."""

from __future__ import annotations

import re
from urllib.parse import quote

from handler.cold.records import record

SCHEME = "stile"

SKILL_SCHEME = "skill"

PAGE_SCHEME = "ui"
"""Source: MCP Apps (SEP-1865), "UI Resource Format"."""

EXPRESSION = re.compile(r"\{(\+?)(\w+)\}")
"""Source: RFC 6570, levels 1 and 2."""


def file_uri(endpoint: str, path: str) -> str:
    """Return the URI of a file, by its path below ``resources/``."""
    return f"{SCHEME}://{endpoint}/resources/{quote(path)}"


def skill_uri(skill: str, path: str) -> str:
    """Return the URI of a skill's file, by its path below the skill's folder.

    Source: Skills extension of MCP (SEP-2640), "Resource Mapping".
    """
    return f"{SKILL_SCHEME}://{skill}/{quote(path)}"


def page_uri(endpoint: str, name: str) -> str:
    """Return the URI of a page that hosts show in the chat."""
    return f"{PAGE_SCHEME}://{endpoint}/{name}.html"


def table_uri(endpoint: str, tool: str) -> str:
    """Return the URI of the built-in view for a tool."""
    return f"{PAGE_SCHEME}://{endpoint}/table/{quote(tool, safe='')}.html"


def schema_uri(endpoint: str) -> str:
    """Return the URI of the SDL that a caller may use through the endpoint's own GraphQL."""
    return f"{SCHEME}://{endpoint}/schema.graphql"


def tool_schema_uri(endpoint: str, tool: str) -> str:
    """Return the URI of the SDL that a caller may use through a GraphQL tool."""
    return f"{SCHEME}://{endpoint}/tools/{quote(tool)}.graphql"


@record(frozen=True, slots=True)
class UriPattern:
    """A pattern of a template's URIs. Each expression takes as much as it can, the first before the others.

    The pattern is written, and matches, from the end: there each expression equivalently takes as little as it can,
    without backtracking. A URI that nearly matches thus costs no more for each expression of the template.
    """

    reversed: re.Pattern[str]

    @property
    def is_template(self) -> bool:
        """True if the pattern has an expression, so that many URIs match."""
        return bool(self.reversed.groups)

    def values_in(self, uri: str) -> dict[str, str] | None:
        """Return a URI's value for each expression, still encoded; ``None`` if the URI does not match."""
        match = self.reversed.fullmatch(uri[::-1])
        return None if match is None else {name: value[::-1] for name, value in match.groupdict().items()}


def pattern_of(template: str) -> UriPattern:
    """Return the pattern of a template's URIs."""
    before, *literals = EXPRESSION.split(template)[::3]
    parts: list[str] = []
    slashes_before = False
    for (plus, name), literal in zip(EXPRESSION.findall(template), literals, strict=True):
        part = f"(?P<{name}>{'.' if plus else '[^/?#]'}+?){re.escape(before[::-1])}"
        # Taking more than the least helps only if the next expression to the left may not contain slashes.
        is_settled = bool(parts) and (slashes_before or not plus)
        parts.append(f"(?>{part})" if is_settled else part)
        before, slashes_before = literal, bool(plus)
    return UriPattern(re.compile("".join([re.escape(before[::-1]), *reversed(parts)])))
