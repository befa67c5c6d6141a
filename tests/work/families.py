"""All families of requests that are searched."""

from __future__ import annotations

from collections.abc import Mapping

from tests.work.answers import ANSWERS
from tests.work.documents import DOCUMENTS, INTROSPECTION
from tests.work.genomes import Family
from tests.work.messages import HEADERS, MESSAGES
from tests.work.values import ARGUMENTS, BODIES, VARIABLE_VALUES

FAMILIES: Mapping[str, Family] = {
    family.name: family
    for family in (DOCUMENTS, INTROSPECTION, ARGUMENTS, VARIABLE_VALUES, BODIES, MESSAGES, HEADERS, ANSWERS)
}
