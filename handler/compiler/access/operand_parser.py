r"""Parse the operands of access policies' conditions: claims, variables and literals.

    operand    = literal / "$jwt." path ":" type / "$variables." path ":" type
    literal    = "true" / "false" / number / text in single or double quotes, in which \ escapes the quote and itself
    type       = "Int" / "Float" / "Boolean" / "String"

The path of a claim has names joined by ``.``, ``/`` or ``:``, or in quotes. A colon in front of a type ends it, any
other colon belongs to it: ``$jwt.cognito:groups:String``. A dot precedes a name in quotes and the name after it:
``$jwt."https://example.com/roles":String``. The call decides where dots and slashes split a claim's path, by the
claims. The path of a variable has GraphQL names joined by dots.

Source: IBM API Connect for GraphQL, "Using field policies". Escapes are ours.
"""

from __future__ import annotations

import math
import re
from typing import Any

from handler.errors.authoring import PredicateRefused
from handler.text.sentences import did_you_mean

MAX_NAMES = 32
"""Names in one path."""

TYPES = ("Int", "Float", "Boolean", "String")

Operand = dict[str, Any]

_BLANKS = " \t\r\n"
_TYPE_END = rf":(?:{'|'.join(TYPES)})(?![\w-]|[./][\w-])"
_CLAIM = re.compile(rf"[\w-]+(?:(?!{_TYPE_END})[./:][\w-]+)*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z_0-9]*(?:\.[A-Za-z_][A-Za-z_0-9]*)*")
_ROOT = re.compile(r"\$\w*")
_TYPE = re.compile(rf"[{_BLANKS}]*:[{_BLANKS}]*(\w*)")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?(?![\w.])")
_BOOLEAN = re.compile(r"(?:true|false)(?!\w)")
_QUOTED = {
    quote: re.compile(rf"{quote}((?:\\[\\{quote}]|[^\\{quote}])*)({quote}|\\[^\\{quote}])") for quote in ("'", '"')
}
"""A text to its end, or to the first invalid escape."""

_ESCAPE = re.compile(r"\\(.)")
_SEPARATOR = re.compile(r"[./]")
_TOKEN = re.compile(r"[\w$?.:-]+|&&|\|\||[<>=!]=|.")


