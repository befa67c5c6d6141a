r"""Parse the conditions of access policies to the trees that ``handler/policy/evaluation.py`` evaluates.

    or         = and *("||" and)
    and        = not *("&&" not)
    not        = "!" not / "(" or ")" / existence / comparison
    existence  = "?$jwt" ["." path] / "?$variables." path
    comparison = operand [("<" / "<=" / "==" / "!=" / ">" / ">=" / "has") operand]
    operand    = literal / "$jwt." path ":" type / "$variables." path ":" type
    literal    = "true" / "false" / number / text in single or double quotes, in which \ escapes the quote and itself
    type       = "Int" / "Float" / "Boolean" / "String"

An operand alone is a predicate if it is Boolean. The left side of ``has`` is a list, typed as its items are.
The path of a claim has names joined by ``.``, ``/`` or ``:``, or in quotes. A colon in front of a type ends it, any
other colon belongs to it: ``$jwt.cognito:groups:String``. A dot precedes a name in quotes and the name after it:
``$jwt."https://example.com/roles":String``. The call decides where dots and slashes split a claim's path, by the
claims. The path of a variable has GraphQL names joined by dots.

Source: IBM API Connect for GraphQL, "Using field policies". Parentheses, ``!`` and escapes are ours.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from handler.compiler.problems import Place, Problems
from handler.errors.authoring import PredicateRefused
from handler.policy.predicates import Predicate
from handler.text.sentences import did_you_mean

MAX_CHARS = 4_000
MAX_NESTING = 50
"""Levels of nested parentheses and ``!``."""

NUMBERS = ("Int", "Float")
ORDERS = ("<", "<=", ">", ">=")

_OPERATOR = re.compile(r"<=|>=|==|!=|<|>|has(?!\w)")

MAX_NAMES = 32
"""Names in one path."""

TYPES = ("Int", "Float", "Boolean", "String")

Operand = dict[str, Any]

_BLANKS = " \t\r\n"
_TYPE_END = rf":(?:{'|'.join(TYPES)})(?![\w-]|[./][\w-])"
_CLAIM = re.compile(rf"[\w-]+(?:(?!{_TYPE_END})[./:][\w-]+)*")
_REST_OF_URL = re.compile(rf"://[\w-]+(?:(?!{_TYPE_END})[./:][\w-]+)*")
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


def parse_predicate(text: str, place: Callable[[int], Place], problems: Problems) -> Predicate | None:
    """Parse a condition to its tree; report its first mistake and return ``None`` if it is invalid.

    ``place`` maps an offset (from 0) in the text to a place. Literals, nested ``and`` or ``or`` and ``!!`` are folded;
    everything else stays in the author's order.
    """
    try:
        return _Parser(text).whole()
    except PredicateRefused as exc:
        problems.add(place(exc.offset), str(exc), code="invalid-condition")
        return None


class _Parser:
    """Recursive descent over one text. Its place moves on as parts of the text are read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self._depth = 0

    def whole(self) -> Predicate:
        if len(self.text) > MAX_CHARS:
            raise self.mistake(f"the condition has {len(self.text):,} characters: expected {MAX_CHARS:,} at most")
        if not self.rest():
            raise self.mistake('there is no condition: expected one, such as true or $jwt.role:String == "admin"', 0)
        predicate = self._or()
        if self.rest():
            raise self.unexpected("&&, || or the end", '?$jwt && $jwt.role:String == "admin"')
        return predicate

    def _or(self) -> Predicate:
        return self._joined("or", "||", self._and)

    def _and(self) -> Predicate:
        return self._joined("and", "&&", self._not)

    def _joined(self, kind: str, token: str, parse: Callable[[], Predicate]) -> Predicate:
        """Join predicates by ``and`` or ``or``, without neutral literals. One deciding literal replaces all."""
        parts = [parse()]
        while self.took(token):
            parts.append(parse())
        deciding = {"literal": kind == "or"}
        flat = [each for part in parts for each in part.get(kind, [part])]
        if deciding in flat:
            return deciding
        others = [each for each in flat if "literal" not in each] or [{"literal": kind == "and"}]
        return others[0] if len(others) == 1 else {kind: others}

    def _not(self) -> Predicate:
        if self.took("!"):
            inner = self._nested(self._not)
            if "literal" in inner:
                return {"literal": not inner["literal"]}
            return dict(inner["not"]) if "not" in inner else {"not": inner}
        if self.took("("):
            predicate = self._nested(self._or)
            if not self.took(")"):
                raise self.unexpected("&&, || or )", "(?$jwt || ?$variables.key)")
            return predicate
        if not self.took("?"):
            return self._comparison()
        self.skip_blanks()
        operand = self.variable(typed=False)
        if _TYPE.match(self.text, self.at):
            self.skip_blanks()
            raise self.mistake("the condition has a type here: expected no type after ?, as in ?$jwt.role")
        return {"exists": operand}

    def _nested(self, parse: Callable[[], Predicate]) -> Predicate:
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise self.mistake(
                f"the condition is nested too deeply here: expected {MAX_NESTING} levels of ( and ! at most"
            )
        result = parse()
        self._depth -= 1
        return result

    def _comparison(self) -> Predicate:
        left = self.operand()
        self.skip_blanks()
        operator = _OPERATOR.match(self.text, self.at)
        if operator is None:  # a predicate if it is Boolean
            if compared_type(left) != "Boolean":
                expected = f"one of < <= == != > >= has after this {compared_type(left)}"
                raise self.unexpected(expected, '$jwt.role:String == "admin"')
            if "value" in left:
                return {"literal": left["value"]}
            return {"compare": "==", "left": left, "right": {"value": True}}
        self.at = operator.end()
        self.skip_blanks()
        right = self.operand()
        if mistake := _misfit(left, operator[0], right):
            raise self.mistake(mistake, operator.start())
        if operator[0] == "has":
            return {"has": left, "value": right}
        return {"compare": operator[0], "left": left, "right": right}

    def operand(self) -> Operand:
        """Read a literal, or a variable with its type."""
        text = self.rest()
        if text.startswith("$"):
            start = self.at
            operand = self.variable(typed=True)
            return operand | {"type": self._type(start)}
        if text.startswith(("'", '"')):
            return {"value": self._quoted()}
        if match := _BOOLEAN.match(self.text, self.at):
            self.at = match.end()
            return {"value": match[0] == "true"}
        if match := _NUMBER.match(self.text, self.at):
            value = float(match[0]) if match[1] or match[2] else int(match[0])
            if isinstance(value, float) and not math.isfinite(value):
                raise self.mistake(f"the number {match[0]:.20} is too large: expected one of up to 1.7e308 in size")
            self.at = match.end()
            return {"value": value}
        raise self.unexpected("true, false, a text, a number or a variable", '$jwt.role:String == "admin"')

    def _quoted(self) -> str:
        quote = self._next()
        match = _QUOTED[quote].match(self.text, self.at)
        if match is None:
            raise self.mistake(
                f"a text begins here and has no end: expected a closing {quote}, as in {quote}admin{quote}"
            )
        if match[2] != quote:
            sentence = f"{match[2]} is not an escape here: expected \\{quote} or \\\\ where a backslash is"
            raise self.mistake(sentence, match.start(2))
        self.at = match.end()
        return _ESCAPE.sub(r"\1", match[1])

    def variable(self, *, typed: bool) -> Operand:
        """Read a variable's root and path. With a type, the path is required; ``?$jwt`` may stand alone."""
        match = _ROOT.match(self.text, self.at)
        if match is None or match[0] not in ("$jwt", "$variables"):
            raise self.unexpected("$jwt or $variables", '$jwt.role:String == "admin"' if typed else "?$jwt.role")
        root, self.at = match.start(), match.end()
        start = self.at
        if match[0] == "$variables":
            match = _VARIABLE.match(self.text, self.at + 1) if self._next() == "." else None
            if match is None:
                expected = "a dot and the name of a variable right after $variables"
                raise self.unexpected(expected, "$variables.userId:String")
            self.at = match.end()
            names = match[0].split(".")
            operand: Operand = {"variables": names}
        else:
            path: list[str] = []
            while self._next() == "." or (typed and not path):
                path.append(self._claim_name())
            if url := _REST_OF_URL.match(self.text, self.at):
                raise self.mistake(f'a claim named by a URL needs quotes, as in $jwt."{path[-1]}{url[0]:.80}"', root)
            names = [name for text in path for name in _SEPARATOR.split(text)]
            operand = {"jwt": path}
        if len(names) > MAX_NAMES:
            raise self.mistake(f"this path has {len(names)} names: expected {MAX_NAMES} at most", start)
        return operand

    def _claim_name(self) -> str:
        if self._next() == ".":
            self.at += 1
            if self._next() in ("'", '"'):
                return self._quoted()
            if match := _CLAIM.match(self.text, self.at):
                self.at = match.end()
                return match[0]
            self.at -= 1
        raise self.unexpected(
            "a dot and the name of a claim right after it", '$jwt.role:String or $jwt."https://example.com/role":String'
        )

    def _type(self, start: int) -> str:
        """Read the type behind a variable that begins at ``start``."""
        match = _TYPE.match(self.text, self.at)
        if match and match[1] in TYPES:
            self.at = match.end()
            return match[1]
        variable = self.text[start : self.at]
        wrong, at = (match[1], match.start(1)) if match else ("", start)
        if not match and ":" in variable:  # an unknown type was read as a part of the name
            wrong = variable.rpartition(":")[2]
            at = self.at - len(wrong)
        expected = "expected :Int, :Float, :Boolean or :String after it, as in $jwt.role:String"
        sentence = f'"{variable:.80}" has no type' + (f' ("{wrong:.40}" is not a type)' if wrong else "")
        raise self.mistake(f"{sentence}: {expected}{did_you_mean(wrong, TYPES) if wrong else ''}", at)

    def took(self, token: str) -> bool:
        """Step over a token if it is next, and return whether it was."""
        self.skip_blanks()
        is_there = self.text.startswith(token, self.at)
        if is_there:
            self.at += len(token)
        return is_there

    def rest(self) -> str:
        """Return the text that is left, without blanks in front."""
        self.skip_blanks()
        return self.text[self.at :]

    def _next(self) -> str:
        return self.text[self.at : self.at + 1]

    def skip_blanks(self) -> None:
        rest = self.text[self.at :]
        self.at += len(rest) - len(rest.lstrip(_BLANKS))

    def unexpected(self, expected: str, example: str) -> PredicateRefused:
        """Return an error that quotes the next token and names the expected one."""
        self.skip_blanks()
        got = _TOKEN.match(self.text, self.at)
        at = "the condition ends here" if got is None else f'the condition has "{got[0]:.40}" here'
        return self.mistake(f"{at}: expected {expected}, as in {example}")

    def mistake(self, sentence: str, at: int | None = None) -> PredicateRefused:
        """Return an error at an offset; ``None``: at the current place."""
        return PredicateRefused(sentence, offset=self.at if at is None else at)


def _misfit(left: Operand, operator: str, right: Operand) -> str:
    """Return why two operands cannot be compared; an empty string if they can."""
    if operator == "has" and "value" in left:
        return 'a literal has no items: expected a variable before has, as in $jwt.roles:String has "admin"'
    if "value" in left and "value" in right:
        return "two literals always compare alike: expected a variable on one side, as in $jwt.level:Int >= 5"
    one, other = compared_type(left), compared_type(right)
    if one != other and not {one, other} <= set(NUMBERS):
        return f"{one} and {other} can never be equal: expected one type on both sides, as in $jwt.level:Int >= 5"
    if one == "Boolean" and operator in ORDERS:
        return "Booleans have no order: expected == or !=, as in $jwt.admin:Boolean == true"
    return ""


def compared_type(operand: Operand) -> str:
    """Return the type that an operand is compared as."""
    if "type" in operand:
        return str(operand["type"])
    return {bool: "Boolean", int: "Int", float: "Float", str: "String"}[type(operand["value"])]
