"""The reader of HTTP answers held against h11's: status, headers, body, refusal, and the state of the connection.

The end of an answer matters most: a framing mistake on a kept connection gives one caller's answer to another.
``STILE_ANSWER_CASES`` asks for another number of cases.
"""

from __future__ import annotations

import gzip
import io
import math
import os
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any, NamedTuple, cast

import h11
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handler.http.response import BodyTooLarge, ClosedUnanswered, InvalidResponse, OtherEncoding, ResponseReader
from tests.support.examples import examples

ASKED = os.environ.get("STILE_ANSWER_CASES")
CASES = int(ASKED or examples(800))


def search(cases: int) -> settings:
    return settings(
        max_examples=cases,
        derandomize=ASKED is None,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


MAX_BYTES = 1_000_000


@dataclass(frozen=True)
class Read:
    """An answer that was read to its end. ``rest``: the bytes of the stream behind the end."""

    status: int
    headers: dict[str, str]
    body: bytes
    version: bytes
    reusable: bool
    rest: bytes


@dataclass(frozen=True)
class Refused:
    """An answer that was refused; then the connection is closed."""

    reason: str
    place: str = ""


class Socket:
    """A socket whose bytes come in ``pieces``, each in one read, and then end."""

    deadline = math.inf

    def __init__(self, pieces: list[bytes]) -> None:
        self.left = [*filter(None, pieces)]
        self.came = 0

    def makefile(self, _: str) -> io.BufferedReader:
        self.stream = io.BufferedReader(cast("Any", _Pieces(self)))
        return self.stream

    def recv_into(self, into: memoryview) -> int:
        if self.deadline == -math.inf:
            raise TimeoutError
        if not self.left:
            return 0
        piece, more = self.left[0][: len(into)], self.left[0][len(into) :]
        self.left[:1] = [more] if more else []
        into[: len(piece)] = piece
        self.came += len(piece)
        return len(piece)


class _Pieces(io.RawIOBase):
    def __init__(self, sock: Socket) -> None:
        self._socket = sock

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        return self._socket.recv_into(into)


def read_here(pieces: list[bytes], method: str) -> Read | Refused:
    """Read as ``handler.http.client`` does."""
    sock = Socket(pieces)
    answer = ResponseReader(sock, method=method)
    try:
        answer.begin()
        body = answer.read_body(max_bytes=MAX_BYTES)
    except (InvalidResponse, ClosedUnanswered, OtherEncoding, BodyTooLarge, zlib.error) as exc:
        return Refused(f"{type(exc).__name__}: {exc}")
    clean = answer.leaves_a_clean_end()
    came, sock.deadline = sock.came, math.inf
    rest = sock.stream.read()
    end = sum(map(len, pieces)) - len(rest)
    assert clean == (not answer.will_close and end == came), "an end is clean where no byte has come behind it"
    return Read(answer.status, answer.headers, body, b"", not answer.will_close, rest)


def read_there(pieces: list[bytes], method: str) -> Read | Refused:
    """Read with h11, and decode the body as the client does."""
    connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=2**40)
    connection.send(h11.Request(method=method, target="/", headers=[("host", "a")]))
    connection.send(h11.EndOfMessage())
    left = [*filter(None, pieces)]
    try:
        final, body, ended = _events(connection, left)
    except h11.RemoteProtocolError as exc:
        return Refused(str(exc.args[0]), "body" if exc.args[-1] is h11.SEND_BODY else "head")
    headers: dict[str, str] = {}
    for raw_name, raw_value in final.headers:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    if body and headers.get("content-encoding", "").lower() in ("gzip", "x-gzip"):
        try:
            body = gzip.decompress(body)
        except (zlib.error, OSError, EOFError) as exc:
            return Refused(str(exc), "gzip")
    reusable = connection.their_state is h11.DONE and not ended
    rest = connection.trailing_data[0] + b"".join(left)
    return Read(final.status_code, headers, body, final.http_version, reusable, rest)


