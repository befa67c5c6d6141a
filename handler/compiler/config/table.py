"""The keys of ``config.yaml``: kind, bounds, default and meaning of each, once.

The readers, the JSON Schema for editors, ``Stile_Limits`` and the tables of ``docs/reference/config.md`` (written by
``make reference``) come from here. The problem of an unknown key names keys in this order.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial

from handler.bundle.identity import is_for_trials
from handler.bundle.server_identity import MAX_ICON_BYTES, THEMES, is_text
from handler.bundle.upstream import CLIENT_AUTH, SIGNED_SERVICES, TOKEN_TYPES, parse_reference
from handler.compiler.config.values import (
    PUBLIC_ALGORITHMS,
    SCOPE,
    SHA256,
    algorithm_fault,
    is_id,
    is_metadata_document,
    is_resource,
    is_toolkit,
    redirect_fault,
)
from handler.compiler.source.keys import (
    Key,
    Keys,
    anything,
    boolean,
    choice,
    condition,
    integer,
    mapping_of,
    number,
    section,
    section_or,
    sections,
    text,
    texts,
)
from handler.json_schema.formats import STANDARD_FORMATS
from handler.json_schema.json_bounds import MAX_RESULT_BYTES, MAX_VALUES
from handler.list_entries import LIST_BUDGET

UNLISTED = {"auto": "above_budget", "pinned": "always", "all": "never"}
"""Value of ``catalog.list`` -> when lists leave out the tools that are not pinned."""

ADOPTED: Mapping[str, frozenset[str]] = {
    "queries": frozenset({"query"}),
    "queries_and_mutations": frozenset({"query", "mutation"}),
}
"""Value of ``tools.operations`` -> the kinds of operations that become tools without ``@mcpTool``."""

STEPZEN_IGNORED: Mapping[str, str] = {
    "configurationset": "is for backends that StepZen runs",
    "ruleset": "is for backends that StepZen runs",
    "fieldbasedrules": "is the form of access.policies in older StepZen projects",
}
"""Sections of StepZen projects on backends and access: accepted, but not read."""

PERMISSIONS: Mapping[str, str] = {
    "camera": "camera",
    "microphone": "microphone",
    "geolocation": "geolocation",
    "clipboard_write": "clipboardWrite",
}
"""Value of ``permissions`` of a page -> its name for hosts. Source: MCP Apps, ``McpUiResourcePermissions``."""

MAX_LIST_SIZE = 1_000_000_000
MAX_SCHEMA_BYTES = 1_000_000
MAX_TEXT_CHARS = 1_000_000
MAX_NUMBER = 1e300

MAX_INSTRUCTIONS_BYTES = 2_048
"""The limit of ``instructions``, which clients show their model. A widely used client cuts longer ones."""


def instructions_fault(text: str) -> str:
    """Return why instructions are too long, or an empty string."""
    size = len(text.strip().encode())
    return f"{size} bytes of UTF-8; clients take {MAX_INSTRUCTIONS_BYTES}" if size > MAX_INSTRUCTIONS_BYTES else ""


MAX_WORDS = 500
"""Words of ``find`` with synonyms. All of them are in the schema index."""

FOR_TRIALS = (
    "this is the development issuer of `stile token`, which `stile dev` and `stile call` trust by themselves; "
    "expected the issuer of your callers' tokens, or nothing"
)

CLIENT: Keys = {
    "token_url": text("the token endpoint", "https URL", "required"),
    "client_id": text("the id of the endpoint with the identity provider", missing="required").expecting(
        "the id that the identity provider knows the endpoint by", is_id
    ),
    "client_secret": text("its secret", "reference", "required"),
    "client_auth": choice("the place of the secret: a header, or the form", CLIENT_AUTH, "basic"),
    "scope": texts("the scopes to ask for", "text or list"),
    "audience": text("the audience to ask for"),
    "resource": text("the resource to ask for (RFC 8707)", "URI").expecting(
        "the absolute URI of the API, without a fragment", is_resource
    ),
}
EXCHANGE: Keys = {
    **CLIENT,
    "subject_token_type": choice("the kind of the caller's token", tuple(TOKEN_TYPES), "access_token"),
    "actor_token": text("a token of the endpoint as the actor", "reference"),
    "actor_token_type": choice("the kind of the actor's token", tuple(TOKEN_TYPES), "access_token"),
}
AUTH: Keys = {
    "bearer": text("mode: a token for everybody, as `Authorization: Bearer`", "reference"),
    "header": text("mode: the name of the header that takes a key for everybody"),
    "value": text("the key", "reference", "required with `header`").beside("header"),
    "passthrough": section(
        "mode: the caller's own token",
        {
            "audience": text(
                "the `aud` by which the API accepts tokens; every issuer in `identity` has to name it",
                missing="required",
            ).expecting("the audience that the API expects in the claim aud of a token", bool)
        },
    ),
    "client_credentials": section("mode: a token that the endpoint gets for itself", CLIENT),
    "token_exchange": section("mode: a token that the caller's token is exchanged for (RFC 8693)", EXCHANGE),
    "sigv4": section(
        "mode: a signature with the function's role",
        {
            "service": choice("the service of AWS", SIGNED_SERVICES, missing="by the host"),
            "region": text("the region of the API", missing="by the host").expecting(
                "the region of the API, such as eu-central-1", re.compile(r"[a-z]{2}[a-z-]*-\d").fullmatch
            ),
        },
    ),
}
UPSTREAM: Keys = {
    "url": text(
        "your GraphQL API. If there is a schema and no `url`, `stile check` warns and `stile publish` refuses", "URL"
    ),
    "tenant_pattern": text(
        "the names that tenants have, as a pattern of the whole claim, if `url` has `{claim:…}`",
        "[pattern](../upstream.md#choose-the-address-by-tenant)",
    ),
    "timeout_s": number(
        "a deadline for the whole exchange, in seconds; callers are answered after 28 s, whatever it says", 10, 0.1, 900
    ),
    "max_bytes": integer("the largest answer that is accepted, decoded", 5_000_000, 1_000, 50_000_000),
    "headers": mapping_of(
        'fixed headers, such as `x-client: stile`, and verified claims, as `x-role: "claim:role"`; no credentials',
        text("the value of a header"),
        "mapping of texts",
    ),
    "forward_headers": texts("headers of the caller's request that the API gets, as `[x-request-id]`"),
    "documents": choice("how the API is told which operation to run", ("text", "documentId", "apollo"), "text"),
    "auth": section_or(
        choice("the credential that the API gets", ("none",), "none"),
        AUTH,
        form="`none`, or a mapping with one mode",
    ),
}
DOCUMENT_LIMITS: Keys = {
    "max_tokens": integer("the length of a request that a model writes, in tokens of GraphQL", 5_000, 10, 100_000),
    "max_depth": integer("its levels of fields", 12, 1, 50),
    "max_fields": integer("its fields", 200, 1, 10_000),
    "max_aliases": integer("its aliases", 20, 0, 10_000),
    "max_cost": integer("the objects and list items that its answer could hold", 5_000, 1, 10_000_000),
    "max_values": integer(
        "the values of a call's arguments or variables, counting items of lists and members of objects; for calls of "
        "every kind, and for GraphQL",
        MAX_VALUES,
        1,
        1_000_000,
    ),
    "max_result_bytes": integer(
        "the JSON of a result of a tool over GraphQL: a longer one is "
        "[cut, and says how to go on](../limits.md#results-that-are-too-long); `0`: no limit",
        MAX_RESULT_BYTES,
        0,
        10_000_000,
    ),
}
"""The fields of ``Limits``, which a tool's directive can lay over those of the endpoint."""

