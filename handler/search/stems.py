"""Stems of English words: ``merges``, ``merged`` and ``merging`` have one stem.

Source: M. F. Porter, "An algorithm for suffix stripping", 1980; irregular forms are from a table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator


def _by_form(forms: dict[str, str]) -> dict[str, str]:
    return {form: word for word, others in forms.items() for form in others.split()}


IRREGULAR = _by_form(
    {
        "begin": "began begun",
        "become": "became",
        "bind": "bound",
        "birth": "born births",
        "break": "broke broken",
        "bring": "brought",
        "build": "built",
        "buy": "bought",
        "catch": "caught",
        "child": "children",
        "choose": "chose chosen choice choices",
        "criterion": "criteria",
        "die": "died dead death",
        "draw": "drawn drew",
        "drive": "driven drove",
        "eat": "ate eaten",
        "fight": "fought",
        "find": "found",
        "fly": "flew flown flight flights",
        "foot": "feet",
        "forget": "forgot forgotten",
        "freeze": "froze frozen",
        "give": "gave given",
        "grow": "grew grown growth",
        "half": "halves",
        "hear": "heard",
        "hide": "hid hidden",
        "hold": "held",
        "index": "indices",
        "keep": "kept",
        "know": "knew known",
        "lead": "led",
        "lose": "lost loss losses",
        "make": "made",
        "man": "men",
        "meet": "met",
        "matrix": "matrices",
        "mouse": "mice",
        "pay": "paid",
        "person": "people persons",
        "ride": "rode ridden",
        "rise": "rose risen",
        "run": "ran",
        "say": "said",
        "sell": "sold sale sales",
        "send": "sent",
        "shelf": "shelves",
        "shoot": "shot",
        "show": "shown",
        "sing": "sang sung",
        "sleep": "slept",
        "speak": "spoke spoken speech speeches",
        "spend": "spent",
        "steal": "stole stolen",
        "swim": "swam swum",
        "take": "taken took",
        "teach": "taught",
        "tell": "told",
        "think": "thought",
        "throw": "threw thrown",
        "tooth": "teeth",
        "use": "usage usages",
        "vertex": "vertices",
        "wear": "wore worn",
        "weigh": "weight weights",
        "win": "won",
        "withdraw": "withdrew withdrawn withdrawal withdrawals",
        "woman": "women",
        "write": "written wrote",
    }
)
"""Irregular form, or noun of a verb -> the word itself. Forms with a more frequent meaning (``left``) are absent."""

UNLIKE = _by_form(
    {
        "authority": "authority authorities",
        "authorize": "authorization authorizations authorize authorized authorizes authorizing authorise authorised",
        "community": "community communities",
        "customer": "customer customers",
        "engineer": "engineer engineers engineering",
        "experiment": "experiment experiments experimental",
        "general": "general generally",
        "generic": "generic generics",
        "international": "international internationally",
        "news": "news",
        "organize": "organization organizations organize organized organizer organizers organizes organizing "
        "organisation organisations organise organised",
        "position": "position positions positioned",
        "university": "university universities",
    }
)
"""Form -> stem, where the rules would lead to the stem of another word: ``customer`` and ``custom``."""

MIN_CHARS = 3
"""A shorter word is its own stem."""

_NOUNS = {"scription": "scribe", "ification": "ify", "olution": "olve", "eation": "eate"}
"""Ending of a noun -> that of its verb, where the rules would keep both apart: ``subscription`` and ``subscribe``."""

_VOWEL = re.compile(r"[aeiou]|(?<=[^aeiou])y")
_MEASURED = re.compile(r"(?:[aeiou]|(?<=[^aeiou])y)+(?:[^aeiouy]|(?<![^aeiou])y)+")
_DOUBLE = re.compile(r"([^aeiouylsz])\1$")
_SHORT = re.compile(r"(?:[^aeiou]|^)[aeiouy][^aeiouwxy]$")

_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "abli": "able", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
}  # fmt: skip
_STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP_4 = dict.fromkeys(
    "al ance ence er ic able ible ant ement ment ent sion tion ou ism ate iti ous ive ize".split(),  # noqa: SIM905
    "",
)


def stem(word: str) -> str:
    """Return the stem of a lower-case word. A word that is not English letters is its own stem."""
    if word in UNLIKE:
        return UNLIKE[word]
    word = IRREGULAR.get(word, word)
    if len(word) < MIN_CHARS or not (word.isascii() and word.isalpha()):
        return word
    word = _without_plural(word)
    for ending, of_verb in _NOUNS.items():
        if word.endswith(ending) and word != ending:
            word = word.removesuffix(ending) + of_verb
            break
    word = _without_verb_ending(word)
    if word.endswith("y") and _VOWEL.search(word[:-1]):
        word = f"{word[:-1]}i"
    word = _replaced(word, _STEP_2, above=0)
    word = _replaced(word, _STEP_3, above=0)
    word = _replaced(word, _STEP_4, above=1)
    return _without_last_e(word)


def doers(verb: str) -> Iterator[str]:
    """Yield the stems of nouns for the person of an action, or for its object: ``winner``, ``assignee``.

    ``verb`` is a stem. The stems of longer nouns in ``er`` equal those of their verbs, as ``manager`` and ``manage``.
    """
    if len(verb) < MIN_CHARS or not (verb.isascii() and verb.isalpha()):
        return
    rest = verb.removesuffix("e")
    if rest.endswith("i") and rest[-2:-1] in tuple("aeiou"):
        rest = f"{rest[:-1]}y"
    if _measure(rest) > 1:
        yield f"{rest}e"
    else:
        yield f"{rest}er"
        if _SHORT.search(verb):
            yield f"{verb}{verb[-1]}er"
    if rest.endswith(("s", "t")):
        yield f"{rest}or"


def _without_plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _without_verb_ending(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for ending in ("ed", "ing"):
        rest = word.removesuffix(ending)
        if rest != word and _VOWEL.search(rest):
            return _whole(rest)
    return word


def _whole(rest: str) -> str:
    """Return a verb without ``ed`` or ``ing`` in the form that it has without the ending."""
    if rest.endswith(("at", "bl", "iz")) or (_measure(rest) == 1 and _SHORT.search(rest)):
        return f"{rest}e"
    return rest[:-1] if _DOUBLE.search(rest) else rest


def _replaced(word: str, endings: dict[str, str], *, above: int) -> str:
    for length in range(min(7, len(word) - 1), 1, -1):
        replacement = endings.get(word[-length:])
        if replacement is not None:
            rest = word[:-length]
            if word[-length:] in ("sion", "tion") and endings is _STEP_4:
                rest += word[-length]
            return f"{rest}{replacement}" if _measure(rest) > above else word
    return word


def _without_last_e(word: str) -> str:
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _SHORT.search(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


def _measure(word: str) -> int:
    """Return the number of times that a consonant follows a vowel (Porter's m)."""
    return len(_MEASURED.findall(word))
