"""The HTTP request for one GraphQL operation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handler.cold.records import record


@record(frozen=True, slots=True, kw_only=True)
class GraphQLRequest:
    """One operation to send. Only queries may be sent a second time."""

    text: str
    sha256: str  # of the text; empty if a model wrote the text
    operation_name: str | None
    variables: Mapping[str, Any]
    is_query: bool
    idempotency_key: str = ""  # shared by all repetitions of one call; empty if none is needed
