"""How callers say who they are: the section ``identity``, which StepZen has as ``deployment.identity``."""

from __future__ import annotations

from datetime import UTC, datetime

from handler.bundle import ApiKey, Identity
from handler.compiler.problems import Problems
from handler.compiler.yaml_section import Section

SHA256_DIGITS = 64


def read_identity(section: Section, problems: Problems) -> Identity:
    """The keys that let their holders in."""
    section.expect("api_keys")
    return Identity(issuers=(), api_keys=tuple(_api_keys(section, problems)), trusted_apis=())


def _api_keys(identity: Section, problems: Problems) -> list[ApiKey]:
    found: list[ApiKey] = []
    for entry in identity.sections("api_keys"):
        key = _api_key(entry)
        if key.name and key.name in [other.name for other in found]:
            problems.add(entry.place("name"), f'two keys are named "{key.name}"')
        found.append(key)
    return found


def _api_key(entry: Section) -> ApiKey:
    entry.expect("name", "sha256", "expires")
    if not entry.text("name"):
        entry.refuse("name", "the name of the key, for the log")
    digest = entry.text("sha256").lower()
    if len(digest) != SHA256_DIGITS or set(digest) - set("0123456789abcdef"):
        entry.refuse("sha256", "the SHA-256 of the key in hexadecimal, as `stile key NAME` prints it")
    return ApiKey(name=entry.text("name"), sha256=digest, expires=_expires(entry), claims=None)


def _expires(entry: Section) -> int:
    text = entry.text("expires")
    if not text:
        return 0
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        entry.refuse("expires", "a date or a time in ISO 8601, such as 2030-01-31")
        return 0
    # 0 is for never: the first second of 1970 is as long past as the next one.
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()) or 1
