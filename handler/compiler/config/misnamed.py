"""Files beside ``config.yaml`` with names that an author may take for one that is read, and that are not read.

An endpoint without its ``config.yaml`` has no policies, no ``access.hide`` and no identity: `stile dev` would show
everything. So a file that only seems to be ``config.yaml`` is an error if ``config.yaml`` is missing. Beside a
``config.yaml`` such a file is a warning, because another program may read it. So is a file that only seems to have the
tests of policies or the questions: its expectations would never be judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from handler.compiler.problems import Place, Problems
from handler.compiler.source.files import CONFIG, POLICY_TESTS, QUESTIONS, EndpointFiles, join

STEM, SUFFIX = CONFIG.split(".")
SUFFIXES = (".yaml", ".yml")
ADDED = ".txt"
"""The suffix that some editors add, and some file managers hide."""

OTHER_STEMS = ("conf", "configuration")
LIKENESS = 0.9
"""``confg``, ``cnofig`` and ``configs`` are like ``config``."""

TESTING = {name.removesuffix(".yaml"): name for name in (POLICY_TESTS, QUESTIONS)}
TESTING_LIKENESS = 0.8
"""``policy.test`` and ``policies.tests`` are like ``policies.test``, and ``policies`` is not."""


def report_misnamed(files: EndpointFiles, file: str, problems: Problems) -> None:
    """Report the unread files beside ``file``, which is ``config.yaml``, that look like it or a stage's file."""
    exists = files.exists(file)
    for name, meant in misnamed_files(files.names_beside(file)):
        if exists and meant == CONFIG and name.casefold() == CONFIG:
            continue  # a file system that ignores case reads it
        at = Place(join(file, name))
        if exists:
            remedy = f"move what it says to {CONFIG}" if meant == CONFIG else f"rename it to {meant}"
            sentence = f"this file is not read beside {CONFIG}: {remedy}, or remove it"
            problems.warn(at, sentence, code="unread-file", about=[at.file])
        else:
            sentence = (
                f"this file is not read, so its policies, identity and upstream do not hold: rename it to {meant}"
            )
            problems.add(at, sentence, code="misnamed-config")
    for name, meant in _misnamed_tests(files.names_beside(file)):
        if name.casefold() == meant and files.exists(join(file, meant)):
            continue  # a file system that ignores case reads it
        at = Place(join(file, name))
        problems.warn(
            at, f"this file is not read: rename it to {meant}, or remove it", code="unread-file", about=[name]
        )


def misnamed_files(names: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the names that are not read but look as if they were, each with the name that may be meant."""
    for name in names:
        stem, *stage = _without_suffix(name).split(".")
        meant = ".".join((STEM, *stage, SUFFIX))
        if stem and len(stage) < 2 and meant != name and _is_alike(stem) and _has_suffix(name):
            yield name, meant


def _misnamed_tests(names: list[str]) -> Iterator[tuple[str, str]]:
    for name in names:
        stem = _without_suffix(name).casefold().replace("-", ".").replace("_", ".")
        alike = get_close_matches(stem, TESTING, n=1, cutoff=TESTING_LIKENESS) if _has_suffix(name) else []
        if alike and name != TESTING[alike[0]]:
            yield name, TESTING[alike[0]]


def _has_suffix(name: str) -> bool:
    return name.casefold().removesuffix(ADDED).endswith(SUFFIXES)


def _without_suffix(name: str) -> str:
    plain = name[: -len(ADDED)] if name.casefold().endswith(ADDED) else name
    return plain.rpartition(".")[0]


def _is_alike(stem: str) -> bool:
    return stem.casefold() in OTHER_STEMS or bool(get_close_matches(stem.casefold(), [STEM], cutoff=LIKENESS))
