"""Markup and scripts in names, texts, answers, errors and claims are shown as text, in every place of the page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.page.browser import Look, looking
from tests.page.endpoints import STATE_KEY
from tests.page.hostile import CLAIMS_FILE, ELEMENT, MARKERS, hostile_endpoint
from tests.page.servers import Server, serving

TOOLS = ("ask_hostile", "text", "things", "fails", "long", "set")
BARS = ("tool-tabs", "result-tabs", "bottom-tabs", "view")

# Elements and attributes that only a hostile text could make, in the document, its frames and its shadow roots.
FOREIGN = """() => {
  const found = [];
  const look = (root) => {
    for (const each of root.querySelectorAll('*')) {
      if (each.hasAttribute('data-hostile')) found.push(each.outerHTML.slice(0, 200));
      for (const {name, value} of each.attributes) {
        if (/^on/i.test(name)) found.push(`${each.localName} ${name}`);
        if (/^(href|src|action|formaction|xlink:href|data|srcdoc)$/i.test(name) &&
          (/^\\s*(javascript|vbscript):/i.test(value) || /hostile-image|hostile.example|data-hostile/i.test(value)))
          found.push(`${each.localName} ${name}=${value}`);
      }
      if (each.shadowRoot) look(each.shadowRoot);
      if (each.localName === 'script' && each.textContent.includes('canary(')) found.push('script');
    }
  };
  look(document);
  const texts = document.createTreeWalker(document.body ?? document.documentElement, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const raw = /[\\u202a-\\u202e\\u2066-\\u2069\\u200e\\u200f\\0\\ud800]/.test(node.data);
    if (raw && node.parentNode.localName !== 'textarea')
      found.push(`a character that turns text around, or none: ${JSON.stringify(node.data).slice(0, 80)}`);
  }
  return found;
}"""

VALUES = "[...document.querySelectorAll('input, textarea, option')].map((it) => it.value + it.title).join(' ')"


class Walk:
    """A walk over the page that looks for foreign elements at each step, and keeps what was shown."""

    def __init__(self, look: Look) -> None:
        self.look = look
        self.seen = ""

    def step(self) -> None:
        self.look.page.wait_for_timeout(60)
        for frame in self.look.page.frames:
            if frame.url.startswith("http"):
                assert frame.evaluate(FOREIGN) == []
                self.seen += frame.evaluate("document.body.innerText") + " "
        self.seen += self.look.page.evaluate(VALUES)

    def tabs(self, bar: str) -> None:
        """Show each tab of a bar."""
        for tab in self.look.page.locator(f'[data-part="{bar}"]:visible [role="tab"]').all():
            if tab.is_visible():
                tab.click()
                self.step()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("hostile")
    with hostile_endpoint(folder), serving("dev", str(folder), STILE_STATE_KEY=STATE_KEY) as running:
        yield running


def at_endpoint(browser: Any, server: Server) -> Any:
    return looking(browser, f"{server.url}/shop/hostile")


def test_hostile_texts_of_tools_forms_and_results_are_text(browser: Any, server: Server) -> None:
    with at_endpoint(browser, server) as look:
        walk = Walk(look)
        look.part("tool").first.wait_for()
        for name in TOOLS:
            look.open(name)
            walk.step()
            if name != "ask_hostile":
                look.tab("call")
                look.part("send").first.click()
                if name == "set":
                    look.part("confirm").wait_for()
                    walk.step()
                    look.part("confirm").locator('[data-value="accept"]').click()
                look.shown()
                walk.step()
                walk.tabs("result-tabs")
            walk.tabs("tool-tabs")
        walk.tabs("bottom-tabs")

        assert [each for each in MARKERS if f"at-{each}" not in walk.seen] == []
        assert "<script data-hostile>canary(2)</script>" in walk.seen
        assert not any("hostile-image" in each or "hostile.example" in each for each in look.troubles.requests)


def test_hostile_claims_and_their_file_are_text(browser: Any, server: Server) -> None:
    with at_endpoint(browser, server) as look:
        walk = Walk(look)
        look.part("tool").first.wait_for()
        look.choose_persona(CLAIMS_FILE[:20])
        walk.step()
        look.open("text")
        look.part("send").first.click()
        look.shown()
        walk.tabs("bottom-tabs")
        look.choose_persona("nonymous")
        look.page.locator('[data-part="tool"][data-name="set"] [data-part="why"]').click()
        look.part("why-dialog").get_by_text("config.yaml").first.wait_for()
        walk.step()
        assert CLAIMS_FILE[:20] in walk.seen


def test_hostile_texts_of_the_schema_are_text_in_the_editor(browser: Any, server: Server) -> None:
    with at_endpoint(browser, server) as look:
        walk = Walk(look)
        frame = open_editor(look)
        text = frame.locator('[data-part="document-text"]')
        for typed in ("{ text(word: ", "{ th"):
            text.click()
            look.page.keyboard.press("Control+a")
            look.page.keyboard.press("Delete")
            look.page.keyboard.type(typed)
            walk.step()
        frame.locator(".cm-tooltip-autocomplete li").first.wait_for()
        walk.step()
        for document in (f"{{ text(word: 5) {{ name nope }} }} # {ELEMENT}", "{ text { name any } }"):
            text.click()
            look.page.keyboard.press("Control+a")
            look.page.keyboard.insert_text(document)
            look.page.wait_for_timeout(500)
            look.part("run").click()
            look.part("graphql-outcome").wait_for()
            walk.step()
            walk.tabs("result-tabs")
        assert "at-answer" in walk.seen


def test_hostile_texts_of_the_schema_are_text_in_its_documentation(browser: Any, server: Server) -> None:
    with at_endpoint(browser, server) as look:
        walk = Walk(look)
        open_editor(look)
        look.part("docs-body", has="at-field").wait_for()
        walk.step()
        look.part("docs-search").fill("Thing")
        look.part("docs-found").locator('[data-coordinate="Thing"]').click()
        look.part("docs-body", has="at-type-field").wait_for()
        walk.step()
        assert [each for each in ("field", "type-field") if f"at-{each}" not in walk.seen] == []


def open_editor(look: Look) -> Any:
    """Open the editor of the GraphQL tool, and return its frame once it has the schema."""
    look.part("tool").first.wait_for()
    look.open("ask_hostile")
    look.tab("graphql")
    look.page.locator('iframe[data-part="editor-frame"][data-ready="true"][data-types]').wait_for()
    return look.page.frame_locator('iframe[data-part="editor-frame"]')


def test_hostile_texts_are_text_in_reach(browser: Any, server: Server) -> None:
    with at_endpoint(browser, server) as look:
        walk = Walk(look)
        look.part("tool").first.wait_for()
        look.tab("reach", bar="bottom-tabs")
        look.part("reach-search").fill("Mutation.set")
        look.part("reach-table").wait_for()
        walk.step()


def test_hostile_text_of_a_mistake_is_text(browser: Any, tmp_path: Path) -> None:
    with (
        hostile_endpoint(tmp_path) as (endpoint, _),
        serving("dev", str(tmp_path)) as running,
        at_endpoint(browser, running) as look,
    ):
        walk = Walk(look)
        look.part("tool").first.wait_for()
        look.tab("problems", bar="bottom-tabs")
        config = endpoint / "config.yaml"
        sound = config.read_text(encoding="utf-8")
        config.write_text(f"{sound}\n{json.dumps(ELEMENT)}: 1\n", encoding="utf-8")
        look.part("problem", has="data-hostile").first.wait_for()
        walk.step()
        config.write_text(sound, encoding="utf-8")
        operation = endpoint / "operations" / "more.graphql"
        operation.write_text(f"query More @mcpTool(name: {json.dumps(ELEMENT)}) {{ long }}\n", encoding="utf-8")
        look.part("problem", has="more.graphql").first.wait_for()
        walk.step()


def test_hostile_words_in_searches_are_text(browser: Any, server: Server) -> None:
    with at_endpoint(browser, server) as look:
        walk = Walk(look)
        look.part("tool").first.wait_for()
        look.part("search").fill("<img data-hostile src=x onerror=canary(20)>")
        walk.step()


def test_answer_of_a_long_line_does_not_widen_the_page(browser: Any, server: Server) -> None:
    with at_endpoint(browser, server) as look:
        look.part("tool").first.wait_for()
        for name in ("long", "things", "text"):
            look.open(name)
            look.part("send").first.click()
            look.shown()
            assert look.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
