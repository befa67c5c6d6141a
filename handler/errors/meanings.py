"""The stable codes of errors that reach callers, each with a meaning and a remedy. Requests do not load this module."""

from __future__ import annotations

from collections.abc import Mapping

Meanings = Mapping[str, tuple[str, str]]

MAINTAINER = "The maintainer of the endpoint has to act: the log has the reason."
LATER = "Try later. If it stays so, the maintainer of the endpoint has to act."

CALLS: Meanings = {
    "answer-misfit": (
        "The API's answer violates its published schema.",
        "Read the answer as text. A mutation was carried out: do not repeat it.",
    ),
    "api-errors": (
        "The API answered with errors and without usable data.",
        "Read the errors; each has the API's own code, if the API gives one.",
    ),
    "binding-missing": (
        "The request lacks a header or a claim that fills a variable, or the value has the wrong form.",
        "Set up the client's connection, or the account. No argument replaces it.",
    ),
    "caller-token-refused": (
        "The API refused the caller's own token.",
        "Sign in again. If it stays so, this account may not use the API.",
    ),
    "caller-token-required": (
        "The API needs the caller's own token, and the request has none that the API may have.",
        "Sign in with an account of your own.",
    ),
    "circuit-open": (
        "The API did not answer several times in a row, so no request is sent for some seconds.",
        "Try later.",
    ),
    "claim-missing": (
        "The caller's token lacks a claim that the API has to be sent, or the claim cannot be sent.",
        "The account has to be set up for this API.",
    ),
    "client-cannot-ask": (
        "The call has to ask its user first, and the client's revision of MCP has no way to ask.",
        "Use a client that speaks MCP 2026-07-28.",
    ),
    "code-changed": (
        "A tool, prompt or resource in Python differs from the published one.",
        "The maintainer of the endpoint has to publish it again.",
    ),
    "code-failed": (
        "A tool in Python failed, or a prompt or resource in Python did.",
        MAINTAINER,
    ),
    "consent-declined": (
        "The user was asked about the call, and did not agree.",
        "Do not repeat the call unless the user asks for it.",
    ),
    "consent-impossible": (
        "The call has to ask its user first, and this channel cannot ask.",
        "Use a client that speaks MCP 2026-07-28 and declares elicitation.",
    ),
    "consent-required": (
        "The call needs the agreement of its user.",
        "Ask the user, and repeat the call as the message says.",
    ),
    "consent-too-long": (
        "The call is too long to be shown to its user whole.",
        "Make several shorter calls.",
    ),
    "credential-unavailable": (
        "The endpoint could not get the credential for the API.",
        "Sign in again if the message says so. Otherwise try later; if it stays so, the maintainer has to act.",
    ),
    "cursor-past-end": (
        "The list that a cursor continues is gone from the API's answer, or is shorter now.",
        "Call again without the cursor.",
    ),
    "cursor-refused": (
        "The cursor does not belong to this call and caller, or is too old. The error never says which.",
        "Call again without the cursor.",
    ),
    "deadline-passed": (
        "The call took too long and was cancelled.",
        "Ask for less, or try later.",
    ),
    "document-refused": (
        "A GraphQL document is not valid, exceeds a limit, or uses a name that does not exist for this caller.",
        "Correct the document at the places that the errors name.",
    ),
    "header-refused": (
        "A header of the request has to be forwarded to the API, and cannot be sent.",
        "Correct the header.",
    ),
    "invalid-arguments": (
        "Arguments or variables do not fit their schema.",
        "Correct the values at the places that the message names.",
    ),
    "not-in-catalog": (
        "The caller has no tool of the name that a call by name gives.",
        "Search the catalog for the name.",
    ),
    "other-catalog-call": (
        "A tool was called by name with the tool of the catalog that is not for it.",
        "Call it with the one that the message names.",
    ),
    "result-too-large": (
        "The answer is above limits.max_result_bytes, and it cannot be cut to that without losing what it means.",
        "Ask for fewer fields or items; the message names the largest fields. A mutation was carried out.",
    ),
    "state-unavailable": (
        "The call has to ask its user first, and the function cannot keep its state.",
        "The owner of the function has to set STILE_STATE_KEY; a tool in Python may keep less.",
    ),
    "tool-error": (
        "A tool in Python reports a failure.",
        "Read the tool's message.",
    ),
    "unknown-task": (
        "The id of a task is not one that this caller may use now, or it is too old. The error never says which.",
        "Call the tool again only if the job has to be started once more.",
    ),
    "upstream-bad-json": ("The API's answer is not valid JSON.", MAINTAINER),
    "upstream-broken": ("The API's answer broke off, or could not be read.", LATER),
    "upstream-csrf": ("The API's protection against cross-site request forgery refused the request.", MAINTAINER),
    "upstream-encoding": ("The API's answer has an encoding that was not requested.", MAINTAINER),
    "upstream-error": (
        "There is no API to ask, its schema cannot be loaded, or an answer cannot be sent on.",
        "Ask for less if the message says so. Otherwise the maintainer of the endpoint has to act.",
    ),
    "upstream-forbidden": ("The API has an address that requests may not go to.", MAINTAINER),
    "upstream-html": ("The API answered with a web page.", MAINTAINER),
    "upstream-limit": ("The API limits the caller's requests, by rate, cost or depth.", "Wait, or ask for less."),
    "upstream-media-type": ("The API answered in parts or with a stream of events.", MAINTAINER),
    "upstream-not-graphql": ("The API answered with JSON that is not a GraphQL response.", MAINTAINER),
    "upstream-redirect": ("The API answered with a redirect, which is not followed.", MAINTAINER),
    "upstream-refused": ("The API refused the endpoint's own credential.", MAINTAINER),
    "upstream-status": ("The API answered with an HTTP status for failures.", LATER),
    "upstream-timeout": ("The API did not answer in time.", "Ask for less, or try later."),
    "upstream-too-large": ("The answer is too large, or nested too deeply.", "Ask for fewer rows or fields."),
    "upstream-unreachable": ("The API cannot be reached.", LATER),
    "values-refused": (
        "A policy does not allow this caller to give these values. The error never says which values.",
        "Give values that this account may use.",
    ),
}
"""Errors of a call: results of tools with ``isError``, and refusals at the GraphQL routes."""

