"""Read the headers of upstream requests: fixed ones, and those that come from the caller."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from handler.bundle.upstream import is_reference
from handler.compiler.problems import Problems
from handler.compiler.source.yaml_section import Section

FORBIDDEN = frozenset(
    {
        "authorization",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "cookie",
        "expect",
        "forwarded",
        "host",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "x-api-key",
    }
)
"""Headers that authors cannot use: credentials have their own setting, the rest belongs to the connection."""

FORBIDDEN_PREFIXES = ("x-forwarded-", "x-amz-", "x-amzn-", "proxy-")

NEVER_FORWARDED = frozenset({"accept", "accept-encoding", "user-agent", "x-authorization"})
"""Headers that Stile sets itself, or that may hold a credential."""

CLAIM = "claim:"
NAME = re.compile(r"[a-z0-9_-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Headers:
    """The values of ``upstream.headers`` and ``upstream.forward_headers``, with names in lower case."""

    fixed: Mapping[str, str]
    claims: Mapping[str, str]  # header -> claim
    forwarded: tuple[str, ...]


def read_headers(section: Section, problems: Problems, *, credential: str) -> Headers:
    """Read the headers of ``upstream``. ``credential`` is the header that ``upstream.auth`` names; empty if none."""
    fixed: dict[str, str] = {}
    claims: dict[str, str] = {}
    faults = {_spelt(credential): '"upstream.auth" sets it'} if credential else {}
    entries = section.section("headers")
    for key in entries.keys():  # noqa: SIM118 - a Section is not a dict
        name, value = key.lower(), entries.text(key)
        fault = header_fault(name) or _value_fault(value) or faults.get(_spelt(name), "")
        if fault:
            problems.add(entries.place(key), f"upstream.headers{_shown(key)}: {fault}", code="invalid-header")
        faults[_spelt(name)] = "it appears twice"
        if value.startswith(CLAIM):
            claims[name] = value.removeprefix(CLAIM)
        else:
            fixed[name] = value
    faults = {name: '"upstream.headers" sets it' if fault.startswith("it") else fault for name, fault in faults.items()}
    return Headers(fixed=fixed, claims=claims, forwarded=tuple(_forwarded(section, faults, problems)))


def header_fault(name: str) -> str:
    """Return why a header (name in lower case) is refused, or an empty string. Some servers take ``_`` for ``-``."""
    spelt = _spelt(name)
    if spelt in FORBIDDEN or spelt.startswith(FORBIDDEN_PREFIXES):
        credential = spelt in ("authorization", "cookie", "x-api-key")
        return "this header cannot be used" + (": credentials belong in upstream.auth" if credential else "")
    if not NAME.fullmatch(name):
        return "not a header name: expected letters, digits, - and _"
    return ""


def is_printable_ascii(text: str) -> bool:
    """Return whether a text is a portable header value."""
    return text.isprintable() and text.isascii()


def _value_fault(value: str) -> str:
    if not is_printable_ascii(value):
        return "expected printable ASCII"
    if is_reference(value):
        return "a reference to a secret belongs in upstream.auth, as {header: NAME, value: secret:NAME}"
    if value.startswith(CLAIM) and not value.removeprefix(CLAIM).strip(" ."):
        return "the claim has no name: expected claim:NAME, or a path such as claim:org.id"
    return ""


def _forwarded(section: Section, said: Mapping[str, str], problems: Problems) -> list[str]:
    names: list[str] = []
    faults = dict(said)
    for text, place in section.texts("forward_headers"):
        name = text.lower()
        fault = header_fault(name) or faults.get(_spelt(name), "")
        if not fault and _spelt(name) in NEVER_FORWARDED:
            fault = "this header cannot be forwarded"
        if fault:
            problems.add(place, f"upstream.forward_headers{_shown(text)}: {fault}", code="invalid-header")
        faults[_spelt(name)] = "it appears twice"
        names.append(name)
    return names


def _shown(name: str) -> str:
    """Quote a name for a sentence; empty string if it is none, as "authorization: bearer 8f3c…" would show a secret."""
    return f' "{name}"' if NAME.fullmatch(name.lower()) else ""


def _spelt(name: str) -> str:
    """Normalize a name as servers do that turn headers into variables: for them ``x_role`` is ``x-role``."""
    return name.lower().replace("_", "-")
