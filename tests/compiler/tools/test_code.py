from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from handler.bundle.stored import read_bundle, write_bundle
from handler.bundle.tools import CatalogTool, CodeTool, CompanionTool, GraphQLTool
from handler.compiler.compile import Compiled
from handler.policy.evaluation import Evaluation
from tests.conftest import ROOT
from tests.support.diagnostics import Reported
from tests.support.endpoints import READABLE, compiled, doubted, problems_of, reported, write_endpoint
from tests.support.modules import Modules, modules

__all__ = ["modules"]

SCHEMA = "type Query { a: String }\n"
KIT = """\
from stile import Context, Elicit, InputRequired, Toolkit

kit = Toolkit(category="Orders")


@kit.tool(aliases=["sums"], scopes=["read"], version="1.2.0", title="Sum")
def total(year: int, *, ctx: Context) -> dict:
    "Sum up a year."
    return {}


@kit.tool(hidden=True)
def secret() -> str:
    "Say nothing."
    return ""


@kit.prompt
def complaint(order: str, tone: str = "friendly") -> str:
    "Answer a complaint."
    return order


@kit.resource("orders://{number}", mime_type="application/json")
def order(number: str) -> dict:
    "One order."
    return {}
"""
TAKES_IT = READABLE + 'code: [{use: "shop_tools:kit", condition: true}]\n'


@pytest.fixture
def shop(modules: Modules) -> Modules:
    modules.write("shop_tools.py", KIT)
    return modules


def made(folder: Path, modules: Modules, config: str, **files: str) -> Compiled:
    return compiled(folder, {"index.graphql": SCHEMA, "config.yaml": config, **files}, **modules.environ)


def problems(folder: Path, modules: Modules, config: str) -> list[Reported]:
    return reported(folder, {"index.graphql": SCHEMA, "config.yaml": config}, **modules.environ)


def code_tool(compiled: Compiled, name: str) -> CodeTool:
    (tool,) = [tool for tool in compiled.bundle.tools if tool.name == name]
    assert isinstance(tool, CodeTool)
    return tool


def test_a_kit_becomes_finished_entries(tmp_path: Path, shop: Modules) -> None:
    bundle = made(tmp_path, shop, TAKES_IT).bundle

    (kit,) = bundle.code
    assert (kit.use, kit.per_caller, kit.hidden, kit.category, kit.mask) == (
        "shop_tools:kit",
        False,
        None,
        "",
        frozenset(),
    )
    tool = code_tool(made(tmp_path, shop, TAKES_IT), "total")
    assert tool.entry == {
        "name": "total",
        "title": "Sum",
        "description": "Sum up a year.",
        "inputSchema": {"type": "object", "properties": {"year": {"type": "integer"}}, "required": ["year"]},
        "_meta": {"tool_version": "1.2.0", "category": "Orders"},
    }
    assert tool.kit == "shop_tools:kit"
    assert tool.options.aliases == ("sums",)
    assert tool.options.scopes == ("read",)
    assert not tool.options.hidden
    (prompt,) = bundle.prompts
    (resource,) = bundle.resources
    assert prompt.entry["arguments"] == [
        {"name": "order", "required": True},
        {"name": "tone", "required": False},
    ]
    assert resource.entry["uriTemplate"] == "orders://{number}"


def test_what_the_configuration_says_is_stronger_than_the_kit(tmp_path: Path, shop: Modules) -> None:
    config = READABLE + 'code: [{use: "shop_tools:kit", visible: true, category: Sales, condition: true}]\n'

    bundle = made(tmp_path, shop, config)

    assert code_tool(bundle, "total").entry["_meta"]["category"] == "Sales"
    assert not code_tool(bundle, "secret").options.hidden
    assert (bundle.bundle.code[0].hidden, bundle.bundle.code[0].category) == (False, "Sales")


def test_hidden_is_stronger_than_visible(tmp_path: Path, shop: Modules) -> None:
    config = READABLE + 'code: [{use: "shop_tools:kit", visible: true, hidden: true}]\n'

    assert code_tool(made(tmp_path, shop, config), "total").options.hidden


def test_same_files_and_modules_give_same_bytes(tmp_path: Path, shop: Modules) -> None:
    first = write_bundle(made(tmp_path, shop, TAKES_IT).bundle)
    shop.forget()

    assert write_bundle(made(tmp_path, shop, TAKES_IT).bundle) == first
    bundle = read_bundle(first, endpoint="api/things")
    assert write_bundle(bundle) == first


