"""Programs of ``infra/``, which is no package, as modules."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

from tests.conftest import ROOT


def program(name: str) -> Any:
    """The module of a program."""
    known = f"infra_{name}"
    if known not in sys.modules:
        spec = spec_from_file_location(known, ROOT / "infra" / f"{name}.py")
        assert spec
        assert spec.loader
        sys.modules[known] = module = module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[known]
