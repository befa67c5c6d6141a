"""The checks of the identity that an endpoint sends to clients: its texts, the URL of its website, and its icons.

The server checks the identity of a bundle again, because storage may hold a bundle that no compiler wrote.

Source: MCP 2026-07-28, schema (``Implementation``, ``Icon``); the schema of Server Cards; PNG (Third Edition),
sections 5 and 11; SVG 2, chapter 5.
"""

from __future__ import annotations

import base64
import re
import struct
import zlib
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import NoReturn

from handler.strict_json import JSONObject

MAX_ICON_BYTES = 16_384
"""Size of all icons of an endpoint together: the bundle, and each answer that introduces the endpoint, carry them."""

MAX_LINE_CHARS = 100


def is_plain(text: str) -> bool:
    """Return whether a text is one short line without invisible characters, and without HTML and links in Markdown."""
    has_marks = ";" in text.partition("&")[2] or "](" in text or "script:" in text.lower()
    if len(text) > MAX_LINE_CHARS or has_marks or {"\t", "\n", "<", ">"} & {*text}:
        return False
    if text.isascii() and text.isprintable():
        return True
    from handler.text.invisible import invisible_characters  # most cold starts do not need it

    return not any(invisible_characters(text))


FITS: Mapping[str, Callable[[str], object]] = {
    "name": lambda text: re.fullmatch(r"(\w[\w.-]{0,99}(/\w[\w.-]{0,98})?)?", text, re.ASCII),
    "title": is_plain,
    "version": lambda text: re.fullmatch(r"((?!(.*\.)?[xX](\.|$))[A-Za-z0-9][\w.+-]{0,254})?", text, re.ASCII),
    "description": is_plain,
    "websiteUrl": lambda text: re.fullmatch(
        r"(?ai)(?=.{0,2000}\Z)(https://[a-z0-9-]+(\.[a-z0-9-]+)*(:[0-9]{1,5})?([/?#][\w.~:/?#\[\]@!$&()*+,;=%-]*)?)?",
        text,
    ),
}
"""Member of ``serverInfo`` -> the check of its text, which may be empty."""


def is_valid(info: JSONObject) -> bool:
    """Return whether a bundle's members of ``serverInfo`` are such as the compiler writes."""
    texts = {name: text for name, text in info.items() if name != "icons"}
    try:
        pictures = [base64.b64decode(icon["src"].partition(",")[2]) for icon in info.get("icons", [])]
        themes = [icon.get("theme", "") for icon in info.get("icons", [])]
        is_small = sum(map(len, pictures)) <= MAX_ICON_BYTES
        same = is_small and list(map(made_icon, pictures, themes)) == info.get("icons", [])
        return same and all(text.strip() and FITS[name](text) for name, text in texts.items())
    except (AttributeError, KeyError, TypeError, ValueError):  # values of other types
        return False


OTHER_KINDS = (b"<!doctype html", b"<html", b"<script", b"<iframe", b"<?php", b"%pdf-", b"pk\x03\x04")
"""Marks by which programs take a file for a page, a script, a PDF or an archive."""


def made_icon(raw: bytes, theme: str = "") -> JSONObject:
    """Return the icon of a PNG or SVG file's bytes, without comments and metadata.

    Raises:
        ValueError: the picture is not valid, or may do more than show itself. The message is the end of a sentence.
    """
    is_png = raw.startswith(SIGNATURE)
    content, size = _png(raw) if is_png else _svg(raw)
    both = (raw + content).lower()  # what is left out may have divided a mark
    if any(mark in both for mark in OTHER_KINDS) or theme not in ("", *THEMES):
        raise ValueError("can be read as a page, a script, a PDF or an archive, too")
    media_type = "image/png" if is_png else "image/svg+xml"
    src = f"data:{media_type};base64,{base64.b64encode(content).decode()}"
    return {"src": src, "mimeType": media_type, "sizes": [size], **({"theme": theme} if theme else {})}


THEMES = ("light", "dark")
SIGNATURE = b"\x89PNG\r\n\x1a\n"
MAX_PIXELS = 1_024  # of a side
SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # of a pixel, by colour type
DEPTHS = {0: (1, 2, 4, 8, 16), 3: (1, 2, 4, 8)}  # bits of a sample, by colour type: 8 or 16 for the others

CHUNKS = {b"IHDR": 13, b"PLTE": 768, b"tRNS": 256, b"gAMA": 4, b"cHRM": 32, b"sRGB": 1, b"IDAT": 16_384, b"IEND": 0}
"""The chunks that an icon keeps, with the most bytes that each may have."""


