"""The checks of the identity that an endpoint sends to clients: its texts, the URL of its website, and its icons.

The server checks the identity of a bundle again, because storage may hold a bundle that no compiler wrote.

Source: MCP 2026-07-28, schema (``Implementation``, ``Icon``); the schema of Server Cards; PNG (Third Edition),
sections 5 and 11; SVG 2, chapter 5.
"""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Mapping
from io import BytesIO

from handler.strict_json import JSONObject
from handler.text.invisible import invisible_characters

MAX_ICON_BYTES = 16_384  # of an endpoint together: its bundle, and each answer that introduces it, carry them
PLAIN = r"(?=.{,100}\Z)(?!.*(&.*;|\]\(|script:))[^<>\x00-\x1f\x7f]*"  # no HTML, and no links in Markdown

TEXTS: Mapping[str, str] = {  # members of ``serverInfo``
    "name": r"\w[\w.-]{,99}(/\w[\w.-]{,98})?",
    "title": PLAIN,
    "version": r"(?!(.*\.)?x(\.|$))[a-z0-9][\w.+-]{,254}",
    "description": PLAIN,
    "websiteUrl": r"https://[a-z0-9][a-z0-9.-]{,252}(:\d{1,5})?([/?#][\w.~:/?#\[\]@!$&()*+,;=%-]{,2000})?",
}


def is_text(member: str, text: str) -> bool:
    """Return whether a text may be a member of ``serverInfo``, or is empty: one line, all characters visible."""
    is_such = re.fullmatch(f"({TEXTS[member]})?", text, re.ASCII | re.IGNORECASE)
    return is_such is not None and (text.isascii() or not any(invisible_characters(text)))


def is_valid(info: JSONObject) -> bool:
    """Return whether a bundle's members of ``serverInfo`` are such as the compiler writes."""
    try:
        icons = info.get("icons", [])
        pictures = [base64.b64decode(icon["src"].partition(",")[2]) for icon in icons]
        is_small = sum(map(len, pictures)) <= MAX_ICON_BYTES
        same = is_small and icons == list(map(made_icon, pictures, (icon.get("theme", "") for icon in icons)))
        return same and all(text.strip() and is_text(name, text) for name, text in info.items() if name != "icons")
    except (AttributeError, KeyError, TypeError, ValueError):  # values of other types
        return False


def made_icon(raw: bytes, theme: str = "") -> JSONObject:
    """Return the icon of a PNG or SVG file's bytes, without comments and metadata.

    Raises:
        ValueError: the picture is not valid, or may do more than show itself. The message is the end of a sentence.
    """
    content, media_type, size = _png(raw) if raw.startswith(SIGNATURE) else _svg(raw)
    other_kinds = rb"(?i)<(!doctype html|html|script|iframe|\?php)|%pdf-|pk\x03\x04"
    if re.search(other_kinds, raw + content) or theme not in ("", *THEMES):  # what is left out may divide a mark
        raise ValueError("can be read as a page, a script, a PDF or an archive, too")
    src = f"data:{media_type};base64,{base64.b64encode(content).decode()}"
    return {"src": src, "mimeType": media_type, "sizes": [size], **({"theme": theme} if theme else {})}


THEMES = ("light", "dark")
SIGNATURE = b"\x89PNG\r\n\x1a\n"


def _png(raw: bytes) -> tuple[bytes, str, str]:
    """Return a PNG without its metadata, its media type, and its size in pixels."""
    kept, names, at = SIGNATURE, b"", len(SIGNATURE)
    while at < len(raw):
        end, name = at + 12 + int.from_bytes(raw[at : at + 4], "big"), raw[at + 4 : at + 8]
        if raw[end - 4 : end] != zlib.crc32(raw[at + 4 : end - 4]).to_bytes(4, "big"):
            raise ValueError(f"has bytes that are not a part of a PNG, from byte {at} on")
        if name == b"tRNS" or not name[:1].islower():  # lower case: a picture shows without it
            kept, names = kept + raw[at:end], names + name
        at = end
    width, height = int.from_bytes(kept[16:20], "big"), int.from_bytes(kept[20:24], "big")
    has_parts = re.fullmatch(rb"IHDR(PLTE)?(tRNS)?(IDAT)+IEND", names)
    is_whole = has_parts and kept[8:12] == b"\0\0\0\x0d" and kept[-12:-8] == b"\0\0\0\0"  # sizes of the first and last
    if not is_whole or not (0 < width <= 1_024 and 0 < height <= 1_024):
        raise ValueError("is not a PNG of 1 to 1,024 pixels a side, with its parts in their order")
    return kept, "image/png", f"{width}x{height}"


PASSIVE = (
    r"(?is)(?-i:<(svg|g|defs|symbol|use|path|rect|circle|ellipse|line|polyline|polygon|text|tspan|title|desc|style|stop"
    r"|linearGradient|radialGradient|clipPath|mask))|xmlns=http://www\.w3\.org/2000/svg|(xlink:)?href=#[\w.-]+"
    r"|([\w.-]+:)?(?!on|href=|base=|xmlns=)[\w-]*=(?!.*(mask(?!-type)|clip-path)[\w-]{,30}\s*[:/])([^\\@(a-z]++|@media\("
    r"|\b(url\(#[\w.-]+\)|(matrix|translate|scale|rotate|skew[xy]|rgba?|hsla?|color|var|calc)\()|[a-z]|(?<![\w-])\("
    r"|@(?!import|font-face))*"
)
"""All that an SVG may have: elements (``<name``), attributes (``name=value``) and texts (``=text``)."""


def _svg(raw: bytes) -> tuple[bytes, str, str]:
    """Return an SVG without its comments, its media type, and ``any`` as its size. It loads and runs nothing."""
    from xml.parsers import expat

    # HTML ends comments elsewhere than XML does, and the declaration may name another encoding.
    dropped = r'(?s)\A<\?xml\s.*?\?>|<!--.*?(-->|\Z)|<!DOCTYPE svg PUBLIC "-//W3C//DTD [^<>\[]*>'
    text = re.sub(dropped, lambda part: "\n" * part[0].count("\n"), raw.decode("utf-8-sig", "replace"))
    alien = r"\A(?!\s*<svg\s[^<>]*\bxmlns=)|[\0\ufffd\ufeff]|<[!?]|<(style|title|desc)\b(?!\s*/>)[^<]*+<(?!/)"
    if re.search(alien, text):
        raise ValueError("is neither a PNG nor an SVG of elements in UTF-8, or has a DTD, CDATA or elements in a text")
    if len(re.findall(r"(?i)<use\b|\b(?:clip-path|mask)\s*=", text)) > 16:  # they multiply in what they draw again
        raise ValueError("has more than 16 elements that draw others again")
    parser, parts = expat.ParserCreate("utf-8"), list[str]()
    parser.buffer_text, parser.buffer_size = True, MAX_ICON_BYTES
    parser.StartElementHandler = lambda name, values: parts.extend([f"<{name}", *map("=".join, values.items())])
    parser.CharacterDataHandler = lambda text: parts.append(f"={text}")
    try:
        parser.ParseFile(BytesIO(text.encode()))
    except expat.ExpatError as exc:
        raise ValueError(f"is neither a PNG nor an SVG: {exc}") from exc
    for part in parts:
        if not re.fullmatch(PASSIVE, part):
            raise ValueError(f"has {part.removeprefix('=')!r:.60}: expected shapes, colours and text alone")
    return text.encode(), "image/svg+xml", "any"
