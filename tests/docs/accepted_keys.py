"""The keys that ``config.yaml`` takes, found by asking the compiler: an unknown key is answered with the known ones."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from handler.compiler.compile import compile_endpoint
from handler.compiler.config.table import STEPZEN_IGNORED
from handler.errors.authoring import CompileError
from tests.support.endpoints import write_endpoint

SDL = "scalar Money type Query { a(x: Money): Int }"
UNKNOWN = "no_such_key"

BESIDE: Mapping[str, Mapping[str, str]] = {"upstream.auth": {"header": "x-key"}}
"""Section -> what stands in it as well: some keys are known beside another one only."""

NAMED: Mapping[str, str] = {"scalars": "Money", "ui.pages": "orders"}
"""Sections whose keys are an author's own -> a name that fits."""

ALIKE = "deployment.identity"
"""A section that takes what another one takes."""

SILENT: Mapping[str, tuple[str, ...]] = {"": ("deployment", *STEPZEN_IGNORED)}
"""Keys that are taken for StepZen's sake, and that no problem offers."""


def accepted_keys(folder: Path) -> Iterator[str]:
    """Every path of a key, sections before what is in them; of an item of a list as ``policies[].type``."""
    yield from _below("", (), folder)


def _below(path: str, steps: tuple[str, ...], folder: Path) -> Iterator[str]:
    for key in (*_known(path, steps, folder), *SILENT.get(path, ())):
        name = f"{path}.{key}" if path else key
        yield name
        if name == ALIKE:
            assert _known(name, (*steps, key), folder) == _known("identity", ("identity",), folder)
        elif name in NAMED:
            yield from _below(f"{name}.NAME", (*steps, key, NAMED[name]), folder)
        elif _known(name, (*steps, key), folder):
            yield from _below(name, (*steps, key), folder)
        else:
            yield from _below(f"{name}[]", (*steps, key, "[]"), folder)


def _known(path: str, steps: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """The keys of a section; none where the place takes no mapping."""
    value: Any = {UNKNOWN: "x", **BESIDE.get(path, {})}
    for step in reversed(steps):
        value = [value] if step == "[]" else {step: value}
    try:
        compile_endpoint(write_endpoint(folder, {"index.graphql": SDL, "config.yaml": json.dumps(value)}))
    except CompileError as exc:
        for problem in exc.problems:
            place = "".join("[0]" if step == "[]" else f".{step}" for step in steps).removeprefix(".")
            shown = f"{place}.{UNKNOWN}".removeprefix(".")
            found = re.fullmatch(rf'unknown key "{re.escape(shown)}": expected one of ([^;]+)(;.*)?', problem.sentence)
            if found:
                return tuple(found[1].split(", "))
    return ()
