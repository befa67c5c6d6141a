"""What the peers on ASGI need under Mangum, whose own lifespan starts and ends with each request, as theirs may not."""

import asyncio
from typing import Any

from mangum import Mangum


def on_lambda(app: Any) -> Mangum:
    """The application with its lifespan begun, on the loop that Mangum finds."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    begun = asyncio.Event()
    running.append(loop.create_task(_live(app, begun)))
    loop.run_until_complete(asyncio.wait({loop.create_task(begun.wait()), running[0]}, return_when="FIRST_COMPLETED"))
    if running[0].done():
        running[0].result()
    return Mangum(app, lifespan="off")


async def _live(app: Any, begun: asyncio.Event) -> None:
    async with app.router.lifespan_context(app):
        begun.set()
        await asyncio.Event().wait()


running: list[asyncio.Task[None]] = []  # a loop holds its tasks weakly
