"""The page without a mouse, on a narrow screen, and in both colour schemes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.page.browser import DESK, PHONE, Look, looking
from tests.page.endpoints import STATE_KEY, desk
from tests.page.servers import serving

BARS = ("tool-tabs", "bottom-tabs")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("devices")
    with desk(folder), serving("dev", str(folder), STILE_STATE_KEY=STATE_KEY) as server:
        yield f"{server.url}/shop/desk"


def focused(look: Look) -> str:
    """What has the focus: its name for a screen reader, or its part."""
    return str(
        look.page.evaluate(
            "[document.activeElement].map((it) => it.dataset.part || it.id || it.innerText || it.localName)[0]"
        )
    )


def press_until(look: Look, key: str, wanted: str, *, most: int = 60) -> None:
    """Press a key until the focus is where a person wants it."""
    passed = []
    for _ in range(most):
        if wanted in focused(look):
            return
        look.page.keyboard.press(key)
        passed.append(focused(look))
    raise AssertionError(f"{wanted} is not reached by {key}: {passed}")


def test_call_by_the_keyboard_alone(browser: Any, url: str) -> None:
    with looking(browser, url) as look:
        look.part("tool").first.wait_for()
        look.page.keyboard.press("/")
        assert focused(look) == "search"
        look.page.keyboard.type("one_order")
        look.page.wait_for_timeout(300)
        look.page.keyboard.press("ArrowDown")
        assert "one_order" in focused(look)
        look.page.keyboard.press("Enter")
        look.part("tool-title").wait_for()
        for _ in range(60):
            look.page.keyboard.press("Tab")
            if look.page.evaluate("document.activeElement.matches('[data-path=\"/number\"] input')"):
                break
        look.page.keyboard.type("12")
        press_until(look, "Tab", "send")
        look.page.keyboard.press("Enter")
        assert "SENT" in look.shown()


def test_each_stop_of_the_tab_key_is_seen_and_named(browser: Any, url: str) -> None:
    with looking(browser, url) as look:
        look.part("tool").first.wait_for()
        look.open("one_order")
        stops: list[str] = []
        for _ in range(80):
            look.page.keyboard.press("Tab")
            told = look.page.evaluate(
                """() => { const it = document.activeElement, box = it.getBoundingClientRect();
                const style = getComputedStyle(it);
                return {body: it === document.body, html: it.outerHTML.slice(0, 120), wide: box.width,
                  visible: it.matches(':focus-visible'),
                  marked: style.outlineStyle !== 'none' || style.boxShadow !== 'none'}; }"""
            )
            if told["body"]:
                break
            assert told["wide"] > 0, told
            assert told["visible"], told
            assert told["marked"], told
            stops.append(told["html"])
        assert 5 < len(stops) < 80


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_states_fit_the_screen_and_have_no_findings(
    browser: Any, url: str, scheme: str, viewport: dict[str, int]
) -> None:
    with looking(browser, url, color_scheme=scheme, viewport=viewport) as look:
        look.part("tool").first.wait_for()
        _judge(look, "list")
        look.open("one_order")
        _judge(look, "tool")
        look.enter("/number", "7")
        look.send()
        for tab in ("result", "model", "sent", "log"):
            look.tab(tab, bar="result-tabs")
            look.page.wait_for_timeout(100)
            _judge(look, f"result {tab}")
        for bar in BARS:
            for tab in look.page.locator(f'[data-part="{bar}"] > [role="tablist"] > [role="tab"]').all():
                name = tab.get_attribute("data-tab")
                tab.scroll_into_view_if_needed()
                tab.click()
                look.page.wait_for_timeout(300)
                _judge(look, f"{bar} {name}")


def _judge(look: Look, state: str) -> None:
    width = look.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert width[0] <= width[1], (state, width)
    assert look.findings() == [], state


def test_switch_of_colours_wins_over_the_system_and_is_remembered(browser: Any, url: str) -> None:
    ground = "getComputedStyle(document.getElementById('header')).backgroundColor"
    with looking(browser, url, color_scheme="light") as look:
        look.part("tool").first.wait_for()
        light = look.page.evaluate(ground)
        for _ in range(2):
            look.part("theme").click()
        dark = look.page.evaluate(ground)
        assert dark != light
        look.page.reload()
        look.part("tool").first.wait_for()
        assert look.page.evaluate(ground) == dark
        assert look.findings() == []
