"""Pages from ``ui/`` and views of tools: what they become, and what is wrong with hostile ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from handler.bundle.content import FileResource
from handler.bundle.stored import read_bundle, write_bundle
from handler.bundle.tools import GraphQLTool
from handler.compiler.compile import compile_endpoint
from handler.compiler.tools.views import MAX_PAGE_BYTES, ORIGIN, PAGE_TYPE
from handler.errors.authoring import CompileError
from handler.policy.evaluation import OPEN
from tests.support.endpoints import READABLE, compiled, problems_of, write_endpoint
from tests.support.modules import Modules, modules

__all__ = ["modules"]

PAGE = "<!doctype html>\n<title>Orders</title>\n"
SCHEMA = {"index.graphql": "type Query { a: Int list: [Int] }\n", "config.yaml": READABLE}
KIT = "from handler import Toolkit\nkit = Toolkit()\n"
SHOWN = {"operations/a.graphql": 'query A @mcpTool(name: "a", view: "orders") { a }\n'}
SETTINGS = """\
ui:
  pages:
    orders:
      title: Orders
      description: All of them
      csp:
        connect_domains: [https://api.corp.example, "wss://live.corp.example:8443"]
        resource_domains: https://*.cdn.corp.example
      permissions: [camera, clipboard_write]
      prefers_border: false
      domain: a1.corp.example
"""


def pages_of(bundle: Any) -> list[FileResource]:
    return [each for each in bundle.resources if isinstance(each, FileResource) and each.is_page]


def test_page_becomes_a_resource_that_asks_for_nothing_unsaid(tmp_path: Path) -> None:
    made = compiled(tmp_path, {**SCHEMA, "ui/orders.html": PAGE, "resources/r.md": "R"})

    (page,) = pages_of(made.bundle)
    assert page.entry == {
        "uri": "ui://api/things/orders.html",
        "name": "orders",
        "mimeType": PAGE_TYPE,
        "size": len(PAGE),
    }
    assert (page.text, page.blob, page.mask, page.hidden) == (PAGE, "", OPEN, False)
    assert read_bundle(write_bundle(made.bundle), endpoint="api/things") == made.bundle


def test_settings_become_metadata_in_the_words_of_hosts(tmp_path: Path) -> None:
    made = compiled(tmp_path, {**SCHEMA, "ui/orders.html": PAGE, "config.yaml": READABLE + SETTINGS})

    (page,) = pages_of(made.bundle)
    assert (page.entry["title"], page.entry["description"]) == ("Orders", "All of them")
    assert page.entry["_meta"] == {
        "ui": {
            "csp": {
                "connectDomains": ["https://api.corp.example", "wss://live.corp.example:8443"],
                "resourceDomains": ["https://*.cdn.corp.example"],
            },
            "permissions": {"camera": {}, "clipboardWrite": {}},
            "domain": "a1.corp.example",
            "prefersBorder": False,
        }
    }


def test_view_names_the_page_beside_what_an_author_gave(tmp_path: Path) -> None:
    operation = 'query A @mcpTool(name: "a", view: "orders", meta: {ui: {visibility: ["app"]}, b: 1}) { a }\n'
    schema = 'extend schema @tool(name: "g", view: "orders", graphql: {expose: true, types: "Query", fields: ".*"})\n'
    files = {"index.graphql": schema + SCHEMA["index.graphql"], "config.yaml": READABLE, "ui/orders.html": PAGE}
    made = compiled(tmp_path, {**files, "operations/a.graphql": operation})

    tools = {tool.name: tool for tool in made.bundle.tools}
    uri = "ui://api/things/orders.html"
    assert tools["a"].entry["_meta"] == {"ui": {"visibility": ["app"], "resourceUri": uri}, "b": 1}
    graphql = tools["g"]
    assert isinstance(graphql, GraphQLTool)
    listed = [each.entry for each in graphql.listings if each.entry]
    assert listed
    assert all(entry["_meta"]["ui"] == {"resourceUri": uri} for entry in (graphql.entry, *listed))


def test_view_of_a_tool_in_python_names_the_page(tmp_path: Path, modules: Modules) -> None:
    modules.write("shown.py", KIT + "@kit.tool(view='orders')\ndef f() -> int: return 1\n")
    config = 'code: [{use: "shown:kit", condition: true}]\n'
    folder = write_endpoint(tmp_path, {"config.yaml": config, "ui/orders.html": PAGE})

    made = compile_endpoint(folder, environ=modules.environ)

    (tool,) = made.bundle.tools
    assert tool.entry["_meta"] == {"ui": {"resourceUri": "ui://api/things/orders.html"}}


def test_built_in_table_is_in_the_bundle_only_if_a_tool_shows_it(tmp_path: Path) -> None:
    operation = {"operations/a.graphql": 'query A @mcpTool(name: "a.b", view: "table") { list }\n'}
    with_table = compiled(tmp_path / "a", {**SCHEMA, **operation}).bundle
    own = compiled(tmp_path / "b", {**SCHEMA, **operation, "ui/table.html": PAGE}).bundle

    assert [(each.uri, each.hidden) for each in pages_of(with_table)] == [("ui://api/things/table.html", True)]
    assert with_table.tools[0].entry["_meta"]["ui"]["resourceUri"] == "ui://api/things/table/a.b.html"
    assert [(each.uri, each.text) for each in pages_of(own)] == [("ui://api/things/table.html", PAGE)]
    assert own.tools[0].entry["_meta"]["ui"]["resourceUri"] == "ui://api/things/table.html"
    assert pages_of(compiled(tmp_path / "c", SCHEMA).bundle) == []


@pytest.mark.parametrize(
    ("files", "code", "place", "sentence"),
    [
        ({"ui/orders.html": "<p>"}, "invalid-view", "ui/orders.html", "begins with <!doctype html>"),
        ({"ui/orders.html": ""}, "invalid-view", "ui/orders.html", "begins with <!doctype html>"),
        ({"ui/_a.html": PAGE}, "invalid-view", "ui/_a.html", "not a name of a view"),
        ({"ui/a b.html": PAGE}, "invalid-view", "ui/a b.html", "not a name of a view"),
        ({"ui/a\n.html": PAGE}, "invalid-view", "ui/a\\n.html", "not a name of a view"),
        ({f"ui/{'a' * 65}.html": PAGE}, "invalid-view", f"ui/{'a' * 65}.html", "not a name of a view"),
        ({"ui/b.html": PAGE + "x" * MAX_PAGE_BYTES}, "unreadable-file", "ui/b.html", f"may have {MAX_PAGE_BYTES}"),
        ({"ui": "x"}, "unreadable-file", "ui", "is not a folder"),
        (SHOWN, "unknown-view", "operations/a.graphql", '"a" has the view "orders": expected a page ui/NAME.html'),
        ({**SHOWN, "ui/order.html": PAGE}, "unknown-view", "operations/a.graphql", "did you mean order?"),
        (
            {"operations/a.graphql": 'query A @mcpTool(name: "a", view: " ") { a }'},
            "invalid-option",
            "operations/a.graphql",
            "view is empty",
        ),
    ],
)
def test_page_or_view_that_is_not_valid_is_reported_at_its_place(
    tmp_path: Path, files: dict[str, str], code: str, place: str, sentence: str
) -> None:
    problems = problems_of(tmp_path, {**SCHEMA, **files})

    (found,) = [each for each in problems if each.code == code]
    assert (found.file, sentence in found.sentence) == (place, True), str(found)


def test_tool_of_a_page_that_is_refused_has_no_problem_of_its_own(tmp_path: Path) -> None:
    (problem,) = problems_of(tmp_path, {**SCHEMA, **SHOWN, "ui/orders.html": "<p>"})

    assert (problem.code, problem.file) == ("invalid-view", "ui/orders.html")


def test_pages_are_limited_together(tmp_path: Path) -> None:
    pages = {f"ui/p{number}.html": PAGE + "x" * (MAX_PAGE_BYTES - len(PAGE)) for number in range(5)}

    (problem,) = problems_of(tmp_path, {**SCHEMA, **pages})

    assert (problem.code, problem.file) == ("invalid-view", "ui")


@pytest.mark.parametrize("link", ["ui", "ui/orders.html"])
def test_link_is_refused_and_publishes_nothing(tmp_path: Path, link: str) -> None:
    folder = write_endpoint(tmp_path, {**SCHEMA, "other/orders.html": PAGE})
    target = folder / "other" if link == "ui" else folder / "other" / "orders.html"
    (folder / link).parent.mkdir(exist_ok=True)
    (folder / link).symlink_to(target)

    with pytest.raises(CompileError) as caught:
        compile_endpoint(folder)

    assert [(each.code, each.file) for each in caught.value.problems] == [("invalid-view", link)]


def test_folder_with_a_similar_name_is_said(tmp_path: Path) -> None:
    made = compiled(tmp_path, {**SCHEMA, "UI/orders.html": PAGE})

    assert [(each.code, each.file) for each in made.warnings if each.code == "unread-file"] == [("unread-file", "UI")]


def test_other_files_are_not_read_and_said(tmp_path: Path) -> None:
    files = {"ui/orders.html": PAGE, "ui/app.js": "x", "ui/deep/b.html": PAGE, "ui/.hidden.html": PAGE}
    made = compiled(tmp_path, {**SCHEMA, **files})

    assert [each.entry["name"] for each in pages_of(made.bundle)] == ["orders"]
    assert [each.file for each in made.warnings if each.code == "unread-file"] == ["ui/app.js", "ui/deep/b.html"]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ("title: [a]", '"ui.pages.orders.title": expected a text'),
        ("colour: red", 'unknown key "ui.pages.orders.colour"'),
        ("csp: {connect: a}", 'unknown key "ui.pages.orders.csp.connect"'),
        ("permissions: [kamera]", "did you mean camera?"),
        ("prefers_border: maybe", '"ui.pages.orders.prefers_border": expected true or false'),
        ("domain: 'a.example; script-src *'", "expected the name of a host"),
        ("domain: '*.a.example'", "expected the name of a host"),
        ("condition: '$variables.x:Int == 1'", "it asks for $variables"),
        ("csp: {resource_domains: ['wss://a.example']}", "expected an origin"),
        (f"csp: {{connect_domains: {['https://a.example'] * 21}}}", "expected at most 20 origins"),
    ],
)
def test_setting_that_does_not_fit_is_refused(tmp_path: Path, settings: str, sentence: str) -> None:
    config = f"{READABLE}ui: {{pages: {{orders: {{{settings}}}}}}}\n"

    problems = problems_of(tmp_path, {**SCHEMA, "ui/orders.html": PAGE, "config.yaml": config})

    assert any(sentence in each.sentence for each in problems), problems


@pytest.mark.parametrize(
    "origin",
    [
        *("*", "https:", "https://*", "https://", "http://a.example", "data:", "a.example", "'unsafe-eval'"),
        *(
            "https://a.example; script-src *",
            "https://a.example *",
            "https://a.example/",
            "https://a.example,b.example",
        ),
        *(
            "https://a.example\nx",
            "https://u@a.example",
            "https://*.*.example",
            "https://a.example:70000",
            "https://-a.example",
        ),
        *(
            "https://127.0.0.1",
            "https://[::1]",
            "https://localhost",
            "https://é.example",
            "http\u017f://a.example",
            "https://a.\u212aom",
            "javascript://a.example",
        ),
    ],
)
def test_text_that_could_widen_a_policy_is_no_origin(origin: str) -> None:
    assert ORIGIN.fullmatch(origin) is None


def test_settings_of_a_page_that_does_not_exist_are_refused(tmp_path: Path) -> None:
    config = f"{READABLE}ui: {{pages: {{ordes: {{}}}}}}\n"

    (problem,) = problems_of(tmp_path, {**SCHEMA, "ui/orders.html": PAGE, "config.yaml": config})

    assert problem.code == "unknown-view"
    assert problem.sentence == "there is no page ui/ordes.html; did you mean orders?"


def test_resource_in_python_cannot_take_the_place_of_a_page(tmp_path: Path, modules: Modules) -> None:
    modules.write("taking.py", KIT + "@kit.resource('ui://api/things/orders.html')\ndef f() -> str: return ''\n")
    config = 'code: [{use: "taking:kit", condition: true}]\n'
    folder = write_endpoint(tmp_path, {"config.yaml": config, "ui/orders.html": PAGE})

    with pytest.raises(CompileError) as caught:
        compile_endpoint(folder, environ=modules.environ)

    assert [each.code for each in caught.value.problems] == ["reserved-uri"]
