"""Give each certificate of an authority a file of its own: hash_certificates.py FOLDER.

FOLDER has certifi's package. Its one file of certificates becomes ``handler/certificates``, a folder in which OpenSSL
finds the authority of a server by the hash of the name. A process that reads all of them computes as long as an empty
function does (docs/design/speed.md). The function's Python runs this script with nothing installed.

Source: OpenSSL's documentation, openssl-rehash and X509_LOOKUP_hash_dir: files are named HASH.0, HASH.1, and so on.
"""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

PEM = re.compile(r"-----BEGIN CERTIFICATE-----\n(.+?)-----END CERTIFICATE-----\n", re.DOTALL)

SEQUENCE, SET, UTF8_STRING, VERSION = 0x30, 0x31, 0x0C, 0xA0
"""Tags of DER. Source: ITU-T X.690, and RFC 5280, 4.1, for the version's."""

ENCODINGS = {
    0x0C: "utf-8",
    0x13: "ascii",
    0x14: "latin-1",
    0x16: "ascii",
    0x1A: "ascii",
    0x1C: "utf-32-be",
    0x1E: "utf-16-be",
}
"""Types of text that a name may have, with their encoding. A name of another type is compared as it is."""

SPACES = re.compile(r"[ \t\n\v\f\r]+")


def hash_certificates(bundle: str, folder: Path) -> int:
    """Write each certificate of a bundle in PEM to its file, and return their number."""
    folder.mkdir(parents=True)
    counts: Counter[str] = Counter()
    for match in PEM.finditer(bundle):
        digest = subject_hash(base64.b64decode(match[1]))
        (folder / f"{digest}.{counts[digest]}").write_text(match[0], encoding="ascii")
        counts[digest] += 1
    return counts.total()


def subject_hash(certificate: bytes) -> str:
    """Return the hash of a subject by which OpenSSL looks a certificate in DER up, 8 hexadecimal digits.

    Source: OpenSSL, x509_name_canon: texts of a name as UTF-8, in small ASCII letters, with single spaces.
    """
    to_be_signed = next(_values(next(_values(certificate))[1]))[1]
    # Before the subject: the serial number, the signature's algorithm, the issuer, the time of validity.
    parts = [content for tag, content in _values(to_be_signed) if tag != VERSION]
    name = b"".join(_encoded(SET, b"".join(sorted(_canonical(members)))) for _, members in _values(parts[4]))
    return hashlib.sha1(name, usedforsecurity=False).digest()[3::-1].hex()


def _canonical(members: bytes) -> Iterator[bytes]:
    for _, member in _values(members):
        (kind, oid), (tag, value) = _values(member)
        if tag in ENCODINGS:
            text = SPACES.sub(" ", value.decode(ENCODINGS[tag]).strip(" \t\n\v\f\r"))
            lower = "".join(letter.lower() if letter.isascii() else letter for letter in text)
            tag, value = UTF8_STRING, lower.encode()
        yield _encoded(SEQUENCE, _encoded(kind, oid) + _encoded(tag, value))


def _values(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the tag and the content of each value in DER."""
    at = 0
    while at < len(content):
        tag, size = content[at : at + 2]
        at += 2
        if size & 0x80:
            count = size & 0x7F
            size = int.from_bytes(content[at : at + count], "big")
            at += count
        yield tag, content[at : at + size]
        at += size


def _encoded(tag: int, content: bytes) -> bytes:
    size = len(content)
    if size < 0x80:
        return bytes([tag, size]) + content
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + content


if __name__ == "__main__":
    artifact = Path(sys.argv[1])
    package = artifact / "certifi"
    bundle = (package / "cacert.pem").read_text(encoding="utf-8")
    if not hash_certificates(bundle, artifact / "handler" / "certificates"):
        sys.exit(f"{package} has no certificate, and without one no https request could be verified")
    shutil.rmtree(package)