def _events(connection: h11.Connection, left: list[bytes]) -> tuple[h11.Response, bytes, bool]:
    """The answer, its body, and if the connection ended it."""
    final, body, ended = None, b"", False
    while True:
        event = _next_event(connection)
        if event is h11.NEED_DATA:
            ended = not left
            connection.receive_data(left.pop(0) if left else b"")
        elif isinstance(event, h11.Response):
            final = event
        elif isinstance(event, h11.Data):
            body += event.data
        elif isinstance(event, h11.EndOfMessage):
            assert final is not None
            return final, body, ended


def _next_event(connection: h11.Connection) -> object:
    state = connection.their_state
    try:
        return connection.next_event()
    except h11.RemoteProtocolError as exc:
        exc.args = (*exc.args, state)
        raise


class Difference(NamedTuple):
    """A difference that may be, with an answer that shows it. ``laxer``: this reader takes more than h11."""

    sample: bytes
    reason: str
    laxer: bool
    is_it: Callable[[Read | Refused, Read | Refused], bool]


def stricter(reason: str, sample: bytes, here: str, there: Callable[[Read], bool] = lambda _: True) -> Difference:
    """A refusal by this reader alone, whose text ``here`` matches."""

    def is_it(ours: Read | Refused, theirs: Read | Refused) -> bool:
        return (
            isinstance(ours, Refused)
            and isinstance(theirs, Read)
            and bool(re.match(here, ours.reason, re.DOTALL))
            and there(theirs)
        )

    return Difference(sample, reason, laxer=False, is_it=is_it)


def laxer(
    reason: str, sample: bytes, there: str, *, place: str, here: Callable[[Read], bool] = lambda _: True
) -> Difference:
    """A refusal by h11 alone, whose text ``there`` matches."""

    def is_it(ours: Read | Refused, theirs: Read | Refused) -> bool:
        return (
            isinstance(theirs, Refused)
            and isinstance(ours, Read)
            and theirs.place == place
            and bool(re.match(there, theirs.reason, re.DOTALL))
            and here(ours)
        )

    return Difference(sample, reason, laxer=True, is_it=is_it)


def _kept_by(ours: Read | Refused, theirs: Read | Refused, *, here: bool) -> bool:
    if isinstance(ours, Refused) or isinstance(theirs, Refused):
        return False
    return ours.reusable is here and theirs.reusable is not here


OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"transfer-encoding: chunked\r\n\r\n"
MANY = b"a: 1\r\n" * 101
LONG = b"x" * 65_536

