"""The one argument of every check."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from handler.bundle.identity import Identity
from handler.compiler.access.code_access import AccessDefaults
from handler.compiler.config.config import Config
from handler.compiler.graphql_api import Api
from handler.compiler.source.files import EndpointFiles
from handler.compiler.source.project import Project
from handler.compiler.tools.compiled_code import CompiledCode
from handler.compiler.tools.content import Content
from handler.compiler.tools.declaration import CompiledTool


@dataclass(frozen=True, kw_only=True)
class CompiledEndpoint:
    """An endpoint without errors: all parts compiled from its author's files."""

    files: EndpointFiles
    project: Project
    config: Config
    identity: Identity
    grounds: AccessDefaults
    api: Api
    code: CompiledCode
    content: Content

    @cached_property
    def tools(self) -> tuple[CompiledTool, ...]:
        """All tools, in the bundle's order."""
        return (*self.api.tools, *self.code.tools)
