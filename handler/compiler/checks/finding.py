"""The form of a check: a stable code, and a function from a compiled endpoint to warnings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from handler.bundle.identity import Access, Identity
from handler.bundle.tools import CallLog
from handler.compiler.access.policies import AccessDefaults
from handler.compiler.codes import CODES, Code
from handler.compiler.compile_context import CompileContext
from handler.compiler.graphql_api import SchemaParts
from handler.compiler.problems import At, Problems
from handler.compiler.tools.added_tools import catalog_tools
from handler.compiler.tools.content import CompiledCode, CompiledContent
from handler.compiler.tools.declaration import CompiledTool
from handler.compiler.tools.skills import CompiledSkill


@dataclass(frozen=True, kw_only=True)
class CompiledEndpoint:
    """An endpoint without errors: all parts compiled from its author's files. It is the argument of every check."""

    context: CompileContext
    identity: Identity
    access: Access
    grounds: AccessDefaults
    api: SchemaParts
    code: CompiledCode
    content: CompiledContent
    log: CallLog | None = None

    @cached_property
    def skills(self) -> tuple[CompiledSkill, ...]:
        """All skills, by name."""
        return tuple(sorted((*self.content.skills, *self.code.skills), key=lambda each: each.skill.name))

    @cached_property
    def tools(self) -> tuple[CompiledTool, ...]:
        """All tools, in the bundle's order."""
        own, limit = (*self.api.tools, *self.code.tools), self.context.config.limits.max_result_bytes
        sizes = [tool.tool.options.max_result_bytes for tool in own]
        limits = {limit if size is None else size for size in sizes}
        longest = 0 if 0 in limits else max(limits, default=limit)
        return (*own, *catalog_tools(self.context.config.catalog, max_result_bytes=longest))


@dataclass(frozen=True, slots=True)
class Finding:
    """One warning. ``about`` has the coordinates or names of tools and files that ``checks.ignore`` can select."""

    at: At
    sentence: str
    about: tuple[str, ...]


Find = Callable[[CompiledEndpoint], Iterator[Finding]]


@dataclass(frozen=True, slots=True)
class Check:
    """A rule that warns: its code, and the function that finds its warnings in an endpoint without errors."""

    code: str
    find: Find


def check(code: str, *, remedy: str) -> Callable[[Find], Check]:
    """Make a check from a function, and add its code to ``CODES``. The first line of the docstring is its meaning."""

    def decorate(find: Find) -> Check:
        CODES[code] = Code(meaning=(find.__doc__ or "").partition("\n")[0], remedy=remedy, is_warning=True)
        return Check(code, find)

    return decorate


def run_checks(checks: Iterable[Check], endpoint: CompiledEndpoint, problems: Problems) -> None:
    """Report all findings of the checks."""
    for rule in checks:
        for finding in rule.find(endpoint):
            problems.warn(finding.at, finding.sentence, code=rule.code, about=finding.about)
