"""An endpoint with a query ``me`` and a mutation ``pay``, and callers of every kind."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from handler.bundle.identity import Identity
from handler.compiler.compile import Compiled
from handler.errors.calls import CallError
from handler.http.client import HttpClient
from handler.server.auth.principal import ANONYMOUS, Principal
from handler.server.auth.tokens import TokenVerifier
from handler.server.context import Caller, Services
from handler.server.endpoints.endpoint import Endpoint
from handler.server.endpoints.registry import Endpoints
from handler.server.outgoing.circuit_breaker import Circuits
from handler.server.outgoing.outgoing_services import OutgoingServices
from handler.server.outgoing.secret_store import SecretStore, SingleFlightCache
from handler.server.upstream.graphql_client import execute
from handler.server.upstream.graphql_request import GraphQLRequest
from handler.storage.local import MemoryStorage
from handler.strict_json import JSONObject
from tests.support.endpoints import PUBLIC, compiled
from tests.support.function import Function, running_function
from tests.support.identities import api_key
from tests.support.issuers import AUDIENCE, Provider, ec_key, given, issuer_of
from tests.support.local import LOCAL
from tests.support.secrecy import SESSION

SDL = "type Query { me: String } type Mutation { pay: String }"
FILES = {
    "index.graphql": SDL,
    "operations/me.graphql": "query Me @mcpTool { me }",
    "operations/pay.graphql": "mutation Pay @mcpTool { pay }",
}
KEY = ec_key()
PROVIDER = Provider("https://login.example/", (KEY,))
ISSUER = issuer_of(PROVIDER, keys=given(KEY))


def endpoint(folder: Path, upstream: str, *, claims: Mapping[str, Any] | None = None, identity: str = "") -> Compiled:
    """The endpoint with this ``upstream`` (YAML). Its callers: anonymous, tokens, and a key with these claims."""
    made = compiled(folder, {**FILES, "config.yaml": f"upstream: {upstream}\n{PUBLIC}{identity}"})
    known = Identity(issuers=(ISSUER,), api_keys=(api_key(claims),), trusted_apis=())
    return replace(made, bundle=replace(made.bundle, identity=known))


@contextmanager
def asking(
    folder: Path, upstream: str, *, claims: Mapping[str, Any] | None = None, identity: str = "", **services: Any
) -> Iterator[Function]:
    with running_function(endpoint(folder, upstream, claims=claims, identity=identity), **services) as function:
        yield function


def with_token(**claims: Any) -> dict[str, str]:
    """The headers of a caller with a token that says this."""
    return {"authorization": f"Bearer {PROVIDER.token(**claims)}"}


def identity_with(audiences: Sequence[str] = (AUDIENCE,)) -> str:
    """``identity`` as an author writes it, for what is judged when an endpoint is compiled."""
    block = "".join(f"        {line}\n" for line in KEY.pem().splitlines())
    listed = ", ".join(f"'{each}'" for each in audiences)
    return (
        f"identity:\n  issuer: {PROVIDER.name}\n  audience: [{listed}]\n"
        f"  keys:\n    - algorithm: ES256\n      key: |\n{block}"
    )


class Clock:
    """Time that passes when a test says so, in UNIX seconds."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Container:
    """What one container holds, without HTTP in front, so that calls can run beside each other."""

    compiled: Compiled
    secrets: Mapping[str, str] = field(default_factory=dict)
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        http = HttpClient(LOCAL)
        storage = MemoryStorage()
        self.outgoing = OutgoingServices(
            secrets=SecretStore(environ=self.secrets, clock=self.clock),
            tokens=SingleFlightCache(clock=self.clock),
            circuits=Circuits(clock=self.clock),
        )
        self.services = Services(
            endpoints=Endpoints(storage, on_trouble=lambda *_: None),
            http=http,
            tokens=TokenVerifier(http, secrets={}),
            outgoing=self.outgoing,
            clock=self.clock,
        )
        self.endpoint = Endpoint(self.compiled.bundle, storage)

    def caller(self, token: str = "", **claims: Any) -> Caller:
        """Who came with a token that says this, which ends in an hour if it does not say when; or anonymous."""
        known = {"exp": self.clock.now + 3600, **claims}
        principal = Principal(kind="token", claims=known) if token else ANONYMOUS
        evaluation = self.endpoint.evaluation_of(principal)
        return Caller(
            endpoint=self.endpoint,
            principal=principal,
            evaluation=evaluation,
            services=self.services,
            credential=SESSION.keep("a token", token),
        )

    def ask(self, *callers: Caller, mutation: bool = False) -> list[JSONObject | CallError]:
        """What the API answers these callers, who all ask at once."""

        async def ask_all() -> list[JSONObject | BaseException]:
            return await asyncio.gather(
                *(execute(each, REQUESTS[mutation]) for each in callers), return_exceptions=True
            )

        answers: list[JSONObject | CallError] = []
        with closing(self.services.http):  # it stays usable
            found = asyncio.run(ask_all())
        for each in found:
            if isinstance(each, BaseException) and not isinstance(each, CallError):
                raise each
            answers.append(each)
        return answers


def _request(text: str, *, is_query: bool) -> GraphQLRequest:
    return GraphQLRequest(text=text, sha256="", operation_name=None, variables={}, is_query=is_query)


REQUESTS = {False: _request("{ me }", is_query=True), True: _request("mutation { pay }", is_query=False)}
