"""Results of compiling operations that a ``SchemaCache`` keeps, each by a digest of all that it is made of."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from handler.bundle.stored import read_record
from handler.bundle.tools import PrescribedTool
from handler.cold.records import record, record_fields
from handler.compiler.compile_context import CompileContext
from handler.compiler.schema.schema_cache import key_of
from handler.errors.authoring import Problem
from handler.errors.infrastructure import BundleError
from handler.strict_json import JSONObject, parse_stored

LEAST_KEPT = 64
"""The number of results from which on those of an endpoint are kept: fewer are made in a tenth of a second."""

KEY_CHARS = 64


@record(frozen=True, slots=True, kw_only=True)
class SentOperation:
    """One operation as the API gets it."""

    text: str
    asks: str  # its field that reveals hidden coordinates; empty if it has none
    optional_conditions: tuple[str, ...]  # nullable variables of @skip and @include
    unsent: tuple[str, ...]  # variables that callers do not give: nothing sent needs them


@record(frozen=True, slots=True, kw_only=True)
class DeprecatedUse:
    """A use of a deprecated coordinate, which the message names."""

    message: str
    file: str
    line: int
    column: int


@record(frozen=True, slots=True, kw_only=True)
class SentDocument:
    """The operations of a document by name, and its uses of deprecated coordinates. Both are empty with an error."""

    operations: Mapping[str, SentOperation]
    deprecated: tuple[DeprecatedUse, ...] = ()
    warnings: tuple[Problem, ...] = ()


@record(frozen=True, slots=True, kw_only=True)
class KeptTool:
    """The parts of a ``CompiledTool`` that are made of its operation."""

    tool: PrescribedTool
    uses: tuple[str, ...]
    types: int
    described: bool
    shortened_from: Mapping[str, int]
    long_enums: Mapping[str, int]  # enum whose values' descriptions are left out -> their characters
    warnings: tuple[Problem, ...] = ()


@record(frozen=True, slots=True, kw_only=True)
class KeptListing:
    """The input schemas with which a tool is listed, and shown by a catalog."""

    schema: JSONObject
    whole: JSONObject
    whole_bytes: int
    warnings: tuple[Problem, ...] = ()


T = TypeVar("T", SentDocument, KeptTool, KeptListing)


class KeptOperations:
    """The results of one endpoint: one entry of the cache, with a line for each result.

    Their keys name all that was read before the operations: configuration, policies and schema.
    """

    def __init__(self, context: CompileContext) -> None:
        self._cache, self._problems = context.schemas, context.problems
        self._base: list[Any] = []
        self._known: dict[str, tuple[bytes, Any]] = {}  # the lines of results, and those that were read
        self._used: dict[str, tuple[bytes, Any]] = {}
        self._is_changed = False
        if self._cache:
            files, project = context.files, context.project
            variables = sorted(each for each in context.environ.items() if each[0].startswith("STEPZEN_"))
            self._base = [files.digest(), project.endpoint, project.root, project.stepzen, variables]
            self._key = key_of("operations", str(files.folder.absolute()), project.endpoint)
            self._known = self._cache.results.use(self._key) or {
                line[:KEY_CHARS].decode(errors="replace"): (line[KEY_CHARS:], None)
                for line in (self._cache.find(self._key) or b"").splitlines()
            }

    def key_of(self, kind: str, *parts: Any) -> str:
        """Return the key of a result that is made of ``parts``; empty string without a cache."""
        return key_of(kind, self._base, *parts) if self._cache else ""

    def use_or_make(
        self, key: str, cls: type[T], make: Callable[[], T], *, restore: Callable[[T], T] = lambda each: each
    ) -> T:
        """Return a kept result, after reporting its warnings again, or make one. A result with errors is not kept.

        ``restore`` completes a result that was read.
        """
        value: T | None
        line, value = self._known.get(key, (b"", None))
        if line and value is None:
            try:
                value = restore(read_record(cls, parse_stored(line)))
            except BundleError:  # of another release, by the same key
                value = None
        if value is not None:
            self._problems.warn_again(value.warnings)
        else:
            before = self._problems.counts
            made = make()
            warnings = self._problems.warnings_after(before)
            if warnings is None or not key:
                return made
            value = replace(made, warnings=warnings)
            line, self._is_changed = json.dumps(value, default=_plain).encode(), True
        self._used[key] = line, value
        return value

    def save(self) -> None:
        """Keep the results of this run, and no others."""
        if self._cache is None:
            return
        self._cache.results.put(self._key, self._used)
        if (self._is_changed or len(self._used) < len(self._known)) and len(self._used) >= LEAST_KEPT:
            self._cache.keep(self._key, b"\n".join(key.encode() + line for key, (line, _) in self._used.items()))


def _plain(value: Any) -> Any:
    """Return a value that JSON does not have as one that it has: a mask, or a record."""
    if isinstance(value, frozenset):
        return sorted(value)
    return {name: getattr(value, name) for name, _, _ in record_fields(type(value))}