def test_another_text_in_the_code_is_another_digest_of_the_sources(tmp_path: Path, shop: Modules) -> None:
    first = made(tmp_path, shop, TAKES_IT).bundle
    shop.forget()
    shop.write("shop_tools.py", KIT.replace("Sum up a year", "Add up a year"))

    second = made(tmp_path, shop, TAKES_IT).bundle

    assert second.sources != first.sources
    assert code_tool(made(tmp_path, shop, TAKES_IT), "total").digest == first.tools[0].digest  # type: ignore[union-attr]


def test_an_endpoint_with_a_kit_has_no_default_tool_and_no_open_graphql(tmp_path: Path, shop: Modules) -> None:
    bundle = made(tmp_path, shop, TAKES_IT).bundle

    assert not [tool for tool in bundle.tools if isinstance(tool, GraphQLTool)]
    assert bundle.graphql.mode == "persisted"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("code: [shop_tools]", '2:8 invalid-value: "code[0].use" & shop_tools:kit'),
        ('code: ["shop_tools:"]', '2:8 invalid-value: "code[0].use" & module:attribute'),
        ('code: ["../shop:kit"]', '2:8 invalid-value: "code[0].use" & module:attribute'),
        ("code: [[a]]", '2:8 invalid-value: "code[0]"'),
        ("code: [{hidden: true}]", '2:8 invalid-value: "code[0].use" & module:attribute'),
        ('code: [{use: "shop_tools:kit", hidden: maybe}]', '2:40 invalid-value: "code[0].hidden"'),
        ('code: [{use: "shop_tools:kit", hide: true}]', '2:32 unknown-key: "code[0].hide" & use, '),
        ('code: ["shop_tools:kit", "shop_tools:kit"]', '2:26 duplicate-toolkit: "shop_tools:kit" & config.yaml:2:8'),
        ("catalog: {nam: x}", '2:11 unknown-key: "catalog.nam" & name, hidden'),
        ("catalog: perhaps", '2:10 invalid-value: "catalog"'),
        ("catalog: {name: a b}", '2:17 invalid-value: "catalog.name"'),
        ("catalog: {list: some}", '2:17 invalid-value: "catalog.list" & auto or pinned or all'),
        ("catalog: {list_budget: 0}", '2:24 invalid-value: "catalog.list_budget"'),
    ],
)
def test_what_does_not_fit_in_the_configuration_is_told_by_its_place(
    tmp_path: Path, shop: Modules, code: str, expected: str
) -> None:
    found = problems(tmp_path, shop, READABLE + code + "\n")

    assert f"config.yaml:{expected}" in found


def test_only_named_modules_are_imported(tmp_path: Path, shop: Modules) -> None:
    files = {"index.graphql": SCHEMA, "config.yaml": TAKES_IT}
    shop.write("shop_tools.py", "raise RuntimeError('imported')")

    (nothing,) = reported(tmp_path, files)
    (other,) = reported(tmp_path, files, STILE_CODE_MODULES="shop_tool,other")

    expected = 'config.yaml:2:14 module-not-allowed: "shop_tools:kit"'
    assert nothing == f"{expected} & STILE_CODE_MODULES=shop_tools "
    assert other == f"{expected} & STILE_CODE_MODULES=shop_tool,other,shop_tools "


def test_a_setting_that_names_no_modules_is_a_problem(tmp_path: Path, shop: Modules) -> None:
    (told,) = reported(tmp_path, {"index.graphql": SCHEMA, "config.yaml": TAKES_IT}, STILE_CODE_MODULES="a b")

    assert told == "config.yaml:2:7 invalid-code-modules: STILE_CODE_MODULES & 'a b'"


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("\nraise RuntimeError('boom')", 2, "its code raised RuntimeError: boom"),
        ("x = (", 1, "its code raised SyntaxError: '(' was never closed"),
        ("import sys\nsys.exit(3)", 2, "its module calls sys.exit while it is imported"),
        ("\nimport no_such_module_here", 2, "its code raised ModuleNotFoundError: No module named"),
        ("class E(Exception):\n  def __str__(self): 1/0\nraise E", 3, "its code raised"),
    ],
)
def test_an_import_that_fails_is_told_with_the_authors_own_line(
    tmp_path: Path, shop: Modules, text: str, line: int, expected: str
) -> None:
    file = shop.write("shop_tools.py", text)

    (told,) = problems(tmp_path, shop, TAKES_IT)

    assert told.startswith(f"{file}:{line}:")
    assert f'"shop_tools:kit": {expected}' in told


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ("shop_tools.inner:kit", "module-unavailable: shop_tools.inner"),
        ("shop_tools:kits", "module-unavailable: kits"),
        ("shop_tools:total", "module-unavailable: Toolkit & function"),
    ],
)
def test_what_is_no_kit_is_told_at_its_name(tmp_path: Path, shop: Modules, use: str, expected: str) -> None:
    (told,) = problems(tmp_path, shop, READABLE + f'code: ["{use}"]\n')

    assert told == f"config.yaml:2:8 {expected}"
    assert use in told


