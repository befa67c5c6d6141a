"""Conditions of access policies: which tree a text becomes, and what is said of one that has a mistake."""

from __future__ import annotations

import json
from typing import Any

import pytest

from handler.compiler.access.predicate_parser import MAX_CHARS, MAX_NAMES, MAX_NESTING, parse_predicate
from handler.compiler.problems import Place, Problems
from handler.errors.authoring import Problem
from handler.policy.predicates import Predicate
from tests.support.predicates import place_in_one_line, predicate_of

ROLE = {"jwt": ["role"], "type": "String"}
ADMIN = {"compare": "==", "left": ROLE, "right": {"value": "admin"}}
TOKEN: Predicate = {"exists": {"jwt": []}}
KEY = {"exists": {"variables": ["key"]}}


def claim(path: list[str], type_: str = "String") -> dict[str, Any]:
    return {"jwt": path, "type": type_}


def variable(path: list[str], type_: str = "String") -> dict[str, Any]:
    return {"variables": path, "type": type_}


def equal(left: Any, right: Any, sign: str = "==") -> dict[str, Any]:
    return {"compare": sign, "left": left, "right": right}


def problem_of(text: str) -> Problem:
    """The one problem of a condition."""
    problems = Problems()
    assert parse_predicate(text, place_in_one_line, problems) is None
    (problem,) = problems.error().problems
    assert (problem.file, problem.line) == ("condition", 1)
    return problem


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("true", {"literal": True}),
        (" false\n", {"literal": False}),
        ("?$jwt", TOKEN),
        ("? $jwt", TOKEN),
        ("?$jwt.role", {"exists": {"jwt": ["role"]}}),
        ("?$jwt.CUSTOM/bar", {"exists": {"jwt": ["CUSTOM/bar"]}}),
        ("?$jwt.cognito:groups", {"exists": {"jwt": ["cognito:groups"]}}),
        ("?$variables.key", KEY),
        ("?$variables.where.id", {"exists": {"variables": ["where", "id"]}}),
        ('$jwt.role:String == "admin"', ADMIN),
        ("$jwt.role:String=='admin'", ADMIN),
        ('"admin" == $jwt.role:String', equal({"value": "admin"}, ROLE)),
        ("$jwt.sub:String == $variables.userId:String", equal(claim(["sub"]), variable(["userId"]))),
        ("$jwt.roles:String has 'admin'", {"has": claim(["roles"]), "value": {"value": "admin"}}),
        ("$jwt.a:Int has $variables.b:Int", {"has": claim(["a"], "Int"), "value": variable(["b"], "Int")}),
        ("$variables.ids:String has $jwt.sub:String", {"has": variable(["ids"]), "value": claim(["sub"])}),
        ("$jwt.admin:Boolean", equal(claim(["admin"], "Boolean"), {"value": True})),
        ("$jwt.admin:Boolean == false", equal(claim(["admin"], "Boolean"), {"value": False})),
        ("$jwt.a:Boolean != $jwt.b:Boolean", equal(claim(["a"], "Boolean"), claim(["b"], "Boolean"), "!=")),
        ("$jwt.level:Int == 1.5", equal(claim(["level"], "Int"), {"value": 1.5})),
        ("!$jwt.role:String == \"admin\"", {"not": ADMIN}),
        ("! ( ?$jwt )", {"not": TOKEN}),
    ],
)  # fmt: skip
def test_each_form_has_its_tree(text: str, tree: dict[str, Any]) -> None:
    assert predicate_of(text) == tree


@pytest.mark.parametrize("sign", ["<", "<=", "==", "!=", ">", ">="])
@pytest.mark.parametrize("blank", ["", " ", "\n\t"])
def test_signs_stand_with_blanks_or_without(sign: str, blank: str) -> None:
    text = f"$jwt.level:Int{blank}{sign}{blank}-5"

    assert predicate_of(text) == equal(claim(["level"], "Int"), {"value": -5}, sign)


