"""Checks if authors' modules may be imported, and if they exist, without importing any of them."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def is_among(module: str, modules: Sequence[str]) -> bool:
    """Return whether a module is one of ``modules``, or in one of these packages."""
    return any(module == each or module.startswith(f"{each}.") for each in modules)


def is_there(module: str) -> bool:
    """Return whether a module can be found; true as well if only an import could show it."""
    package, places = "", None
    for part in module.split("."):
        if not part:
            return False
        name = f"{package}.{part}" if package else part
        if name in sys.modules:
            if sys.modules[name] is None:  # None in sys.modules forbids the import
                return False
            package, places = name, getattr(sys.modules[name], "__path__", None)
            continue
        if package and places is None:
            return False
        try:
            spec = next(filter(None, (finder.find_spec(name, places, None) for finder in sys.meta_path)), None)
        except (AttributeError, ImportError, KeyError, ValueError):
            return True  # such as a nested folder without __init__.py, whose path only an import sets
        if spec is None:
            return False
        package, places = name, spec.submodule_search_locations
    return True
