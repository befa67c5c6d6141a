"""The waist between deploy time and request time: a compiled endpoint, to and from versioned JSON.

A stored bundle is one JSON object, ``{"format_version": N, "sha256": "…", "content": {…}}``, in which ``sha256`` is
the digest of the bytes of ``content``. The header is read first, so that an unknown format or a damaged object is
refused before anything inside it is believed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeVar

from handler.errors import BundleError
from handler.policy import Mask, Predicate

JSONObject = dict[str, Any]
T = TypeVar("T")

FORMAT_VERSION = 1
READABLE_VERSIONS = (1,)
"""This release's format and the one before it. There is only one so far."""

ENDPOINT_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*/[A-Za-z][A-Za-z0-9_-]*")

KIND_NAMES: Mapping[type, str] = {dict: "an object", list: "a list", str: "a string"}

_HEADER_END = b',"content":'


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One persisted operation, ready to send upstream."""

    name: str
    kind: str  # query | mutation
    text: str  # the operation and the fragments it uses, without our directives and descriptions


@dataclass(frozen=True, slots=True, kw_only=True)
class PrescribedTool:
    """A persisted operation whose variables the model fills."""

    name: str
    entry: JSONObject  # as tools/list shows it
    arguments: JSONObject  # the enforced schema: JSON Schema 2020-12
    flat: bool  # True: variables are the arguments; False: they stand under "variables"
    mask: Mask
    operation: Operation


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


Tool = PrescribedTool | GraphQLTool


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """The GraphQL API behind the endpoint. An empty ``url``: none is configured."""

    url: str
    timeout_s: float
    max_bytes: int
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How large a document that a model writes may be."""

    max_tokens: int
    max_depth: int
    max_fields: int
    max_aliases: int


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
    head, found, rest = raw.partition(_HEADER_END)
    header = _parse(head + b"}") if found else None
    if not isinstance(header, dict) or not rest.endswith(b"}"):
        raise BundleError("this is no bundle")
    version = header.get("format_version")
    if version not in READABLE_VERSIONS:
        readable = ", ".join(map(str, READABLE_VERSIONS))
        raise BundleError(
            f"format_version {version!r} is unknown; this release reads {readable}: publish again, or update Stile"
        )
    content = rest[:-1]
    if hashlib.sha256(content).hexdigest() != header.get("sha256"):
        raise BundleError("the content does not match its digest: the object is damaged, publish again")
    bundle = _bundle(_parse(content))
    if bundle.endpoint != endpoint:
        raise BundleError(f"this is the bundle of {bundle.endpoint}, expected {endpoint}")
    return bundle


def to_json_bytes(value: Any) -> bytes:
    """Compact UTF-8 JSON in the order of ``value``."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


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


def _parse(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as exc:
        raise BundleError("this is no bundle") from exc


# Readers: one line a field, and an error that says where.


def _bundle(raw: Any) -> Bundle:
    return Bundle(
        endpoint=_get(raw, "endpoint", str),
        sources=_get(raw, "sources", str),
        index=_get(raw, "index", str),
        conditions=tuple(_each(raw, "conditions", _object)),
        guards=_masks(raw),
        tools=tuple(_each(raw, "tools", _tool)),
        upstream=_inside("upstream", _upstream, _get(raw, "upstream", dict)),
        limits=_inside("limits", _limits, _get(raw, "limits", dict)),
        access=_inside("access", _access, _get(raw, "access", dict)),
    )


def _tool(raw: Any) -> Tool:
    kind = _get(raw, "kind", str)
    if kind not in TOOL_READERS:
        raise BundleError(f"expected one of {', '.join(TOOL_READERS)}, got {kind!r}", path="kind")
    return TOOL_READERS[kind](raw)


def _prescribed(raw: JSONObject) -> PrescribedTool:
    return PrescribedTool(
        name=_get(raw, "name", str),
        entry=_get(raw, "entry", dict),
        arguments=_get(raw, "arguments", dict),
        flat=_get(raw, "flat", bool),
        mask=_mask(_get(raw, "mask", list)),
        operation=_inside("operation", _operation, _get(raw, "operation", dict)),
    )


def _operation(raw: JSONObject) -> Operation:
    return Operation(name=_get(raw, "name", str), kind=_get(raw, "kind", str), text=_get(raw, "text", str))


def _graphql(raw: JSONObject) -> GraphQLTool:
    return GraphQLTool(
        name=_get(raw, "name", str),
        arguments=_get(raw, "arguments", dict),
        guards=_masks(raw),
        listings=tuple(_each(raw, "listings", _listing)),
    )


TOOL_READERS: Mapping[str, Callable[[JSONObject], Tool]] = {"prescribed": _prescribed, "graphql": _graphql}
KINDS: Mapping[type, str] = {PrescribedTool: "prescribed", GraphQLTool: "graphql"}


def _listing(raw: Any) -> Listing:
    entry = raw.get("entry") if isinstance(raw, dict) else None
    return Listing(outcome=_mask(_get(raw, "outcome", list)), entry=None if entry is None else _get(raw, "entry", dict))


def _upstream(raw: JSONObject) -> Upstream:
    return Upstream(
        url=_get(raw, "url", str),
        timeout_s=_get(raw, "timeout_s", float),
        max_bytes=_get(raw, "max_bytes", int),
        headers=_get(raw, "headers", dict),
    )


def _limits(raw: JSONObject) -> Limits:
    return Limits(**{field.name: _get(raw, field.name, int) for field in fields(Limits)})


def _access(raw: JSONObject) -> Access:
    return Access(anonymous=_get(raw, "anonymous", str), api_keys=tuple(_each(raw, "api_keys", _api_key)))


def _api_key(raw: Any) -> ApiKey:
    return ApiKey(name=_get(raw, "name", str), sha256=_get(raw, "sha256", str), expires=_get(raw, "expires", int))


def _masks(raw: Any) -> dict[str, Mask]:
    return {coordinate: _mask(numbers) for coordinate, numbers in _get(raw, "guards", dict).items()}


def _mask(raw: Any) -> Mask:
    if not isinstance(raw, list) or not all(isinstance(number, int) for number in raw):
        raise BundleError(f"expected a list of condition numbers, got {raw!r:.60}")
    return frozenset(raw)


def _object(raw: Any) -> JSONObject:
    if not isinstance(raw, dict):
        raise BundleError(f"expected an object, got {type(raw).__name__}")
    return raw


def _get(raw: Any, key: str, kind: type[T]) -> T:
    value = _object(raw).get(key)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        expected = KIND_NAMES.get(kind, f"of type {kind.__name__}")
        raise BundleError(f"expected {expected}, got {type(value).__name__}", path=key)
    return value


def _each(raw: Any, key: str, reader: Callable[[Any], T]) -> Sequence[T]:
    return [_inside(f"{key}[{place}]", reader, item) for place, item in enumerate(_get(raw, key, list))]


def _inside(part: str, reader: Callable[[Any], T], raw: Any) -> T:
    try:
        return reader(raw)
    except BundleError as exc:
        raise exc.inside(part) from exc
