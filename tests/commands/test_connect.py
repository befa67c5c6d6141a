"""The lines of `stile connect`, and the files of clients that it changes."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from handler.commands.connect import with_server
from handler.page.clients import CLIENTS
from tests.commands.running import FILES, Ran, Stile, ran_on_terminal
from tests.support.endpoints import write_endpoint

DIGEST = "5d8ba18e0a5bb0e4b9c8c0b8b7d0f0f0d8d7f0b2b0c4d1a9e3f2a1b0c9d8e7f6"
KEYS = f"{FILES['config.yaml']}identity: {{api_keys: [{{name: partner, sha256: {DIGEST}}}]}}\n"
URL = "http://127.0.0.1:8000/api/things/mcp"
DEPLOYED = "https://mcp.example.com/shop/orders/mcp"
ENTRY = {"type": "http", "url": DEPLOYED}
OTHER = '{\n    "mcpServers": {\n        "other": {"command": "x", "args": ["a", "b"]}\n    },\n    "n": 1.10\n}\n'


@pytest.fixture(autouse=True)
def folder(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with an endpoint that has a key. Below it is the user's home."""
    write_endpoint(workplace, {**FILES, "config.yaml": KEYS})
    monkeypatch.setenv("HOME", str(workplace / "home"))
    for name in ("XDG_CONFIG_HOME", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    return workplace


def members_of(done: Ran) -> Any:
    return json.loads(done.out)


# The lines


@pytest.mark.parametrize(
    ("client", "line", "with_key"),
    [
        (
            "claude-code",
            f"claude mcp add --transport http api-things {URL}",
            " --header 'X-API-Key: ${API_THINGS_KEY}'",
        ),
        ("codex", f"codex mcp add api-things --url {URL}", " --bearer-token-env-var API_THINGS_KEY"),
        (
            "inspector",
            f"npx @modelcontextprotocol/inspector --cli {URL} --transport http --method tools/list",
            ' --header "X-API-Key: $API_THINGS_KEY"',
        ),
    ],
)
def test_clients_with_a_command_get_one_line(stile: Stile, client: str, line: str, with_key: str) -> None:
    assert stile("connect", client).out == f"{line}\n"
    assert stile("connect", client, "--as", "key:partner").out == f"{line}{with_key}\n"


@pytest.mark.parametrize(
    ("client", "reference"),
    [("vscode", "${input:API_THINGS_KEY}"), ("cursor", "${env:API_THINGS_KEY}"), ("json", "${API_THINGS_KEY}")],
)
def test_clients_with_a_file_get_its_members(stile: Stile, client: str, reference: str) -> None:
    servers = CLIENTS[client].servers
    entry = {"type": "http", "url": URL}

    assert members_of(stile("connect", client)) == {servers: {"api-things": entry}}
    with_key = members_of(stile("connect", client, "--as", "key:partner"))
    assert with_key[servers] == {"api-things": {**entry, "headers": {"X-API-Key": reference}}}
    inputs = [{"type": "promptString", "id": "API_THINGS_KEY", "description": "API_THINGS_KEY", "password": True}]
    assert with_key.get("inputs", []) == (inputs if client == "vscode" else [])


def test_claude_desktop_starts_a_bridge_whose_arguments_have_no_space(stile: Stile) -> None:
    done = stile("connect", "claude-desktop", "--as", "key:partner")

    entry = members_of(done)["mcpServers"]["api-things"]
    assert entry["command"] == "npx"
    assert entry["args"] == ["-y", "mcp-remote", URL, "--header", "X-API-Key:${API_THINGS_KEY}"]
    assert "Claude Desktop knows no variables" in done.err


@pytest.mark.parametrize("client", CLIENTS)
def test_no_line_has_a_key_and_each_names_the_variable_and_its_place(stile: Stile, client: str) -> None:
    made = json.loads(stile.unsearched("key", "partner", "--json").out)
    config = KEYS.replace(DIGEST, made["sha256"])
    Path("api/things/config.yaml").write_text(config, encoding="utf-8")
    os.environ.pop("API_THINGS_KEY", None)

    done = stile("connect", client, "--as", "key:partner")

    assert made["key"] not in done.out + done.err
    assert "API_THINGS_KEY" in done.out
    assert f"The lines name API_THINGS_KEY, and never have the key. {CLIENTS[client].note}" in done.err


@pytest.mark.parametrize("address", [DEPLOYED, DEPLOYED.removesuffix("/mcp"), f"{DEPLOYED}/"])
def test_url_of_a_deployed_endpoint_needs_no_folder(stile: Stile, address: str) -> None:
    assert members_of(stile("connect", "json", address)) == {"mcpServers": {"shop-orders": ENTRY}}
    assert "SHOP_ORDERS_KEY" in stile("connect", "json", address, "--as", "key:any").out


def test_port_and_name_are_those_of_dev(stile: Stile) -> None:
    done = stile("connect", "json", "api", "--port", "8010", "--endpoint", "shop/orders")

    url = "http://127.0.0.1:8010/shop/orders/mcp"
    assert members_of(done) == {"mcpServers": {"shop-orders": {"type": "http", "url": url}}}


def test_document_for_machines_has_all_parts(stile: Stile) -> None:
    done = stile("connect", "vscode", DEPLOYED, "--as", "key:any", "--json")

    document = json.loads(done.out)
    assert document.pop("members").keys() == {"servers", "inputs"}
    assert document == {
        "client": "vscode",
        "endpoint": "shop/orders",
        "url": DEPLOYED,
        "command": "",
        "file": ".vscode/mcp.json",
        "variable": "SHOP_ORDERS_KEY",
        "written": False,
    }


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["cursor", "https://mcp.example.com"], 2, "expected the URL of an endpoint, as https://host/folder/name/mcp"),
        (["cursor", "https://mcp.example.com/shop/mcp"], 2, "expected the URL of an endpoint"),
        (["cursor", "http://mcp.example.com/a/b"], 2, "expected https://host, or http://localhost:port"),
        (["cursor", "https://k:v@mcp.example.com/a/b"], 2, "expected a URL without credentials"),
        (["cursor", "https://mcp.example.com/a/b?key=hidden"], 2, "'https://mcp.example.com/a/b': expected https://"),
        (["cursor", "nowhere"], 2, "there is no such folder"),
        (["cursor", "--as", "key:partnr"], 2, 'there is no API key "partnr"; did you mean partner?'),
        (["cursor", "--as", "anonymous"], 2, "--as takes key:NAME"),
        (["cursor", DEPLOYED, "--stage", "prod"], 2, "--stage and --endpoint are for a folder"),
        (["inspector", "--write"], 2, "Inspector: there is no file to write"),
        (["codex", "--write"], 2, "Codex: there is no file to write"),
        (["emacs"], 2, "invalid choice: 'emacs'"),
    ],
)
def test_it_refuses(stile: Stile, words: list[str], code: int, sentence: str) -> None:
    done = stile("connect", *words)

    assert (done.code, done.out) == (code, "")
    assert sentence in done.err


