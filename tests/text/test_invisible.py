"""Characters that nobody sees are told from those that scripts and emoji are written with."""

from __future__ import annotations

import json
import unicodedata

import pytest

from handler.text.invisible import code_point, escaped, escaped_json, invisible_characters

SEEN = {
    "a family": "\U0001f469\u200d\u2764\ufe0f\u200d\U0001f48b\u200d\U0001f468",
    "a skin tone": "\U0001f469\U0001f3fd\u200d\U0001f4bb",
    "a rainbow flag": "\U0001f3f3\ufe0f\u200d\U0001f308",
    "a head that shakes": "\U0001f642\u200d\u2194\ufe0f",
    "the flag of Wales": "\U0001f3f4\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f",
    "a keycap": "1\ufe0f\u20e3 #\ufe0f\u20e3",
    "Persian": "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "Hindi": "\u0915\u094d\u200d\u0937 \u0915\u094d\u200c\u0937",
    "Malayalam": "\u0d36\u0d4d\u200d\u0d30\u0d40",
    "Sinhala": "\u0dc1\u0dca\u200d\u0dbb\u0dd3",
    "a variant of a Japanese character": "\u845b\U000e0100",
    "Mongolian": "\u182e\u180b\u1823",
    "Arabic with a sign that spans digits": "\u06dd\u0661",
    "accents by themselves": "e\u0301 n\u0303",
    "layout": "one\n\ttwo\u00a0three",
    "mathematics": "x \u2264 \u221e, \u2229\ufe00",
}

UNSEEN = {
    "an override": ("a\u202eb", "U+202E"),
    "an isolate": ("\u2066a", "U+2066"),
    "a mark of direction": ("a\u200fb", "U+200F"),
    "a zero-width space": ("a\u200bb", "U+200B"),
    "a byte order mark": ("a\ufeffb", "U+FEFF"),
    "a word joiner": ("a\u2060b", "U+2060"),
    "a soft hyphen": ("a\u00adb", "U+00AD"),
    "a tag": ("a\U000e0069b", "U+E0069"),
    "tags behind a flag": ("\U0001f3f4\U000e0069\U000e007f", "U+E0069"),
    "a joiner between Latin letters": ("a\u200db", "U+200D"),
    "a non-joiner between Latin letters": ("a\u200cb", "U+200C"),
    "a joiner behind an emoji and before a letter": ("\U0001f469\u200da", "U+200D"),
    "a second non-joiner": ("\u0645\u200c\u200c\u0645", "U+200C"),
    "a selector on a Latin letter": ("a\ufe01", "U+FE01"),
    "a second selector": ("\U0001f600\ufe0f\ufe01", "U+FE01"),
    "a run of selectors of the other plane": ("\U0001f600\U000e0101\U000e0102", "U+E0102"),
    "ESC": ("a\x1b[2J", "U+001B"),
    "NUL": ("a\0", "U+0000"),
    "a carriage return": ("a\rb", "U+000D"),
    "a C1 control": ("a\x9b2J", "U+009B"),
    "a line separator": ("a\u2028b", "U+2028"),
    "an annotation": ("a\ufff9b", "U+FFF9"),
    "a filler": ("a\u3164b", "U+3164"),
    "a blank of Braille": ("a\u2800b", "U+2800"),
    "half a pair": ("a\ud800b", "U+D800"),
}


@pytest.mark.parametrize("text", SEEN.values(), ids=SEEN)
def test_what_scripts_and_emoji_are_written_with_is_no_finding(text: str) -> None:
    assert list(invisible_characters(text)) == []
    assert escaped(text) == text


@pytest.mark.parametrize(("text", "name"), UNSEEN.values(), ids=UNSEEN)
def test_what_nobody_sees_is_found_with_its_place(text: str, name: str) -> None:
    found = list(invisible_characters(text))

    assert code_point(found[0][1]) == name
    assert all(text[place] == character for place, character in found)
    assert list(invisible_characters(escaped(text))) == []


@pytest.mark.parametrize(("text", "name"), UNSEEN.values(), ids=UNSEEN)
def test_json_with_escapes_says_the_same(text: str, name: str) -> None:
    written = escaped_json(json.dumps({name: text}, ensure_ascii=False))

    assert list(invisible_characters(written)) == []
    assert json.loads(written) == {name: text}


def test_every_control_and_format_character_is_found_but_for_those_that_are_seen() -> None:
    """Unicode's signs that span digits, and controls of scripts that are drawn as signs, have the category Cf too."""
    found, category = [], ("Cc", "Cf", "Zl", "Zp", "Cs")
    for number in range(0x110000):
        character = chr(number)
        if unicodedata.category(character) in category and not list(invisible_characters(f"a{character}b")):
            found.append(unicodedata.name(character, ascii(character)))

    assert {name for name in found if "\\" in name} == {"'\\t'", "'\\n'"}
    signs = {name for name in found if "\\" not in name}
    assert all(name.startswith(("ARABIC", "SYRIAC", "KAITHI", "EGYPTIAN")) for name in signs)
