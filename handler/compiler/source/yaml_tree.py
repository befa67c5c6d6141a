"""Parse YAML to a tree of nodes whose marks have their places, and convert parts of it to JSON values.

Documents are not converted to Python values as a whole, so repeated aliases do not take memory.
Source: YAML 1.2.2, section 10.3.2 (core schema: ``5`` is a number, ``"5"`` and ``yes`` are texts).
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import yaml
from graphql import Source

from handler.compiler.problems import Place, Problems, place_in

TWICE: Mapping[str | None, str] = {None: "", "'": "'", '"': '"\\'}
"""Style of a scalar on one line -> the characters that take two in the file."""

SPECIAL = tuple("?@`%|>!&*")
"""Characters at whose begin YAML reads a text as something else."""

SPECIAL_FAULTS = ("found character", "found undefined", "expected the node content")
"""Beginnings of the parser's problems with such a text. Some of them show a part of it, which may be a secret."""

CONDITION = re.compile(r"\?\$(jwt|variables)[\w.]*")
"""The beginning of a condition that tells if a claim or variable is there."""

REMEDIES: Mapping[str, str] = {
    "could not find expected ':'": ": a key lacks its colon here, or in the line above",
    "mapping values are not allowed": ': a text with ": " in it needs quotes, and keys equal indentation',
    "expected ' ', but found": ": a text that begins with ! needs quotes",
    "expected alphabetic or numeric character": ": put the whole text into quotes",
    "expected <block end>, but found '<scalar>'": ": put the whole text of a value into quotes",
    "expected <block end>, but found '?'": ": the list above has the level of this key; indent it as far as an entry",
    "expected <block end>, but found '-'": ": the keys above have the level of this entry; indent it below its key",
    "expected <block end>, but found '<block": ": no line above has this indentation; indent it as far as its level",
}
"""Beginning of a problem of the parser -> the way to mend it."""


def parse_yaml(text: str, file: str, problems: Problems) -> yaml.MappingNode | None:
    """Parse the top mapping of a file; ``None`` if the file is empty, or after reporting that it is invalid."""
    node = _parse(text, file, problems)
    if node is not None and not isinstance(node, yaml.MappingNode):
        problems.add(node_place(node), "expected a mapping of keys to values", code="invalid-value")
        return None
    return node


def parse_yaml_list(text: str, file: str, problems: Problems, *, key: str) -> yaml.MappingNode | None:
    """Parse the top list of a file, and return it below a key; ``None`` as above."""
    node = _parse(text, file, problems)
    if node is None:
        return None
    if not isinstance(node, yaml.SequenceNode):
        problems.add(node_place(node), "expected a list, with - before each entry", code="invalid-value")
        return None
    name = yaml.ScalarNode("", key, node.start_mark)
    return yaml.MappingNode("", [(name, node)], node.start_mark, node.end_mark)


def _parse(text: str, file: str, problems: Problems) -> yaml.Node | None:
    """Parse a file with one value; ``None`` if it is empty, or after reporting that it is invalid."""
    stream = io.StringIO(text)
    stream.name = file  # marks carry the name of their stream
    try:
        node = yaml.compose(stream, Loader=yaml.SafeLoader)
        _check_nodes(node, problems)
    except yaml.reader.ReaderError as exc:
        at, sentence = place_in(Source(text, file), exc.position), f"U+{exc.character:04X} is not allowed in YAML"
    except yaml.MarkedYAMLError as exc:
        at = mark_place(exc.problem_mark) if exc.problem_mark else Place(file)
        sentence = f"invalid YAML: {_sentence(exc, text)}"
    except (ValueError, OverflowError):
        at, sentence = Place(file), r"a \U in quotes is above U+10FFFF, the last character"
    except RecursionError:
        at, sentence = Place(file), "it is nested too deeply to be read"
    else:
        return node
    problems.add(at, sentence, code="invalid-yaml")
    return None


def _sentence(exc: yaml.MarkedYAMLError, text: str) -> str:
    """Return the fault, with the way to mend it if authors often make it. Texts are not shown: one may be a secret."""
    problem = str(exc.problem)
    rest = text[exc.problem_mark.index :] if exc.problem_mark else ""
    if rest.startswith("\t"):
        return "a tab is not allowed here: indent with spaces"
    if rest[:1] in SPECIAL and problem.startswith(SPECIAL_FAULTS):
        condition = CONDITION.match(rest)
        example = f', as in "{condition[0]}"' if condition else ""
        return f"a text that begins with {rest[0]} needs quotes{example}"
    return problem + next((remedy for begin, remedy in REMEDIES.items() if problem.startswith(begin)), "")


def _check_nodes(node: yaml.Node | None, problems: Problems) -> None:
    """Report duplicate keys. Refuse keys that are not texts, circles and half characters: later readers expect none."""
    checked_nodes: set[int] = set()
    above: set[int] = set()

    def check(node: yaml.Node) -> None:
        if id(node) in above:
            raise yaml.MarkedYAMLError(problem="it contains itself", problem_mark=node.start_mark)
        if id(node) in checked_nodes:
            return
        above.add(id(node))
        for child in _children(node, problems):
            check(child)
        above.remove(id(node))
        checked_nodes.add(id(node))

    if node is not None:
        check(node)


