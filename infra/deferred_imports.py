"""Defer imports of packages to their first use, in the pack of a function.

A cold start is imports, and packages import at their top what few requests need. Two forms of a module change here,
and no other does: packages whose ``__init__`` collects names (``COLLECTING``), and modules that import another module
for the bodies of functions (``DEFERRED``). Without this, a cold ``tools/list`` takes 25 % more processor time, and a
call of a GraphQL tool 28 % more.

A name keeps its value, wherever it is read from. Where a package needs a name during its import, the build fails, so
that an update of a package cannot turn into a NameError of a request. ``tests/infra/test_deferred_imports.py`` holds
changed modules against unchanged ones, and ``tests/cold/test_packed.py`` every module of a pack against its file.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping
from copy import deepcopy

COLLECTING: Collection[str] = (
    "aws_lambda_powertools",
    "graphql",
    "graphql.error",
    "graphql.execution",
    "graphql.execution.incremental",
    "graphql.language",
    "graphql.pyutils",
    "graphql.type",
    "graphql.utilities",
    "graphql.validation",
)
"""Packages that collect names of their modules. A call of a GraphQL tool needs half of graphql-core."""

DEFERRED: Mapping[str, Collection[str]] = {
    "aws_lambda_powertools.logging.logger": ("aws_lambda_powertools.utilities", "random"),
    "aws_lambda_powertools.shared.functions": ("pathlib",),
    "starlette._utils": ("anyio.abc", "ipaddress"),
    "starlette.concurrency": ("anyio.to_thread",),
    "starlette.datastructures": ("shlex",),
    "starlette.exceptions": ("http.client",),
    "starlette.middleware.errors": ("html",),
    "starlette.requests": ("anyio", "http", "starlette.formparsers"),
    "starlette.responses": ("anyio", "anyio.to_thread", "email.utils", "http.cookies", "mimetypes", "secrets"),
}
"""Module -> modules that it imports for functions that no request of Stile's calls: forms, cookies, files, threads."""

UNREAD: Mapping[str, Collection[str]] = {"aws_lambda_powertools": ("PACKAGE_PATH",)}
"""Module -> names that nobody reads. They go, and so does pathlib, which is imported for them."""

OF_TYPING = {"mangum.types"}
"""Modules of types that import ``typing_extensions``, where ``typing`` of the function's Python has the same names."""

