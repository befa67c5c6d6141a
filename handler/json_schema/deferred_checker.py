"""A checker that loads jsonschema with the first value that the fast path does not accept.

jsonschema takes as long to load as a third of a cold ``tools/list``, and most values fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from handler.json_schema.fast_path import QuickCheck
from handler.strict_json import JSONObject

if TYPE_CHECKING:
    from handler.json_schema.checker import Checker, Formats


class DeferredChecker:
    """One schema, prepared for checking values, with the results of ``json_schema.checker.Checker``.

    ``formats``: true to check formats, or further checks by format.
    """

    def __init__(self, schema: JSONObject, *, formats: Formats = True) -> None:
        self._schema = schema
        self._formats = formats

    def violations(self, value: Any) -> list[str]:
        """Return the violations (JSON pointer, expected, actual), as ``Checker.violations`` does."""
        return [] if self._surely_fits(value) else self._checker.violations(value)

    def places(self, value: Any) -> list[str]:
        """Return the first places of violations with the violated rules, without anything of the value."""
        return [] if self._surely_fits(value) else self._checker.places(value)

    def _surely_fits(self, value: Any) -> bool:
        own = self._formats if isinstance(self._formats, Mapping) else {}
        return QuickCheck(self._schema, doubtful_formats=own).surely_fits(value, self._schema)

    @cached_property
    def _checker(self) -> Checker:
        from handler.json_schema.checker import Checker

        return Checker(self._schema, formats=self._formats)