LIMITS: Keys = {
    **DOCUMENT_LIMITS,
    "list_sizes": mapping_of(
        "the items of lists of which a request says nothing, as `{Query.orders: 50}`",
        integer("the items of one list", 1, 0, MAX_LIST_SIZE),
        "mapping of integers",
    ),
    "continue": boolean(
        "if callers can [continue an answer that was cut](../limits.md#continue-an-answer-that-was-cut), with a "
        "cursor; of queries, with `STILE_STATE_KEY`"
    ),
    "max_schema_bytes": integer(
        "the bytes of a tool's [input schema](../limits.md#schemas-in-the-list-of-tools) in the list of tools; "
        "0: no limit",
        6_000,
        0,
        MAX_SCHEMA_BYTES,
    ),
    "max_output_schema_bytes": integer(
        "the bytes of its output schema; above that, inner levels are any value of their type; 0: no limit",
        4_000,
        0,
        MAX_SCHEMA_BYTES,
    ),
    "list_budget": integer(
        "tokens of a caller's [list of tools](../limits.md#the-list-of-tools), which shorten it; 0: those of a page",
        LIST_BUDGET,
        0,
        1_000_000,
    ),
    "recursion": choice(
        "types that contain themselves in input schemas: copies, or references", ("unroll", "ref"), "unroll"
    ),
}
ACCESS: Keys = {
    "anonymous": choice(
        "callers without a credential",
        ("allow", "challenge"),
        missing="[by the rest](../security/callers.md#callers-without-a-credential)",
    ),
    "policies": sections(
        "one policy a type",
        {
            "type": text("the type", "name of a type", "required"),
            "rules": sections(
                "conditions on named fields",
                {
                    "name": anything("a note", "text"),
                    "description": anything("a note", "text"),
                    "condition": condition("when a caller may use the fields", "required"),
                    "fields": texts("the fields"),
                },
            ),
            "policyDefault": section(
                "the condition on all other fields",
                {"condition": condition("when a caller may use them", "required")},
                "nobody",
            ),
        },
    ),
    "hide": texts("coordinates that nobody may use, as `[Employee.taxId]`", "list of coordinates"),
    "show": texts(
        "inputs that may be used although they name a hidden field, as `[EmployeeFilter.salaryGt]`",
        "list of coordinates",
    ),
    "scopes": section(
        "tools with [`scopes`](../security/callers.md#scopes-of-a-tool)",
        {
            "list": choice("whether a list has the tools whose scopes the caller lacks", ("all", "allowed"), "all"),
            "advertise": boolean(
                "if the scopes are [named to everybody](../security/callers.md#names-of-scopes), so that a first "
                "sign-in asks for them",
                default=True,
            ),
        },
    ),
}
PROXY: Keys = {
    "authorize_url": text("the provider's authorization endpoint", "https URL", "required"),
    "token_url": text("the provider's token endpoint", "https URL", "required"),
    "client_id": text("the client that is entered with the provider", missing="required").expecting(
        "the id of the one client that the provider knows", is_id
    ),
    "client_secret": text("its secret", "reference").expecting(
        "env:NAME, secret:NAME or ssm:NAME",
        lambda text: not text or parse_reference(text),
        code="invalid-secret-reference",
    ),
    "redirect_uris": texts("the URIs that clients may have people sent back to", "list of URIs", "required").checked(
        redirect_fault, "invalid-redirect-uri"
    ),
    "client_metadata_documents": texts(
        "client ID metadata documents that are taken as client ids", "list of https URLs"
    ).expecting("the https URL of a client ID metadata document", is_metadata_document, code="invalid-client-id"),
    "scope_prefix": text("the provider's prefix of the tools' scopes").expecting(
        "the prefix that the provider puts before the names of scopes, such as api://ID/",
        lambda prefix: not prefix or SCOPE.fullmatch(prefix),
    ),
    "extra_scopes": texts("scopes beside those of the tools").expecting(
        "a scope, characters without spaces and quotes", SCOPE.fullmatch, code="invalid-scope"
    ),
    "resource": choice("if the provider is told the resource (RFC 8707)", ("drop", "keep"), "drop"),
    "assertion_clients": sections(
        "clients that get tokens for identity assertions (ID-JAG) of a [company's provider](../security/enterprise.md)",
        {
            "id": text("the claim `client_id` of its assertions", missing="required").expecting(
                "the id of a client, as the provider writes it into the claim client_id", is_id
            ),
            "sha256": texts(
                "the digest of its secret, or of the new and the old one",
                "64 hexadecimal digits, or a list of two",
                "required",
            ),
            "issuer": text("the issuer of its assertions, one of `identity`", missing="the issuer of the OAuth proxy"),
        },
    ),
}
ISSUER: Keys = {
    "jwksendpoint": text("the issuer's key set; http on this machine, to try it", "https URL"),
    "keys": sections(
        "keys that you have",
        {
            "algorithm": choice("the algorithm", ("HS256", *PUBLIC_ALGORITHMS), missing="required"),
            "key": text("the key", "PEM block, or `env:NAME` for HS256", "required"),
            "keyid": text("the id that tokens name the key by; required if it is not the only one"),
        },
    ),
    "issuer": text("the claim `iss`", missing="any").checked(
        lambda issuer: FOR_TRIALS if is_for_trials(issuer=issuer) else "", "development-issuer"
    ),
    "audience": texts("the claim `aud` has one of these", "text or list", "any, with a warning").expecting(
        "a text that is not empty", bool
    ),
    "subject": text("the claim `sub`", missing="any"),
    "claims": texts("claims that a token must have").expecting("a text that is not empty", bool),
    "algorithms": texts(
        "algorithms of keys of the key set", "list of texts", ", ".join(PUBLIC_ALGORITHMS), known=PUBLIC_ALGORITHMS
    ).checked(algorithm_fault, "invalid-algorithm"),
    "leeway_s": integer("how far clocks may differ, in seconds", 30, 0, 300),
}
"""Settings that describe an issuer of accepted tokens."""