def _png(raw: bytes) -> tuple[bytes, str]:
    """Return a PNG without its metadata, and its size in pixels."""
    chunks, at = [], len(SIGNATURE)
    while at < len(raw):
        end = at + 12 + int.from_bytes(raw[at : at + 4], "big")
        name, content = raw[at + 4 : at + 8], raw[at + 8 : end - 4]
        if raw[end - 4 : end] != zlib.crc32(name + content).to_bytes(4, "big"):
            raise ValueError(f"has bytes that are not a part of a PNG, from byte {at} on")
        chunks.append((name, content, raw[at:end]))
        at = end
    names = b"".join(name for name, *_ in chunks if not name[:1].islower())  # lower case: a picture shows without it
    is_picture = re.fullmatch(rb"IHDR(PLTE)?(IDAT)+IEND", names) and chunks[0][0] == b"IHDR" and len(chunks[0][1]) == 13
    if not is_picture or any(len(content) > CHUNKS.get(name, len(raw)) for name, content, _ in chunks):
        raise ValueError("is not a PNG file with its parts in their order and size")
    width, height, depth, colour, *methods = struct.unpack(">IIBBBBB", chunks[0][1])
    if not (0 < width <= MAX_PIXELS and 0 < height <= MAX_PIXELS) or any(methods):
        raise ValueError(f"has {width}x{height} pixels or is interlaced: at most {MAX_PIXELS:,} a side, in rows")
    if colour not in SAMPLES or depth not in DEPTHS.get(colour, (8, 16)) or (colour == 3 and b"PLTE" not in names):
        raise ValueError(f"has colour type {colour} with {depth} bits, or lacks its palette")
    expected, rows = height * (1 + (width * depth * SAMPLES[colour] + 7) // 8), zlib.decompressobj()
    try:
        size = len(rows.decompress(b"".join(content for name, content, _ in chunks if name == b"IDAT"), expected + 1))
    except zlib.error:
        size = -1
    if size != expected or not rows.eof or rows.unused_data:
        raise ValueError(f"says that it has {width}x{height} pixels, and has others")
    return SIGNATURE + b"".join(chunk for name, _, chunk in chunks if name in CHUNKS), f"{width}x{height}"


ELEMENTS = (
    " svg g defs symbol use path rect circle ellipse line polyline polygon text tspan title desc style linearGradient "
    "radialGradient stop clipPath mask "
)
MAX_REFERENCES = 16
"""Elements that draw others again: references in what they draw multiply, and would stop the host that draws them."""

PASSIVE = (
    r"\A(xmlns(:[\w.-]+=.*|=http://www\.w3\.org/2000/svg)|(xlink:)?href=#[\w.-]+)\Z"
    r"|(\A(clip-path|mask)=|(fill|stroke)\s*[:=])\s*url\(\s*[\"']?#[\w.-]+[\"']?\s*\)"
)
"""Attributes with their values, and parts of them, that name a namespace or an element of the same file."""

ACTIVE = (
    r"(?is)\A([^:=]*:)?(on|href=|base=|xmlns)|\\|(url|image|image-set|src|element|cross-fade|expression)\("
    r"|\b(\w+script|data|https?|ftp|file|blob):|\A=.*@(?!media\b)"
)
"""What may load something or run a script: attributes, values, escapes that may write such values, imports of CSS."""


def _svg(raw: bytes) -> tuple[bytes, str]:
    """Return an SVG without its comments, and ``any`` as its size. It loads and runs nothing."""
    from xml.parsers import expat

    # HTML ends comments elsewhere than XML does, and the declaration may name another encoding.
    dropped = r'(?s)\A<\?xml\s.*?\?>|<!--.*?-->|<!DOCTYPE svg PUBLIC "-//W3C//DTD [^<>\[]*>'
    text = re.sub(dropped, lambda part: "\n" * part[0].count("\n"), raw.decode("utf-8-sig", "replace"))
    if {"\0", "\ufffd", "\ufeff"} & {*text}:
        raise ValueError("is neither a PNG nor an SVG in UTF-8")
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text, parser.buffer_size = True, MAX_ICON_BYTES
    above: list[str] = []
    references: list[str] = []

    def refuse(part: str) -> NoReturn:
        raise ValueError(f"has {part} in line {parser.CurrentLineNumber}: expected shapes, colours and text alone")

    def begin(name: str, attributes: Mapping[str, str]) -> None:
        references.extend({"use", "clip-path", "mask"} & {name, *attributes})
        if f" {name} " not in ELEMENTS or {"title", "desc", "style"} & {*above} or len(references) > MAX_REFERENCES:
            refuse(f"<{name:.40}>")
        if not above and (name != "svg" or "xmlns" not in attributes):
            refuse('something else than <svg xmlns="http://www.w3.org/2000/svg">')
        for attribute, value in attributes.items():
            judge(attribute, value)
        above.append(name)

    def judge(attribute: str, value: str) -> None:
        if re.search(ACTIVE, re.sub(PASSIVE, "", f"{attribute}={value}", flags=re.DOTALL)):
            refuse(f"{attribute[:40] or 'a style'}, which may load something or run a script,")

    parser.StartElementHandler, parser.EndElementHandler = begin, lambda _: above.pop()
    parser.CharacterDataHandler = lambda text: judge("", text) if above[-1] == "style" else None
    parser.DefaultHandler = lambda part: refuse("a declaration, an instruction or a section") if part.strip() else None
    try:
        parser.ParseFile(BytesIO(text.encode()))
    except expat.ExpatError as exc:
        raise ValueError(f"is neither a PNG nor an SVG: {expat.ErrorString(exc.code)} in line {exc.lineno}") from exc
    return text.encode(), "any"
