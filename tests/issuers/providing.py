"""npm's oidc-provider on loopback, at the version that package-lock.json has."""

from __future__ import annotations

import json
import platform
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import urllib3

from tests.clients.node import NODE_ARCH
from tests.conftest import ROOT
from tests.support.upstream import became_healthy, free_port, stop

HOME = ROOT / ".stile" / "node-issuers"
"""Where ``make issuers`` installs it."""

REGISTRATION = "registration"

CREDENTIAL = urllib3.make_headers(basic_auth="agent:agent-secret")
"""What provider.mjs knows its client by."""

NODE = HOME / "node_modules" / f"node-linux-{NODE_ARCH.get(platform.machine(), 'unknown')}" / "bin" / "node"
PACKAGES = ("oidc-provider", "@modelcontextprotocol/client", "@modelcontextprotocol/sdk", "mcp-remote")
SCRIPT = Path(__file__).with_name("provider.mjs")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenIdProvider:
    """The provider as it runs."""

    url: str

    @property
    def key_set_url(self) -> str:
        """Where it publishes its keys."""
        return f"{self.url}/jwks"

    def token(self, resource: str, *, scope: str) -> str:
        """An access token for a client by its own credentials."""
        answer = urllib3.request(
            "POST",
            f"{self.url}/token",
            body=urlencode({"grant_type": "client_credentials", "resource": resource, "scope": scope}),
            headers={"content-type": "application/x-www-form-urlencoded", **CREDENTIAL},
            retries=False,
        )
        assert answer.status == 200, answer.data
        return str(answer.json()["access_token"])


def is_installed() -> bool:
    """Tell whether Node.js, the provider and the clients are there."""
    return NODE.is_file() and all((HOME / "node_modules" / name).is_dir() for name in PACKAGES)


@contextmanager
def running_provider(
    folder: Path, *, people: str = "", valid_s: int = 600, refresh: bool = False
) -> Iterator[OpenIdProvider]:
    """Run it on a free port, with new keys; what it prints lies in ``folder``. Its tokens are valid for ``valid_s``;
    ``refresh``: with a refresh token for whoever may have one.

    ``people``: how they sign in: for the client with this redirect URI, or for those that register (``REGISTRATION``).
    """
    port = free_port()
    provider = OpenIdProvider(url=f"http://127.0.0.1:{port}")
    with (folder / "provider.out").open("w+") as output:
        options = json.dumps({"people": people, "seconds": valid_s, "refresh": refresh})
        command = [str(NODE), str(SCRIPT), str(HOME), str(port), options]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
        try:
            if not became_healthy(process, provider.key_set_url):
                raise RuntimeError(f"oidc-provider did not start:\n{Path(output.name).read_text()}")
            yield provider
        finally:
            stop(process)
