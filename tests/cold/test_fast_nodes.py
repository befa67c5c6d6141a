"""graphql-core as a function loads it: the same classes, made faster. In fresh processes: here it is loaded already."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.support.rooms import read_modules

DOCUMENTS = ROOT / "handler" / "graph" / "documents"
FAST = "handler.cold.fast_nodes"

DEPLOY_TIME = frozenset(("compiler", "commands"))
"""Folders of modules that the function does not load."""

DESCRIBE = """
import copy, dataclasses, json, pickle, sys
if sys.argv[1] == "shared":
    import handler.graph.documents
standard = dataclasses.dataclass
import graphql
from graphql.language import ast

def said(call):
    try:
        return str(call())
    except Exception as exc:
        return type(exc).__name__

TEXT = '''
query Q($a: [Int!]! = [1] @d) @d {
  f: g(x: {y: [ENUM, "s", 1.5, true, null, $a]}) { ...F ... on T @skip(if: true) { h } }
}
fragment F on T { i } "what" type T implements I @d { "it" f(a: Int = 1): [T!] } extend schema @d
directive @d(a: In) repeatable on FIELD union U = T | V enum E { A } input In @oneOf { a: Int }
scalar S interface I { id: ID }
'''
document = graphql.parse(TEXT)
nodes, waiting = [], [document]
while waiting:
    node = waiting.pop()
    nodes.append(node)
    for key in node.keys:
        value = getattr(node, key)
        waiting += [each for each in (value if isinstance(value, tuple) else [value]) if isinstance(each, ast.Node)]
classes = [each for each in vars(ast).values() if isinstance(each, type) and issubclass(each, ast.Node)]
again = graphql.parse(TEXT)
field = next(node for node in nodes if isinstance(node, ast.FieldNode))
bare = ast.NameNode(value="a")

@standard(frozen=True, kw_only=True, repr=False)
class Own(ast.NameNode):
    more: int = 3

class Plain(ast.NameNode):
    pass

print(json.dumps({
    "shared": all("__node_fields__" in vars(each) for each in classes),
    "classes": {
        each.__name__: [
            [[f.name, f.type, f.default is None, f.init, f.hash, f.kw_only] for f in dataclasses.fields(each)],
            repr(each.__dataclass_params__), each.kind, each.keys, each.__match_args__, each.__doc__,
            [base.__name__ for base in each.__mro__], each.__module__, each.__qualname__,
            list(each.__dataclass_fields__),
        ]
        for each in classes
    },
    "ast": repr([node.to_dict(locations=True) for node in nodes]),
    "printed": graphql.print_ast(document),
    "equal": [document == again, hash(document) == hash(again), document != graphql.parse("{ a }"), bare == "a"],
    "of other classes": ast.NameNode(value="a") == ast.IntValueNode(value="a"),
    "hashes": len({node for node in nodes}) == len({*nodes, *again.definitions}),
    "copies": [
        copy.copy(field) == field,
        copy.deepcopy(document) == document,
        pickle.loads(pickle.dumps(document)) == document,
    ],
    "replaced": repr(dataclasses.replace(field, name=bare, alias=None).to_dict()),
    "kept": dataclasses.replace(document, definitions=()) == ast.DocumentNode(definitions=(), loc=document.loc),
    "asdict": dataclasses.asdict(bare),
    "values": list(dataclasses.astuple(bare)),
    "is dataclass": [dataclasses.is_dataclass(ast.FieldNode), dataclasses.is_dataclass(field)],
    "refused": [
        said(lambda: ast.NameNode()), said(lambda: ast.NameNode(valeu="a")), said(lambda: ast.NameNode("a")),
        said(lambda: ast.NameNode(value="a", more=1)), said(lambda: setattr(bare, "value", "b")),
        said(lambda: delattr(bare, "value")), said(lambda: dataclasses.replace(bare, more=1)), bare.value,
    ],
    "repr": [repr(field), repr(bare), repr(Own(value="a"))],
    "subclasses": [
        vars(Own(value="a", more=4)), Own(value="a") == Own(value="a"), Own(value="a") == Own(value="a", more=4),
        said(lambda: Own()), [f.name for f in dataclasses.fields(Own)], vars(Plain(value="b")),
        Plain(value="b") == bare, said(lambda: setattr(Own(value="a"), "more", 1)), Own.kind, Plain.kind,
    ],
    "visited": graphql.print_ast(graphql.visit(document, type("V", (graphql.Visitor,), {
        "enter_name": lambda self, node, *_: ast.NameNode(value=node.value + "x")})())),
    "executed": graphql.graphql_sync(graphql.build_schema("type Query { a(b: Int = 1): Int }"), "{ a(b: 2) }").data,
    "restored": dataclasses.dataclass.__module__,
}))
"""

MEMORY = """
import sys, tracemalloc
if sys.argv[1] == "shared":
    import handler.graph.documents