@pytest.mark.parametrize("separator", [":", " :", ": ", " : ", ":\n "])
def test_blanks_may_stand_around_the_colon_of_a_type(separator: str) -> None:
    assert predicate_of(f'$jwt.role{separator}String == "admin"') == ADMIN


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("role", ["role"]),
        ("CUSTOM_CLAIM.level", ["CUSTOM_CLAIM.level"]),
        ("CUSTOM/groups", ["CUSTOM/groups"]),
        ("a.b/c.d", ["a.b/c.d"]),
        ("x-hasura-role", ["x-hasura-role"]),
        ("_1", ["_1"]),
        ("0", ["0"]),
        ("größe.日本", ["größe.日本"]),
        ("cognito:groups", ["cognito:groups"]),
        ("urn:example:roles", ["urn:example:roles"]),
        ("Int", ["Int"]),
        ("Int.String", ["Int.String"]),
        ("a:Int.b", ["a:Int.b"]),  # the colon ends a path only in front of a whole type
        ("a:Int/b", ["a:Int/b"]),
        ("a:Integer", ["a:Integer"]),
        ("a:String-b", ["a:String-b"]),
        ('"https://example.com/roles"', ["https://example.com/roles"]),
        ("'two words'", ["two words"]),
        (r'"a \" \\ b"', ['a " \\ b']),
        ('""', [""]),
        ('"a:String"', ["a:String"]),
        ('app."https://example.com/".roles.list', ["app", "https://example.com/", "roles.list"]),
        ('a."b"."c"', ["a", "b", "c"]),
    ],
)
def test_path_of_a_claim_is_texts_and_ends_at_the_type(text: str, path: list[str]) -> None:
    assert predicate_of(f'$jwt.{text}:String == "x"') == equal(claim(path), {"value": "x"})
    assert predicate_of(f'$jwt.{text} : String == "x"') == equal(claim(path), {"value": "x"})
    assert predicate_of(f"?$jwt.{text}") == {"exists": {"jwt": path}}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("-12", -12),
        ("007", 7),
        ("9" * 40, int("9" * 40)),
        ("1.0", 1.0),
        ("-0.25", -0.25),
        ("1e3", 1000.0),
        ("1.5E-2", 0.015),
    ],
)
def test_numbers_are_integers_unless_they_have_a_fraction_or_an_exponent(text: str, value: float) -> None:
    right = predicate_of(f"$jwt.level:Float >= {text}")["right"]["value"]

    assert (right, type(right)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('""', ""),
        ("'it is \"so\"'", 'it is "so"'),
        ('"it\'s"', "it's"),
        (r'"\"\\"', '"\\'),
        (r"'\'\\'", "'\\"),
        (r"'\\n'", r"\n"),
        ("'&& || ) $jwt'", "&& || ) $jwt"),
        ("'日本 🎉'", "日本 🎉"),
        ("'a\n b'", "a\n b"),
    ],
)
def test_texts_stand_in_either_quote_and_escape_it(text: str, value: str) -> None:
    assert predicate_of(f"$jwt.role:String == {text}") == equal(ROLE, {"value": value})


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("?$jwt && ?$variables.key", {"and": [TOKEN, KEY]}),
        ("?$variables.key && ?$jwt", {"and": [KEY, TOKEN]}),
        ("?$jwt&&?$variables.key||?$jwt", {"or": [{"and": [TOKEN, KEY]}, TOKEN]}),
        ("?$jwt || ?$variables.key && ?$jwt", {"or": [TOKEN, {"and": [KEY, TOKEN]}]}),
        ("(?$jwt || ?$variables.key) && ?$jwt", {"and": [{"or": [TOKEN, KEY]}, TOKEN]}),
        ("!?$jwt && ?$variables.key", {"and": [{"not": TOKEN}, KEY]}),
        ("!(?$jwt && ?$variables.key)", {"not": {"and": [TOKEN, KEY]}}),
        ("!?$jwt || !?$variables.key", {"or": [{"not": TOKEN}, {"not": KEY}]}),
    ],
)
def test_and_binds_closer_than_or_and_not_closest(text: str, tree: dict[str, Any]) -> None:
    assert predicate_of(text) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("true && ?$jwt", TOKEN),
        ("?$jwt && true && true", TOKEN),
        ("?$jwt && false", {"literal": False}),
        ("?$jwt || true", {"literal": True}),
        ("false || ?$jwt", TOKEN),
        ("true && true", {"literal": True}),
        ("false || false", {"literal": False}),
        ("!false", {"literal": True}),
        ("!true || ?$jwt", TOKEN),
        ("!!?$jwt", TOKEN),
        ("!(!(?$jwt))", TOKEN),
        ("!!!?$jwt", {"not": TOKEN}),
        ("((?$jwt))", TOKEN),
        ("?$jwt && (?$variables.key && !?$jwt)", {"and": [TOKEN, KEY, {"not": TOKEN}]}),
        ("(?$jwt || ?$variables.key) || !?$jwt", {"or": [TOKEN, KEY, {"not": TOKEN}]}),
        ("?$jwt && (true || ?$variables.key)", TOKEN),
        ("?$jwt && !!(?$variables.key && ?$jwt)", {"and": [TOKEN, KEY, TOKEN]}),
    ],
)
def test_what_literals_decide_is_folded(text: str, tree: dict[str, Any]) -> None:
    assert predicate_of(text) == tree


