"""The validator of a tool's arguments, for one caller."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handler.errors.calls import InvalidArguments
from handler.json_schema.deferred_checker import DeferredChecker
from handler.json_schema.json_bounds import MAX_VALUES, excess_of
from handler.strict_json import JSONObject


class ArgumentsValidator(DeferredChecker):
    """The validator of a tool's arguments, or of an operation's variables, against one schema.

    The compiler made and checked the schema. jsonschema loads with the first values that the fast path does not accept.
    Patterns are not enforced: an earlier compiler wrote those of scalars.
    """

    def __init__(self, tool: str, schema: JSONObject, *, max_values: int = MAX_VALUES) -> None:
        super().__init__(schema, of_graphql=True)
        self._tool = tool
        self._max_values = max_values

    def read(self, arguments: JSONObject) -> JSONObject:
        """Return the validated arguments of a tool call, corrected as in ``sent_arguments.py``.

        Raises:
            InvalidArguments: as ``check``, or a stringified argument cannot be read.
        """
        refuse_excess(self._tool, arguments, max_values=self._max_values)
        if self.surely_fits(arguments):
            return arguments
        values, violations = self.repaired(arguments, max_values=self._max_values)
        if violations:
            raise InvalidArguments(self._tool, violations)
        return values

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
        if violations := self.violations(arguments):
            raise InvalidArguments(self._tool, violations)


def refuse_excess(tool: str, values: Mapping[str, Any], *, max_values: int) -> None:
    """Refuse too many or too deeply nested values, before other code walks them.

    Raises:
        InvalidArguments: as above.
    """
    if excess := excess_of(values, max_values=max_values):
        raise InvalidArguments(tool, [excess])
