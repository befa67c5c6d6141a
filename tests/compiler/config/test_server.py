"""``server`` of ``config.yaml``: the identity of an endpoint, and everything that it must not say or show."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from handler.compiler.compile import compile_endpoint
from tests.support.endpoints import compiled, doubted, reported, write_endpoint
from tests.support.icons import HOSTILE, SVG, VALID, png


def quoted(value: str) -> str:
    """Return a text as YAML writes it, whatever characters it has."""
    plain = (
        each if each.isascii() and each.isprintable() and each not in '"\\' else f"\\U{ord(each):08x}" for each in value
    )
    return f'"{"".join(plain)}"'


INDEX = {"index.graphql": "type Query { a: Int }"}
RIGHT_TO_LEFT, ZERO_WIDTH = "\u202e", "\u200b"


def test_identity_has_all_that_the_author_writes(tmp_path: Path) -> None:
    config = """\
server:
  name: com.acme/orders
  title: Acme – Bestellungen & mehr
  description: Orders of the shop, and how far they have come
  version: 1.10
  website: https://shop.example.com:8443/help?a=b#c
  icons:
    - icons/Light.SVG
    - {file: icons/dark.png, theme: dark}
  software: false
"""
    endpoint = write_endpoint(tmp_path, {**INDEX, "config.yaml": config, "icons/Light.SVG": SVG})
    (endpoint / "icons/dark.png").write_bytes(png(48, 32))

    bundle = compile_endpoint(endpoint).bundle

    light, dark = bundle.server.pop("icons")
    assert bundle.server == {
        "name": "com.acme/orders",
        "title": "Acme – Bestellungen & mehr",
        "description": "Orders of the shop, and how far they have come",
        "version": "1.10",
        "websiteUrl": "https://shop.example.com:8443/help?a=b#c",
    }
    assert light == {"src": light["src"], "mimeType": "image/svg+xml", "sizes": ["any"]}
    assert dark == {"src": dark["src"], "mimeType": "image/png", "sizes": ["48x32"], "theme": "dark"}
    assert base64.b64decode(light["src"].removeprefix("data:image/svg+xml;base64,")) == SVG.encode()
    assert base64.b64decode(dark["src"].removeprefix("data:image/png;base64,")) == png(48, 32)
    assert bundle.software is False


@pytest.mark.parametrize("config", ["", "server:\n", "server: {title: '', icons: []}"])
def test_endpoint_without_values_has_no_identity_of_its_own(tmp_path: Path, config: str) -> None:
    bundle = compiled(tmp_path, {**INDEX, "config.yaml": config}).bundle

    assert (bundle.server, bundle.software) == ({}, True)


def test_stage_overrides_members_and_icons(tmp_path: Path) -> None:
    files = {
        **INDEX,
        "config.yaml": "server: {title: Orders, description: All orders, icons: [a.svg]}",
        "config.test.yaml": "server: {title: Orders (test), icons: [{file: b.svg, theme: light}]}",
        "a.svg": SVG,
        "b.svg": SVG.replace("#08f", "#f80"),
    }
    server = compile_endpoint(write_endpoint(tmp_path, files), stage="test").bundle.server

    assert (server["title"], server["description"]) == ("Orders (test)", "All orders")
    assert [icon["theme"] for icon in server["icons"]] == ["light"]
    assert b"#f80" in base64.b64decode(server["icons"][0]["src"].partition(",")[2])


def test_a_changed_icon_changes_the_digest_of_the_sources(tmp_path: Path) -> None:
    files = {**INDEX, "config.yaml": "server: {icons: a.svg}", "a.svg": SVG}
    one = compiled(tmp_path / "one", files).bundle.sources

    assert one != compiled(tmp_path / "two", {**files, "a.svg": SVG.replace("#08f", "#f80")}).bundle.sources


TEXTS = [
    "x" * 101,
    "<b>Shop</b>",
    "a < b",
    "&lt;script&gt;",
    "&#x3c;script",
    "[Shop](javascript:alert(1))",
    "[Shop](https://evil.example)",
    "javascript:alert(1)",
    "VBScript:x",
    "two\nlines",
    "two\ttabs",
    "a\rb",
    "a\0b",
    "a\x1b[31mb",
    "a\x7fb",
    "a\x85b",
    f"{RIGHT_TO_LEFT}pohs",
    "\u2066shop\u2069",
    "\u200eshop",
    f"sh{ZERO_WIDTH}op",
    "shop\u2028line",
    "shop\ufeff",
    "shop\U000e0041",
]
WEBSITES = [
    "http://shop.example.com",
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "//shop.example.com",
    "shop.example.com",
    "https://",
    "https:///x",
    "https://user:secret@shop.example.com",
    "https://shop.example.com@evil.example/",
    "https://shop.example.com\\@evil.example/",
    "https://shop example.com",
    "https://shop.example.com/<script>",
    'https://shop.example.com/"onclick=1',
    "https://shop.example.com/\nx",
    "https://shöp.example.com",
    "https://shop.example.com/" + "x" * 2_001,
    "https://" + "a." * 1_000 + "example",
    f"https://shop.example.com/{RIGHT_TO_LEFT}",
]
VERSIONS = [
    "^1.2.3",
    "~1.2.3",
    ">=1.2.3",
    "1.x",
    "1.2.X",
    "x",
    "1.*",
    "*",
    "1.0 - 2.0",
    "1 || 2",
    "<script>",
    "1.0\n",
    "1" * 256,
    "١.٢",
]
NAMES = [
    "..",
    "../..",
    "a/..",
    "-a",
    "Acme Shop",
    "a/b/c",
    "/a",
    "a/",
    "a" * 101,
    "a\nb",
    "<b>",
    "ä",
    f"a{RIGHT_TO_LEFT}",
]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("title", each) for each in TEXTS),
        *(("description", each) for each in TEXTS),
        *(("website", each) for each in WEBSITES),
        *(("version", each) for each in VERSIONS),
        *(("name", each) for each in NAMES),
    ],
)
def test_hostile_text_is_refused_at_its_place(tmp_path: Path, key: str, value: str) -> None:
    found = reported(tmp_path, {**INDEX, "config.yaml": f"server:\n  {key}: {quoted(value)}\n"})

    assert found == [f'config.yaml:2:{len(key) + 5} invalid-value: "server.{key}": expected']
    assert all(line.isprintable() for line in found)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("title", "🧑‍🚀 Ordres & Co. – 100 % sûr"),
        ("title", "می‌خواهم"),
        ("description", "x" * 100),
        ("version", "2.1.0-alpha+build.7"),
        ("version", "2026-11-28"),
        ("version", "1.0-x86"),
        ("name", "shop.orders"),
        ("website", "https://xn--shp-5qa.example/%C3%B6?x=1&y=(a)#b"),
    ],
)
def test_ordinary_text_is_taken(tmp_path: Path, key: str, value: str) -> None:
    made = compiled(tmp_path, {**INDEX, "config.yaml": f"server:\n  {key}: {quoted(value)}\n"})

    assert list(made.bundle.server.values()) == [value]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_icon_is_refused_at_its_place(tmp_path: Path, name: str) -> None:
    suffix = name[:3]
    config = f"server:\n  icons:\n    - {{file: icons/a.{suffix}, theme: dark}}\n"
    endpoint = write_endpoint(tmp_path, {**INDEX, "config.yaml": config, f"icons/a.{suffix}": ""})
    (endpoint / f"icons/a.{suffix}").write_bytes(HOSTILE[name])

    found = reported(tmp_path, {**INDEX, "config.yaml": config})

    assert found == [f'config.yaml:3:14 invalid-icon: "server.icons[0].file": icons/a.{suffix}']


@pytest.mark.parametrize("name", VALID)
def test_ordinary_icon_is_taken_without_its_metadata(tmp_path: Path, name: str) -> None:
    endpoint = write_endpoint(tmp_path, {**INDEX, "config.yaml": "server: {icons: a.icon}"})
    (endpoint / "a.icon").write_bytes(VALID[name])

    (icon,) = compile_endpoint(endpoint).bundle.server["icons"]

    content = base64.b64decode(icon["src"].partition(",")[2])
    assert icon["sizes"] == (["any"] if name.startswith("svg") else ["1x1"] if "one pixel" in name else ["4x3"])
    assert not any(mark in content for mark in (b"tEXt", b"<!", b"<?xml", b"\xef\xbb\xbf"))


def test_line_of_a_fault_counts_comments_and_declarations(tmp_path: Path) -> None:
    text = '<?xml version="1.0"?>\n<!-- one\ntwo -->\n<svg xmlns="http://www.w3.org/2000/svg">\n<script/></svg>'
    (found,) = reported(tmp_path, {**INDEX, "config.yaml": "server: {icons: a.svg}", "a.svg": text})

    assert "a.svg has <script> in line 5: expected shapes, colours and text alone" in found


def test_icons_are_small(tmp_path: Path) -> None:
    noise = "".join(chr(ord("a") + number * number % 26) for number in range(9_000))
    one = SVG.replace("M2 2h44v44z", noise)
    files = {**INDEX, "a.svg": one, "b.svg": one, "c.svg": one * 2}

    together = reported(tmp_path, {**files, "config.yaml": "server:\n  icons: [a.svg, b.svg]"})
    alone = reported(tmp_path, {**files, "config.yaml": "server:\n  icons: c.svg"})
    (tmp_path / "api/things/c.svg").write_bytes(b" " * 10_000_000)
    large = reported(tmp_path, {**INDEX, "config.yaml": "server:\n  icons: c.svg"})

    size = 2 * len(one)
    assert together == [
        f'config.yaml:2:10 invalid-icon: "server.icons": they have {size:,} bytes together: expected at'
    ]
    assert alone == [f'config.yaml:2:10 unreadable-file: "c.svg" has {size} bytes; a file may have 16384']
    assert large == ['config.yaml:2:10 unreadable-file: "c.svg" has 10000000 bytes; a file may have 16384']


@pytest.mark.parametrize("name", ["../icon.svg", "/etc/hostname", "icons/../../icon.svg"])
def test_icon_outside_of_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "api").mkdir()
    (tmp_path / "api/icon.svg").write_text(SVG)

    found = reported(tmp_path, {**INDEX, "config.yaml": f"server:\n  icons: {name}"})

    assert found == ["config.yaml:2:10 unreadable-file"]
    assert "lies outside the endpoint folder" in found[0]


def test_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    endpoint = write_endpoint(tmp_path, {**INDEX, "config.yaml": "server:\n  icons: a.svg"})
    (tmp_path / "secret.svg").write_text(SVG)
    (endpoint / "a.svg").symlink_to(tmp_path / "secret.svg")

    (found,) = reported(tmp_path, {})

    assert found == "config.yaml:2:10 unreadable-file"
    assert "lies outside the endpoint folder" in found


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        ("{titel: x}", 'config.yaml:1:10 unknown-key: "server.titel": expected one of name, title'),
        ("{icons: [{theme: dark}]}", "config.yaml:1:18 unreadable-file"),
        ("{icons: [{file: a.svg, theme: blue}]}", "config.yaml:1:39 invalid-value"),
        ("{icons: [{file: missing.svg}]}", 'config.yaml:1:25 unreadable-file: "missing.svg" does not exist'),
        ("{icons: [{file: a.svg, sizes: 48x48}]}", "config.yaml:1:32 unknown-key"),
        ("{icons: [[a.svg]]}", "config.yaml:1:18 invalid-value"),
        ("{title: [x]}", "config.yaml:1:17 invalid-value"),
        ("{software: perhaps}", "config.yaml:1:20 invalid-value"),
        ("shop", "config.yaml:1:9 invalid-value"),
    ],
)
def test_other_faults_have_their_places(tmp_path: Path, server: str, expected: str) -> None:
    assert expected in reported(tmp_path, {**INDEX, "config.yaml": f"server: {server}", "a.svg": SVG})


def test_marks_of_a_conversation_are_warned_of(tmp_path: Path) -> None:
    assert "config.yaml:1:18 prompt-markup" in doubted(
        tmp_path, {**INDEX, "config.yaml": "server: {title: '[INST] Shop'}"}
    )
