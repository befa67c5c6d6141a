"""Headless Chromium over pages of this machine, and all that a page did wrong while a test looked at it."""

from __future__ import annotations

import importlib
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.conftest import ROOT
from tests.support.require import requires
from tests.support.secrecy import SESSION, Output

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
DRIVER = ROOT / ".stile" / "page"
AXE = ROOT / ".stile" / "node-page" / "node_modules" / "axe-core" / "axe.min.js"
WAIT_MS = 10_000
DESK = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}

# The bindings exist before any script of the page: a violation and a script of a hostile text are told to the test.
WATCHING = """
addEventListener("securitypolicyviolation", (event) => stileViolation(
  `${event.violatedDirective}: ${event.blockedURI || "inline"} in ${event.sourceFile}:${event.lineNumber}`));
window.canary = (what) => stileCanary(String(what));
"""

# What makes a frame too slow or a list too large is asked of the page by tests, and nothing else of it by script.
Page = Any
Locator = Any


def find_chromium() -> str | None:
    """Return the path of Debian's Chromium, or of another program that is one."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


@contextmanager
def running_browser() -> Iterator[Any]:
    """Chromium without a window. Tests are skipped where it, its driver or the rules of accessibility are missing."""
    program = find_chromium()
    requires("chromium", program, "`apt-get install chromium` installs it")
    requires("chromium", DRIVER.joinpath(".stamp").is_file(), "`make page` installs its driver")
    requires("node", AXE.is_file(), "`make page` installs the rules of accessibility with npm")
    if str(DRIVER) not in sys.path:
        sys.path.append(str(DRIVER))  # behind .venv, whose packages win
    driver = importlib.import_module("playwright.sync_api")
    with driver.sync_playwright() as playwright:
        # Chromium's sandbox needs rights that root and containers lack.
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


class Troubles:
    """What no page may do: errors, violations, requests to other hosts, dialogs, and scripts of texts."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self.requests: list[str] = []
        self.allowed: list[str] = []

    def allow(self, part: str) -> None:
        """Expect an error of the console that has this part, such as the status of a refused request."""
        self.allowed.append(part)

    def note(self, what: str) -> None:
        if not any(part in what for part in self.allowed):
            self.found.append(what[:2_000])

    def watch(self, context: Any) -> None:
        """Listen to all pages of a context."""
        context.expose_binding("stileViolation", lambda _, what: self.note(f"policy violated: {what}"))
        context.expose_binding("stileCanary", lambda _, what: self.note(f"a script of a text ran: {what}"))
        context.add_init_script(WATCHING)
        context.on("page", self._watch_page)
        context.on("request", self._watch_request)
        context.on("weberror", lambda error: self.note(f"uncaught: {error.error}"))

    def _watch_page(self, page: Page) -> None:
        page.on("console", self._watch_console)
        page.on("dialog", self._refuse_dialog)
        page.on("download", lambda each: self.note(f"downloaded: {each.url}"))
        page.on("crash", lambda _: self.note("the page crashed"))

    def _watch_console(self, message: Any) -> None:
        if message.type in ("error", "warning", "assert"):
            where = message.location or {}
            self.note(f"console: {message.text} at {where.get('url', '')}:{where.get('lineNumber', '')}")

    def _refuse_dialog(self, dialog: Any) -> None:
        self.note(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _watch_request(self, request: Any) -> None:
        self.requests.append(request.url)
        if not request.url.startswith(("http://127.0.0.1:", "http://localhost:", "data:", "blob:", "about:")):
            self.note(f"request to another host: {request.url}")


class Look:
    """One window over one page, as an author has it."""

    def __init__(self, page: Page, troubles: Troubles) -> None:
        self.page = page
        self.troubles = troubles

    def part(self, name: str, *, within: Locator | None = None, has: str | None = None) -> Locator:
        """The visible elements that the page marks with this name."""
        found = (within or self.page).locator(f'[data-part="{name}"]:visible')
        return found.filter(has_text=has) if has else found

    def open(self, name: str) -> None:
        """Open a tool by its name, once the list is whole: a tool that is open before is drawn again with its entry."""
        self.page.locator('nav[aria-busy="true"]').wait_for(state="detached")
        self.page.locator(f'[data-part="tool"][data-name="{name}"] button.tool').click()
        self.page.locator('[data-part="tool-title"]').filter(has_text=name).wait_for()

    def tab(self, name: str, *, bar: str = "tool-tabs") -> None:
        """Show a tab of the tool, the result or the bottom bar."""
        self.page.locator(f'[data-part="{bar}"] [data-tab="{name}"][role="tab"]').first.click()

    def view(self, name: str) -> None:
        """Show the arguments as a form, or as JSON."""
        self.page.locator(f'[data-part="view"][data-tab="{name}"]').click()

    def until(self, script: str) -> None:
        """Wait until a script of the test gives something true. The page's policy allows no script to be made there."""
        deadline = time.monotonic() + WAIT_MS / 1000
        while not self.page.evaluate(script):
            if time.monotonic() > deadline:
                raise AssertionError(f"never true: {script}")
            self.page.wait_for_timeout(50)

    def field(self, path: str) -> Locator:
        """The field of an argument by its JSON pointer."""
        return self.page.locator(f'[data-part="field"][data-path="{path}"]')

    def enter(self, path: str, value: str | bool) -> None:
        """Type a value into a field, or choose it."""
        control = self.field(path).locator("input:visible, select:visible, textarea:visible").first
        tag = control.evaluate("each => ['checkbox', 'radio'].includes(each.type) ? each.type : each.localName")
        if tag == "checkbox":
            control.set_checked(bool(value))
        elif tag == "radio":
            self.field(path).get_by_label(str(value), exact=True).check()
        elif tag == "select":
            control.select_option(str(value))
        else:
            control.fill(str(value))

    def send(self) -> str:
        """Send the call, and return what the result shows."""
        self.part("send").first.click()
        return self.shown()

    def shown(self) -> str:
        """Return the text of the result, once no call is going on."""
        self.part("result").first.wait_for()
        self.page.locator('[data-part="busy"]:visible').wait_for(state="hidden")
        return str(self.part("result").first.inner_text())

    def choose_persona(self, label: str) -> None:
        """Look as another caller."""
        select = self.part("persona").first
        options = select.locator("option").all_inner_texts()
        select.select_option(label=next(each for each in options if label in each))

    def findings(self) -> list[str]:
        """Return what the rules of accessibility find in each document of the page, as it is now."""
        found: list[str] = []
        for frame in self.page.frames:
            frame.evaluate(AXE.read_text(encoding="utf-8"))
            told = frame.evaluate("axe.run(document, {resultTypes: ['violations'], iframes: false})")
            for each in told["violations"]:
                nodes = "; ".join(f"{node['target']}: {node['html'][:160]}" for node in each["nodes"][:5])
                found.append(f"{each['impact']} {each['id']}: {each['help']}: {nodes}")
        return found


@contextmanager
def looking(browser: Any, url: str, *, headers: dict[str, str] | None = None, **options: Any) -> Iterator[Look]:
    """A new window over ``url``. Whatever the page does wrong in it fails the test at the end."""
    troubles = Troubles()
    options = {"viewport": DESK, "color_scheme": "light", "reduced_motion": "reduce", **options}
    context = browser.new_context(extra_http_headers=headers or {}, **options)
    context.set_default_timeout(WAIT_MS)
    troubles.watch(context)
    try:
        page = context.new_page()
        page.goto(url)
        yield Look(page, troubles)
        SESSION.note(Output.PEER, page.content())
    except BaseException as exc:
        exc.add_note("\n".join(troubles.found))
        raise
    finally:
        context.close()
    if troubles.found:
        raise AssertionError("\n".join(["the page did what no page may do:", *troubles.found]))