def test_condition_may_be_as_long_and_as_deep_as_the_limits() -> None:
    deep = "(" * (MAX_NESTING - 1) + "!?$jwt" + ")" * (MAX_NESTING - 1)
    alternating = "(?$jwt || ?$variables.key && " * MAX_NESTING + "?$jwt" + ")" * MAX_NESTING

    assert predicate_of(deep) == {"not": TOKEN}
    assert predicate_of("?$jwt".ljust(MAX_CHARS)) == TOKEN
    assert "or" in predicate_of(alternating)
    assert len(predicate_of(" && ".join(["!(?$jwt)"] * 100))["and"]) == 100
    assert predicate_of(f"?$jwt{'.a' * MAX_NAMES}") == {"exists": {"jwt": [".".join("a" * MAX_NAMES)]}}


def test_trees_are_json() -> None:
    tree = predicate_of('(?$jwt || !?$variables.a.b) && $jwt."x y".z:Float <= 1.5 && $jwt.roles:String has "a"')

    assert json.loads(json.dumps(tree)) == tree


MISTAKES = {
    "untyped": ('?$jwt && $jwt.role == "x"', 10, '"$jwt.role" has no type: expected :Int, :Float, :Boolean or :String'),
    "untyped variable": ("$variables.id == 1", 1, '"$variables.id" has no type: expected :Int, '),
    "untyped at the end": ('$jwt."a b"', 1, '"$jwt."a b"" has no type: expected :Int, '),
    "unknown type": ("$jwt.role: Strng == 'x'", 12, '"$jwt.role" has no type ("Strng" is not a type): expected :Int, '),
    "type in lower case": ("$jwt.level:int == 5", 12, '"$jwt.level:int" has no type ("int" is not a type): exp'),
    "list type": ("$jwt.roles:[String] has 'x'", 12, '"$jwt.roles" has no type: expected :Int, :Float, '),
    "colon in a name only": ("$jwt.cognito:groups has 'x'", 14, '"$jwt.cognito:groups" has no type ("groups" is not a'),
    "second type": ("$jwt.a:String:String == 'x'", 14, 'the condition has ":String" here: expected one of < <='),
    "typed existence": ("?$jwt.role:String", 11, "the condition has a type here: expected no type after ?, "),
    "existence of a type later": ("?$jwt.a.b : Int", 11, "the condition has a type here: expected no type after ?, "),
    "existence of nothing": ("? && true", 3, 'the condition has "&&" here: expected $jwt or $variables, as in ?$jwt.r'),
    "existence of a literal": ("?true", 2, 'the condition has "true" here: expected $jwt or $variables'),
    "existence of all variables": ("?$variables", 12, "the condition ends here: expected a dot and the name of a var"),
    "unknown root": ("true || $headers.a:Int > 1", 9, 'the condition has "$headers.a:Int" here: expected $jwt or $var'),
    "longer root": ("?$jwts", 2, 'the condition has "$jwts" here: expected $jwt or $variables'),
    "all claims": ("$jwt == 'x'", 6, 'the condition has "==" here: expected a dot and the name of a claim right aft'),
    "typed root": ("$jwt:String == 'x'", 5, 'the condition has ":String" here: expected a dot and the name of a claim'),
    "slash behind the root": ("?$jwt/a", 6, 'the condition has "/" here: expected &&, || or the end, as in ?$jwt &&'),
    "empty name": ("$jwt..a:Int == 1", 5, 'the condition has "..a:Int" here: expected a dot and the name of a claim'),
    "dot at the end": ("$jwt.a.:Int == 1", 7, 'the condition has ".:Int" here: expected a dot and the name of a claim'),
    "name of a variable": ("$variables.1:Int == 1", 11, 'the condition has ".1:Int" here: expected a dot and the name'),
    "quoted variable": ('?$variables."a"', 12, 'the condition has "." here: expected a dot and the name of a variable'),
    "String with Int": ("$jwt.role:String == 5", 18, "String and Int can never be equal: expected one type on both si"),
    "Boolean with String": ("$jwt.a:Boolean == 'true'", 16, "Boolean and String can never be equal: expected one type"),
    "Int with Boolean": ("1 != $jwt.a:Boolean", 3, "Int and Boolean can never be equal: expected one type on both s"),
    "variables of two types": ("$jwt.a:String < $variables.a:Float", 15, "String and Float can never be equal: expec"),
    "item of another type": ("$jwt.a:String has 5", 15, "String and Int can never be equal: expected one type on both"),
    "order of Booleans": ("$jwt.a:Boolean < true", 16, "Booleans have no order: expected == or !=, as in $jwt.admin:"),
    "two literals": ("?$jwt && 1 == 1", 12, "two literals always compare alike: expected a variable on one side"),
    "literal with items": ("'ab' has 'a'", 6, "a literal has no items: expected a variable before has, as"),
    "text alone": ("true || $jwt.a:String", 22, "the condition ends here: expected one of < <= == != > >= has after"),
    "literal alone": ("5 && ?$jwt", 3, 'the condition has "&&" here: expected one of < <= == != > >= has after this'),
    "one = sign": ("$jwt.a:Int = 5", 12, 'the condition has "=" here: expected one of < <= == != > >= has after'),
    "one & sign": ("?$jwt & true", 7, 'the condition has "&" here: expected &&, || or the end, as in ?$jwt && '),
    "one | sign": ("?$jwt | true", 7, 'the condition has "|" here: expected &&, || or the end, as in ?$jwt && '),
    "and in words": ("?$jwt and true", 7, 'the condition has "and" here: expected &&, || or the end, as in ?$jwt &&'),
    "garbage": ("true false", 6, 'the condition has "false" here: expected &&, || or the end, as in ?$jwt && $jwt.r'),
    "comparison of a comparison": ("1 < $jwt.a:Int < 5", 16, 'the condition has "<" here: expected &&, || or the end'),
    "nothing behind a sign": ("$jwt.a:Int ==", 14, "the condition ends here: expected true, false, a text, a number"),
    "nothing behind &&": ("?$jwt && ", 10, "the condition ends here: expected true, false, a text, a number or a vari"),
    "nothing behind !": ("!", 2, "the condition ends here: expected true, false, a text, a number or a variable, as"),
    "nothing in parentheses": ("()", 2, 'the condition has ")" here: expected true, false, a text, a number or a var'),
    "unclosed": ("(?$jwt && true", 15, "the condition ends here: expected &&, || or ), as in (?$jwt || ?$variables.k"),
    "unopened": ("?$jwt) && true", 6, 'the condition has ")" here: expected &&, || or the end, as in ?$jwt && $jwt.'),
    "unclosed text": ("$jwt.a:String == 'x && true", 18, "a text begins here and has no end: expected a closing '"),
    "text closed by an escape": (r'$jwt.a:String == "x\"', 18, 'a text begins here and has no end: expected a clos'),
    "text ending in a backslash": ("$jwt.a:String == 'x\\", 18, "a text begins here and has no end: expected a clo"),
    "escape": (r'$jwt.a:String == "a\nb"', 20, r"\n is not an escape here: expected \" or \\ where a"),
    "escape of the other quote": (r'$jwt.a:String == "a\'b"', 20, r"\' is not an escape here: expected \" or \\"),
    "text that ends early": ("?$jwt.'a'b", 10, 'the condition has "b" here: expected &&, || or the end, as in ?$jwt'),
    "number and letters": ("$jwt.a:Int > 5px", 14, 'the condition has "5px" here: expected true, false, a text, a nu'),
    "two points": ("$jwt.a:Float > 1.2.3", 16, 'the condition has "1.2.3" here: expected true, false, a text, a nu'),
    "point at the end": ("$jwt.a:Float > 1.", 16, 'the condition has "1." here: expected true, false, a text, a numb'),
    "infinite": ("$jwt.a:Float > 1e999", 16, "the number 1e999 is too large: expected one of up to 1.7e308 in size"),
    "strange character": ("?$jwt && ☃", 10, 'the condition has "☃" here: expected true, false, a text, a number or a'),
    "nested too deeply": ("(" * 51 + "true" + ")" * 51, 52, "the condition is nested too deeply here: expected 50 le"),
    "negated too often": ("!" * 1000 + "true", 52, "the condition is nested too deeply here: expected 50 levels of ("),
    "too long": ("?$jwt" + " " * 3_996, 1, "the condition has 4,001 characters: expected 4,000 at most"),
    "too many names": (f"true || ?$jwt{'.a' * 33}", 14, "this path has 33 names: expected 32 at most"),
    "too many parts of names": (f"?$jwt{'.a/b' * 17}", 6, "this path has 34 names: expected 32 at mo"),
    "too many input fields": (f"?$variables{'.a' * 33}", 12, "this path has 33 names: expected 32 at most"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake_is_told_where_it_is_with_what_was_expected(name: str) -> None:
    text, column, sentence = MISTAKES[name]
    problem = problem_of(text)

    assert (problem.column, problem.sentence[: len(sentence)]) == (column, sentence)


def test_type_that_is_near_to_a_known_one_is_suggested() -> None:
    assert problem_of("$jwt.role: Strng == 'x'").sentence == (
        '"$jwt.role" has no type ("Strng" is not a type): expected :Int, :Float, :Boolean or :String after it, '
        "as in $jwt.role:String; did you mean String?"
    )


def test_first_of_several_mistakes_is_told() -> None:
    assert problem_of("$jwt.a == 1 && $jwt.b == 2 && (").column == 1


@pytest.mark.parametrize(
    "text",
    [
        "?$jwt && $jwt.https://a.b/roles:String has 'x'",
        "?$jwt && ?$jwt.https://a.b/roles",
        "?$jwt && ($jwt.https://a.b/roles:Int > 1)",
    ],
)
def test_claim_named_by_a_url_is_shown_in_quotes(text: str) -> None:
    problems = Problems()

    assert parse_predicate(text, lambda offset: Place("c", 1, offset), problems) is None
    (problem,) = problems.errors
    assert problem.column == text.index("$jwt.https")
    assert '$jwt."https://a.b/roles"' in problem.sentence
