"""The validator of a tool's arguments, for one caller."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from handler.errors.calls import InvalidArguments
from handler.json_schema.fast_path import QuickCheck, takes_any
from handler.json_schema.json_bounds import MAX_VALUES, excess_of
from handler.strict_json import JSONObject

if TYPE_CHECKING:
    from handler.json_schema.checker import Checker


class ArgumentsValidator:
    """The validator of a tool's arguments, or of an operation's variables, against one schema.

    The compiler made and checked the schema. jsonschema loads with the first values that the fast path does not accept.
    Patterns are not enforced: an earlier compiler wrote those of scalars.
    """

    def __init__(self, tool: str, schema: JSONObject, *, max_values: int = MAX_VALUES) -> None:
        self._tool = tool
        self._schema = schema
        self._max_values = max_values

    def read(self, arguments: JSONObject) -> JSONObject:
        """Return the validated arguments of a tool call, corrected as in ``sent_arguments.py``.

        Raises:
            InvalidArguments: as ``check``, or a stringified argument cannot be read.
        """
        refuse_excess(self._tool, arguments, max_values=self._max_values)
        if self._surely_fits(arguments):
            return arguments
        from handler.json_schema.sent_arguments import unstringified, without_refused_nulls

        values, unreadable = unstringified(arguments, self._schema)
        if unreadable:
            raise InvalidArguments(self._tool, unreadable)
        refuse_excess(self._tool, values, max_values=self._max_values)
        corrected: JSONObject = without_refused_nulls(values, self._schema)
        self.check(corrected)
        return corrected

    def meant(self, arguments: JSONObject) -> JSONObject:
        """Return arguments that nothing has checked with JSON texts read, for the log."""
        from handler.json_schema.sent_arguments import unstringified

        if excess_of(arguments, max_values=self._max_values):
            return arguments
        values: JSONObject = unstringified(arguments, self._schema)[0]
        return values

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Check the variables of a GraphQL request, or arguments that have been read.

        Raises:
            InvalidArguments: with the violations of ``Checker.violations``, or with one only, if the values are too
                many or nested too deeply.
        """
        refuse_excess(self._tool, arguments, max_values=self._max_values)
        if self._surely_fits(arguments):
            return
        if violations := self._checker.violations(arguments):
            raise InvalidArguments(self._tool, violations)

    def misfits(self, values: Mapping[str, Any]) -> list[str]:
        """Return the names of the ``values`` that do not fit."""
        return [] if self._surely_fits(values) else self._checker.misfits(values)

    def _surely_fits(self, values: Mapping[str, Any]) -> bool:
        return QuickCheck(self._schema, patterns=takes_any).surely_fits(values, self._schema)

    @cached_property
    def _checker(self) -> Checker:
        from handler.json_schema.checker import Checker

        return Checker(self._schema, of_graphql=True)


def refuse_excess(tool: str, values: Mapping[str, Any], *, max_values: int) -> None:
    """Refuse too many or too deeply nested values, before other code walks them.

    Raises:
        InvalidArguments: as above.
    """
    if excess := excess_of(values, max_values=max_values):
        raise InvalidArguments(tool, [excess])
