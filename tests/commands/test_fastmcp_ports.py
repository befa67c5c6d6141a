"""Servers in the shapes of three public ones are ported by the rows of `docs/from-fastmcp.md` alone, and then work.

`quotes` has the shape of yahoo-finance-mcp 0.1.2, `pages` that of mcp-atlassian 0.23.1 and `papers` that of
zotero-mcp-server 0.15.1, all on PyPI under the MIT licence. No code of them is here.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from stile.testing import TestClient
from tests.commands.running import Stile
from tests.conftest import ROOT

SERVERS = Path(__file__).parent / "servers_for_fastmcp"
ROWS = re.findall(
    r"^\| (.+) \| (.+) \|$", (ROOT / "docs" / "from-fastmcp.md").read_text(encoding="utf-8"), re.MULTILINE
)
PLACES = {"untitled-tool", "closed-toolkit", "needs-state-key"}
"""Warnings about decisions of the author, which a port does not make."""

Call = tuple[str, Mapping[str, Any], Any]
"""Tool, arguments, and the text or the first block of its answer."""


@dataclass(frozen=True, kw_only=True)
class Port:
    """A server for FastMCP, and the changes that make it a toolkit: a row of the page, the old text and the new one.

    ``imports`` has the line of each import that `stile check` names at once.
    """

    name: str
    kit: str
    imports: tuple[int, ...]
    changes: tuple[tuple[str, str, str], ...]
    calls: tuple[Call, ...]
    asking: tuple[str, Mapping[str, Any], Mapping[str, Any], str] | None = None
    client: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return (SERVERS / f"{self.name}.txt").read_text(encoding="utf-8")

    @property
    def ported(self) -> str:
        text = self.text
        for _, old, new in self.changes:
            start = text.index(old) if "…" not in old else text.index(old.partition("…")[0])
            end = (
                start + len(old)
                if "…" not in old
                else text.index(old.partition("…")[2], start) + len(old.partition("…")[2])
            )
            text = text[:start] + new + text[end:]
        return text


IMPORT = "the first example"
"""The change of imports, which the page shows before its tables."""

QUOTES = Port(
    name="quotes",
    kit="server",
    imports=(6,),
    changes=(
        (IMPORT, "from mcp.server.fastmcp import FastMCP", "from stile import Toolkit"),
        ("FastMCP(", 'FastMCP(\n    "quotes",…,\n)\n', "Toolkit()\n"),
        ("mcp.run()", '\n\nif __name__ == "__main__":\n    server.run(transport="stdio")\n', ""),
    ),
    calls=(
        ("get_history", {"ticker": "ACME"}, '[{"period": "1mo", "interval": "1d", "close": 10.5}]'),
        ("get_history", {"ticker": "NONE"}, "Ticker NONE not found."),
        ("get_info", {"ticker": "NONE"}, "{}"),
        ("get_news", {"ticker": "ACME"}, "Merger"),
        ("get_actions", {"ticker": "ACME"}, "[0.4]"),
        ("get_statement", {"ticker": "A", "statement": "balance"}, '{"ticker": "A", "balance": 2}'),
        ("get_holders", {"ticker": "A", "holder": "insider"}, '{"A": "insider"}'),
        ("get_expirations", {"ticker": "ACME"}, '["2027-01-15","2027-06-18"]'),
        ("get_options", {"ticker": "A", "expiration": "b", "kind": "c"}, '{"ticker":"A","expiration":"b","kind":"c"}'),
        ("get_recommendations", {"ticker": "A", "months": "3"}, '{"ticker": "A", "months": 3}'),
    ),
)
PAGES = Port(
    name="pages",
    kit="main",
    imports=(12, 13, 14, 15),
    changes=(
        (
            IMPORT,
            "from fastmcp import Context, FastMCP\n…from pydantic import Field\n",
            (
                "from stile import Context, Elicit, EmbeddedResource, Field, Image\n"
                "from stile import InputRequired, Text, ToolError, Toolkit\n"
            ),
        ),
        (
            "lifespan=",
            "@asynccontextmanager…}}}\n",
            'STORE: dict[str, Any] = {"1": {"title": "Home", "body": "Welcome", "labels": []}}\nREAD_ONLY = False\n',
        ),
        ("lifespan=", 'ctx.request_context.lifespan_context.get("read_only")', "READ_ONLY"),
        ("raise ValueError", 'raise ValueError("Cannot', 'raise ToolError("Cannot'),
        ("lifespan=", '    store = ctx.request_context.lifespan_context["store"]\n', "    store = STORE\n"),
        ("get_http_request()", "get_http_request().headers", "ctx.headers"),
        ("FastMCP(", 'FastMCP(name="Wiki"…lifespan)', "Toolkit()"),
        ("raise ValueError", 'raise ValueError(f"Page', 'raise ToolError(f"Page'),
        ("ctx.elicit", 'page_id: str) -> str:\n    """Delete', 'page_id: str) -> str | InputRequired:\n    """Delete'),
        (
            "ctx.elicit",
            "    answer = await ctx.elicit(…)\n",
            (
                "    if ctx.request_state is None:\n"
                '        return InputRequired({"sure": Elicit("Delete the page?")}, state={})\n'
                '    answer = ctx.input_responses["sure"]\n'
            ),
        ),
        ("ctx.elicit", "answer.action", 'answer["action"]'),
        ("enabled=", ", enabled=True, task=False", ""),
        ("TextContent(", "-> TextContent | EmbeddedResource", "-> Text | EmbeddedResource"),
        ("TextContent(", 'TextContent(type="text", text=json', "Text(json"),
        (
            "BlobResourceContents(",
            "    content = BlobResourceContents(…resource=content)\n",
            (
                "    return EmbeddedResource(\n"
                '        f"attachment:///{name}", mime_type="application/octet-stream", blob="AAE="\n    )\n'
            ),
        ),
        ("ImageContent(", "list[TextContent | ImageContent]", "list[Text | Image]"),
        ("TextContent(", 'TextContent(type="text", text=page_id)', "Text(page_id)"),
        ("ImageContent(", 'ImageContent(type="image", data=data, mimeType="image/png")', 'Image(data, "image/png")'),
        ("get_access_token()", "    token = get_access_token()\n", "    token = ctx.auth\n"),
        ("get_access_token()", 'token.claims["sub"]', 'token["sub"]'),
        ("FastMCP(", 'FastMCP(name="All")', "Toolkit()"),
        ("mcp.mount(", 'main.mount(wiki, "wiki")', "main.add(wiki)"),
    ),
    calls=(
        ("search", {"query": "home"}, '["1"]'),
        ("get_page", {"page_id": 1}, '{"title": "Home", "body": "Welcome", "labels": []}'),
        ("get_page", {"page_id": "9"}, "Page 9 does not exist."),
        ("create_page", {"title": "T"}, '{"id": "2"}'),
        ("get_labels", {"page_id": "1"}, "[]"),
        ("add_label", {"page_id": "1", "name": "x"}, '["x"]'),
        ("download_attachment", {"name": "b"}, '{"success": false}'),
        (
            "download_attachment",
            {"name": "a.bin"},
            {"uri": "attachment:///a.bin", "mimeType": "application/octet-stream", "blob": "AAE="},
        ),
        ("get_images", {"page_id": "1"}, "1"),
        ("get_user", {}, "ada"),
    ),
    asking=("delete_page", {"page_id": "1"}, {"sure": {"action": "accept"}}, "deleted"),
    client={"claims": {"sub": "ada"}},
)
PAPERS = Port(
    name="papers",
    kit="mcp",
    imports=(7, 8, 9, 10, 11, 12, 13, 97),
    changes=(
        (
            IMPORT,
            "from fastmcp import Context, FastMCP\n…ToolAnnotations\n",
            "from stile import Audio, Context, EmbeddedResource, Image, InputRequired, ToolError, Toolkit\n",
        ),
        ("get_logger(", "get_logger(", "logging.getLogger("),
        ("FastMCP(", 'FastMCP("papers"…mask_error_details=True)', "Toolkit()"),
        (
            "ToolAnnotations(",
            'ToolAnnotations(title="Search", readOnlyHint=True)',
            '{"title": "Search", "readOnlyHint": True}',
        ),
        ("ctx.info", "def search_items(", "async def search_items("),
        ("Depends(", "    papers: dict = Depends(get_papers),\n", ""),
        ("Depends(", "    ctx.info(", "    papers = get_papers()\n    ctx.info("),
        ("ctx.info", "    ctx.info(", "    await ctx.info("),
        ("output_schema=None", "output_schema=None", "structured_output=False"),
        ("File(", "-> File:", "-> EmbeddedResource:"),
        (
            "File(",
            'File(data=b"@article{}"…")\n',
            'EmbeddedResource(f"file:///{item_key}.bib", blob=b"@article{}", mime_type="text/plain")\n',
        ),
        (
            "ctx.sample",
            "(item_key: str, ctx: Context) -> str:",
            "(item_key: str, ctx: Context) -> str | InputRequired:",
        ),
        (
            "ctx.sample",
            "    answer = await ctx.sample(…return answer.text\n",
            (
                "    if ctx.request_state is None:\n"
                '        content = {"type": "text", "text": "Summarize " + PAPERS[item_key]["title"]}\n'
                '        params = {"messages": [{"role": "user", "content": content}], "maxTokens": 200}\n'
                '        request = {"method": "sampling/createMessage", "params": params}\n'
                '        return InputRequired({"summary": request}, state={})\n'
                '    return ctx.input_responses["summary"]["content"]["text"]\n'
            ),
        ),
        ("get_http_headers()", "    from fastmcp.server.dependencies import get_http_headers\n\n", ""),
        ("ctx.set_state", 'await ctx.set_state("query", query)', 'ctx.state["query"] = query'),
        ("get_http_headers()", "get_http_headers()", "ctx.headers"),
        ("Message(", "list[Message]", "list"),
        (
            "Message(",
            '[Message(f"Review {topic}."), Message("Which period?", role="assistant")]',
            '[f"Review {topic}.", {"role": "assistant", "content": "Which period?"}]',
        ),
        ("mcp.run()", '\n\nif __name__ == "__main__":\n    logging.basicConfig()\n    mcp.run()\n', ""),
    ),
    calls=(
        ("search_items", {"query": "on", "limit": "1"}, "# 2 items (title)\nA1"),
        ("get_item", {"item_key": "A1"}, '{"title": "On Tests", "tags": ["methods"]}'),
        ("get_item", {"item_key": "Z"}, "No item Z"),
        ("get_tags", {}, '["methods"]'),
        ("add_tag", {"item_key": "B2", "tag": "x"}, "added"),
        ("read_pages", {"item_key": "A1", "format": "image"}, "Pages of A1"),
        ("cover", {"item_key": "A1"}, {"type": "image", "data": "anBn", "mimeType": "image/jpeg"}),
        ("read_aloud", {"item_key": "A1"}, {"type": "audio", "data": "bXAz", "mimeType": "audio/mpeg"}),
        ("export", {"item_key": "A1"}, {"uri": "file:///A1.bib", "mimeType": "text/plain", "blob": "QGFydGljbGV7fQ=="}),
        ("last_query", {"query": "q"}, "q by me"),
    ),
    asking=("summarize", {"item_key": "A1"}, {"summary": {"content": {"text": "S"}}}, "S"),
    client={"headers": {"user-agent": "me"}},
)
PORTS = (QUOTES, PAGES, PAPERS)


@pytest.fixture(params=PORTS, ids=[port.name for port in PORTS])
def port(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Port:
    """A port, beside an endpoint that has its toolkit. Its module has a name of its own in each test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("STILE_CODE_MODULES", request.param.name)
    monkeypatch.delitem(sys.modules, request.param.name, raising=False)
    (tmp_path / "api" / "tools").mkdir(parents=True)
    config = f'code: ["{request.param.name}:{request.param.kit}"]\n'
    (tmp_path / "api" / "tools" / "config.yaml").write_text(config, encoding="utf-8")
    ported: Port = request.param
    return ported


