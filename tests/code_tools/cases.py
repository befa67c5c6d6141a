"""The acceptance cases of tools in Python: which there are, and which test stands for which."""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

HERE = Path(__file__).parent
TESTS = HERE.parent

FILES = (("code_tools", "test_*.py"), ("server", "test_code_*.py"), ("compiler", "test_code*.py"))
"""Where tests that stand for cases are."""

Test = TypeVar("Test", bound=Callable[..., object])


def case(*ids: str) -> Callable[[Test], Test]:
    """Say which cases of ``cases.txt`` a test stands for."""

    def mark(test: Test) -> Test:
        vars(test)["cases"] = ids
        return test

    return mark


def all_cases() -> list[str]:
    """The ids, in the order of ``cases.txt``."""
    lines = (HERE / "cases.txt").read_text(encoding="utf-8").splitlines()
    return [line.split()[0] for line in lines if line and not line.startswith("#")]


def excluded_cases() -> dict[str, str]:
    """Ids that no test stands for, each with the reason."""
    return tomllib.loads((HERE / "excluded.toml").read_text(encoding="utf-8"))


def covered_cases() -> Iterator[str]:
    """The ids that tests name: those of this folder, and those of other parts that have code of authors."""
    for folder, pattern in FILES:
        for file in sorted((TESTS / folder).rglob(pattern)):
            module = ".".join(("tests", *file.relative_to(TESTS).with_suffix("").parts))
            for each in vars(importlib.import_module(module)).values():
                yield from getattr(each, "cases", ())
