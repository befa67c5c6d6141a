"""Read ``checks.ignore`` and ``diff.ignore`` of ``config.yaml``: warnings and differences that an author has judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from handler.compiler.change_codes import CHANGE_CODES
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
        """Return whether the entry covers a warning with all coordinates that the warning is about."""
        if warning.code != self.code:
            return False
        return not self.coordinates or (bool(warning.about) and self.coordinates.issuperset(warning.about))


def read_ignores(checks: Section, problems: Problems) -> tuple[Ignore, ...]:
    """Read ``checks``. Each entry needs the code of a warning, and a reason."""
    checks.expect()
    return tuple(_warning_ignores(checks.sections("ignore"), problems))


def left_over(warnings: Iterable[Problem], ignores: Iterable[Ignore]) -> list[Problem]:
    """Return the warnings that no entry silences."""
    entries = tuple(ignores)
    return [warning for warning in warnings if not any(entry.silences(warning) for entry in entries)]


def unused_ignores(warnings: Iterable[Problem], ignores: Iterable[Ignore]) -> Iterator[Problem]:
    """Warn of each entry that does not silence any warning."""
    all_warnings = tuple(warnings)
    for entry in ignores:
        if not any(map(entry.silences, all_warnings)):
            some = " about these coordinates" if any(warning.code == entry.code for warning in all_warnings) else ""
            yield Problem(
                file=entry.at.file,
                line=entry.at.line,
                column=entry.at.column,
                sentence=f'checks.ignore: there is no warning "{entry.code}"{some}',
                code="unused-ignore",
            )


def _warning_ignores(sections: Iterable[Section], problems: Problems) -> Iterator[Ignore]:
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
        warnings = [name for name, code_entry in CODES.items() if code_entry.is_warning]
        sentence = f'checks.ignore: there is no code "{code:.80}"{did_you_mean(code, warnings)}'
        problems.add(section.place("code"), sentence, code="unknown-code")
        return False
    if not CODES[code].is_warning:
        sentence = f'checks.ignore: "{code}" is the code of an error: expected that of a warning'
        problems.add(section.place("code"), sentence, code="not-ignorable")
        return False
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeIgnore:
    """One entry: differences of a code about some parts, by coordinate, tool or name, and the reason to accept them."""

    code: str
    names: frozenset[str]
    reason: str
    at: Place

    def covers(self, code: str, about: Sequence[str]) -> bool:
        """Return whether the entry names a difference, with all parts that the difference is about."""
        return code == self.code and bool(about) and self.names.issuperset(about)


def read_change_ignores(diff: Section, problems: Problems) -> tuple[ChangeIgnore, ...]:
    """Read ``diff``. Each entry needs the code of a difference, names, and a reason."""
    diff.expect()
    return tuple(_difference_ignores(diff.sections("ignore"), problems))


def _difference_ignores(sections: Iterable[Section], problems: Problems) -> Iterator[ChangeIgnore]:
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
