"""The parser of docstrings: the function's description, and its parameters in the forms of Google, NumPy and Sphinx."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise, takewhile

from handler.cold.records import record

PARAMETERS = {"args", "arguments", "parameters", "params", "other parameters", "keyword args", "keyword arguments"}
OTHERS = {"returns", "return", "yields", "yield", "raises", "raise"}

_GOOGLE_HEADER = re.compile(r"([A-Z][A-Za-z ]*):\s*")
_NUMPY_HEADER = re.compile(r"([A-Z][A-Za-z ]*)\s*")
_NUMPY_RULE = re.compile(r"-{3,}\s*")
_GOOGLE_ITEM = re.compile(r"\s+\*{0,2}(\w+)\s*(?:\(.*?\))?\s*:\s*(.*)")
_NUMPY_ITEM = re.compile(r"\*{0,2}(\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?()")
_SPHINX_ITEM = re.compile(r":(\w+)(?:\s+([^:]*?))?\s*:\s*(.*)")
_SPHINX_PARAMETERS = {"param", "parameter", "arg", "argument", "key", "keyword"}
_SPHINX_OTHERS = {"type", "return", "returns", "rtype", "raise", "raises", "except", "exception", "yield", "yields"}


@record(frozen=True, slots=True, kw_only=True)
class Docstring:
    """The text without its sections on parameters and results, and the text on each parameter."""

    description: str
    parameters: Mapping[str, str]


def parse_docstring(text: str) -> Docstring:
    """Parse a docstring. Sections on returns and raises are left out: they are for readers of the code."""
    description: list[str] = []
    parameters: dict[str, str] = {}
    lines = inspect.cleandoc(text).splitlines()
    while lines:
        length, texts = _section(lines)
        if not length:
            description.append(lines.pop(0))
            continue
        parameters |= texts
        del lines[:length]
    whole = re.sub(r"\n{3,}", "\n\n", "\n".join(description))
    return Docstring(description=whole.strip(), parameters=parameters)


def _section(lines: Sequence[str]) -> tuple[int, dict[str, str]]:
    """Return the number of lines of a section at the start, 0 if there is no section, and the described parameters."""
    if field := _SPHINX_ITEM.fullmatch(lines[0]):
        kind, subject, text = field.groups()
        if kind not in _SPHINX_PARAMETERS | _SPHINX_OTHERS:
            return 0, {}
        body = _indented(lines[1:])
        is_parameter = kind in _SPHINX_PARAMETERS and subject
        texts = {subject.split()[-1].lstrip("*"): _joined([text, *body])} if is_parameter else {}
        return 1 + len(body), texts
    if header := _GOOGLE_HEADER.fullmatch(lines[0]):
        title, start, form, body = header[1], 1, _GOOGLE_ITEM, _indented(lines[1:])
    elif len(lines) > 1 and _NUMPY_RULE.fullmatch(lines[1]) and (header := _NUMPY_HEADER.fullmatch(lines[0])):
        title, start, form, body = header[1], 2, _NUMPY_ITEM, _until_header(lines[2:])
    else:
        return 0, {}
    title = title.strip().lower()
    if title not in PARAMETERS | OTHERS:
        return 0, {}
    return start + len(body), _items(body, form) if title in PARAMETERS else {}


def _indented(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines below a header: indented lines, and empty lines among them."""
    below = list(takewhile(lambda line: not line or line[0].isspace(), lines))
    while below and not below[-1].strip():
        below.pop()
    return below


def _until_header(lines: Sequence[str]) -> Sequence[str]:
    for at, (line, below) in enumerate(pairwise(lines)):
        if line.strip() and _NUMPY_RULE.fullmatch(below):
            return lines[:at]
    return lines


def _items(lines: Sequence[str], form: re.Pattern[str]) -> dict[str, str]:
    """Return the text of each item. Lines that are indented more than an item continue it."""
    texts: dict[str, list[str]] = {}
    names: list[str] = []
    indent = min((_indent(line) for line in lines if line.strip()), default=0)
    for line in lines:
        item = form.fullmatch(line) if _indent(line) == indent else None
        if item:
            names = [name.strip().lstrip("*") for name in item[1].split(",")]
            texts |= {name: [item[2]] for name in names}
        else:
            for name in names:
                texts[name].append(line)
    return {name: _joined(parts) for name, parts in texts.items()}


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _joined(lines: Sequence[str]) -> str:
    return " ".join(line.strip() for line in lines if line.strip())
