from __future__ import annotations

import subprocess
import sys

import pytest

import handler
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
    assert loaded_by("import handler") == set()
    assert loaded_by("import handler\nhandler.__version__") == set()


def test_errors_content_and_context_load_nothing_heavy() -> None:
    names = "Async, Context, Elicit, Err, Image, InputRequired, McpError, Ok, Text, ToolError, ToolResult, tool_fail"

    assert loaded_by(f"from handler import {names}") == set()


def test_tools_load_pydantic_only_when_their_types_are_asked_for() -> None:
    define = "from handler import Toolkit\nkit = Toolkit()\n@kit.tool\ndef add(a: int) -> int: return a"

    assert "pydantic" not in loaded_by(define)
    assert "pydantic" in loaded_by(f"{define}\nkit.tools[0].entry")


def test_tool_with_a_schema_of_its_own_needs_no_pydantic() -> None:
    code = """
from handler import Toolkit
from handler.testing import TestClient
kit = Toolkit()
@kit.tool(input_schema={"type": "object"})
def raw(arguments): return arguments
assert TestClient(kit).call("raw", a=[1]).data == {"a": [1]}
"""

    assert "pydantic" not in loaded_by(code)


def test_what_authors_import_is_this() -> None:
    assert sorted(handler.__all__) == [
        "Async",
        "Audio",
        "Context",
        "Elicit",
        "EmbeddedResource",
        "Err",
        "Field",
        "GraphQLErrors",
        "Image",
        "InputRequired",
        "InvalidArguments",
        "InvalidParams",
        "McpError",
        "Ok",
        "ResourceLink",
        "SchemaValidator",
        "Text",
        "Tool",
        "ToolDefinitionError",
        "ToolError",
        "ToolResult",
        "Toolkit",
        "__version__",
        "assert_provider_token",
        "describe",
        "tool",
        "tool_fail",
    ]
    assert all(getattr(handler, name) is not None for name in handler.__all__)


def test_field_is_pydantics() -> None:
    from pydantic import Field

    assert handler.Field is Field


def test_other_names_are_not_there() -> None:
    with pytest.raises(AttributeError, match="module 'handler' has no attribute 'Server'"):
        _ = handler.Server


WITHOUT_PYDANTIC = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pydantic", "pydantic_core"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
from handler import Toolkit
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
        ("kit.tools[0].entry", "tool add: tools in Python need pydantic, which is in the extra `code`"),
        ("from handler import Field", "ModuleNotFoundError: Field is pydantic's, which is in the extra `code`"),
    ],
)
def test_missing_pydantic_is_told_with_the_extra_that_brings_it(code: str, sentence: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_PYDANTIC % code],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert sentence in done.stdout
    assert "pip install 'stile[code]'" in done.stdout
