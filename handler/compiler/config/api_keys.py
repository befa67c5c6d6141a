"""Read ``api_keys`` of ``identity``: the name, digest, claims and end of each key."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from handler.bundle.identity import ApiKey
from handler.compiler.problems import Problems
from handler.compiler.source.yaml_section import Section

SHA256_DIGITS = 64


def read_api_keys(sections: Iterable[Section], problems: Problems) -> list[ApiKey]:
    """Read the keys of all sections of ``identity``."""
    found: list[ApiKey] = []
    for entry in (entry for section in sections for entry in section.sections("api_keys")):
        key = _api_key(entry)
        if key.name and key.name in [other.name for other in found]:
            problems.add(entry.place("name"), f'two keys are named "{key.name}"', code="duplicate-api-key")
        found.append(key)
    return found


def _api_key(entry: Section) -> ApiKey:
    entry.expect()
    if not entry.text("name"):
        entry.refuse("name", "the name of the key, for the log")
    digest = entry.text("sha256").lower()
    if len(digest) != SHA256_DIGITS or set(digest) - set("0123456789abcdef"):
        entry.refuse("sha256", "the SHA-256 of the key in hexadecimal, as `stile key NAME` prints it")
    claims = entry.json_object("claims") if "claims" in entry else None
    return ApiKey(name=entry.text("name"), sha256=digest, expires=_expires(entry), claims=claims)


def _expires(entry: Section) -> int:
    text = entry.text("expires")
    if not text:
        return 0
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        entry.refuse("expires", "a date or a time in ISO 8601, such as 2030-01-31")
        return 0
    # 0 means never. The first second of 1970 becomes the next one, which has expired as well.
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()) or 1
