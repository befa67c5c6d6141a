"""Codes and words with which GraphQL APIs refuse a credential, limit requests, or answer about the request, as data.

Servers give them in answers of any status, mostly 200. A code is compared without case, with ``_`` for ``-``, unless
``AS_WRITTEN`` has it. Words are a whole message, without case and the full stop.

Source: the error formats of each project that is named beside its codes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

CREDENTIAL, LIMIT, ANSWER = "credential", "limit", "answer"
"""Kinds: the API does not know the sender; it takes no more requests now; it has decided about this request."""

CODES: Mapping[str, Mapping[str, str]] = {
    CREDENTIAL: {
        "UNAUTHENTICATED": "Apollo Server, GraphQL Yoga and Envelop, NestJS, Strapi, Netflix DGS (errorType)",
        "UNAUTHORIZED": "Spring for GraphQL (classification); the name of the status 401",
        "401": "a status as an extension",
        "INVALID_JWT": "Hasura",
        "INVALID_JWT_KEY": "Hasura",
        "JWT_INVALID_CLAIMS": "Hasura",
        "JWT_MISSING_ROLE_CLAIMS": "Hasura",
        "AUTH_NOT_AUTHENTICATED": "Hot Chocolate",
        "AUTHENTICATION_ERROR": "Linear",
        "AUTHENTICATION": "Lighthouse (category)",
        "NOT_AUTHENTICATED": "hand-written servers",
        "UNAUTHORIZEDEXCEPTION": "AWS AppSync (errorType)",
        "UNRECOGNIZEDCLIENTEXCEPTION": "AWS AppSync with IAM (errorType)",
        "INVALIDSIGNATUREEXCEPTION": "AWS AppSync with IAM (errorType)",
        "EXPIREDTOKENEXCEPTION": "AWS AppSync with IAM (errorType)",
        "TOKEN_EXPIRED": "Directus",
        "INVALID_TOKEN": "Directus",
        "EXPIREDSIGNATUREERROR": "Saleor (exception)",
        "INVALIDSIGNATUREERROR": "Saleor (exception)",
        "INVALIDTOKENERROR": "Saleor (exception)",
        "ACCESS_TOKEN_INVALID": "Contentful",
        "CANNOT_DECODE_JWT": "Apollo Router",
    },
    LIMIT: {
        "THROTTLED": "Shopify",
        "RATE_LIMITED": "GitHub (type), Apollo Server with graphql-rate-limit",
        "RATELIMITED": "Linear",
        "RATE_LIMIT": "GitHub's secondary limit (type)",
        "RATE_LIMIT_EXCEEDED": "Hasura, monday.com",
        "REQUEST_RATE_LIMITED": "Apollo Router",
        "TOO_MANY_REQUESTS": "hand-written servers; the name of the status 429",
        "429": "a status as an extension",
        "THROTTLINGEXCEPTION": "AWS AppSync (errorType)",
        "COMPLEXITYEXCEPTION": "monday.com",
        "COMPLEXITY_BUDGET_EXHAUSTED": "monday.com",
    },
    ANSWER: {
        "FORBIDDEN": "Apollo Server, GitHub (type), Spring for GraphQL (classification)",
        "ACCESS_DENIED": "Shopify, GraphQL.NET",
        "PERMISSION_DENIED": "Netflix DGS (errorType)",
        "PERMISSIONDENIED": "Saleor (exception)",
        "PERMISSION_ERROR": "Hasura",
        "AUTH_NOT_AUTHORIZED": "Hot Chocolate",
        "AUTHORIZATION": "Lighthouse (category)",
        "NOT_AUTHORIZED": "hand-written servers",
        "UNAUTHORIZED_FIELD_OR_TYPE": "Apollo Router",
        "MER_AUTH_ERR_FAILED_POLICY_CHECK": "Mercurius",
        "KS_ACCESS_DENIED": "Keystone",
        "KS_USER_INPUT_ERROR": "Keystone",
        "KS_VALIDATION_FAILURE": "Keystone",
        "INSUFFICIENT_SCOPES": "GitHub (type)",
        "NOT_FOUND": "GitHub (type), Spring for GraphQL (classification), Netflix DGS (errorType)",
        "BAD_USER_INPUT": "Apollo Server",
        "BAD_REQUEST": "Spring for GraphQL (classification), NestJS",
        "INVALID_ARGUMENT": "Netflix DGS (errorType)",
        "FAILED_PRECONDITION": "Netflix DGS (errorType)",
        "UNPROCESSABLE": "GitHub (type)",
        "VALIDATION": "Lighthouse (category)",
        "VALIDATION_FAILED": "Hasura",
        "CONSTRAINT_VIOLATION": "Hasura",
        "DATA_EXCEPTION": "Hasura",
        "GRAPHQL_INPUT": "Adobe Commerce (category)",
        "GRAPHQL_NO_SUCH_ENTITY": "Adobe Commerce (category)",
        "GRAPHQL_AUTHORIZATION": "Adobe Commerce (category)",
        "GRAPHQL_AUTHENTICATION": "Adobe Commerce (category): a wrong password in an argument",
        "INVALID_CREDENTIALS": "Directus: a wrong password in an argument",
        "42501": "PostGraphile (errcode): row-level security of PostgreSQL",
        **dict.fromkeys(("400", "403", "404", "409", "422"), "a status as an extension"),
    },
}
"""Kind -> code -> servers that give it."""

AS_WRITTEN: Mapping[str, str] = {"access-denied": CREDENTIAL, "Unauthorized": ANSWER}
"""Hasura's refusal of its secret, which is not Shopify's ACCESS_DENIED; AppSync's refusal of one field."""

