"""A bar chart as PNG, with nothing but the standard library.

Source: PNG Specification, Third Edition, sections 5 and 11.
"""

import struct
import zlib
from collections.abc import Sequence

BAR, GAP, HEIGHT = 24, 8, 120
WHITE, BLUE, GREY = 0, 1, 2
PALETTE = bytes((255, 255, 255)) + bytes((37, 99, 235)) + bytes((209, 213, 219))


def bar_chart(counts: Sequence[int]) -> bytes:
    """A PNG with a blue bar for each count, the highest as high as the picture, on a grey line."""
    highest = max(counts, default=0) or 1
    heights = [round(count * HEIGHT / highest) for count in counts]
    rows = [_row(heights, above=HEIGHT - y) for y in range(HEIGHT)]
    rows.append(bytes([GREY]) * len(rows[0]))
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 3, 0, 0, 0)  # 8 bits a pixel, of the palette
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows))
    chunks = ((b"IHDR", header), (b"PLTE", PALETTE), (b"IDAT", pixels), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, content) for name, content in chunks)


def _row(heights: Sequence[int], *, above: int) -> bytes:
    """The pixels at a height: a bar's are blue as far up as it reaches."""
    gap = bytes([WHITE]) * GAP
    return gap + b"".join(bytes([BLUE if height >= above else WHITE]) * BAR + gap for height in heights)


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