from graphql.language.ast import NameNode
nodes = [NameNode(value="a") for _ in range(100)]
tracemalloc.start()
nodes += [NameNode(value="a") for _ in range(1_000)]
print(tracemalloc.get_traced_memory()[0])
"""

STANDARD_AFTER = """
import dataclasses
from handler.cold.fast_nodes import load
from dataclasses import dataclass
load()
@dataclass(frozen=True, kw_only=True, repr=False)
class Other:
    a: int
print(dataclasses.dataclass is dataclass, dataclass.__module__, "__node_fields__" in vars(Other))
"""

STANDARD_BEFORE = """
import graphql
before = graphql.DocumentNode
import handler.graph.documents.document_check
print(handler.graph.documents.document_check.DocumentNode is before, "__node_fields__" in vars(before))
"""


def described(how: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(DESCRIBE, how))
    return found


def run(program: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_nodes_that_share_methods_are_what_the_standard_library_makes() -> None:
    shared, standard = described("shared"), described("standard")

    assert (shared.pop("shared"), standard.pop("shared")) == (True, False)
    for name in standard:
        assert shared[name] == standard[name], name


def test_nodes_take_as_little_memory_as_those_of_the_standard_library() -> None:
    shared, standard = (int(run(MEMORY, how)) for how in ("shared", "standard"))

    assert shared < 1.1 * standard


def test_dataclasses_make_other_classes_as_ever() -> None:
    assert run(STANDARD_AFTER) == "True dataclasses False\n"


def test_classes_stay_as_they_are_where_graphql_core_was_imported_before() -> None:
    assert run(STANDARD_BEFORE) == "True False\n"


@pytest.mark.parametrize("first", ["document_check", "partial_schema", "operation"])
def test_whichever_module_loads_graphql_core_first_its_nodes_share_methods(first: str) -> None:
    program = (
        f"import handler.graph.documents.{first}\nimport graphql; print('__node_fields__' in vars(graphql.FieldNode))"
    )

    assert run(program) == "True\n"


def test_graphql_core_loads_fast_at_the_door_of_each_package_that_needs_it() -> None:
    """The compiler imports graphql-core without the package of documents."""
    imports = {name: module.imports for name, module in read_modules().items()}

    assert [name for name, targets in imports.items() if FAST in targets] == [
        "handler.compiler",
        "handler.graph.documents",
    ]


def test_at_request_time_graphql_core_is_imported_in_the_package_of_documents_alone() -> None:
    """The package loads it fast before any of its modules imports it."""
    files = [path for path in sorted((ROOT / "handler").rglob("*.py")) if DEPLOY_TIME.isdisjoint(path.parts)]

    assert {path.parent for path in files if imports_graphql(path)} == {DOCUMENTS}


def imports_graphql(file: Path) -> bool:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    imported = [
        [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    return "graphql" in {name.partition(".")[0] for names in imported for name in names}
