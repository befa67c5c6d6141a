"""JSON with the places of its values, for files that other programs write and people read."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from handler.compiler.problems import EmbeddedText, Place, offset_in_literal
from handler.json_schema.json_bounds import count_values
from handler.strict_json import parse_json

MAX_VALUES = 200_000
"""Values that a file may have: their places are kept."""

Path = tuple[str | int, ...]

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[][{},:]|[^][{},:"\s]+')


class InvalidJSON(Exception):
    """A text is not JSON that can be read. The message says why."""

    def __init__(self, reason: str, at: Place) -> None:
        super().__init__(reason)
        self.at = at


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedJSON:
    """A JSON value, and where its parts begin in its file."""

    value: Any
    file: str
    text: str
    lines: Sequence[int]  # offsets of their beginnings
    offsets: Mapping[Path, int]
    repeated: tuple[Path, ...]  # of keys that appear again in their object; the last one counts

    def place(self, *path: str | int) -> Place:
        """Return the place of a value; of the nearest value around it if there is none."""
        nearest_path = next((path[:end] for end in range(len(path), 0, -1) if path[:end] in self.offsets), ())
        return self.place_at(self.offsets.get(nearest_path, 0))

    def place_at(self, offset: int) -> Place:
        """Return the place of a character of the file."""
        line = bisect_right(self.lines, offset)
        return Place(self.file, line, offset - self.lines[line - 1] + 1)

    def embedded(self, *path: str | int, body: str) -> EmbeddedText:
        """Return a text among the values as a source whose positions are places in the file."""
        start = self.offsets[path] + 1  # after the quotation mark

        def place_at(position: int) -> Place:
            return self.place_at(offset_in_literal(self.text, start, position))

        return EmbeddedText(body, self.file, place_at)


def read_placed_json(text: str, file: str) -> PlacedJSON:
    """Read strict JSON with places.

    Raises:
        InvalidJSON: the text is not JSON, is nested too deeply, or has too many values.
    """
    try:
        value = parse_json(text.encode())
    except json.JSONDecodeError as exc:
        raise InvalidJSON(f"invalid JSON: {exc.msg}", Place(file, exc.lineno, exc.colno)) from exc
    except ValueError as exc:
        raise InvalidJSON(f"invalid JSON: {exc}", Place(file)) from exc
    count = count_values(value)
    if count > MAX_VALUES or (count == 0 and value and isinstance(value, dict | list)):
        raise InvalidJSON(f"nested too deeply, or more than {MAX_VALUES:,} values", Place(file))
    offsets: dict[Path, int] = {}
    repeated: list[Path] = []
    for path, offset in _walk(text):
        repeated += [path] if path in offsets else []
        offsets[path] = offset
    lines = [0, *(match.end() for match in re.finditer("\n", text))]
    return PlacedJSON(
        value=value, file=file, text=text, lines=lines, offsets=offsets, repeated=tuple(dict.fromkeys(repeated))
    )


def _walk(text: str) -> Iterator[tuple[Path, int]]:
    """Yield the path of each value of a valid text, with the offset of its beginning."""
    steps: list[str | int | None] = []  # of the containers that are open; ``None``: a key comes next
    for token in _TOKEN.finditer(text):
        match token[0][0]:
            case "}" | "]":
                steps.pop()
            case ",":
                steps[-1] = steps[-1] + 1 if isinstance(steps[-1], int) else None
            case ":":
                pass
            case _ if steps and steps[-1] is None:
                steps[-1] = json.loads(token[0])
            case first:
                yield tuple(step for step in steps if step is not None), token.start()
                if first in "{[":
                    steps.append(None if first == "{" else 0)
