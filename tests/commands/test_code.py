"""The commands over endpoints with tools in Python."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from handler.commands.local.dev_session import Workbench
from tests.commands.running import FILES, Stile, change, ran
from tests.support.endpoints import write_endpoint

KIT = """\
from stile import Image, McpError, InputRequired, Elicit, Toolkit

kit = Toolkit()


@kit.tool(title="Total", scopes=["read"])
def total(year: int) -> int:
    "Sum up a year."
    return year


@kit.tool(title="Chart")
def chart() -> Image:
    "Draw a year."
    return Image(b"png", "image/png")


@kit.tool(title="Fail")
def fail() -> str:
    "Fail."
    raise McpError(7, "no luck")


@kit.tool(title="Cancel")
def cancel(ctx: "Context") -> str | InputRequired:
    "Cancel all."
    if ctx.input_responses:
        return "done"
    return InputRequired({"sure": Elicit("Cancel?")}, state={})
""".replace("Toolkit\n", "Context, Toolkit\n", 1)
CODE_ONLY = 'code: [{use: "shop_tools:kit", condition: true}]\naccess: {anonymous: allow}\n'


@pytest.fixture
def shop(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with an endpoint of tools in Python alone, and their module in the current folder."""
    write_endpoint(workplace, {"config.yaml": CODE_ONLY})
    (workplace / "shop_tools.py").write_text(KIT, encoding="utf-8")
    monkeypatch.setenv("STILE_CODE_MODULES", "shop_tools")
    yield workplace
    sys.modules.pop("shop_tools", None)


def test_check_lists_tools_of_an_endpoint_without_a_schema(shop: Path, stile: Stile) -> None:
    done = stile("check", ".")

    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    lines = lines[lines.index("api/things") :]
    assert re.fullmatch(r"total +code +shop_tools:kit +0 +\d+ +\d+ +yes +none", lines[2])
    assert re.fullmatch(r"chart +code +shop_tools:kit +0 +\d+ +\d+ +yes +all", lines[3])
    assert "GraphQL over HTTP: off." in lines