def test_several_endpoints_and_problems_end_without_lines(stile: Stile, folder: Path) -> None:
    write_endpoint(folder, FILES, name="api/more")
    several = stile("connect", "json")
    (folder / "api" / "more" / "config.yaml").write_text("upstrem: {}\n", encoding="utf-8")
    wrong = stile("connect", "json", "api/more")

    assert (several.code, several.out) == (2, "")
    assert "has several endpoints: name the folder of one" in several.err
    assert (wrong.code, wrong.out) == (1, "")
    assert "upstrem" in wrong.err


def test_odd_url_is_one_word_for_a_shell(stile: Stile) -> None:
    odd = "https://mcp.example.com/a';touch$(x)/shop/orders/mcp"

    words = shlex.split(stile("connect", "claude-code", odd, "--as", "key:any").out)

    assert words[-3:] == [odd, "--header", "X-API-Key: ${SHOP_ORDERS_KEY}"]


# Files of clients


@pytest.mark.parametrize(
    ("client", "platform", "variables", "file"),
    [
        ("claude-code", "linux", {}, ".mcp.json"),
        ("vscode", "linux", {}, ".vscode/mcp.json"),
        ("cursor", "linux", {}, ".cursor/mcp.json"),
        ("claude-desktop", "linux", {}, "home/.config/Claude/claude_desktop_config.json"),
        ("claude-desktop", "linux", {"XDG_CONFIG_HOME": "xdg"}, "xdg/Claude/claude_desktop_config.json"),
        (
            "claude-desktop",
            "darwin",
            {"XDG_CONFIG_HOME": "xdg"},
            "home/Library/Application Support/Claude/claude_desktop_config.json",
        ),
        ("claude-desktop", "win32", {"APPDATA": "roaming"}, "roaming/Claude/claude_desktop_config.json"),
    ],
)
def test_each_client_has_its_file(
    stile: Stile,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    client: str,
    platform: str,
    variables: dict[str, str],
    file: str,
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    for name, value in variables.items():
        monkeypatch.setenv(name, str(folder / value))

    done = stile("connect", client, "--write", "--yes")

    assert done.code == 0, done.err
    (servers,) = json.loads((folder / file).read_text("utf-8")).values()
    assert list(servers) == ["api-things"]


def test_file_is_written_after_its_change_was_shown_and_agreed_to(stile: Stile, folder: Path) -> None:
    file = folder / ".mcp.json"
    file.write_text(OTHER, encoding="utf-8")
    file.chmod(0o600)

    unasked = stile("connect", "claude-code", DEPLOYED, "--write")
    assert unasked.code == 1
    assert "nobody agreed; without a terminal, --yes agrees" in unasked.err
    assert file.read_text("utf-8") == OTHER
    assert ran_on_terminal("connect", "claude-code", DEPLOYED, "--write", typed="n\n")[0] == 1
    assert file.read_text("utf-8") == OTHER
    code, shown = ran_on_terminal("connect", "claude-code", DEPLOYED, "--write", typed="y\n")

    assert code == 0
    added = [line[1:] for line in shown.splitlines() if line.startswith("+") and not line.startswith("+++")]
    text = file.read_text("utf-8")
    assert json.loads("".join(added)) == {"mcpServers": {"shop-orders": ENTRY}}
    assert set(OTHER.splitlines()) <= set(text.splitlines())
    assert not re.search(r"^-[^-]", shown, re.MULTILINE)
    assert json.loads(text)["mcpServers"] == {"shop-orders": ENTRY, **json.loads(OTHER)["mcpServers"]}
    assert file.stat().st_mode & 0o777 == 0o600
    assert not (folder / "home").exists()


def test_second_write_changes_nothing_and_another_url_replaces_the_server(stile: Stile, folder: Path) -> None:
    runs = [
        stile("connect", "cursor", *words, "--write", "--yes", "--json")
        for words in ([DEPLOYED], [DEPLOYED], ["https://other.example/shop/orders", "--as", "key:any"])
    ]

    assert [json.loads(run.out)["written"] for run in runs] == [True, False, True]
    assert "has these lines already" in runs[1].err
    entry = json.loads((folder / ".cursor" / "mcp.json").read_text("utf-8"))["mcpServers"]["shop-orders"]
    assert entry["url"] == "https://other.example/shop/orders/mcp"
    assert entry["headers"] == {"X-API-Key": "${env:SHOP_ORDERS_KEY}"}


SERVER = CLIENTS["vscode"].members("shop-orders", DEPLOYED, "key")


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "{}",
        '{"servers": {}}',
        '{"servers":{"a":{"url":"x"}},"inputs":[{"id":"q"}]}',
        '{\n\t"inputs": [],\n\t"servers": {\n\t\t"a": {"n": 1.10, "big": 12345678901234567890}\n\t}\n}\n',
        '{\r\n  "servers": {\r\n    "a": {}\r\n  }\r\n}\r\n',
        '{"x": {"servers": {}}, "servers": {"a": 1}}',
        '{"x": "\\"servers\\": {", "servers": {}}',
        '{"serv\\u0065rs": {"a": "ü\\ud83d\\ude00"}}',
    ],
)
def test_everything_else_of_a_file_stays(text: str) -> None:
    changed = with_server(text, SERVER)

    before, after = json.loads(text or "{}") if text.strip() else {}, json.loads(changed)
    assert after["servers"].pop("shop-orders") == SERVER["servers"]["shop-orders"]
    assert after["inputs"].pop(0) == SERVER["inputs"][0]
    assert after == {"servers": {}, "inputs": [], **before}
    assert with_server(changed, SERVER) == changed


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_only_lines_are_added_to_a_file_with_lines(newline: str) -> None:
    text = OTHER.replace("\n", newline)

    changed = with_server(text, {"mcpServers": {"shop-orders": ENTRY}})

    rows = changed.split(newline)
    assert all(row.startswith("    ") or row in ("{", "}", "") for row in rows)
    assert not re.search(r"(?<!\r)\n", changed) if newline == "\r\n" else "\r" not in changed
    added = rows[2:6]
    assert rows[:2] + rows[6:] == text.split(newline)
    assert json.loads("".join(added).rstrip(",").join("{}")) == {"shop-orders": ENTRY}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"// a comment\n{}", "Expecting value"),
        (b'{"mcpServers": {},}', "Expecting property name"),
        (b"[]", "expected a JSON object"),
        (b'{"mcpServers": []}', "mcpServers is not as the client documents it"),
        (b'{"mcpServers": null}', "mcpServers is not as the client documents it"),
        (b'{"mcpServers": {}, "mcpServers": {}}', "a member is there twice"),
        (b'{"mcpServers": {"a": {"x": 1, "x": 2}}}', "a member is there twice"),
        (b'{"x": NaN}', "NaN is no JSON"),
        (b'{"x": 1e999}', "too large a number"),
        (b'{"mcpServers": {"api-things": 1}, "x": "\\ud83d"}', "surrogates not allowed"),
        (b"[" * 100_000, "nested too deeply"),
        (b"\xef\xbb\xbf{}", "Expecting value"),
        (b"\xff\xfe{}", "codec can't decode"),
    ],
)
def test_file_that_is_not_valid_stays_as_it_is(stile: Stile, folder: Path, content: bytes, reason: str) -> None:
    file = folder / ".mcp.json"
    file.write_bytes(content)

    done = stile("connect", "claude-code", "--write", "--yes")

    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(".mcp.json stays as it is: ")
    assert reason in done.err
    assert file.read_bytes() == content


