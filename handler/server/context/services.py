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
from handler.server.outgoing.outgoing_services import OutgoingServices


@record(frozen=True, slots=True, kw_only=True)
class Services:
    """The services that all requests share.

    ``development``: a request without a credential has the development principal. ``public_url``: the owner's setting;
    if it is empty, ``PublicUrl`` uses the event. ``code_modules``: modules whose tools in Python may run.
    ``outgoing``: services for requests to APIs. ``hosts``: the accepted values of ``Host``; empty where the front door
    decides. ``own_machine``: the server is for its author alone. ``is_frozen``: the process may stop after each
    response, as Lambda's do.
    """

    endpoints: Endpoints
    http: HttpClient
    tokens: TokenVerifier
    allowed_origins: frozenset[str] = frozenset()
    development: bool = False
    hosts: frozenset[str] = frozenset()
    own_machine: bool = False
    is_frozen: bool = True
    public_url: str = ""
    states: RequestStates = field(default_factory=RequestStates)
    code_modules: tuple[str, ...] = ()
    outgoing: OutgoingServices = field(default_factory=OutgoingServices)
    pseudonyms: Pseudonyms = field(default_factory=Pseudonyms)
    clock: Callable[[], float] = time.time  # UNIX seconds
