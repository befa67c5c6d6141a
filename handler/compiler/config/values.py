"""Checks of values in ``config.yaml``: URLs, ids, references to secrets, and public keys."""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from handler.bundle.identity import RSA_BITS
from handler.compiler.source.yaml_section import Section
from handler.errors.authoring import KeyRefused
from handler.settings import MODULE
from handler.text.sentences import did_you_mean

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.types import CertificatePublicKeyTypes, PublicKeyTypes

SCOPE = re.compile(r"[\x21\x23-\x5B\x5D-\x7E]+")
"""The form of a scope. Source: RFC 6749, section 3.3."""

SHA256 = re.compile(r"[0-9a-fA-F]{64}")


def read_https_url(section: Section, key: str, expected: str, *, fragment: bool = True) -> str:
    """Read an https URL, or an http URL of this machine. ``fragment``: the URL may have one."""
    url = section.text(key)
    if "@" in url:  # not shown: it may hold a password
        section.fault(key, "expected a URL without credentials in it", code="credentials-in-url")
    elif not is_http_url(url) or not (url.startswith("https:") or is_on_loopback(url)) or ("#" in url and not fragment):
        section.refuse(key, expected)
    return url


def is_http_url(url: str) -> bool:
    """Return whether a text is an absolute http(s) URL without a user, written as it is sent."""
    if not url.isascii() or not url.isprintable() or set(url) & set(" {}"):
        return False
    try:
        parts = urlsplit(url)
        is_origin = bool(parts.hostname and parts.port != 0) and not {"@", "$"} & {*parts.netloc}
    except ValueError:
        return False
    return is_origin and parts.scheme in ("http", "https")


def is_on_loopback(url: str) -> bool:
    """Return whether a URL names the local machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def is_id(text: str) -> bool:
    """Return whether a text can be the id of a client."""
    return bool(text) and is_printable_ascii(text)


def is_printable_ascii(text: str) -> bool:
    """Return whether a text is a portable header value."""
    return text.isprintable() and text.isascii()


def is_resource(text: str) -> bool:
    """Return whether a text, if there is one, is an absolute URI without a fragment. Source: RFC 8707, section 2."""
    return not text or (is_printable_ascii(text) and bool(urlsplit(text).scheme) and "#" not in text)


def is_metadata_document(url: str) -> bool:
    """Return whether a text is the https URL of a client ID metadata document."""
    return is_http_url(url) and url.startswith("https:") and url.count("/") >= 3 and "#" not in url


def claim_fault(name: str) -> str:
    """Return why a text is not the name of a claim, or of a path to one, or an empty string."""
    bare = re.sub(r"\$(jwt\.)?|claim:", "", name, count=1) if name.startswith(("$", "claim:")) else name
    if bare != name:
        return f'"{name:.80}" is not the name of a claim: expected {bare:.80}'
    return "" if name.strip(" .") else "the claim has no name: expected one, or a path such as org.id"


ATTRIBUTE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


def is_toolkit(text: str) -> bool:
    """Return whether a text is the name of a toolkit, as ``module:attribute``."""
    module, _, attribute = text.partition(":")
    return bool(re.fullmatch(MODULE, module) and ATTRIBUTE.fullmatch(attribute))


SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):.")
OWN_MACHINE = re.compile(r"http://(127\.0\.0\.1|localhost|\[::1\])(:[0-9]{1,5})?([/?]|$)")

ACTIVE_SCHEMES = ("about", "blob", "data", "file", "filesystem", "ftp", "javascript", "vbscript", "view-source")
"""Schemes that browsers run or open themselves. Any other is an app's own (RFC 8252, section 7.1)."""


def redirect_fault(uri: str) -> str:
    """Return why a redirect URI is invalid, or an empty string.

    Source: RFC 8252, section 7; RFC 9700, section 2.1.
    """
    scheme = SCHEME.match(uri)
    if not scheme or not uri.isascii() or not uri.isprintable() or re.search(r'[ #\\<>"]', uri):
        return "expected an absolute URI without spaces and fragment"
    if "*" in uri:
        return "expected a whole URI: codes that go where a pattern leads may go to anybody"
    if scheme[1] in ACTIVE_SCHEMES:
        return f"expected https, http on loopback or an app's own scheme, not {scheme[1]}"
    if scheme[1] == "http" and not OWN_MACHINE.match(uri):
        return "http is for 127.0.0.1, localhost and [::1] only: expected https"
    if scheme[1] in ("http", "https") and ("@" in uri or not is_http_url(uri)):
        return "expected a URL without a user in it"
    return ""


KEY_OF = {
    **dict.fromkeys(("RS256", "RS384", "RS512"), f"an RSA key of at least {RSA_BITS[0]} bits"),
    "ES256": "an elliptic curve key on P-256",
    "EdDSA": "an Ed25519 key",
}
"""Algorithm -> its key."""

PUBLIC_ALGORITHMS = tuple(KEY_OF)
"""Algorithms whose verification keys are public. A key set has no others."""


def algorithm_fault(text: str) -> str:
    """Return why a text is not the algorithm of keys in a key set, or an empty string."""
    if text in PUBLIC_ALGORITHMS:
        return ""
    return f"the keys of a key set are for one of {', '.join(PUBLIC_ALGORITHMS)}{did_you_mean(text, PUBLIC_ALGORITHMS)}"


def public_key_pem(text: str, *, algorithm: str) -> str:
    """Convert the key in a PEM block to ``PUBLIC KEY`` (SPKI). Only the key of a certificate counts.

    Raises:
        KeyRefused: not a key, a private key, or a key that does not fit the algorithm. The message does not show it.
    """
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    key = _load(text)
    if not _fits(key, algorithm):
        raise KeyRefused(f"{algorithm} takes {KEY_OF[algorithm]}")
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def _load(text: str) -> PublicKeyTypes | CertificatePublicKeyTypes:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_pem_public_key
    from cryptography.x509 import load_pem_x509_certificate

    if "PRIVATE KEY-----" in text:
        raise KeyRefused("this is a private key: expected the public key")
    try:
        if "-----BEGIN CERTIFICATE-----" in text:
            return load_pem_x509_certificate(text.encode()).public_key()
        return load_pem_public_key(text.encode())
    except (ValueError, UnsupportedAlgorithm):
        kinds = "a PEM block with a public key (PUBLIC KEY or RSA PUBLIC KEY) or a certificate"
        raise KeyRefused(f"expected {kinds}") from None  # the cause may quote the key


def _fits(key: Any, algorithm: str) -> bool:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

    match algorithm:
        case "ES256":
            return isinstance(key, EllipticCurvePublicKey) and key.curve.name == "secp256r1"
        case "EdDSA":
            return isinstance(key, Ed25519PublicKey)
        case _:
            return isinstance(key, RSAPublicKey) and key.key_size in RSA_BITS
