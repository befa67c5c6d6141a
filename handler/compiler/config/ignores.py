"""Read ``checks.ignore`` and ``diff.ignore`` of ``config.yaml``: warnings and differences that an author has judged."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from handler.compiler.change_codes import CHANGE_CODES
from handler.compiler.codes import CODES
from handler.compiler.problems import Place, Problems
from handler.compiler.source.yaml_section import Section
from handler.errors.authoring import Problem
from handler.text.sentences import did_you_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignore:
    """One entry: a code, the coordinates, tools or names that it is about, and the reason."""

    code: str
    names: frozenset[str]  # empty: all warnings of the code. For a difference there is a name at least
    reason: str
    at: Place

    def covers(self, code: str, about: Collection[str]) -> bool:
        """Return whether the entry names a warning or difference, with all parts that this is about."""
        return code == self.code and (not self.names or (bool(about) and self.names.issuperset(about)))


def read_ignores(checks: Section, problems: Problems) -> tuple[Ignore, ...]:
    """Read ``checks``. Each entry needs the code of a warning, and a reason."""
    warnings = [name for name, code in CODES.items() if code.is_warning]
    ignores = []
    for section in checks.sections("ignore"):
        ignore = _ignore(section, "coordinates")
        if ignore.code in CODES and ignore.code not in warnings:
            sentence = f'checks.ignore: "{ignore.code}" is the code of an error: expected that of a warning'
            problems.add(ignore.at, sentence, code="not-ignorable")
        elif _is_known(ignore, warnings, problems, path="checks.ignore"):
            if "coordinates" in section and not ignore.names:
                section.refuse("coordinates", "one or more, or no such key")
            ignores.append(ignore)
    return tuple(ignores)


def read_change_ignores(diff: Section, problems: Problems) -> tuple[Ignore, ...]:
    """Read ``diff``. Each entry needs the code of a difference, names, and a reason."""
    ignores = []
    for section in diff.sections("ignore"):
        ignore = _ignore(section, "about")
        if not ignore.names:
            section.refuse("about", "one or more coordinates, tools or other names")
        if _is_known(ignore, CHANGE_CODES, problems, path="diff.ignore"):
            ignores.append(ignore)
    return tuple(ignores)


def _ignore(section: Section, key: str) -> Ignore:
    return Ignore(
        code=section.text("code"),
        names=frozenset(section.values(key)),
        reason=" ".join(section.text("reason").split()),
        at=section.place("code"),
    )


def _is_known(ignore: Ignore, codes: Collection[str], problems: Problems, *, path: str) -> bool:
    if ignore.code not in codes:
        sentence = f'{path}: there is no code "{ignore.code:.80}"{did_you_mean(ignore.code, codes)}'
        problems.add(ignore.at, sentence, code="unknown-code")
    return ignore.code in codes


def left_over(warnings: Iterable[Problem], ignores: Sequence[Ignore]) -> list[Problem]:
    """Return the warnings that no entry covers."""
    return [warning for warning in warnings if not any(each.covers(warning.code, warning.about) for each in ignores)]


def unused_ignores(warnings: Sequence[Problem], ignores: Iterable[Ignore]) -> Iterator[Problem]:
    """Warn of each entry that covers no warning."""
    for entry in ignores:
        if not any(entry.covers(warning.code, warning.about) for warning in warnings):
            about = " about these coordinates" if any(warning.code == entry.code for warning in warnings) else ""
            yield Problem(
                file=entry.at.file,
                line=entry.at.line,
                column=entry.at.column,
                sentence=f'checks.ignore: there is no warning "{entry.code}"{about}',
                code="unused-ignore",
            )
