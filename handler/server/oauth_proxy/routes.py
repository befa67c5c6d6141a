"""The routes of the OAuth proxy. Codes and tokens pass through them, and are neither kept nor logged."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpCall
from starlette.responses import Response

from handler.bundle.model import Bundle
from handler.errors.access import AssertionRefused, KeysUnavailable, OAuthRefused, RedirectRefused, VerifierMissing
from handler.errors.calls import StateUnavailable
from handler.errors.infrastructure import HttpError
from handler.errors.upstream import CredentialUnavailable
from handler.http.client import HttpRequest
from handler.json_schema.json_bounds import nests_too_deeply
from handler.server.asgi.content_negotiation import media_type_of
from handler.server.asgi.public_url import note_unknown_url, public_url
from handler.server.asgi.request_log import note
from handler.server.asgi.responses import json_response
from handler.server.auth.resource_metadata import all_scopes, oauth_proxy_url, open_scopes
from handler.server.context import ENDPOINT, Services, endpoint_name, find_endpoint, read_body
from handler.server.oauth_proxy.assertion_grant import (
    UsedAssertions,
    authenticate_client,
    exchange_assertion,
)
from handler.server.oauth_proxy.flow import (
    authorize_location,
    callback_location,
    metadata,
    registration,
    token_answer,
    token_form,
)
from handler.server.oauth_proxy.proxy import JWT_BEARER, ProxySite, error_of, parse_form
from handler.strict_json import JSONObject, find_json

MAX_FORM_BYTES = 65_536
MAX_ANSWER_BYTES = 65_536
TIMEOUT_S = 10.0

FORM = "application/x-www-form-urlencoded"

OUR_FAULTS = frozenset({"invalid_client", "unauthorized_client"})
"""Provider errors about the client that the owner configured: no client of the proxy could mend these."""

Answer = Callable[[HttpCall], Awaitable[Response]]

PROVIDER_FAILED = "the provider that people sign in with did not answer as it should"
CANNOT_JUDGE = "this server cannot exchange assertions at the moment"


def metadata_route(services: Services) -> Answer:
    """Build the route of the proxy's metadata as an authorization server."""

    async def authorization_server_metadata(http_call: HttpCall) -> Response:
        note(http_call.scope, route="oauth_metadata")
        bundle, site = await _find_site(services, http_call)
        issuers = {issuer.issuer: issuer.jwks_url for issuer in bundle.identity.issuers}
        note(http_call.scope, outcome="ok")
        return json_response(metadata(site, jwks_url=issuers.get(site.proxy.issuer, "")))

    return authorization_server_metadata


def register_route(services: Services) -> Answer:
    """Build the route at which clients register."""

    async def register(site: ProxySite, http_call: HttpCall) -> Response:
        _require_media_type(http_call, "application/json")
        return json_response(registration(site, await read_body(http_call, max_bytes=MAX_FORM_BYTES)), status=201)

    return _route(services, "oauth_register", register)


def authorize_route(services: Services) -> Answer:
    """Build the route to which a client sends its user to sign in."""
    return _route(services, "oauth_authorize", partial(_redirect, authorize_location))


def callback_route(services: Services) -> Answer:
    """Build the route to which the provider sends the user back."""
    return _route(services, "oauth_callback", partial(_redirect, callback_location))


def token_route(services: Services) -> Answer:
    """Build the route at which clients get tokens."""
    used = UsedAssertions()

    async def token(site: ProxySite, http_call: HttpCall) -> Response:
        _require_media_type(http_call, FORM)
        parameters = parse_form(await read_body(http_call, max_bytes=MAX_FORM_BYTES), expected="a form")
        if site.proxy.assertion_clients and parameters.get("grant_type") == JWT_BEARER:
            return await _assertion_token(used, services, site, http_call=http_call, parameters=parameters)
        return await _provider_token(services, site, http_call=http_call, parameters=parameters)

    return _route(services, "oauth_token", token)


def _route(services: Services, name: str, answering: Callable[[ProxySite, HttpCall], Awaitable[Response]]) -> Answer:
    """Build a route whose refusals have the form of OAuth errors (RFC 6749, section 5.2)."""

    async def answer(http_call: HttpCall) -> Response:
        note(http_call.scope, route=name)
        _, site = await _find_site(services, http_call)
        try:
            response = await answering(site, http_call)
        except OAuthRefused as exc:
            reason = exc.reason if isinstance(exc, AssertionRefused) else exc.code
            note(http_call.scope, outcome="rejected", reason=reason)
            if isinstance(exc, RedirectRefused):
                note(http_call.scope, redirect_uri=exc.redirect_uri)
            content: JSONObject = {"error": exc.code, "error_description": exc.description}
            if exc.code != "invalid_client":
                return json_response(content, status=400)
            tried = "authorization" in http_call.headers
            return json_response(content, status=401, headers={"www-authenticate": "Basic"} if tried else None)
        note(http_call.scope, outcome="ok" if response.status_code < 400 else "errors")
        return response

    return answer