def test_tool_that_may_ask_its_user_without_a_key_is_a_warning(
    shop: Path, stile: Stile, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = stile("check", ".", "--strict")

    assert done.code == 1
    assert re.search(
        r"^shop_tools.py:\d+:1: warning: tool cancel .*STILE_STATE_KEY.* \[needs-state-key\]$", done.out, re.MULTILINE
    )
    (endpoint,) = json.loads(stile("check", ".", "--json").out)["endpoints"]
    assert [warning["code"] for warning in endpoint["warnings"]] == ["needs-state-key"]
    monkeypatch.setenv("STILE_STATE_KEY", "aVerySecretKeyOf32CharactersOrMore")
    assert stile("check", ".", "--strict").code == 0


def test_import_from_the_old_place_is_a_warning_and_the_tools_are_there(shop: Path, stile: Stile) -> None:
    (shop / "shop_tools.py").write_text(KIT.replace("from stile", "from handler"), encoding="utf-8")

    done = stile("check", ".", "--json")

    assert done.code == 0
    (endpoint,) = json.loads(done.out)["endpoints"]
    assert [tool["name"] for tool in endpoint["tools"]] == ["total", "chart", "fail", "cancel"]
    (warning,) = [each for each in endpoint["warnings"] if "`from stile import " in each["sentence"]]
    assert (warning["file"], warning["line"], warning["column"]) == ("shop_tools.py", 1, 1)


def test_json_stays_json_whatever_a_module_prints(shop: Path) -> None:
    noisy = "import subprocess, sys\nprint('hello')\nsys.stdout.write('more')\nsubprocess.run(['echo', 'even more'])\n"
    (shop / "shop_tools.py").write_text(noisy + KIT, encoding="utf-8")

    done = ran("check", ".", "--json")

    assert [tool["kind"] for tool in json.loads(done.out)["endpoints"][0]["tools"]] == ["code"] * 4
    assert "hello" in done.err
    assert "even more" in done.err


def test_a_module_that_exits_does_not_end_the_command(shop: Path, stile: Stile) -> None:
    (shop / "shop_tools.py").write_text("import sys\nsys.exit(0)\n", encoding="utf-8")

    done = stile("check", ".")

    assert done.code == 1
    assert re.match(r"shop_tools.py:2:1: .*sys.exit.* \[module-failed\]\n", done.out)


def test_interrupting_an_import_ends_the_command(shop: Path, stile: Stile) -> None:
    (shop / "shop_tools.py").write_text("raise KeyboardInterrupt\n", encoding="utf-8")

    assert stile("check", ".").code == 130


def test_a_setting_that_does_not_fit_is_a_sentence(shop: Path, stile: Stile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STILE_STATE_KEY", "short")

    done = stile("call", ".", "chart")

    assert done.code == 2
    assert done.err.startswith("STILE_STATE_KEY")


def test_call_runs_a_tool_in_python(shop: Path, stile: Stile) -> None:
    assert json.loads(stile("call", ".", "total", "year=3").out) == 3
    assert stile("call", ".", "chart").out == "[image, image/png, 3 bytes]\n"
    failed = stile("call", ".", "fail")
    assert (failed.code, failed.err) == (1, "The function answers 7, no luck\n")


def test_call_shows_what_a_tool_asks_its_user(shop: Path, stile: Stile) -> None:
    asked = stile("call", ".", "cancel")

    assert (asked.code, asked.out) == (1, "")
    assert "  Cancel?\n" in asked.err


def test_call_keeps_to_the_policies(shop: Path, stile: Stile) -> None:
    change(shop / "api/things/config.yaml", "condition: true", "condition: '$jwt.role:String == \"sales\"'")

    done = stile("call", ".", "chart", "--as", "anonymous")

    assert done.code == 1
    assert '"chart" is not for this caller' in done.err


def test_explain_says_which_condition_keeps_a_kit_back(shop: Path, stile: Stile) -> None:
    change(shop / "api/things/config.yaml", "condition: true", "condition: '$jwt.role:String == \"sales\"'")

    done = stile("explain", ".", "--as", "anonymous", "--tool", "chart", "--json")

    (tool,) = json.loads(done.out)["endpoints"][0]["tools"]
    assert (tool["kind"], tool["listed"]) == ("code", "no")
    expected = 'shop_tools:kit: api/things/config.yaml:1: condition of shop_tools:kit: $jwt.role:String == "sales"'
    assert tool["because"] == [expected]
    assert tool["at"].endswith("shop_tools.py:12")


def test_publish_stores_no_schema_and_says_what_the_function_needs(shop: Path, stile: Stile) -> None:
    done = stile("publish", ".", "--create", "bundles")

    assert done.code == 0
    assert (
        "api/things: a function that runs tools in Python needs the extra code: add it to Extras in samcon" in done.out
    )
    assert "unless STILE_STATE_KEY is set where the function runs, tool cancel cannot ask its user" in done.out
    assert "api/things: new  +total  +chart  +fail  +cancel" in done.out
    assert not (shop / "bundles/.index").exists()
    change(shop / "shop_tools.py", "year: int", "year: float")
    del sys.modules["shop_tools"]
    assert "api/things: changed  ~total" in stile("publish", ".", "--create", "bundles").out


def test_all_that_a_function_needs_is_named(shop: Path, stile: Stile) -> None:
    keys = "identity: {issuer: login, audience: a, keys: [{algorithm: HS256, key: 'env:LOGIN', keyid: one}]}\n"
    write_endpoint(shop, {"config.yaml": CODE_ONLY + keys})

    lines = stile("publish", ".", "--create", "bundles").out.splitlines()

    then = "in samconfig.toml, then `sam build` and `sam deploy`"
    module = "runs these tools in Python needs the module shop_tools"
    assert [line for line in lines if "samconfig" in line] == [
        f"api/things: a function that runs tools in Python needs the extra code: add it to Extras {then}",
        f"api/things: a function that reads tokens needs the extra jwt: add it to Extras {then}",
        f"api/things: a function that {module}: add it to CodeModules {then}",
    ]


def test_an_endpoint_without_a_schema_has_nothing_that_needs_one(shop: Path, stile: Stile) -> None:
    files = {
        "config.yaml": CODE_ONLY.replace("allow}", "allow, policies: []}") + "graphql: on\nscalars: {Money: {}}\n",
        "operations/a.graphql": "query A { a }",
    }
    write_endpoint(shop, files)

    done = stile("check", ".")

    *problems, _ = done.out.splitlines()
    assert all(line.endswith("[needs-schema]") for line in problems)
    assert [line.split(": ")[1] for line in problems[:3]] == ["access.policies", "graphql", "scalars"]
    assert problems[3].startswith("api/things/operations/a.graphql:1:1: ")


def test_a_config_without_code_is_no_endpoint(workplace: Path, stile: Stile) -> None:
    write_endpoint(workplace, {"config.yaml": "upstream: {url: 'http://127.0.0.1:9'}\n"})

    done = stile("check", ".")

    assert done.code == 2
    assert "no endpoint here" in done.err


def test_a_kit_that_decides_for_each_caller_is_told(shop: Path, stile: Stile) -> None:
    change(shop / "shop_tools.py", "kit = Toolkit()", "kit = Toolkit(allow=lambda entry, ctx: True)")

    out = stile("check", ".").out

    assert "shop_tools:kit decides its content for each caller, so its module loads when tools are listed." in out
    assert re.search(r"chart +code .* part\n", out)


class Bench(Workbench):
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        super().__init__(Path(), stage=None, address="http://127.0.0.1:8000")
        self._capsys = capsys

    def shows(self, *changed: Path) -> str:
        self._capsys.readouterr()
        self.refresh(changed)
        printed = self._capsys.readouterr()
        return printed.out + printed.err


@pytest.fixture
def bench(shop: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.syspath_prepend(shop)
    found = Bench(capsys)
    found.refresh()
    return found


def test_dev_takes_a_changed_module_over(shop: Path, bench: Bench) -> None:
    module = shop / "shop_tools.py"
    change(module, "def chart()", "def graph()")

    assert "4 tools: total, graph, fail, cancel" in bench.shows(module)
    assert hasattr(sys.modules["shop_tools"], "graph")


def test_dev_keeps_the_last_good_modules_after_a_mistake(shop: Path, bench: Bench) -> None:
    module, good = shop / "shop_tools.py", sys.modules["shop_tools"]
    change(module, "def chart()", "def chart(")

    told = bench.shows(module)

    assert "SyntaxError" in told
    assert "still the last good version" in told
    assert sys.modules["shop_tools"] is good
    change(module, "def chart(", "def graph()")
    assert "4 tools: total, graph, fail, cancel" in bench.shows(module)


def test_dev_leaves_all_of_a_package_as_it_was_where_one_endpoint_fails(shop: Path, bench: Bench) -> None:
    write_endpoint(shop, {"config.yaml": CODE_ONLY.replace(":kit", ":other")}, name="api/more")
    module = shop / "shop_tools.py"
    change(module, "kit = Toolkit()", "kit = Toolkit()\nother = Toolkit()")
    bench.shows(module)
    change(module, "other = Toolkit()", "another = Toolkit()")
    change(module, "def chart()", "def graph()")

    told = bench.shows(module)

    assert "[module-unavailable]" in told
    assert "graph" not in told
    assert hasattr(sys.modules["shop_tools"], "chart")
    change(shop / "api/more/config.yaml", ":other", ":another")
    assert "4 tools: total, graph, fail, cancel" in bench.shows(shop / "api/more/config.yaml")


def test_a_problem_elsewhere_does_not_hold_modules_back(shop: Path, bench: Bench) -> None:
    write_endpoint(shop, {**FILES, "config.yaml": "upstrem: {}\n"}, name="api/wrong")
    bench.refresh()
    module = shop / "shop_tools.py"
    change(module, "def chart()", "def graph()")

    assert "4 tools: total, graph, fail, cancel" in bench.shows(module)


MISUSED = """\
from stile import Context, Toolkit

kit = Toolkit()


@kit.tool(title="Ask")
async def ask(ctx: Context | None = None) -> str:
    "Ask."

    async def inner() -> str:
        return await ctx.elicit("Sure?")

    ctx.state["seen"] = () if ().count(1) else ctx.auth
    await ctx.infos("asked")
    return await inner()
"""


HELPED = """
from stile import Context, Toolkit

kit = Toolkit()


async def sure(context: Context) -> bool:
    return (await context.elicit("Sure?")).action == "accept"


async def summary(ctx, other=None):
    other.elicit_later()
    return await ctx.sample("Short.") if await sure(ctx) else ""


def unused(ctx: Context) -> None:
    ctx.list_roots()


@kit.tool(title="Drop")
async def drop(ctx: Context) -> bool:
    "Drop."
    return await sure(ctx)


@kit.tool(title="Short")
async def short(ctx: Context) -> str:
    "Short."
    return await summary(ctx)
"""


def test_members_that_the_context_lacks_are_warnings_in_functions_of_tools(
    workplace: Path, stile: Stile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STILE_CODE_MODULES", "helped_kit")
    files = {**FILES, "config.yaml": f'{FILES["config.yaml"]}code: ["helped_kit:kit"]\n'}
    (workplace / "helped_kit.py").write_text(HELPED, "utf-8")

    done = stile("check", str(write_endpoint(workplace, files)))

    printed = done.out + done.err
    assert "helped_kit.py:8:1: warning: tool drop: Context has no elicit: return InputRequired" in printed
    assert "helped_kit.py:13:1: warning: tool short: Context has no sample: return InputRequired" in printed
    assert printed.count("unknown-context-member") == 2


def test_members_that_the_context_lacks_are_warnings_at_their_lines(
    workplace: Path, stile: Stile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STILE_CODE_MODULES", "misused_kit")
    files = {**FILES, "config.yaml": f'{FILES["config.yaml"]}code: ["misused_kit:kit"]\n'}
    folder = write_endpoint(workplace, files)
    (workplace / "misused_kit.py").write_text(MISUSED, "utf-8")

    done = stile("check", str(folder))

    printed = done.out + done.err
    assert "misused_kit.py:11:1: warning: tool ask: Context has no elicit: return InputRequired" in printed
    assert "misused_kit.py:14:1: warning: tool ask: Context has no infos [unknown-context-member]" in printed
    assert printed.count("unknown-context-member") == 2
