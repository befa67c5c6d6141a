"""TLS in front of a server on loopback, in a process of its own: on AWS, S3 and most APIs are asked by https.

python -m benchmarks.tls PORT CERTIFICATE KEY
"""

from __future__ import annotations

import contextlib
import shutil
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.runner import ROOT
from tests.support.artefacts import hash_certificates
from tests.support.authority import Authority


@contextmanager
def behind_tls(url: str, authority: Authority) -> Iterator[str]:
    """The https URL of what a URL on loopback answers, while this lasts, with a certificate of the authority."""
    parts = urlsplit(url)
    command = [sys.executable, "-m", "benchmarks.tls", str(parts.port), str(authority.certificate), str(authority.key)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        try:
            yield parts._replace(scheme="https", netloc=f"127.0.0.1:{int(process.stdout.readline())}").geturl()
        finally:
            process.stdin.close()  # which ends it, as the end of whoever started it would


def trusting(artifact: Path, folder: Path, authority: Authority) -> Path:
    """Return a copy of a built function that has one authority more among its own."""
    shutil.copytree(artifact, folder)
    certificates = folder / "handler" / "certificates"
    extra = folder / "handler" / "extra"
    hash_certificates(authority.certificate.read_text("ascii"), extra)
    for file in extra.iterdir():
        file.rename(certificates / file.name)
    extra.rmdir()
    return folder


def main() -> None:
    """Say the port, and pass bytes on until there is nobody to pass them on for."""
    port, certificate, key = sys.argv[1:]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    listener = socket.create_server(("127.0.0.1", 0))
    sys.stdout.write(f"{listener.getsockname()[1]}\n")
    sys.stdout.flush()
    threading.Thread(target=_accept, args=(listener, context, int(port)), daemon=True).start()
    sys.stdin.read()


def _accept(listener: socket.socket, context: ssl.SSLContext, port: int) -> None:
    while True:
        sock, _ = listener.accept()
        threading.Thread(target=_pass_on, args=(sock, context, port), daemon=True).start()


def _pass_on(sock: socket.socket, context: ssl.SSLContext, port: int) -> None:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)) as server:
        for end in (sock, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with context.wrap_socket(sock, server_side=True) as client:
            threading.Thread(target=_copy, args=(server, client), daemon=True).start()
            _copy(client, server)


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while chunk := source.recv(65_536):
            target.sendall(chunk)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)


if __name__ == "__main__":
    main()
