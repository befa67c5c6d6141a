"""A bundle's stored form: versioned JSON.

A stored bundle is one JSON object, ``{"format_version": N, "sha256": "…", "content": {…}}``, in which ``sha256`` is
the digest of the bytes of ``content``. The header is read first, so that an unknown format or a damaged object is
refused before any of its content is used.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from types import UnionType
from typing import Any, TypeVar

from handler.bundle.model import Bundle
from handler.bundle.tools import CodeTool, GraphQLTool, PrescribedTool
from handler.bundle.upstream import require_own_headers
from handler.cold.records import record_fields
from handler.errors.infrastructure import BundleError
from handler.policy.evaluation import Mask
from handler.strict_json import Entry, JSONObject, parse_stored, to_json_bytes

T = TypeVar("T")

Reader = Callable[[Any], Any]

FORMAT_VERSION = 2
READABLE_VERSIONS = (2, 1)
"""This release's format and the one before it, which had no parts.

The key of a bundle names its format, so a function of the next format finds no bundle of this one. If the format
changes, first publish with the new release: its bundles lie beside those that the function still reads. Then deploy.
"""

DIGEST_CHARS = 12

_HEADER_END = b',"content":'

_PART = b'"$part"'


def bundle_key(endpoint: str) -> str:
    """Return the key of the bundle of ``folder/name``, below the storage's location."""
    return f"{endpoint}/bundle.v{FORMAT_VERSION}.json"


def older_bundle_keys(endpoint: str) -> list[str]:
    """Return the keys of the bundles of ``folder/name`` in older formats that this release reads, the newest first.

    A function never looks for them. Commands compare with one of them if the endpoint has no bundle of this format.
    """
    return [f"{endpoint}/bundle.v{number}.json" for number in READABLE_VERSIONS if number != FORMAT_VERSION]


def withdrawal_key(endpoint: str) -> str:
    """Return the key of the mark of ``folder/name`` after `stile remove`: an empty object, which nobody reads."""
    return f"{endpoint}/withdrawn"


def index_key(endpoint: str, sha256: str) -> str:
    """Return the key of the schema index of ``folder/name``: a right to write it is a right to write the bundle.

    The object never changes: its name is its digest.
    """
    return f"{endpoint}/{shared_index_key(sha256)}"


def shared_index_key(sha256: str) -> str:
    """Return the key under which older releases stored a schema index for all endpoints that have the schema."""
    return f".index/{sha256}"


def write_bundle(bundle: Bundle) -> bytes:
    """Return the stored form of a bundle. Equal bundles give equal bytes."""
    from handler.bundle.parts import with_parts

    content = to_json_bytes(with_parts(bundle))
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
    if version != 1 and _PART in content:
        from handler.bundle.parts import read_parts  # a small bundle has none

        members = parse_stored(content, read_parts)
    else:
        members = parse_stored(content)
    match members:
        case {"identity": {"bridge": proxy} as identity}:  # bundles of older releases have the proxy by another name
            identity.setdefault("oauth_proxy", proxy)
    bundle = read_record(Bundle, members)
    if bundle.endpoint != endpoint:
        raise BundleError(f"this is the bundle of {bundle.endpoint}, expected {endpoint}")
    require_own_headers(bundle.upstream)
    require_own_references(bundle)
    if bundle.identity.trusts_development:
        raise BundleError("identity trusts the development issuer of `stile token`, which only its author may")
    return bundle


def short_digest(raw: bytes) -> str:
    """Return the beginning of a stored bundle's digest: enough to identify the bundle that served a request."""
    header, _ = _split(raw)
    return str(header["sha256"])[:DIGEST_CHARS]


def format_of(raw: bytes) -> Any:
    """Return the format that stored bytes name, whether or not this release reads it.

    Raises:
        BundleError: the bytes are not a bundle.
    """
    return _split(raw)[0].get("format_version")


def index_named_by(raw: bytes) -> str:
    """Return the SHA-256 of the schema index that a stored bundle of any format names; empty string if none.

    Raises:
        BundleError: the bytes are not a bundle, or do not say which index the bundle has.
    """
    content = parse_stored(_split(raw)[1])
    index = content.get("index") if isinstance(content, dict) else None
    if not isinstance(index, str):
        raise BundleError("the bundle does not say which schema index it has")
    return index


