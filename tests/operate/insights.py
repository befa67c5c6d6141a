"""As much of CloudWatch Logs Insights as the runbook uses: the fields of a query, and the lines that it finds.

Source: the Amazon CloudWatch Logs guide, "CloudWatch Logs Insights query syntax".
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Line = Mapping[str, Any]

COMMANDS = ("fields", "filter", "stats", "sort", "limit")
TEXT = re.compile(r'"[^"]*"|/(?:[^/\\]|\\.)*/')
NAME = re.compile(r"@?[a-zA-Z_][\w.]*")
WORDS = {"and", "or", "not", "like", "in", "by", "as", "asc", "desc", "true", "false"}
FUNCTIONS = {"ispresent", "count", "avg", "max", "min", "sum", "latest", "earliest"}
OF_INSIGHTS = {"@timestamp", "@message", "@logStream", "@log"}

CONDITION = re.compile(
    r"\s*(?:(?P<word>(?:and|or|not)\b|\(|\))|ispresent\((?P<present>[@\w.]+)\)|(?P<field>[@\w.]+)\s+(?P<how>like|!=|=|>|<)\s+"
    r'(?:"(?P<text>[^"]*)"|/(?P<pattern>(?:[^/\\]|\\.)*)/|(?P<number>\d+)))'
)


def commands_of(query: str) -> list[tuple[str, str]]:
    """The commands of a query with their arguments; one of another kind is a mistake."""
    found = [part.strip().partition(" ")[::2] for part in re.split(r"^\|", query.strip(), flags=re.MULTILINE)]
    assert {name for name, _ in found} <= set(COMMANDS), query
    return found


def names_of(query: str) -> set[str]:
    """The fields of the log that a query names, without those that it makes itself."""
    named, made = set[str](), set[str]()
    for _, argument in commands_of(query):
        text = TEXT.sub(" ", argument)
        made |= set(re.findall(r"\bas (\w+)", text))
        named |= set(NAME.findall(text))
    return named - made - WORDS - FUNCTIONS - OF_INSIGHTS


def found_by(query: str, lines: Sequence[Line]) -> list[Line]:
    """The lines that all filters of a query let through, up to its ``stats``; with a filter after it, its rows."""
    commands = commands_of(query)
    place = next((number for number, (name, _) in enumerate(commands) if name == "stats"), len(commands))
    found = _filtered(commands[:place], lines)
    rest = commands[place + 1 :]
    return _filtered(rest, rows_of(commands[place][1], found)) if "filter" in dict(rest) else found


def _filtered(commands: Sequence[tuple[str, str]], lines: Sequence[Line]) -> list[Line]:
    filters = [condition_of(argument) for name, argument in commands if name == "filter"]
    return [line for line in lines if all(each(line) for each in filters)]


def rows_of(stats: str, lines: Sequence[Line]) -> list[Line]:
    """The rows of a ``stats``, in which ``count(field)`` counts the lines that have the field."""
    functions, _, by = stats.rpartition(" by ")
    groups: dict[tuple[Any, ...], list[Line]] = {}
    for line in lines:
        groups.setdefault(tuple(line.get(name.strip()) for name in by.split(",")), []).append(line)
    rows = list[Line]()
    for key, group in groups.items():
        row = dict(zip(map(str.strip, by.split(",")), key, strict=True))
        for function, name, alias in re.findall(r"(\w+)\((\*|@?\w+)\) as (\w+)", functions):
            values = [line[name] for line in group if name in line]
            row[alias] = len(group if name == "*" else values) if function == "count" else values[-1:]
        rows.append(row)
    return rows


def condition_of(text: str) -> Callable[[Line], bool]:
    """A filter as a function of a line. ``and`` binds before ``or``."""
    tokens, at = list[re.Match[str]](), 0
    while at < len(text.rstrip()):
        token = CONDITION.match(text, at)
        assert token, f"not read: {text[at:]}"
        tokens.append(token)
        at = token.end()

    def judge(line: Line) -> bool:
        parts = (each["word"] or str(_holds(each, line)) for each in tokens)
        return bool(eval(" ".join(parts), {"__builtins__": {}}))

    return judge


def _holds(token: re.Match[str], line: Line) -> bool:
    if token["present"]:
        return token["present"] in line
    name = token["field"]
    value = json.dumps(line, default=str) if name == "@message" else line.get(name)
    match token["how"]:
        case "like":
            return value is not None and bool(re.search(token["pattern"] or re.escape(token["text"]), str(value)))
        case "=":
            return str(value) == (token["text"] or token["number"])
        case "!=":
            return str(value) != (token["text"] or token["number"])
        case ">":
            return value is not None and float(value) > float(token["number"])
    return value is not None and float(value) < float(token["number"])
