"""The pack of a built function, held against the ordinary import of the same files."""

from __future__ import annotations

import inspect
import json
import marshal
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from handler.cold.artefact import FIRST_LINE_BYTES, LATER, import_from_pack
from handler.compiler.compile import Compiled
from handler.storage.local import FolderStorage
from tests.conftest import ROOT
from tests.support.artefacts import DEFERRING, PACK, PACKAGES, copy_function, entries, pack, run_in
from tests.support.examples import in_full
from tests.support.function import store

TAG = str(sys.implementation.cache_tag)
OPENING = ["handler", "handler.cold", "handler.cold.artefact", "handler.lambda_function"]
REMEDY = ": build and deploy the function again"

DESCRIBE = """
import importlib, json, sys, traceback
from handler.cold.artefact import import_from_pack
assert import_from_pack() == ""
root = sys.argv[1]

def below(value):
    return json.loads(json.dumps(value, default=list).replace(root + "/", "").replace("/var/task/", ""))

def member(module, name):
    try:
        value = getattr(module, name)
    except ImportError as exc:
        return [name, str(exc)]
    about = [getattr(value, about, "") for about in ("__module__", "__qualname__", "__name__")]
    if isinstance(value, type(sys)):
        return [name, value.__name__]
    return [name, type(value).__name__, *(each if isinstance(each, str) else "" for each in about)]

def described(name):
    try:
        module = importlib.import_module(name)
    except BaseException as exc:
        return [[], type(exc).__name__, str(exc)]
    spec = module.__spec__
    return below([
        [member(module, name) for name in dir(module) if name not in ("__doc__", "__loader__")],
        module.__name__, module.__file__, module.__package__,
        getattr(module, "__path__", None), spec.name, spec.origin, spec.parent, spec.has_location, spec.cached,
        spec.submodule_search_locations, spec.loader.name, spec.loader.path, spec.loader.is_package(name),
    ])

for name in sys.argv[2].split():
    described(name)  # packages get their submodules
found = {name: described(name) for name in sys.argv[2].split()}
print(json.dumps(found))
"""

USE = """
import importlib, importlib.resources, inspect, json, sys, traceback
from handler.cold.artefact import import_from_pack

class Watch:  # a finder of an instrumentation, which looks at each import before others find the module
    names = []

    def find_spec(self, name, path=None, target=None):
        self.names.append(name)

sys.meta_path.insert(0, Watch())
assert import_from_pack() == ""

import handler.lru, handler.strict_json, handler.code_tools.modules
import starlette.applications, starlette.routing, anyio, anyio.abc
lazy = [name for name in sys.modules if name.startswith("anyio.")]
import jsonschema, jsonschema_specifications, rpds, graphql
from acme.plain import tools
import acme_twin

def lines_of(call):
    try:
        call()
    except Exception as exc:
        return [[frame.name, frame.filename.split("/")[-1], frame.lineno, frame.line]
                for frame in traceback.extract_tb(exc.__traceback__) if frame.filename != "<string>"]

before = handler.lru.Lru
again = importlib.reload(handler.lru)
print(json.dumps({
    "watched": sorted({"handler.lru", "starlette.routing", "acme_twin"} & {*Watch.names}),
    "ours": lines_of(lambda: handler.strict_json.parse_json(b"{")),
    "theirs": [line[:3] for line in lines_of(lambda: starlette.routing.compile_path("/{a}/{a}"))],
    "source": inspect.getsource(handler.strict_json),
    "method": inspect.getsource(again.Lru.put),
    "reloaded": [again is handler.lru, before is handler.lru.Lru, again.__spec__.origin.split("/")[-2:]],
    "lazy": sorted(lazy),
    "resources": sorted(each.name for each in importlib.resources.files("jsonschema_specifications").iterdir()
                        if each.name == "schemas"),
    "registry": len(list(jsonschema_specifications.REGISTRY)),
    "compiled": rpds.HashTrieMap({1: 2})[1],
    "valid": jsonschema.Draft202012Validator({"type": "integer"}).is_valid(3),
    "parsed": graphql.print_ast(graphql.parse("{ a }")),
    "authors": [tools.__file__.split("/")[-3:], tools.VALUE, acme_twin.VALUE],
    "there": [*map(handler.code_tools.modules.is_there, ("starlette.routing", "starlette.gone", "acme.plain"))],
}))
"""


ANSWER = """
import json, sys
from handler.lambda_function import handler
context = type("Context", (), {"aws_request_id": "one"})()
answers = []
for path in sys.argv[1:]:
    with open(path) as file:
        answers.append(handler(json.load(file), context))
files = [name for name in sys.modules if name.partition(".")[0] not in sys.stdlib_module_names]
files = [name for name in files if type(getattr(sys.modules[name], "__loader__", None)).__name__ == "SourceFileLoader"]
print(json.dumps([answers, sorted(files), sorted(sys.modules)]))
"""

