"""The text of the Dockerfile, and the tree of its image, built without Docker by the script that it runs."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest
import urllib3

from tests.commands.apis import SHOP
from tests.conftest import ROOT
from tests.distribution.builds import WHEEL
from tests.distribution.environments import require_index, run
from tests.infra.cloudformation import read_template
from tests.support.require import requires
from tests.support.upstream import free_port

PINNED = re.compile(r"python:(\d+\.\d+)\.\d+-slim-\w+")
SECRET = re.compile(r"secret|token|password|passwd|credential|_key|apikey", re.IGNORECASE)
IMAGE = "/opt/stile"

Instructions = list[tuple[str, str]]


def instructions() -> Instructions:
    lines = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
    return [(word, rest) for line in lines if line and line[0] != "#" for word, _, rest in [line.partition(" ")]]


def values(word: str) -> list[str]:
    return [rest for each, rest in instructions() if each == word]


def last_stage() -> Instructions:
    """The instructions of the image that is run."""
    read = instructions()
    return read[max(number for number, (word, _) in enumerate(read) if word == "FROM") :]


def command_of(word: str) -> list[str]:
    """The words of an instruction in exec form."""
    (text,) = values(word)
    words: list[str] = json.loads(text[text.index("[") :])
    return words


def test_both_stages_begin_with_one_version_of_the_functions_python() -> None:
    images = [text.removesuffix(" AS build") for text in values("FROM")]
    (pinned,) = {PINNED.fullmatch(image) for image in set(images)}

    assert len(images) == 2
    assert pinned
    assert f"python{pinned[1]}" == read_template("template.yaml")["Resources"]["StileFunction"]["Properties"]["Runtime"]


def test_a_user_without_rights_runs_it() -> None:
    words = [word for word, _ in last_stage()]
    (user,) = [rest for word, rest in last_stage() if word == "USER"]

    assert re.fullmatch(r"[1-9]\d{3,}:[1-9]\d{3,}", user)
    assert words.index("USER") < words.index("ENTRYPOINT")
    assert "--chown" not in (ROOT / "Dockerfile").read_text("utf-8")


def test_commands_are_in_exec_form_so_that_signals_arrive() -> None:
    for word in ("RUN", "HEALTHCHECK", "ENTRYPOINT", "CMD"):
        assert command_of(word), word

    assert [word for word, _ in last_stage()].count("RUN") == 0


def test_image_takes_what_the_context_admits_and_no_secret() -> None:
    admitted = [line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line[0] == "!"]
    ignored = [line for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line[0] not in "!#"]
    copied = [text.split()[0] for text in values("COPY") if not text.startswith("--from=")]

    assert ignored == ["*"]
    assert sorted(copied) == sorted(admitted)
    assert [text for text in values("COPY") if text.startswith("--from=")] == [f"--from=build {IMAGE} {IMAGE}"]
    assert not values("ADD") + values("ARG")
    assert not [text for text in values("ENV") if SECRET.search(text)]
    assert fnmatch(f"dist/{WHEEL}", "dist/*.whl")


def test_health_check_asks_the_port_that_is_served() -> None:
    (port,) = values("EXPOSE")

    assert f"http://127.0.0.1:{port}/health/live" in command_of("HEALTHCHECK")[-1]
    assert command_of("CMD") == ["/endpoints", "--host", "0.0.0.0", "--port", port]


def test_page_runs_the_image_as_the_dockerfile_has_it() -> None:
    page = (ROOT / "docs" / "serve.md").read_text("utf-8")
    (port,), (user,) = values("EXPOSE"), values("USER")

    assert f"-p 127.0.0.1:{port}:{port}" in page
    assert '-v "$PWD/endpoints:/endpoints:ro" --env-file secrets.env' in page
    assert "--read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges" in page
    assert f"`{user.partition(':')[0]}`" in page


@pytest.fixture(scope="module")
def tree(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the image has at /opt/stile, made from the files that the context admits."""
    require_index()
    folder = tmp_path_factory.mktemp("context")
    for name in ("requirements/cli.txt", "infra/build_server.sh"):
        (folder / name).parent.mkdir()
        shutil.copy(ROOT / name, folder / name)
    (folder / "dist").mkdir()
    shutil.copy(wheel, folder / "dist")
    script = command_of("RUN")
    assert script[:2] == ["bash", "-c"]
    made = folder / "opt"

    done = run("bash", "-c", script[2].replace(IMAGE, str(made)), cwd=folder, PYTHON=sys.executable)

    assert done.returncode == 0, done.stderr
    return made


