"""What every route does first: read the body, find the endpoint, and tell who calls and what they may use."""

from __future__ import annotations

from functools import partial

from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpCall

from handler.bundle.model import ENDPOINT_NAME
from handler.errors import BundleError, EndpointNotFound, FunctionLacks, StorageError
from handler.server.asgi.deadlines import deadline_of
from handler.server.asgi.headers import folded, without_credentials
from handler.server.asgi.request_log import note, request_id
from handler.server.asgi.response_size import room_at
from handler.server.asgi.trace_context import continue_trace
from handler.server.auth.principal import Presented, find_authorized, identify, require_readable_credential
from handler.server.context.caller import Caller
from handler.server.context.services import Services
from handler.server.endpoints.endpoint import Endpoint

MAX_BODY_BYTES = 1_048_576

ENDPOINT = "stile.endpoint"
"""Where a request's scope has the endpoint that was found for it."""


def endpoint_name(http_call: HttpCall) -> str:
    """The ``folder/name`` of a request's path, whether or not there is such an endpoint."""
    return f"{http_call.path_params['folder']}/{http_call.path_params['name']}"


async def find_endpoint(services: Services, http_call: HttpCall) -> Endpoint:
    """The endpoint that a request's path names.

    Raises:
        HTTPException: 404 where there is none, 503 where it cannot be loaded, or not be served by this function.
    """
    name = endpoint_name(http_call)
    if not ENDPOINT_NAME.fullmatch(name):
        raise HTTPException(404, "there is no such endpoint")
    try:
        endpoint = await services.endpoints.find(name)
    except EndpointNotFound as exc:
        raise HTTPException(404, "there is no such endpoint") from exc
    except (StorageError, BundleError) as exc:
        raise HTTPException(503, "the endpoint cannot be loaded at the moment") from exc
    except FunctionLacks as exc:
        note(http_call.scope, endpoint=name)
        raise HTTPException(503, "this function lacks what the endpoint needs") from exc
    note(http_call.scope, endpoint=name, bundle=endpoint.digest)
    http_call.scope[ENDPOINT] = endpoint
    return endpoint


async def identify_caller(services: Services, http_call: HttpCall, endpoint: Endpoint) -> Caller:
    """Who calls, and the endpoint as they have it.

    Raises:
        AccessError: a credential is asked for, or the one that came is refused.
    """
    bundle, development = endpoint.bundle, services.development
    presented = Presented(headers=http_call.headers, event=http_call.scope.get("aws.event", {}))
    principal = find_authorized(presented, bundle, development=development)
    if principal is None:
        require_readable_credential(http_call.headers)
        principal = await identify(
            presented, bundle, tokens=services.tokens, development=development, now=services.clock()
        )
    note(http_call.scope, principal=principal.kind, who=await services.pseudonyms.of(principal))
    trace = continue_trace(http_call.headers)
    if trace:
        note(http_call.scope, trace_id=trace.id)
    return Caller(
        endpoint=endpoint,
        principal=principal,
        judgement=endpoint.judgement_of(principal),
        services=services,
        deadline=deadline_of(http_call.scope),
        room=room_at(presented.event),
        credential=presented.bearer if principal.kind == "token" else "",
        trace=trace,
        headers=without_credentials(folded(http_call.headers)),
        request_id=request_id(http_call.scope),
        note=partial(note, http_call.scope),
    )


async def read_body(http_call: HttpCall, *, max_bytes: int = MAX_BODY_BYTES) -> bytes:
    """The whole body.

    Raises:
        HTTPException: 413, it is longer than ``max_bytes``.
    """
    body = bytearray()
    async for chunk in http_call.stream():
        body += chunk
        if len(body) > max_bytes:
            raise HTTPException(413, f"a request may have {max_bytes} bytes")
    return bytes(body)
