"""The socket that ``stile dev`` listens on."""

from __future__ import annotations

import socket


def listening_socket(host: str, port: int) -> socket.socket:
    """Open a listening socket with the protocol TCP.

    asyncio sets TCP_NODELAY only if a socket's protocol is TCP, and ``socket.create_server`` leaves the protocol 0:
    each answer on a kept connection would wait 40 ms for the acknowledgement of the previous packet.

    Raises:
        OSError: the address cannot be used.
    """
    made = socket.create_server((host, port))
    return socket.socket(made.family, made.type, socket.IPPROTO_TCP, fileno=made.detach())