def test_image_holds_the_locked_packages_and_no_installer(tree: Path) -> None:
    locked = set(re.findall(r"^([a-z0-9-]+)==", (ROOT / "requirements" / "cli.txt").read_text("utf-8"), re.MULTILINE))
    found = {path.name.partition("-")[0].replace("_", "-").lower() for path in tree.rglob("*.dist-info")}
    site = next(tree.glob("lib/python*/site-packages"))

    assert found == locked | {"stile-mcp"}
    assert {path.name for path in tree.iterdir()} <= {"bin", "include", "lib", "lib64", "pyvenv.cfg"}
    assert {"python", "stile"} <= {path.name for path in (tree / "bin").iterdir()}
    assert not [path for path in (tree / "bin").iterdir() if path.name.startswith("pip")]
    assert not (site / "tests").exists()
    assert not (site / "examples").exists()


def read_only(scratch: Path) -> list[str]:
    """What runs a command with a root that is read-only, a scratch folder in memory, and no capability."""
    namespace = ["unshare", "-m" if os.geteuid() == 0 else "-Urm"]
    mounts = 'mount --bind / / && mount -o remount,ro,bind / && mount -t tmpfs tmpfs "$0"'
    rights = "setpriv --no-new-privs --bounding-set=-all --inh-caps=-all"
    command = [*namespace, "bash", "-c", f'{mounts} && exec {rights} "$@"', str(scratch)]
    tried = run(*command, "true").returncode == 0 if shutil.which("unshare") and shutil.which("setpriv") else False
    requires("namespaces", tried, "a read-only root needs `unshare -m` and `setpriv`")
    return command


@pytest.mark.parametrize("confined", [False, True], ids=["as it is", "read-only"])
def test_image_serves_a_folder_reports_its_health_and_ends_by_sigterm(
    tree: Path, tmp_path: Path, confined: bool
) -> None:
    (tmp_path / "scratch").mkdir()
    around = read_only(tmp_path / "scratch") if confined else []
    (tmp_path / "shop.graphql").write_text(SHOP, encoding="utf-8")
    source = ("--from", "shop.graphql", "--url", "https://api.example.com/graphql", "--access", "open")
    made = run(str(tree / "bin" / "stile"), "init", "endpoints/shop/products", *source, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    port = str(free_port())

    def here(words: list[str]) -> list[str]:
        places = {IMAGE: str(tree), "/endpoints": str(tmp_path / "endpoints"), "0.0.0.0": "127.0.0.1", "8000": port}
        return [re.sub("|".join(places), lambda found: places[found[0]], word) for word in words]

    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with subprocess.Popen(
        around + here(command_of("ENTRYPOINT") + command_of("CMD")),
        cwd=tmp_path,
        env=environ
        | {"STILE_PUBLIC_URL": "https://mcp.example.com"}
        | ({"TMPDIR": str(tmp_path / "scratch"), "PYTHONDONTWRITEBYTECODE": "1"} if confined else {}),
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr
            announced = process.stderr.readline()
            healthy = run(*here(command_of("HEALTHCHECK"))).returncode
            root = Path(f"/proc/{process.pid}/mountinfo").read_text("utf-8")
            rights = Path(f"/proc/{process.pid}/status").read_text("utf-8")
            answered = urllib3.request(
                "POST",
                f"http://127.0.0.1:{port}/shop/products/mcp",
                json={"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}},
                headers={"Host": "mcp.example.com", "Accept": "application/json, text/event-stream"},
            )
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0

    assert "Serving" in announced
    assert bool(re.search(r" / / ro[, ]", root)) is confined
    assert bool(re.search(r"^CapEff:\t0+$", rights, re.MULTILINE)) is confined or os.geteuid() != 0
    assert healthy == 0
    assert json.loads(answered.data)["result"]["tools"]
    assert run(*here(command_of("HEALTHCHECK"))).returncode != 0
