"""Diagnostics as feature tests name them: by place and code, and by parts of the sentence where these matter."""

from __future__ import annotations

from handler.errors.authoring import CompileError, Problem


class Reported(str):
    """A diagnostic as the text ``operations/o.graphql:3:5 unknown-field: Cannot query field 'totl' …``.

    It equals its place and code, alone (``operations/o.graphql:3:5 unknown-field``) or followed by parts that the
    sentence must have (``operations/o.graphql:3:5 unknown-field: 'totl' & 'total'``), and the same without the place.
    So a test names what it is about, and the whole sentences stand in ``tests/compiler/catalogue``.
    """

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]  # it equals several texts

    def __new__(cls, problem: Problem) -> Reported:
        place = f"{problem.file}:{problem.line}:{problem.column}" if problem.line else problem.file
        return super().__new__(cls, f"{place} {problem.code}: {problem.sentence}")

    def __eq__(self, expected: object) -> bool:
        if not isinstance(expected, str):
            return NotImplemented
        start, _, sentence = self.partition(": ")
        expected_start, _, parts = expected.partition(": ")
        same = start == expected_start or start.rpartition(" ")[2] == expected_start
        return same and all(part in sentence for part in parts.split(" & "))

    def __ne__(self, expected: object) -> bool:
        return not self == expected


def reported_by(error: CompileError) -> list[Reported]:
    """Return the problems of an error, in its order."""
    return list(map(Reported, error.problems))
