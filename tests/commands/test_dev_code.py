"""`stile dev` with tools in Python, in a process of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.running import change
from tests.commands.test_dev import running_dev
from tests.support.endpoints import write_endpoint

KIT = 'from stile import Toolkit\nkit = Toolkit()\n@kit.tool\ndef one() -> str:\n    "One."\n    return "1"\n'
CONFIG = 'access: {anonymous: allow}\ncode: [{use: "shop_tools.kits:kit", condition: true}]\n'


def test_saving_a_module_takes_over_and_a_mistake_does_not(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STILE_CODE_MODULES", "shop_tools")
    write_endpoint(workplace / "endpoints", {"config.yaml": CONFIG})
    module = workplace / "shop_tools" / "kits.py"
    module.parent.mkdir()
    module.write_text(KIT, encoding="utf-8")
    with running_dev("endpoints") as dev:
        dev.url = dev.wait_for(r"^(http://127\.0\.0\.1:\d+)/api/things/mcp: 1 tool: one$")[1]
        dev.wait_for("Ctrl-C ends it")
        assert dev.tools() == ["one"]

        change(module, "def one()", "def two()")
        dev.wait_for("1 tool: two")
        assert dev.tools() == ["two"]

        change(module, "def two()", "def two(")
        dev.wait_for("SyntaxError")
        dev.wait_for("still the last good version")
        assert dev.tools() == ["two"]

        change(module, "def two(", "def six()")
        dev.wait_for("1 tool: six")
        assert dev.tools() == ["six"]
