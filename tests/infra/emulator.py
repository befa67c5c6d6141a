import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import urllib3

from tests.infra.cloudformation import ROOT
from tests.support.secrecy import SESSION, Output
from tests.support.upstream import free_port

START_TIMEOUT_S = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Emulator:
    """AWS's Lambda emulator with AWS's runtime client in it, which has loaded the built artefact."""

    url: str
    log: Path

    def invoke(self, event: Any) -> Any:
        response = urllib3.request("POST", self.url, body=json.dumps(event), timeout=60, retries=False)
        assert response.status == 200, self.log.read_text()
        SESSION.note(Output.ANSWER, response.data)
        return json.loads(response.data)


def find_emulator(arch: str) -> Path | None:
    """The emulator's binary, which lies in the SAM CLI's package."""
    pattern = f".venv-sam/lib/python*/site-packages/samcli/local/rapid/aws-lambda-rie-{arch}"
    return next(ROOT.glob(pattern), None)


@contextmanager
def running_emulator(binary: Path, artifact: Path, folder: Path, environment: Mapping[str, str]) -> Iterator[Emulator]:
    """Run the artefact as Lambda does; the runtime client and the log lie in ``folder``."""
    # Both addresses, because by default it listens on every interface.
    api = f"127.0.0.1:{free_port()}"
    runtime_api = f"127.0.0.1:{free_port()}"
    command = [str(binary), "--runtime-interface-emulator-address", api, "--runtime-api-address", runtime_api]
    # -S: no site-packages, so that whatever the artefact lacks is missing here too.
    command += [
        f"{sys.base_prefix}/bin/python3.13",
        "-S",
        "-m",
        "awslambdaric",
        "handler.lambda_function.handler",
    ]
    log = folder / "emulator.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            command,
            cwd=artifact,
            env={**lambda_environment(artifact, runtime_client(folder)), **environment},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            wait_until_it_listens(process, api, log)
            yield Emulator(url=f"http://{api}/2015-03-31/functions/function/invocations", log=log)
        finally:
            # The group, because the runtime client outlives the emulator.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            SESSION.note(Output.HANDLER_LOG, log.read_bytes())


def runtime_client(folder: Path) -> Path:
    """A folder with the runtime client and what it imports, and nothing else of this environment."""
    packages = folder / "runtime"
    packages.mkdir()
    for name in ("awslambdaric", "runtime_client", "simplejson", "snapshot_restore_py"):
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        module = Path(spec.origin)
        module = module.parent if spec.submodule_search_locations else module
        (packages / module.name).symlink_to(module)
    return packages


def lambda_environment(artifact: Path, runtime: Path) -> dict[str, str]:
    return {
        "AWS_LAMBDA_FUNCTION_NAME": "stile",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1024",
        "AWS_LAMBDA_FUNCTION_TIMEOUT": "29",
        "AWS_REGION": "us-east-1",
        "LAMBDA_TASK_ROOT": str(artifact),
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(runtime),
        "PYTHONDONTWRITEBYTECODE": "1",  # the task root is read-only in Lambda
    }


def wait_until_it_listens(process: subprocess.Popen[bytes], address: str, log: Path) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while process.poll() is None and time.monotonic() < deadline:
        try:
            urllib3.request("GET", f"http://{address}/", timeout=1, retries=False)
        except urllib3.exceptions.HTTPError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"the Lambda emulator did not start:\n{log.read_text()}")
