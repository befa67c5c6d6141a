"""Read ``code`` of ``config.yaml``: the toolkits of the endpoint."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from handler.compiler.problems import Place, Problems, shown
from handler.compiler.source.yaml_section import Section
from handler.settings import MODULE

ATTRIBUTE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class KitUse:
    """A toolkit that the endpoint takes."""

    use: str  # module:attribute
    hidden: bool | None  # for all of its tools; ``None`` if not given
    category: str  # for all of its tools; empty if not given
    section: Section  # with its condition
    at: Place

    @property
    def module(self) -> str:
        """The toolkit's module."""
        return self.use.partition(":")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeConfig:
    """The values of ``code``."""

    kits: tuple[KitUse, ...]
    named: bool  # ``code`` has entries, invalid ones included
    at: Place  # of ``code``


def read_code_config(top: Section, problems: Problems) -> CodeConfig:
    """Read ``code``: a list of ``module:attribute``, or of mappings with that as ``use``."""
    sections = top.sections("code")
    return CodeConfig(kits=tuple(_kits(sections, problems)), named=bool(sections), at=top.place("code"))


def _kits(sections: list[Section], problems: Problems) -> Iterator[KitUse]:
    first: dict[str, Place] = {}
    for section in sections:
        section.expect()
        use, at = section.text("use"), section.place("use")
        hidden = _flag(section, "hidden")
        visible = _flag(section, "visible")
        if not _is_use(use):
            section.refuse("use", "a toolkit as module:attribute, such as shop_tools:kit")
        elif use in first:
            problems.add(at, f'"{use}" also appears at {shown(first[use])}: remove one', code="duplicate-toolkit")
        else:
            first[use] = at
            by_visible = None if visible is None else not visible
            category = section.text("category")
            yield KitUse(
                use=use, hidden=by_visible if hidden is None else hidden, category=category, section=section, at=at
            )


def _is_use(text: str) -> bool:
    module, _, attribute = text.partition(":")
    return bool(MODULE.fullmatch(module) and ATTRIBUTE.fullmatch(attribute))


def _flag(section: Section, key: str) -> bool | None:
    return section.boolean(key) if key in section else None