async def _find_site(services: Services, http_call: HttpCall) -> tuple[Bundle, ProxySite]:
    bundle = (await find_endpoint(services, http_call)).bundle
    proxy, url = bundle.identity.oauth_proxy, oauth_proxy_url(bundle, public_url(http_call.scope))
    if proxy is None:
        raise HTTPException(404, "this endpoint has no OAuth proxy to sign in through")
    if not url:
        raise HTTPException(404, note_unknown_url(http_call.scope))
    return bundle, ProxySite(
        proxy=proxy,
        url=url,
        scopes=tuple(open_scopes(bundle)),
        known_scopes=tuple(all_scopes(bundle)),
        takes_assertions=bool(proxy.assertion_clients) and services.states.available,
    )


async def _provider_token(
    services: Services, site: ProxySite, *, http_call: HttpCall, parameters: dict[str, str]
) -> Response:
    form = token_form(site, parameters)
    reference, endpoint, secrets = site.proxy.client_secret, endpoint_name(http_call), services.outgoing.secrets
    try:
        if reference:
            form["client_secret"] = await secrets.read(reference, endpoint=endpoint)
    except CredentialUnavailable as exc:
        return _unavailable(http_call, exc.log_reason)
    request = HttpRequest(
        method="POST",
        url=site.proxy.token_url,
        headers={"content-type": FORM, "accept": "application/json"},
        body=urlencode(form, quote_via=quote).encode(),
        timeout_s=TIMEOUT_S,
        max_bytes=MAX_ANSWER_BYTES,
    )
    try:
        answer = await services.http.send_async(request)
    except HttpError as exc:
        return _unavailable(http_call, type(exc).__name__)
    content = _parsed(answer.body)
    # Some refuse a client with status 400, as RFC 6749 allows (section 5.2).
    if reference and (answer.status == 401 or content.get("error") == "invalid_client"):
        secrets.refuse(reference, form["client_secret"], endpoint=endpoint)  # the next request reads it again
    if answer.status == 200 and isinstance(content.get("access_token"), str) and content.get("token_type"):
        return json_response(token_answer(site, content))
    error = error_of(content)
    if not 400 <= answer.status < 500 or error["error"] == "server_error":
        return _unavailable(http_call, "no_token_answer")
    if error["error"] in OUR_FAULTS:
        return _unavailable(http_call, error["error"])
    note(http_call.scope, reason=error["error"])
    return json_response(dict(error), status=400)


async def _assertion_token(
    used: UsedAssertions, services: Services, site: ProxySite, *, http_call: HttpCall, parameters: dict[str, str]
) -> Response:
    authorization = ", ".join(http_call.headers.getlist("authorization"))
    client = authenticate_client(site.proxy.assertion_clients, parameters, authorization=authorization)
    bundle = http_call.scope[ENDPOINT].bundle
    try:
        return json_response(
            await exchange_assertion(services, bundle, site, used, parameters=parameters, client=client)
        )
    except (KeysUnavailable, VerifierMissing) as exc:
        return _unavailable(http_call, exc.reason, description=CANNOT_JUDGE)
    except StateUnavailable:
        return _unavailable(http_call, "no_state_key", description=CANNOT_JUDGE)


def _parsed(body: bytes) -> dict[str, Any]:
    content = find_json(body)
    return content if isinstance(content, dict) and not nests_too_deeply(content) else {}


def _unavailable(http_call: HttpCall, reason: str, *, description: str = PROVIDER_FAILED) -> Response:
    """Return the error for a failure of the provider or of the owner's configuration: not the client's fault."""
    note(http_call.scope, reason=reason)
    return json_response({"error": "temporarily_unavailable", "error_description": description}, status=502)


async def _redirect(locate: Callable[[ProxySite, bytes], str], site: ProxySite, http_call: HttpCall) -> Response:
    location = locate(site, http_call.scope["query_string"])
    return Response(status_code=302, headers={"location": location, "referrer-policy": "no-referrer"})


def _require_media_type(http_call: HttpCall, expected: str) -> None:
    if media_type_of(http_call.headers.get("content-type", "")) != expected:
        raise OAuthRefused("invalid_request", f"expected {expected}")
