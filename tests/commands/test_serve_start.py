"""`stile serve` at its start: it says what an endpoint lacks, and ends with 1 if the endpoint could not answer."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.commands.running import CONFIG, FILES, Stile, interrupt, ran
from tests.commands.test_serve import LOCAL, serving, with_config
from tests.conftest import ROOT
from tests.support.api import running_api
from tests.support.endpoints import write_endpoint
from tests.support.jobs import files_of
from tests.support.moto import Moto

SECRET = "k2PlLw8cVnfq"
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "a", "arguments": {}}}
ASKING = {**FILES, "operations/a.graphql": 'query A @mcpTool(name: "a", title: "A", confirm: required) { a }\n'}


def with_auth(url: str, auth: str) -> dict[str, str]:
    upstream = f'upstream: {{url: "{url}", auth: {auth}}}'
    return {**FILES, "config.yaml": CONFIG.replace('upstream: {url: "https://things.example/graphql"}', upstream)}


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("STILE_STATE_KEY", raising=False)
    return tmp_path / "state" / "stile" / "serve.key"


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("place", ["environment", ".env"])
def test_secret_is_read_from_the_environment_or_the_env_file(workplace: Path, place: str, workers: str) -> None:
    with running_api() as api:
        files = with_auth(api.url, "{bearer: 'secret:my-token'}")
        folder = write_endpoint(workplace, files)
        environ = {"STILE_SECRET_my_token": SECRET} if place == "environment" else {}
        (folder / ".env").write_text(f"STILE_SECRET_my_token={'wrong' if environ else SECRET}\n")
        words = (str(folder), "--allow-http", "127.0.0.1", "--workers", workers)
        with serving(*words, **environ) as served:
            status = served.send("POST", "/api/things/mcp", CALL)[0]
            interrupt(served.process, signal.SIGTERM)  # so that no worker is left behind

    assert status == 200
    assert api.authorizations == [f"Bearer {SECRET}"]
    assert SECRET not in "\n".join(served.printed)


@pytest.mark.parametrize("name", ["secret:TOKEN", "ssm:TOKEN", "env:TOKEN"])
def test_secret_that_is_nowhere_ends_the_start(workplace: Path, name: str) -> None:
    folder = write_endpoint(workplace, with_auth("https://things.example/graphql", f"{{bearer: '{name}'}}"))

    refused = ran("serve", str(folder), "--port", "0")

    assert refused.code == 1
    assert f"api/things: upstream.auth: {name}: " in refused.err
    assert f": set STILE_SECRET_TOKEN in the environment, or in {folder.as_posix()}/.env\n" in refused.err
    assert refused.err.endswith("Nothing is served.\n")
    assert "function" not in refused.err


def test_secret_that_env_does_not_close_ends_the_start_with_its_line(workplace: Path) -> None:
    folder = write_endpoint(workplace, with_auth("https://things.example/graphql", "{bearer: 'secret:TOKEN'}"))
    (folder / ".env").write_text(f'A=1\nSTILE_SECRET_TOKEN="{SECRET}\n')

    refused = ran("serve", str(folder), "--port", "0")

    assert (refused.code, SECRET in refused.err) == (1, False)
    assert f"{folder.as_posix()}/.env:2: the value has several lines, and one is read" in refused.err


def test_secret_that_no_header_can_carry_ends_the_start_without_its_value(workplace: Path) -> None:
    folder = write_endpoint(workplace, with_auth("https://things.example/graphql", "{bearer: 'secret:TOKEN'}"))

    refused = ran("serve", str(folder), "--port", "0", STILE_SECRET_TOKEN=f"{SECRET}\n{SECRET}")

    assert (refused.code, SECRET in refused.err) == (1, False)
    assert "api/things: upstream.auth: secret:TOKEN is empty, too long, or has what no header can carry" in refused.err


def test_environment_is_read_for_the_endpoints_alone_that_the_owner_lists(workplace: Path) -> None:
    folder = write_endpoint(workplace, with_auth("https://things.example/graphql", "{bearer: 'secret:TOKEN'}"))
    environ = {"STILE_SECRET_TOKEN": SECRET, "STILE_ENV_SECRETS": "api/others/TOKEN"}

    refused = ran("serve", str(folder), "--port", "0", **environ)

    assert refused.code == 1
    assert "api/things: upstream.auth: secret:TOKEN: STILE_SECRETS is not set" in refused.err
    with serving(str(folder), **{**environ, "STILE_ENV_SECRETS": "api/things/TOKEN"}) as served:
        assert served.tools() == ["a"]


def test_secrets_are_read_in_aws_alone_if_the_owner_names_their_place_there(workplace: Path, moto: Moto) -> None:
    aws = moto.add_user("reader", {"Action": "*", "Resource": "*"})
    folder = write_endpoint(workplace, with_auth("https://things.example/graphql", "{bearer: 'secret:TOKEN'}"))

    refused = ran("serve", str(folder), "--port", "0", STILE_SECRETS="stile", STILE_SECRET_TOKEN=SECRET, **aws)

    assert refused.code == 1
    assert "api/things: upstream.auth: secret:TOKEN: " in refused.err
    assert "STILE_SECRET_TOKEN" not in refused.err


def test_state_key_of_the_user_is_made_once_and_kept_to_the_user(workplace: Path, state: Path) -> None:
    folder = write_endpoint(workplace, ASKING)
    keys, lines = [], []
    for _ in range(2):
        with serving(str(folder)) as served:
            lines.append(next(line for line in served.printed if "STILE_STATE_KEY" in line))
        keys.append(state.read_text())

    assert keys[0] == keys[1]
    assert stat.S_IMODE(state.stat().st_mode) == 0o600
    assert lines[0] == lines[1]
    assert lines[0].startswith(f"STILE_STATE_KEY is not set, so a will use the key in {state};")
    assert keys[0] not in "".join(served.printed)
    assert not [path for path in workplace.rglob("*.key") if path != state]


@pytest.mark.parametrize(
    ("files", "tool"),
    [
        (ASKING, "a"),
        (files_of("https://jobs.example/graphql"), "export"),
        (files_of("https://jobs.example/graphql", options="confirm: required"), "export"),
    ],
)
def test_tool_that_asks_or_starts_jobs_is_not_served_where_no_key_can_be_kept(
    workplace: Path, state: Path, files: Mapping[str, str], tool: str
) -> None:
    state.parent.parent.write_text("a file where the folder would be")

    refused = ran("serve", str(write_endpoint(workplace, files)), "--port", "0")

    assert refused.code == 1
    assert refused.err.startswith(
        f"{tool}: no state key, and none can be kept ({state}, a secret of this user: cannot be "
    )
    assert "set STILE_STATE_KEY to a random text of 32 characters or more" in refused.err


def test_nothing_is_said_of_a_key_that_no_tool_needs(workplace: Path, state: Path) -> None:
    state.parent.parent.write_text("a file where the folder would be")

    with serving(str(write_endpoint(workplace, FILES))) as served:
        assert served.tools() == ["a"]
    assert not any("STATE_KEY" in line for line in served.printed)


def test_state_key_that_other_users_may_read_is_refused(workplace: Path, state: Path) -> None:
    state.parent.mkdir(parents=True)
    state.write_text("ab" * 32)
    state.chmod(0o644)

    refused = ran("serve", str(write_endpoint(workplace, ASKING)), "--port", "0")

    assert (refused.code, "other users may use it: give it the mode 0600" in refused.err) == (1, True)


@pytest.mark.parametrize("host", ["api.internal", "API.Internal", "*.internal"])
def test_host_without_tls_is_allowed_by_its_name_or_domain(workplace: Path, host: str) -> None:
    folder = write_endpoint(workplace, with_config("http://api.internal:8080/graphql"))

    with serving(str(folder), "--allow-http", "other.internal", "--allow-http", host) as served:
        assert served.tools() == ["a"]
        assert any("api/things: upstream.url is asked without TLS" in line for line in served.printed)


@pytest.mark.parametrize(
    ("url", "options", "said"),
    [
        (
            "http://api.internal:8080/graphql",
            [],
            "https is required; expected the https URL of a host that may be asked",
        ),
        ("http://api.internal:8080/graphql", [], ", or --allow-http api.internal\n"),
        ("http://api.internal:8080/graphql", ["--allow-http", "internal"], "https is required"),
        ("http://[::1]:8080/graphql", [], "its address is loopback; expected"),
        ("http://[::1]:8080/graphql", [], ", or --allow-http ::1\n"),
        ("http://169.254.169.254/graphql", ["--allow-http", "169.254.169.254"], "its address is link-local"),
    ],
)
def test_address_that_is_not_allowed_names_the_option(workplace: Path, url: str, options: list[str], said: str) -> None:
    folder = write_endpoint(workplace, with_config(url))

    refused = ran("serve", str(folder), "--port", "0", *options)

    assert (refused.code, said in refused.err) == (1, True), refused.err
    assert "function" not in refused.err


@pytest.mark.parametrize("text", ["http://api.internal", "api.internal:8080", "*", "", "api internal"])
def test_allowed_host_is_a_name_without_scheme_or_port(workplace: Path, stile: Stile, text: str) -> None:
    refused = stile("serve", str(write_endpoint(workplace, FILES)), "--allow-http", text)

    assert refused.code == 2
    assert f"{text!r}: expected a host without a scheme or port, as api.internal" in refused.err


def test_address_in_brackets_is_allowed_as_in_a_url(workplace: Path) -> None:
    folder = write_endpoint(workplace, with_config("http://[::1]:9/graphql"))

    with serving(str(folder), "--allow-http", "[::1]") as served:
        assert served.tools() == ["a"]


def test_bundle_is_published_to_a_folder_with_the_option_alone(workplace: Path, stile: Stile) -> None:
    folder = str(write_endpoint(workplace, with_config("http://api.internal:8080/graphql")))

    refused = stile("publish", folder, "out", "--create")
    published = stile("publish", folder, "out", "--create", "--allow-http", "api.internal", "--json")

    assert refused.code == 1
    assert "or --allow-http api.internal" in refused.err
    assert published.code == 0
    warnings = json.loads(published.out)["warnings"]
    assert any("only `stile serve --allow-http api.internal` allows" in each for each in warnings)


def test_bundle_for_serve_is_not_published_to_a_bucket(workplace: Path, stile: Stile) -> None:
    folder = str(write_endpoint(workplace, with_config("http://api.internal:8080/graphql")))

    refused = stile("publish", folder, "s3://bucket/prefix", "--allow-http", "api.internal")

    assert (refused.code, "the function that reads the bucket asks no API without TLS" in refused.err) == (2, True)


@pytest.mark.parametrize("name", ["--public-url", "STILE_PUBLIC_URL"])
def test_url_of_an_endpoint_is_not_the_public_url(workplace: Path, name: str) -> None:
    url = "https://tools.example/base/api/things/mcp"
    words, environ = (["--public-url", url], {}) if name.startswith("-") else ([], {name: url})

    refused = ran("serve", str(write_endpoint(workplace, FILES)), "--port", "0", *words, **environ)

    assert refused.code == 2
    assert "ends with the path of an endpoint: name the server's URL, https://tools.example/base\n" in refused.err


def test_ctrl_c_while_workers_load_prints_no_traceback(workplace: Path) -> None:
    folder = write_endpoint(workplace, FILES)
    command = [sys.executable, "-m", "handler", "serve", str(folder), "--port", "0", "--workers", "2"]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, env=environ, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stderr
    with process.stderr:
        begun = process.stderr.readline()
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: all of the group gets it
        rest = process.stderr.read()

    assert begun.startswith("Serving ")
    assert (process.wait(60), rest) == (0, "Stopped.\n")


@pytest.mark.parametrize("workers", ["1", "2"])
def test_level_of_the_log_that_does_not_exist_is_refused(workplace: Path, workers: str) -> None:
    words = ("serve", str(write_endpoint(workplace, FILES)), "--port", "0", "--workers", workers)

    refused = ran(*words, POWERTOOLS_LOG_LEVEL="verbose")

    assert refused.code == 2
    assert refused.err == "POWERTOOLS_LOG_LEVEL='verbose': expected DEBUG, INFO, WARNING, ERROR or CRITICAL\n"


def test_several_faults_are_said_at_once(workplace: Path) -> None:
    files = with_auth("https://things.example/graphql", "{bearer: 'secret:TOKEN'}")
    for name in ("one", "two"):
        write_endpoint(workplace, files, name=f"api/{name}")

    refused = ran("serve", str(workplace), "--port", "0", **LOCAL)

    assert refused.code == 1
    assert [f"api/{name}: upstream.auth: secret:TOKEN" in refused.err for name in ("one", "two")] == [True, True]
