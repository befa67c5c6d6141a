"""An HTTP answer, its head and its body. Not by http.client's own reading, which believes what a server claims.

It also takes longer for a head than a near API takes for its whole answer: it reads it as an email's.

Source: RFC 9112.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Iterator
from http.client import BadStatusLine, HTTPException, IncompleteRead, RemoteDisconnected
from typing import IO, Any

PIECE_BYTES = 65_536
MAX_LINE_BYTES = 65_536

MAX_HEAD_LINES = 100
"""Of headers and trailers, with those of interim answers, each of which counts as one line more."""

BODILESS = (101, 204, 304)

_STATUS = re.compile(rb"HTTP/1\.([01]) ([1-9][0-9]{2})(?: [^\0\n-\r]*)?\r?\n")
# A line that begins with white space goes on with the value before it. White space around the value is stripped
# afterwards: looking for where it begins takes the square of a line's length.
_FIELD = re.compile(rb"(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+):|[ \t])([^\0\n-\r]*)\r?\n")
# Lines among chunks end with CRLF alone: a proxy may take a bare LF as part of an extension, and end chunks elsewhere.
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(;[^\n]*)?\r\n")
_GZIP = 16 + zlib.MAX_WBITS


class BodyTooLarge(Exception):
    """A body of more bytes than may be read."""


class OtherEncoding(Exception):
    """A body with an encoding that was not asked for."""


class Answer:
    """What a connection of http.client takes for its response: as much of one as it asks for, and what is read here.

    ``headers``: names in lower case; the values of a repeated one joined by ", ". ``length`` is of the body as it is
    sent; ``None``: it is chunked, or ends with the connection.
    """

    def __init__(self, sock: Any, *, method: str | None) -> None:
        self._socket = sock
        self._stream: IO[bytes] = sock.makefile("rb")
        self._method = method
        self._lines = 0
        self.status = 0
        self.headers: dict[str, str] = {}
        self.chunked = False
        self.length: int | None = 0
        self.will_close = True

    def begin(self) -> None:
        """Read the head, and those of interim answers before it.

        Raises:
            RemoteDisconnected: not a byte came.
            HTTPException: there is no such head, or it stops early.
        """
        self._read_head()
        while 100 <= self.status < 200 and self.status != 101:
            self._count_line()
            self._read_head()

    def close(self) -> None:
        """Let go of the connection. What is left of the body is lost."""
        self._stream.close()

    def isclosed(self) -> bool:
        """Whether nothing more will be read, so that there may be another answer."""
        return self._stream.closed

    def read_body(self, *, max_bytes: int) -> bytes:
        """The decoded body. Reads no further than the cap and one piece.

        Raises:
            BodyTooLarge, OtherEncoding: as they say.
            HTTPException, zlib.error: it stops early, or is not what it claims to be.
        """
        encoding = self.headers.get("content-encoding", "").lower() or "identity"
        pieces = self._pieces()
        if encoding in ("gzip", "x-gzip"):
            pieces = _inflated(pieces)
        elif encoding != "identity":
            raise OtherEncoding(encoding)
        elif (self.length or 0) > max_bytes:
            raise BodyTooLarge
        kept: list[bytes] = []
        room = max_bytes
        for piece in pieces:
            room -= len(piece)
            if room < 0:
                raise BodyTooLarge
            kept.append(piece)
        return b"".join(kept)

    def leaves_a_clean_end(self) -> bool:
        """Whether there may be another answer after the body that was read, and it would not begin with what has come.

        Nothing more is read.
        """
        if self.will_close:
            return False
        self._socket.deadline = -math.inf  # so that only what the buffer has is looked at
        try:
            return not self._stream.peek()  # type: ignore[attr-defined] # it is a buffered reader
        except TimeoutError:
            return True

    def _read_head(self) -> None:
        line = self._stream.readline(MAX_LINE_BYTES)
        if not line:
            raise IncompleteRead(b"") if self._lines else RemoteDisconnected("not a byte came")
        found = _STATUS.fullmatch(line)
        if found is None:
            raise BadStatusLine(repr(line[:100]))
        self.status, self.headers = int(found[2]), self._read_fields()
        self._frame(persistent=found[1] == b"1")

    def _read_fields(self) -> dict[str, str]:
        """Read fields, of a head or a trailer, and the empty line behind them."""
        fields: dict[str, str] = {}
        name = ""
        while (line := _line(self._stream)) not in (b"\r\n", b"\n"):
            self._count_line()
            field = _FIELD.fullmatch(line)
            if field is None or not (field[1] or name):
                raise HTTPException("no header")
            value = field[2].strip(b" \t").decode("latin-1")
            if field[1] is None:  # section 5.2: a value that goes on
                fields[name] = f"{fields[name]} {value}".strip(" ")
                continue
            name = field[1].decode("latin-1").lower()
            fields[name] = f"{fields[name]}, {value}" if name in fields else value
        return fields

    def _count_line(self) -> None:
        self._lines += 1
        if self._lines > MAX_HEAD_LINES:
            raise HTTPException("too many headers")

    def _frame(self, *, persistent: bool) -> None:
        """Where the body ends, and whether another answer may follow. Sections 6.3 and 9.3."""
        # White space is that of HTTP: where str.strip() takes more away, a proxy would not see the same word.
        options = {option.strip(" \t") for option in self.headers.get("connection", "").lower().split(",")}
        self.will_close = "close" in options or not (persistent or "keep-alive" in options)
        coding = self.headers.get("transfer-encoding")
        if coding is not None and coding.lower() != "chunked":
            raise OtherEncoding(coding.lower()) if coding else HTTPException("no coding")
        length = self._stated_length()
        if coding:  # a length beside it may have been believed elsewhere, and HTTP/1.0 has no chunks: section 6.1
            self.will_close |= length is not None or not persistent
        self.chunked = False
        if self._method == "HEAD" or self.status in BODILESS:
            self.length = 0
            self.will_close |= self.status == 101  # what follows is no HTTP
        elif coding:
            self.chunked, self.length = True, None
        else:
            self.length = length
            self.will_close |= length is None

    def _stated_length(self) -> int | None:
        """What Content-Length says. An empty one is not valid, even where the body has none."""
        stated = self.headers.get("content-length")
        if stated is None:
            return None
        length, *others = {each.strip(" \t") for each in stated.split(",")}
        if others:
            raise HTTPException("two lengths")
        if not (length.isascii() and length.isdigit() and len(length) < 16):
            raise HTTPException("no length")
        return int(length)

    def _pieces(self) -> Iterator[bytes]:
        if self.chunked:
            return self._chunked()
        return _until_closed(self._stream) if self.length is None else _counted(self._stream, self.length)

    def _chunked(self) -> Iterator[bytes]:
        while True:
            found = _CHUNK_SIZE.fullmatch(_line(self._stream))
            if found is None:
                raise HTTPException("no chunk begins here")
            size = int(found[1], 16)
            if size == 0:
                break
            yield from _counted(self._stream, size)
            if _line(self._stream) != b"\r\n":
                raise HTTPException("a chunk is longer than it says")
        self._read_fields()  # trailers, which nobody asked for


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


def _line(stream: IO[bytes]) -> bytes:
    line = stream.readline(MAX_LINE_BYTES)
    if not line.endswith(b"\n"):
        raise HTTPException("a line too long") if len(line) == MAX_LINE_BYTES else IncompleteRead(b"")
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