def test_every_definition_error_is_told_by_file_and_line(tmp_path: Path, shop: Modules) -> None:
    bad = """
@kit.tool(output_schema={"type": "object", "properties": {"a": {"type": "txt"}}})
def one() -> dict: ...

@kit.tool
def two(a: float = float("nan")) -> dict: ...
"""
    file = shop.write("shop_tools.py", KIT + bad)

    found = problems(tmp_path, shop, TAKES_IT)

    line = KIT.count("\n") + 2
    assert found == [
        f"{file}:{line}:1 invalid-tool-definition: tool one: output_schema",
        f"{file}:{line + 3}:1 invalid-tool-definition: tool two & JSON",
    ]


def test_resume_that_cannot_be_called_is_told_by_its_own_line(tmp_path: Path, shop: Modules) -> None:
    bad = """
from stile import Async, Err, Ok, Tool

class Search(Tool):
    async def call(self) -> Async: ...

    def resume(self, tag: str, outcome: str) -> str: ...

kit.add(Search)
"""
    file = shop.write("shop_tools.py", KIT + bad)

    (told,) = problems(tmp_path, shop, TAKES_IT)

    assert told == f"{file}:{KIT.count(chr(10)) + 7}:1 invalid-tool-definition: tool search: resume & outcome & str"


def test_tools_that_return_async_without_resume_are_all_told(tmp_path: Path, shop: Modules) -> None:
    bad = """
from stile import Async

@kit.tool
async def one() -> Async: ...

@kit.tool
async def two() -> "Async | str": ...
"""
    file = shop.write("shop_tools.py", KIT + bad)

    found = problems(tmp_path, shop, TAKES_IT)

    line = KIT.count("\n") + 4
    assert found == [
        f"{file}:{line}:1 invalid-tool-definition: tool one & Async & resume(tag, outcome)",
        f"{file}:{line + 3}:1 invalid-tool-definition: tool two & Async & resume(tag, outcome)",
    ]


def test_what_a_decorator_refuses_is_told_by_its_place(tmp_path: Path, shop: Modules) -> None:
    file = shop.write("shop_tools.py", KIT + "\n@kit.tool(annotations={'read_only': True})\ndef one(): ...\n")

    (told,) = problems(tmp_path, shop, TAKES_IT)

    assert told == f"{file}:{KIT.count(chr(10)) + 2}:1 invalid-tool-definition: tool one: annotations & 'read_only'"


def test_names_are_unique_across_kinds_and_kits(tmp_path: Path, shop: Modules) -> None:
    shop.write("more_tools.py", KIT)
    config = READABLE + 'code: ["shop_tools:kit", "more_tools:kit"]\ncatalog: {name: sums}\n'

    found = reported(
        tmp_path,
        {
            "index.graphql": SCHEMA,
            "config.yaml": config,
            "operations/a.graphql": 'query A @mcpTool(name: "secret") { a }',
        },
        **shop.environ,
    )

    assert 'duplicate-tool: "secret" & operations/a.graphql:1:24' in found
    assert 'duplicate-tool: "total"' in found
    assert 'config.yaml:3:17 duplicate-tool: "sums"' in found
    assert "duplicate-definition: prompt complaint" in found
    assert "duplicate-definition: resource orders://{number}" in found