DIFFERENCES = (
    stricter(
        "versions other than HTTP/1.0 and HTTP/1.1: nothing is known of the framing that they have",
        b"HTTP/1.2 200 OK\r\ncontent-length: 0\r\n\r\n",
        r"InvalidResponse: no status line: b['\"]HTTP/(?!1\.[01] )[0-9]\.[0-9] [0-9]{3}",
    ),
    stricter(
        "a status line longer than a line may be", OK[:-2] + LONG + b"\r\n\r\n", "InvalidResponse: no status line.*xxx"
    ),
    stricter("a line longer than a line may be", OK + b"a: " + LONG + b"\r\n\r\n", "HeadTooLarge: a line too long"),
    stricter("more lines than a head may have", OK + MANY + b"\r\n", "HeadTooLarge: too many headers"),
    stricter(
        "a length of more than 15 digits, which no body has",
        OK + b"connection: close\r\ncontent-length: 0000000000000001\r\n\r\na",
        "InvalidResponse: no length",
        lambda theirs: len(theirs.headers["content-length"]) > 15,
    ),
    stricter(
        "a chunk's size of more than 15 digits, which no chunk has",
        CHUNKED + b"0000000000000001\r\na\r\n0\r\n\r\n",
        "InvalidResponse: no chunk begins here",
        lambda theirs: "transfer-encoding" in theirs.headers,
    ),
    stricter(
        "an encoding that the client did not ask for; h11 decodes none",
        OK + b"content-encoding: br\r\ncontent-length: 0\r\n\r\n",
        "OtherEncoding",
        lambda theirs: theirs.headers["content-encoding"].lower() not in ("", "identity", "gzip", "x-gzip"),
    ),
    stricter(
        "zeros behind the end of a gzip, which Python's own module lets pass",
        OK + b"content-encoding: gzip\r\nconnection: close\r\n\r\n" + gzip.compress(b"a", mtime=0) + b"\0",
        "error: (Error -3|the stream stops early)",
        lambda theirs: theirs.headers["content-encoding"].lower() in ("gzip", "x-gzip"),
    ),
    Difference(
        OK + b"content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
        "both framings end the connection: a proxy may have read the other one (RFC 9112, section 6.3)",
        laxer=False,
        is_it=lambda ours, theirs: (
            _kept_by(ours, theirs, here=False)
            and isinstance(theirs, Read)
            and {"content-length", "transfer-encoding"} <= theirs.headers.keys()
        ),
    ),
    Difference(
        b"HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 1\r\n\r\na",
        "HTTP/1.0 with keep-alive and a length keeps the connection (RFC 9112, section 9.3); h11 does without",
        laxer=True,
        is_it=lambda ours, theirs: (
            _kept_by(ours, theirs, here=True)
            and isinstance(theirs, Read)
            and theirs.version == b"1.0"
            and "keep-alive" in theirs.headers["connection"].lower()
            and "transfer-encoding" not in theirs.headers
        ),
    ),
    laxer(
        "a 101 that nobody asked for is a status like others, without a body, and ends the connection",
        b"HTTP/1.1 101 Other\r\n\r\nx",
        "Can't handle event type InformationalResponse|Received server _SWITCH_UPGRADE event",
        place="head",
        here=lambda ours: ours.status == 101 and ours.body == b"" and not ours.reusable,
    ),
    laxer(
        "white space before a chunk's extension, which recipients must take (RFC 9112, section 7.1.1)",
        CHUNKED + b"1 ;a=b\r\na\r\n0\r\n\r\n",
        r"illegal chunk header: bytearray\(b'[0-9A-Fa-f]{1,15}(?: |\\t)+;.*\\r\\n'\)",
        place="body",
    ),
    laxer(
        "fields of a trailer that would frame in a head: the trailer is thrown away",
        CHUNKED + b"0\r\ncontent-length: x\r\n\r\n",
        "bad Content-Length|conflicting Content-Length|multiple Transfer-Enc|Only Transfer-Encoding: chunked",
        place="body",
    ),
)
"""Everything in which this reader differs from h11."""


def difference_of(pieces: list[bytes], method: str) -> Difference | None:
    """The difference between the readers; nothing where they read the same.

    Fails at a difference that may not be.
    """
    ours, theirs = read_here(pieces, method), read_there(pieces, method)
    found = next((each for each in DIFFERENCES if each.is_it(ours, theirs)), None)
    if isinstance(ours, Read) and isinstance(theirs, Read):
        assert ours.status == theirs.status
        assert _plain(ours.headers) == _plain(theirs.headers)
        assert ours.body == theirs.body
        assert ours.rest == theirs.rest, "one of them ends elsewhere"
        same = ours.reusable == theirs.reusable
    else:
        same = type(ours) is type(theirs)
    assert same or found, f"here: {ours}; there: {theirs}"
    return found


def _plain(headers: dict[str, str]) -> dict[str, str]:
    """Headers but for the white space that a folded value goes on with, and the lengths that h11 makes one of."""
    plain = {name: re.sub(r"[ \t]+", " ", value).strip() for name, value in headers.items()}
    if "transfer-encoding" in plain:
        plain["transfer-encoding"] = plain["transfer-encoding"].lower()
    if "content-length" in plain:
        plain["content-length"] = plain["content-length"].partition(",")[0].strip()
    return plain


