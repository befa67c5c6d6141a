"""Tell values that JSON can hold as they are."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any


def _is_text(value: Any) -> bool:
    return type(value) is str


def is_json(value: Any, *, is_text: Callable[[Any], bool] = _is_text) -> bool:
    """Tell if JSON can hold a value as it is. ``is_text`` judges its texts and names."""
    if type(value) is dict:
        return all(is_text(name) and is_json(each, is_text=is_text) for name, each in value.items())
    if type(value) is list:
        return all(is_json(each, is_text=is_text) for each in value)
    if type(value) is float:
        return math.isfinite(value)
    return value is None or type(value) in (int, bool) or is_text(value)


def is_unicode(value: Any) -> bool:
    """Tell if a value is a text without a lone surrogate, which pydantic refuses."""
    if type(value) is not str:
        return False
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
