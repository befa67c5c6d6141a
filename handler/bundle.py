"""The waist between deploy time and request time: a compiled endpoint, to and from versioned JSON.

A stored bundle is one JSON object, ``{"format_version": N, "sha256": "…", "content": {…}}``, in which ``sha256`` is
the digest of the bytes of ``content``. The header is read first, so that an unknown format or a damaged object is
refused before anything inside it is believed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from handler.errors import BundleError
from handler.json_shape import each, inside, mapping, parse_stored, require, require_object, wrong_type
from handler.policy import Mask, Predicate

JSONObject = dict[str, Any]

FORMAT_VERSION = 1
READABLE_VERSIONS = (1,)
"""This release's format and the one before it. There is only one so far."""

ENDPOINT_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*/[A-Za-z][A-Za-z0-9_-]*")

CONFIRM = "confirm"
"""The argument in which a caller says that its user agreed."""

_HEADER_END = b',"content":'


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One persisted operation, ready to send upstream."""

    name: str
    kind: str  # query | mutation
    text: str  # the operation and the fragments it uses, without our directives and descriptions
    sha256: str  # of the text, by which an API may know it
    null_is_absent: tuple[str, ...]  # variables that the API cannot take null for, and callers may give

    def sendable(self, variables: Mapping[str, Any]) -> JSONObject:
        """The variables as the API takes them."""
        return {name: value for name, value in variables.items() if not (value is None and name in self.null_is_absent)}


@dataclass(frozen=True, slots=True, kw_only=True)
class PersistedOperation:
    """An operation that requests name by the id of its document. Its name is empty where the author gave none."""

    operation: Operation
    variables: JSONObject  # the enforced schema
    mask: Mask


@dataclass(frozen=True, slots=True, kw_only=True)
class PersistedDocument:
    """A file of operations, called by ``sha256:`` and the SHA-256 of its bytes."""

    id: str
    operations: tuple[PersistedOperation, ...]
    tools: tuple[str, ...]  # tools that say of further operations of it all that an entry would: none stands here twice


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphQLEndpoint:
    """What ``/{folder}/{name}/graphql`` takes: nothing, persisted documents, or whatever a caller writes."""

    mode: str  # off | persisted | on
    guards: Mapping[str, Mask]  # what holds there beside the bundle's: ``__schema``, ``__type``, Federation's fields
    documents: tuple[PersistedDocument, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How large a document that a model writes may be."""

    max_tokens: int
    max_depth: int
    max_fields: int
    max_aliases: int
    max_cost: int  # objects and items of lists that its answer could hold


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOptions:
    """How a tool is served, whatever its kind."""

    hidden: bool  # not listed, but callable
    aliases: tuple[str, ...]  # old names: callable, not listed
    scopes: tuple[str, ...]  # what the caller's token must have
    output: str  # both | text | structured: which forms a result has
    confirm: bool  # a call that writes has to say that its user agreed
    meta: Mapping[str, str]  # each result's _meta


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """A variable that neither a model nor its user fills."""

    variable: str
    source: str  # claim | header | value
    name: str  # of the claim or header
    value: Any  # of a constant
    read_as: str  # what a header's text is: string | integer | number | boolean


@dataclass(frozen=True, slots=True, kw_only=True)
class PrescribedTool:
    """A persisted operation whose variables the model fills."""

    name: str
    entry: JSONObject  # as tools/list shows it
    arguments: JSONObject  # the enforced schema: JSON Schema 2020-12
    flat: bool  # True: variables are the arguments; False: they stand under "variables"
    mask: Mask
    operation: Operation
    bindings: tuple[Binding, ...]
    bound: JSONObject  # the schema of what the bindings give, as one object
    options: ToolOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What ``tools/list`` shows of a GraphQL tool to callers of one outcome; no entry: nothing."""

    outcome: Mask
    entry: JSONObject | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphQLTool:
    """The model writes a request against a subset of the schema."""

    name: str
    arguments: JSONObject
    guards: Mapping[str, Mask]  # coordinate -> mask, what the tool's patterns add to the bundle's guards
    listings: tuple[Listing, ...]
    limits: Limits
    options: ToolOptions


Tool = PrescribedTool | GraphQLTool


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """The GraphQL API behind the endpoint. An empty ``url``: none is configured."""

    url: str
    timeout_s: float
    max_bytes: int
    headers: Mapping[str, str]
    documents: str  # text | documentId | apollo: how an operation is named to it


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key by its digest; the key itself is never stored. ``expires`` is a UNIX time in seconds, 0 for never."""

    name: str
    sha256: str
    expires: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Who gets in: ``anonymous`` is ``allow`` or ``challenge``."""

    anonymous: str
    api_keys: tuple[ApiKey, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """One compiled endpoint."""

    endpoint: str  # folder/name
    sources: str  # SHA-256 over the author's files
    index: str  # SHA-256 of the schema index, an object of its own
    conditions: tuple[Predicate, ...]  # their numbers are their places; 0 never holds
    guards: Mapping[str, Mask]  # coordinate -> mask; what is not here is open
    tools: tuple[Tool, ...]
    upstream: Upstream
    limits: Limits
    access: Access
    graphql: GraphQLEndpoint


def bundle_key(endpoint: str) -> str:
    """Where the bundle of ``folder/name`` is stored, below the storage's location."""
    return f"{endpoint}/bundle.v{FORMAT_VERSION}.json"


def index_key(sha256: str) -> str:
    """Where a schema index is stored. The object never changes: its name is its digest."""
    return f".index/{sha256}"