ODD = (b"\0 \t \r \n \r\n \x0b \x0c \x1f \x7f \x80 \x85 \xa0 \xb2 \xff").split(b" ")
TOKENS = [*ODD, b" ", *b"; : , = + - _ . / 0 1 9 f g G x".split(), b"0\r\n\r\n", b"\r\n\r\n", b"\n\n", b"\r\n "]
LENGTHS = [
    *b"0 1 5 6 07 1000000 999999999999999 9999999999999999 99999999999999999999 999999999999999999999".split(),
    *b"-1 +1 1_0 0x1 1.0 1e1 1;2 1,1 5,5,5 1,2 , ,5 5, five \xb2 \xd9\xa1 \xef\xbc\x91 \xa05 5\x0b".split(),
    b"",
    b" ",
    b"5, 5",
    b"5\t,5",
    b"1 1",
    b"5\r\n 5",
    b"\r\n 5",
]
SIZES = [
    *b"0 00 5 0005 000000000000005 0000000000000005 00000000000000000005 000000000000000000005".split(),
    *b"fffffffffffffff ffffffffffffffff -5 +5 5_ 0x5 5. \xb2 \xa05 5\xa0 5\x0b 5\0".split(),
    b"",
    b" 5",
    b"5 ",
    b"5\t",
]
CODINGS = [
    *b"chunked CHUNKED Chunked gzip identity chunked,chunked gzip,chunked chunked,identity xchunked".split(),
    *b'\xa0chunked chunked\x85 \x0bchunked chunked\x1f ,chunked chunked, "chunked"'.split(),
    b"",
    b"  chunked\t",
    b"\r\n chunked",
    b"chun\r\n ked",
    b"chunked\r\n ",
]
OPTIONS = [
    *b"close Close keep-alive Keep-Alive keep-alive,close close,keep-alive upgrade closed".split(),
    *b"\xa0close \x85keep-alive".split(),
    b"",
    b"x,\tclose ",
    b"x\r\n close",
    b'"close"',
]
FIELDS = [
    *((b"Content-Length", value) for value in LENGTHS),
    *((b"transfer-encoding", value) for value in CODINGS),
    *((b"Connection", value) for value in OPTIONS),
    *(
        (b"content-encoding", value)
        for value in (b"gzip", b"\xa0gzip", b"GZIP", b"x-gzip", b"br", b"identity", b"", b"gzip, gzip")
    ),
    *(
        (b"X-" + name, b"a")
        for name in (b"a", b"a ", b"a\t", b"(a)", b"a b", b"\xe4", b"", b"a\0", b"!#$%&'*+-.^_`|~9")
    ),
    *((b"a", b"b" + odd + b"c") for odd in ODD),
    *(
        (b"A", value)
        for value in (b"", b" ", b"b: c", b"b\r\n c", b"b\r\n\td\r\n e", b"b\r\n c\0", b"b\r\n \r\n", b"b\r\rc")
    ),
    *((name, b"a") for name in (b"", b" ", b" a", b"\ta", b"content-length ", b"transfer-encoding\t")),
    *((b"upgrade", value) for value in (b"websocket", b"h2c")),
]


INTERIM_FIELDS = [
    *[b""] * 3,
    b"a: b\r\n",
    b"content-length: 5\r\n",
    b"content-length: x\r\n",
    b"connection: close\r\n",
    b"transfer-encoding: gzip\r\n",
]


