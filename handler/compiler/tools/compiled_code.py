"""An endpoint's compiled toolkits. ``code.py`` compiles them; this module does not import ``handler.code_tools``."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from handler.bundle.content import CodePrompt, CodeResource
from handler.bundle.tools import CodeKit
from handler.compiler.access.policies import Rule
from handler.compiler.problems import Place
from handler.compiler.tools.content_files.skill_format import CompiledSkill
from handler.compiler.tools.declarations.declaration import CompiledTool
from handler.strict_json import to_json_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledCode:
    """The toolkits of an endpoint, frozen for the bundle."""

    kits: tuple[CodeKit, ...] = ()
    modules: tuple[str, ...] = ()  # that may be imported
    rules: tuple[Rule, ...] = ()  # of kits and of tools with requires_auth; their coordinates are names
    tools: tuple[CompiledTool, ...] = ()
    prompts: tuple[CodePrompt, ...] = ()
    resources: tuple[CodeResource, ...] = ()
    asking: Mapping[str, Place]  # label of a definition that may ask its client's user -> its place
    requiring: Mapping[str, Place] = field(default_factory=dict)  # tool with requires_auth -> its place
    skills: tuple[CompiledSkill, ...] = ()

    def sources(self, files: str) -> str:
        """Combine ``files``, the digest of the author's files, with the frozen definitions."""
        if not self.kits:
            return files
        frozen = [*(made.tool for made in self.tools), *self.prompts, *self.resources]
        said = [[files], *([each.entry, getattr(each, "digest", "")] for each in frozen)]
        said += [[each.skill.entry] for each in self.skills]
        return hashlib.sha256(to_json_bytes(said)).hexdigest()


NO_CODE = CompiledCode(asking={})
