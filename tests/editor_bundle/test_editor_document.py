"""The document of the GraphQL editor: the vendored bundle as it was made, and a policy for exactly this document."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from handler.page.page_documents import STATIC, editor_document
from tests.editor_bundle.__main__ import (
    BUNDLE,
    FACTS,
    LICENSES,
    LOCK,
    SOURCE,
    facts,
    joined_licenses,
    locked_packages,
)

TERMS = {"a": ", to all", "b": ", to some", "c": ",\nto all"}
OWN_SCRIPTS = ("editor.js", "graphql.js", "graphql_docs.js", "graphql_views.js", "reach.js")
MAKES_MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|\beval\(|new Function"
    r"|setTimeout\(\s*['\"]|localStorage|sessionStorage|XMLHttpRequest|WebSocket|import\("
)


class Elements(HTMLParser):
    """The texts of scripts and styles of a document, and the attributes of all elements."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: dict[str, list[str]] = {"script": [], "style": []}
        self.attributes: list[tuple[str, str | None]] = []
        self._inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += attrs
        self._inside = tag
        if tag in self.texts:
            self.texts[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside in self.texts:
            self.texts[self._inside][-1] += data


def hash_of(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def policy() -> dict[str, str]:
    parts = editor_document().headers["content-security-policy"].split("; ")
    return {name: value for name, _, value in (each.partition(" ") for each in parts)}


def test_policy_allows_the_scripts_and_the_style_of_the_document_and_no_others() -> None:
    found = Elements(editor_document().html)

    allowed = policy()
    assert allowed["script-src"].split() == [hash_of(text) for text in found.texts["script"]]
    assert [allowed["style-src"]] == [hash_of(text) for text in found.texts["style"]]
    assert len(found.texts["script"]) == 2
    assert allowed["default-src"] == allowed["base-uri"] == allowed["form-action"] == "'none'"
    assert (allowed["frame-ancestors"], allowed["sandbox"]) == ("'self'", "allow-scripts")
    assert "connect-src" not in allowed  # the editor asks for nothing: default-src
    assert "unsafe" not in allowed["script-src"]
    assert not [name for name, _ in found.attributes if name.startswith("on") or name in ("src", "style")]


def test_policy_of_another_text_would_differ() -> None:
    assert hash_of("a") not in policy()["script-src"]
    assert editor_document() is editor_document()


def test_vendored_bundle_is_the_one_that_was_made_of_the_locked_modules() -> None:
    assert FACTS.read_text(encoding="utf-8") == facts(BUNDLE.read_text(encoding="utf-8"))


def test_lock_pins_every_package_by_version_and_hash_and_names_no_registry() -> None:
    wanted = json.loads((SOURCE / "package.json").read_text(encoding="utf-8"))
    locked = locked_packages()
    for name, version in {**wanted["dependencies"], **wanted["devDependencies"]}.items():
        assert re.fullmatch(r"\d+\.\d+\.\d+", version)
        assert locked[name]["version"] == version
    assert all(each["integrity"].startswith("sha512-") for each in locked.values())
    assert "http" not in LOCK.read_text(encoding="utf-8").replace("https://github.com/sponsors", "")


def test_every_package_of_the_bundle_has_its_licence_beside_it() -> None:
    told = LICENSES.read_text(encoding="utf-8")
    shipped = {name: each for name, each in locked_packages().items() if not each.get("dev")}

    assert {each["license"] for each in shipped.values()} == {"MIT"}
    for name, each in shipped.items():
        assert f"{name} {each['version']} (MIT)\nCopyright " in told
    assert told.count("Permission is hereby granted, free of charge") == 2  # quotation marks of one differ
    assert told.count("THE SOFTWARE IS PROVIDED") == 2


def test_a_licence_with_other_terms_keeps_its_own() -> None:
    licenses = [(name, f"Copyright {name}\n\nPermission is hereby granted{terms}.") for name, terms in TERMS.items()]

    assert joined_licenses(licenses) == (
        "a\nCopyright a\n\nc\nCopyright c\n\nPermission is hereby granted, to all.\n\n"
        "b\nCopyright b\n\nPermission is hereby granted, to some.\n"
    )


def test_bundle_makes_no_code_of_texts_and_no_markup() -> None:
    text = BUNDLE.read_text(encoding="utf-8")

    for word in ("eval(", "new Function", "innerHTML", "insertAdjacentHTML", "document.write", "</script", "<!--"):
        assert word not in text
    assert not re.search(r"\b(fetch|importScripts|XMLHttpRequest|WebSocket|EventSource|sendBeacon)\b\s*\(", text)


@pytest.mark.parametrize("name", OWN_SCRIPTS)
def test_own_scripts_insert_texts_alone_and_keep_nothing(name: str) -> None:
    assert MAKES_MARKUP.findall((STATIC / name).read_text(encoding="utf-8")) == []
