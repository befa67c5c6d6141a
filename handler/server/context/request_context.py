"""The first steps of every route: read the body, find the endpoint, and identify the caller."""

from __future__ import annotations

from starlette.requests import Request as HttpCall

from handler.bundle.model import ENDPOINT_NAME, Bundle
from handler.errors.access import CredentialRefused
from handler.errors.calls import EndpointNotFound
from handler.errors.infrastructure import BundleError, FunctionLacks, StorageError
from handler.server.asgi.deadlines import deadline_of
from handler.server.asgi.headers import folded, without_credentials
from handler.server.asgi.public_url import public_url
from handler.server.asgi.request_log import line_of, note, request_id
from handler.server.asgi.response_size import room_at
from handler.server.asgi.responses import Refused
from handler.server.asgi.trace_context import continue_trace
from handler.server.auth.identification import Presented, find_authorized, identify, require_readable_credential
from handler.server.auth.principal import Principal
from handler.server.context.caller import Caller, Services
from handler.server.endpoints.endpoint import Endpoint

MAX_BODY_BYTES = 1_048_576

ENDPOINT = "stile.endpoint"
"""The key of the request's endpoint in the ASGI scope."""


def endpoint_name(http_call: HttpCall) -> str:
    """Return the ``folder/name`` of a request's path; the endpoint may not exist."""
    return f"{http_call.path_params['folder']}/{http_call.path_params['name']}"


async def find_endpoint(services: Services, http_call: HttpCall) -> Endpoint:
    """Return the endpoint that a request's path names.

    Raises:
        Refused: 404 if it does not exist, 503 if it cannot be loaded or the function lacks a part for it.
    """
    name = endpoint_name(http_call)
    if not ENDPOINT_NAME.fullmatch(name):
        raise Refused(EndpointNotFound.stile_code, "there is no such endpoint")
    try:
        endpoint = await services.endpoints.find(name)
    except EndpointNotFound as exc:
        raise Refused(exc.stile_code, "there is no such endpoint") from exc
    except (StorageError, BundleError) as exc:
        raise Refused("endpoint-unavailable", "the endpoint cannot be loaded at the moment") from exc
    except FunctionLacks as exc:
        note(http_call.scope, endpoint=name)
        raise Refused("endpoint-not-ready", "this function lacks a part that the endpoint needs") from exc
    age_s = services.endpoints.check_age_s(name)
    age = {} if age_s is None else {"bundle_age_s": round(age_s, 1)}
    note(http_call.scope, endpoint=name, bundle=endpoint.digest, **age)
    http_call.scope[ENDPOINT] = endpoint
    return endpoint


async def identify_caller(services: Services, http_call: HttpCall, endpoint: Endpoint) -> Caller:
    """Authenticate the request and return its context.

    Raises:
        AccessError: a credential is required, or the given one is refused or cannot be verified.
    """
    bundle, development = endpoint.bundle, services.development
    presented = Presented(headers=http_call.headers, event=http_call.scope.get("aws.event", {}))
    principal = find_authorized(presented, bundle, development=development)
    if principal is None:
        require_readable_credential(http_call.headers)
        principal = await _find_sealed(services, http_call, presented, bundle=bundle) or await identify(
            presented,
            bundle,
            tokens=services.verifier_of(bundle.endpoint),
            without_credential=services.without_credential,
            now=services.clock(),
        )
    note(http_call.scope, principal=principal.kind, who=await services.pseudonyms.of(principal))
    trace = continue_trace(http_call.headers)
    if trace:
        note(http_call.scope, trace_id=trace.id)
    return Caller(
        endpoint=endpoint,
        principal=principal,
        evaluation=endpoint.evaluation_of(principal),
        services=services,
        deadline=deadline_of(http_call.scope),
        room=room_at(presented.event),
        credential=presented.bearer if principal.kind == "token" and not presented.sealed else "",
        trace=trace,
        headers=without_credentials(folded(http_call.headers)),
        request_id=request_id(http_call.scope),
        facts=line_of(http_call.scope),
    )


async def _find_sealed(
    services: Services, http_call: HttpCall, presented: Presented, *, bundle: Bundle
) -> Principal | None:
    """Return the holder of an access token of the OAuth proxy; ``None`` for any other caller.

    Raises:
        CredentialRefused: the token is not valid here and now, or the route is not the MCP route.
    """
    if not presented.sealed:
        return None
    from handler.server.auth.access_tokens import open_access_token  # few requests have such a token

    path, url = f"/{bundle.endpoint}/mcp", public_url(http_call.scope)
    if http_call.scope["path"] != path:
        raise CredentialRefused("audience")
    resource = f"{url}{path}" if url else ""
    now, states = services.clock(), services.states
    claims = await open_access_token(presented.sealed, bundle, resource=resource, states=states, now=now)
    return Principal(kind="token", claims=claims)


async def read_body(http_call: HttpCall, *, max_bytes: int = MAX_BODY_BYTES) -> bytes:
    """Read the whole body.

    Raises:
        Refused: 413 if the body is longer than ``max_bytes``.
    """
    body = bytearray()
    async for chunk in http_call.stream():
        body += chunk
        if len(body) > max_bytes:
            raise Refused("body-too-large", f"the body is longer than {max_bytes} bytes")
    return bytes(body)
