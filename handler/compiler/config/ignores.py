"""Read ``checks.ignore`` of ``config.yaml``: warnings that an author has judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from handler.compiler.codes import CODES
from handler.compiler.problems import Place, Problems
from handler.compiler.source.yaml_section import Section
from handler.errors.authoring import Problem
from handler.text.sentences import did_you_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignore:
    """One entry: all warnings of a code, or only those about some coordinates."""

    code: str
    coordinates: frozenset[str]  # empty: all warnings of the code
    at: Place

    def silences(self, warning: Problem) -> bool:
        """Tell if the entry covers a warning with all coordinates that the warning is about."""
        if warning.code != self.code:
            return False
        return not self.coordinates or (bool(warning.about) and self.coordinates.issuperset(warning.about))


def read_ignores(checks: Section, problems: Problems) -> tuple[Ignore, ...]:
    """Read ``checks``. Each entry needs the code of a warning, and a reason."""
    checks.expect()
    return tuple(_ignores(checks.sections("ignore"), problems))


def left_over(warnings: Iterable[Problem], ignores: Iterable[Ignore]) -> list[Problem]:
    """Return the warnings that no entry silences."""
    entries = tuple(ignores)
    return [warning for warning in warnings if not any(entry.silences(warning) for entry in entries)]


def unused_ignores(warnings: Iterable[Problem], ignores: Iterable[Ignore]) -> Iterator[Problem]:
    """Warn of each entry that does not silence any warning."""
    found = tuple(warnings)
    for entry in ignores:
        if not any(map(entry.silences, found)):
            some = " about these coordinates" if any(warning.code == entry.code for warning in found) else ""
            yield Problem(
                file=entry.at.file,
                line=entry.at.line,
                column=entry.at.column,
                sentence=f'checks.ignore: there is no warning "{entry.code}"{some}',
                code="unused-ignore",
            )


def _ignores(sections: Iterable[Section], problems: Problems) -> Iterator[Ignore]:
    for section in sections:
        section.expect()
        if not section.text("reason").strip():
            section.refuse("reason", "a text that says why the warning does not matter")
        code = section.text("code")
        if _is_warning(code, section, problems):
            names = frozenset(text for text, _ in section.texts("coordinates"))
            if "coordinates" in section and not names:
                section.refuse("coordinates", "one or more, or no such key")
            yield Ignore(code=code, coordinates=names, at=section.place("code"))


def _is_warning(code: str, section: Section, problems: Problems) -> bool:
    if code not in CODES:
        warnings = [name for name, known in CODES.items() if known.is_warning]
        sentence = f'checks.ignore: there is no code "{code:.80}"{did_you_mean(code, warnings)}'
        problems.add(section.place("code"), sentence, code="unknown-code")
        return False
    if not CODES[code].is_warning:
        sentence = f'checks.ignore: "{code}" is the code of an error: expected that of a warning'
        problems.add(section.place("code"), sentence, code="not-ignorable")
        return False
    return True