@pytest.mark.parametrize("place", [".cursor/mcp.json", ".cursor"])
def test_link_elsewhere_is_not_followed(stile: Stile, folder: Path, place: str) -> None:
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    target = elsewhere / "mcp.json"
    target.write_text("{}", encoding="utf-8")
    link = folder / place
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(target if place.endswith(".json") else elsewhere)

    done = stile("connect", "cursor", "--write", "--yes")

    assert (done.code, done.out) == (1, "")
    assert "it is a link or behind one" in done.err
    assert target.read_text("utf-8") == "{}"


def test_link_to_nothing_a_folder_and_a_pipe_are_refused(stile: Stile, folder: Path) -> None:
    (folder / ".mcp.json").symlink_to("nothing")
    (folder / ".cursor" / "mcp.json").mkdir(parents=True)
    (folder / ".vscode").mkdir()
    os.mkfifo(folder / ".vscode" / "mcp.json")

    for client in ("claude-code", "cursor", "vscode"):
        done = stile("connect", client, "--write", "--yes")
        assert (done.code, done.out) == (1, "")
        assert "it is a link or behind one, or not a regular file" in done.err


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_file_that_cannot_be_written_is_said(stile: Stile, folder: Path) -> None:
    (folder / ".cursor").mkdir(mode=0o500)

    done = stile("connect", "cursor", "--write", "--yes")

    assert done.code == 1
    assert done.err.splitlines()[-1] == (".cursor/mcp.json stays as it is: Permission denied")


