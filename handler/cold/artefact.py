"""The built function: where it may run, its modules from one file, and imports at first use.

``artefact_fault`` compares ``build.json``, which the build writes, with the platform. Without this check, compiled
libraries of another architecture and bytecode of another Python would fail at the import of some request.

``import_from_pack`` has modules imported from the pack: one file with the bytecode of the function, which loads faster
than many files. The build (``infra/pack_modules.py``) writes a first line, the code of each module, and an index, and
puts calls of ``name_lazily`` into packages (``infra/deferred_imports.py``).

In development there is neither file, and Python imports as ever. Packages are in the pack, so this module imports only
the standard library.
"""

from __future__ import annotations

import json
import marshal
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module, util
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from threading import RLock
from types import CodeType, ModuleType
from typing import Any
from zlib import crc32

HANDLER = os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120 - pathlib's import would slow the start

BUILD = f"{HANDLER}/build.json"

PACK = f"{HANDLER}/modules.pack"

CERTIFICATES = f"{HANDLER}/certificates"
"""The folder of authorities, by the hash of their names, which the build makes (infra/hash_certificates.py)."""

CODE = "unusable-build"
"""The code of the answer to every request, and of its line in the log."""

FIRST_LINE_BYTES = 64
"""The cache tag of the build's Python; the pack's size, the index's size and checksum; spaces up to this length."""

_FLAGS = "OPTIMIZED NEWLOCALS VARARGS VARKEYWORDS NESTED GENERATOR NOFREE COROUTINE ITERABLE_COROUTINE ASYNC_GENERATOR"

LATER: Mapping[str, Mapping[str, Any]] = {
    **{name: {} for name in ("ast", "copy", "ipaddress", "locale", "signal", "token", "tokenize")},
    "dis": {"COMPILER_FLAG_NAMES": {1 << place: name for place, name in enumerate(_FLAGS.split())}},
    "subprocess": {"PIPE": -1, "STDOUT": -2, "DEVNULL": -3},
}
"""Modules of the standard library that load at the first use of a member: others import them for what no request needs.
The members here are constants that ``inspect`` and ``asyncio`` read at their import, and do not load their module.
"""

Entry = tuple[str, int, int, int]
"""A module's source file below the function's folder; the place, size and checksum of the module's code."""

Origin = tuple[str, str]
"""A module, and the name of its member; empty string: the module itself."""


def artefact_fault(file: str = BUILD) -> str:
    """Return the platform mismatch and its remedy; empty string if no mismatch is known."""
    try:
        with open(file, encoding="utf-8") as stream:  # noqa: PTH123
            build = json.load(stream)
        target = {"architecture": str(build["architecture"]), "Python": str(build["python"])}
    except FileNotFoundError:
        return ""
    except (OSError, ValueError, TypeError, KeyError) as exc:
        return f"build.json of the function cannot be read ({type(exc).__name__}): build and deploy the function again"
    machine = os.uname().machine
    platform = {
        "architecture": "arm64" if machine == "aarch64" else machine,  # AWS's name for it
        "Python": f"{sys.version_info.major}.{sys.version_info.minor}",
    }
    for part, parameter in (("architecture", "Architecture in samconfig.toml"), ("Python", "Runtime in template.yaml")):
        if target[part] != platform[part]:
            return (
                f"the function was built for {part} {target[part]}, and runs on {platform[part]}: set {parameter} to "
                "what is meant, then `sam build` and `sam deploy`"
            )
    return ""


def artefact_release(file: str = BUILD) -> str:
    """Return the digest of the built function; empty string in development."""
    try:
        with open(file, encoding="utf-8") as stream:  # noqa: PTH123
            return str(json.load(stream).get("release", ""))
    except (OSError, ValueError, AttributeError):
        return ""


def refusing_handler(fault: str, service: str) -> Callable[[Any, Any], dict[str, Any]]:
    """Return a Lambda handler that logs the fault and answers every event with 503 in the event's own format."""

    def handler(event: Any, context: Any) -> dict[str, Any]:
        facts = {
            "level": "ERROR",
            "message": "request",
            "service": service,
            "status": 503,
            "code": CODE,
            "reason": fault,
        }
        request_id = getattr(context, "aws_request_id", "")
        sys.stdout.write(json.dumps({**facts, "reason": fault, "request_id": request_id}) + "\n")
        sys.stdout.flush()
        return _answer(event if isinstance(event, Mapping) else {})

    return handler


def _answer(event: Mapping[str, Any]) -> dict[str, Any]:
    headers = {"content-type": "application/json", "cache-control": "no-store"}
    answer: dict[str, Any] = {
        "statusCode": 503,
        "headers": headers,
        "body": json.dumps({"error": "the function cannot run as it was deployed; its log says why", "code": CODE}),
        "isBase64Encoded": False,
    }
    context = event.get("requestContext")
    if isinstance(context, Mapping) and "elb" in context:
        answer["statusDescription"] = "503 Service Unavailable"
        if "multiValueHeaders" in event:  # the only headers that such a load balancer reads
            answer["multiValueHeaders"] = {name: [value] for name, value in answer.pop("headers").items()}
    return answer


