"""Convert authors' public keys, PEM blocks of several kinds, to one kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from handler.bundle.identity import RSA_BITS
from handler.errors.authoring import KeyRefused

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.types import CertificatePublicKeyTypes, PublicKeyTypes

KINDS = "a PEM block with a public key (PUBLIC KEY or RSA PUBLIC KEY) or a certificate"


def public_key_pem(text: str, *, algorithm: str) -> str:
    """Convert the key in a PEM block to ``PUBLIC KEY`` (SPKI). Only the key of a certificate counts.

    Raises:
        KeyRefused: not a key, a private key, or a key that does not fit the algorithm. The message does not show it.
    """
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    key = _load(text)
    fault = FAULTS[algorithm](key)
    if fault:
        raise KeyRefused(f"{algorithm} takes {fault}")
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
        raise KeyRefused(f"expected {KINDS}") from None  # the cause may quote the key


def _rsa_fault(key: object) -> str:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

    fits = isinstance(key, RSAPublicKey) and key.key_size in RSA_BITS
    return "" if fits else f"an RSA key of at least {RSA_BITS[0]} bits"


def _es256_fault(key: object) -> str:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey

    fits = isinstance(key, EllipticCurvePublicKey) and key.curve.name == "secp256r1"
    return "" if fits else "an elliptic curve key on P-256"


def _eddsa_fault(key: object) -> str:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    return "" if isinstance(key, Ed25519PublicKey) else "an Ed25519 key"


FAULTS: Mapping[str, Callable[[object], str]] = {
    "RS256": _rsa_fault,
    "RS384": _rsa_fault,
    "RS512": _rsa_fault,
    "ES256": _es256_fault,
    "EdDSA": _eddsa_fault,
}
"""Algorithm -> a function that returns the expected key if a key does not fit, or an empty string."""

PUBLIC_ALGORITHMS = tuple(FAULTS)
"""Algorithms whose verification keys are public. A key set has no others."""