class OperandParser:
    """A reader of operands at a place in a text. The place moves on as parts of the text are read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def operand(self) -> Operand:
        """Read a literal, or a variable with its type."""
        text = self.rest()
        if text.startswith("$"):
            start = self.at
            operand = self.variable(typed=True)
            return operand | {"type": self._type(start)}
        if text.startswith(("'", '"')):
            return {"value": self._quoted()}
        if found := _BOOLEAN.match(self.text, self.at):
            self.at = found.end()
            return {"value": found[0] == "true"}
        if found := _NUMBER.match(self.text, self.at):
            return {"value": self._number(found)}
        raise self.unexpected("true, false, a text, a number or a variable", '$jwt.role:String == "admin"')

    def _number(self, found: re.Match[str]) -> float:
        value = float(found[0]) if found[1] or found[2] else int(found[0])
        if isinstance(value, float) and not math.isfinite(value):
            raise self.mistake(f"the number {found[0]:.20} is too large: expected one of up to 1.7e308 in size")
        self.at = found.end()
        return value

    def _quoted(self) -> str:
        quote = self._next()
        found = _QUOTED[quote].match(self.text, self.at)
        if found is None:
            raise self.mistake(
                f"a text begins here and has no end: expected a closing {quote}, as in {quote}admin{quote}"
            )
        if found[2] != quote:
            sentence = f"{found[2]} is not an escape here: expected \\{quote} or \\\\ where a backslash is"
            raise self.mistake(sentence, found.start(2))
        self.at = found.end()
        return _ESCAPE.sub(r"\1", found[1])

    def variable(self, *, typed: bool) -> Operand:
        """Read a variable's root and path. With a type, the path is required; ``?$jwt`` may stand alone."""
        found = _ROOT.match(self.text, self.at)
        if found is None or found[0] not in ("$jwt", "$variables"):
            raise self.unexpected("$jwt or $variables", '$jwt.role:String == "admin"' if typed else "?$jwt.role")
        self.at = found.end()
        if found[0] == "$variables":
            return {"variables": self._variable_path()}
        if not typed and self._next() != ".":
            return {"jwt": []}
        return {"jwt": self._claim_path()}

    def _variable_path(self) -> list[str]:
        found = _VARIABLE.match(self.text, self.at + 1) if self._next() == "." else None
        if found is None:
            raise self.unexpected("a dot and the name of a variable right after $variables", "$variables.userId:String")
        path = found[0].split(".")
        self._refuse_many(len(path))
        self.at = found.end()
        return path

    def _claim_path(self) -> list[str]:
        path: list[str] = []
        start = self.at
        while not path or self._next() == ".":
            path.append(self._claim_name())
        self._refuse_many(sum(len(_SEPARATOR.split(text)) for text in path), start)
        return path

    def _claim_name(self) -> str:
        if self._next() == ".":
            self.at += 1
            if self._next() in ("'", '"'):
                return self._quoted()
            if found := _CLAIM.match(self.text, self.at):
                self.at = found.end()
                return found[0]
            self.at -= 1
        raise self.unexpected(
            "a dot and the name of a claim right after it", '$jwt.role:String or $jwt."https://example.com/role":String'
        )

    def _refuse_many(self, names: int, at: int | None = None) -> None:
        if names > MAX_NAMES:
            raise self.mistake(f"this path has {names} names: expected {MAX_NAMES} at most", at)

    def has_type(self) -> bool:
        """Tell if a type follows."""
        return bool(_TYPE.match(self.text, self.at))

    def _type(self, start: int) -> str:
        """Read the type behind a variable that begins at ``start``."""
        found = _TYPE.match(self.text, self.at)
        if found and found[1] in TYPES:
            self.at = found.end()
            return found[1]
        variable = self.text[start : self.at]
        wrong, at = (found[1], found.start(1)) if found else ("", start)
        if not found and ":" in variable:  # an unknown type was read as a part of the name
            wrong = variable.rpartition(":")[2]
            at = self.at - len(wrong)
        expected = "expected :Int, :Float, :Boolean or :String after it, as in $jwt.role:String"
        said = f'"{variable:.80}" has no type' + (f' ("{wrong:.40}" is not a type)' if wrong else "")
        raise self.mistake(f"{said}: {expected}{did_you_mean(wrong, TYPES) if wrong else ''}", at)

    def took(self, token: str) -> bool:
        """Step over a token if it is next; tell if it was."""
        self.skip_blanks()
        found = self.text.startswith(token, self.at)
        if found:
            self.at += len(token)
        return found

    def rest(self) -> str:
        """Return the text that is left, without blanks in front."""
        self.skip_blanks()
        return self.text[self.at :]

    def _next(self) -> str:
        return self.text[self.at : self.at + 1]

    def skip_blanks(self) -> None:
        rest = self.text[self.at :]
        self.at += len(rest) - len(rest.lstrip(_BLANKS))

    def unexpected(self, what: str, example: str) -> PredicateRefused:
        """Return an error that quotes the next token and says what was expected in its place."""
        self.skip_blanks()
        got = _TOKEN.match(self.text, self.at)
        at = "the condition ends here" if got is None else f'the condition has "{got[0]:.40}" here'
        return self.mistake(f"{at}: expected {what}, as in {example}")

    def mistake(self, sentence: str, at: int | None = None) -> PredicateRefused:
        """Return an error at an offset; ``None``: at the current place."""
        return PredicateRefused(sentence, offset=self.at if at is None else at)


def type_of(operand: Operand) -> str:
    """Return the type that an operand is compared as."""
    if "type" in operand:
        return str(operand["type"])
    return {bool: "Boolean", int: "Int", float: "Float", str: "String"}[type(operand["value"])]