WORDS: Mapping[str, Mapping[str, str]] = {
    CREDENTIAL: {
        "unauthenticated": "Lighthouse, Neo4j",
        "not authenticated": "hand-written servers",
        "user is not authenticated": "Strawberry's permission classes, Strawberry Django",
        "authentication required": "hand-written servers",
        "signature has expired": "django-graphql-jwt",
        "error decoding signature": "django-graphql-jwt",
        "jwt expired": "PostGraphile, express-jwt",
        "invalid-jwt | expired token": "WPGraphQL JWT Authentication",
    },
    LIMIT: {
        "too many requests": "graphql-http, PostGraphile; the name of the status 429",
        "rate limit exceeded": "hand-written servers",
    },
}
"""Kind -> words -> servers whose errors have these words and no code."""

PLACES: Sequence[Sequence[str]] = (
    ("extensions", "code"),
    ("code",),  # Absinthe
    ("type",),
    ("errorType",),
    ("errcode",),
    *(("extensions", name) for name in ("errorType", "classification", "category", "status", "statusCode")),
    ("extensions", "http", "status"),
    ("extensions", "exception", "code"),
    ("extensions", "contentful", "code"),
)
"""The members of an error that codes stand in, the surest first."""

_KINDS = {code: kind for kind, codes in CODES.items() for code in codes}
_WORD_KINDS = {words: kind for kind, phrases in WORDS.items() for words in phrases}
_MAX_CHARS = 100


def kind_of_error(error: Any) -> tuple[str, str]:
    """Return the kind of an error and the code or words that show it; empty strings if none is known."""
    for text in _codes_in(error):
        if kind := AS_WRITTEN.get(text) or _KINDS.get(text.upper().replace("-", "_"), ""):
            return kind, text
    message = error.get("message") if isinstance(error, dict) else error  # some servers give a text alone
    words = message[:_MAX_CHARS].strip().rstrip(".!").lower() if isinstance(message, str) else ""
    return (_WORD_KINDS[words], words) if words in _WORD_KINDS else ("", "")


def refused_by(errors: Any) -> str:
    """Return the code or words by which errors of a response refuse the credential; empty string if they do not."""
    kinds = map(kind_of_error, errors[:10]) if isinstance(errors, list) else ()
    return next((code for kind, code in kinds if kind == CREDENTIAL), "")


def _codes_in(error: Any) -> Iterator[str]:
    for place in PLACES:
        value = error
        for name in place:
            value = value.get(name) if isinstance(value, dict) else None
        if isinstance(value, str) or type(value) is int:
            yield str(value)[:_MAX_CHARS]
