"""What an author may try on this machine and cannot publish: secrets in a bundle, key sets of this machine."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.commands.running import CONFIG, FILES, Stile
from tests.support.endpoints import PUBLIC, write_endpoint
from tests.support.secrecy import SESSION

SECRET = SESSION.keep("a secret in a configuration", "sesame open, and thirty-two bytes of it")
LITERAL = f"identity: {{issuer: login, audience: a, keys: [{{algorithm: HS256, key: '{SECRET}', keyid: one}}]}}\n"
REFERENCE = "identity: {issuer: login, audience: a, keys: [{algorithm: HS256, key: 'env:LOGIN', keyid: one}]}\n"
REFUSAL = (
    "api/things: the HS256 key one of the issuer login is a secret that would be stored in the bundle: "
    "write env:NAME, and set STILE_SECRET_NAME where the function runs"
)
EXTRA = (
    "api/things: a function that reads tokens needs the extra jwt: add it to Extras in samconfig.toml, "
    "then `sam build` and `sam deploy`"
)


def write_with(workplace: Path, identity: str) -> None:
    write_endpoint(workplace, {**FILES, "config.yaml": CONFIG + identity})


@pytest.mark.parametrize(("command", "end"), [("publish", "published"), ("build", "built")])
def test_secret_in_the_configuration_is_refused_without_being_shown(
    workplace: Path, stile: Stile, command: str, end: str
) -> None:
    write_with(workplace, LITERAL)

    done = stile(command, ".", *(["--create", "out"] if command == "publish" else ["--out", "out"]))

    assert (done.code, done.out) == (1, "")
    assert done.err.splitlines() == [REFUSAL, f"Nothing was {end}."]
    assert not (workplace / "out").exists()


def test_check_takes_a_secret_in_the_configuration(workplace: Path, stile: Stile) -> None:
    write_with(workplace, LITERAL)

    done = stile("check", ".", "--strict")

    assert done.code == 0
    assert "Who gets in: 1 token issuer and anonymous callers." in done.out
    assert SECRET not in done.out


def test_reference_to_a_secret_is_published_and_no_secret_with_it(workplace: Path, stile: Stile) -> None:
    write_with(workplace, REFERENCE)

    done = stile("publish", ".", "--create", "out")

    assert (done.code, done.err) == (0, "")
    assert b"env:LOGIN" in next((workplace / "out").glob("api/things/*")).read_bytes()


def test_endpoint_that_reads_tokens_is_said_to_need_the_extra(workplace: Path, stile: Stile) -> None:
    write_with(workplace, REFERENCE)
    write_endpoint(workplace, FILES, name="api/other")

    assert stile("publish", ".", "--create", "out").out.splitlines()[0] == EXTRA
    assert EXTRA not in stile("build", ".").out


def test_need_of_the_function_is_told_once_to_who_publishes_to_a_folder(workplace: Path, stile: Stile) -> None:
    write_with(workplace, REFERENCE)
    first = stile("publish", ".", "--create", "out").out
    write_endpoint(workplace, {"operations/b.graphql": 'query B @mcpTool(name: "b", title: "B") { a }\n'})
    second = stile("publish", ".", "out").out
    write_endpoint(workplace, {**FILES, "config.yaml": CONFIG + REFERENCE}, name="api/other")
    third = stile("publish", ".", "out").out

    assert (EXTRA in first, "samconfig" in second) == (True, False)
    assert "api/things: changed  +b" in second
    assert EXTRA.replace("api/things", "api/other") in third


def test_endpoint_without_tokens_is_published_without_a_word(workplace: Path, stile: Stile) -> None:
    write_with(workplace, f"identity: {{api_keys: [{{name: a, sha256: {'a' * 64}}}], trust_authorizer: abc}}\n")

    assert stile("publish", ".", "--create", "out").out.splitlines() == ["api/things: new  +a", "1 endpoint in out"]


FORBIDDEN = [
    ("http://127.0.0.1:9/", "its address is loopback"),
    ("http://localhost/", "its address is loopback"),
    ("https://localhost/", "its address is loopback"),
    ("https://[::1]/", "its address is loopback"),
    ("https://[::ffff:127.0.0.1]/", "its address is loopback"),
    ("https://0x7f000001/", "its address is loopback"),
    ("https://2130706433/", "its address is loopback"),
    ("https://0177.1/", "its address is loopback"),
    ("https://169.254.169.254/latest/meta-data", "its address is link-local"),
    ("https://0.0.0.0/", "its address is unspecified"),
]


@pytest.mark.parametrize(("url", "fault"), FORBIDDEN)
def test_api_that_the_function_would_not_ask_is_built_and_not_published(
    workplace: Path, stile: Stile, url: str, fault: str
) -> None:
    write_endpoint(workplace, {**FILES, "config.yaml": CONFIG.replace("https://things.example/graphql", url)})
    host = urlsplit(url).hostname
    option = f", or --allow-http {host}" if "loopback" in fault else ""
    sentence = f"upstream.url {url}: {fault}; expected the https URL of a host that may be asked{option}"

    done = stile("publish", ".", "--create", "out")

    assert (done.code, done.out) == (1, "")
    assert done.err.splitlines() == [f"api/things: {sentence}", "Nothing was published."]
    assert stile("build", ".").code == 0
    checked = stile("check", ".")
    assert checked.code == 0
    of_function = f"upstream.url {url}: {fault}; expected the https URL of a host that the function may ask"
    assert f"`stile publish` will refuse {of_function}." in " ".join(checked.out.split("\n"))


NO_API = "config.yaml names no upstream.url, so its tools have no API to ask"
NO_CONFIG = "config.yaml does not exist, so its tools have no API to ask, and no caller may use them"


@pytest.mark.parametrize("config", [None, "", "upstream: {}\n", "upstream: {timeout_s: 5}\n"])
def test_endpoint_without_an_api_is_doubted_by_check_and_build_and_refused_by_publish(
    workplace: Path, stile: Stile, config: str | None
) -> None:
    """Publish has the last word, and the others say what it will say."""
    lacking = f"{NO_CONFIG}: write it, with upstream.url and access" if config is None else f"{NO_API}: add it"
    files = {name: text for name, text in FILES.items() if name != "config.yaml"}
    write_endpoint(workplace, files if config is None else {**files, "config.yaml": config})

    published = stile("publish", ".", "--create", "out")
    checked, strict = stile("check", "."), stile("check", ".", "--strict")
    built = stile("build", ".", "--out", "built")
    reported = json.loads(stile("check", ".", "--json").out)["endpoints"][0]["warnings"]

    assert (published.code, published.out) == (1, "")
    assert published.err.splitlines() == [f"api/things: {NO_API}", "Nothing was published."]
    assert (checked.code, strict.code, built.code) == (0, 1, 0)
    warning = f"api/things/config.yaml:1:1: warning: {lacking}; `stile publish` refuses the endpoint"
    assert warning in " ".join(checked.out.split("\n"))
    assert f"api/things: {NO_API}: `stile publish` will refuse it" in " ".join(built.out.split("\n"))
    assert [each for each in reported if lacking in each["sentence"]] == [
        {
            "file": "api/things/config.yaml",
            "line": 1,
            "column": 1,
            "code": "no-upstream",
            "sentence": f"{lacking}; `stile publish` refuses the endpoint",
            "coordinates": [],
        }
    ]


def test_project_below_a_root_is_doubted_at_its_own_config(workplace: Path, stile: Stile) -> None:
    files = {f"src/{name}": text for name, text in FILES.items() if name != "config.yaml"}
    write_endpoint(workplace, {**files, "stepzen.config.json": '{"endpoint": "api/things", "root": "src"}'})

    assert f"api/things/src/config.yaml:1:1: warning: {NO_CONFIG}" in stile("check", ".").out


def test_endpoint_of_tools_in_python_alone_needs_no_api(
    workplace: Path, stile: Stile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STILE_CODE_MODULES", "tests.support.acme_tools")
    config = 'access: {anonymous: allow}\ncode: [{use: "tests.support.acme_tools:kit", condition: true}]\n'
    write_endpoint(workplace, {"config.yaml": config})

    checked = stile("check", ".")

    assert (checked.code, NO_API in checked.out) == (0, False)
    assert stile("publish", ".", "--create", "out").code == 0


ASKING = """mutation Set($b: Int!) @mcpTool(name: "set", title: "S", confirm: required) { set(b: $b) }
mutation Put($b: Int!) @mcpTool(name: "put", title: "P", confirm: advisory) { set(b: $b) }
"""
NEEDS_KEY = (
    "unless STILE_STATE_KEY is set where the function runs, set cannot be called and put takes the model's word "
    "that its user agreed"
)


def test_endpoint_whose_tools_ask_their_user_is_said_to_need_a_key(workplace: Path, stile: Stile) -> None:
    write_endpoint(workplace, {**FILES, "operations/set.graphql": ASKING})

    assert stile("publish", ".", "--create", "out").out.splitlines()[0] == f"api/things: {NEEDS_KEY}"
    (endpoint,) = json.loads(stile("check", ".", "--json").out)["endpoints"]
    needed = "asks its user, for which the function needs STILE_STATE_KEY: set it there, and here for this check"
    warnings = [warning for warning in endpoint["warnings"] if "STILE_STATE_KEY" in warning["sentence"]]
    assert [(each["line"], each["sentence"]) for each in warnings] == [
        (1, f"tool set {needed}"),
        (2, f"tool put {needed}"),
    ]
    assert stile("check", ".", "--strict").code == 1


def test_endpoint_whose_tools_ask_nobody_is_said_to_need_no_key(workplace: Path, stile: Stile) -> None:
    write_endpoint(workplace, FILES)

    assert "STILE_STATE_KEY" not in stile("check", ".").out


@pytest.mark.parametrize(
    ("url", "fault"),
    [("https://169.254.169.254/jwks", "its address is link-local"), ("http://localhost/", "its address is loopback")],
)
def test_key_set_that_the_function_would_not_ask_is_not_published(
    workplace: Path, stile: Stile, url: str, fault: str
) -> None:
    write_with(workplace, f"identity: {{audience: a, jwksendpoint: '{url}'}}\n")

    done = stile("publish", ".", "--create", "out")

    assert (done.code, done.out) == (1, "")
    assert done.err.splitlines()[0].startswith(f"api/things: jwksendpoint {url}: {fault};")


def test_hosts_that_the_environment_names_hold_for_publishing(
    workplace: Path, stile: Stile, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_endpoint(workplace, FILES)

    monkeypatch.setenv("STILE_UPSTREAM_HOSTS", "*.elsewhere.example")
    refused = stile("publish", ".", "--create", "out")
    monkeypatch.setenv("STILE_UPSTREAM_HOSTS", "*.elsewhere.example, things.example")
    published = stile("publish", ".", "--create", "out")

    assert refused.code == 1
    assert "STILE_UPSTREAM_HOSTS does not name this host" in refused.err
    assert published.code == 0


def test_key_set_of_another_host_is_published(workplace: Path, stile: Stile) -> None:
    write_with(workplace, "identity: {audience: a, jwksendpoint: 'https://login.example/jwks'}\n")

    assert stile("publish", ".", "--create", "out").code == 0


def test_everything_that_cannot_be_published_is_said_at_once(workplace: Path, stile: Stile) -> None:
    config = LITERAL.replace("keys:", "jwksendpoint: 'http://localhost/', keys:")
    write_endpoint(workplace, {**FILES, "config.yaml": config})

    done = stile("publish", ".", "--create", "out")

    assert [line.partition(": ")[2][:20] for line in done.err.splitlines()[:-1]] == [
        "config.yaml names no",
        "the HS256 key one of",
        "jwksendpoint http://",
    ]


AUTH = "upstream: {{url: 'https://api.example.com/graphql', auth: {auth}}}\n"
CLIENT = "client_id: c, client_secret: env:LOGIN"


def write_auth(workplace: Path, auth: str) -> None:
    write_endpoint(workplace, {**FILES, "config.yaml": AUTH.format(auth=auth)})


@pytest.mark.parametrize(("command", "end"), [("publish", "published"), ("build", "built")])
@pytest.mark.parametrize(
    "auth",
    [
        f"{{bearer: '{SECRET}'}}",
        f"{{header: x-api-key, value: '{SECRET}'}}",
        f"{{client_credentials: {{token_url: 'https://a.b/', client_id: c, client_secret: '{SECRET}'}}}}",
        f"{{token_exchange: {{token_url: 'https://a.b/', {CLIENT}, actor_token: '{SECRET}'}}}}",
    ],
)
def test_credential_for_the_api_is_refused_without_being_shown(
    workplace: Path, stile: Stile, command: str, end: str, auth: str
) -> None:
    write_auth(workplace, auth)

    done = stile(command, ".", *(["--create", "out"] if command == "publish" else ["--out", "out"]))

    assert (done.code, done.out) == (1, "")
    assert done.err.splitlines() == [
        (
            "api/things: upstream.auth has a secret that would be stored in the bundle: write secret:NAME, ssm:NAME or "
            "env:NAME, and put it there"
        ),
        f"Nothing was {end}.",
    ]
    assert not (workplace / "out").exists()


def test_check_takes_a_credential_for_the_api_with_a_warning(workplace: Path, stile: Stile) -> None:
    write_auth(workplace, f"{{bearer: '{SECRET}'}}")

    done = stile("check", ".")

    assert done.code == 0
    assert "[literal-secret]" in done.out
    assert SECRET not in done.out + done.err


@pytest.mark.parametrize(
    ("secret", "place"),
    [
        ("secret:K", "Secrets Manager, {STILE_SECRETS}/api/things/K"),
        ("ssm:K.2", "Parameter Store, /{STILE_SECRETS}/api/things/K.2"),
        ("env:K", "the function's variable STILE_SECRET_K, or the secret K among its STILE_SECRET_ARNS"),
    ],
)
def test_publishing_says_where_secrets_have_to_be(workplace: Path, stile: Stile, secret: str, place: str) -> None:
    write_auth(workplace, f"{{bearer: {secret}}}")

    done = stile("publish", ".", "--create", "out")

    assert done.code == 0
    assert done.out.splitlines()[0] == f"api/things: {secret} is read from {place}"


def test_token_endpoint_of_this_machine_is_built_and_not_published(workplace: Path, stile: Stile) -> None:
    write_auth(workplace, f"{{client_credentials: {{token_url: 'http://localhost/token', {CLIENT}}}}}")

    done = stile("publish", ".", "--create", "out")

    assert done.err.splitlines()[0] == (
        "api/things: token_url http://localhost/token: its address is loopback; "
        "expected the https URL of a host that may be asked, or --allow-http localhost"
    )
    assert stile("build", ".").code == 0


@pytest.mark.parametrize(
    ("hosts", "code"),
    [
        ("*.things.example", 0),
        ("acme.things.example, corp.things.example", 0),
        ("*.example", 0),
        ("things.example", 1),
        ("acme.elsewhere.example", 1),
        ("*.evil-things.example", 1),
    ],
)
def test_host_of_some_tenant_is_allowed_or_none_is(
    workplace: Path, stile: Stile, monkeypatch: pytest.MonkeyPatch, hosts: str, code: int
) -> None:
    upstream = "upstream: {url: 'https://{claim:tenant}.things.example/graphql', tenant_pattern: '[a-z]+'}\n"
    write_endpoint(workplace, {**FILES, "config.yaml": upstream + PUBLIC})
    monkeypatch.setenv("STILE_UPSTREAM_HOSTS", hosts)

    done = stile("publish", ".", "--create", "out")

    assert (done.code, "STILE_UPSTREAM_HOSTS" in done.err) == (code, bool(code))


def test_endpoint_that_continues_answers_is_said_to_need_a_state_key(
    workplace: Path, stile: Stile, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_endpoint(workplace, {**FILES, "config.yaml": CONFIG + "limits: {continue: true}\n"})
    monkeypatch.delenv("STILE_STATE_KEY", raising=False)
    sentence = "unless STILE_STATE_KEY is set where the function runs, a gives no cursors for answers that are cut"

    refused = stile("check", ".")
    assert refused.code == 1
    assert "[unsealed-cursors]" in refused.out
    published = stile("publish", ".", "--create", "out")
    assert published.code == 0
    assert sentence in " ".join(f"{published.out} {published.err}".split())
    monkeypatch.setenv("STILE_STATE_KEY", SECRET.replace(",", ""))
    assert stile("check", ".").code == 0


def test_endpoint_that_takes_assertions_is_said_to_need_a_state_key(
    workplace: Path, stile: Stile, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = f"{{id: desk, sha256: {'a' * 64}}}"
    urls = "authorize_url: 'https://login.example/a', token_url: 'https://login.example/t'"
    proxy = f"{{{urls}, client_id: one, redirect_uris: 'https://client.example/cb', assertion_clients: [{client}]}}"
    issuer = "issuer: 'https://login.example', jwksendpoint: 'https://login.example/k', audience: a"
    write_endpoint(workplace, {**FILES, "config.yaml": CONFIG + f"identity: {{{issuer}, oauth_proxy: {proxy}}}\n"})
    monkeypatch.delenv("STILE_STATE_KEY", raising=False)

    done = stile("publish", ".", "--create", "out")

    assert "no client gets a token for an identity assertion" in " ".join(done.out.split())
