"""Whose tokens are taken, and which keys: the section ``identity``."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from handler.bundle.identity import Identity, Issuer, VerificationKey
from tests.support.diagnostics import Reported
from tests.support.endpoints import compiled, doubted, reported
from tests.support.secrecy import SESSION

FILES = {"index.graphql": "type Query { a: Int }"}
HEAD = "default_tool: false\n"
SHA256 = "a" * 64
SECRET = SESSION.keep("a secret in a configuration", "Nq7t2Yw9Kc4Rb6Xe1Vm8Zs3Lh5Pd0GjA")
ARN = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:stile/CI-AbC123"
NO_AUDIENCE = "no-audience"

RSA = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
WEAK_RSA = rsa.generate_private_key(public_exponent=65_537, key_size=1_024)
P256 = ec.generate_private_key(ec.SECP256R1())
P384 = ec.generate_private_key(ec.SECP384R1())
ED25519 = ed25519.Ed25519PrivateKey.generate()

Private = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey


def spki(key: Private) -> str:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def pkcs1(key: rsa.RSAPrivateKey) -> str:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.PKCS1).decode()


def certificate(key: Private) -> str:
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "issuer")])
    begin = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(begin)
        .not_valid_after(begin + dt.timedelta(days=1))
        .sign(key, None if isinstance(key, ed25519.Ed25519PrivateKey) else hashes.SHA256())
    )
    return made.public_bytes(Encoding.PEM).decode()


def private(key: Private) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def identity_in(folder: Path, config: str) -> Identity:
    return compiled(folder, {**FILES, "config.yaml": HEAD + config}).bundle.identity


def doubts(folder: Path, config: str) -> list[Reported]:
    return doubted(folder, {**FILES, "config.yaml": HEAD + config})


def refused(folder: Path, config: str) -> list[Reported]:
    return reported(folder, {**FILES, "config.yaml": HEAD + config})


def with_key(algorithm: str, key: str) -> str:
    """A config whose only key is a block of text from line 6 on."""
    block = "".join(f"        {line}\n" for line in key.splitlines())
    return f"identity:\n  audience: a\n  keys:\n    - algorithm: {algorithm}\n      key: |\n{block}"


def test_everything_about_an_issuer_is_kept(tmp_path: Path) -> None:
    config = """\