def _split(raw: bytes) -> tuple[JSONObject, bytes]:
    head, _, rest = raw.partition(_HEADER_END)
    try:
        header = parse_stored(head + b"}")  # an object, by its last byte
    except BundleError as exc:
        raise BundleError("this is not a bundle") from exc
    if not rest.endswith(b"}"):
        raise BundleError("this is not a whole bundle")
    return header, rest[:-1]


def read_record(cls: type[T], raw: Any) -> T:
    """Read the object that ``write_bundle`` writes for a record: annotations name the types of its members.

    Annotations are names in ``READERS``, records, unions of records with a ``KIND``, and ``X | None``,
    ``tuple[X, ...]`` and ``Mapping[str, X]`` of these.

    A field with a default may be missing, and members without a field are ignored: other releases wrote the object.

    Raises:
        BundleError: a member of another type, or a missing one; the error has the path, such as ``tools[3].mask``.
    """
    members = _object(raw)
    values: JSONObject = {}
    name = ""
    try:
        for name, reader, is_optional in _fields(cls):  # type: ignore[arg-type]  # mypy takes a class for unhashable
            if name in members or not is_optional:
                values[name] = reader(members.get(name))
    except BundleError as exc:
        raise exc.inside(name) from exc
    return cls(**values)


@cache
def _fields(cls: type) -> tuple[tuple[str, Reader, bool], ...]:
    names = vars(sys.modules[cls.__module__])
    return tuple((name, _reader_of(text, names), is_optional) for name, text, is_optional in record_fields(cls))


def _reader_of(annotation: str, names: Mapping[str, Any]) -> Reader:
    """Return the reader of values of a type. ``names`` are those of the module that names the type."""
    if annotation in READERS:
        return READERS[annotation]
    if annotation.endswith(" | None"):
        present = _reader_of(annotation.removesuffix(" | None"), names)
        return lambda raw: None if raw is None else present(raw)
    if annotation.startswith("tuple["):
        item = _reader_of(annotation.removeprefix("tuple[").removesuffix(", ...]"), names)
        return lambda raw: tuple(_items(item, enumerate(_list(raw))).values())
    if annotation.startswith("Mapping[str, "):
        value = _reader_of(annotation.removeprefix("Mapping[str, ").removesuffix("]"), names)
        return lambda raw: _items(value, _object(raw).items())
    type_ = names[annotation]
    if isinstance(type_, UnionType):
        return partial(_of_kind, {cls.KIND: cls for cls in type_.__args__})
    return partial(read_record, type_)