DEFERRED_BY_REQUESTS = {
    "anyio",
    "email",
    "encodings.idna",
    "html",
    "http.client",
    "http.cookies",
    "jmespath",
    "mimetypes",
    "shlex",
    "starlette.formparsers",
    "aws_lambda_powertools.metrics",
    "aws_lambda_powertools.tracing",
    "graphql",
}
"""Modules that no cold request loads, except for graphql-core, which callers' documents need."""

NOT_FOR_DOCUMENTS = {
    "graphql.execution.execute",
    "graphql.execution.incremental",
    "graphql.graphql",
    "graphql.utilities.build_client_schema",
    "graphql.utilities.extend_schema",
    "graphql.utilities.find_schema_changes",
    "graphql.utilities.introspection_from_schema",
    "graphql.utilities.print_schema",
}
"""Modules of graphql-core that no document of a caller needs."""


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The function's modules as files, and an author's."""
    folder = tmp_path_factory.mktemp("plain")
    copy_function(folder, packages=True)
    (folder / "acme" / "plain").mkdir(parents=True)  # no __init__.py above: a namespace package
    (folder / "acme" / "plain" / "__init__.py").touch()
    (folder / "acme" / "plain" / "tools.py").write_text("VALUE = 1\n", encoding="utf-8")
    (folder / "acme_twin.py").write_text("VALUE = 2\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def packed(plain: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with a pack, in which the author's module is not."""
    folder = tmp_path_factory.mktemp("packed") / "task"
    shutil.copytree(plain, folder)
    pack(folder, "lib/acme_twin.py")
    return folder