def checked(stile: Stile, port: Port, text: str) -> dict[str, Any]:
    Path(f"{port.name}.py").write_text(text, encoding="utf-8")
    (endpoint,) = json.loads(stile("check", "api", "--json").out)["endpoints"]
    return dict(endpoint)


def test_all_imports_are_named_at_once(port: Port, stile: Stile) -> None:
    problems = checked(stile, port, port.text)["problems"]

    assert tuple(each["line"] for each in problems) == port.imports
    assert {each["code"] for each in problems} == {"module-failed"}
    assert not any("leave it out" in each["sentence"] for each in problems)


def test_port_by_the_rows_of_the_page_works(port: Port, stile: Stile) -> None:
    first = [old for old, _ in ROWS]
    assert [row for row, _, _ in port.changes if row != IMPORT and not any(row in old for old in first)] == []

    endpoint = checked(stile, port, port.ported)

    assert endpoint["problems"] == []
    assert {each["code"] for each in endpoint["warnings"]} <= PLACES
    client = TestClient(getattr(import_module(port.name), port.kit), **port.client)
    answers = [client.call(name, **arguments) for name, arguments, _ in port.calls]
    assert [_plain(answer.json, wanted) for answer, (_, _, wanted) in zip(answers, port.calls, strict=True)] == [
        wanted for _, _, wanted in port.calls
    ]
    if port.asking:
        name, arguments, given, text = port.asking
        question = client.ask(name, arguments)
        assert client.ask(name, arguments, answers=given, to=question).text == text  # type: ignore[arg-type, union-attr]


