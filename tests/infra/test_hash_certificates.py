"""Hashes of subjects held against those of OpenSSL's own command; the folder that the build makes of a file."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import certifi
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.name import _ASN1Type
from cryptography.x509.oid import NameOID
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.artefacts import hash_certificates, subject_hash
from tests.support.examples import examples
from tests.support.require import requires

SEARCHED = settings(max_examples=examples(80), derandomize=True, deadline=None, database=None)
KEY = ec.generate_private_key(ec.SECP256R1())
ANY = st.characters(exclude_categories=["Cs"], min_codepoint=1)
ASCII = st.characters(min_codepoint=0x20, max_codepoint=0x7E)
TEXTS = {
    _ASN1Type.UTF8String: ANY,
    _ASN1Type.PrintableString: st.sampled_from("ABCxyz019 '()+,-./:=?"),
    _ASN1Type.IA5String: ASCII,
    _ASN1Type.BMPString: st.characters(exclude_categories=["Cs"], min_codepoint=1, max_codepoint=0xFFFF),
}
OIDS = [NameOID.COMMON_NAME, NameOID.ORGANIZATION_NAME, NameOID.LOCALITY_NAME, NameOID.ORGANIZATIONAL_UNIT_NAME]


@st.composite
def attributes(draw: st.DrawFn) -> x509.NameAttribute[str]:
    kind = draw(st.sampled_from([*TEXTS]))
    text = draw(st.text(TEXTS[kind] | st.just(" "), min_size=1, max_size=12))
    return x509.NameAttribute(draw(st.sampled_from(OIDS)), text, _type=kind)


relative_names = st.lists(attributes(), min_size=1, max_size=2, unique_by=lambda attribute: attribute.oid)
names = st.lists(relative_names.map(x509.RelativeDistinguishedName), min_size=1, max_size=4).map(x509.Name)


@pytest.fixture(scope="module", autouse=True)
def openssl() -> str:
    program = shutil.which("openssl")
    requires("openssl", program, "`apt-get install openssl` installs the command")
    assert program
    return program


@SEARCHED
@given(names)
def test_hash_of_a_subject_is_that_of_openssl(openssl: str, name: x509.Name) -> None:
    now = datetime.now(UTC)
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "another")])
    builder = x509.CertificateBuilder(issuer, name, KEY.public_key(), 1, now, now + timedelta(days=1))
    certificate = builder.sign(KEY, hashes.SHA256()).public_bytes(Encoding.DER)

    assert subject_hash(certificate) == hash_by(openssl, certificate)


def test_each_authority_of_the_locked_package_has_a_file_that_openssl_finds(openssl: str, tmp_path: Path) -> None:
    bundle = Path(certifi.where()).read_text(encoding="utf-8")

    count = hash_certificates(bundle, tmp_path / "certificates")
    files = sorted((tmp_path / "certificates").iterdir())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=bundle)

    assert count == len(files) == len(context.get_ca_certs()) > 100
    for file in files:
        der = ssl.PEM_cert_to_DER_cert(file.read_text("ascii"))
        assert file.stem == hash_by(openssl, der)
    assert {ssl.PEM_cert_to_DER_cert(file.read_text("ascii")) for file in files} == {*context.get_ca_certs(True)}


def test_authorities_of_one_name_are_numbered(tmp_path: Path) -> None:
    bundle = Path(certifi.where()).read_text(encoding="utf-8")
    first = bundle[bundle.index("-----BEGIN") : bundle.index("-----END")] + "-----END CERTIFICATE-----\n"

    assert hash_certificates(f"# a comment\n{first}\n{first}", tmp_path / "certificates") == 2
    assert {file.suffix for file in (tmp_path / "certificates").iterdir()} == {".0", ".1"}


def hash_by(openssl: str, certificate: bytes) -> str:
    command = [openssl, "x509", "-inform", "DER", "-noout", "-subject_hash"]
    return subprocess.run(command, input=certificate, capture_output=True, check=True).stdout.decode().strip()
