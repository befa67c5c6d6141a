"""Skills of a toolkit: texts that the compiler freezes, so that no request loads the module for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from handler.code_tools.functions.source_location import SourceLocation

SKILL_FILE = "SKILL.md"

PLACE = SourceLocation(label="skill")


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillDefinition:
    """A skill: the files by their paths, ``SKILL.md`` among them. The compiler reads its front matter."""

    files: Mapping[str, str | bytes]


def define_skill(text: Any, files: Any) -> SkillDefinition:
    """Make a skill of texts.

    Raises:
        ToolDefinitionError: as ``Toolkit.add_skill``.
    """
    if not isinstance(text, str):
        PLACE.refuse(f"expected the text of {SKILL_FILE}, got {type(text).__name__}")
    if not isinstance(files, Mapping):
        PLACE.refuse(f"files: expected a mapping of paths to texts or bytes, got {type(files).__name__}")
    for path, content in files.items():
        if not isinstance(path, str) or path == SKILL_FILE or not {"", ".", ".."}.isdisjoint(str(path).split("/")):
            PLACE.refuse(f"files: expected the path of another file, as references/refunds.md, got {path!r:.80}")
        if not isinstance(content, str | bytes):
            PLACE.refuse(f"files: {path}: expected a text or bytes, got {type(content).__name__}")
    for each in (text, *(content for content in files.values() if isinstance(content, str))):
        if any("\ud800" <= character <= "\udfff" for character in each):
            PLACE.refuse("expected texts of whole characters, got half a character")
    return SkillDefinition(files={SKILL_FILE: text, **files})