def _children(node: yaml.Node, problems: Problems) -> list[yaml.Node]:
    match node:
        case yaml.MappingNode():
            names: set[str] = set()
            for key, _ in node.value:
                if not isinstance(key, yaml.ScalarNode):
                    raise yaml.MarkedYAMLError(problem="expected a text as the key", problem_mark=key.start_mark)
                if key.value in names:
                    problems.add(node_place(key), f'"{key.value}" appears twice', code="duplicate-key")
                names.add(key.value)
            return [each for entry in node.value for each in entry]
        case yaml.SequenceNode():
            return list(node.value)
        case _:
            problem = ""
            if str(node.tag).startswith("!") and not node.value:
                problem = "a text that begins with ! needs quotes"
            elif any("\ud800" <= each <= "\udfff" for each in node.value):
                problem = "expected whole characters"
            if problem:
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
            return []


def overlay(base: yaml.MappingNode | None, over: yaml.MappingNode | None) -> yaml.MappingNode | None:
    """Lay the values of ``over`` on ``base``, mapping by mapping."""
    if base is None or over is None:
        return over or base
    values = {key.value: (key, value) for key, value in base.value}
    for key, value in over.value:
        mine = values.get(key.value, (key, None))[1]
        both = isinstance(mine, yaml.MappingNode) and isinstance(value, yaml.MappingNode)
        values[key.value] = (key, overlay(mine, value) if both else value)
    return yaml.MappingNode(base.tag, list(values.values()), base.start_mark, base.end_mark)


def is_empty(node: yaml.Node) -> bool:
    """Return whether a node has no value: an empty text, ``null`` or ``~``."""
    return isinstance(node, yaml.ScalarNode) and node.value in ("", "null", "~")


def node_place(node: yaml.Node) -> Place:
    """Return the place of a node's beginning."""
    return mark_place(node.start_mark)


def character_place(node: yaml.ScalarNode, offset: int) -> Place:
    """Return a character's place in a scalar; the beginning for blocks, several lines and escapes not in ``TWICE``."""
    start, end = node.start_mark, node.end_mark
    twice = TWICE.get(node.style)
    if twice is None or start.line != end.line:
        return mark_place(start)
    quotes = 1 if node.style else 0
    widths = [2 if each in twice else 1 for each in node.value]
    if end.column - start.column != sum(widths) + 2 * quotes:
        return mark_place(start)
    return Place(start.name, start.line + 1, start.column + 1 + quotes + sum(widths[:offset]))


def mark_place(mark: yaml.Mark) -> Place:
    """Return the place of a parser's mark."""
    return Place(mark.name, mark.line + 1, mark.column + 1)


_FRONT_MATTER = re.compile(r"(---[ \t]*\n(?:.*\n)*?)---[ \t]*(?:\n|\Z)")


def read_front_matter(source: Source, problems: Problems) -> tuple[yaml.MappingNode | None, int]:
    """Read the mapping between the first two ``---`` lines; also return the start of the text after it.

    The mapping is ``None`` if there is no front matter, if it is empty, or after reporting that it is not valid.
    YAML reads the first ``---`` as its document marker, so places in the mapping are those in the file.
    """
    match = _FRONT_MATTER.match(source.body)
    if match is None and source.body.partition("\n")[0].rstrip() == "---":
        sentence = 'the front matter has no end: expected another line "---"'
        problems.add(Place(source.name, 1, 1), sentence, code="unclosed-front-matter")
    return (parse_yaml(match[1], source.name, problems), match.end()) if match else (None, 0)


MAX_VALUES = 1_000
"""The number of values to convert at most: aliases can repeat each other."""

MAX_LEVELS = 16
"""Levels of nested mappings and lists."""

LARGEST_INTEGER = 2**63 - 1
MAX_DIGITS = 64

CONSTANTS: Mapping[str, bool | None] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("null", "Null", "NULL", "~", ""), None),
}
INTEGERS: tuple[tuple[re.Pattern[str], int], ...] = (
    (re.compile(r"[-+]?([0-9]+)"), 10),
    (re.compile(r"0o([0-7]+)"), 8),
    (re.compile(r"0x([0-9a-fA-F]+)"), 16),
)
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


def value_of(node: yaml.Node, *, text_of: Callable[[yaml.ScalarNode], str | None]) -> Any:
    """Convert a node to a JSON value. ``text_of`` returns a scalar's text, or reports a problem and returns ``None``.

    Raises:
        yaml.MarkedYAMLError: too many values or levels, or a number that JSON cannot hold.
    """
    budget = MAX_VALUES

    def value(node: yaml.Node, levels: int) -> Any:
        nonlocal budget
        budget -= 1
        if budget < 0 or levels < 0:
            raise _refusal(node, f"at most {MAX_VALUES} values, nested {MAX_LEVELS} deep")
        match node:
            case yaml.MappingNode():
                return {key.value: value(each, levels - 1) for key, each in node.value}
            case yaml.SequenceNode():
                return [value(each, levels - 1) for each in node.value]
            case yaml.ScalarNode():
                text = text_of(node)
                return _plain(node) if text == node.value and node.style is None else text

    return value(node, MAX_LEVELS)


def _plain(node: yaml.ScalarNode) -> Any:
    """Return the value of a scalar without quotes."""
    text = str(node.value)
    if text in CONSTANTS:
        return CONSTANTS[text]
    number = math.inf if NOT_FINITE.fullmatch(text) else float(text) if FLOAT.fullmatch(text) else None
    for pattern, base in INTEGERS:
        if digits := pattern.fullmatch(text):
            size = int(digits[1], base) if len(digits[1]) <= MAX_DIGITS else math.inf
            number = -size if text.startswith("-") else size
    if number is None:
        return text
    if not math.isfinite(number) or (isinstance(number, int) and abs(number) > LARGEST_INTEGER):
        raise _refusal(node, "a number that JSON can hold")
    return number


def _refusal(node: yaml.Node, expected: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=f"expected {expected}", problem_mark=node.start_mark)