ACCESS: Meanings = {
    "credential-malformed": (
        "The request has no single readable credential.",
        "Send one credential in one header.",
    ),
    "credential-refused": (
        "The credential is not valid. The error never says why; the log does.",
        "Sign in again, or ask for a new API key.",
    ),
    "credential-required": (
        "A credential is required, or could help to see what was asked for.",
        "Sign in, as WWW-Authenticate says.",
    ),
    "insufficient-scope": (
        "The credential lacks scopes of the tool.",
        "Get a token with the scopes that WWW-Authenticate names.",
    ),
    "keys-unavailable": (
        "The keys or the secret that verify the credential cannot be read at the moment.",
        "Try again after the time in Retry-After.",
    ),
    "verifier-missing": (
        "The function was built without the packages that verify tokens.",
        "The owner of the function has to add the extra jwt.",
    ),
}
"""Denials of a request, or of an item of a batch."""

PROTOCOL: Meanings = {
    "answer-too-large": ("The answer is larger than a response may be.", "Ask for less."),
    "authentication-required": (
        "The tool needs the caller's credential for the API behind it.",
        "Sign in, or send the credential.",
    ),
    "batch-exceeded": (
        "The batch has no time, room or work left for this request.",
        "Send the request by itself. If the message says that it was carried out, only if it changes nothing.",
    ),
    "header-mismatch": ("A header is missing, or differs from the body.", "Repeat the value of the body."),
    "internal-error": ("The request failed for a reason that only the log has.", MAINTAINER),
    "invalid-params": ("The parameters of the request do not fit.", "Correct them as the message says."),
    "invalid-request": ("The message is not a valid JSON-RPC message.", "Correct it as the message says."),
    "method-not-found": ("The endpoint or the revision of MCP does not have this method.", "Use another method."),
    "missing-capability": (
        "The tool asks for input, and the client does not declare the capability.",
        "Declare the capability that data names, if the client has it.",
    ),
    "own-error": (
        "A tool, prompt or resource in Python reports an error with a JSON-RPC code of its author's.",
        "Read the message, and the author's documentation of the code.",
    ),
    "parse-error": ("The body is not JSON.", "Send valid JSON in UTF-8."),
    "prompt-not-found": (
        "The caller has no prompt of this name, whether or not the prompt exists.",
        "List the prompts again.",
    ),
    "resource-not-found": (
        "The caller has no resource of this URI, whether or not the resource exists.",
        "List the resources again.",
    ),
    "skill-not-found": (
        "The caller has no skill of this URI, whether or not the skill exists.",
        "List the skills again.",
    ),
    "state-refused": (
        "The requestState does not belong to this call and caller, or is too old. The error never says which.",
        "Call again without requestState.",
    ),
    "tool-not-found": (
        "The caller has no tool of this name, whether or not the tool exists.",
        "List the tools again.",
    ),
    "unsupported-version": ("The function does not speak this revision of MCP.", "Use a revision that data names."),
}
"""Errors of JSON-RPC."""

