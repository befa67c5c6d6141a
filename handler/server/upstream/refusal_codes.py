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

CODES: Mapping[str, Mapping[str, Sequence[str]]] = {
    CREDENTIAL: {
        "Apollo Server, GraphQL Yoga and Envelop, NestJS, Strapi, Netflix DGS (errorType)": ("UNAUTHENTICATED",),
        "Spring for GraphQL (classification); the status 401, by name and as an extension": ("UNAUTHORIZED", "401"),
        "Hasura": ("INVALID_JWT", "INVALID_JWT_KEY", "JWT_INVALID_CLAIMS", "JWT_MISSING_ROLE_CLAIMS"),
        "Hot Chocolate": ("AUTH_NOT_AUTHENTICATED",),
        "Linear": ("AUTHENTICATION_ERROR",),
        "Lighthouse (category)": ("AUTHENTICATION",),
        "AWS AppSync (errorType)": ("UNAUTHORIZEDEXCEPTION", "UNRECOGNIZEDCLIENTEXCEPTION"),
        "AWS AppSync with IAM (errorType)": ("INVALIDSIGNATUREEXCEPTION", "EXPIREDTOKENEXCEPTION"),
        "Directus": ("TOKEN_EXPIRED", "INVALID_TOKEN"),
        "Saleor (exception)": ("EXPIREDSIGNATUREERROR", "INVALIDSIGNATUREERROR", "INVALIDTOKENERROR"),
        "Contentful": ("ACCESS_TOKEN_INVALID",),
        "Apollo Router": ("CANNOT_DECODE_JWT",),
        "hand-written servers": ("NOT_AUTHENTICATED",),
    },
    LIMIT: {
        "Shopify": ("THROTTLED",),
        "GitHub (type), Apollo Server with graphql-rate-limit": ("RATE_LIMITED", "RATE_LIMIT"),
        "Linear": ("RATELIMITED",),
        "Hasura": ("RATE_LIMIT_EXCEEDED",),
        "monday.com": ("COMPLEXITYEXCEPTION", "COMPLEXITY_BUDGET_EXHAUSTED"),
        "Apollo Router": ("REQUEST_RATE_LIMITED",),
        "AWS AppSync (errorType)": ("THROTTLINGEXCEPTION",),
        "the status 429, by name and as an extension": ("TOO_MANY_REQUESTS", "429"),
    },
    ANSWER: {
        "Apollo Server": ("FORBIDDEN", "BAD_USER_INPUT"),
        "Shopify, GraphQL.NET": ("ACCESS_DENIED",),
        "Netflix DGS (errorType)": ("PERMISSION_DENIED", "INVALID_ARGUMENT", "FAILED_PRECONDITION"),
        "Spring for GraphQL (classification), NestJS": ("BAD_REQUEST", "NOT_FOUND"),
        "Saleor (exception)": ("PERMISSIONDENIED",),
        "Hasura": ("PERMISSION_ERROR", "VALIDATION_FAILED", "CONSTRAINT_VIOLATION", "DATA_EXCEPTION"),
        "Hot Chocolate": ("AUTH_NOT_AUTHORIZED",),
        "Lighthouse (category)": ("AUTHORIZATION", "VALIDATION"),
        "Apollo Router": ("UNAUTHORIZED_FIELD_OR_TYPE",),
        "Mercurius": ("MER_AUTH_ERR_FAILED_POLICY_CHECK",),
        "Keystone": ("KS_ACCESS_DENIED", "KS_USER_INPUT_ERROR", "KS_VALIDATION_FAILURE"),
        "GitHub (type)": ("INSUFFICIENT_SCOPES", "UNPROCESSABLE"),
        "Adobe Commerce (category)": ("GRAPHQL_INPUT", "GRAPHQL_NO_SUCH_ENTITY", "GRAPHQL_AUTHORIZATION"),
        "Adobe Commerce and Directus, for a password in an argument": ("GRAPHQL_AUTHENTICATION", "INVALID_CREDENTIALS"),
        "PostGraphile (errcode), for row-level security of PostgreSQL": ("42501",),
        "statuses as extensions": ("400", "403", "404", "409", "422"),
        "hand-written servers": ("NOT_AUTHORIZED",),
    },
}
"""Kind -> servers -> the codes that they give."""

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
        "throttled": "Shopify, before it had codes",
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

_KINDS = {code: kind for kind, servers in CODES.items() for codes in servers.values() for code in codes}
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