def said(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@in_full
def test_every_module_is_the_one_that_an_ordinary_import_makes(plain: Path, packed: Path) -> None:
    names = " ".join(name for name in entries(packed) if not name.endswith("__main__"))

    ordinary, from_pack = (said(run_in(folder, DESCRIBE, str(folder), names)) for folder in (plain, packed))

    assert ordinary.keys() == from_pack.keys() == set(names.split())
    unread = DEFERRING["UNREAD"]
    for name in ordinary.keys() - DEFERRING["OF_TYPING"]:
        gone = {*unread.get(name, ()), *(["Path"] if name in unread else [])}
        members = [member for member in ordinary[name][0] if member[0] not in gone]
        assert from_pack[name] == [members, *ordinary[name][1:]], name


def test_tracebacks_sources_data_files_and_reloads_are_those_of_files(plain: Path, packed: Path) -> None:
    ordinary, from_pack = (said(run_in(folder, USE)) for folder in (plain, packed))

    lazy = from_pack.pop("lazy")
    assert {*lazy} < {*ordinary.pop("lazy")}  # anyio has read in its source what may load later
    assert from_pack == ordinary
    assert from_pack["ours"][0][::3] == ["parse_json", "return (read or _READER.decode)(raw.decode())"]
    assert from_pack["theirs"]
    assert from_pack["watched"] == ["acme_twin", "handler.lru", "starlette.routing"]
    assert from_pack["reloaded"] == [True, False, ["handler", "lru.py"]]
    assert "anyio._core._fileio" not in lazy
    assert from_pack["registry"] > 5
    assert from_pack["authors"] == [["acme", "plain", "tools.py"], 1, 2]
    assert from_pack["there"] == [True, False, True]


def test_function_with_a_pack_answers_as_from_files(
    plain: Path, packed: Path, served_demo: Compiled, folder_storage: FolderStorage
) -> None:
    store(folder_storage, served_demo)
    environ = {"STILE_BUNDLES": folder_storage.location, "STILE_ALLOW_LOCAL_UPSTREAMS": "true"}
    calls = ("tools-list", "tools-call-prescribed", "tools-call-graphql", "tools-call-pruned-field", "other-warm")
    events = [str(ROOT / "events" / f"{name}.json") for name in calls]

    (ordinary, *_), (from_pack, files, _) = (
        said(run_in(folder, ANSWER, *events, **environ)) for folder in (plain, packed)
    )

    assert from_pack == ordinary
    assert [answer.get("statusCode", 200) for answer in from_pack] == [200] * len(calls)
    assert [name for name in files if name.partition(".")[0] in {"handler", "stile", *PACKAGES}] == OPENING
    alone = run_in(packed, "import runpy; runpy.run_module('handler.lambda_function', run_name='__main__')", **environ)
    assert (alone.returncode, alone.stderr) == (0, "")


LATER_PROGRAM = """
import sys, threading
from handler.cold.artefact import LATER, import_from_pack
assert import_from_pack() == ""
found = [[type(sys.modules[name]).__name__, sys.modules[name].__spec__.name] for name in LATER]
import ast, copy, dis, ipaddress, locale, signal, subprocess, token, tokenize
imported = [type(sys.modules[name]).__name__ for name in LATER]
values = []
threads = [threading.Thread(target=lambda: values.append(type(ast.parse("1")).__name__)) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
from locale import getlocale
from tokenize import *
try:
    locale.gone
except AttributeError as exc:
    gone = str(exc)
import asyncio, inspect, json
constants = [inspect.CO_GENERATOR, asyncio.subprocess.PIPE, type(dis).__name__, type(subprocess).__name__]
copy.copy, dis.opmap, ipaddress.ip_address, signal.SIGINT, subprocess.Popen, token.NAME
print(json.dumps([found, imported, constants, sorted(set(values)), len(values), tok_name[NAME],
                  getlocale is locale.getlocale, gone, [type(sys.modules[name]).__name__ for name in LATER],
                  inspect.getsource(locale.getlocale)[:13],
                  [name for name, members in LATER.items() if not members.items() <= vars(sys.modules[name]).items()]]))
"""


def test_modules_that_load_later_are_whole_for_every_thread_that_asks_them(packed: Path) -> None:
    found, imported, constants, *used = said(run_in(packed, LATER_PROGRAM))

    assert found == [["_Later", name] for name in LATER]
    assert imported == ["_Later"] * len(LATER)
    assert constants == [inspect.CO_GENERATOR, subprocess.PIPE, "_Later", "_Later"]
    gone = "module 'locale' has no attribute 'gone'"
    assert used == [["Module"], 8, "NAME", True, gone, ["module"] * len(LATER), "def getlocale", []]


def test_cold_requests_load_no_module_that_the_pack_defers(
    packed: Path, served_demo: Compiled, folder_storage: FolderStorage
) -> None:
    store(folder_storage, served_demo)
    environ = {"STILE_BUNDLES": folder_storage.location, "STILE_ALLOW_LOCAL_UPSTREAMS": "true"}
    event = str(ROOT / "events" / "tools-call-graphql.json")

    answers, _, modules = said(run_in(packed, ANSWER, event, **environ))

    assert "error" not in json.loads(answers[0]["body"])
    assert DEFERRED_BY_REQUESTS & {*modules} == {"graphql"}
    assert NOT_FOR_DOCUMENTS & {*modules} == set()


def test_pack_holds_each_module_once_and_files_hold_the_others(plain: Path, packed: Path) -> None:
    in_pack, folders = entries(packed), {path.parent for path in packed.rglob("*.py")}
    files = {path.relative_to(packed).as_posix() for path in packed.rglob("*.py")}
    compiled = {path.relative_to(packed).as_posix().split(".")[0] for path in packed.rglob("*.pyc")}

    sources = {path.relative_to(plain).as_posix() for path in plain.rglob("*.py")}
    assert {path for path, *_ in in_pack.values()} | files == sources
    assert compiled == {
        *(f"handler/__pycache__/{name}" for name in ("__init__", "lambda_function")),
        *(f"handler/cold/__pycache__/{name}" for name in ("__init__", "artefact")),
        *(f"acme/plain/__pycache__/{name}" for name in ("__init__", "tools")),
        "__pycache__/acme_twin",
    }
    assert {folder.relative_to(packed).parts[0] for folder in folders if folder != packed} == {
        "acme",
        "anyio",
        "handler",
        "stile",
    }


def test_module_beside_a_compiled_library_stays_a_file(tmp_path: Path) -> None:
    copy_function(tmp_path)
    for name in ("fast.py", "fast.cpython-313-aarch64-linux-gnu.so", "slow.py"):
        (tmp_path / name).touch()

    pack(tmp_path)

    assert {"fast", "slow"} & entries(tmp_path).keys() == {"slow"}
    assert ((tmp_path / "fast.py").exists(), (tmp_path / "slow.py").exists()) == (True, False)


def test_without_a_build_python_imports_files(tmp_path: Path) -> None:
    before = [*sys.meta_path]

    assert import_from_pack(str(tmp_path / "modules.pack"), build=str(tmp_path / "build.json")) == ""
    assert import_from_pack() == ""  # this repository's own folder
    assert sys.meta_path == before


def test_build_without_its_pack_does_not_run(tmp_path: Path) -> None:
    (tmp_path / "build.json").touch()

    fault = import_from_pack(str(tmp_path / "modules.pack"), build=str(tmp_path / "build.json"))

    assert fault == f"modules.pack of the function is missing{REMEDY}"


@pytest.mark.parametrize("other", ["cpython-39", "pypy311"])
def test_pack_of_another_python_is_named(tmp_path: Path, other: str) -> None:
    content = written(tmp_path)
    first = content[:FIRST_LINE_BYTES].replace(TAG.encode(), other.encode()).strip().ljust(FIRST_LINE_BYTES)

    fault = fault_of(tmp_path, first + content[FIRST_LINE_BYTES:])

    assert fault == f"it has bytecode of {other}, and the function runs on {TAG}"


def first_line(text: str) -> Callable[[bytes], bytes]:
    return lambda content: f"{TAG} {text}".encode().ljust(FIRST_LINE_BYTES) + content[FIRST_LINE_BYTES:]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda _: b"", "its first line is damaged"),
        (lambda content: b"\xff" * len(content), "its first line is damaged"),
        (lambda content: b"not a pack at all".ljust(len(content)), "its first line is damaged"),
        (first_line(""), "its first line is damaged"),
        (first_line("1 2"), "its first line is damaged"),
        (first_line("1e3 5 0"), "its first line is damaged"),
        (lambda content: content[:40], "its size is not that of the build"),
        (lambda content: content[:-1], "its size is not that of the build"),
        (lambda content: content + b"x", "its size is not that of the build"),
        (lambda content: first_line(f"{len(content)} {10**20} 0")(content), "its size is not that of the build"),
        (lambda content: first_line(f"{len(content)} -5 0")(content), "its size is not that of the build"),
        (lambda content: first_line(f"{len(content)} 5 0")(content), "its index is damaged"),
        (lambda content: content[:-9] + bytes([content[-9] ^ 1]) + content[-8:], "its index is damaged"),
    ],
)
def test_pack_that_is_not_whole_does_not_run(tmp_path: Path, change: Callable[[bytes], bytes], fault: str) -> None:
    assert fault_of(tmp_path, change(written(tmp_path))) == fault


