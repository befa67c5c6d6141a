"""What an endpoint has in Python. It is made in ``code_tools.py``, which loads what authors write tools with."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from handler.bundle.model import CodeKit, CodePrompt, CodeResource
from handler.compiler.access.policies import Rule
from handler.compiler.problems import Place
from handler.compiler.tools.declaration import CompiledTool
from handler.strict_json import to_json_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledCode:
    """The frozen side of toolkits."""

    kits: tuple[CodeKit, ...] = ()
    modules: tuple[str, ...] = ()  # those that may be imported
    rules: tuple[Rule, ...] = ()  # the kits' own; their coordinates are the names of kits
    tools: tuple[CompiledTool, ...] = ()
    prompts: tuple[CodePrompt, ...] = ()
    resources: tuple[CodeResource, ...] = ()
    asking: Mapping[str, Place]  # what may ask its client's user, and where it stands
    requiring: Mapping[str, Place] = field(default_factory=dict)  # tools with requires_auth, and where they stand

    def sources(self, files: str) -> str:
        """The digest of the author's files, with that of what was frozen."""
        if not self.kits:
            return files
        frozen = [*(made.tool for made in self.tools), *self.prompts, *self.resources]
        said = [[files], *([each.entry, getattr(each, "digest", "")] for each in frozen)]
        return hashlib.sha256(to_json_bytes(said)).hexdigest()


NO_CODE = CompiledCode(asking={})
