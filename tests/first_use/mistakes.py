"""All mistakes, in the order of their numbers."""

from __future__ import annotations

from tests.first_use.in_files import IN_FILES
from tests.first_use.with_apis import WITH_APIS
from tests.first_use.with_commands import WITH_COMMANDS

MISTAKES = tuple(sorted((*IN_FILES, *WITH_COMMANDS, *WITH_APIS), key=lambda mistake: mistake.number))
