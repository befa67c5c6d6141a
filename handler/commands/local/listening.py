"""The socket that ``stile dev`` and ``stile serve`` listen on."""

from __future__ import annotations

import errno
import socket

from handler.commands.command_line import whole_number
from handler.commands.console import complain

HOST = "127.0.0.1"
DEFAULT_PORT = 8000


def listening_socket(host: str, port: int) -> socket.socket:
    """Open a listening socket with the protocol TCP.

    asyncio sets TCP_NODELAY only if a socket's protocol is TCP, and ``socket.create_server`` leaves the protocol 0:
    each answer on a kept connection would wait 40 ms for the acknowledgement of the previous packet.

    Raises:
        OSError: the address cannot be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    server = socket.create_server((host, port), family=family)
    return socket.socket(server.family, server.type, socket.IPPROTO_TCP, fileno=server.detach())


port_number = whole_number(0, 65_535)


def open_listener(host: str, port: int) -> socket.socket | None:
    """Open a listening socket; ``None`` after a complaint if the address cannot be used."""
    try:
        return listening_socket(host, port)
    except OSError as exc:
        match exc.errno:
            case errno.EADDRINUSE:
                remedy = "is in use: stop the program that has it, or choose another port with --port."
            case errno.EACCES:
                remedy = "needs the rights of an administrator: choose a port above 1023 with --port."
            case _:
                remedy = f"cannot be used: {exc.strerror}"
        complain(f"Port {port} on {host} {remedy}")
        return None
