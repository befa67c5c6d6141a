"""Names of starter tools, and names that no starter uses."""

from __future__ import annotations

import re
from itertools import pairwise

MAX_NAME_CHARS = 48
"""Longer names make unreadable tools."""

PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

VERBS = frozenset({"browse", "count", "fetch", "find", "get", "list", "lookup", "query", "search", "show"})

ABOUT_THE_CALLER = frozenset({"current", "me", "my", "self", "viewer", "whoami"})
"""Words of fields that answer about a signed-in user, and fail for all others."""

SECRET = frozenset(
    [
        "apikey",
        "auth",
        "authentication",
        "authorization",
        "captcha",
        "cookie",
        "credential",
        "credentials",
        "csrf",
        "cvv",
        "hash",
        "iban",
        "jwt",
        "login",
        "logout",
        "mfa",
        "nonce",
        "oauth",
        "otp",
        "passcode",
        "passport",
        "passwd",
        "password",
        "passwords",
        "pin",
        "private",
        "register",
        "saml",
        "salary",
        "salt",
        "secret",
        "secrets",
        "session",
        "sessions",
        "signature",
        "signin",
        "signout",
        "signup",
        "ssn",
        "sso",
        "token",
        "tokens",
        "totp",
    ]
)
"""Words of fields about sign-in, and of values that are not for everybody."""

SECRET_PAIRS = frozenset(
    {
        ("access", "key"),
        ("api", "key"),
        ("api", "keys"),
        ("credit", "card"),
        ("log", "in"),
        ("sign", "in"),
        ("sign", "up"),
    }
)


def words_of(name: str) -> list[str]:
    """Return the words of a name in lower case."""
    return [piece.lower() for piece in PIECE.findall(name)]


def is_secret(name: str) -> bool:
    """Tell if a name looks like a credential, a step of a sign-in or a personal secret."""
    words = words_of(name)
    return not SECRET.isdisjoint(words) or any(pair in SECRET_PAIRS for pair in pairwise(words))


def is_readable(name: str) -> bool:
    """Tell if a field's name makes the name of a tool."""
    words = words_of(name)
    return len(name) <= MAX_NAME_CHARS and not name.startswith("_") and bool(words) and words[0][0].isalpha()


def is_about_the_caller(name: str) -> bool:
    """Tell if a root field answers about a signed-in user."""
    return not ABOUT_THE_CALLER.isdisjoint(words_of(name)[:1])


def tool_words(field: str, verb: str) -> list[str]:
    """Return the words of a tool's name: those of the field, after a verb if the field has none."""
    words = words_of(field)
    if words[0] in VERBS:
        return words
    without_all = words[1:] if words[0] == "all" and len(words) > 1 else words
    without_list = without_all[:-1] if without_all[-1] == verb and len(without_all) > 1 else without_all
    return [verb, *without_list]
