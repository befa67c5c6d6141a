"""The page of the settings that matter: twenty, each with the default that the reference states."""

from __future__ import annotations

from tests.docs.reference import codes, page, table

MATTER, CONFIG, SETTINGS = page("settings-that-matter"), page("reference/config"), page("reference/settings")


def defaults(text: str, *headings: str) -> dict[str, str]:
    """First code of each row -> its default."""
    return {codes(row[0])[0]: row[headings.index("default")] for row in table(text, *headings) if codes(row[0])}


def keys_of_the_reference() -> dict[str, str]:
    sections = [part for part in CONFIG.text.split("\n## ") if "| key | type | default | meaning |" in part]
    return {
        key: default
        for part in sections
        for key, default in defaults(part, "key", "type", "default", "meaning").items()
    }


def plain(default: str) -> str:
    """A default without its link."""
    return default.partition("](")[0].lstrip("[").strip("`")


def test_defaults_are_those_of_the_reference() -> None:
    keys = defaults(MATTER.text, "key", "default", "set it")
    variables = defaults(MATTER.text, "variable, parameter", "default", "set it")
    known = {**keys_of_the_reference(), **defaults(SETTINGS.text, "variable", "parameter", "default", "meaning")}

    assert len(keys) + len(variables) == 20
    assert {name: plain(text) for name, text in {**keys, **variables}.items()} == {
        name: plain(known[name]) for name in (*keys, *variables)
    }


def test_variables_stand_beside_their_parameters() -> None:
    pairs = [codes(row[0]) for row in table(MATTER.text, "variable, parameter", "default", "set it")]
    known = {
        codes(row[0])[0]: codes(row[1]) for row in table(SETTINGS.text, "variable", "parameter", "default", "meaning")
    }

    assert [pair for pair in pairs if known[pair[0]] != pair[1:]] == []
