import json
import os
import re
import struct
from pathlib import Path

from tests.support.artefacts import entries

# e_machine of the ELF header, by the template's name for the architecture.
ELF_MACHINES = {"x86_64": 62, "arm64": 183}
EXTRAS = os.environ.get("STILE_EXTRAS", "").split(",")
CHECK_NOTHING = 0b01  # the flags of a .pyc, PEP 552: hash-based, and the source not looked at
PYTHON_3_13 = 3571  # its magic number
AUTHORS = {Path(module).name for module in os.environ.get("STILE_CODE", "").split()}
READ_BY_ANYIO = {Path("anyio", "__init__.py"), Path("anyio", "abc", "__init__.py")}


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def packages(artifact: Path) -> set[str]:
    """Top-level names, whether their modules are in the pack or in files."""
    return names(artifact) | {name.partition(".")[0] for name in entries(artifact)}


def test_it_holds_the_request_half_of_the_package(artifact: Path) -> None:
    handler = names(artifact / "handler")

    assert {"__init__.py", "lambda_function.py", "server", "bundle"} <= handler
    assert not {"audience", "compiler", "commands", "__main__.py"} & handler
    assert not [
        name
        for name in entries(artifact)
        if name.startswith(("handler.audience", "handler.compiler", "handler.commands"))
    ]


def test_it_holds_the_package_that_authors_import_from(artifact: Path) -> None:
    assert {"__init__.py", "testing.py", "py.typed"} <= names(artifact / "stile")


def test_boto3_is_left_to_the_runtime(artifact: Path) -> None:
    assert not {"boto3", "botocore", "s3transfer"} & packages(artifact)


def test_each_authority_has_a_file_and_the_package_of_all_is_gone(artifact: Path) -> None:
    files = sorted((artifact / "handler" / "certificates").iterdir())

    assert len(files) > 100
    assert all(re.fullmatch(r"[0-9a-f]{8}\.[0-9]", file.name) for file in files)
    assert all(file.read_text("ascii").count("-----BEGIN CERTIFICATE-----") == 1 for file in files)
    assert "certifi" not in packages(artifact)


def test_it_knows_what_it_was_built_for_and_with(artifact: Path, arch: str) -> None:
    built = json.loads((artifact / "handler" / "build.json").read_text("utf-8"))

    assert re.fullmatch("[0-9a-f]{12}", built.pop("release"))
    assert built == {
        "architecture": arch,
        "python": "3.13",
        "extras": [extra for extra in EXTRAS if extra],
        "code": [Path(module).name for module in os.environ.get("STILE_CODE", "").split()],
    }


def test_what_verifies_tokens_is_there_exactly_if_it_was_asked_for(artifact: Path) -> None:
    assert ({"jwt", "cryptography"} & packages(artifact)) == ({"jwt", "cryptography"} if "jwt" in EXTRAS else set())


def test_page_is_there_exactly_if_it_was_asked_for(artifact: Path) -> None:
    static = {path.suffix for path in (artifact / "handler" / "page").rglob("*")}
    modules = [name for name in entries(artifact) if name.startswith("handler.page")]

    assert ({".html", ".js", ".css"} <= static, bool(modules)) == (("page" in EXTRAS,) * 2)


def test_what_tools_in_python_need_is_there_exactly_if_it_was_asked_for(artifact: Path) -> None:
    assert ({"pydantic", "pydantic_core"} & packages(artifact)) == (
        {"pydantic", "pydantic_core"} if "code" in EXTRAS else set()
    )


def test_modules_of_authors_lie_beside_the_handler(artifact: Path) -> None:
    assert names(artifact) >= AUTHORS


def test_nothing_of_development_came_along(artifact: Path) -> None:
    folders = {path.name for path in artifact.rglob("*") if path.is_dir()}

    assert not {"tests", "benchmarks", "examples", ".venv", "node_modules", ".git", "bin"} & folders
    assert not list(artifact.glob("*.dist-info/RECORD"))


def test_every_distribution_kept_its_licence(artifact: Path) -> None:
    for distribution in artifact.glob("*.dist-info"):
        files = {path.name.upper() for path in distribution.rglob("*")}
        assert any(name.startswith(("LICEN", "COPYING")) for name in files), distribution.name


def test_bytecode_outside_of_the_pack_is_for_3_13_and_never_checked_again(artifact: Path) -> None:
    compiled = list(artifact.rglob("*.pyc"))

    assert compiled
    for file in compiled:
        magic, flags = struct.unpack("<H2xI", file.read_bytes()[:8])
        assert (magic, flags) == (PYTHON_3_13, CHECK_NOTHING), file


def test_every_module_is_compiled_once_in_the_pack_or_in_a_file(artifact: Path) -> None:
    packed = {path for path, *_ in entries(artifact).values()}
    sources = {path.relative_to(artifact).as_posix() for path in artifact.rglob("*.py")}
    compiled = {
        path.relative_to(artifact).as_posix().replace("__pycache__/", "").replace(".cpython-313.pyc", ".py")
        for path in artifact.rglob("*.pyc")
    }

    assert packed & compiled == set()
    assert compiled == sources - packed
    assert {Path(path).parts[0] for path in compiled} == {"handler", *AUTHORS}
    assert {"handler/server/app.py", "stile/__init__.py", "starlette/routing.py", "graphql/__init__.py"} <= packed
    assert (artifact / "handler" / "modules.pack").read_bytes().startswith(b"cpython-313 ")


def test_modules_of_ours_keep_their_sources_for_tracebacks_and_packages_go_without(artifact: Path) -> None:
    sources = {path.relative_to(artifact) for path in artifact.rglob("*.py")}

    assert {path for path in sources if path.parts[0] not in {"handler", "stile", *AUTHORS}} == READ_BY_ANYIO
    ours = {path for path, *_ in entries(artifact).values() if path.startswith(("handler/", "stile/"))}
    assert ours <= {path.as_posix() for path in sources}


def test_compiled_wheels_are_for_the_named_architecture(artifact: Path, arch: str) -> None:
    libraries = list(artifact.rglob("*.so"))

    assert "rpds" in {library.parent.name for library in libraries}
    for library in libraries:
        header = library.read_bytes()[:20]
        assert header[:4] == b"\x7fELF"
        assert struct.unpack_from("<H", header, 18) == (ELF_MACHINES[arch],), library
