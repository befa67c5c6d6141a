"""The reload of authors' modules in a running process, and their restoration if the reload fails."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from handler.code_tools.modules import is_among
from handler.errors.infrastructure import SettingsError
from handler.settings import read_code_modules


def code_places() -> list[Path]:
    """Return the places of ``STILE_CODE_MODULES``: folders of packages, files of modules; empty if none is found."""
    try:
        modules = read_code_modules(os.environ)
    except SettingsError:  # the compiler reports it
        return []
    return [place for module in modules for place in _places_of(module)]


def forget_modules() -> dict[str, ModuleType]:
    """Remove the modules of ``STILE_CODE_MODULES``, so that the next import reads them again, and return them."""
    modules = read_code_modules(os.environ)
    former = {name: module for name, module in sys.modules.items() if is_among(name, modules)}
    for name in former:
        del sys.modules[name]
    return former


def restore_modules(former: dict[str, ModuleType]) -> None:
    """Restore the modules that ``forget_modules`` returned."""
    forget_modules()
    sys.modules.update(former)


def _places_of(module: str) -> Iterator[Path]:
    """Yield the places of a module, without any import, because the import may be the failure."""
    top, *below = module.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):  # a module in sys.modules without a file
        return
    if spec is None:
        return
    folders = [Path(each, *below) for each in spec.submodule_search_locations or ()]
    files = [each.with_suffix(".py") for each in folders] if below else [Path(spec.origin or "nowhere")]
    found = [place for place in folders if place.is_dir()]
    yield from found or [place for place in files if place.is_file()]
