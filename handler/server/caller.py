from __future__ import annotations

from dataclasses import dataclass

from handler.http import HttpClient
from handler.policy import Mask
from handler.server.endpoints import Endpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """One endpoint as one caller has it: the outcome says which conditions hold for them."""

    endpoint: Endpoint
    outcome: Mask
    http: HttpClient
