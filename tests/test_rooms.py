"""Imports lead down the order of rooms and never in a circle, and a name means one thing in all rooms."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.support.figures import catches_all, figures
from tests.support.rooms import ROOT, Module, import_circles, read_modules, repeated_names, upward_imports

ORDER = (
    ("handler.__main__", "handler.lambda_function"),
    ("stile",),
    ("handler.commands",),
    ("handler.audience",),
    # callers as a command line names them, and an endpoint in memory: they load nothing else of the commands
    ("handler.commands.local.callers", "handler.commands.local.local_endpoint"),
    # request time
    ("handler.server.function",),
    ("handler.server.app",),
    ("handler.page",),
    ("handler.server",),
    ("handler.server.mcp",),
    ("handler.server.graphql_route", "handler.server.oauth_proxy"),
    ("handler.server.denials", "handler.server.graphql_documents"),
    ("handler.server.upstream",),
    ("handler.server.context",),
    ("handler.server.asgi", "handler.server.endpoints", "handler.server.outgoing"),
    ("handler.server.auth",),
    # deploy time
    ("handler.compiler.compile",),
    ("handler.compiler.checks", "handler.compiler.provenance"),
    ("handler.compiler.graphql_api",),
    ("handler.compiler.tools",),
    ("handler.compiler.api_context",),
    ("handler.compiler.access",),
    ("handler.compiler.json_schemas",),
    ("handler.compiler.operations",),
    ("handler.compiler.compile_context",),
    ("handler.compiler.schema",),
    ("handler.compiler.config",),
    ("handler.compiler.source",),
    ("handler.compiler.conditions", "handler.compiler.problems"),
    ("handler.compiler",),
    # the ground of both
    ("handler.testing",),
    ("handler",),
    ("handler.code_tools",),
    ("handler.graph.documents",),
    ("handler.search",),
    ("handler.graph",),
    ("handler.settings",),
    ("handler.cold.prefetch",),
    ("handler.storage",),
    ("handler.aws",),
    ("handler.bundle", "handler.http"),
    ("handler.policy", "handler.json_schema", "handler.answers"),
    ("handler.list_entries",),
    ("handler.text", "handler.strict_json"),
    ("handler.errors",),
    ("handler.cold", "handler.lru"),
)
"""The rooms from the doors down. A room imports rooms of later lines; rooms of one line do not import each other."""

LEFT = {
    "handler.testing -> stile.testing",
}
"""An old name of one more version."""

ONE_SUBJECT = {
    "Field": ("code_tools.field", "graph.index"),  # of an argument, by pydantic's name, and of a GraphQL type
    "ToolOptions": (
        "bundle.tools",
        "code_tools.options",
    ),  # a tool's options: compiled, and as its author gives them
    "content.py": (
        "bundle.content",
        "code_tools.content",
        "compiler.tools.content",
        "server.mcp.content",
    ),  # prompts and resources: in the bundle, in Python, compiled, and answered
    "context.py": ("code_tools.context", "server.context"),  # of a request: for tools in Python, and for us
    "identity.py": ("bundle.identity", "compiler.config.identity"),  # `identity`: in the bundle, and of config.yaml
    "testing.py": ("testing", "stile.testing"),  # the old name of one more version
    "tools.py": ("bundle.tools", "compiler.tools.tools"),  # tools: in the bundle, and compiled
    "upstream.py": (
        "bundle.upstream",
        "compiler.config.upstream",
        "errors.upstream",
    ),  # in the bundle, read, its errors
}
"""Names of several modules, public classes or functions: one subject, seen from another room. The comment says how."""

EDGES = {
    "a GraphQL request": "handler/server/graphql_route.py",
    "a Lambda event": "handler/server/function.py",
    "a change": "handler/commands/local/dev_session.py",
    "an MCP request": "handler/server/mcp/route.py",
    "an author's code": "handler/code_tools/boundary.py",
    "an author's error": "handler/code_tools/boundary.py",
    "an author's module": "handler/compiler/tools/code.py",
    "an author's thread": "handler/code_tools/boundary.py",
    "an item of a batch": "handler/server/mcp/route.py",
}
"""The boundaries at which every exception is caught, by the names in their comments."""

HALVES = ("handler.server.", "handler.compiler.")


@pytest.fixture(scope="module")
def modules() -> dict[str, Module]:
    return read_modules()


def test_no_imports_lead_in_a_circle(modules: dict[str, Module]) -> None:
    assert import_circles(modules) == []


def test_imports_lead_down(modules: dict[str, Module]) -> None:
    assert set(upward_imports(modules, ORDER)) <= LEFT


def test_modules_and_public_classes_of_one_name_mean_one_thing(modules: dict[str, Module]) -> None:
    found = repeated_names(modules)

    short = {name: tuple(sorted(place.removeprefix("handler.") for place in places)) for name, places in found.items()}
    assert short == {name: tuple(sorted(places)) for name, places in ONE_SUBJECT.items()}


def test_repeated_names_are_found(tmp_path: Path) -> None:
    files = {
        "__init__.py": "",
        "door.py": "class Answer: ...\nclass _Own: ...\ndef told(): ...\ndef run(): ...",
        "rooms/__init__.py": "",
        "rooms/door.py": "class _Own: ...\nasync def told(): ...\nasync def told(): ...\ndef run(): ...",
        "rooms/low.py": "class Answer: ...",
    }
    for name, text in files.items():
        file = tmp_path / "handler" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    assert repeated_names(read_modules(tmp_path)) == {
        "Answer": ["handler.door", "handler.rooms.low"],
        "door.py": ["handler.door", "handler.rooms.door"],
        "told": ["handler.door", "handler.rooms.door"],
    }


def test_circles_and_upward_imports_are_found(tmp_path: Path) -> None:
    files = {
        "__init__.py": "",
        "door.py": "from handler.rooms import low, high",
        "rooms/__init__.py": "",
        "rooms/high.py": "late = 'handler.rooms.low:name'",
        "rooms/low.py": "from handler.rooms.high import late",
        "ground.py": "from handler.door import x",
        "new.py": "",
    }
    for name, text in files.items():
        file = tmp_path / "handler" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    modules = read_modules(tmp_path)
    order = (("handler.door",), ("handler.rooms",), ("handler.ground",))

    assert import_circles(modules) == [["handler.rooms.high", "handler.rooms.low"]]
    assert upward_imports(modules, order) == ["handler", "handler.ground -> handler.door", "handler.new"]
    beside = (("handler.door", "handler.rooms"), ("handler",))
    assert upward_imports(modules, beside) == [
        "handler.door -> handler.rooms.high",
        "handler.door -> handler.rooms.low",
        "handler.ground -> handler.door",
    ]


@pytest.mark.parametrize(("half", "other"), [HALVES, HALVES[::-1]])
def test_neither_half_imports_the_other(half: str, other: str, modules: dict[str, Module]) -> None:
    for module in modules.values():
        if f"{module.name}.".startswith(half):
            assert not [name for name in module.imports if f"{name}.".startswith(other)], module.name


def test_every_exception_is_caught_at_named_boundaries_alone(modules: dict[str, Module]) -> None:
    found = []
    for module in modules.values():
        text = module.file.read_text(encoding="utf-8")
        for node in filter(catches_all, ast.walk(ast.parse(text))):
            line = text.splitlines()[getattr(node, "lineno", 0) - 1]
            edge = re.search(r"# (?:noqa: BLE001 - )?the edge of ([^:]+): \w", line)
            path = module.file.relative_to(ROOT).as_posix()
            found.append((edge[1] if edge else f"line {line.strip()}", path))

    assert sorted(found) == sorted(EDGES.items())


def test_figures_count_what_they_name(tmp_path: Path) -> None:
    swallowed = "try:\n    a()\nexcept (OSError, Exception):\n    pass\n"
    raised = "try:\n    a()\nexcept Exception:\n    raise\n"
    package = tmp_path / "handler"
    package.mkdir()
    (package / "__init__.py").write_text('"""What it is."""\n', encoding="utf-8")
    (package / "one.py").write_text(f'"""A thing. Who asks."""\n{swallowed}{raised}', encoding="utf-8")
    (package / "long.py").write_text("\n" * 601 + "import handler.other", encoding="utf-8")
    private = "def _once(): ...\ndef _twice(): ...\ndef all(): found = [_once(), _twice(), _twice()]\n"
    (package / "other.py").write_text(f"import handler.long\n{private}", encoding="utf-8")
    repeated = "".join(f"x{number} = {number}\n" for number in range(8))
    (package / "again.py").write_text(repeated, encoding="utf-8")
    (package / "first.py").write_text(f"import os\n{repeated}", encoding="utf-8")
    (tmp_path / "README.md").write_text("Say who calls. `what` is code.", encoding="utf-8")

    assert list(figures(tmp_path)) == [
        "modules per folder",
        "    6 handler",
        "modules over 600 lines: 1",
        "  602 handler.long",
        "import circles: 1",
        "  handler.long <-> handler.other",
        "runs of 6 equal lines or more: 1",
        "  handler/again.py:1 handler/first.py:2",
        "catches of Exception that do not raise again: 1",
        "  handler/one.py:4",
        "private functions that are called once: 1 of 3",
        "locals named by a past participle: 1",
        "docstrings that open with What, Who, Whether, Where or The same: 50.0 of 100",
        "what, who and whom per 1,000 words",
        "  285.7 docstrings",
        "  200.0 README.md",
    ]
