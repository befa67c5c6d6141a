"""The identity of an endpoint in the answers that introduce it, at each revision, and one that no compiler wrote."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp_types import methods as oracle

from handler import __version__
from handler.bundle.model import Bundle
from handler.bundle.stored import bundle_key, write_bundle
from handler.compiler.compile import Compiled, compile_endpoint
from handler.server.mcp.revisions import LEGACY, MODERN
from handler.storage.local import MemoryStorage
from tests.support.endpoints import PUBLIC, write_endpoint
from tests.support.function import Function, running_function
from tests.support.icons import HOSTILE, SVG, VALID, png

INFO = "io.modelcontextprotocol/serverInfo"
IDENTITY = """\
server:
  name: acme
  title: Acme orders
  description: Orders of the shop
  version: 1.4.0
  website: https://shop.example.com/help
  icons: [icons/a.svg, {file: icons/b.png, theme: dark}]
"""
SOFTWARE = {"stile/software": {"name": "stile", "version": __version__}}
FIRST = {"name": "acme", "version": "1.4.0"}
TITLED = {**FIRST, "title": "Acme orders"}


def made(folder: Path, config: str = IDENTITY) -> Compiled:
    files = {
        "index.graphql": "type Query { a: Int }",
        "operations/o.graphql": 'query A @mcpTool(name: "a") { a }',
        "config.yaml": PUBLIC.replace("    - {type: Mutation, policyDefault: {condition: true}}\n", "") + config,
        "icons/a.svg": SVG,
        "icons/b.png": "",
    }
    endpoint = write_endpoint(folder, files)
    (endpoint / "icons/b.png").write_bytes(png(48, 48))
    return compile_endpoint(endpoint)


def bundle_of(folder: Path, config: str) -> Bundle:
    files = {"index.graphql": "type Query { a: Int }", "config.yaml": config}
    return compile_endpoint(write_endpoint(folder, files)).bundle


def whole(compiled: Compiled) -> dict[str, Any]:
    """Return all members of the identity."""
    described = {"description": "Orders of the shop", "websiteUrl": "https://shop.example.com/help"}
    return {**TITLED, **described, "icons": compiled.bundle.server["icons"]}


def initialized(function: Function, revision: str) -> dict[str, Any]:
    params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    result: dict[str, Any] = function.request("initialize", params).result
    oracle.validate_server_result("initialize", revision, result)
    return result


def test_initialize_has_the_members_that_the_revision_knows(tmp_path: Path) -> None:
    compiled = made(tmp_path)
    expected = {"2024-11-05": FIRST, "2025-03-26": FIRST, "2025-06-18": TITLED, "2025-11-25": whole(compiled)}

    with running_function(compiled) as function:
        results = {revision: initialized(function, revision) for revision in LEGACY}

    assert {revision: result["serverInfo"] for revision, result in results.items()} == expected
    assert all(result["_meta"] == SOFTWARE for result in results.values())


def test_discover_has_all_members_and_other_results_three(tmp_path: Path) -> None:
    compiled = made(tmp_path)
    with running_function(compiled) as function:
        discovered = function.request("server/discover", modern=True).result
        others = [
            function.request("tools/list", modern=True).result,
            function.request("tools/call", {"name": "a", "arguments": {"x": 1}}, modern=True).result,
        ]
        others[1]["_meta"].pop("stile/code")
        legacy = function.request("tools/list").result

    oracle.validate_server_result("server/discover", MODERN[0], discovered)
    assert discovered["_meta"] == {**SOFTWARE, INFO: whole(compiled)}
    assert [result["_meta"] for result in others] == [{INFO: TITLED}, {INFO: TITLED}]
    assert "_meta" not in legacy


def test_icons_are_data_of_the_files(tmp_path: Path) -> None:
    with running_function(made(tmp_path)) as function:
        light, dark = initialized(function, "2025-11-25")["serverInfo"]["icons"]

    assert base64.b64decode(light["src"].removeprefix("data:image/svg+xml;base64,")) == SVG.encode()
    assert (light["sizes"], dark["sizes"], dark["theme"]) == (["any"], ["48x48"], "dark")


def test_software_can_be_left_out(tmp_path: Path) -> None:
    with running_function(made(tmp_path, "server: {software: false}")) as function:
        discovered = function.request("server/discover", modern=True).result
        results = [initialized(function, revision) for revision in LEGACY]

    assert not any("_meta" in result for result in results)
    assert "stile" not in str(discovered | {"instructions": ""}).lower()


def test_endpoint_without_an_identity_is_named_by_its_folder_and_a_digest(tmp_path: Path) -> None:
    files = {"first": "", "same": "# a remark\n", "another": "instructions: Ask for orders.\n"}
    infos = {}
    for name, config in files.items():
        with running_function(made(tmp_path / name, config)) as function:
            infos[name] = initialized(function, "2025-11-25")["serverInfo"]

    assert {info["name"] for info in infos.values()} == {"api.things"}
    assert re.fullmatch("[0-9a-f]{12}", infos["first"]["version"])
    assert infos["first"] == infos["same"] != infos["another"]


def test_version_says_nothing_of_parts_that_are_not_open_to_all(tmp_path: Path) -> None:
    """A digest of all parts would confirm a guess at one that a caller does not see."""
    closed = "resources: {condition: '$jwt.role:String == \"staff\"'}\n"
    versions = []
    for name, text in (("one", "The secret plan\n"), ("other", "Another plan\n")):
        write_endpoint(tmp_path / name, {"resources/plan.md": text})
        versions.append(made(tmp_path / name, closed).bundle.version)

    assert versions[0] == versions[1] != made(tmp_path / "one", "").bundle.version


def test_version_of_a_card_says_nothing_of_parts_for_callers_alone(tmp_path: Path) -> None:
    """Everybody reads the card, and the endpoint asks for a credential."""
    listed = "server: {description: Orders, listed: true}\ninstructions: "
    versions = {}
    for anonymous in ("allow", "challenge"):
        texts = [f"{listed}{text}\naccess: {{anonymous: {anonymous}}}\n" for text in ("One plan", "Another plan")]
        versions[anonymous] = {bundle_of(tmp_path / f"{anonymous}{len(text)}", text).version for text in texts}

    assert {anonymous: len(found) for anonymous, found in versions.items()} == {"allow": 2, "challenge": 1}


def test_bundle_of_an_older_release_is_served(tmp_path: Path) -> None:
    compiled, storage = made(tmp_path, ""), MemoryStorage()
    content = json.loads(write_bundle(compiled.bundle))["content"]
    for member in ("version", "server", "software"):
        del content[member]
    older = json.dumps(content, separators=(",", ":")).encode()
    header = b'{"format_version":2,"sha256":"%s","content":' % hashlib.sha256(older).hexdigest().encode()
    storage.write(bundle_key("api/things"), header + older + b"}")

    with running_function(storage=storage) as function:
        assert initialized(replace(function, path="/api/things/mcp"), "2025-11-25")["serverInfo"] == {
            "name": "api.things",
            "version": "0",
        }


def icon(content: bytes, media_type: str = "image/svg+xml", **more: Any) -> dict[str, Any]:
    src = f"data:{media_type};base64,{base64.b64encode(content).decode()}"
    return {"src": src, "mimeType": media_type, "sizes": ["any"], **more}


FOREIGN: dict[str, dict[str, Any]] = {
    "a title with markup": {"title": "<b>Shop</b>"},
    "a title of another type": {"title": ["Shop"]},
    "a title of nothing": {"title": None},
    "an empty name": {"name": ""},
    "a hidden character": {"description": "a\u202eb"},
    "a link to a script": {"websiteUrl": "javascript:alert(1)"},
    "a range": {"version": "1.x"},
    "a blank title": {"title": " "},
    "a large website": {"websiteUrl": "https://" + "a." * 1_000_000 + "example"},
    "an unknown member": {"script": "x"},
    "icons of another type": {"icons": "x"},
    "an icon of another type": {"icons": ["x"]},
    "an icon without a source": {"icons": [{"mimeType": "image/png"}]},
    "an icon elsewhere": {"icons": [{"src": "https://evil.example/a.png", "mimeType": "image/png", "sizes": ["any"]}]},
    "an icon of another media type": {"icons": [icon(SVG.encode(), "text/html")]},
    "an icon with another theme": {"icons": [icon(SVG.encode(), theme="<b>")]},
    "an icon with another size": {"icons": [{**icon(png(), "image/png"), "sizes": ["512x512"]}]},
    "an icon with another member": {"icons": [icon(SVG.encode(), onload="x")]},
    "an icon with metadata": {"icons": [icon(VALID["svg with a declaration"])]},
    "a large icon": {"icons": [icon(SVG.encode() + b" " * 16_384)]},
    "an icon that is not base64": {"icons": [{**icon(b""), "src": "data:image/svg+xml;base64,%%%"}]},
    **{name: {"icons": [icon(content)]} for name, content in HOSTILE.items()},
}


@pytest.mark.parametrize("name", FOREIGN)
def test_identity_that_no_compiler_wrote_is_not_sent(tmp_path: Path, name: str) -> None:
    compiled = made(tmp_path)
    bundle = replace(compiled.bundle, server={**compiled.bundle.server, **FOREIGN[name]})

    with running_function(replace(compiled, bundle=bundle)) as function:
        answered = initialized(function, "2025-11-25")["serverInfo"]
        listed = function.request("tools/list", modern=True).result

    assert answered == {"name": "api.things", "version": bundle.version}
    assert listed["_meta"] == {INFO: answered}
    assert [tool["name"] for tool in listed["tools"]] == ["a"]
    assert "publish again" in function.lines[0]["reason"]


@pytest.mark.parametrize(("version", "sent"), [("<script>", "0"), ("١٢", "0"), ("a" * 1_000_000, "a" * 12)])
def test_made_version_that_no_compiler_wrote_is_not_sent(tmp_path: Path, version: str, sent: str) -> None:
    compiled = made(tmp_path, "")
    bundle = replace(compiled.bundle, version=version)

    with running_function(replace(compiled, bundle=bundle)) as function:
        assert initialized(function, "2025-11-25")["serverInfo"] == {"name": "api.things", "version": sent}


def test_card_has_the_title(tmp_path: Path) -> None:
    with running_function(made(tmp_path)) as function:
        assert function.send("GET", "/api/things").json["title"] == "Acme orders"