def test_without_policies_only_unrestricted_callers_get_a_kits_tools(tmp_path: Path, shop: Modules) -> None:
    files = {"index.graphql": SCHEMA, "config.yaml": 'code: ["shop_tools:kit"]\n'}

    made = compiled(tmp_path, files, **shop.environ)

    mask = code_tool(made, "total").mask
    assert not Evaluation(made.bundle.conditions, claims={"sub": "ada"}).meets(mask)
    assert Evaluation(made.bundle.conditions, claims=None, unrestricted=True).meets(mask)
    (told,) = [Reported(each) for each in made.warnings if "shop_tools" in each.sentence]
    assert told == 'config.yaml:1:8 closed-toolkit: "shop_tools:kit"'


def test_with_policies_a_kit_without_condition_is_for_whoever_gets_in(tmp_path: Path, shop: Modules) -> None:
    files = {"index.graphql": SCHEMA, "config.yaml": READABLE + 'code: ["shop_tools:kit"]\n'}

    made = compiled(tmp_path, files, **shop.environ)

    assert Evaluation(made.bundle.conditions, claims=None).meets(code_tool(made, "secret").mask)
    (told,) = doubted(tmp_path, files, **shop.environ)
    assert told == "config.yaml:2:8 open-toolkit: shop_tools:kit & secret"


def test_kit_without_condition_needs_a_credential_where_policies_of_stepzen_let_callers_in(
    tmp_path: Path, shop: Modules
) -> None:
    identity = "deployment: {identity: {keys: [{algorithm: HS256, key: development-only}]}}\n"
    files = {"index.graphql": SCHEMA, "config.yaml": f'{identity}{READABLE}code: ["shop_tools:kit"]\n'}
    files["stepzen.config.json"] = '{"endpoint": "api/things"}'

    made = compiled(tmp_path, files, **shop.environ)

    mask = code_tool(made, "secret").mask
    assert made.bundle.access.anonymous == "allow"
    assert not Evaluation(made.bundle.conditions, claims=None).meets(mask)
    assert Evaluation(made.bundle.conditions, claims={}).meets(mask)
    assert Evaluation(made.bundle.conditions, claims=None, unrestricted=True).meets(mask)
    assert [Reported(each) for each in made.warnings if "shop_tools" in each.sentence] == []


def test_a_condition_guards_all_that_a_kit_has(tmp_path: Path, shop: Modules) -> None:
    config = READABLE + """code: [{use: "shop_tools:kit", condition: '$jwt.role:String == "sales"'}]\n"""

    made_ = made(tmp_path, shop, config)

    bundle = made_.bundle
    guarded = [*bundle.tools, *bundle.prompts, *bundle.resources, *bundle.code]
    masks = {each.mask for each in guarded if not isinstance(each, CatalogTool | CompanionTool | GraphQLTool)}
    assert len(masks) == 1
    (mask,) = masks
    assert Evaluation(bundle.conditions, claims={"role": "sales"}).meets(mask)
    assert not Evaluation(bundle.conditions, claims={"role": "other"}).meets(mask)
    assert not Evaluation(bundle.conditions, claims=None).meets(mask)
    assert made_.warnings == ()


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("$jwt.role", 'config.yaml:2:44 invalid-condition: "$jwt.role"'),
        ('$variables.a:String == "x"', "config.yaml:2:43 variables-in-condition: $variables"),
    ],
)
def test_a_condition_that_cannot_be_judged_is_a_problem(
    tmp_path: Path, shop: Modules, condition: str, expected: str
) -> None:
    (told,) = problems(tmp_path, shop, READABLE + f"code: [{{use: \"shop_tools:kit\", condition: '{condition}'}}]\n")

    assert told == expected


def test_the_catalog_is_a_tool_of_its_name(tmp_path: Path, shop: Modules) -> None:
    hidden = made(tmp_path, shop, TAKES_IT + "catalog: true\n").bundle.tools[-3]
    listed = made(tmp_path, shop, TAKES_IT + "catalog: {name: find, hidden: false}\n").bundle.tools[-3]
    none = made(tmp_path, shop, TAKES_IT + "catalog: false\n").bundle.tools[-1]

    assert isinstance(hidden, CatalogTool)
    assert (hidden.name, hidden.options.hidden) == ("catalog", True)
    assert hidden.entry["annotations"] == {"readOnlyHint": True}
    assert (listed.name, listed.options.hidden) == ("find", False)
    assert isinstance(none, CodeTool)


