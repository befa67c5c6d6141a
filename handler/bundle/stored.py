"""A bundle's stored form: versioned JSON.

A stored bundle is one JSON object, ``{"format_version": N, "sha256": "…", "content": {…}}``, in which ``sha256`` is
the digest of the bytes of ``content``. The header is read first, so that an unknown format or a damaged object is
refused before any of its content is used.
"""

from __future__ import annotations

import hashlib
from typing import Any

from handler.bundle.model import Bundle
from handler.bundle.reading import read_record
from handler.bundle.schema_references import require_own_references
from handler.bundle.upstream import require_own_headers
from handler.errors.infrastructure import BundleError
from handler.strict_json import JSONObject, parse_stored, to_json_bytes

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
    from handler.bundle.sharing import with_parts

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
    bundle = read_record(Bundle, _renewed(_parsed(content, has_parts=version != 1)))
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


def _renewed(content: Any) -> Any:
    """Give members their names of today: bundles of older releases have some by another name."""
    match content:
        case {"identity": {"bridge": proxy} as identity}:
            identity.setdefault("oauth_proxy", proxy)
    return content


def _parsed(content: bytes, *, has_parts: bool) -> Any:
    if not has_parts or _PART not in content:
        return parse_stored(content)
    from handler.bundle.parts import read_parts

    return parse_stored(content, read_parts)
