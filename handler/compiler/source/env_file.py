"""Read ``STEPZEN_`` variables from the environment and ``.env``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property

from handler.compiler.source.files import EndpointFiles

NAME = re.compile(r"STEPZEN_[A-Za-z0-9_]+")
"""The name of a variable. A value in config.yaml that is only such a name stands for the variable's value."""

_LINE = re.compile(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=(.*)")
_QUOTED = re.compile(r"""(["'])(.*?)\1\s*(?:#.*)?""")


class Variables:
    """The ``STEPZEN_`` variables of the environment, then of ``.env`` beside config.yaml.

    ``.env`` is read when a variable is first missing from the environment.

    Source: StepZen's command line, which loads ``.env`` and lets the environment win.
    """

    def __init__(self, environ: Mapping[str, str], files: EndpointFiles, env_file: str) -> None:
        self._environ = environ
        self._files = files
        self._env_file = env_file

    def find(self, name: str) -> str | None:
        """Find the value of a variable; ``None`` if it is not set or not valid text."""
        value = self._environ.get(name)
        if value is None:
            value = self._of_file.get(name)
        return None if value is None or _has_half_characters(value) else value

    @cached_property
    def _of_file(self) -> dict[str, str]:
        text = self._files.read(self._env_file) if self._files.exists(self._env_file) else None
        return parse_env(text or "")


def parse_env(text: str) -> dict[str, str]:
    """Parse the assignments of an ``.env`` file. Other lines are skipped, as other readers of such files do."""
    matches = (_LINE.fullmatch(line.strip()) for line in text.splitlines())
    return {match[1]: _unquoted(match[2].strip()) for match in matches if match}


def _unquoted(value: str) -> str:
    quoted = _QUOTED.fullmatch(value)
    return quoted[2] if quoted else re.split(r"(?:^|\s)#", value, maxsplit=1)[0].strip()


def _has_half_characters(value: str) -> bool:
    """Return whether a value holds bytes of the environment that are not UTF-8: JSON cannot carry them."""
    return any("\ud800" <= each <= "\udfff" for each in value)
