"""Deferred imports held against Python's own, on modules put together at random; modules that are refused."""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.artefacts import DEFERRING
from tests.support.examples import examples

SEARCHED = settings(max_examples=examples(60), derandomize=True, deadline=None, database=None)
FUTURE = "from __future__ import annotations\n"

IMPORTS = {
    "json": ["import json", "from json import dumps", "from json import dumps as written, JSONDecodeError"],
    "json.decoder": ["import json.decoder"],
    "email": ["from email import charset", "from email import charset as sets"],
    "math": ["import math as numbers", "from math import pi, tau"],
}
FUNCTIONS = (
    "def {0}(x):\n    return {name}",
    "def {0}(x: {name} = 1) -> {name}:\n    if x == 1:\n        return 2\n    return {name}",
    "def {0}(x):\n    return [(lambda: {name})() for _ in range(2)]",
    "def {0}(x):\n    class Inner:\n        kept = {name}\n    return Inner.kept",
    "def {0}(x):\n    def inner():\n        return {name}\n    return inner()",
    "def {0}(x):\n    yield {name}\n    yield {name}",
    "def {0}(x):\n    try:\n        raise ValueError\n    except ValueError as exc:\n        return {name}",
    "class {0}:\n    def __init__(self, x):\n        self.x = {name}",
    "async def {0}(x):\n    return {name}",
    "def {0}(x):\n    local: {name} = 1\n    return local, __name__",
    "def {0}(x):\n    return x",
)


@st.composite
def modules(draw: st.DrawFn) -> tuple[str, list[str]]:
    """Draw a module's text, and the modules that it may import later."""
    origins = draw(st.lists(st.sampled_from([*IMPORTS]), min_size=1, unique=True))
    imports = [draw(st.sampled_from(IMPORTS[origin])) for origin in origins]
    names = sorted({name for line in imports for name in bound(line)})
    functions = [
        draw(st.sampled_from(FUNCTIONS)).format(f"f{number}", name=draw(st.sampled_from(names)))
        for number in range(draw(st.integers(1, 5)))
    ]
    return FUTURE + "\n".join([*imports, "def local(): return sorted(globals())", *functions]) + "\n", origins


def bound(line: str) -> list[str]:
    (statement,) = ast.parse(line).body
    assert isinstance(statement, ast.Import | ast.ImportFrom)
    return [each.asname or each.name.partition(".")[0] for each in statement.names]


@contextmanager
def made(text: str, name: str, deferred: Sequence[str] | None = None) -> Iterator[ModuleType]:
    """Make a module of a text; with ``deferred``, of its tree with these imports deferred."""
    tree = ast.parse(text)
    if deferred is not None:
        DEFERRING["DEFERRED"][name] = deferred
        try:
            DEFERRING["defer_imports"](tree, name)
        finally:
            del DEFERRING["DEFERRED"][name]
    module = sys.modules[name] = ModuleType(name)
    try:
        exec(compile(tree, name, "exec", dont_inherit=True), module.__dict__)
        yield module
    finally:
        del sys.modules[name]


def found_in(module: ModuleType, name: str) -> object:
    value = getattr(module, name)
    if getattr(value, "__module__", "") != module.__name__:
        return value
    if name == "local":
        return None
    result = value(1)
    if inspect.iscoroutine(result):
        with pytest.raises(StopIteration) as stopped:
            result.send(None)
        return stopped.value.value
    if inspect.isgenerator(result):
        return list(result)
    return result.x if type(result).__module__ == module.__name__ else result


@SEARCHED
@given(modules())
def test_module_gives_the_same_values_with_imports_deferred(drawn: tuple[str, list[str]]) -> None:
    text, deferred = drawn
    with made(text, "deferring") as plain:
        names = [name for name in dir(plain) if not name.startswith("__")]
        expected = {name: found_in(plain, name) for name in names}
    with made(text, "deferring", deferred) as changed:
        assert not {name for line in text.splitlines() if "import" in line for name in bound_in(line)} & {
            *vars(changed)
        }
        assert {name for name in dir(changed) if not name.startswith("__")} == {*names}
        assert {name: found_in(changed, name) for name in names} == expected
        with pytest.raises(AttributeError, match="has no attribute 'gone'"):
            changed.gone  # noqa: B018


def bound_in(line: str) -> list[str]:
    return [] if line == FUTURE.strip() else bound(line)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("import json\nDECODER = json.JSONDecoder()", "needs json during its import"),
        ("import json\nclass A(json.JSONDecoder): pass", "needs json during its import"),
        ("import json\ndef f(x=json.dumps): pass", "needs json during its import"),
        ("import json\ndef f(*, x=json.dumps): pass", "needs json during its import"),
        ("import json\n@json.dumps\ndef f(): pass", "needs json during its import"),
        ("import json\nf = lambda: json", "needs json during its import"),
        ("import json\nclass A:\n    x: int = json.dumps", "needs json during its import"),
        ("import json\ntry:\n    json.gone\nexcept AttributeError: pass", "needs json during its import"),
        ("import json\ndef f():\n    global json\n    json = json", "f: another meaning of json"),
        ("import json\ndef f(json): return json", "f: another meaning of json"),
        ("import json\ndef f(x): return [json for json in x]", "f: another meaning of json"),
        ("import json\ndef f(x):\n    import json\n    return json", "f: another meaning of json"),
        ("import math", "does not import json"),
    ],
)
def test_build_fails_where_a_module_needs_a_name_earlier(text: str, fault: str) -> None:
    with (
        pytest.raises(DEFERRING["NotDeferrable"], match=f"^deferring,? ?{fault}$"),
        made(FUTURE + text, "deferring", ["json"]),
    ):
        pass


def test_build_fails_where_annotations_are_evaluated() -> None:
    with (
        pytest.raises(DEFERRING["NotDeferrable"], match="evaluates its annotations"),
        made("import json\ndef f(x: json): pass", "deferring", ["json"]),
    ):
        pass


def test_member_of_a_package_with_its_modules_name_stays_the_member(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "collecting"
    package.mkdir()
    (package / "whole.py").write_text("def whole(): return 'whole'\n", encoding="utf-8")
    (package / "other.py").write_text("from .whole import whole\nfalse = ''\n", encoding="utf-8")
    tree = ast.parse("from .whole import whole\nfrom collecting.other import false, whole as again\nkept = 1\n")
    monkeypatch.setitem(DEFERRING["defer_imports"].__globals__, "COLLECTING", ("collecting",))
    DEFERRING["defer_imports"](tree, "collecting")
    (package / "__init__.py").write_text(ast.unparse(tree), encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))

    collecting = importlib.import_module("collecting")
    assert "collecting.whole" not in sys.modules
    other = importlib.import_module("collecting.other")

    assert collecting.whole() == "whole"
    assert collecting.again is collecting.whole
    assert (collecting.false, collecting.kept, collecting.other) == ("", 1, other)
    assert {"again", "false", "kept", "other", "whole"} <= {*dir(collecting)}
