from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handler.records import record


@record(frozen=True, slots=True, kw_only=True)
class GraphQLRequest:
    """One operation to send, and whether it is a query: only queries may be sent a second time."""

    text: str
    sha256: str  # of the text; empty where a model wrote it
    operation_name: str | None
    variables: Mapping[str, Any]
    is_query: bool
    idempotency_key: str = ""  # what every repetition of the same call says; empty where it may be repeated at will
