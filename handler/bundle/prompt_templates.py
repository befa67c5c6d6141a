r"""The texts of prompts: ``{{argument}}`` stands for what a caller gives, and ``\{{`` for two braces."""

from __future__ import annotations

import re
from collections.abc import Mapping

PLACEHOLDER = re.compile(r"\\\{\{|\{\{([A-Za-z0-9_-]+)\}\}")


def expand(template: str, values: Mapping[str, str]) -> str:
    """The text for these values, in which nothing is looked for again. An argument without a value is empty."""
    return PLACEHOLDER.sub(lambda found: values.get(found[1], "") if found[1] else "{{", template)


def expanded_chars(template: str, values: Mapping[str, str]) -> int:
    """The most characters that the text may have, told without making it."""
    return len(template) + sum(len(values.get(name, "")) for name in PLACEHOLDER.findall(template))
