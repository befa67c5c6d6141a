"""The socket that ``stile dev`` listens on."""

from __future__ import annotations

import socket


def listening_socket(host: str, port: int) -> socket.socket:
    """A listening TCP socket that says it is one.

    asyncio sets TCP_NODELAY on connections of a socket whose protocol is TCP, and ``socket.create_server`` leaves the
    protocol 0: each answer on a kept connection would wait 40 ms for the acknowledgement of what went before.

    Raises:
        OSError: the address cannot be used.
    """
    made = socket.create_server((host, port))
    return socket.socket(made.family, made.type, socket.IPPROTO_TCP, fileno=made.detach())
