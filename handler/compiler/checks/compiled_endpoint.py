"""The one argument of every check."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from handler.bundle.identity import Access, Identity
from handler.bundle.tools import CallLog
from handler.compiler.access.code_access import AccessDefaults
from handler.compiler.compile_context import CompileContext
from handler.compiler.graphql_api import CompiledApi
from handler.compiler.tools.catalog import catalog_tools
from handler.compiler.tools.compiled_code import CompiledCode
from handler.compiler.tools.content import CompiledContent
from handler.compiler.tools.content_files.skill_format import CompiledSkill
from handler.compiler.tools.declarations.declaration import CompiledTool


@dataclass(frozen=True, kw_only=True)
class CompiledEndpoint:
    """An endpoint without errors: all parts compiled from its author's files."""

    context: CompileContext
    identity: Identity
    access: Access
    grounds: AccessDefaults
    api: CompiledApi
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
        limits = {limit if each is None else each for each in (made.tool.options.max_result_bytes for made in own)}
        longest = 0 if 0 in limits else max(limits, default=limit)
        return (*own, *catalog_tools(self.context.config.catalog, max_result_bytes=longest))
