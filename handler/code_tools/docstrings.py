"""The parser of docstrings: the function's description, and its parameters in the forms of Google, NumPy and Sphinx."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence

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
    kept: list[str] = []
    parameters: dict[str, str] = {}
    lines = inspect.cleandoc(text).splitlines()
    while lines:
        taken, found = _section(lines)
        if not taken:
            kept.append(lines.pop(0))
            continue
        parameters |= found
        del lines[:taken]
    description = re.sub(r"\n{3,}", "\n\n", "\n".join(kept))
    return Docstring(description=description.strip(), parameters=parameters)


def _section(lines: Sequence[str]) -> tuple[int, dict[str, str]]:
    """Return the number of lines of a section at the start, 0 if there is no section, and the described parameters."""
    if field := _SPHINX_ITEM.fullmatch(lines[0]):
        return _sphinx_field(field, lines)
    if (header := _GOOGLE_HEADER.fullmatch(lines[0])) and _is_known(header):
        body = list(_indented(lines[1:]))
        return 1 + len(body), _items(body, _GOOGLE_ITEM) if _describes(header) else {}
    header = _NUMPY_HEADER.fullmatch(lines[0])
    if header and len(lines) > 1 and _NUMPY_RULE.fullmatch(lines[1]) and _is_known(header):
        body = list(_until_header(lines[2:]))
        return 2 + len(body), _items(body, _NUMPY_ITEM) if _describes(header) else {}
    return 0, {}


def _is_known(header: re.Match[str]) -> bool:
    return header[1].strip().lower() in PARAMETERS | OTHERS


def _describes(header: re.Match[str]) -> bool:
    return header[1].strip().lower() in PARAMETERS


def _sphinx_field(field: re.Match[str], lines: Sequence[str]) -> tuple[int, dict[str, str]]:
    kind, subject, text = field.groups()
    if kind not in _SPHINX_PARAMETERS | _SPHINX_OTHERS:
        return 0, {}
    body = list(_indented(lines[1:]))
    if kind not in _SPHINX_PARAMETERS or not subject:
        return 1 + len(body), {}
    return 1 + len(body), {subject.split()[-1].lstrip("*"): _joined([text, *body])}


def _indented(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines below a header: indented lines, and empty lines among them."""
    last = max((at for at, line in enumerate(_leading(lines)) if line.strip()), default=-1)
    yield from lines[: last + 1]


def _leading(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        if line and not line[0].isspace():
            return
        yield line


def _until_header(lines: Sequence[str]) -> Iterator[str]:
    for at, line in enumerate(lines):
        if at + 1 < len(lines) and line.strip() and _NUMPY_RULE.fullmatch(lines[at + 1]):
            return
        yield line


def _items(lines: Sequence[str], form: re.Pattern[str]) -> dict[str, str]:
    """Return the text of each item. Lines that are indented more than an item continue it."""
    said: dict[str, list[str]] = {}
    names: list[str] = []
    indent = min((_indent(line) for line in lines if line.strip()), default=0)
    for line in lines:
        item = form.fullmatch(line) if _indent(line) == indent else None
        if item:
            names = [name.strip().lstrip("*") for name in item[1].split(",")]
            said |= {name: [item[2]] for name in names}
        else:
            for name in names:
                said[name].append(line)
    return {name: _joined(texts) for name, texts in said.items()}


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _joined(lines: Sequence[str]) -> str:
    return " ".join(line.strip() for line in lines if line.strip())