def often(usual: list[bytes], odd: list[bytes], times: int = 8) -> st.SearchStrategy[bytes]:
    """One of ``usual``, and once in so many ``times`` one of ``odd``."""
    return st.sampled_from(usual * (len(odd) * (times - 1) // len(usual)) + odd)


ODD_EOLS = [b"\n", b"\r", b"\r\r\n", b"\n\r", b" \r\n", b"\0\r\n", b"\x0b\r\n", b""]
ODD_VERSIONS = [*b"HTTP/1.2 HTTP/2.0 HTTP/0.9 HTTP/1 http/1.1 HTTP/1.10 HTTP/1.\xb9".split(), b" HTTP/1.1", b""]
ODD_STATUSES = [*b"101 100 199 099 000 600 999 1000 20 2x0 -20 +20 \xb200".split(), b""]
ODD_REASONS = [b"OK", b"\tOK", b" a\0", b" a\rb", b" \x0b", b"  "]
EXTENSIONS = [b"", b";a", b";a=b", b' ;a="b;c"', b"\t;a", b";", b"; \0", b";a\rb", b";a\nb", b"\nb", b" a", b"; \xff "]

EOL = often([b"\r\n"], ODD_EOLS, times=60)
VERSION = often([b"HTTP/1.1", b"HTTP/1.1", b"HTTP/1.0"], ODD_VERSIONS, times=60)
STATUS = often([b"200", b"200", b"204", b"304", b"404", b"500", b"205"], ODD_STATUSES, times=60)
REASON = often([b" OK", b" ", b"", b" \xff \t"], ODD_REASONS, times=60)
EXTENSION = often([b""], EXTENSIONS)
BODY = st.binary(max_size=12) | st.sampled_from([b"x" * 9_000, b"HTTP/1.1 200 OK\r\n\r\n", b"0\r\n\r\n", b"\r\n"])


@st.composite
def heads(draw: st.DrawFn, framing: tuple[tuple[bytes, bytes], ...]) -> bytes:
    fields = [*framing]
    for _ in range(draw(st.sampled_from([0, 0, 0, 0, 1, 1, 2]))):
        fields.insert(draw(st.integers(0, len(fields))), draw(st.sampled_from(FIELDS)))
    lines = [draw(VERSION) + b" " + draw(STATUS) + draw(REASON)]
    lines += [
        name + b":" + draw(often([b" ", b""], [b"\t", b" \t ", b"\x0b", b"\xa0"])) + value for name, value in fields
    ]
    return b"".join(line + draw(EOL) for line in [*lines, b""])


@st.composite
def chunks(draw: st.DrawFn, body: bytes) -> bytes:
    coded = b""
    cuts = sorted(draw(st.lists(st.integers(0, len(body)), max_size=3)))
    for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True):
        if start < end:
            size = draw(
                often([b"%x" % (end - start), b"%X" % (end - start)], [b"0%x" % (end - start), *SIZES], times=16)
            )
            coded += size + draw(EXTENSION) + draw(EOL) + body[start:end] + draw(EOL)
    last = draw(often([b"0"], [b"000", b"", *SIZES], times=16)) + draw(EXTENSION) + draw(EOL)
    trailer = b"".join(
        name + b": " + value + draw(EOL) for name, value in draw(st.lists(st.sampled_from(FIELDS), max_size=1))
    )
    return coded + last + trailer + draw(EOL)


@st.composite
def answers(draw: st.DrawFn) -> bytes:
    """One whole answer, with its interim ones, in any way of framing; most are valid."""
    body = draw(BODY)
    interim = b"".join(
        b"HTTP/1.1 "
        + draw(often([b"100", b"103"], [b"101", b"199"]))
        + b" Go on\r\n"
        + draw(st.sampled_from(INTERIM_FIELDS))
        + b"\r\n"
        for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2])))
    )
    framing: tuple[tuple[bytes, bytes], ...] = ()
    if draw(st.sampled_from([True, False, False, False])):
        body = gzip.compress(body, mtime=0) + draw(often([b""], [b"\0", b"x", gzip.compress(b"more", mtime=0)]))
        framing = ((b"content-encoding", b"gzip"),)
    match draw(st.sampled_from(["counted", "chunked", "closing"])):
        case "counted":
            framing = (*framing, (b"content-length", b"%d" % len(body)))
        case "chunked":
            framing, body = (*framing, (b"transfer-encoding", b"chunked")), draw(chunks(body))
    return interim + draw(heads(framing)) + body


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """An answer, most with something changed anywhere and a second one behind, some cut short."""
    raw = draw(answers())
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 1, 2, 4]))):
        at = draw(_place_in(raw))
        to = at + draw(st.sampled_from([0, 0, 1, 1, 2, 7]))
        put = draw(st.sampled_from(TOKENS) | st.binary(max_size=3) | st.sampled_from([b"", raw[at : at + 20] * 2]))
        raw = raw[:at] + put + raw[to:]
    if draw(st.sampled_from([True, False, False, False])):
        raw = raw[: draw(_place_in(raw))]
    return raw + draw(st.sampled_from([b"", SECOND, b"\r\n", b"x", b"0\r\n\r\n"]))


