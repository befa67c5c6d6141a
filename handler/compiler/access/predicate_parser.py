r"""Parse the conditions of access policies to the trees that ``handler/policy/evaluation.py`` evaluates.

    or         = and *("||" and)
    and        = not *("&&" not)
    not        = "!" not / "(" or ")" / existence / comparison
    existence  = "?$jwt" ["." path] / "?$variables." path
    comparison = operand [("<" / "<=" / "==" / "!=" / ">" / ">=" / "has") operand]

An operand alone is a predicate if it is Boolean. The left side of ``has`` is a list, typed as its items are.
``operand_parser.py`` has the grammar of operands and paths.

Source: IBM API Connect for GraphQL, "Using field policies". Parentheses and ``!`` are ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from handler.compiler.access.operand_parser import Operand, OperandParser, type_of
from handler.compiler.problems import Place, Problems
from handler.errors.authoring import PredicateRefused
from handler.policy.predicates import Predicate

MAX_CHARS = 4_000
MAX_NESTING = 50
"""Levels of nested parentheses and ``!``."""

NUMBERS = ("Int", "Float")
ORDERS = ("<", "<=", ">", ">=")

_OPERATOR = re.compile(r"<=|>=|==|!=|<|>|has(?!\w)")


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


class _Parser(OperandParser):
    """Recursive descent over one text."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0

    def whole(self) -> Predicate:
        if len(self.text) > MAX_CHARS:
            raise self.mistake(f"the condition has {len(self.text):,} characters: expected {MAX_CHARS:,} at most")
        if not self.rest():
            raise self.mistake('there is no condition: expected one, such as true or $jwt.role:String == "admin"', 0)
        found = self._or()
        if self.rest():
            raise self.unexpected("&&, || or the end", '?$jwt && $jwt.role:String == "admin"')
        return found

    def _or(self) -> Predicate:
        parts = [self._and()]
        while self.took("||"):
            parts.append(self._and())
        return _joined("or", parts)

    def _and(self) -> Predicate:
        parts = [self._not()]
        while self.took("&&"):
            parts.append(self._not())
        return _joined("and", parts)

    def _not(self) -> Predicate:
        if self.took("!"):
            return _negated(self._nested(self._not))
        if self.took("("):
            found = self._nested(self._or)
            if not self.took(")"):
                raise self.unexpected("&&, || or )", "(?$jwt || ?$variables.key)")
            return found
        return self._existence() if self.took("?") else self._comparison()

    def _nested(self, parse: Callable[[], Predicate]) -> Predicate:
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise self.mistake(
                f"the condition is nested too deeply here: expected {MAX_NESTING} levels of ( and ! at most"
            )
        found = parse()
        self._depth -= 1
        return found

    def _existence(self) -> Predicate:
        self.skip_blanks()
        operand = self.variable(typed=False)
        if self.has_type():
            self.skip_blanks()
            raise self.mistake("the condition has a type here: expected no type after ?, as in ?$jwt.role")
        return {"exists": operand}

    def _comparison(self) -> Predicate:
        left = self.operand()
        self.skip_blanks()
        operator = _OPERATOR.match(self.text, self.at)
        if operator is None:
            return self._alone(left)
        self.at = operator.end()
        self.skip_blanks()
        right = self.operand()
        if mistake := _misfit(left, operator[0], right):
            raise self.mistake(mistake, operator.start())
        if operator[0] == "has":
            return {"has": left, "value": right}
        return {"compare": operator[0], "left": left, "right": right}

    def _alone(self, operand: Operand) -> Predicate:
        type_ = type_of(operand)
        if type_ != "Boolean":
            example = '$jwt.role:String == "admin"'
            raise self.unexpected(f"one of < <= == != > >= has after this {type_}", example)
        if "value" in operand:
            return {"literal": operand["value"]}
        return {"compare": "==", "left": operand, "right": {"value": True}}


def _misfit(left: Operand, operator: str, right: Operand) -> str:
    """Return why two operands cannot be compared; an empty string if they can."""
    if operator == "has" and "value" in left:
        return 'a literal has no items: expected a variable before has, as in $jwt.roles:String has "admin"'
    if "value" in left and "value" in right:
        return "two literals always compare alike: expected a variable on one side, as in $jwt.level:Int >= 5"
    one, other = type_of(left), type_of(right)
    if one != other and not {one, other} <= set(NUMBERS):
        return f"{one} and {other} can never be equal: expected one type on both sides, as in $jwt.level:Int >= 5"
    if one == "Boolean" and operator in ORDERS:
        return "Booleans have no order: expected == or !=, as in $jwt.admin:Boolean == true"
    return ""


def _negated(predicate: Predicate) -> Predicate:
    match predicate:
        case {"literal": value}:
            return {"literal": not value}
        case {"not": inner}:
            return dict(inner)
        case _:
            return {"not": predicate}


def _joined(kind: str, parts: list[Predicate]) -> Predicate:
    """Join predicates by ``and`` or ``or``, without neutral literals. One deciding literal replaces all."""
    deciding = {"literal": kind == "or"}
    flat = [each for part in parts for each in part.get(kind, [part])]
    if deciding in flat:
        return deciding
    left = [each for each in flat if "literal" not in each]
    if not left:
        return {"literal": kind == "and"}
    return left[0] if len(left) == 1 else {kind: left}