def import_from_pack(file: str = PACK, *, build: str = BUILD) -> str:
    """Have Python look for modules in the pack before it looks for files. Do nothing in development.

    Return the reason and the remedy if the pack cannot be used; empty string otherwise.
    """
    try:
        pack = os.open(file, os.O_RDONLY)  # stays open: each module's code is read when the module is imported
        entries = _read_index(pack)
    except FileNotFoundError:
        return _fault("is missing") if os.path.exists(build) else ""  # noqa: PTH110
    except (OSError, ValueError) as exc:
        return _fault(f"cannot be used: {exc}")
    finder = PackFinder(pack, entries, root=os.path.dirname(os.path.dirname(file)))  # noqa: PTH120
    sys.meta_path.insert(sys.meta_path.index(PathFinder), finder)
    for name, members in LATER.items():
        spec = None if name in sys.modules else util.find_spec(name)
        if spec is not None:
            module = sys.modules[name] = util.module_from_spec(spec)
            vars(module).update(members)
            module.__class__ = _Later
    return ""


class _Later(ModuleType):
    """The class of a module until a member is asked for: importlib's LazyLoader executes at the next import of it."""

    def __getattr__(self, name: str) -> Any:
        with _EXECUTING:  # other threads wait for all members
            spec = self.__spec__
            if spec and spec.loader and not spec.loader_state:
                spec.loader_state = True
                spec.loader.exec_module(self)
                self.__class__ = ModuleType  # type: ignore[assignment] # no slots, so it may change
        return ModuleType.__getattribute__(self, name)


_EXECUTING = RLock()


def _read_index(pack: int) -> Mapping[str, Entry]:
    try:
        tag, *numbers = os.pread(pack, FIRST_LINE_BYTES, 0).decode("ascii").split()
        total, size, checksum = map(int, numbers)
    except ValueError:
        raise ValueError("its first line is damaged") from None
    if tag != sys.implementation.cache_tag:
        raise ValueError(f"it has bytecode of {tag}, and the function runs on {sys.implementation.cache_tag}")
    if total != os.fstat(pack).st_size or not 0 <= size <= total:
        raise ValueError("its size is not that of the build")
    index = os.pread(pack, size, total - size)
    if crc32(index) != checksum:
        raise ValueError("its index is damaged")
    entries: Mapping[str, Entry] = marshal.loads(index)  # noqa: S302 - code as any other that was built
    return entries


def _fault(reason: str) -> str:
    return f"modules.pack of the function {reason}: build and deploy the function again"


class PackFinder:
    """A finder for ``sys.meta_path``. A module's paths are those of its source file, which need not be there."""

    def __init__(self, pack: int, entries: Mapping[str, Entry], *, root: str) -> None:
        self._pack = pack
        self._entries = entries
        self._root = root

    def find_spec(self, name: str, _: Sequence[str] | None = None, __: ModuleType | None = None) -> ModuleSpec | None:
        """Return the spec of a module in the pack; ``None`` if the module is not in it."""
        entry = self._entries.get(name)
        if entry is None:
            return None
        source = f"{self._root}/{entry[0]}"
        folder, file = source.rsplit("/", 1)
        spec = ModuleSpec(name, _PackLoader(name, source, pack=self._pack, entry=entry), origin=source)
        spec.has_location = True
        spec.cached = f"{folder}/__pycache__/{file[:-3]}.{sys.implementation.cache_tag}.pyc"  # importlib takes longer
        if file == "__init__.py":
            spec.submodule_search_locations = [folder]
        return spec


class _PackLoader(SourceFileLoader):
    """A loader of a source file whose code is in the pack. Sources and data files are read beside it, if they exist."""

    def __init__(self, name: str, path: str, *, pack: int, entry: Entry) -> None:
        super().__init__(name, path)
        self._pack = pack
        self._entry = entry

    def get_code(self, fullname: str) -> CodeType:
        """Return the module's code.

        Raises:
            ImportError: the code is damaged.
        """
        _, place, size, checksum = self._entry
        code = os.pread(self._pack, size, place)
        if crc32(code) != checksum:
            raise ImportError(_fault(f"is damaged at {fullname}"), name=fullname, path=self.path)
        compiled: CodeType = marshal.loads(code)  # noqa: S302 - code as any other that was built
        return compiled


def name_lazily(module: str, names: Mapping[str, Origin]) -> None:
    """Give a module names whose values are imported when somebody reads them."""
    object_ = sys.modules[module]
    object_.__dict__["__lazy_names__"] = names
    object_.__class__ = LazyNames


class LazyNames(ModuleType):
    """The class of modules with such names."""

    __lazy_names__: Mapping[str, Origin]

    def __getattr__(self, name: str) -> Any:
        if name not in self.__lazy_names__:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        origin, member = self.__lazy_names__[name]
        __import__(origin)
        value: Any = sys.modules[origin]
        if member:
            value = getattr(value, member) if hasattr(value, member) else import_module(f"{origin}.{member}")
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        # An import sets a submodule on its package. Where a member of the submodule has the same name, as in
        # graphql.validation.validate, the package's own import would have replaced the submodule.
        if not (isinstance(value, ModuleType) and self.__lazy_names__.get(name, ("", ""))[1]):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *self.__lazy_names__} - {"__lazy_names__"})