def _place_in(raw: bytes) -> st.SearchStrategy[int]:
    """A place, most often one behind the first line where a word or a separator ends."""
    first = raw.find(b"\n") + 1
    ends = [first + found.end() for found in re.finditer(rb"[0-9A-Fa-f]+|\s|[^\w\s]|\w+", raw[first : first + 2_000])]
    return st.sampled_from([*ends * 9, *range(first), len(raw)])


SECOND = b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecond"
FRAMED = [
    (b"", b"hello"),
    (b"", b"5\r\nhello\r\n0\r\n\r\n"),
    (b"content-length: 5\r\n", b"hello"),
    (b"connection: keep-alive\r\ncontent-length: 5\r\n", b"hello"),
    (b"connection: keep-alive\r\ntransfer-encoding: chunked\r\n", b"5\r\nhello\r\n0\r\n\r\n"),
]
LINES = [
    [b"HTTP/1.1 100 Go on", b"a: b", b"", b"HTTP/1.1 200 OK", b"content-length: 5", b"a: b", b" c", b""],
    [*CHUNKED.split(b"\r\n")[:-1], b"2", b"he", b"3;a", b"llo", b"0", b"a: b", b""],
]


def odd_answers() -> Iterator[bytes]:
    """Every odd part, in an answer that is valid but for it."""
    for (name, value), (framing, body), start in product(FIELDS, FRAMED, (b"1.1 200", b"1.0 200", b"1.1 204")):
        yield b"HTTP/" + start + b" OK\r\n" + framing + name + b": " + value + b"\r\n\r\n" + body
        yield CHUNKED + b"0\r\n" + name + b": " + value + b"\r\n\r\n"
    for version, status, reason in product(
        [b"HTTP/1.1", b"HTTP/1.0", *ODD_VERSIONS], [b"200", b"304", *ODD_STATUSES], [b" OK", b"", b" ", *ODD_REASONS]
    ):
        yield version + b" " + status + reason + b"\r\ncontent-length: 0\r\n\r\n"
    for lines, odd in product(LINES, ODD_EOLS):
        for at in range(len(lines)):
            yield b"".join(line + (odd if number == at else b"\r\n") for number, line in enumerate(lines)) + b"hello"
    for size, extension in product(SIZES, EXTENSIONS):
        yield CHUNKED + size + extension + b"\r\nhello\r\n0" + extension + b"\r\n\r\n"


def in_pieces(raw: bytes, cuts: list[int]) -> list[bytes]:
    ends = sorted({cut % (len(raw) + 1) for cut in cuts} | {0, len(raw)})
    return [raw[start:end] for start, end in pairwise(ends)]


METHOD = st.sampled_from(["GET", "POST", "POST", "HEAD"])
CUTS = st.lists(st.integers(0, 10_000), max_size=4)


def test_every_odd_part_is_read_as_h11_reads_it() -> None:
    for raw, method in product(odd_answers(), ("GET", "HEAD")):
        difference_of([raw + SECOND], method)


@search(CASES)
@given(raw=mutated(), cuts=CUTS, method=METHOD)
def test_answers_are_read_as_h11_reads_them(raw: bytes, cuts: list[int], method: str) -> None:
    difference_of(in_pieces(raw, cuts), method)


