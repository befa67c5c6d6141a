from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from handler.commands.local.dev_session import code_places, forget_modules, restore_modules


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path in ("acme_shop/orders/__init__.py", "acme_shop/__init__.py", "acme_shop/prices.py", "acme_single.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("raise RuntimeError")
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("modules", "places"),
    [
        ("", []),
        ("acme_single", ["acme_single.py"]),
        ("acme_shop", ["acme_shop"]),
        ("acme_shop.orders,acme_shop.prices", ["acme_shop/orders", "acme_shop/prices.py"]),
        ("acme_nowhere,acme_shop.nothing", []),
        ("__main__", []),
        ("no module", []),
    ],
)
def test_modules_are_found_without_being_imported(
    folder: Path, monkeypatch: pytest.MonkeyPatch, modules: str, places: list[str]
) -> None:
    monkeypatch.setenv("STILE_CODE_MODULES", modules)
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))

    assert code_places() == [folder / place for place in places]


def test_what_is_forgotten_can_be_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STILE_CODE_MODULES", "acme_shop")
    old, other = ModuleType("acme_shop.orders"), ModuleType("acme_shopping")
    monkeypatch.setitem(sys.modules, "acme_shop.orders", old)
    monkeypatch.setitem(sys.modules, "acme_shopping", other)

    former = forget_modules()

    assert former == {"acme_shop.orders": old}
    assert sys.modules["acme_shopping"] is other
    assert "acme_shop.orders" not in sys.modules
    sys.modules["acme_shop.new"] = ModuleType("acme_shop.new")
    restore_modules(former)
    assert sys.modules["acme_shop.orders"] is old
    assert "acme_shop.new" not in sys.modules
