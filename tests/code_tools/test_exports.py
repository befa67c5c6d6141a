from __future__ import annotations

import ast
import subprocess
import sys
from types import ModuleType

import pytest

import handler
import handler.testing
import stile
import stile.testing
from tests.code_tools.cases import case
from tests.conftest import ROOT

HEAVY = ("pydantic", "pydantic_core", "jsonschema", "boto3", "botocore", "graphql", "mcp", "starlette", "msgspec")


def loaded_by(code: str) -> set[str]:
    """Which of the heavy packages a new interpreter holds after ``code``."""
    program = f"import sys\n{code}\nprint(*(name for name in {HEAVY!r} if name in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


@case("M-001")
def test_import_of_the_package_loads_nothing_heavy() -> None:
    for package in ("handler", "stile"):
        assert loaded_by(f"import {package}") == set()
        assert loaded_by(f"import {package}\n{package}.__version__") == set()


def test_errors_content_and_context_load_nothing_heavy() -> None:
    names = "Async, Context, Elicit, Err, Image, InputRequired, McpError, Ok, Text, ToolError, ToolResult, tool_fail"

    assert loaded_by(f"from stile import {names}") == set()


def test_tools_load_pydantic_only_when_their_types_are_asked_for() -> None:
    define = "from stile import Toolkit\nkit = Toolkit()\n@kit.tool\ndef add(a: int) -> int: return a"

    assert "pydantic" not in loaded_by(define)
    assert "pydantic" in loaded_by(f"{define}\nkit.tools[0].entry")


def test_tool_with_a_schema_of_its_own_needs_no_pydantic() -> None:
    code = """
from stile import Toolkit
from stile.testing import TestClient
kit = Toolkit()
@kit.tool(input_schema={"type": "object"})
def raw(arguments): return arguments
assert TestClient(kit).call("raw", a=[1]).data == {"a": [1]}
"""

    assert "pydantic" not in loaded_by(code)


PUBLIC = {
    "Async": "handler.code_tools.return_values",
    "Audio": "handler.code_tools.return_values",
    "Context": "handler.code_tools.context",
    "Elicit": "handler.code_tools.return_values",
    "EmbeddedResource": "handler.code_tools.return_values",
    "Err": "handler.code_tools.return_values",
    "Field": "handler.code_tools.field",
    "GraphQLErrors": "handler.errors.calls",
    "Image": "handler.code_tools.return_values",
    "InputRequired": "handler.code_tools.return_values",
    "InvalidArguments": "handler.errors.calls",
    "InvalidParams": "handler.errors.protocol",
    "McpError": "handler.errors.protocol",
    "Ok": "handler.code_tools.return_values",
    "ResourceLink": "handler.code_tools.return_values",
    "SchemaValidator": "handler.code_tools.arguments",
    "Text": "handler.code_tools.return_values",
    "Tool": "handler.code_tools.definition",
    "ToolDefinitionError": "handler.errors.authoring",
    "ToolError": "handler.errors.calls",
    "ToolCall": "handler.code_tools.return_values",
    "ToolResult": "handler.code_tools.return_values",
    "Toolkit": "handler.code_tools.toolkit",
    "assert_provider_token": "handler.code_tools.context",
    "describe": "handler.code_tools.definition",
    "tool": "handler.code_tools.definition",
    "tool_fail": "handler.code_tools.return_values",
}
"""The public names, each with the module that defines it: tracebacks and pickles of authors have its name."""


def test_public_names_and_their_modules_are_these() -> None:
    assert sorted(stile.__all__) == sorted([*PUBLIC, "__version__"])
    assert {name: getattr(stile, name).__module__ for name in PUBLIC} == PUBLIC
    assert stile.__version__ == handler.__version__


def test_type_checkers_see_the_public_names_where_they_are() -> None:
    for_checkers = [
        (alias.name, node.module)
        for block in ast.parse((ROOT / "stile" / "__init__.py").read_text("utf-8")).body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in ast.walk(block)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]

    assert dict(for_checkers) == PUBLIC | {"Field": "pydantic"}
    assert all((ROOT / package / "py.typed").is_file() for package in ("stile", "handler"))


def test_old_places_of_the_names_hold_the_same_objects() -> None:
    assert [name for name in stile.__all__ if getattr(handler, name) is not getattr(stile, name)] == []
    assert handler.testing.TestClient is stile.testing.TestClient
    assert handler.testing.Answer is stile.testing.Answer
    names: dict[str, object] = {}
    exec("from handler import *", names)
    assert names["Toolkit"] is stile.Toolkit


@pytest.mark.parametrize("module", [stile, handler])
def test_other_names_are_not_there(module: ModuleType) -> None:
    with pytest.raises(AttributeError, match=f"module '{module.__name__}' has no attribute 'Server'"):
        _ = module.Server


WITHOUT_PYDANTIC = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pydantic", "pydantic_core"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
from stile import Toolkit
kit = Toolkit()
@kit.tool
def add(a: int) -> int: return a
try:
    %s
except Exception as exc:
    print(f"{type(exc).__name__}: {exc}")
"""


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("kit.tools[0].entry", "tool add: tools in Python need pydantic, which is missing"),
        (
            "from stile import Field; Field(3, ge=1); Field(alias='other')",
            "ModuleNotFoundError: Field is pydantic's, which is missing",
        ),
    ],
)
def test_missing_pydantic_is_reported_with_the_way_to_install_it(code: str, sentence: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_PYDANTIC % code],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert sentence in done.stdout
    assert "install the wheel of Stile with its packages, or run `make setup` in a clone" in done.stdout
