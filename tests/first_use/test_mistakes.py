"""Each message about a mistake of first use says where it is, what is wrong there, and how to mend it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.first_use.judging import FULL, Mistake, Token, Verdict, judged, verdict_of
from tests.first_use.mistakes import MISTAKES
from tests.first_use.workshop import ENDPOINT, Workshop, opened


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Workshop]:
    with opened(tmp_path / "shop") as workshop:
        yield workshop


def _said(verdict: Verdict) -> dict[str, bool]:
    return {"place": verdict.place, "cause": verdict.cause, "remedy": verdict.remedy}


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda each: f"{each.number}: {each.title}")
def test_message_says_where_what_and_what_to_do(mistake: Mistake, shop: Workshop) -> None:
    verdict = judged(mistake, mistake.make(shop), shop)

    assert _said(verdict) == {"place": True, "cause": True, "remedy": True}, verdict.message


def test_project_without_a_mistake_gets_no_message(shop: Workshop) -> None:
    printed = shop.stile("check", "endpoints")

    assert printed.endswith("No problems in 1 endpoint\n")
    assert "warning" not in printed


def test_there_are_55_mistakes_each_with_its_number() -> None:
    assert [mistake.number for mistake in MISTAKES] == list(range(1, 56))


def test_no_criterion_is_met_by_silence_or_by_an_endpoint_without_mistakes(shop: Workshop) -> None:
    table = shop.stile("check", "endpoints")
    for mistake in MISTAKES:
        for message in ("", table):
            verdict = verdict_of(mistake, message, is_placed=False)
            assert not verdict.cause, mistake.title
            assert not verdict.remedy, mistake.title


def test_place_has_to_be_that_of_the_very_token(shop: Workshop) -> None:
    shop.change("config.yaml", "upstream:", "upsteam:")
    mistake = Mistake(
        number=0, title="", make=lambda _: "", place=Token("config.yaml", "limits"), cause="x", remedy="y"
    )
    printed = shop.stile("check", "endpoints")

    assert re.search(r"config\.yaml:1:1: ", printed)
    assert judged(mistake, printed, shop).place is False
    assert shop.place_of("config.yaml", "limits") == "endpoints/corp/staff/config.yaml:3:1"


def test_remedy_of_another_line_does_not_count(shop: Workshop) -> None:
    shop.change("config.yaml", "upstream:", "upsteam:")
    shop.change("index.graphql", '"Questions', '"Questions" titel: "Other')
    place = Token("config.yaml", "upsteam")
    mistake = Mistake(number=0, title="", make=lambda _: "", place=place, cause="upsteam", remedy="did you mean title")

    verdict = judged(mistake, shop.stile("check", "endpoints"), shop)

    assert "did you mean title" not in verdict.message
    assert (verdict.place, verdict.cause, verdict.remedy) == (True, True, False)
    assert verdict.score < FULL


def test_misspelt_directive_of_an_operation_gets_a_name_that_may_be_meant(shop: Workshop) -> None:
    shop.change("operations/news.graphql", "@mcpTool(", "@mcpTools(")

    assert (
        f"{shop.place_of('operations/news.graphql', '@mcpTools')}: Unknown directive '@mcpTools'; did you mean "
        "@mcpTool? [unknown-directive]" in shop.stile("check", "endpoints")
    )


def test_directive_that_resembles_none_gets_no_suggestion(shop: Workshop) -> None:
    shop.change("index.graphql", '@tool(name: "card"', '@zebra(name: "card"')

    printed = shop.stile("check", "endpoints")

    assert "Unknown directive '@zebra': declare it, as in" in printed
    assert "did you mean" not in printed


@pytest.mark.parametrize("text", ["@jwt", "?$jwt", "?$jwt.org.id", "%a", "`a`"])
def test_text_that_yaml_takes_for_something_else_gets_its_quotes(shop: Workshop, text: str) -> None:
    shop.change("config.yaml", '        condition: "?$jwt"\n    - type', f"        {{condition: {text}}}\n    - type")

    place, printed = shop.place_of("config.yaml", f"{text}}}"), shop.stile("check", "endpoints")
    assert f"{place}: invalid YAML: a text that begins with {text[0]} needs quotes" in printed
    assert (f'quotes, as in "{text}" [' in printed) is text.startswith("?$jwt")


def test_module_of_ones_own_with_the_name_handler_is_named(shop: Workshop) -> None:
    shop.write("/handler/__init__.py", "")
    shop.write("/handler/orders.py", "LIMIT = 1\n")
    shop.write("/staff_tools.py", "from handler.orders import LIMIT\nfrom stile import Toolkit\n\nmcp = Toolkit()\n")
    shop.change("config.yaml", "upstream:\n", 'code: ["staff_tools:mcp"]\nupstream:\n')
    printed = shop.stile_apart("check", "endpoints", STILE_CODE_MODULES="staff_tools", PYTHONSAFEPATH="1")

    assert re.search(
        r"staff_tools\.py:1:1: .*No module named 'handler\.orders'; \S*handler/__init__\.py has the name of "
        r"a package of Stile, so that one of them hides the other: rename \S*handler/__init__\.py",
        printed,
    ), printed


@pytest.mark.parametrize(
    ("old", "new", "at", "remedy"),
    [
        ("'$jwt.roles:String has \"manager\"'", '"$jwt.a" && "$jwt.b"', '& "$jwt.b"', "put the whole text into quotes"),
        ("'$jwt.roles:String has \"manager\"'", '"$jwt.a" == "$jwt.b"', '== "$jwt.b"', "put the whole text"),
        ("'$jwt.roles:String has \"manager\"'", "!$jwt.a", "!$jwt.a", "a text that begins with ! needs quotes"),
        ("'$jwt.roles:String has \"manager\"'", "!$jwt.a}", "!$jwt.a", "a text that begins with ! needs quotes"),
        ("limits:", "limits", ":\n  max_depth", "a key lacks its colon here, or in the line above"),
        ("max_depth: 4", "max_depth: 4: 5", ": 5", 'a text with ": " in it needs quotes'),
    ],
)
def test_fault_of_yaml_has_its_remedy(shop: Workshop, old: str, new: str, at: str, remedy: str) -> None:
    shop.change("config.yaml", old, new)

    line = shop.place_of("config.yaml", at).rpartition(":")[0] if "colon" not in remedy else f"{ENDPOINT}/config.yaml:4"
    (told,) = [each for each in shop.stile("check", "endpoints").splitlines() if each.startswith(f"{line}:")]
    assert remedy in told
