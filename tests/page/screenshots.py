"""Take the pictures of the page that the documents show: ``python -m tests.page.screenshots [NAME…]``."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.conftest import ROOT
from tests.page.browser import DESK, PHONE, Look, looking, running_browser
from tests.page.endpoints import STATE_KEY, desk
from tests.page.servers import serving

IMAGES = ROOT / "docs" / "images"


def call(look: Look) -> None:
    look.choose_persona("ada")
    look.page.wait_for_timeout(300)
    look.open("salaries")
    look.send()


def form(look: Look) -> None:
    look.open("one_order")
    look.enter("/number", "1042")
    look.send()


def why(look: Look) -> None:
    look.choose_persona("ben")
    look.page.locator('[data-part="tool"][data-name="salaries"] [data-part="why"]').click()
    look.part("why-dialog").get_by_text("config.yaml").first.wait_for()


def reach(look: Look) -> None:
    look.tab("reach", bar="bottom-tabs")
    look.part("reach-search").fill("Employee.salary")
    look.part("reach-table").wait_for()
    look.part("reach-table").scroll_into_view_if_needed()


def editor(look: Look) -> None:
    look.open("ask_desk")
    look.tab("graphql")
    look.page.locator('iframe[data-part="editor-frame"][data-ready="true"][data-types]').wait_for()
    frame = look.page.frame_locator('iframe[data-part="editor-frame"]')
    frame.locator('[data-part="document-text"]').click()
    look.page.keyboard.press("Control+a")
    look.page.keyboard.insert_text("{\n  employees {\n    name\n    manager { name }\n  }\n}\n")
    look.page.wait_for_timeout(400)
    look.part("run").click()
    look.part("graphql-outcome").wait_for()


def first(look: Look) -> None:
    form(look)
    look.page.go_back()
    look.part("live-call").first.wait_for()
    look.part("api-state", has="takes connections").wait_for()


PICTURES: dict[str, tuple[Callable[[Look], None], str, dict[str, int]]] = {
    "page-first": (first, "light", DESK),
    "page-light": (call, "light", DESK),
    "page-dark": (why, "dark", DESK),
    "page-reach": (reach, "light", DESK),
    "page-graphql": (editor, "dark", DESK),
    "page-first-phone": (first, "dark", PHONE),
    "page-phone": (form, "light", PHONE),
    "page-phone-dark": (form, "dark", PHONE),
}


def main(wanted: list[str]) -> int:
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, desk(Path(folder)), running_browser() as browser:
        for name in wanted or PICTURES:
            with serving("dev", folder, STILE_STATE_KEY=STATE_KEY) as server:
                _take(browser, f"{server.url}/shop/desk", name)
    return 0


def _take(browser: Any, url: str, name: str) -> None:
    show, scheme, viewport = PICTURES[name]
    with looking(browser, url, color_scheme=scheme, viewport=viewport) as look:
        look.part("tool").first.wait_for()
        show(look)
        look.page.wait_for_timeout(500)
        file = IMAGES / f"{name}.png"
        look.page.screenshot(path=str(file), animations="disabled", caret="hide")
        sys.stdout.write(f"{file.relative_to(ROOT)}: {file.stat().st_size // 1000} kB\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
