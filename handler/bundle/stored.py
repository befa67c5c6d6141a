"""A bundle's stored form: versioned JSON.

A stored bundle is one JSON object, ``{"format_version": N, "sha256": "…", "content": {…}}``, in which ``sha256`` is
the digest of the bytes of ``content``. The header is read first, so that an unknown format or a damaged object is
refused before any of its content is used.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from handler.bundle.content import CodePrompt, CodeResource, FileResource, Prompt, PromptMessage, Resource, TextPrompt
from handler.bundle.identity import Access, ApiKey, Bridge, Identity, Issuer, VerificationKey
from handler.bundle.model import Bundle
from handler.bundle.operations import Binding, GraphQLEndpoint, Limits, Operation, PersistedDocument, PersistedOperation
from handler.bundle.tools import CatalogTool, CodeKit, CodeTool, GraphQLTool, Listing, PrescribedTool, Tool, ToolOptions
from handler.bundle.upstream_stored import AUTH_KINDS, read_upstream
from handler.errors.infrastructure import BundleError
from handler.json_bounds import MAX_VALUES
from handler.policy.evaluation import Mask
from handler.strict_json import (
    Entry,
    JSONObject,
    each,
    inside,
    mapping,
    of_kind,
    parse_stored,
    read_text,
    require,
    require_object,
    to_json_bytes,
    wrong_type,
)

T = TypeVar("T")

FORMAT_VERSION = 1
READABLE_VERSIONS = (1,)
"""This release's format and the one before it. There is only one so far.

The key of a bundle names its format, so a function of the next format finds no bundle of this one. If the format
changes, first publish with the new release: its bundles lie beside those that the function still reads. Then deploy.
"""

DIGEST_CHARS = 12

_HEADER_END = b',"content":'


def bundle_key(endpoint: str) -> str:
    """Return the key of the bundle of ``folder/name``, below the storage's location."""
    return f"{endpoint}/bundle.v{FORMAT_VERSION}.json"


def index_key(sha256: str) -> str:
    """Return the key of a schema index. The object never changes: its name is its digest."""
    return f".index/{sha256}"


def write_bundle(bundle: Bundle) -> bytes:
    """Return the stored form of a bundle. Equal bundles give equal bytes."""
    content = to_json_bytes(_plain(bundle))
    digest = hashlib.sha256(content).hexdigest()
    return b'{"format_version":%d,"sha256":"%s"' % (FORMAT_VERSION, digest.encode()) + _HEADER_END + content + b"}"


def read_bundle(raw: bytes, *, endpoint: str) -> Bundle:
    """Read a stored bundle.

    Raises:
        BundleError: not a bundle, a format that this release cannot read, bytes that differ from their digest, or the
            bundle of another endpoint than ``endpoint``.
    """
    header, content = _split(raw)
    version = header.get("format_version")
    if version not in READABLE_VERSIONS:
        readable = ", ".join(map(str, READABLE_VERSIONS))
        raise BundleError(
            f"format_version {version!r} is unknown; this release reads {readable}: publish again, or update Stile"
        )
    if hashlib.sha256(content).hexdigest() != header.get("sha256"):
        raise BundleError("the content does not match its digest: the object is damaged, publish again")
    bundle = _bundle(parse_stored(content))
    if bundle.endpoint != endpoint:
        raise BundleError(f"this is the bundle of {bundle.endpoint}, expected {endpoint}")
    return bundle


def short_digest(raw: bytes) -> str:
    """Return the beginning of a stored bundle's digest: enough to identify the bundle that served a request."""
    header, _ = _split(raw)
    return str(header["sha256"])[:DIGEST_CHARS]


def _split(raw: bytes) -> tuple[JSONObject, bytes]:
    head, _, rest = raw.partition(_HEADER_END)
    try:
        header = require_object(parse_stored(head + b"}"))
    except BundleError as exc:
        raise BundleError("this is no bundle") from exc
    if not rest.endswith(b"}"):
        raise BundleError("this is no whole bundle")
    return header, rest[:-1]


