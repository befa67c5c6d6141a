"""The bundle: equal when it is read back, and refused with a reason when it is none that this release can serve."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import field, fields, replace
from pathlib import Path
from typing import Any, get_args

import pytest

from handler.bundle.content import CodePrompt, CodeResource, FileResource, PromptMessage, TextPrompt
from handler.bundle.identity import Access, ApiKey, Identity, Issuer, OAuthProxy, VerificationKey
from handler.bundle.model import Bundle
from handler.bundle.stored import (
    FORMAT_VERSION,
    READABLE_VERSIONS,
    bundle_key,
    index_key,
    read_bundle,
    shared_index_key,
    write_bundle,
)
from handler.bundle.tools import (
    Binding,
    CatalogTool,
    CodeKit,
    CodeTool,
    CompanionTool,
    GraphQLEndpoint,
    GraphQLTool,
    Limits,
    Listing,
    Operation,
    PersistedDocument,
    PersistedOperation,
    PrescribedTool,
    Shortening,
    ToolOptions,
)
from handler.bundle.upstream import (
    BearerAuth,
    ClientCredentialsAuth,
    HeaderAuth,
    NoAuth,
    OAuthClient,
    PassthroughAuth,
    SecretText,
    SigV4Auth,
    TokenExchangeAuth,
    Upstream,
    UpstreamAuth,
)
from handler.cold.records import record, record_fields
from handler.compiler.compile import Compiled
from handler.errors.infrastructure import BundleError
from handler.policy.evaluation import HIDDEN, NEVER
from handler.strict_json import to_json_bytes

SAMPLES = Path(__file__).parents[1] / "samples"

LIMITS = Limits(max_tokens=5000, max_depth=12, max_fields=200, max_aliases=20, max_cost=5_000, max_values=10_000)

CLIENT = OAuthClient(
    token_url="https://login.example.com/token",
    client_id="stile",
    client_secret=SecretText("secret:LOGIN"),
    client_auth="basic",
    scope="orders:read",
    audience="https://api.example.com",
    resource="",
)

HANDMADE = Bundle(
    endpoint="api/things",
    sources="5" * 64,
    index="1" * 64,
    conditions=(NEVER, {"literal": True}, {"literal": False}),
    guards={"Mutation.addThing": frozenset({2}), "Query.secret": frozenset({1, 2})},
    tools=(
        PrescribedTool(
            name="thing-by-id",
            entry={"name": "thing-by-id", "description": 'A "thing": 日本 🎉\n', "inputSchema": {"type": "object"}},
            arguments={"type": "object", "properties": {"id": {"type": ["string", "integer"]}}, "required": ["id"]},
            flat=True,
            mask=frozenset({1, 2}),
            conditions=frozenset({2}),
            operation=Operation(
                name="Thing",
                sha256="7" * 64,
                kind="query",
                text="query Thing($id: ID!) {\n  thing(id: $id)\n}",
                null_is_absent=("deep",),
                variables=("id", "deep", "tenant", "kind"),
                defaults={"deep": False},
            ),
            bindings=(
                Binding(variable="tenant", source="header", name="x-tenant", value=None, read_as="integer"),
                Binding(variable="kind", source="value", name="", value={"a": [1, None]}, read_as=""),
            ),
            bound={"type": "object", "properties": {"tenant": {"type": "integer"}, "kind": {}}},
            options=ToolOptions(hidden=False, aliases=(), scopes=(), output="both", confirm="", meta={}),
            shortening=Shortening(max_bytes=500, recursive=True, shown_by={"things-describe": ("ThingFilter",)}),
            whole={"type": "object", "properties": {"id": {"type": "string"}}},
        ),
        GraphQLTool(
            name="things",
            arguments={"type": "object", "properties": {"query": {"type": "string"}}},
            entry={"name": "things", "description": "{schema_sdl}"},
            guards={"Thing.price": HIDDEN},
            conditions=frozenset({1}),
            listings=(
                Listing(outcome=frozenset({1}), entry=None),
                Listing(outcome=frozenset({1, 2}), entry={"name": "things"}, large=True),
            ),
            limits=replace(LIMITS, max_depth=3),
            options=ToolOptions(
                hidden=True,
                aliases=("stuff", "all.things"),
                scopes=("things:read",),
                output="text",
                confirm="advisory",
                meta={"tool_version": "1.2.0"},
            ),
        ),
        CompanionTool(
            name="things-search",
            entry={"name": "things-search", "inputSchema": {"type": "object"}},
            of="things",
            does="search",
            options=ToolOptions(hidden=True, aliases=(), scopes=("things:read",), output="text", confirm="", meta={}),
        ),
        CodeTool(
            name="thing_chart",
            entry={"name": "thing_chart", "inputSchema": {"type": "object"}, "_meta": {"category": "charts"}},
            kit="acme.tools:kit",
            digest="c" * 64,
            mask=frozenset({1}),
            options=ToolOptions(hidden=False, aliases=(), scopes=("a",), output="both", confirm="required", meta={}),
        ),
        CatalogTool(
            name="catalog",
            entry={"name": "catalog"},
            options=ToolOptions(hidden=True, aliases=(), scopes=(), output="both", confirm="", meta={}),
        ),
    ),
    upstream=Upstream(
        url="https://api.example.com/graphql",
        timeout_s=2.5,
        max_bytes=1000,
        headers={"x-client": "a"},
        claim_headers={"x-role": "org.role"},
        forward_headers=("x-request-id",),
        documents="apollo",
        auth=TokenExchangeAuth(
            client=CLIENT, subject_type="jwt", actor_token=SecretText("ssm:ACTOR"), actor_type="access_token"
        ),
    ),
    limits=LIMITS,
    access=Access(anonymous="challenge"),
    identity=Identity(
        issuers=(
            Issuer(
                issuer="https://id.example.com",
                audiences=("https://api.example.com/api/things/mcp",),
                subject="",
                required_claims=("exp",),
                algorithms=("RS256", "ES256"),
                jwks_url="https://id.example.com/jwks.json",
                keys=(VerificationKey(id="1", algorithm="HS256", key="env:TOKENS"),),
                leeway_s=30,
            ),
        ),
        api_keys=(
            ApiKey(name="ops", sha256="a" * 64, expires=0, claims=None),
            ApiKey(name="ci", sha256="b" * 64, expires=17, claims={"roles": ["ci"]}),
        ),
        trusted_apis=("a1b2c3",),
        oauth_proxy=OAuthProxy(
            issuer="https://id.example.com",
            authorize_url="https://id.example.com/authorize",
            token_url="https://id.example.com/token",
            client_id="stile",
            client_secret="env:PROVIDER",
            redirect_uris=("http://127.0.0.1/callback",),
            client_metadata_documents=("https://client.example/client.json",),
            scope_prefix="api://things/",
            extra_scopes=("offline_access",),
            resource="keep",
        ),
    ),
    graphql=GraphQLEndpoint(
        mode="persisted",
        guards={"Query._service": HIDDEN, "__schema": frozenset({2})},
        conditions=frozenset({1, 2}),
        documents=(
            PersistedDocument(
                id=f"sha256:{'d' * 64}",
                operations=(
                    PersistedOperation(
                        operation=Operation(
                            name="",
                            kind="query",
                            text="{ a }",
                            sha256="e" * 64,
                            null_is_absent=(),
                            variables=(),
                            defaults={},
                        ),
                        variables={"type": "object", "properties": {}, "additionalProperties": False},
                        mask=frozenset({1}),
                        conditions=frozenset(),
                        bindings=(Binding(variable="org", source="claim", name="org.id", value=None, read_as=""),),
                        bound={"type": "object", "properties": {"org": {"type": "integer"}}},
                        scopes=("a:read",),
                        confirm="advisory",
                    ),
                ),
                tools=("thing-by-id",),
            ),
            PersistedDocument(id="sha256:empty", operations=(), tools=()),
        ),
    ),
    code=(
        CodeKit(use="acme.tools:kit", per_caller=True, hidden=None, category="", mask=frozenset()),
        CodeKit(use="acme.more:kit", per_caller=False, hidden=False, category="more", mask=frozenset({1})),
    ),
    prompts=(
        TextPrompt(
            name="review",
            entry={"name": "review", "arguments": [{"name": "tone", "required": True}]},
            messages=(PromptMessage(role="user", text="Review it, {{tone}}."),),
            completions={"tone": ("kind", "strict")},
            mask=frozenset({2}),
        ),
        CodePrompt(
            name="plan",
            entry={"name": "plan"},
            kit="acme.tools:kit",
            digest="d" * 64,
            mask=frozenset({1}),
            hidden=True,
            completions={},
        ),
    ),
    resources=(
        FileResource(
            entry={"uri": "stile://api/things/resources/a.md", "name": "a.md"}, text="A", blob="", mask=frozenset({1})
        ),
        CodeResource(
            entry={"uriTemplate": "things://{id}", "name": "thing"},
            kit="acme.tools:kit",
            digest="e" * 64,
            mask=frozenset({2}),
            hidden=False,
        ),
    ),
    instructions="Ask for things.",
)

AUTHS = (
    NoAuth(),
    BearerAuth(token=SecretText("secret:K")),
    HeaderAuth(header="x-api-key", value=SecretText("env:K")),
    PassthroughAuth(audience="a"),
    ClientCredentialsAuth(client=CLIENT),
    SigV4Auth(service="appsync", region="eu-central-1"),
)

EMPTY = replace(
    HANDMADE,
    conditions=(),
    guards={},
    tools=(),
    upstream=Upstream(
        url="",
        timeout_s=10.0,
        max_bytes=1,
        headers={},
        claim_headers={},
        forward_headers=(),
        documents="text",
        auth=NoAuth(),
    ),
    access=Access(anonymous="allow"),
    identity=Identity(issuers=(), api_keys=(), trusted_apis=()),
    graphql=GraphQLEndpoint(mode="off", guards={}, conditions=frozenset(), documents=()),
    code=(),
    prompts=(),
    resources=(),
    instructions="",
)


def read(content: object, *, version: object = FORMAT_VERSION) -> Bundle:
    """Read this content as if it had been stored whole."""
    raw = content if isinstance(content, bytes) else to_json_bytes(content)
    header = json.dumps({"format_version": version, "sha256": hashlib.sha256(raw).hexdigest()}).encode()
    return read_bundle(header[:-1] + b',"content":' + raw + b"}", endpoint="api/things")


def content_of(bundle: Bundle) -> Any:
    return json.loads(write_bundle(bundle))["content"]


@pytest.mark.parametrize("bundle", [HANDMADE, EMPTY], ids=["full", "empty"])
def test_bundle_read_back_equals_the_one_written(bundle: Bundle) -> None:
    assert read_bundle(write_bundle(bundle), endpoint="api/things") == bundle


def test_compiled_bundle_read_back_equals_the_one_written(demo: Compiled) -> None:
    assert read_bundle(write_bundle(demo.bundle), endpoint="api/customers") == demo.bundle


@record(frozen=True, slots=True, kw_only=True)
class NewAuth:
    """A kind of credential that no other place knows."""

    user: str
    password: SecretText = field(repr=False)


def test_secrets_of_a_new_kind_of_credential_are_found_by_their_type() -> None:
    auth: Any = NewAuth(user="u", password=SecretText("literal"))

    assert replace(EMPTY.upstream, auth=auth).secrets == ("literal",)


@pytest.mark.parametrize("cls", [OAuthClient, *get_args(UpstreamAuth)])
def test_secrets_of_a_kind_of_credential_are_its_fields_that_are_not_shown(cls: Any) -> None:
    secrets = {name for name, annotation, _ in record_fields(cls) if annotation == "SecretText"}

    assert secrets == {each.name for each in fields(cls) if not each.repr}


@pytest.mark.parametrize("auth", AUTHS, ids=lambda auth: type(auth).__name__)
def test_each_way_to_ask_the_api_is_read_back(auth: UpstreamAuth) -> None:
    bundle = replace(HANDMADE, upstream=replace(HANDMADE.upstream, auth=auth))

    assert read_bundle(write_bundle(bundle), endpoint="api/things") == bundle


def test_same_bundle_gives_the_same_bytes(demo: Compiled) -> None:
    raw = write_bundle(demo.bundle)

    assert write_bundle(demo.bundle) == raw
    assert write_bundle(read_bundle(raw, endpoint="api/customers")) == raw
    masks = [replace(HANDMADE, guards={"Query.a": frozenset(numbers)}) for numbers in ((1, 9, 20), (20, 9, 1))]
    assert write_bundle(masks[0]) == write_bundle(masks[1])


def test_stored_bundle_is_one_json_object_that_names_its_format_first(demo: Compiled) -> None:
    stored = json.loads(write_bundle(demo.bundle))

    assert list(stored) == ["format_version", "sha256", "content"]
    assert stored["format_version"] == 2
    assert stored["sha256"] == hashlib.sha256(to_json_bytes(stored["content"])).hexdigest()


def test_keys_are_named_after_the_endpoint_and_the_digest() -> None:
    assert bundle_key("api/things") == "api/things/bundle.v2.json"
    assert index_key("api/things", "ab") == "api/things/.index/ab"
    assert shared_index_key("ab") == ".index/ab"


@pytest.mark.parametrize("version", READABLE_VERSIONS)
def test_stored_sample_of_each_readable_format_loads(version: int) -> None:
    """What older releases wrote keeps loading.

    The samples are written by the release that introduces their format, from HANDMADE as it is then, and never written
    anew once it is out. When the format changes, add a sample of the new one; this test then shows that both are read,
    and that what the old one could not say has a default. The sample of format 2 has parts.
    """
    raw = (SAMPLES / f"bundle.v{version}.json").read_bytes()

    assert read_bundle(raw, endpoint="api/things") == HANDMADE


def test_oauth_proxy_is_read_by_its_old_name_too() -> None:
    content = content_of(HANDMADE)
    proxy = content["identity"].pop("oauth_proxy")

    assert read(content).identity.oauth_proxy is None
    content["identity"]["bridge"] = proxy
    assert read(content) == HANDMADE
    content["identity"]["oauth_proxy"] = None
    assert read(content).identity.oauth_proxy is None


@pytest.mark.parametrize("version", [0, 3, 99, "2", None, 1.5, [2]])
def test_unknown_format_is_refused_before_the_content_is_believed(version: object) -> None:
    with pytest.raises(BundleError) as caught:
        read(b"this is not even JSON", version=version)

    assert caught.value.reason == (
        f"format_version {version!r} is unknown; this release reads 2, 1: publish again, or update Stile"
    )


def test_damaged_content_is_refused() -> None:
    raw = write_bundle(HANDMADE)
    start = raw.index(b'"content":') + len(b'"content":')

    for place in range(start, len(raw) - 1, 61):
        with pytest.raises(
            BundleError, match=r"^the content does not match its digest: the object is damaged, publish"
        ):
            read_bundle(raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :], endpoint="api/things")


def test_truncated_bundle_is_refused(demo: Compiled) -> None:
    raw = write_bundle(demo.bundle)

    for end in [*range(0, len(raw), 97), len(raw) - 1]:
        with pytest.raises(BundleError):
            read_bundle(raw[:end], endpoint="api/customers")


def test_bundle_of_another_endpoint_is_refused() -> None:
    with pytest.raises(BundleError, match=r"^this is the bundle of api/things, expected api/others$"):
        read_bundle(write_bundle(HANDMADE), endpoint="api/others")


@pytest.mark.parametrize(
    "raw", [b"", b"{}", b"null", b"[]", b"\xff\xfe", b"<html>", b'{"content":{}}', b'[1,"content":{}}', b"[" * 100_000]
)
def test_what_is_no_bundle_is_refused(raw: bytes) -> None:
    with pytest.raises(BundleError, match=r"^this is not a (whole )?bundle$"):
        read_bundle(raw, endpoint="api/things")


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b'{"endpoint":NaN}', b"[" * 100_000, b'{"a":' * 100_000])
def test_content_that_is_no_json_is_refused(content: bytes) -> None:
    with pytest.raises(BundleError, match=r"^invalid JSON$"):
        read(content)


@pytest.mark.parametrize("content", [None, [], "bundle", 1, True])
def test_content_that_is_no_object_is_refused(content: object) -> None:
    with pytest.raises(BundleError, match=r"^expected an object, got "):
        read(content)


OBJECT, LIST, TEXT, INTEGER, MASK = (
    "an object",
    "a list",
    "a string",
    "an integer",
    "a list of condition numbers",
)


@pytest.mark.parametrize(
    ("keys", "wrong", "message"),
    [
        (["endpoint"], 1, f"endpoint: expected {TEXT}, got int"),
        (["sources"], None, f"sources: expected {TEXT}, got nothing"),
        (["index"], [], f"index: expected {TEXT}, got list"),
        (["conditions"], {}, f"conditions: expected {LIST}, got dict"),
        (["conditions", 1], True, f"conditions[1]: expected {OBJECT}, got bool"),
        (["guards"], [], f"guards: expected {OBJECT}, got list"),
        (["guards", "Query.secret"], 1, f"guards[Query.secret]: expected {MASK}, got int"),
        (["guards", "Query.secret"], [True], f"guards[Query.secret]: expected {MASK}, got list"),
        (["tools"], {}, f"tools: expected {LIST}, got dict"),
        (["tools", 0], "tool", f"tools[0]: expected {OBJECT}, got str"),
        (
            ["tools", 0, "kind"],
            "c",
            "tools[0].kind: expected one of prescribed, graphql, companion, code, catalog, got 'c'",
        ),
        (["tools", 0, "kind"], None, f"tools[0].kind: expected {TEXT}, got nothing"),
        (["tools", 0, "name"], {}, f"tools[0].name: expected {TEXT}, got dict"),
        (["tools", 0, "entry"], "x", f"tools[0].entry: expected {OBJECT}, got str"),
        (["tools", 0, "arguments"], [], f"tools[0].arguments: expected {OBJECT}, got list"),
        (["tools", 0, "flat"], 1, "tools[0].flat: expected true or false, got int"),
        (["tools", 0, "mask"], {"0": 1}, f"tools[0].mask: expected {MASK}, got dict"),
        (["tools", 0, "mask"], ["1"], f"tools[0].mask: expected {MASK}, got list"),
        (["tools", 0, "operation"], "query", f"tools[0].operation: expected {OBJECT}, got str"),
        (["tools", 0, "operation", "name"], None, f"tools[0].operation.name: expected {TEXT}, got nothing"),
        (["tools", 0, "operation", "kind"], 1, f"tools[0].operation.kind: expected {TEXT}, got int"),
        (["tools", 0, "operation", "text"], [], f"tools[0].operation.text: expected {TEXT}, got list"),
        (["tools", 1, "guards"], None, f"tools[1].guards: expected {OBJECT}, got nothing"),
        (["tools", 1, "guards", "Thing.price"], [0.5], f"tools[1].guards[Thing.price]: expected {MASK}, got list"),
        (["tools", 1, "listings"], "x", f"tools[1].listings: expected {LIST}, got str"),
        (["tools", 1, "listings", 0], [], f"tools[1].listings[0]: expected {OBJECT}, got list"),
        (["tools", 1, "listings", 0, "outcome"], 1, f"tools[1].listings[0].outcome: expected {MASK}, got int"),
        (["tools", 1, "listings", 1, "entry"], "x", f"tools[1].listings[1].entry: expected {OBJECT}, got str"),
        (["upstream"], "https://", f"upstream: expected {OBJECT}, got str"),
        (["upstream", "url"], None, f"upstream.url: expected {TEXT}, got nothing"),
        (["upstream", "timeout_s"], "2", "upstream.timeout_s: expected a number, got str"),
        (["upstream", "timeout_s"], True, "upstream.timeout_s: expected a number, got bool"),
        (["upstream", "timeout_s"], 10**400, "upstream.timeout_s: expected a number, got int"),
        (["upstream", "max_bytes"], 1.5, f"upstream.max_bytes: expected {INTEGER}, got float"),
        (["upstream", "headers"], [], f"upstream.headers: expected {OBJECT}, got list"),
        (["upstream", "headers", "x-client"], 1, f"upstream.headers[x-client]: expected {TEXT}, got int"),
        (["upstream", "claim_headers", "x-role"], 1, f"upstream.claim_headers[x-role]: expected {TEXT}, got int"),
        (["upstream", "forward_headers", 0], 1, f"upstream.forward_headers[0]: expected {TEXT}, got int"),
        (["upstream", "auth"], "none", f"upstream.auth: expected {OBJECT}, got str"),
        (
            ["upstream", "auth", "kind"],
            "basic",
            (
                "upstream.auth.kind: expected one of none, bearer, header, passthrough, client_credentials, "
                "token_exchange, sigv4, got 'basic'"
            ),
        ),
        (["upstream", "auth", "actor_token"], None, f"upstream.auth.actor_token: expected {TEXT}, got nothing"),
        (
            ["upstream", "auth", "client", "token_url"],
            1,
            f"upstream.auth.client.token_url: expected {TEXT}, got int",
        ),
        (["limits", "max_depth"], True, f"limits.max_depth: expected {INTEGER}, got bool"),
        (["access", "anonymous"], True, f"access.anonymous: expected {TEXT}, got bool"),
        (["identity", "api_keys"], None, f"identity.api_keys: expected {LIST}, got nothing"),
        (["identity", "api_keys", 1], "key", f"identity.api_keys[1]: expected {OBJECT}, got str"),
        (["identity", "api_keys", 1, "sha256"], 0, f"identity.api_keys[1].sha256: expected {TEXT}, got int"),
        (["graphql", "mode"], True, f"graphql.mode: expected {TEXT}, got bool"),
        (["graphql", "guards", "__schema"], 2, f"graphql.guards[__schema]: expected {MASK}, got int"),
        (["graphql", "documents"], {}, f"graphql.documents: expected {LIST}, got dict"),
        (["graphql", "documents", 0, "id"], 1, f"graphql.documents[0].id: expected {TEXT}, got int"),
        (["graphql", "documents", 1, "tools"], [1], f"graphql.documents[1].tools[0]: expected {TEXT}, got int"),
        (
            ["graphql", "documents", 0, "operations", 0, "operation"],
            "{ a }",
            f"graphql.documents[0].operations[0].operation: expected {OBJECT}, got str",
        ),
        (
            ["graphql", "documents", 0, "operations", 0, "variables"],
            None,
            f"graphql.documents[0].operations[0].variables: expected {OBJECT}, got nothing",
        ),
        (
            ["graphql", "documents", 0, "operations", 0, "mask"],
            None,
            f"graphql.documents[0].operations[0].mask: expected {MASK}, got nothing",
        ),
        (
            ["graphql", "documents", 0, "operations", 0, "bindings", 0, "source"],
            1,
            f"graphql.documents[0].operations[0].bindings[0].source: expected {TEXT}, got int",
        ),
        (
            ["graphql", "documents", 0, "operations", 0, "bound"],
            [],
            f"graphql.documents[0].operations[0].bound: expected {OBJECT}, got list",
        ),
        (["prompts", 0, "messages"], "x", f"prompts[0].messages: expected {LIST}, got str"),
        (["prompts", 0, "messages", 0, "role"], 1, f"prompts[0].messages[0].role: expected {TEXT}, got int"),
        (["prompts", 0, "mask"], None, f"prompts[0].mask: expected {MASK}, got nothing"),
        (["prompts", 1, "kind"], "x", "prompts[1].kind: expected one of text, code, got 'x'"),
        (["resources", 0, "blob"], None, f"resources[0].blob: expected {TEXT}, got nothing"),
        (["resources", 0, "mask"], 1, f"resources[0].mask: expected {MASK}, got int"),
        (["instructions"], None, f"instructions: expected {TEXT}, got nothing"),
        (["identity", "api_keys", 0, "expires"], "never", f"identity.api_keys[0].expires: expected {INTEGER}, got str"),
    ],
    ids=lambda value: ".".join(map(str, value)) if isinstance(value, list) and value else None,
)
def test_member_of_a_wrong_type_is_named_by_its_path(keys: Sequence[Any], wrong: object, message: str) -> None:
    content = content_of(HANDMADE)
    place = content
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = wrong

    with pytest.raises(BundleError) as caught:
        read(content)

    assert str(caught.value) == message
    assert caught.value.path == message.partition(":")[0]


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("headers", {"Host": "internal.example"}),
        ("claim_headers", {"content-length": "n"}),
        ("forward_headers", ["transfer-encoding"]),
        ("auth", {"kind": "header", "header": "host", "value": "env:K"}),
    ],
)
def test_bundle_that_no_compiler_wrote_says_nothing_of_the_connection(member: str, value: object) -> None:
    content = content_of(HANDMADE)
    content["upstream"][member] = value

    with pytest.raises(BundleError, match=r"^upstream\.headers: the header [\w-]+ is the connection's own$"):
        read(content)


REFERS: dict[str, tuple[Any, str]] = {
    "to a file": ({"properties": {"a": {"$ref": "file:///etc/passwd"}}}, "'file:///etc/passwd' is not one of"),
    "to another host": ({"items": [{"$ref": "https://example.com/a"}]}, "'https://example.com/a' is not one of"),
    "to nothing": ({"$ref": "#/$defs/A", "$defs": {"B": {}}}, "'#/$defs/A' is not one of"),
    "to all of itself": ({"properties": {"a": {"$ref": "#"}}}, "'#' is not one of"),
    "by another keyword": ({"properties": {"a": {"$dynamicRef": "#meta"}}}, "'#meta' is not one of"),
    "to nothing by name": ({"$ref": {}}, "'{}' is not one of"),
    "from another place": ({"$defs": {"A": {"$id": "https://example.com/"}}}, "'https://example.com/' is not one of"),
    "in a circle": ({"$defs": {"A": {"$ref": "#/$defs/A"}}}, "'#/$defs/A' is defined by itself"),
    "in a circle of two": (
        {"$defs": {"A": {"anyOf": [{}, {"not": {"$ref": "#/$defs/B"}}]}, "B": {"allOf": [{"$ref": "#/$defs/A"}]}}},
        "'#/$defs/A' is defined by itself",
    ),
    "in a property like a value": ({"properties": {"default": {"$ref": "x"}}}, "'x' is not one of"),
}
SCHEMAS: tuple[tuple[Any, ...], ...] = (
    ("tools", 0, "arguments"),
    ("tools", 0, "bound"),
    ("tools", 0, "entry", "outputSchema"),
    ("tools", 1, "arguments"),
    ("graphql", "documents", 0, "operations", 0, "variables"),
)


@pytest.mark.parametrize("place", SCHEMAS, ids=lambda place: ".".join(map(str, place)))
@pytest.mark.parametrize(("schema", "words"), REFERS.values(), ids=REFERS)
def test_schema_that_refers_to_what_it_does_not_have_is_refused(
    place: tuple[Any, ...], schema: Any, words: str
) -> None:
    content = content_of(HANDMADE)
    inner = content
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = schema

    with pytest.raises(BundleError) as caught:
        read(content)

    assert words in str(caught.value)
    assert caught.value.path.startswith(str(place[0]))


def test_schema_may_have_values_of_itself_and_values_that_look_like_references() -> None:
    content = content_of(HANDMADE)
    node = {"properties": {"parts": {"items": {"$ref": "#/$defs/A"}}, "$ref": {"default": {"$ref": "x"}}}}
    content["tools"][0]["arguments"] = {"anyOf": [{"$ref": "#/$defs/A"}, {"enum": [{"$ref": 1}]}], "$defs": {"A": node}}

    read(content)


def test_missing_member_is_refused_wherever_it_was() -> None:
    for member in content_of(HANDMADE).keys() - {
        "log",
        "synonyms",
        "skills",
        "list_budget",
        "version",
        "server",
        "listed",
        "software",
    }:  # which older bundles lack
        content = content_of(HANDMADE)
        del content[member]

        with pytest.raises(BundleError, match=f"^{member}: expected .*, got nothing$"):
            read(content)


def test_whole_number_of_seconds_is_a_number() -> None:
    content = content_of(HANDMADE)
    content["upstream"]["timeout_s"] = 10

    assert read(content).upstream.timeout_s == 10.0


def test_member_that_this_release_does_not_know_is_ignored() -> None:
    assert read({**content_of(HANDMADE), "later": 1}) == HANDMADE
