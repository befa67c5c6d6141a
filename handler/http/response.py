"""Reader of an HTTP response, its head and its body. http.client's own reader trusts the claims of a server.

That reader also takes longer for a head, which it parses as an email's, than a near API for its whole response.

Source: RFC 9112.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Iterator
from functools import partial
from typing import IO, Any

PIECE_BYTES = 65_536
MAX_LINE_BYTES = 65_536

MAX_HEAD_LINES = 100
"""Lines of headers and trailers, including interim responses, each of which counts as one more line."""

BODILESS = (101, 204, 304)

_STATUS = re.compile(rb"HTTP/1\.([01]) ([1-9][0-9]{2})(?: [^\0\n-\r]*)?\r?\n")
# A line that begins with white space continues the value before it. White space around the value is stripped
# afterwards: searching for its beginning takes quadratic time in a line's length.
_FIELD = re.compile(rb"(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+):|[ \t])([^\0\n-\r]*)\r?\n")
# Lines among chunks must end with CRLF: a proxy may take a bare LF as part of an extension, and end chunks elsewhere.
_CHUNK_SIZE = rb"([0-9A-Fa-f]{1,15})[ \t]*(;[^\n]*)?\r\n"  # compiled at first use: few bodies have chunks
_GZIP = 16 + zlib.MAX_WBITS


class BodyTooLarge(Exception):
    """A body that exceeds the limit."""


class OtherEncoding(Exception):
    """A body in an encoding that was not requested."""


class InvalidResponse(Exception):
    """A response that is not valid HTTP."""


class HeadTooLarge(InvalidResponse):
    """A response with too many lines of headers, or with a line that is too long."""


class CutShort(InvalidResponse):
    """A response that ends before it is complete."""


class ClosedUnanswered(ConnectionResetError):
    """A connection that was closed before the first byte of a response."""


class ResponseReader:
    """A reader of one response.

    ``headers``: names in lower case; repeated values joined by ", ". ``length`` is that of the body as sent; ``None``
    if the body is chunked, or ends with the connection.
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
        """Read the head, and the heads of interim responses before it.

        Raises:
            ClosedUnanswered: no byte came.
            InvalidResponse: the head is not valid, or stops early.
        """
        self._read_head()
        while 100 <= self.status < 200 and self.status != 101:
            self._count_line()
            self._read_head()

    def close(self) -> None:
        """Close the stream. The unread rest of the body is lost."""
        self._stream.close()

    def read_body(self, *, max_bytes: int) -> bytes:
        """Read and decode the body, no further than the cap and one piece.

        Raises:
            BodyTooLarge, OtherEncoding: see there.
            InvalidResponse, zlib.error: the body stops early, or is not in the form that it claims.
        """
        encoding = self.headers.get("content-encoding", "").lower() or "identity"
        if self.chunked:
            pieces = self._chunked()
        elif self.length is None:
            # read1 waits for no more bytes: a server that drips must not fill a piece before the cap is checked.
            pieces = iter(partial(self._stream.read1, PIECE_BYTES), b"")  # type: ignore[attr-defined] # it is buffered
        else:
            pieces = self._counted(self.length)
        if encoding in ("gzip", "x-gzip"):
            pieces = _inflated(pieces)
        elif encoding != "identity":
            raise OtherEncoding(encoding)
        elif (self.length or 0) > max_bytes:
            raise BodyTooLarge
        body = bytearray()
        for piece in pieces:
            body += piece
            if len(body) > max_bytes:
                raise BodyTooLarge
        return bytes(body)

    def leaves_a_clean_end(self) -> bool:
        """Return whether another response may follow the body that was read: no further data has come.

        Reads nothing more.
        """
        if self.will_close:
            return False
        self._socket.deadline = -math.inf  # so that peek sees only the buffer
        try:
            return not self._stream.peek()  # type: ignore[attr-defined] # it is a buffered reader
        except TimeoutError:
            return True

    def _read_head(self) -> None:
        line = self._stream.readline(MAX_LINE_BYTES)
        if not line:
            raise CutShort if self._lines else ClosedUnanswered
        status = _STATUS.fullmatch(line)
        if status is None:
            raise InvalidResponse(f"no status line: {line[:100]!r}")
        self.status, self.headers = int(status[2]), self._read_fields()
        self._frame(persistent=status[1] == b"1")

    def _read_fields(self) -> dict[str, str]:
        """Read the fields of a head or a trailer, and the empty line after them."""
        fields: dict[str, str] = {}
        name = ""
        while (line := _line(self._stream)) not in (b"\r\n", b"\n"):
            self._count_line()
            field = _FIELD.fullmatch(line)
            if field is None or not (field[1] or name):
                raise InvalidResponse("no header")
            value = field[2].strip(b" \t").decode("latin-1")
            if field[1] is None:  # section 5.2: a continued value
                fields[name] = f"{fields[name]} {value}".strip(" ")
                continue
            name = field[1].decode("latin-1").lower()
            fields[name] = f"{fields[name]}, {value}" if name in fields else value
        return fields

    def _count_line(self) -> None:
        self._lines += 1
        if self._lines > MAX_HEAD_LINES:
            raise HeadTooLarge("too many headers")

    def _frame(self, *, persistent: bool) -> None:
        """Set the end of the body, and if another response may follow. Sections 6.3 and 9.3."""
        # White space is HTTP's: where str.strip() removes more, a proxy would read another word.
        options = {option.strip(" \t") for option in self.headers.get("connection", "").lower().split(",")}
        self.will_close = "close" in options or not (persistent or "keep-alive" in options)
        coding = self.headers.get("transfer-encoding")
        if coding is not None and coding.lower() != "chunked":
            raise OtherEncoding(coding.lower()) if coding else InvalidResponse("no coding")
        length = self._stated_length()
        if coding:  # a proxy may have used a length beside it, and HTTP/1.0 has no chunks: section 6.1
            self.will_close |= length is not None or not persistent
        self.chunked = False
        if self._method == "HEAD" or self.status in BODILESS:
            self.length = 0
            self.will_close |= self.status == 101  # the bytes that follow are not HTTP
        elif coding:
            self.chunked, self.length = True, None
        else:
            self.length = length
            self.will_close |= length is None

    def _stated_length(self) -> int | None:
        """Return Content-Length; ``None`` if absent. An empty one is not valid, even if there is no body."""
        stated = self.headers.get("content-length")
        if stated is None:
            return None
        length, *others = {each.strip(" \t") for each in stated.split(",")}
        if others:
            raise InvalidResponse("two lengths")
        if not (length.isascii() and length.isdigit() and len(length) < 16):
            raise InvalidResponse("no length")
        return int(length)

    def _chunked(self) -> Iterator[bytes]:
        while True:
            chunk = re.fullmatch(_CHUNK_SIZE, _line(self._stream))
            if chunk is None:
                raise InvalidResponse("no chunk begins here")
            size = int(chunk[1], 16)
            if size == 0:
                break
            yield from self._counted(size)
            if _line(self._stream) != b"\r\n":
                raise InvalidResponse("a chunk is longer than it says")
        self._read_fields()  # trailers, which are ignored

    def _counted(self, length: int) -> Iterator[bytes]:
        while length:
            piece = self._stream.read(min(length, PIECE_BYTES))
            if not piece:
                raise CutShort
            length -= len(piece)
            yield piece


def _line(stream: IO[bytes]) -> bytes:
    line = stream.readline(MAX_LINE_BYTES)
    if not line.endswith(b"\n"):
        raise HeadTooLarge("a line too long") if len(line) == MAX_LINE_BYTES else CutShort()
    return line


def _inflated(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Gunzip piece by piece. A stream that stops early is an error."""
    decoder = None
    for compressed in pieces:
        rest = compressed
        while True:
            if decoder is None or (decoder.eof and rest):  # members may follow one another
                decoder = zlib.decompressobj(_GZIP)
            inflated = decoder.decompress(rest, PIECE_BYTES)
            yield inflated
            rest = decoder.unused_data if decoder.eof else decoder.unconsumed_tail
            if not rest and len(inflated) < PIECE_BYTES:
                break
    if decoder is not None and not decoder.eof:
        raise zlib.error("the stream stops early")
