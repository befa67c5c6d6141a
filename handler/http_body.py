"""The body of an HTTP answer, piece by piece. Not by http.client's own reading, which believes what a server claims.

Source: RFC 9112, sections 6 and 7.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from http.client import HTTPException, HTTPResponse, IncompleteRead
from typing import IO

PIECE_BYTES = 65_536
MAX_LINE_BYTES = 65_536

_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(;.*)?\r?\n", re.DOTALL)
_GZIP = 16 + zlib.MAX_WBITS


class BodyTooLarge(Exception):
    """A body of more bytes than may be read."""


class OtherEncoding(Exception):
    """A body with an encoding that was not asked for."""


def read_body(response: HTTPResponse, *, max_bytes: int) -> bytes:
    """The decoded body. Reads no further than the cap and one piece.

    Raises:
        BodyTooLarge, OtherEncoding: as they say.
        HTTPException, zlib.error: it stops early, or is not what it claims to be.
    """
    if len(set(response.headers.get_all("content-length", []))) > 1:
        raise HTTPException("two lengths")
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    pieces = _pieces_of(response)
    if encoding in ("gzip", "x-gzip"):
        pieces = _inflated(pieces)
    elif encoding != "identity":
        raise OtherEncoding(encoding)
    elif not response.chunked and (response.length or 0) > max_bytes:
        raise BodyTooLarge
    kept: list[bytes] = []
    room = max_bytes
    for piece in pieces:
        room -= len(piece)
        if room < 0:
            raise BodyTooLarge
        kept.append(piece)
    return b"".join(kept)


def _pieces_of(response: HTTPResponse) -> Iterator[bytes]:
    stream, length = response.fp, response.length
    if length == 0 or stream is None:
        return iter(())
    if response.chunked:
        return _chunked(stream)
    return _until_closed(stream) if length is None else _counted(stream, length)


def _counted(stream: IO[bytes], length: int) -> Iterator[bytes]:
    while length:
        piece = stream.read(min(length, PIECE_BYTES))
        if not piece:
            raise IncompleteRead(b"", length)
        length -= len(piece)
        yield piece


def _until_closed(stream: IO[bytes]) -> Iterator[bytes]:
    # Never more than has come: a server that drips must not fill a piece before the cap is looked at.
    while piece := stream.read1(PIECE_BYTES):  # type: ignore[attr-defined] # it is a buffered reader
        yield piece


def _chunked(stream: IO[bytes]) -> Iterator[bytes]:
    while True:
        found = _CHUNK_SIZE.fullmatch(_line(stream))
        if found is None:
            raise HTTPException("no chunk begins here")
        size = int(found[1], 16)
        if size == 0:
            break
        yield from _counted(stream, size)
        if _line(stream) not in (b"\r\n", b"\n"):
            raise HTTPException("a chunk is longer than it says")
    while _line(stream) not in (b"\r\n", b"\n"):
        pass  # trailers, which nobody asked for


def _line(stream: IO[bytes]) -> bytes:
    line = stream.readline(MAX_LINE_BYTES)
    if not line.endswith(b"\n"):
        raise IncompleteRead(b"")
    return line


def _inflated(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Gunzip piece by piece. A stream that stops early is not whole."""
    decoder = None
    for compressed in pieces:
        left = compressed
        while True:
            if decoder is None or (decoder.eof and left):  # members may follow one another
                decoder = zlib.decompressobj(_GZIP)
            inflated = decoder.decompress(left, PIECE_BYTES)
            yield inflated
            left = decoder.unused_data if decoder.eof else decoder.unconsumed_tail
            if not left and len(inflated) < PIECE_BYTES:
                break
    if decoder is not None and not decoder.eof:
        raise zlib.error("the stream stops early")
