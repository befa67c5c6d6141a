"""Invisible and bidirectional characters: with them, a person and a model may read different texts.

Joiners, variation selectors and flags are accepted in the scripts and emoji that are written with them.

Source: Unicode 16, sections 9.2, 12.1, 23.2 and 23.4; UTS #51 (emoji); UTR #36, section 3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f"  # all except tab and line feed, which lay out texts
_FORMATS = (  # Cf, Zl, Zp and other blank characters, but no visible signs such as U+06DD
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0"
    r"\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
_HALVES = r"\ud800-\udfff"
_SELECTORS = r"\ufe00-\ufe0f\U000e0100-\U000e01ef\u180b-\u180d\u180f"  # the last of Mongolian

_EMOJI = r"\u00a9\u00ae\u203c-\u32ff\U0001f000-\U0001faff"
_JOINING = (  # letters of scripts in which a joiner or non-joiner spells a word: Arabic, Syriac, N'Ko, Indic and others
    r"\u0620-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u17b3\u17b6-\u180a\u1810-\u18aa\u1a20-\u1aad\u1b00-\u1c4f"
    r"\ua800-\ua8ff\ua980-\ua9df\uaa00-\uaadf\uabc0-\uabff\ufb50-\ufdff\ufe70-\ufefc\U00010a00-\U00011fff"
)
_FLAG = "\U0001f3f4(?:\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|"
_FLAG += "\U000e0077\U000e006c\U000e0073))\U000e007f"  # England, Scotland and Wales: the only ones

# Compiled at first use: a first call of a tool in Python loads this module, and most texts are never searched.
_FOUND = (
    rf"{_FLAG}"
    rf"|(?P<bad>[{_CONTROLS}{_FORMATS}{_HALVES}]"
    rf"|(?<![{_JOINING}])\u200c"
    rf"|(?<![{_JOINING}])(?:(?<![{_EMOJI}\ufe0f])\u200d|\u200d(?![{_EMOJI}]))"
    rf"|(?<![^\sA-Za-z{_SELECTORS}{_FORMATS}\u200c\u200d])[{_SELECTORS}])"
)

_POSSIBLE = rf"[{_CONTROLS}{_FORMATS}{_HALVES}{_SELECTORS}\u200c\u200d]"


def invisible_characters(text: str) -> Iterator[tuple[int, str]]:
    """Yield each invisible character with its offset in the text, counted from 0."""
    if re.search(_POSSIBLE, text):  # a quick search that rules out most texts
        yield from ((match.start(), match["bad"]) for match in re.finditer(_FOUND, text) if match["bad"])


def code_point(character: str) -> str:
    """Return the name of a character, such as ``U+202E``."""
    return f"U+{ord(character):04X}"


def escaped(text: str) -> str:
    """Return a text for a terminal, with an escape in place of each invisible character."""
    return re.sub(_FOUND, lambda match: ascii(match["bad"])[1:-1] if match["bad"] else match[0], text)


def escaped_json(text: str) -> str:
    """Return equivalent JSON text for a terminal, with an escape in place of each invisible character."""
    return re.sub(_FOUND, lambda match: _json_escape(match["bad"]) if match["bad"] else match[0], text)


def _json_escape(character: str) -> str:
    """Return the JSON escape: two for a character beyond the basic plane. Source: RFC 8259, section 7."""
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