Import = ast.Import | ast.ImportFrom
Origin = tuple[str, str]
"""A module, and the name of its member; empty string: the module itself."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


class NotDeferrable(Exception):
    """A module that reads the name of a deferred import during its own import, or in another meaning."""


def defer_imports(tree: ast.Module, name: str) -> None:
    """Change the tree of a module, if it is one that defers imports.

    Raises:
        NotDeferrable: the module needs one of ``DEFERRED`` during its import, or does not import it.
    """
    if name in UNREAD:
        _drop(tree, UNREAD[name])
    if name in OF_TYPING:
        _take_from_typing(tree)
    if name in DEFERRED:
        _move_into_functions(tree, name, DEFERRED[name])
    elif name in COLLECTING:
        _collect_lazily(tree, name)


def _drop(tree: ast.Module, unread: Collection[str]) -> None:
    dropped = [each for each in tree.body if isinstance(each, ast.Assign) and _names(each.targets) <= {*unread}]
    kept = [each for each in tree.body if each not in dropped]
    needless = _names(dropped) - _names(kept)
    tree.body = [each for each in kept if not (isinstance(each, Import) and _bound(each).keys() <= needless)]


def _take_from_typing(tree: ast.Module) -> None:
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "typing_extensions":
            statement.module = "typing"


def _collect_lazily(tree: ast.Module, package: str) -> None:
    read = _names(tree.body)
    submodules: dict[str, Origin] = {}
    names: dict[str, Origin] = {}
    kept: list[ast.stmt] = []
    for statement in tree.body:
        found = _collected(statement, package)
        if not found or "*" in found or read & found.keys():
            kept.append(statement)
            continue
        names |= found
        origin, _ = next(iter(found.values()))
        parent, _, submodule = origin.rpartition(".")
        if parent == package:
            submodules[submodule] = (origin, "")
    tree.body = _with_lazy_names(kept, submodules | names)


def _collected(statement: ast.stmt, package: str) -> dict[str, Origin]:
    """Return the names that a package takes from its own modules, if the statement does that."""
    if not isinstance(statement, ast.ImportFrom) or not statement.module or statement.level > 1:
        return {}
    origin = f"{package}.{statement.module}" if statement.level else statement.module
    return _bound(statement, origin) if origin.startswith(f"{package}.") else {}


def _move_into_functions(tree: ast.Module, module: str, deferred: Collection[str]) -> None:
    taken = [each for each in tree.body if isinstance(each, Import) and _imported(each) & {*deferred}]
    if missing := {*deferred}.difference(*map(_imported, taken)):
        raise NotDeferrable(f"{module} does not import {', '.join(sorted(missing))}")
    tree.body = [each for each in tree.body if each not in taken]
    origins = {name: origin for each in taken for name, origin in _bound(each).items()}
    run = _AtImport()
    run.visit(tree)
    if "annotations" not in _future(tree):
        raise NotDeferrable(f"{module} evaluates its annotations")
    if early := run.read & origins.keys():
        raise NotDeferrable(f"{module} needs {', '.join(sorted(early))} during its import")
    for function in run.functions:
        read = _names(function.body) & origins.keys()
        if clash := read & _given(function):
            raise NotDeferrable(f"{module}, {function.name}: another meaning of {', '.join(sorted(clash))}")
        for statement in reversed(taken):
            _put_before_use(statement, function.body)
    tree.body = _with_lazy_names(tree.body, origins)


def _put_before_use(statement: Import, body: list[ast.stmt]) -> None:
    """Put an import before the statement of a function that reads its name first: functions may return early."""
    reading = (place for place, each in enumerate(body) if _names([each]) & _bound(statement).keys())
    place = next(reading, None)
    if place is not None:
        body.insert(place, deepcopy(statement))


class _AtImport(ast.NodeVisitor):
    """The names that a module reads during its import, and its outermost functions. Annotations are not evaluated."""

    def __init__(self) -> None:
        self.read: set[str] = set()
        self.functions: list[Function] = []

    def visit_Name(self, node: ast.Name) -> None:
        self.read.add(node.id)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.read |= _names([node.target, *([node.value] if node.value else [])])

    def visit_FunctionDef(self, node: Function) -> None:
        self.functions.append(node)
        self.read |= _names([*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)])

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - as its base class calls it


def _imported(statement: Import) -> set[str]:
    if isinstance(statement, ast.Import):
        return {each.name for each in statement.names}
    return set() if statement.level else {str(statement.module)}


def _bound(statement: Import, origin: str = "") -> dict[str, Origin]:
    """Return the names that an import binds, each with what it stands for."""
    if isinstance(statement, ast.ImportFrom):
        return {each.asname or each.name: (origin or str(statement.module), each.name) for each in statement.names}
    return {
        each.asname or each.name.partition(".")[0]: (each.name if each.asname else each.name.partition(".")[0], "")
        for each in statement.names
    }


def _names(nodes: Iterable[ast.AST]) -> set[str]:
    return {each.id for node in nodes for each in ast.walk(node) if isinstance(each, ast.Name)}


def _given(function: Function) -> set[str]:
    """Return the names that a function, or one in it, gives a value of its own."""
    found = set[str]()
    for node in ast.walk(function):
        match node:
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.ClassDef(name=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if node is not function:
                found.add(name)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                found.add(name)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                found |= {*names}
            case ast.Import() | ast.ImportFrom():
                found |= _bound(node).keys()
    return found


def _future(tree: ast.Module) -> set[str]:
    return {
        each.name
        for statement in tree.body
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        for each in statement.names
    }


def _with_lazy_names(body: list[ast.stmt], names: Mapping[str, Origin]) -> list[ast.stmt]:
    """Return a module's statements with a first one that names the deferred imports, for those who read them there."""
    call = f"__import__('handler.cold.artefact', fromlist=['']).name_lazily(__name__, {dict(names)!r})"
    is_future = [isinstance(each, ast.ImportFrom) and each.module == "__future__" for each in body]
    place = is_future.index(True) + 1 if True in is_future else 0
    return [*body[:place], *ast.parse(call).body, *body[place:]]
