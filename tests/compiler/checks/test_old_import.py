from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.diagnostics import Reported
from tests.support.endpoints import READABLE, doubted
from tests.support.modules import Modules, modules

__all__ = ["modules"]

KIT = """
kit = Toolkit()


@kit.tool
def one() -> str:
    "Give one."
    return "1"
"""


def warnings(folder: Path, modules: Modules, *uses: str) -> list[Reported]:
    kits = ", ".join(f'{{use: "{use}", condition: true}}' for use in uses)
    files = {"index.graphql": "type Query { a: String }\n", "config.yaml": f"{READABLE}code: [{kits}]\n"}
    return doubted(folder, files, **modules.environ)


@pytest.mark.parametrize(
    ("old", "name", "new"),
    [
        ("from handler import Toolkit", "handler", "from stile import Toolkit"),
        (
            "from handler import (\n    Context,\n    Toolkit as Toolkit,\n)",
            "handler",
            "from stile import Context, Toolkit as Toolkit",
        ),
        ("import handler; Toolkit = handler.Toolkit", "handler", "import stile"),
        ("import json, handler as h; Toolkit = h.Toolkit", "handler", "import json, stile as h"),
        (
            "from handler.testing import Answer\nfrom stile import Toolkit",
            "handler.testing",
            "from stile.testing import Answer",
        ),
        ("import handler.testing; from stile import Toolkit", "handler.testing", "import stile.testing"),
    ],
)
def test_import_from_an_old_place_is_a_warning_at_its_line_with_the_new_one(
    tmp_path: Path, modules: Modules, old: str, name: str, new: str
) -> None:
    file = modules.write("shop_tools.py", f'"""Tools."""\n\n{old}\n{KIT}')

    assert warnings(tmp_path, modules, "shop_tools:kit") == [f"{file}:3:1 old-import: {name} & `{new}`"]


def test_imports_of_the_new_place_and_of_what_was_never_public_are_no_warnings(
    tmp_path: Path, modules: Modules
) -> None:
    modules.write(
        "shop_tools.py",
        "from handler.cold.records import record\nimport handler_of_orders\nfrom stile import Toolkit\n" + KIT,
    )
    modules.write("handler_of_orders.py", "")

    assert warnings(tmp_path, modules, "shop_tools:kit") == []


def test_all_files_of_the_package_of_a_kit_are_read_and_no_others(tmp_path: Path, modules: Modules) -> None:
    modules.write(
        "shop/tools.py", "from . import found\nfrom .lists.texts import said\nfrom stile import Toolkit\n" + KIT
    )
    package = modules.write("shop/__init__.py", "def late():\n    import handler\n")
    found = modules.write("shop/found.py", "from handler import Text\n")
    texts = modules.write(
        "shop/lists/texts.py",
        "from .. import found\nfrom handler import Text as said\ndef never():\n    from .... import gone\n",
    )
    unused = modules.write("shop/lists/unused.py", "from handler import Image\n")
    modules.write("shop/handler.py", "")
    modules.write("shop/lists/more.py", "from ..handler import *\n")
    (modules.folder / "library.py").write_text("from handler import Audio\n", encoding="utf-8")  # is not the author's
    modules.write("other_tools.py", "import library, shop.lists.more\nfrom stile import Toolkit\n" + KIT)
    environ = modules.environ

    told = warnings(tmp_path, modules, "shop.tools:kit")

    assert environ == {"STILE_CODE_MODULES": "other_tools,shop"}
    assert [each.partition(": ")[0] for each in told] == [
        f"{package}:2:5 old-import",
        f"{found}:1:1 old-import",
        f"{texts}:2:1 old-import",
        f"{unused}:1:1 old-import",
    ]
    again = warnings(tmp_path / "other", modules, "other_tools:kit")
    assert again == []


def test_two_kits_of_one_module_are_one_warning(tmp_path: Path, modules: Modules) -> None:
    modules.write("shop_tools.py", f"from handler import Toolkit\n{KIT}more = Toolkit()\n")

    found = warnings(tmp_path, modules, "shop_tools:kit", "shop_tools:more")

    assert [each.split()[1] for each in found] == ["old-import:", "empty-toolkit:"]


def test_module_whose_source_went_is_no_warning(tmp_path: Path, modules: Modules) -> None:
    modules.write("shop_tools.py", f"from handler import Toolkit\nimport os\n{KIT}\nos.unlink(__file__)\n")

    assert warnings(tmp_path, modules, "shop_tools:kit") == []
