"""Names that say that their value is a secret, such as ``password`` and ``apiKey``."""

from __future__ import annotations

import re
from itertools import pairwise

WORDS = frozenset(
    f"{word}{end}"
    for word in (
        *("accesskey", "apikey", "authorization", "cookie", "credential", "cvc", "cvv", "otp", "passcode"),
        *("passphrase", "passwd", "password", "pin", "privatekey", "pwd", "secret", "token"),
    )
    for end in ("", "s")
)

PAIRS = frozenset({("api", "key"), ("access", "key"), ("private", "key"), ("pass", "word"), ("pass", "phrase")})

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def is_secret(name: str) -> bool:
    """Tell if a name has a word for secrets. Words are told apart by capitals, and by all that is not a letter."""
    words = [word.lower() for word in _WORD.findall(name)]
    return not WORDS.isdisjoint(words) or not PAIRS.isdisjoint(pairwise(words))