def _plain(value: Any) -> Any:
    match value:
        case frozenset():
            return sorted(value)
        case Mapping():
            return {key: _plain(item) for key, item in value.items()}
        case tuple() | list():
            return [_plain(item) for item in value]
        case _ if is_dataclass(value):
            members = {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
            return {"kind": KINDS[type(value)], **members} if type(value) in KINDS else members
        case _:
            return value


# Readers: one line a field. An error names the path.


def _bundle(raw: Any) -> Bundle:
    return Bundle(
        endpoint=require(raw, "endpoint", str),
        sources=require(raw, "sources", str),
        index=require(raw, "index", str),
        conditions=each(raw, "conditions", require_object),
        guards=mapping(raw, "guards", _mask),
        tools=each(raw, "tools", _tool),
        upstream=inside("upstream", read_upstream, require(raw, "upstream", dict)),
        limits=inside("limits", _limits, require(raw, "limits", dict)),
        access=inside("access", _access, require(raw, "access", dict)),
        identity=inside("identity", _identity, require(raw, "identity", dict)),
        graphql=inside("graphql", _graphql_endpoint, require(raw, "graphql", dict)),
        code=each(raw, "code", _code_kit),
        prompts=each(raw, "prompts", _prompt),
        resources=each(raw, "resources", _resource),
        instructions=require(raw, "instructions", str),
    )


def _tool(raw: Any) -> Tool:
    return of_kind(raw, TOOL_READERS)


def _prompt(raw: Any) -> Prompt:
    return of_kind(raw, PROMPT_READERS)


def _resource(raw: Any) -> Resource:
    return of_kind(raw, RESOURCE_READERS)


def _prescribed(raw: JSONObject) -> PrescribedTool:
    return PrescribedTool(
        name=require(raw, "name", str),
        entry=Entry(require(raw, "entry", dict)),
        arguments=require(raw, "arguments", dict),
        flat=require(raw, "flat", bool),
        mask=inside("mask", _mask, raw.get("mask")),
        conditions=inside("conditions", _mask, raw.get("conditions")),
        operation=inside("operation", _operation, require(raw, "operation", dict)),
        bindings=each(raw, "bindings", _binding),
        bound=require(raw, "bound", dict),
        options=inside("options", _options, require(raw, "options", dict)),
    )


def _binding(raw: Any) -> Binding:
    return Binding(
        variable=require(raw, "variable", str),
        source=require(raw, "source", str),
        name=require(raw, "name", str),
        value=raw.get("value"),
        read_as=require(raw, "read_as", str),
    )


def _options(raw: JSONObject) -> ToolOptions:
    return ToolOptions(
        hidden=require(raw, "hidden", bool),
        aliases=each(raw, "aliases", read_text),
        scopes=each(raw, "scopes", read_text),
        output=require(raw, "output", str),
        confirm=require(raw, "confirm", str),
        meta=mapping(raw, "meta", read_text),
    )


def _operation(raw: JSONObject) -> Operation:
    return Operation(
        name=require(raw, "name", str),
        kind=require(raw, "kind", str),
        text=require(raw, "text", str),
        sha256=require(raw, "sha256", str),
        null_is_absent=each(raw, "null_is_absent", read_text),
        variables=each(raw, "variables", read_text),
        defaults=require(raw, "defaults", dict),
    )


def _graphql(raw: JSONObject) -> GraphQLTool:
    return GraphQLTool(
        name=require(raw, "name", str),
        entry=require(raw, "entry", dict),
        arguments=require(raw, "arguments", dict),
        guards=mapping(raw, "guards", _mask),
        conditions=inside("conditions", _mask, raw.get("conditions")),
        listings=each(raw, "listings", _listing),
        limits=inside("limits", _limits, require(raw, "limits", dict)),
        options=inside("options", _options, require(raw, "options", dict)),
    )


def _code_tool(raw: JSONObject) -> CodeTool:
    return CodeTool(
        name=require(raw, "name", str),
        entry=Entry(require(raw, "entry", dict)),
        kit=require(raw, "kit", str),
        digest=require(raw, "digest", str),
        mask=inside("mask", _mask, raw.get("mask")),
        options=inside("options", _options, require(raw, "options", dict)),
    )


def _catalog_tool(raw: JSONObject) -> CatalogTool:
    return CatalogTool(
        name=require(raw, "name", str),
        entry=Entry(require(raw, "entry", dict)),
        options=inside("options", _options, require(raw, "options", dict)),
    )


def _code_kit(raw: Any) -> CodeKit:
    return CodeKit(
        use=require(raw, "use", str),
        per_caller=require(raw, "per_caller", bool),
        hidden=None if raw.get("hidden") is None else require(raw, "hidden", bool),
        category=require(raw, "category", str),
        mask=inside("mask", _mask, raw.get("mask")),
    )


def _text_prompt(raw: JSONObject) -> TextPrompt:
    return TextPrompt(
        name=require(raw, "name", str),
        entry=require(raw, "entry", dict),
        messages=each(raw, "messages", _prompt_message),
        completions=mapping(raw, "completions", _texts),
        mask=inside("mask", _mask, raw.get("mask")),
    )


def _prompt_message(raw: Any) -> PromptMessage:
    return PromptMessage(role=require(raw, "role", str), text=require(raw, "text", str))


def _code_prompt(raw: JSONObject) -> CodePrompt:
    return CodePrompt(
        name=require(raw, "name", str),
        entry=require(raw, "entry", dict),
        kit=require(raw, "kit", str),
        digest=require(raw, "digest", str),
        mask=inside("mask", _mask, raw.get("mask")),
        hidden=require(raw, "hidden", bool),
        completions=mapping(raw, "completions", _texts),
    )


def _file_resource(raw: JSONObject) -> FileResource:
    return FileResource(
        entry=require(raw, "entry", dict),
        text=require(raw, "text", str),
        blob=require(raw, "blob", str),
        mask=inside("mask", _mask, raw.get("mask")),
    )


def _code_resource(raw: JSONObject) -> CodeResource:
    return CodeResource(
        entry=require(raw, "entry", dict),
        kit=require(raw, "kit", str),
        digest=require(raw, "digest", str),
        mask=inside("mask", _mask, raw.get("mask")),
        hidden=require(raw, "hidden", bool),
    )


TOOL_READERS: Mapping[str, Callable[[JSONObject], Tool]] = {
    "prescribed": _prescribed,
    "graphql": _graphql,
    "code": _code_tool,
    "catalog": _catalog_tool,
}
PROMPT_READERS: Mapping[str, Callable[[JSONObject], Prompt]] = {"text": _text_prompt, "code": _code_prompt}
RESOURCE_READERS: Mapping[str, Callable[[JSONObject], Resource]] = {"file": _file_resource, "code": _code_resource}
KINDS: Mapping[type, str] = {
    PrescribedTool: "prescribed",
    GraphQLTool: "graphql",
    CodeTool: "code",
    CatalogTool: "catalog",
    TextPrompt: "text",
    CodePrompt: "code",
    FileResource: "file",
    CodeResource: "code",
    **AUTH_KINDS,
}


def _listing(raw: Any) -> Listing:
    outcome = inside("outcome", _mask, require_object(raw).get("outcome"))
    entry = None if raw.get("entry") is None else Entry(require(raw, "entry", dict))
    return Listing(outcome=outcome, entry=entry)


def _limits(raw: JSONObject) -> Limits:
    known = {"max_values": MAX_VALUES, **raw}  # older bundles do not have this limit
    return Limits(**{field.name: require(known, field.name, int) for field in fields(Limits)})


def _access(raw: JSONObject) -> Access:
    return Access(anonymous=require(raw, "anonymous", str))


def _identity(raw: JSONObject) -> Identity:
    return Identity(
        issuers=each(raw, "issuers", _issuer),
        api_keys=each(raw, "api_keys", _api_key),
        trusted_apis=each(raw, "trusted_apis", read_text),
        typed_apis=each(raw, "typed_apis", read_text) if "typed_apis" in raw else (),
        bridge=None if raw.get("bridge") is None else inside("bridge", _bridge, require(raw, "bridge", dict)),
    )


def _bridge(raw: JSONObject) -> Bridge:
    return Bridge(
        issuer=require(raw, "issuer", str),
        authorize_url=require(raw, "authorize_url", str),
        token_url=require(raw, "token_url", str),
        client_id=require(raw, "client_id", str),
        client_secret=require(raw, "client_secret", str),
        redirect_uris=each(raw, "redirect_uris", read_text),
        client_metadata_documents=each(raw, "client_metadata_documents", read_text),
        scope_prefix=require(raw, "scope_prefix", str),
        extra_scopes=each(raw, "extra_scopes", read_text),
        resource=require(raw, "resource", str),
    )


def _issuer(raw: Any) -> Issuer:
    return Issuer(
        issuer=require(raw, "issuer", str),
        audiences=each(raw, "audiences", read_text),
        subject=require(raw, "subject", str),
        required_claims=each(raw, "required_claims", read_text),
        algorithms=each(raw, "algorithms", read_text),
        jwks_url=require(raw, "jwks_url", str),
        keys=each(raw, "keys", _verification_key),
        leeway_s=require(raw, "leeway_s", int),
    )


def _verification_key(raw: Any) -> VerificationKey:
    return VerificationKey(
        id=require(raw, "id", str), algorithm=require(raw, "algorithm", str), key=require(raw, "key", str)
    )


def _api_key(raw: Any) -> ApiKey:
    return ApiKey(
        name=require(raw, "name", str),
        sha256=require(raw, "sha256", str),
        expires=require(raw, "expires", int),
        claims=None if raw.get("claims") is None else require(raw, "claims", dict),
    )


def _graphql_endpoint(raw: JSONObject) -> GraphQLEndpoint:
    return GraphQLEndpoint(
        mode=require(raw, "mode", str),
        guards=mapping(raw, "guards", _mask),
        conditions=inside("conditions", _mask, raw.get("conditions")),
        documents=each(raw, "documents", _document),
    )


def _document(raw: Any) -> PersistedDocument:
    return PersistedDocument(
        id=require(raw, "id", str), operations=each(raw, "operations", _persisted), tools=each(raw, "tools", read_text)
    )


def _persisted(raw: Any) -> PersistedOperation:
    return PersistedOperation(
        operation=inside("operation", _operation, require(raw, "operation", dict)),
        variables=require(raw, "variables", dict),
        mask=inside("mask", _mask, raw.get("mask")),
        conditions=inside("conditions", _mask, raw.get("conditions")),
        bindings=each(raw, "bindings", _binding),
        bound=require(raw, "bound", dict),
        scopes=each(raw, "scopes", read_text),
        confirm=require(raw, "confirm", str),
    )


def _mask(raw: Any) -> Mask:
    if not isinstance(raw, list) or not all(type(number) is int for number in raw):
        raise wrong_type(raw, "a list of condition numbers")
    return frozenset(raw)


def _texts(raw: Any) -> tuple[str, ...]:
    if not isinstance(raw, list):
        raise wrong_type(raw, "a list of strings")
    return tuple(map(read_text, raw))
