"""Writer of an HTTP request. It writes what http.client does, and refuses more.

Importing http.client loads the parser of emails, which no request needs: 5 % of the processor time of a cold start.
``tests/http/test_request_head.py`` holds the writer against http.client and h11.

Source: RFC 9110, sections 5.5, 5.6.2 and 7.2; RFC 9112, sections 3 and 5.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_TARGET = re.compile(r"[!-~]+")
_NEVER_IN_A_VALUE = re.compile(r"[\0\r\n]")
_WITH_BODY = ("PATCH", "POST", "PUT")
"""Methods whose requests state a length, even without a body."""


def request_head(method: str, path: str, *, host: str, headers: Mapping[str, str], body: bytes | None) -> bytes:
    """Return the first line and the fields of a request. ``host`` is the field's value, if ``headers`` has none.

    Raises:
        ValueError: a member that cannot be sent. The message does not quote it.
    """
    if not _TOKEN.fullmatch(method) or not _TARGET.fullmatch(path):
        raise ValueError("a method or path that is not valid")
    given = {name.lower() for name in headers}
    fields = {} if "host" in given else {"Host": host}
    if "accept-encoding" not in given:
        fields["Accept-Encoding"] = "identity"
    if not given & {"content-length", "transfer-encoding"} and (body is not None or method.upper() in _WITH_BODY):
        fields["Content-Length"] = str(len(body or b""))
    fields |= headers
    for name, value in fields.items():
        if not _TOKEN.fullmatch(name) or _NEVER_IN_A_VALUE.search(value):
            raise ValueError("a header that is not valid")
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def host_field(host: str, port: int, *, default_port: int) -> str:
    """Return the value of the field ``host``: without a default port, an IPv6 address in brackets without its zone.

    Raises:
        UnicodeError: a name that is not valid.
    """
    name = host if host.isascii() else host.encode("idna").decode("ascii")
    if ":" in name:
        name = f"[{name.partition('%')[0]}]"
    return name if port == default_port else f"{name}:{port}"


def encoded_name(host: str) -> str | bytes:
    """Return a name as bytes, if the codec of international names would leave it as it is.

    Python loads the codec for every text that it resolves or verifies a certificate for: 2 % of a cold start. The codec
    leaves ASCII as it is, and refuses empty labels and those of more than 63 characters.
    """
    labels = host.removesuffix(".").split(".")
    return host.encode("ascii") if host.isascii() and all(0 < len(each) < 64 for each in labels) else host
