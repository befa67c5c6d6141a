"""Words of questions, and the words of most schemas for the same."""

from __future__ import annotations

import re

from handler.search.stems import stem

_OF_CALLER = r"who\s+am\s+i|who\s+i\s+am|whoami|my\s+(?:own\s+)?(?:account|profile|user)"

OF_CALLER = re.compile(rf"\b(?:{_OF_CALLER})\b", re.IGNORECASE)
"""Questions about the caller."""

CALLER = re.compile(
    r"(?:get_?)?(?:me|viewer|self|myself|who_?am_?i|(?:current|active|authenticated|logged_?in|my)_?"
    r"(?:account|administrator|customer|employee|identity|member|person|profile|user|viewer))",
    re.IGNORECASE,
)
"""Names of the root field that is the caller."""

_PHRASES = {
    _OF_CALLER: "viewer",
    r"(?:turn|switch|power|shut)\w*+\s++(?:\w++\s++){0,3}?(?:off|down)": "stop",
    r"(?:turn|switch|power)\w*+\s++(?:\w++\s++){0,3}?on": "start",
    r"(?:log|sign)\s+in": "login",
    r"(?:log|sign)\s+(?:out|off)": "logout",
    r"sign\s+up": "register",
    r"(?:get|throw)\s++(?:\w++\s++){0,3}?(?:rid\s+of|away)": "delete",
    r"virtual\s+machines?": "vm",
}
PHRASES = {re.compile(rf"\b(?:{phrase})\b", re.IGNORECASE): word for phrase, word in _PHRASES.items()}
"""Phrases of a question, each with a word that counts, too."""

_MEANINGS = {
    "viewer": "current whoami",
    "stop": "disable shutdown shut poweroff deactivate suspend",
    "start": "enable activate boot resume poweron",
    "login": "signin authenticate session",
    "logout": "signout",
    "register": "signup",
    "delete remove erase discard": "delete remove destroy",
    "change edit modify": "update",
    "vm": "machine instance",
    "processor cpu": "processor cpu",
    "memory ram": "memory ram",
    "disk": "drive volume storage",
    "warm hot cold": "temperature",
    "full": "free capacity usage",
    "cheap expensive": "price cost",
    "photo picture": "image",
    "phone": "telephone mobile",
    "company firm": "organization business",
    "buyer client shopper": "customer",
    "bill": "invoice",
}
MEANINGS = {
    stem(word): tuple(map(stem, others.split())) for words, others in _MEANINGS.items() for word in words.split()
}
"""Stem -> the stems that may stand for it."""
