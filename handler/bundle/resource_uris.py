"""The URIs of resources: those that are not an author's own, in one spelling each, and what is of a template."""

from __future__ import annotations

import re
from urllib.parse import quote

from handler.records import record

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


@record(frozen=True, slots=True)
class UriPattern:
    """What matches the URIs of a template. Each expression takes as much as it can, the first before the others.

    It is written, and reads, from the end: there the same is that each takes as little as it can, and what it took need
    not be taken back. So a URI that nearly matches costs no more for each expression that the template has.
    """

    reversed: re.Pattern[str]

    @property
    def is_template(self) -> bool:
        """Whether many URIs match."""
        return bool(self.reversed.groups)

    def values_in(self, uri: str) -> dict[str, str] | None:
        """What a URI says for each expression, as it stands there; nothing where it does not match."""
        found = self.reversed.fullmatch(uri[::-1])
        return None if found is None else {name: value[::-1] for name, value in found.groupdict().items()}


def pattern_of(template: str) -> UriPattern:
    """What matches the URIs of a template."""
    before, *literals = EXPRESSION.split(template)[::3]
    parts: list[str] = []
    slashes_before = False
    for (plus, name), literal in zip(EXPRESSION.findall(template), literals, strict=True):
        part = f"(?P<{name}>{'.' if plus else '[^/?#]'}+?){re.escape(before[::-1])}"
        # More than the least helps nowhere but where what stands before may not have the slashes.
        is_settled = bool(parts) and (slashes_before or not plus)
        parts.append(f"(?>{part})" if is_settled else part)
        before, slashes_before = literal, bool(plus)
    return UriPattern(re.compile("".join([re.escape(before[::-1]), *reversed(parts)])))