identity:
  jwksendpoint: https://login.example/jwks.json
  issuer: https://login.example/
  audience: [https://api.example, other]
  subject: robot
  claims: [email, org]
  algorithms: [RS256, ES256]
  leeway_s: 5
  trust_authorizer: [a1b2c3d4e5]
"""

    assert identity_in(tmp_path, config) == Identity(
        issuers=(
            Issuer(
                issuer="https://login.example/",
                audiences=("https://api.example", "other"),
                subject="robot",
                required_claims=("email", "org"),
                algorithms=("RS256", "ES256"),
                jwks_url="https://login.example/jwks.json",
                keys=(),
                leeway_s=5,
            ),
        ),
        api_keys=(),
        trusted_apis=("a1b2c3d4e5",),
    )


def test_what_is_not_said_of_an_issuer_asks_for_nothing(tmp_path: Path) -> None:
    (issuer,) = identity_in(tmp_path, "identity: {jwksendpoint: 'https://a.b/', audience: one}").issuers

    assert issuer == Issuer(
        issuer="",
        audiences=("one",),
        subject="",
        required_claims=(),
        algorithms=("RS256", "RS384", "RS512", "ES256", "EdDSA"),
        jwks_url="https://a.b/",
        keys=(),
        leeway_s=30,
    )


@pytest.mark.parametrize("where", ["identity: {%s}", "deployment: {identity: {%s}}"])
def test_issuer_makes_a_credential_to_ask_for(tmp_path: Path, where: str) -> None:
    config = where % "jwksendpoint: https://a.b/jwks.json, audience: a"
    config += "\naccess: {policies: [{type: Query, policyDefault: {condition: true}}]}"

    bundle = compiled(tmp_path, {**FILES, "config.yaml": HEAD + config}).bundle

    assert len(bundle.identity.issuers) == 1
    assert bundle.access.anonymous == "challenge"


def test_several_issuers_are_a_list_each_with_its_own_keys(tmp_path: Path) -> None:
    config = f"""\
identity:
  - {{issuer: one, audience: a, jwksendpoint: "https://one.example/jwks"}}
  - {{issuer: two, audience: a, keys: [{{algorithm: HS256, key: "env:TWO"}}]}}
  - {{api_keys: [{{name: ci, sha256: {SHA256}}}], trust_authorizer: abc}}
"""

    identity = identity_in(tmp_path, config)

    assert [(issuer.issuer, issuer.jwks_url) for issuer in identity.issuers] == [
        ("one", "https://one.example/jwks"),
        ("two", ""),
    ]
    assert identity.issuers[1].keys == (VerificationKey(id="", algorithm="HS256", key="env:TWO"),)
    assert [key.name for key in identity.api_keys] == ["ci"]
    assert identity.trusted_apis == ("abc",)


@pytest.mark.parametrize(
    ("config", "lines"),
    [
        (
            "identity: {isuer: a}",
            ['config.yaml:2:12 unknown-key: "identity.isuer" & did you mean issuer?'],
        ),
        (
            "identity: [{api_kes: []}]",
            ['config.yaml:2:13 unknown-key: "identity[0].api_kes" & did you mean api_keys?'],
        ),
        ("identity: [a]", ['config.yaml:2:12 invalid-value: "identity[0]"']),
        (
            "identity: {issuer: a, audience: b}",
            ["config.yaml:2:11 missing-keys"],
        ),
        (
            "identity: {audience: b, jwksendpoint: 'http://login.example/'}",
            ['config.yaml:2:39 invalid-value: "identity.jwksendpoint"'],
        ),
        (
            "identity: {audience: b, jwksendpoint: }",
            ["config.yaml:2:38 invalid-value: \"identity.jwksendpoint\" & ''"],
        ),
        (
            "identity: {audience: b, jwksendpoint: 'https://me:secret@login.example/'}",
            ['config.yaml:2:39 credentials-in-url: "identity.jwksendpoint"'],
        ),
        (
            "identity: {audience: [b, ''], jwksendpoint: 'https://a.b/'}",
            ['config.yaml:2:26 invalid-value: "identity.audience"'],
        ),
        (
            "identity: {audience: b, claims: [{}], jwksendpoint: 'https://a.b/'}",
            ['config.yaml:2:34 invalid-value: "identity.claims[0]"'],
        ),
        (
            "identity: {audience: b, jwksendpoint: 'https://a.b/', algorithms: [RS256, HS256, ES265]}",
            [
                'config.yaml:2:75 invalid-algorithm: "identity.algorithms" & did you mean RS256?',
                'config.yaml:2:82 invalid-algorithm: "identity.algorithms" & did you mean ES256?',
            ],
        ),
        (
            "identity: {audience: b, jwksendpoint: 'https://a.b/', algorithms: []}",
            ['config.yaml:2:67 invalid-value: "identity.algorithms"'],
        ),
        (
            "identity: {audience: b, jwksendpoint: 'https://a.b/', leeway_s: 301}",
            ['config.yaml:2:65 invalid-value: "identity.leeway_s" & 0 to 300'],
        ),
        (
            "identity: {trust_authorizer: [abc, 'a.b']}",
            ['config.yaml:2:36 invalid-api-id: "identity.trust_authorizer[1].api"'],
        ),
        (
            "identity: {trust_authorizer: [{api: abc, identity_source: cookie, t: true}]}",
            [
                'config.yaml:2:59 invalid-value: "identity.trust_authorizer[0].identity_source"',
                'config.yaml:2:67 unknown-key: "identity.trust_authorizer[0].t"',
            ],
        ),
        (
            "identity: {audience: b, keys: [{size: 1, algorithm: none, key: a}]}",
            [
                'config.yaml:2:33 unknown-key: "identity.keys[0].size"',
                'config.yaml:2:53 invalid-value: "identity.keys[0].algorithm"',
            ],
        ),
        (
            "identity: {audience: b, keys: [{algorithm: HS256, key: 'env:A'}, {algorithm: HS256, key: 'env:B'}]}",
            [
                'config.yaml:2:32 invalid-value: "identity.keys[0].keyid"',
                'config.yaml:2:66 invalid-value: "identity.keys[1].keyid"',
            ],
        ),
        (
            f"identity: {{audience: b, jwksendpoint: 'https://a.b/', keys: [{{algorithm: HS256, key: {SECRET}}}]}}",
            ['config.yaml:2:62 invalid-value: "identity.keys[0].keyid"'],
        ),
        (
            "identity: {audience: b, keys: [{algorithm: HS256, key: env:A, keyid: 1}, {algorithm: RS256, keyid: 1}]}",
            [
                'config.yaml:2:74 invalid-key: "identity.keys[1].key"',
                'config.yaml:2:100 duplicate-key-id: "1"',
            ],
        ),
        (
            "identity: {audience: b, keys: [{algorithm: HS256, key: 'env:A-B'}]}",
            ['config.yaml:2:56 invalid-secret-reference: "identity.keys[0].key"'],
        ),
        *[
            (
                f"identity: {{audience: b, keys: [{{algorithm: HS256, key: '{key}'}}]}}",
                ['config.yaml:2:56 invalid-secret-reference: "identity.keys[0].key" & env:NAME for a key of HS256'],
            )
            for key in ("secret:K", "ssm:K", "ENV:K", " secret:a-secret-of-more-than-32-characters", ARN, f" {ARN}")
        ],
        (
            "identity: {audience: b, keys: [{algorithm: HS256}]}",
            ['config.yaml:2:32 invalid-secret: "identity.keys[0].key"'],
        ),
    ],
)
def test_what_does_not_fit_is_reported_with_its_place(tmp_path: Path, config: str, lines: list[str]) -> None:
    assert refused(tmp_path, config) == lines


@pytest.mark.parametrize(("name", "column", "which"), [("issuer: one, ", 14, '"one"'), ("", 5, "without a name")])
def test_second_issuer_of_a_name_is_reported(tmp_path: Path, name: str, column: int, which: str) -> None:
    entry = f"{{{name}audience: a, jwksendpoint: 'https://a.b/'}}"

    assert refused(tmp_path, f"identity:\n  - {entry}\n  - {entry}\n") == [
        f"config.yaml:4:{column} duplicate-issuer: {which}"
    ]


def test_issuer_without_a_name_may_stand_beside_one_with(tmp_path: Path) -> None:
    entries = "{issuer: one, audience: a, jwksendpoint: 'https://a.b/'}, {audience: a, jwksendpoint: 'https://c.d/'}"

    assert [issuer.issuer for issuer in identity_in(tmp_path, f"identity: [{entries}]").issuers] == ["one", ""]


def test_issuer_without_an_audience_is_doubted(tmp_path: Path) -> None:
    assert doubts(tmp_path / "1", "identity: {issuer: a, jwksendpoint: 'https://a.b/'}") == [
        f"config.yaml:2:12 {NO_AUDIENCE}"
    ]
    assert doubts(tmp_path / "2", "identity: {issuer: a, audience: b, jwksendpoint: 'https://a.b/'}") == []


@pytest.mark.parametrize("host", ["localhost:8080", "127.0.0.1:1", "[::1]"])
def test_key_set_on_this_machine_needs_no_tls(tmp_path: Path, host: str) -> None:
    (issuer,) = identity_in(tmp_path, f"identity: {{audience: a, jwksendpoint: 'http://{host}/jwks'}}").issuers

    assert issuer.jwks_url == f"http://{host}/jwks"


@pytest.mark.parametrize(
    ("algorithm", "text", "key"),
    [
        ("RS256", spki(RSA), RSA),
        ("RS384", pkcs1(RSA), RSA),
        ("RS512", certificate(RSA), RSA),
        ("ES256", spki(P256), P256),
        ("ES256", certificate(P256), P256),
        ("EdDSA", spki(ED25519), ED25519),
        ("EdDSA", certificate(ED25519), ED25519),
    ],
)
def test_public_key_of_each_form_becomes_the_same_one(tmp_path: Path, algorithm: str, text: str, key: Private) -> None:
    (issuer,) = identity_in(tmp_path, with_key(algorithm, text)).issuers

    assert issuer.keys == (VerificationKey(id="", algorithm=algorithm, key=spki(key)),)


@pytest.mark.parametrize(
    ("algorithm", "text", "problem"),
    [
        ("RS256", spki(P256), "invalid-key: RSA key & 2048"),
        ("RS256", spki(WEAK_RSA), "invalid-key: RSA key & 2048"),
        ("ES256", spki(P384), "invalid-key: P-256"),
        ("ES256", certificate(RSA), "invalid-key: P-256"),
        ("EdDSA", spki(P256), "invalid-key: Ed25519"),
        ("RS256", private(RSA), "invalid-key: private key"),
        ("ES256", private(P256), "invalid-key: private key"),
        ("RS256", "PEMBlock", "invalid-key: a PEM block"),
        ("RS256", spki(RSA).replace("M", "", 2), "invalid-key: a PEM block"),
        ("HS256", spki(RSA), "invalid-secret: HS256 takes a secret"),
    ],
)
def test_key_that_is_not_for_its_algorithm_is_reported_without_being_shown(
    tmp_path: Path, algorithm: str, text: str, problem: str
) -> None:
    (line,) = refused(tmp_path, with_key(algorithm, text))

    assert line == f"config.yaml:6:12 {problem}"
    assert '"identity.keys[0].key"' in line


def test_short_secret_is_doubted_without_being_shown(tmp_path: Path) -> None:
    config = "identity: {audience: a, keys: [{algorithm: HS256, key: %s}]}"

    assert doubts(tmp_path / "short", config % "sesame-open-test") == [
        'config.yaml:2:56 weak-secret: "identity.keys[0].key" & 32'
    ]
    assert doubts(tmp_path / "long", config % SECRET) == []


def test_secret_of_a_variable_is_what_it_holds(tmp_path: Path) -> None:
    files = {**FILES, ".env": f"STEPZEN_KEY={SECRET}\n"}
    files["config.yaml"] = HEAD + "identity: {audience: a, keys: [{algorithm: HS256, key: STEPZEN_KEY}]}"

    (issuer,) = compiled(tmp_path, files).bundle.identity.issuers

    assert issuer.keys[0].key == SECRET


def test_claims_of_an_api_key_have_the_kinds_that_yaml_gives_them(tmp_path: Path) -> None:
    config = f"""\
identity:
  api_keys:
    - name: ci
      sha256: {SHA256}
      claims:
        level: 5
        text: "5"
        quoted: 'true'
        admin: true
        nobody: ~
        empty:
        share: .5
        large: 1e3
        negative: -7
        octal: 0o17
        padded: 017
        hex: 0xFF
        word: yes
        date: 2030-01-31
        version: 1.2.3
        groups: [staff, 7]
        org: {{id: acme}}
"""

    (key,) = identity_in(tmp_path, config).api_keys

    assert key.claims == {
        "level": 5,
        "text": "5",
        "quoted": "true",
        "admin": True,
        "nobody": None,
        "empty": None,
        "share": 0.5,
        "large": 1000.0,
        "negative": -7,
        "octal": 15,
        "padded": 17,
        "hex": 255,
        "word": "yes",
        "date": "2030-01-31",
        "version": "1.2.3",
        "groups": ["staff", 7],
        "org": {"id": "acme"},
    }
    assert [type(key.claims[name]) for name in ("level", "large", "admin")] == [int, float, bool]


def test_api_key_with_empty_claims_is_not_one_without(tmp_path: Path) -> None:
    config = f"identity: {{api_keys: [{{name: a, sha256: {SHA256}, claims: {{}}}}, {{name: b, sha256: {SHA256}}}]}}"

    assert [key.claims for key in identity_in(tmp_path, config).api_keys] == [{}, None]


@pytest.mark.parametrize(
    ("claims", "column", "expected"),
    [
        ("admin", 115, "a mapping"),
        ("[admin]", 115, "a mapping"),
        ("{a: .inf}", 119, "a number that JSON can hold"),
        ("{a: 1e999}", 119, "a number that JSON can hold"),
        ("{a: .nan}", 119, "a number that JSON can hold"),
        ("{a: 9223372036854775808}", 119, "a number that JSON can hold"),
        (f"{{a: {'9' * 5000}}}", 119, "a number that JSON can hold"),
        (f"{{a: {'[' * 17}{']' * 17}}}", 135, "1000 values & 16 deep"),
    ],
)
def test_claims_that_are_no_json_are_reported(tmp_path: Path, claims: str, column: int, expected: str) -> None:
    config = f"identity: {{api_keys: [{{name: a, sha256: {SHA256}, claims: {claims}}}]}}"

    assert refused(tmp_path, config) == [
        f'config.yaml:2:{column} invalid-value: "identity.api_keys[0].claims" & {expected}'
    ]


def test_aliases_cannot_make_claims_grow(tmp_path: Path) -> None:
    doubling = "".join(f"        c{n}: &c{n} [*c{n - 1}, *c{n - 1}]\n" for n in range(1, 15))
    claims = f"        c0: &c0 [a]\n{doubling}"

    lines = refused(tmp_path, f"identity:\n  api_keys:\n    - name: a\n      sha256: {SHA256}\n      claims:\n{claims}")

    assert lines == ['invalid-value: "identity.api_keys[0].claims" & 1000 values']


def test_keys_of_one_name_in_two_entries_are_reported(tmp_path: Path) -> None:
    entry = f"{{api_keys: [{{name: a, sha256: {SHA256}}}]}}"

    assert refused(tmp_path, f"identity:\n  - {entry}\n  - {entry}\n") == ['config.yaml:4:24 duplicate-api-key: "a"']


@pytest.mark.parametrize("end", ["openid-configuration", "oauth-authorization-server"])
def test_discovery_document_is_refused_as_a_key_set(tmp_path: Path, end: str) -> None:
    config = f"identity: {{audience: a, jwksendpoint: 'https://id.example.com/.well-known/{end}'}}"

    assert reported(tmp_path, {**FILES, "config.yaml": config}) == [
        'config.yaml:1:39 invalid-value: "identity.jwksendpoint" & discovery document & jwks_uri'
    ]


@pytest.mark.parametrize(("expires", "warnings"), [("2001-01-31", 1), ("9001-01-31", 0)])
def test_key_that_has_expired_is_doubted(tmp_path: Path, expires: str, warnings: int) -> None:
    config = f"{HEAD}identity: {{api_keys: [{{name: ci, sha256: {'ab' * 32}, expires: {expires}}}]}}"

    lines = [each for each in doubted(tmp_path, {**FILES, "config.yaml": config}) if " expired-key: " in each]

    assert lines == ["config.yaml:2:117 expired-key: stile key"][:warnings]
