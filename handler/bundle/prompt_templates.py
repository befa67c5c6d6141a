r"""The texts of prompts: ``{{argument}}`` is replaced by the caller's value, and ``\{{`` means two braces."""

from __future__ import annotations

import re
from collections.abc import Mapping

PLACEHOLDER = re.compile(r"\\\{\{|\{\{([A-Za-z0-9_-]+)\}\}")


def expand(template: str, values: Mapping[str, str]) -> str:
    """Return the text for these values, which are not expanded again. An argument without a value is empty."""
    return PLACEHOLDER.sub(lambda found: values.get(found[1], "") if found[1] else "{{", template)


def expanded_chars(template: str, values: Mapping[str, str]) -> int:
    """Return an upper bound of the text's length, without expanding it."""
    return len(template) + sum(len(values.get(name, "")) for name in PLACEHOLDER.findall(template))