IDENTITY: Keys = {
    **ISSUER,
    "api_keys": sections(
        "API keys",
        {
            "name": text("the name in the log", missing="required").expecting("the name of the key, for the log", bool),
            "sha256": text("the digest of the key", "64 hexadecimal digits", "required").expecting(
                "the SHA-256 of the key in hexadecimal, as `stile key NAME` prints it", SHA256.fullmatch
            ),
            "claims": Key(
                meaning="claims for policies; without them the holder skips policies",
                form="mapping",
                schema={"type": "object", "additionalProperties": {}},
            ),
            "expires": text("the end of the key", "date or time", "never"),
        },
    ),
    "trust_authorizer": sections(
        "APIs of API Gateway and function URLs whose authorizers and verified AWS signatures are believed",
        {
            "api": text("the API; the id alone may stand for the mapping", "id of an API", "required").expecting(
                "the id of an API, letters and digits as in ID.execute-api.…",
                re.compile("[A-Za-z0-9]+").fullmatch,
                code="invalid-api-id",
            ),
            "identity_source": text(
                "the authorizer reads its token from `Authorization` and nowhere else", "`authorization`"
            ).expecting(
                "authorization; where the authorizer reads another place, leave it out",
                lambda source: source.lower() in ("", "authorization", "$request.header.authorization"),
            ),
        },
        "list",
        short="api",
    ),
    "oauth_proxy": section("sign-in for clients that the issuer does not let register", PROXY),
    "bridge": section("the old name of `oauth_proxy`", PROXY).old("bridge", new="oauth_proxy"),
}
SCALAR_KEYS: Keys = {
    "type": choice(
        "the JSON type of a value",
        ("string", "integer", "number", "boolean", "object", "array"),
        missing="any JSON",
    ),
    "format": choice("of a string", tuple(STANDARD_FORMATS)),
    "pattern": text("of a string", "regular expression, 200 characters at most"),
    **{
        name: integer("of a string", 0, 0, MAX_TEXT_CHARS, form="integer", missing="none")
        for name in ("minLength", "maxLength")
    },
    "enum": texts("of a string"),
    **{
        name: number("of a number", 0, -MAX_NUMBER, MAX_NUMBER, form="number", missing="none")
        for name in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
    },
}
PAGE: Keys = {
    "title": text("the title of the page"),
    "description": text("the text about the page"),
    "condition": condition("when a caller has the page", "`ui.condition`"),
    "csp": section(
        "the origins that the page may use; without one it gets nothing from elsewhere",
        {
            "connect_domains": texts("origins that the page may ask", "list of origins"),
            "resource_domains": texts("origins of scripts, styles, pictures and fonts", "list of origins"),
            "frame_domains": texts("origins of nested frames", "list of origins"),
            "base_uri_domains": texts("origins of the base URI", "list of origins"),
        },
    ),
    "permissions": texts("what the page asks the host for", known=tuple(PERMISSIONS)),
    "prefers_border": boolean("the host draws a border around the page", "the host decides"),
    "domain": text("the host name of the page, as the host's documentation says"),
}
LINE = "one line without markup, 100 characters at most"
ICON: Keys = {
    "file": text("the file; the text alone may stand for the mapping", "PNG or SVG file", "required"),
    "theme": choice("the background that it is for", THEMES, missing="any"),
}
SERVER: Keys = {
    "name": text("the name for programs", missing="`folder.name`").expecting(
        "letters, digits, _, and . and - that are not first, with one / at most", partial(is_text, "name")
    ),
    "title": text("the name for people", LINE).expecting(LINE, partial(is_text, "title")),
    "description": text("its purpose", LINE).expecting(LINE, partial(is_text, "description")),
    "version": text("the version", "such as 1.4.0", "a digest of the parts that are open to all callers").expecting(
        "a version such as 1.4.0, not a range", partial(is_text, "version")
    ),
    "website": text("a page", "https URL").expecting("an https URL without a user", partial(is_text, "websiteUrl")),
    "icons": sections(f"its icons, {MAX_ICON_BYTES:,} bytes together at most", ICON, "list", short="file"),
    "listed": boolean("if a public [Server Card](../identity.md#the-server-card) shows it", default=False),
    "software": boolean("if introductions name Stile and its release in `_meta`", default=True),
}
KEYS: Keys = {
    "upstream": section("the API behind the endpoint", UPSTREAM),
    "limits": section("limits of requests", LIMITS),
    "access": section("which callers may use which fields", ACCESS, "keys only"),
    "identity": sections("whose credentials are taken", IDENTITY, "mapping or list"),
    "tools": section_or(
        choice(
            "`operations` makes a tool of each named query, also without `@mcpTool`: "
            "[operations without a directive](../tools.md#operations-without-a-directive)",
            ("operations",),
        ),
        {"operations": choice("the operations that become tools", tuple(ADOPTED), "queries")},
        form="`operations`, or a mapping",
    ),
    "default_tool": boolean(
        "if an endpoint without a declared tool gets one over all of `Query`",
        "`true`, but `false` beside `tools`, or beside an unread file with `@mcpTool` or `@tool`",
        default=True,
    ),
    "graphql": choice(
        "the requests that `/{folder}/{name}/graphql` takes",
        ("off", "persisted", "on"),
        "persisted",
        missing="[by the project](../graphql-http.md#choose-the-requests-of-the-endpoints-route)",
    ),
    "output_schema": choice("if the list of tools has output schemas", ("on", "off"), "on"),
    "scalars": mapping_of(
        "the values of custom scalars, by name", section("the values of a scalar", SCALAR_KEYS), missing="known ones"
    ),
    "instructions": text(
        "a text about the endpoint that clients give their model", f"text, {MAX_INSTRUCTIONS_BYTES:,} bytes at most"
    ).checked(instructions_fault, "long-instructions"),
    "server": section("the [identity](../identity.md) of the endpoint for clients", SERVER),
    "resources": section("the files in `resources/`", {"condition": condition("when a caller has them")}),
    "skills": section("the skills in `skills/`", {"condition": condition("when a caller has them")}),
    "ui": section(
        "the [pages](../pages-in-the-chat.md) in `ui/` that hosts show in the chat",
        {
            "condition": condition("when a caller has them"),
            "pages": mapping_of("the settings of pages, by name", section("the settings of a page", PAGE)),
        },
    ),
    "code": sections(
        'toolkits in Python, as `["shop_tools:kit"]`',
        {
            "use": text(
                "the toolkit; the text alone may stand for the mapping", "`module:attribute`", "required"
            ).expecting("a toolkit as module:attribute, such as shop_tools:kit", is_toolkit),
            "hidden": boolean("if its tools are not listed", "by the toolkit"),
            "visible": boolean("the opposite of `hidden`", "by the toolkit"),
            "category": text("the category of its tools", missing="by the toolkit"),
            "condition": condition("when a caller has the toolkit"),
        },
        "list",
        short="use",
    ),
    "catalog": section_or(
        boolean("[tools that find](../catalog.md) all others, prompts and resources, and call tools by name"),
        {
            "name": text(
                "the name of the one that finds; the others are `NAME-call` and `NAME-call-mutation`",
                missing="`catalog`",
            ).expecting("1 to 100 letters, digits, _, - or .", re.compile(r"[A-Za-z0-9_.-]{1,100}").fullmatch),
            "hidden": boolean("if these are not listed as long as all tools are", default=True),
            "list": choice(
                "what is listed: all tools, and only the pinned ones if names and arguments alone pass "
                "`limits.list_budget`; always the pinned ones; or always all",
                tuple(UNLISTED),
                "auto",
            ),
            "list_budget": integer("the old place of `limits.list_budget`", LIST_BUDGET, 1, 1_000_000).old(
                "list_budget", new="limits.list_budget"
            ),
        },
        form="Boolean or mapping",
    ),
    "log": section(
        "facts of calls that the [log](../operate.md#find-the-readers-of-a-field) has in addition",
        {
            "coordinates": boolean("the fields that a call reads"),
            "arguments": texts("arguments whose values are logged, each as `tool.argument`"),
        },
    ),
    "find": section(
        "what helps callers to find parts of the schema, and tools",
        {
            "words": mapping_of(
                "words of questions, each with the words of schemas and tools that it also finds, "
                "as `turnover: [revenue]`",
                texts("words of the schema"),
                f"mapping, {MAX_WORDS} words at most",
            )
        },
    ),
    "checks": section(
        "warnings of `stile check`",
        {
            "ignore": sections(
                "warnings that an author has judged",
                {
                    "code": text("the [code](codes.md) of the warning; errors cannot be ignored", missing="required"),
                    "coordinates": texts("what the warning is about, as `--json` says it", missing="all"),
                    "reason": text("your reason", missing="required").expecting(
                        "a text that says why the warning does not matter", str.strip
                    ),
                },
            )
        },
    ),
    "diff": section(
        "differences that `stile diff` and `stile publish` find",
        {
            "ignore": sections(
                "differences that you accept; they stay in the report, with your reason",
                {
                    "code": text("the [code](../diff.md#codes) of the difference", missing="required"),
                    "about": texts(
                        "all coordinates, or the tool or name, that the difference is about, as `--json` says it",
                        missing="required",
                    ),
                    "reason": text("your reason", missing="required").expecting(
                        "a text that says why the difference is accepted", str.strip
                    ),
                },
            )
        },
    ),
    "deployment": section(
        "StepZen's place for `identity`",
        {"identity": sections("read as `identity`; only one of both may be there", IDENTITY, like="identity")},
    ).hidden(),
    **{name: anything("ignored, with a warning").hidden() for name in STEPZEN_IGNORED},
}