def test_module_whose_code_is_damaged_is_not_executed(tmp_path: Path) -> None:
    copy_function(tmp_path)
    pack(tmp_path)
    content = bytearray((tmp_path / PACK).read_bytes())
    _, place, size, _ = entries(tmp_path)["handler.lru"]
    content[place + size // 2] ^= 1
    (tmp_path / PACK).write_bytes(content)

    done = run_in(tmp_path, "from handler.cold.artefact import import_from_pack as p; print(p()); import handler.lru")

    assert (done.returncode, done.stdout) == (1, "\n")
    assert done.stderr.endswith(f"ImportError: modules.pack of the function is damaged at handler.lru{REMEDY}\n")


def test_code_in_the_pack_is_that_of_the_source_without_docstrings(tmp_path: Path) -> None:
    (tmp_path / "handler").mkdir()
    (tmp_path / "handler" / "__init__.py").touch()
    (tmp_path / "alone.py").write_text(DOCUMENTED, encoding="utf-8")
    pack(tmp_path)
    path, place, size, _ = entries(tmp_path)["alone"]
    found: dict[str, Any] = {"__name__": "alone"}

    exec(marshal.loads((tmp_path / PACK).read_bytes()[place : place + size]), found)

    assert path == "alone.py"
    documented = [found["Empty"], found["Full"], found["Full"].method, found["whole"], found["later"]]
    assert [each.__doc__ for each in documented] == [None] * len(documented)
    assert "__doc__" not in found
    assert found["Full"]().method() == "a text that is no docstring"
    assert found["Full"].__annotations__ == {"kept": "Unknown"}  # by the import of __future__
    code = found["whole"].__code__
    assert (code.co_filename, code.co_firstlineno, code.co_consts) == ("/var/task/alone.py", 18, (None,))


DOCUMENTED = '''"""A module."""
from __future__ import annotations


class Empty:
    """A class with nothing else."""


class Full:
    """A class."""
    kept: Unknown

    def method(self):
        """A method."""
        return "a text that is no docstring"


def whole():
    """A function with nothing else."""


async def later(): "On one line."
'''


def written(folder: Path) -> bytes:
    """A small pack."""
    (folder / "handler").mkdir()
    (folder / "handler" / "lru.py").write_text("SIZE = 1\n", encoding="utf-8")
    (folder / "handler" / "__init__.py").touch()
    pack(folder)
    return (folder / PACK).read_bytes()


def fault_of(folder: Path, content: bytes) -> str:
    """The fault of a pack, without the words that all faults have. Python then imports as before."""
    before = [*sys.meta_path]
    (folder / PACK).write_bytes(content)
    fault = import_from_pack(str(folder / PACK))
    assert sys.meta_path == before
    if not fault:
        return ""
    opening = "modules.pack of the function cannot be used: "
    assert (fault[: len(opening)], fault[-len(REMEDY) :]) == (opening, REMEDY)
    return fault[len(opening) : -len(REMEDY)]
