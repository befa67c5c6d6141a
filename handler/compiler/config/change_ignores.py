"""Read ``diff.ignore`` of ``config.yaml``: differences from the version before that an author has judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from handler.compiler.codes.change_codes import CHANGE_CODES
from handler.compiler.problems import Place, Problems
from handler.compiler.source.yaml_section import Section
from handler.text.sentences import did_you_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeIgnore:
    """One entry: differences of a code about some parts, by coordinate, tool or name, and the reason to accept them."""

    code: str
    names: frozenset[str]
    reason: str
    at: Place

    def covers(self, code: str, about: Sequence[str]) -> bool:
        """Tell if the entry names a difference, with all parts that the difference is about."""
        return code == self.code and bool(about) and self.names.issuperset(about)


def read_change_ignores(diff: Section, problems: Problems) -> tuple[ChangeIgnore, ...]:
    """Read ``diff``. Each entry needs the code of a difference, names, and a reason."""
    diff.expect()
    return tuple(_ignores(diff.sections("ignore"), problems))


def _ignores(sections: Iterable[Section], problems: Problems) -> Iterator[ChangeIgnore]:
    for section in sections:
        section.expect()
        reason, code = " ".join(section.text("reason").split()), section.text("code")
        if not reason:
            section.refuse("reason", "a text that says why the difference is accepted")
        names = frozenset(text for text, _ in section.texts("about"))
        if not names:
            section.refuse("about", "one or more coordinates, tools or other names")
        if code not in CHANGE_CODES:
            sentence = f'diff.ignore: there is no code "{code:.80}"{did_you_mean(code, CHANGE_CODES)}'
            problems.add(section.place("code"), sentence, code="unknown-code")
            continue
        yield ChangeIgnore(code=code, names=names, reason=reason, at=section.place("code"))
