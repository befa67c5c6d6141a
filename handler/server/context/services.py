"""The services of the function that requests share."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import field

from starlette.routing import Route

from handler.bundle.model import Bundle
from handler.http.client import HttpClient
from handler.records import record
from handler.server.auth.principal import DEVELOPMENT, Principal, anonymous_at
from handler.server.auth.pseudonyms import Pseudonyms
from handler.server.auth.sealed_state import RequestStates
from handler.server.auth.tokens import TokenVerifier
from handler.server.endpoints.registry import Endpoints
from handler.server.outgoing.outgoing_services import OutgoingServices


def development_at(_: Bundle) -> Principal:
    """Return the development principal, at any endpoint."""
    return DEVELOPMENT


@record(frozen=True, slots=True, kw_only=True)
class Services:
    """The services that all requests share.

    ``development``: the server is for trials, so no authorizer is trusted, and a request without a credential has the
    development principal, or the one that ``stand_in`` returns. ``verifiers``: the verifier of an endpoint's tokens if
    each endpoint has its own secrets. ``signpost``: a hint for a path without a route; empty if the hint could tell a
    caller too much. ``public_url``: the owner's setting; if it is empty, ``PublicUrl`` uses the event.
    ``code_modules``: modules whose tools in Python may run. ``outgoing``: services for requests to APIs. ``hosts``: the
    accepted values of ``Host``; empty where the front door decides. ``own_machine``: the server is for its author
    alone. ``is_frozen``: the process may stop after each response, as Lambda's do. ``page``: the kind of server that
    the page is for; if it is empty, browsers get no page. ``own_routes``: routes of the command that runs the server.
    """

    endpoints: Endpoints
    http: HttpClient
    tokens: TokenVerifier
    allowed_origins: frozenset[str] = frozenset()
    development: bool = False
    stand_in: Callable[[Bundle], Principal] = development_at
    verifiers: Callable[[str], TokenVerifier] | None = None
    signpost: Callable[[str], str] = lambda _: ""
    hosts: frozenset[str] = frozenset()
    own_machine: bool = False
    is_frozen: bool = True
    page: str = ""  # "" | dev | serve | function
    own_routes: tuple[Route, ...] = ()
    public_url: str = ""
    states: RequestStates = field(default_factory=RequestStates)
    code_modules: tuple[str, ...] = ()
    outgoing: OutgoingServices = field(default_factory=OutgoingServices)
    pseudonyms: Pseudonyms = field(default_factory=Pseudonyms)
    clock: Callable[[], float] = time.time  # UNIX seconds

    def verifier_of(self, endpoint: str) -> TokenVerifier:
        """Return the verifier of an endpoint's tokens."""
        return self.verifiers(endpoint) if self.verifiers else self.tokens

    def without_credential(self, bundle: Bundle) -> Principal:
        """Return the principal of a request without a credential.

        Raises:
            AccessError: the endpoint requires a credential, or the stand-in is not valid.
        """
        return self.stand_in(bundle) if self.development else anonymous_at(bundle)
