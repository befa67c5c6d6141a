"""Catalogues of diagnostics: texts of entries, each with a code, files, and what `stile check` reports of them.

::

    === unknown-field
    -- operations/o.graphql --
    query O { b }
    -- reports --
    operations/o.graphql:1:11: Cannot query field 'b' on type 'Query'.

Without its own, an entry has ``DEFAULT_INDEX`` as ``index.graphql``, or with a section ``no index.graphql`` none. Files
below ``modules/`` are Python modules of the author. A section ``environment`` has lines of the form ``NAME=value``.
An entry of an error has every error of its files; an entry of a warning has every warning of its code.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from handler.__main__ import main
from handler.compiler.codes import CODES
from tests.support.endpoints import write_endpoint
from tests.support.modules import Modules

CATALOGUE = Path(__file__).parent
DEFAULT_INDEX = "type Query { a: Int }\n"
MODULES = "modules/"
NO_INDEX = "no index.graphql"
ENVIRONMENT = "environment"
REPORTS = "reports"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One input, and the exact sentences that it gets, each after its place."""

    code: str
    files: Mapping[str, str]
    reports: tuple[str, ...]

    @property
    def endpoint(self) -> dict[str, str]:
        """The files of the endpoint folder."""
        special = (MODULES, NO_INDEX, ENVIRONMENT)
        own = {name: text for name, text in self.files.items() if not name.startswith(special)}
        has_index = any(name.endswith("index.graphql") for name in self.files)
        return own if has_index else {"index.graphql": DEFAULT_INDEX, **own}

    @property
    def modules(self) -> dict[str, str]:
        """The Python modules, by their paths."""
        return {name.removeprefix(MODULES): text for name, text in self.files.items() if name.startswith(MODULES)}

    @property
    def environ(self) -> dict[str, str]:
        """The environment variables that the entry sets."""
        lines = self.files.get(ENVIRONMENT, "").splitlines()
        return {name: value for name, _, value in (line.partition("=") for line in lines)}


def read_entries(area: str) -> list[Entry]:
    """Read the entries of one area, in their order."""
    text = (CATALOGUE / f"{area}.txt").read_text(encoding="utf-8")
    return [_entry(each) for each in re.split(r"^=== ", text, flags=re.MULTILINE)[1:]]


def _entry(text: str) -> Entry:
    code, *sections = re.split(r"^-- (.+) --\n", text.rstrip("\n") + "\n", flags=re.MULTILINE)
    files = dict(zip(sections[::2], sections[1::2], strict=True))
    return Entry(code=code.strip(), reports=tuple(files.pop(REPORTS).splitlines()), files=files)


def print_entries(entries: Iterable[Entry]) -> str:
    """Return the text that ``read_entries`` reads."""
    return "\n".join(
        f"=== {entry.code}\n"
        + "".join(f"-- {name} --\n{text}" for name, text in entry.files.items())
        + "".join(f"{line}\n" for line in (f"-- {REPORTS} --", *entry.reports))
        for entry in entries
    )


def found_by_check(entry: Entry, folder: Path) -> tuple[str, ...]:
    """Return what `stile check` reports of an entry's files, which are written below ``folder``."""
    modules = Modules(folder / "modules")
    for path, text in entry.modules.items():
        modules.write(path, text)
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as printed:
        patch.syspath_prepend(folder / "modules")
        for name, value in {**modules.environ, **entry.environ}.items():
            patch.setenv(name, value)
        patch.chdir(write_endpoint(folder, entry.endpoint))
        main(["check", ".", "--json"])
    modules.forget()
    endpoints = json.loads(printed.getvalue())["endpoints"]
    found = [each for endpoint in endpoints for each in (*endpoint["problems"], *endpoint["warnings"])]
    concerned = [each for each in found if _concerns(each["code"], entry.code)]
    assert entry.code in {each["code"] for each in concerned}, found
    lines = ["{file}:{line}:{column}: {sentence}".format(**each) for each in concerned]
    return tuple(line.replace(f"{folder.resolve()}/", "") for line in lines)


def _concerns(found: str, code: str) -> bool:
    return found == code or not (CODES[found].is_warning or CODES[code].is_warning)
