from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handler.bundle import JSONObject
from handler.errors import InvalidArguments
from handler.json_schema import Checker


class ArgumentsValidator:
    """One tool's enforced schema, ready to check calls. Built once per bundle version.

    The compiler made and checked the schema.
    """

    def __init__(self, tool: str, schema: JSONObject) -> None:
        self._tool = tool
        self._checker = Checker(schema, of_graphql=True)

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Check the arguments of a call.

        Raises:
            InvalidArguments: with each violation, as ``Checker.violations`` has them.
        """
        violations = self._checker.violations(arguments)
        if violations:
            raise InvalidArguments(self._tool, violations)

    def misfits(self, values: Mapping[str, Any]) -> list[str]:
        """The names among ``values`` that do not fit."""
        return self._checker.misfits(values)
