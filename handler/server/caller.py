from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from handler.http import HttpClient
from handler.policy import Mask
from handler.server.endpoints import Endpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """One endpoint as one caller has it: the outcome says which conditions hold for them."""

    endpoint: Endpoint
    outcome: Mask
    http: HttpClient
    headers: Mapping[str, str] = field(default_factory=dict)  # of the request, their names in lower case
    claims: Mapping[str, Any] = field(default_factory=dict)  # verified ones
