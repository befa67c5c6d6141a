"""Keys in the query string of a URL, by the names of their parameters."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlsplit


def keys_in(url: str) -> dict[str, str]:
    """Map each parameter of a URL that is named as a key, token or password is, to its value."""
    return {name: value for name, value in parse_qsl(urlsplit(url).query) if _names_a_key(name)}


def _names_a_key(parameter: str) -> bool:
    words = _WORD.findall(parameter)
    return bool(words) and bool(_KEY.fullmatch(words[-1]))


_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_KEY = re.compile(r"(access|api)?(key|token)|auth|code|pass(wd|word)|pwd|secret|sig(nature)?", re.IGNORECASE)