@search(CASES // 2)
@given(
    raw=st.lists(st.sampled_from([OK, CHUNKED, *TOKENS]) | st.binary(max_size=8), max_size=12).map(b"".join),
    cuts=CUTS,
    method=METHOD,
)
def test_arbitrary_bytes_are_read_as_h11_reads_them(raw: bytes, cuts: list[int], method: str) -> None:
    difference_of(in_pieces(raw, cuts), method)


@search(CASES // 10)
@given(raw=answers())
def test_pieces_make_no_difference(raw: bytes) -> None:
    assert read_here([raw], "GET") == read_here([raw[at : at + 1] for at in range(len(raw))], "GET")


@pytest.mark.parametrize("difference", DIFFERENCES, ids=[each.reason[:50] for each in DIFFERENCES])
def test_each_difference_is_one(difference: Difference) -> None:
    assert difference_of([difference.sample], "GET") is difference


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(OK + b"transfer-encoding:\r\ncontent-length: 1\r\n\r\na", id="empty transfer coding"),
        pytest.param(OK + b"transfer-encoding: \xa0chunked\r\n\r\n0\r\n\r\n", id="space of Latin-1 around a coding"),
        pytest.param(OK + b"transfer-encoding: \x1fchunked\r\n\r\n0\r\n\r\n", id="control around a coding"),
        pytest.param(OK + b"content-length: \xa01\r\n\r\na", id="space of Latin-1 around a length"),
        pytest.param(OK + b"content-length:\r\n\r\n", id="empty length"),
        pytest.param(OK + b"content-length: ,\r\n\r\n", id="list of empty lengths"),
        pytest.param(b"HTTP/1.1 204 No\r\ncontent-length: x\r\n\r\n", id="length that is not valid, where no body is"),
        pytest.param(b"HTTP/1.1 304 No\r\ntransfer-encoding: x\r\n\r\n", id="coding not asked for, where no body is"),
        pytest.param(
            b"HTTP/1.1 103 a\r\ncontent-length: x\r\n\r\n" + OK + b"content-length: 0\r\n\r\n", id="interim length"
        ),
        pytest.param(CHUNKED + b"1\na\r\n0\r\n\r\n", id="bare LF behind a chunk's size"),
        pytest.param(CHUNKED + b"1;a\nb\r\na\r\n0\r\n\r\n", id="bare LF in a chunk's extension"),
        pytest.param(CHUNKED + b"1;a\na\r\n0\r\n\r\n", id="bare LF behind a chunk's extension"),
        pytest.param(CHUNKED + b"1\r\na\n0\r\n\r\n", id="bare LF behind a chunk"),
        pytest.param(CHUNKED + b"0\n\r\n", id="bare LF behind the last chunk's size"),
        pytest.param(CHUNKED + b"0\r\nHTTP/1.1 200 OK\r\n\r\n", id="status line as a trailer"),
        pytest.param(CHUNKED + b"0\r\na: \0\r\n\r\n", id="NUL in a trailer"),
        pytest.param(CHUNKED + b"0\r\n" + MANY + b"\r\n", id="too many fields of a trailer"),
        pytest.param(b"HTTP/1.1 200 OK\rcontent-length: 1\r\ncontent-length: 0\r\n\r\n", id="bare CR in a status line"),
        pytest.param(b"HTTP/1.1 200 O\0K\r\ncontent-length: 0\r\n\r\n", id="NUL in a status line"),
        pytest.param(OK + b"content-length: 0\r\na: b\r\n c\0\r\n\r\n", id="NUL in a folded value"),
        pytest.param(OK + b"content-length: 0\r\na: b\r\n c\rd: e\r\n\r\n", id="bare CR in a folded value"),
        pytest.param(OK + b"content-length: 0\r\na: b\x0bc\r\n\r\n", id="vertical tab in a value"),
    ],
)
def test_framing_that_can_be_read_in_two_ways_is_refused(raw: bytes) -> None:
    assert isinstance(read_here([raw], "GET"), Refused)


def test_chunks_of_http_1_0_end_the_connection() -> None:
    raw = b"HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"
    read = read_here([raw], "GET")

    assert isinstance(read, Read)
    assert (read.body, read.reusable) == (b"a", False)
