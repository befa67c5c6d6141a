"""Mistakes in tools written in Python, as `stile check`, `stile call` and the test client tell them."""

from __future__ import annotations

import subprocess
import sys

from tests.conftest import ROOT
from tests.first_use.in_files import Make
from tests.first_use.judging import Mistake, Token
from tests.first_use.with_commands import ALLOWED, TOOLS, with_tools
from tests.first_use.workshop import Workshop
from tests.support.secrecy import SESSION, Output

HEAD = "from stile import Context, Toolkit\n\nmcp = Toolkit()\n\n\n"
ELICIT = f'''\
{HEAD}@mcp.tool(title="Cancel")
async def cancel(ctx: Context) -> str:
    """Cancel the order."""
    return str(await ctx.elicit("Cancel it?", response_type=bool))
'''
UNAWAITED = f'''\
{HEAD}@mcp.tool(title="Me")
async def who(ctx: Context) -> str:
    """Say who asks."""
    return ctx.graphql("{{ me {{ id }} }}")["me"]["id"]
'''
UNANNOTATED = f'''\
{HEAD}@mcp.tool(title="Me")
async def who(ctx) -> str:
    """Say who asks."""
    await ctx.info("asked")
    return str(ctx.auth)
'''
PLAIN_FUNCTION = f'{HEAD}def double(number: int) -> int:\n    """Double a number."""\n    return 2 * number\n'
TRIED = "from stile.testing import TestClient\nfrom staff_tools import mcp\n\n"


def _called(text: str) -> Make:
    def make(shop: Workshop) -> str:
        checked = with_tools(text)(shop)
        return checked + shop.stile_apart("call", "endpoints", "who", **ALLOWED)

    return make


def _tried(text: str, call: str) -> Make:
    """A file of an author's own that calls a tool by the test client, and is run as it is."""

    def make(shop: Workshop) -> str:
        shop.write("/staff_tools.py", text)
        shop.write("/try_tools.py", f"{TRIED}{call}\n")
        ended = subprocess.run(
            [sys.executable, "try_tools.py"],
            cwd=shop.folder,
            env={"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        SESSION.note(Output.PROCESS, ended.stdout + ended.stderr)
        return ended.stdout + ended.stderr

    return make


IN_PYTHON = (
    Mistake(
        number=24,
        title="a tool of FastMCP that asks its user by ctx.elicit",
        make=with_tools(ELICIT),
        place=r"staff_tools\.py:9:",
        cause=r"\belicit\b",
        remedy=r"InputRequired|from-fastmcp\.md",
    ),
    Mistake(
        number=25,
        title="the name of FastMCP's server given to Toolkit",
        make=with_tools(TOOLS.replace("Toolkit()", 'Toolkit("staff")')),
        place=r"staff_tools\.py:3:",
        cause=r'"staff"|takes no name|positional argument',
        remedy=r"Toolkit\(\)|without (a|the) name|leave out",
    ),
    Mistake(
        number=26,
        title="a misspelt module of tools",
        make=with_tools(TOOLS, code='code: ["staf_tools:mcp"]\n'),
        place=Token("config.yaml", '"staf_tools:mcp"'),
        cause=r"staf_tools",
        remedy=r"did you mean staff_tools",
    ),
    Mistake(
        number=27,
        title="a function that no decorator makes a tool",
        make=with_tools(PLAIN_FUNCTION),
        place=(Token("config.yaml", '"staff_tools:mcp"'), Token("config.yaml", '["staff_tools:mcp"]')),
        cause=r"has no tools?|no tool\b|nothing in it|is empty",
        remedy=r"@(mcp|kit)\.tool|@\w+\.tool|\.add\(",
    ),
    Mistake(
        number=28,
        title="a request to the API that is not awaited",
        make=_called(UNAWAITED),
        place=r"staff_tools\.py(:|\", line )9\b",
        cause=r"coroutine|not awaited|without await",
        remedy=r"\bawait ctx|(write|add|needs) await|(with|lacks) await",
    ),
    Mistake(
        number=29,
        title="a context without its type hint",
        make=_called(UNANNOTATED),
        place=r"staff_tools\.py:[67]:|tool who\b",
        cause=r"\bctx\b",
        remedy=r"ctx: Context",
    ),
    Mistake(
        number=30,
        title="a failed call of the test client",
        make=_tried(ELICIT, 'print(TestClient(mcp).call("cancel").text)'),
        place=r"staff_tools\.py(:|\", line )9\b",
        cause="'Context' object has no attribute 'elicit'|elicit",
        remedy=r"InputRequired|from-fastmcp\.md",
    ),
    Mistake(
        number=31,
        title="a misspelt option of the test client",
        make=_tried(TOOLS, 'print(TestClient(mcp, claim={"sub": "ada"}).call("double", number=2).text)'),
        place=r"try_tools\.py\", line 4\b",
        cause=r"'claim'|\bclaim\b",
        remedy=r"[Dd]id you mean '?claims\b|expected .*\bclaims\b",
    ),
)  # fmt: skip
