from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import field

from handler.http.client import HttpClient
from handler.records import record
from handler.server.auth.pseudonyms import Pseudonyms
from handler.server.auth.sealed_state import RequestStates
from handler.server.auth.tokens import TokenVerifier
from handler.server.endpoints.registry import Endpoints
from handler.server.outgoing.services import OutgoingServices


@record(frozen=True, slots=True, kw_only=True)
class Services:
    """What requests are answered with.

    ``development``: no credential means the development principal. ``public_url``: where clients reach the function,
    empty for where the events say; ``PublicUrl`` decides. ``code_modules``: whose tools in Python may run.
    ``outgoing``: what the APIs behind endpoints are asked with. ``own_hosts``: by which values of ``Host`` alone a
    server on its author's machine answers, empty elsewhere.
    """

    endpoints: Endpoints
    http: HttpClient
    tokens: TokenVerifier
    allowed_origins: frozenset[str] = frozenset()
    development: bool = False
    own_hosts: frozenset[str] = frozenset()
    public_url: str = ""
    states: RequestStates = field(default_factory=RequestStates)
    code_modules: tuple[str, ...] = ()
    outgoing: OutgoingServices = field(default_factory=OutgoingServices)
    pseudonyms: Pseudonyms = field(default_factory=Pseudonyms)
    clock: Callable[[], float] = time.time  # UNIX seconds
