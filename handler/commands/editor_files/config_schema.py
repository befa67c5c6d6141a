"""The JSON Schema of ``config.yaml`` and ``config.STAGE.yaml``, with which editors complete and check them.

The readers of the compiler decide. Tests hold the keys, texts and bounds here against them.
"""

from __future__ import annotations

from handler.commands.editor_files.schema_values import (
    Keys,
    anything,
    boolean,
    choice,
    condition,
    integer,
    named,
    number,
    section,
    section_or,
    sections,
    sections_or_texts,
    text,
    texts,
)
from handler.commands.editor_files.upstream_schema import UPSTREAM
from handler.compiler.config.catalog import UNLISTED
from handler.compiler.config.config import ADOPTED, GRAPHQL_MODES
from handler.compiler.config.identity import PUBLIC_ALGORITHMS
from handler.compiler.config.oauth_proxy import RESOURCE
from handler.compiler.config.schema_limits import MOST_BYTES, OUTPUT_SCHEMA, RECURSION
from handler.compiler.json_schemas.author_scalars import MAX_NUMBER, MAX_TEXT_CHARS, TYPES
from handler.compiler.schema.cost_directives import MAX_SIZE
from handler.compiler.tools.content_files.view_pages import PERMISSIONS
from handler.json_schema.formats import STANDARD_FORMATS
from handler.strict_json import JSONObject


def config_schema() -> JSONObject:
    """Return the JSON Schema (draft-07) of the configuration of an endpoint."""
    meaning = "The configuration of an endpoint of Stile."
    return {"$schema": "http://json-schema.org/draft-07/schema#", "title": "config.yaml", **section(meaning, KEYS)}


