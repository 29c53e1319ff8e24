"""The bare relay that the server is measured against: pairs connections, and hands each frame to the other.

python -m benchmarks.relay PORT
"""

from __future__ import annotations

import asyncio
import sys

import uvloop
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from protocol.messages import SUBPROTOCOL


async def relay(port: int) -> None:
    """Run until killed."""
    waiting: list[tuple[ServerConnection, asyncio.Future[ServerConnection]]] = []

    async def answer(connection: ServerConnection) -> None:
        if waiting:
            other, met = waiting.pop()
            met.set_result(connection)
        else:
            met = asyncio.get_running_loop().create_future()
            waiting.append((connection, met))
            other = await met
        try:
            await connection.send(b"go")
            async for frame in connection:
                await other.send(frame)
        except ConnectionClosed:
            pass

    options = {"compression": None, "subprotocols": [Subprotocol(SUBPROTOCOL)]}
    async with serve(answer, "127.0.0.1", port, **options) as server:  # type: ignore[arg-type]
        await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(relay(int(sys.argv[1])))