HTTP: Meanings = {
    "bad-request": ("The request cannot be read as a request of HTTP.", "Correct it as the message says."),
    "body-too-large": ("The body is too large.", "Send less."),
    "document-not-found": (
        "The caller has no persisted document of this documentId, whether or not the document exists.",
        "Send an id that stile check --json lists, or ask for access.",
    ),
    "endpoint-not-found": ("No such endpoint is published.", "Correct the path, or publish the endpoint."),
    "endpoint-not-ready": (
        "The function lacks an extra, a module or a secret that the endpoint needs.",
        "The owner of the function has to add the part that the log names.",
    ),
    "endpoint-unavailable": ("The endpoint cannot be loaded at the moment.", LATER),
    "foreign-host": (
        "stile dev or stile serve does not answer to this Host.",
        "Use the address that the command prints, or name the host with --public-url or --allowed-host of stile serve.",
    ),
    "foreign-origin": (
        "The page that sends the request has an origin that is not allowed.",
        "The owner of the function has to add the origin to STILE_ALLOWED_ORIGINS.",
    ),
    "foreign-page": (
        "A page of another site sent the request to stile dev.",
        "Send it from a page of this machine, or without a browser.",
    ),
    "graphql-off": ("The endpoint serves no GraphQL.", "Call its tools, or set graphql in config.yaml."),
    "malformed-request": (
        "The parameters of a GraphQL request cannot be read.",
        "Send query or documentId, as GraphQL over HTTP says.",
    ),
    "method-not-allowed": ("The route does not take this HTTP method.", "Use a method that Allow names."),
    "mutation-by-get": ("A mutation cannot be sent by GET.", "Send it by POST."),
    "not-acceptable": ("The request accepts no media type that the route answers in.", "Accept application/json."),
    "not-found": ("The path is not a route, or the endpoint does not have this route.", "Correct the path."),
    "persisted-documents-only": (
        "The endpoint runs persisted documents only.",
        "Send documentId, or set graphql: on in config.yaml.",
    ),
    "public-url-unknown": (
        "The route has to name the URL of the endpoint, and the function does not know it.",
        "The owner of the function has to set STILE_PUBLIC_URL.",
    ),
    "unserved-front-door": (
        "The request came through VPC Lattice or a WebSocket API, which the function does not serve.",
        "Use one of the front doors that the function serves.",
    ),
    "unsupported-media-type": ("The body has another media type than JSON.", "Send Content-Type: application/json."),
    "unusable-build": (
        "The function was built for another platform, or its files are damaged.",
        "The owner of the function has to build and deploy it again, as its log says.",
    ),
}
"""Refusals by HTTP, and of requests at the GraphQL routes that do not reach a document."""

REQUEST_CODES: Meanings = {**CALLS, **ACCESS, **PROTOCOL, **HTTP}
"""All codes of errors that reach callers."""