PAGE: Keys = {
    "title": text("the title of the page"),
    "description": text("the text about the page"),
    "condition": condition("when a caller has the page"),
    "csp": section(
        "the origins that the page may use; without one it gets nothing from elsewhere",
        {
            "connect_domains": texts("origins that the page may ask"),
            "resource_domains": texts("origins of scripts, styles, pictures and fonts"),
            "frame_domains": texts("origins of nested frames"),
            "base_uri_domains": texts("origins of the base URI"),
        },
    ),
    "permissions": texts("what the page asks the host for", *PERMISSIONS),
    "prefers_border": boolean("the host draws a border around the page"),
    "domain": text("the host name of the page, as the host's documentation says"),
}
LIST_SIZE = integer("the items of one list", 0, MAX_SIZE)
LIMITS: Keys = {
    "max_tokens": integer("the length of a request that a model writes, in tokens of GraphQL", 10, 100_000),
    "max_depth": integer("its levels of fields", 1, 50),
    "max_fields": integer("its fields", 1, 10_000),
    "max_aliases": integer("its aliases", 0, 10_000),
    "max_cost": integer("the objects and list items that its answer could hold", 1, 10_000_000),
    "max_values": integer(
        "the values of a call's arguments or variables, counting items of lists and members of objects; for calls of "
        "every kind, and for GraphQL",
        1,
        1_000_000,
    ),
    "continue": boolean(
        "if callers can continue an answer that was cut, with a cursor; of queries, with `STILE_STATE_KEY`"
    ),
    "max_result_bytes": integer(
        "the JSON of a result of a tool over GraphQL: a longer one is cut, and says how to go on; `0`: no limit",
        0,
        10_000_000,
    ),
    "max_schema_bytes": integer("the bytes of a tool's input schema in the list of tools; 0: no limit", 0, MOST_BYTES),
    "max_output_schema_bytes": integer(
        "the bytes of its output schema; deeper levels are open objects above that; 0: no limit", 0, MOST_BYTES
    ),
    "recursion": choice("types that contain themselves in input schemas: copies, or references", *RECURSION),
    "list_sizes": named("the items of lists of which a request says nothing, as `{Query.orders: 50}`", LIST_SIZE),
}
RULE: Keys = {
    "name": anything("a note"),
    "description": anything("a note"),
    "condition": condition("when a caller may use the fields"),
    "fields": texts("the fields"),
}
ACCESS: Keys = {
    "anonymous": choice("callers without a credential", "allow", "challenge"),
    "policies": sections(
        "one policy a type",
        {
            "type": text("the type"),
            "rules": sections("conditions on named fields", RULE),
            "policyDefault": section(
                "the condition on all other fields", {"condition": condition("when a caller may use them")}
            ),
        },
    ),
    "hide": texts("coordinates that nobody may use, as `[Employee.taxId]`"),
    "show": texts("inputs that may be used although they name a hidden field, as `[EmployeeFilter.salaryGt]`"),
    "scopes": section(
        "tools with `scopes`",
        {
            "list": choice("whether a list has the tools whose scopes the caller lacks", "all", "allowed"),
            "advertise": boolean("if the scopes are named to everybody, so that a first sign-in asks for them"),
        },
    ),
}
PROXY: Keys = {
    "authorize_url": text("the provider's authorization endpoint"),
    "token_url": text("the provider's token endpoint"),
    "client_id": text("the client that is entered with the provider"),
    "client_secret": text("its secret"),
    "redirect_uris": texts("the URIs that clients may have people sent back to"),
    "client_metadata_documents": texts("client ID metadata documents that are taken as client ids"),
    "scope_prefix": text("the provider's prefix of the tools' scopes"),
    "extra_scopes": texts("scopes beside those of the tools"),
    "resource": choice("if the provider is told the resource (RFC 8707)", *RESOURCE),
    "assertion_clients": sections(
        "clients that get tokens for identity assertions (ID-JAG) of a company's provider",
        {
            "id": text("the claim `client_id` of its assertions"),
            "sha256": texts("the digest of its secret, or of the new and the old one"),
            "issuer": text("the issuer of its assertions, one of `identity`"),
        },
    ),
}
IDENTITY: Keys = {
    "jwksendpoint": text("the issuer's key set; http on this machine, to try it"),
    "keys": sections(
        "keys that you have",
        {
            "algorithm": choice("the algorithm", "HS256", *PUBLIC_ALGORITHMS),
            "key": text("the key"),
            "keyid": text("the id that tokens name the key by; required if it is not the only one"),
        },
    ),
    "issuer": text("the claim `iss`"),
    "audience": texts("the claim `aud` has one of these"),
    "subject": text("the claim `sub`"),
    "claims": texts("claims that a token must have"),
    "algorithms": texts("algorithms of keys of the key set", *PUBLIC_ALGORITHMS),
    "leeway_s": integer("how far clocks may differ, in seconds", 0, 300),
    "api_keys": sections(
        "API keys",
        {
            "name": text("the name in the log"),
            "sha256": text("the digest of the key"),
            "claims": {**named("claims for policies; without them the holder skips policies", {}), "type": "object"},
            "expires": text("the end of the key"),
        },
    ),
    "trust_authorizer": sections_or_texts(
        "APIs of API Gateway and function URLs whose authorizers and verified AWS signatures are believed",
        {
            "api": text("the API; the id alone may stand for the mapping"),
            "identity_source": text("the authorizer reads its token from `Authorization` and nowhere else"),
        },
    ),
    "oauth_proxy": section("sign-in for clients that the issuer does not let register", PROXY),
}
OLD_KEYS: Keys = {
    "bridge": {
        **section("the old name of `oauth_proxy`", PROXY),
        "deprecated": True,
        "deprecationMessage": "bridge is the old name of oauth_proxy",
    }
}
SCALAR_KEYS: Keys = {
    "type": choice("the JSON type of a value", *TYPES),
    "format": choice("of a string", *STANDARD_FORMATS),
    "pattern": text("of a string"),
    "minLength": integer("of a string", 0, MAX_TEXT_CHARS),
    "maxLength": integer("of a string", 0, MAX_TEXT_CHARS),
    "enum": texts("of a string"),
    "minimum": number("of a number", -MAX_NUMBER, MAX_NUMBER),
    "maximum": number("of a number", -MAX_NUMBER, MAX_NUMBER),
    "exclusiveMinimum": number("of a number", -MAX_NUMBER, MAX_NUMBER),
    "exclusiveMaximum": number("of a number", -MAX_NUMBER, MAX_NUMBER),
}
CODE: Keys = {
    "use": text("the toolkit; the text alone may stand for the mapping"),
    "hidden": boolean("if its tools are not listed"),
    "visible": boolean("the opposite of `hidden`"),
    "category": text("the category of its tools"),
    "condition": condition("when a caller has the toolkit"),
}
CATALOG: Keys = {
    "name": text("the name of the one that finds; the others are `NAME-call` and `NAME-call-mutation`"),
    "hidden": boolean("if these are not listed as long as all tools are"),
    "list": choice(
        "what is listed: all tools up to `list_budget` and above it the pinned ones, always the pinned ones, or always "
        "all",
        *UNLISTED,
    ),
    "list_budget": integer("tokens of a caller's list", 1, 1_000_000),
}
LOG: Keys = {
    "coordinates": boolean("the fields that a call reads"),
    "arguments": texts("arguments whose values are logged, each as `tool.argument`"),
}
IGNORE: Keys = {
    "code": text("the code of the warning; errors cannot be ignored"),
    "coordinates": texts("what the warning is about, as `--json` says it"),
    "reason": text("your reason"),
}
CHANGE_IGNORE: Keys = {
    "code": text("the code of the difference"),
    "about": texts("all coordinates, or the tool or name, that the difference is about, as `--json` says it"),
    "reason": text("your reason"),
}
IGNORED = "ignored, with a warning"
KEYS: Keys = {
    "upstream": section("the API behind the endpoint", UPSTREAM),
    "limits": section("limits of requests", LIMITS),
    "access": section("which callers may use which fields", ACCESS),
    "identity": sections("whose credentials are taken", {**IDENTITY, **OLD_KEYS}),
    "tools": section_or(
        choice(
            "`operations` makes a tool of each named query, also without `@mcpTool`: operations without a directive",
            "operations",
        ),
        {"operations": choice("the operations that become tools", *ADOPTED)},
    ),
    "default_tool": boolean("if an endpoint without a declared tool gets one over all of `Query`"),
    "graphql": choice("the requests that `/{folder}/{name}/graphql` takes", *GRAPHQL_MODES),
    "output_schema": choice("if the list of tools has output schemas", *OUTPUT_SCHEMA),
    "scalars": named("the values of custom scalars, by name", section("the values of a scalar", SCALAR_KEYS)),
    "instructions": text("a text about the endpoint that clients give their model"),
    "resources": section("the files in `resources/`", {"condition": condition("when a caller has them")}),
    "ui": section(
        "the pages in `ui/` that hosts show in the chat",
        {
            "condition": condition("when a caller has them"),
            "pages": named("the settings of pages, by name", section("the settings of a page", PAGE)),
        },
    ),
    "skills": section("the skills in `skills/`", {"condition": condition("when a caller has them")}),
    "code": sections_or_texts('toolkits in Python, as `["shop_tools:kit"]`', CODE),
    "catalog": section_or(
        boolean("tools that find all others, prompts and resources, and call tools by name"), CATALOG
    ),
    "find": section(
        "what helps callers to find parts of the schema, and tools",
        {
            "words": named(
                "words of questions, each with the words of schemas and tools that it also finds, "
                "as `turnover: [revenue]`",
                texts("words of the schema"),
            )
        },
    ),
    "log": section("facts of calls that the log has in addition", LOG),
    "checks": section("warnings of `stile check`", {"ignore": sections("warnings that an author has judged", IGNORE)}),
    "diff": section(
        "differences that `stile diff` and `stile publish` find",
        {"ignore": sections("differences that you accept; they stay in the report, with your reason", CHANGE_IGNORE)},
    ),
    "deployment": section(
        "StepZen's place for `identity`",
        {"identity": sections("read as `identity`; only one of both may be there", {**IDENTITY, **OLD_KEYS})},
    ),
    "configurationset": anything(IGNORED),
    "ruleset": anything(IGNORED),
    "fieldbasedrules": anything(IGNORED),
}
