"""Pictures of icons, valid ones and ones that hosts must never get."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Mapping

SIGNATURE = b"\x89PNG\r\n\x1a\n"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48"><path d="M2 2h44v44z" fill="#08f"/></svg>'


def chunk(name: bytes, content: bytes = b"") -> bytes:
    """Return a chunk of a PNG."""
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def png(
    width: int = 4,
    height: int = 3,
    *,
    pixels: bytes | None = None,
    header: bytes = b"\x08\x06\0\0\0",
    before: Iterable[bytes] = (),
    after: bytes = b"",
) -> bytes:
    """Return a PNG with four bytes a pixel; ``before`` are the chunks in front of the pixels."""
    rows = b"".join(b"\0" + b"\x20\x40\x80\xff" * width for _ in range(height))
    parts = [
        chunk(b"IHDR", struct.pack(">II", width, height) + header),
        *before,
        chunk(b"IDAT", zlib.compress(rows) if pixels is None else pixels),
        chunk(b"IEND"),
    ]
    return SIGNATURE + b"".join(parts) + after


def svg(inside: str = "", attributes: str = "") -> bytes:
    """Return an SVG with these elements and attributes of its own."""
    return f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"{attributes}>\n{inside}\n</svg>'.encode()


PIXELS = zlib.compress((b"\0" + b"abcd" * 4) * 3)

VALID: Mapping[str, bytes] = {
    "png": png(),
    "png of one pixel": png(1, 1),
    "png with metadata": png(before=[chunk(b"tEXt", b"Software\0Paint"), chunk(b"gAMA", b"\0\0\xb1\x8f")]),
    "png with a page in a number": png(before=[chunk(b"gAMA", b"<body onload=alert(1)>")]),
    "png with metadata before its header": SIGNATURE + chunk(b"gAMA", b"\0\0\xb1\x8f") + png()[8:],
    "png in passes": png(header=b"\x08\x06\0\0\1"),
    "png of 1,024 pixels": png(1_024, 1, pixels=zlib.compress(b"\0" * 4_097)),
    "png with a palette": png(
        header=b"\x08\x03\0\0\0",
        before=[chunk(b"PLTE", b"\0\0\0\xff\xff\xff"), chunk(b"tRNS", b"\0")],
        pixels=zlib.compress(b"\0\0\1\0\1" * 3),
    ),
    "png in several chunks": png(pixels=b"", before=[chunk(b"IDAT", zlib.compress((b"\0" + b"abcd" * 4) * 3))]),
    "svg": SVG.encode(),
    "svg with a declaration": b'\xef\xbb\xbf<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n<!-- A -->\n'
    + SVG.encode(),
    "svg with the document type of SVG": (
        b'<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN"\n "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">' + svg()
    ),
    "svg with a gradient": svg(
        '<linearGradient id="a"><stop offset="0"/></linearGradient><linearGradient id="b" xlink:href="#a"/>'
        '<rect width="9" height="9" fill="url(#b)"/><rect style="fill:url(#a);stroke:none" height="9"/>'
    ),
    "svg with a mask": svg(
        '<clipPath id="c"><path d="M0 0h9v9z"/></clipPath><g clip-path="url(#c)"><use href="#c"/></g>'
    ),
    "svg with styles": svg("<style>.a{fill:#fff} @media (prefers-color-scheme: dark){.a{fill:url(#x)}}</style>"),
    "svg with functions": svg(
        "<style>@media(prefers-color-scheme:dark){.a{fill:rgb(1 2 3);transform:rotate(5deg)}}</style>"
        '<path transform="translate(1,2) scale(3)" style="fill:color(display-p3 0 0 1);mask-type:alpha"/>'
    ),
    "svg with text": svg(
        '<title>R&amp;D &lt;here&gt;</title><text x="1" font-family="&apos;Arial&apos;">A<tspan>b</tspan></text>'
    ),
    "svg of an editor": svg(
        '<g inkscape:label="Layer@2x" id="a@b"/>', ' xmlns:inkscape="http://www.inkscape.org/namespaces"'
    ),
}

HOSTILE: Mapping[str, bytes] = {
    "empty": b"",
    "jpeg": b"\xff\xd8\xff\xe0\0\x10JFIF",
    "html": b"<!doctype html><script>alert(1)</script>",
    "png cut off": png()[:-5],
    "png with bytes behind its end": png(after=b"PK\x03\x04"),
    "png with an archive in its text": png(before=[chunk(b"tEXt", b"a\0PK\x03\x04")]),
    "png with a page in its text": png(before=[chunk(b"iTXt", b"a\0\0\0\0\0<HTML><body onload=alert(1)>")]),
    "png with a changed byte": png().replace(b"IDAT", b"IDAT\0", 1),
    "png with a false sum": png()[:-1] + b"\0",
    "png with bytes behind its pixels": png(pixels=zlib.compress((b"\0" + b"abcd" * 4) * 3) + b"<script>"),
    "png of a side of nothing": png(0, 3),
    "png of a large side": png(2_000, 1),
    "png with a bomb": png(1_024, 1_025),
    "png with an unknown part": png(before=[chunk(b"EVIL", b"x")]),
    "png with a palette behind pixels": png(pixels=b"", before=[chunk(b"IDAT", PIXELS), chunk(b"PLTE", b"\0" * 3)]),
    "png with parts that form a name": png(before=[chunk(b"PLID"), chunk(b"ATTE")]),
    "png with a page in its header": png(header=b"\x08\x06\0\0\0<body onload=alert(1)>"),
    "png with a short header": png(header=b"\x08\x06"),
    "png with a page in its last part": png()[:-12] + chunk(b"IEND", b"<body onload=alert(1)>"),
    "png without pixels": SIGNATURE + chunk(b"IHDR", struct.pack(">II", 1, 1) + b"\x08\x06\0\0\0") + chunk(b"IEND"),
    "png of a signature alone": SIGNATURE,
    "png with two ends": png(after=chunk(b"IEND")),
    "svg with a script": svg("<script>alert(1)</script>"),
    "svg with a script of another namespace": svg(
        '<h:script xmlns:h="http://www.w3.org/1999/xhtml">alert(1)</h:script>'
    ),
    "svg with foreignObject": svg("<foreignObject><p/></foreignObject>"),
    "svg with a picture": svg('<image href="https://evil.example/a.png"/>'),
    "svg with an animation": svg('<a><set attributeName="href" to="javascript:alert(1)"/></a>'),
    "svg with an event": svg("", ' onload="alert(1)"'),
    "svg with an event in capitals": svg('<g OnClick="alert(1)"/>'),
    "svg with an event by a prefix": svg('<g xlink:onclick="alert(1)"/>'),
    "svg with a link outside": svg('<use href="https://evil.example/a.svg#a"/>'),
    "svg with a link without a scheme": svg('<use xlink:href="//evil.example/a.svg#a"/>'),
    "svg with a link to a script": svg('<use href="javascript:alert(1)"/>'),
    "svg with a link to data": svg('<use href="data:image/svg+xml;base64,AAAA#a"/>'),
    "svg with a link by an odd prefix": svg('<use a\u00b7:href="//evil.example/a.svg#a"/>'),
    "svg with an event by an odd prefix": svg('<g a\u00b7:onclick="alert(1)"/>'),
    "svg with two byte order marks": b"\xef\xbb\xbf" * 2 + svg(),
    "svg with another base": svg("", ' xml:base="//evil.example/"'),
    "svg with a colour from outside": svg('<path fill="url(//evil.example/a#b)"/>'),
    "svg with a style from outside": svg('<path style="fill:url(#a) url(//evil.example/)"/>'),
    "svg with a written escape": svg(r'<path style="fill:\75rl(//evil.example/)"/>'),
    "svg with an import": svg('<style>@import "//evil.example/a.css";</style>'),
    "svg with an import in capitals": svg("<style>@IMPORT url(//evil.example/a.css);</style>"),
    "svg with a font": svg("<style>@font-face{font-family:a;src:local(a)}</style>"),
    "svg with a set of pictures": svg("<style>.a{background:image-set('//evil.example/a' 1x)}</style>"),
    "svg with elements in a style": svg("<style>@imp<g/>ort</style>"),
    "svg with elements in a style in capitals": svg("<STYLE>@imp<g/>ort</STYLE>"),
    "svg with elements in a title": svg("<desc><style>.a{}</style></desc>"),
    "svg with an escape before a space": svg(r'<path style="fill:ur\6c (//evil.example/)"/>'),
    "svg with an import behind a long text": svg(f"<style>{' ' * 8_190}@import '//evil.example/';</style>"),
    "svg with an import in characters by number": svg("<style>&#64;import '//evil.example/';</style>"),
    "svg with a section": svg("<style><![CDATA[@import '//evil.example/']]></style>"),
    "svg with an entity": b'<!DOCTYPE svg [<!ENTITY a "b">]>' + svg("<text>&a;</text>"),
    "svg with an outside entity": b'<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]>' + svg("<text>&a;</text>"),
    "svg with a bomb of entities": b'<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>'
    + svg("<text>&b;</text>"),
    "svg with a document type": b'<!DOCTYPE svg SYSTEM "https://evil.example/a.dtd">' + svg(),
    "svg with an entity in the document type of SVG": (
        b'<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/a.dtd" [<!ENTITY a "b">]>' + svg()
    ),
    "svg with a written document type": svg('<!DOC<!-- -->TYPE svg SYSTEM "https://evil.example/a.dtd">'),
    "svg with a style sheet": b'<?xml-stylesheet href="https://evil.example/a.css"?>' + svg(),
    "svg with two declarations": b"<?xml version='1.0'?><?xml version='1.0' encoding='utf-7'?>" + svg(),
    "svg with a declaration behind a comment": b"<!----><?xml version='1.0' encoding='utf-7'?>" + svg(),
    "svg in UTF-16": svg().decode().encode("utf-16"),
    "svg in UTF-16 without a mark": svg().decode().encode("utf-16-le"),
    "svg in Latin-1": svg("<title>\xe9</title>").decode().encode("latin-1"),
    "svg with a comment in a comment": svg("<!-<!-- -->- <g/> -->"),
    "svg with a comment for HTML": svg("<!--><script>alert(1)</script>-->"),
    "svg of another namespace": b'<svg xmlns="http://www.w3.org/1999/xhtml"/>',
    "svg of no namespace": b"<svg/>",
    "svg with an inner namespace": svg('<g xmlns="http://www.w3.org/1999/xhtml"/>'),
    "svg below a prefix": b'<s:svg xmlns:s="http://www.w3.org/2000/svg"/>',
    "svg with a mask before a comment of CSS": svg("<style>.a{mask/**/:url(#a)}</style>"),
    "svg with a mask by a variable": svg("<style>.a{--b:url(#a);mask:var(--b)}</style>"),
    "svg with an unknown function": svg('<path style="fill:paint(a)"/>'),
    "svg with many references": svg('<use href="#a"/>' * 17),
    "svg with many references in capitals": svg('<g MASK="url(#a)"/>' * 17),
    "svg with many masks": svg('<g mask="url(#a)"/>' * 17),
    "svg with a mask of a style": svg("<style>.a{mask:url(#a)}</style>"),
    "svg with a mask of an attribute's style": svg('<g style="mask:url(#a)"/>'),
    "svg with an open comment": svg()[:-7] + b"<!-- </svg>",
    "svg with bytes behind its end": svg() + b"<script>alert(1)</script>",
    "svg that is not closed": svg()[:-3],
    "svg that is a PDF": svg("<desc>%PDF-1.7</desc>"),
    "svg that is a PDF without its comments": svg("<desc>%P<!-- -->DF-1.7</desc>"),
    "another document": b"<html><body/></html>",
}