def write_bundle(bundle: Bundle) -> bytes:
    """The stored form of a bundle. The same bundle gives the same bytes."""
    content = to_json_bytes(_plain(bundle))
    digest = hashlib.sha256(content).hexdigest()
    return b'{"format_version":%d,"sha256":"%s"' % (FORMAT_VERSION, digest.encode()) + _HEADER_END + content + b"}"


def read_bundle(raw: bytes, *, endpoint: str) -> Bundle:
    """Read a stored bundle.

    Raises:
        BundleError: no bundle, a format this release cannot read, bytes that differ from their digest, or the
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


def _split(raw: bytes) -> tuple[JSONObject, bytes]:
    head, _, rest = raw.partition(_HEADER_END)
    try:
        header = require_object(parse_stored(head + b"}"))
    except BundleError as exc:
        raise BundleError("this is no bundle") from exc
    if not rest.endswith(b"}"):
        raise BundleError("this is no whole bundle")
    return header, rest[:-1]


def to_json_bytes(value: Any) -> bytes:
    """Compact UTF-8 JSON in the order of ``value``. Half of a surrogate pair, which UTF-8 has not, stays escaped."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


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


# Readers: one line a field, and an error that says where.


def _bundle(raw: Any) -> Bundle:
    return Bundle(
        endpoint=require(raw, "endpoint", str),
        sources=require(raw, "sources", str),
        index=require(raw, "index", str),
        conditions=each(raw, "conditions", require_object),
        guards=mapping(raw, "guards", _mask),
        tools=each(raw, "tools", _tool),
        upstream=inside("upstream", _upstream, require(raw, "upstream", dict)),
        limits=inside("limits", _limits, require(raw, "limits", dict)),
        access=inside("access", _access, require(raw, "access", dict)),
        graphql=inside("graphql", _graphql_endpoint, require(raw, "graphql", dict)),
    )


def _tool(raw: Any) -> Tool:
    kind = require(raw, "kind", str)
    if kind not in TOOL_READERS:
        raise BundleError(f"expected one of {', '.join(TOOL_READERS)}, got {kind!r}", path="kind")
    return TOOL_READERS[kind](raw)


def _prescribed(raw: JSONObject) -> PrescribedTool:
    return PrescribedTool(
        name=require(raw, "name", str),
        entry=require(raw, "entry", dict),
        arguments=require(raw, "arguments", dict),
        flat=require(raw, "flat", bool),
        mask=inside("mask", _mask, raw.get("mask")),
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
        aliases=each(raw, "aliases", _text),
        scopes=each(raw, "scopes", _text),
        output=require(raw, "output", str),
        confirm=require(raw, "confirm", bool),
        meta=mapping(raw, "meta", _text),
    )


def _operation(raw: JSONObject) -> Operation:
    return Operation(
        name=require(raw, "name", str),
        kind=require(raw, "kind", str),
        text=require(raw, "text", str),
        sha256=require(raw, "sha256", str),
        null_is_absent=each(raw, "null_is_absent", _text),
    )


def _graphql(raw: JSONObject) -> GraphQLTool:
    return GraphQLTool(
        name=require(raw, "name", str),
        arguments=require(raw, "arguments", dict),
        guards=mapping(raw, "guards", _mask),
        listings=each(raw, "listings", _listing),
        limits=inside("limits", _limits, require(raw, "limits", dict)),
        options=inside("options", _options, require(raw, "options", dict)),
    )


TOOL_READERS: Mapping[str, Callable[[JSONObject], Tool]] = {"prescribed": _prescribed, "graphql": _graphql}
KINDS: Mapping[type, str] = {PrescribedTool: "prescribed", GraphQLTool: "graphql"}


def _listing(raw: Any) -> Listing:
    outcome = inside("outcome", _mask, require_object(raw).get("outcome"))
    return Listing(outcome=outcome, entry=None if raw.get("entry") is None else require(raw, "entry", dict))


def _upstream(raw: JSONObject) -> Upstream:
    return Upstream(
        url=require(raw, "url", str),
        timeout_s=require(raw, "timeout_s", float),
        max_bytes=require(raw, "max_bytes", int),
        headers=mapping(raw, "headers", _text),
        documents=require(raw, "documents", str),
    )


def _limits(raw: JSONObject) -> Limits:
    return Limits(**{field.name: require(raw, field.name, int) for field in fields(Limits)})


def _access(raw: JSONObject) -> Access:
    return Access(anonymous=require(raw, "anonymous", str), api_keys=each(raw, "api_keys", _api_key))


def _api_key(raw: Any) -> ApiKey:
    return ApiKey(
        name=require(raw, "name", str), sha256=require(raw, "sha256", str), expires=require(raw, "expires", int)
    )


def _graphql_endpoint(raw: JSONObject) -> GraphQLEndpoint:
    return GraphQLEndpoint(
        mode=require(raw, "mode", str),
        guards=mapping(raw, "guards", _mask),
        documents=each(raw, "documents", _document),
    )


def _document(raw: Any) -> PersistedDocument:
    return PersistedDocument(
        id=require(raw, "id", str), operations=each(raw, "operations", _persisted), tools=each(raw, "tools", _text)
    )


def _persisted(raw: Any) -> PersistedOperation:
    return PersistedOperation(
        operation=inside("operation", _operation, require(raw, "operation", dict)),
        variables=require(raw, "variables", dict),
        mask=inside("mask", _mask, raw.get("mask")),
    )


def _mask(raw: Any) -> Mask:
    if not isinstance(raw, list) or not all(type(number) is int for number in raw):
        raise wrong_type(raw, "a list of condition numbers")
    return frozenset(raw)


def _text(raw: Any) -> str:
    if not isinstance(raw, str):
        raise wrong_type(raw, "a string")
    return raw
