"""The URIs of resources that are not an author's own: ``stile://folder/name/…``, in one spelling each."""

from __future__ import annotations

from urllib.parse import quote

SCHEME = "stile"


def file_uri(endpoint: str, path: str) -> str:
    """The URI of a file, by its path below ``resources/``."""
    return f"{SCHEME}://{endpoint}/resources/{quote(path)}"


def schema_uri(endpoint: str) -> str:
    """The URI of what a caller may ask the endpoint's own GraphQL, as SDL."""
    return f"{SCHEME}://{endpoint}/schema.graphql"


def tool_schema_uri(endpoint: str, tool: str) -> str:
    """The URI of what a caller may ask a GraphQL tool, as SDL."""
    return f"{SCHEME}://{endpoint}/tools/{quote(tool)}.graphql"
