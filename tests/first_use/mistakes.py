"""The lists of mistakes, each in the order of its numbers."""

from __future__ import annotations

from collections.abc import Mapping

from tests.first_use.in_files import IN_FILES
from tests.first_use.judging import Mistake
from tests.first_use.second import SECOND
from tests.first_use.third import THIRD
from tests.first_use.with_apis import WITH_APIS
from tests.first_use.with_commands import WITH_COMMANDS

MISTAKES = tuple(sorted((*IN_FILES, *WITH_COMMANDS, *WITH_APIS), key=lambda mistake: mistake.number))
LISTS: Mapping[str, tuple[Mistake, ...]] = {"first": MISTAKES, "second": SECOND, "third": THIRD}
