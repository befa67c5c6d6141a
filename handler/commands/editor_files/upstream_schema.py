"""The part of the JSON Schema of ``config.yaml`` about the API: its address, headers and credential."""

from __future__ import annotations

from handler.bundle.upstream import CLIENT_AUTH, SIGNED_SERVICES, TOKEN_TYPES
from handler.commands.editor_files.schema_values import (
    SCALAR,
    Keys,
    choice,
    integer,
    named,
    number,
    section,
    section_or,
    text,
    texts,
)
from handler.compiler.config.upstream import DOCUMENTS

CLIENT: Keys = {
    "token_url": text("the token endpoint"),
    "client_id": text("the id of the endpoint with the identity provider"),
    "client_secret": text("its secret"),
    "client_auth": choice("the place of the secret: a header, or the form", *CLIENT_AUTH),
    "scope": texts("the scopes to ask for"),
    "audience": text("the audience to ask for"),
    "resource": text("the resource to ask for (RFC 8707)"),
}
EXCHANGE: Keys = {
    **CLIENT,
    "subject_token_type": choice("the kind of the caller's token", *TOKEN_TYPES),
    "actor_token": text("a token of the endpoint as the actor"),
    "actor_token_type": choice("the kind of the actor's token", *TOKEN_TYPES),
}
AUTH: Keys = {
    "bearer": text("mode: a token for everybody, as `Authorization: Bearer`"),
    "header": text("mode: the name of the header that takes a key for everybody"),
    "value": text("the key"),
    "passthrough": section(
        "mode: the caller's own token",
        {"audience": text("the `aud` by which the API accepts tokens; every issuer in `identity` has to name it")},
    ),
    "client_credentials": section("mode: a token that the endpoint gets for itself", CLIENT),
    "token_exchange": section("mode: a token that the caller's token is exchanged for (RFC 8693)", EXCHANGE),
    "sigv4": section(
        "mode: a signature with the function's role",
        {"service": choice("the service of AWS", *SIGNED_SERVICES), "region": text("the region of the API")},
    ),
}
UPSTREAM: Keys = {
    "url": text("your GraphQL API. If there is a schema and no `url`, `stile check` warns and `stile publish` refuses"),
    "tenant_pattern": text("the names that tenants have, as a pattern of the whole claim, if `url` has `{claim:…}`"),
    "timeout_s": number(
        "a deadline for the whole exchange, in seconds; callers are answered after 28 s, whatever it says", 0.1, 900
    ),
    "max_bytes": integer("the largest answer that is accepted, decoded", 1_000, 50_000_000),
    "headers": named(
        'fixed headers, such as `x-client: stile`, and verified claims, as `x-role: "claim:role"`; no credentials',
        SCALAR,
    ),
    "forward_headers": texts("headers of the caller's request that the API gets, as `[x-request-id]`"),
    "documents": choice("how the API is told which operation to run", *DOCUMENTS),
    "auth": section_or(choice("the credential that the API gets", "none"), AUTH),
}