def _items(reader: Reader, items: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    values = {}
    place: object = None
    try:
        for place, item in items:
            values[place] = reader(item)
    except BundleError as exc:
        raise exc.inside(f"[{place}]") from exc
    return values


def _of_kind(records: Mapping[str, type], raw: Any) -> Any:
    kind = _object(raw).get("kind")
    if type(kind) is not str:
        raise _wrong_type(kind, "a string").inside("kind")
    if kind not in records:
        raise BundleError(f"expected one of {', '.join(records)}, got {kind!r}", path="kind")
    return read_record(records[kind], raw)


def _exactly(kind: type, name: str) -> Reader:
    """Return a reader of one type: ``True`` is not an integer."""

    def read(raw: Any) -> Any:
        if type(raw) is not kind:
            raise _wrong_type(raw, name)
        return raw

    return read


def _number(raw: Any) -> float:
    if type(raw) is int and abs(raw) < 2**53:  # the JSON of a whole number is that of an integer
        return float(raw)
    if type(raw) is not float:
        raise _wrong_type(raw, "a number")
    return raw


def _mask(raw: Any) -> Mask:
    if type(raw) is not list or not all(type(number) is int for number in raw):
        raise _wrong_type(raw, "a list of condition numbers")
    return frozenset(raw)


def _wrong_type(value: Any, expected: str) -> BundleError:
    return BundleError(f"expected {expected}, got {'nothing' if value is None else type(value).__name__}")


_list = _exactly(list, "a list")
_object = _exactly(dict, "an object")

READERS: Mapping[str, Reader] = {
    "Any": lambda raw: raw,
    "JSONObject": _object,
    "ListedEntry": lambda raw: Entry(_object(raw)),
    "Mask": _mask,
    "Predicate": _object,
    "SecretText": _exactly(str, "a string"),
    "bool": _exactly(bool, "true or false"),
    "float": _number,
    "int": _exactly(int, "an integer"),
    "str": _exactly(str, "a string"),
}
"""Name in an annotation -> reader of its values."""


REFERRING = frozenset({"$ref", "$dynamicRef", "$id"})
IN_PLACE = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else"})
NOT_WALKED = frozenset({"$defs", "const", "default", "enum", "examples"})
OF_NAMES = frozenset({"dependentSchemas", "patternProperties", "properties"})


def require_own_references(bundle: Bundle) -> None:
    """Refuse schemas that refer to another document or to nothing, and definitions of which one is defined by itself.

    A definition may have members or items of itself. Schemas of tools in Python are their authors', and not read here.

    Raises:
        BundleError: with the path of the schema's tool or persisted operation.
    """
    check = _Check()
    for number, tool in enumerate(bundle.tools):
        enforced = isinstance(tool, PrescribedTool | GraphQLTool)
        schemas = [tool.arguments, getattr(tool, "bound", None)] if enforced else [tool.entry.get("inputSchema")]
        if isinstance(tool, PrescribedTool) and tool.task and tool.task.cancel:
            schemas += [tool.task.cancel.variables, tool.task.cancel.bound]
        schemas.append(tool.entry.get("outputSchema"))
        check.require([] if isinstance(tool, CodeTool) else schemas, f"tools[{number}]")
    for place, document in enumerate(bundle.graphql.documents):
        for number, operation in enumerate(document.operations):
            check.require([operation.variables, operation.bound], f"graphql.documents[{place}].operations[{number}]")


class _Check:
    """The check of one bundle. Definitions that schemas share are walked once; the bundle keeps their identities."""

    def __init__(self) -> None:
        self._walked: dict[int, tuple[frozenset[str], frozenset[str]]] = {}
        self._names: dict[tuple[tuple[str, ...], tuple[int, ...]], frozenset[str]] = {}

    def require(self, schemas: Sequence[Any], path: str) -> None:
        for schema in schemas:
            definitions = schema.get("$defs", {}) if isinstance(schema, dict) else {}
            if not isinstance(definitions, dict):
                raise BundleError("$defs: expected an object", path=path)
            key = tuple(definitions), tuple(map(id, definitions.values()))
            try:
                names = self._names[key] = self._names.get(key) or self._names_of(definitions)
                _require_known(frozenset(_references(schema)), names)
            except BundleError as exc:
                raise exc.inside(path) from exc

    def _names_of(self, definitions: Mapping[str, Any]) -> frozenset[str]:
        """Return the references that definitions allow, which are all that they have themselves."""
        names = frozenset(f"#/$defs/{name}" for name in definitions)
        undefined: dict[str, frozenset[str]] = {}  # definition -> those that it has in its place
        for name, schema in definitions.items():
            if id(schema) not in self._walked:
                in_place = frozenset(_references(schema, in_place=True))
                self._walked[id(schema)] = frozenset(_references(schema)), in_place
            references, undefined[f"#/$defs/{name}"] = self._walked[id(schema)]
            _require_known(references, names)
        while ends := [name for name, references in undefined.items() if references.isdisjoint(undefined)]:
            for name in ends:
                del undefined[name]
        if undefined:
            raise BundleError(f"{next(iter(undefined))!r} is defined by itself")
        return names


def _require_known(references: frozenset[str], names: frozenset[str]) -> None:
    for reference in sorted(references - names):
        raise BundleError(f"{reference!r} is not one of the definitions of the schema")


def _references(schema: Any, *, in_place: bool = False) -> Iterator[str]:
    """Yield the references of a schema but for its definitions; with ``in_place`` those that hold for its own value."""
    parts, identities = [schema], set()
    for part in parts:
        if id(part) in identities:  # a shared part, which may stand in itself many times
            continue
        identities.add(id(part))
        if type(part) is list:
            parts += part
        for keyword, value in part.items() if type(part) is dict else ():
            if keyword in REFERRING:
                yield value if type(value) is str else repr(value)
            elif type(value) in (dict, list) and (keyword in IN_PLACE if in_place else keyword not in NOT_WALKED):
                parts += value.values() if keyword in OF_NAMES and type(value) is dict else (value,)
