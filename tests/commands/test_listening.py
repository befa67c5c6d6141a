"""The socket of ``stile dev``."""

from __future__ import annotations

import asyncio
import socket
from contextlib import closing

import pytest

from handler.commands.local.listening import listening_socket


def test_connections_send_each_answer_at_once() -> None:
    """Without TCP_NODELAY each answer on a kept connection would wait for an acknowledgement, 40 ms on Linux."""
    options: list[int] = []

    async def serve() -> None:
        done = asyncio.Event()

        async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            accepted = writer.get_extra_info("socket")
            options.append(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()
            done.set()

        with closing(listening_socket("127.0.0.1", 0)) as listener:
            server = await asyncio.start_server(answer, sock=listener)
            _, writer = await asyncio.open_connection(*listener.getsockname())
            await done.wait()
            writer.close()
            server.close()

    asyncio.run(serve())

    assert [bool(option) for option in options] == [True]


def test_port_that_is_taken_cannot_be_listened_on() -> None:
    with (
        closing(listening_socket("127.0.0.1", 0)) as first,
        pytest.raises(OSError, match="in use"),
    ):
        listening_socket("127.0.0.1", first.getsockname()[1])