def _plain(answer: dict[str, Any], wanted: Any) -> Any:
    block = answer["content"][0]
    return block["text"] if isinstance(wanted, str) else block.get("resource", block)


LATE = """\
from shared_helpers import shared

from stile import Context, Toolkit

mcp = Toolkit()


@mcp.tool(title="A")
def a(ctx: Context) -> str:
    "Ask."
    from fastmcp.server.dependencies import get_access_token

    return str(get_access_token())
"""
HELPERS = """\
try:
    import fastmcp
except ImportError:
    fastmcp = None
shared = 1
"""


def test_imports_in_functions_and_other_modules_are_warnings_if_the_module_imports(
    tmp_path: Path, stile: Stile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STILE_CODE_MODULES", "late_tools,shared_helpers")
    for name, text in {"late_tools.py": LATE, "shared_helpers.py": HELPERS}.items():
        Path(name).write_text(text, encoding="utf-8")
    folder = tmp_path / "api" / "late"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text('code: ["late_tools:mcp"]\n', encoding="utf-8")

    (endpoint,) = json.loads(stile("check", "api", "--json").out)["endpoints"]

    named = [each for each in endpoint["warnings"] if each["code"] == "unknown-context-member"]
    assert endpoint["problems"] == []
    assert [(Path(each["file"]).name, each["line"]) for each in named] == [
        ("late_tools.py", 11),
        ("shared_helpers.py", 2),
    ]
    assert "get_access_token: use ctx.auth" in named[0]["sentence"]


@pytest.mark.parametrize("line", ["mcp.mount(Toolkit(), 'a')", "mcp.run()", "mcp.add_middleware(1)"])
def test_members_that_a_toolkit_lacks_lead_to_the_page(
    tmp_path: Path, stile: Stile, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STILE_CODE_MODULES", "mounted_tools")
    monkeypatch.delitem(sys.modules, "mounted_tools", raising=False)
    Path("mounted_tools.py").write_text(f"from stile import Toolkit\n\nmcp = Toolkit()\n{line}\n", encoding="utf-8")
    (tmp_path / "api" / "late").mkdir(parents=True)
    (tmp_path / "api" / "late" / "config.yaml").write_text('code: ["mounted_tools:mcp"]\n', encoding="utf-8")

    (endpoint,) = json.loads(stile("check", "api", "--json").out)["endpoints"]

    (problem,) = endpoint["problems"]
    assert (problem["line"], "docs/from-fastmcp.md" in problem["sentence"]) == (4, True)


def test_unknown_options_of_all_functions_are_named_at_once(
    tmp_path: Path, stile: Stile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STILE_CODE_MODULES", "optioned_tools")
    monkeypatch.delitem(sys.modules, "optioned_tools", raising=False)
    tools = [f"@mcp.tool({options})\ndef {name}() -> str:\n    return ''\n" for name, options in OPTIONED.items()]
    text = "from stile import Toolkit\n\nmcp = Toolkit()\n" + "".join(tools)
    Path("optioned_tools.py").write_text(text, encoding="utf-8")
    (tmp_path / "api" / "late").mkdir(parents=True)
    config = 'code: ["optioned_tools:mcp", "optioned_tools:mcp"]\n'
    (tmp_path / "api" / "late" / "config.yaml").write_text(config, encoding="utf-8")

    (endpoint,) = json.loads(stile("check", "api", "--json").out)["endpoints"]

    problems = [each for each in endpoint["problems"] if each["code"] == "invalid-tool-definition"]
    assert [(each["line"], each["sentence"]) for each in problems] == [
        (4, "tool first: unknown option enabled, unknown option task; did you mean tags?"),
        (10, "tool third: unknown option enabled"),
    ]


OPTIONED = {"first": "enabled=True, task=True", "second": "title='B'", "third": "title='C', enabled=False"}