def test_what_may_ask_its_user_is_known_by_its_annotation(tmp_path: Path, shop: Modules) -> None:
    asking = """
@kit.tool
def cancel() -> str | InputRequired: "Cancel."

def go_on(tag, outcome) -> str | InputRequired: "Go on."

@kit.tool(resume=go_on)
def later() -> str: "Later."

@kit.prompt
def ask() -> "str | InputRequired": "Ask."
"""
    shop.write("shop_tools.py", KIT + asking)

    assert list(made(tmp_path, shop, TAKES_IT).asking) == ["tool cancel", "tool later", "prompt ask"]


def test_a_kit_with_providers_is_marked(tmp_path: Path, shop: Modules) -> None:
    provider = "class P:\n  def tools(self, ctx): return []\nkit.add_provider(P())"
    shop.write("shop_tools.py", f"from stile import Toolkit\nkit = Toolkit()\n{provider}")

    bundle = made(tmp_path, shop, TAKES_IT).bundle

    assert bundle.code[0].per_caller
    assert bundle.tools == ()


def test_a_prompt_of_the_code_cannot_have_the_name_of_a_file(tmp_path: Path, shop: Modules) -> None:
    files = {"index.graphql": SCHEMA, "config.yaml": TAKES_IT, "prompts/complaint.md": "Complain.\n"}

    (told,) = reported(tmp_path, files, **shop.environ)

    assert told == 'prompts/complaint.md duplicate-prompt: "complaint"'


def test_an_endpoint_without_code_loads_nothing_of_it(tmp_path: Path) -> None:
    folder = write_endpoint(tmp_path, {"index.graphql": SCHEMA, "config.yaml": READABLE})
    script = (
        "import sys, pathlib\n"
        "from handler.compiler.compile import compile_endpoint\n"
        f"compile_endpoint(pathlib.Path({str(folder)!r}))\n"
        "print([name for name in sys.modules if name.startswith(('pydantic', 'handler.code_tools'))])"
    )

    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


PATTERNS = """\
import re
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from stile import Toolkit

kit = Toolkit()


class Line(BaseModel):
    model_config = ConfigDict(regex_engine="python-re")
    sku: Annotated[str, Field(pattern="^(a+)+$")]


SCHEMA = {"type": "object", "properties": {"a": {"pattern": "^(?!x)"}}}
NAMES = {"type": "object", "patternProperties": {"^(?!x)": {}}}


class Ok(BaseModel):
    sku: Annotated[str, Field(pattern="^(a+)+$")]


TOOL
    "Take."
    return ""
"""


@pytest.mark.parametrize(
    ("signature", "reason"),
    [
        ("@kit.tool\ndef take(slug: Annotated[str, Field(pattern='^(?!x)')]) -> str:", "look-around"),
        ("@kit.tool\ndef take(slug: Annotated[str, Field(pattern=re.compile('^(a+)+$'))]) -> str:", "re may take very"),
        ("@kit.tool\ndef take(lines: list[Line]) -> str:", "re may take very long"),
        ("@kit.tool(input_schema=Line)\ndef take(line: Line) -> str:", "re may take very long"),
        (
            "@kit.tool(input_schema=SCHEMA)\ndef take(a: dict) -> str:",
            "look-around",
        ),
        (
            "@kit.tool(input_schema=NAMES)\ndef take(a: dict) -> str:",
            "look-around",
        ),
        (
            "@kit.tool(output_schema=SCHEMA)\ndef take() -> dict:",
            "look-around",
        ),
    ],
)
def test_pattern_that_needs_backtracking_is_refused(
    tmp_path: Path, modules: Modules, signature: str, reason: str
) -> None:
    modules.write("shop_tools.py", PATTERNS.replace("TOOL", signature))

    (problem,) = problems_of(tmp_path, {"index.graphql": SCHEMA, "config.yaml": TAKES_IT}, **modules.environ)

    assert reason in problem.sentence


@pytest.mark.parametrize(
    "signature",
    [
        "@kit.tool\ndef take(slug: Annotated[str, Field(pattern='^(a+)+$')], lines: list[Ok]) -> str:",
        "@kit.tool\ndef take() -> Line:",
        "@kit.tool(input_schema=Ok)\ndef take(ok: Ok) -> str:",
    ],
)
def test_pattern_that_the_linear_engine_runs_is_not_a_problem(tmp_path: Path, modules: Modules, signature: str) -> None:
    modules.write("shop_tools.py", PATTERNS.replace("TOOL", signature))

    assert not [each for each in made(tmp_path, modules, TAKES_IT).warnings if "pattern" in each.sentence]
