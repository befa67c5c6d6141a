"""A checker that loads jsonschema with the first value that the fast path does not accept.

jsonschema takes as long to load as a third of a cold ``tools/list``, and most values fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from handler.json_schema.fast_path import QuickCheck, takes_any
from handler.json_schema.formats import matches
from handler.json_schema.json_bounds import excess_of
from handler.strict_json import JSONObject

if TYPE_CHECKING:
    from handler.json_schema.checker import Checker, Formats


class DeferredChecker:
    """One schema, prepared for checking values, with the results of ``json_schema.checker.Checker``.

    ``formats``: true to check formats, or further checks by format. ``of_graphql``: the compiler made the schema from
    GraphQL types, whose patterns are not enforced.
    """

    def __init__(self, schema: JSONObject, *, formats: Formats = True, of_graphql: bool = False) -> None:
        self._schema = schema
        self._formats = formats
        self._of_graphql = of_graphql

    def violations(self, value: Any) -> list[str]:
        """Return the violations (JSON pointer, expected, actual), as ``Checker.violations`` does."""
        return [] if self.surely_fits(value) else self._checker.violations(value)

    def places(self, value: Any) -> list[str]:
        """Return the first places of violations with the violated rules, without anything of the value."""
        return [] if self.surely_fits(value) else self._checker.places(value)

    def misfits(self, values: Mapping[str, Any]) -> list[str]:
        """Return the names of the ``values`` that do not fit."""
        return [] if self.surely_fits(values) else self._checker.misfits(values)

    def repaired(
        self, values: JSONObject, *, max_values: int, kinds: frozenset[str] | None = None
    ) -> tuple[JSONObject, list[str]]:
        """Return values with texts and ``null`` corrected as in ``sent_arguments.py``, and the violations that remain.

        ``kinds``: the types of JSON that are read from texts, if not all.
        """
        from handler.json_schema.sent_arguments import ANY_TYPE, has_null, unstringified, without_refused_nulls

        values, unreadable = unstringified(values, self._schema, kinds=kinds or ANY_TYPE)
        if unreadable:
            return values, unreadable
        if excess := excess_of(values, max_values=max_values):  # values that were read from texts included
            return values, [excess]
        values = without_refused_nulls(values, self._schema) if has_null(values) else values
        return values, self.violations(values)

    def surely_fits(self, value: Any) -> bool:
        """Return whether a value certainly fits, so that jsonschema need not load."""
        own = self._formats if isinstance(self._formats, Mapping) else {}
        patterns = takes_any if self._of_graphql else matches
        return QuickCheck(self._schema, doubtful_formats=own, patterns=patterns).surely_fits(value, self._schema)

    @cached_property
    def _checker(self) -> Checker:
        from handler.json_schema.checker import Checker

        return Checker(self._schema, formats=self._formats, of_graphql=self._of_graphql)