def test_control_characters_of_a_file_do_not_reach_the_terminal(stile: Stile, folder: Path) -> None:
    (folder / ".mcp.json").write_text('{"mcpServers": {}, "x": "\u202e\u009b31m"}', encoding="utf-8")

    done = stile("connect", "claude-code", "--write", "--yes")

    assert done.code == 0
    assert "\u202e" not in done.out
    assert "\u009b" not in done.out


def test_toml_of_the_page_is_what_codex_reads() -> None:
    page = (Path(__file__).parents[2] / "docs" / "clients.md").read_text("utf-8")
    (table,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)

    server = {"url": DEPLOYED, "bearer_token_env_var": "SHOP_ORDERS_KEY"}
    assert tomllib.loads(table) == {"mcp_servers": {"shop-orders": server}}


def test_write_shows_no_value_of_another_server_or_of_the_former_one(stile: Stile, folder: Path) -> None:
    former = {"type": "http", "url": "https://h.example/?token=OLD1", "headers": {"X-API-Key": "OLD2"}}
    servers = {"github": {"command": "gh", "env": {"TOKEN": "FOREIGN"}}, "shop-orders": former}
    file = folder / ".mcp.json"
    for text in (json.dumps({"mcpServers": servers}), json.dumps({"mcpServers": servers}, indent=2)):
        file.write_text(text, encoding="utf-8")
        done = stile("connect", "claude-code", DEPLOYED, "--as", "key:any", "--write", "--yes")

        assert done.code == 0
        assert "SHOP_ORDERS_KEY" in done.out
        assert not [secret for secret in ("FOREIGN", "OLD1", "OLD2") if secret in done.out + done.err]
        assert json.loads(file.read_text("utf-8"))["mcpServers"]["github"] == servers["github"]
