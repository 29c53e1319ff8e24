"""The bare relay that the server is measured against: it pairs connections, and knows nothing of games.

python -m benchmarks.relay PORT [ANSWER_BYTES TURN_BYTES]

Hands each frame to the other of its pair; with two sizes it writes what the server would: an answer of so
many bytes to the sender, and a turn of so many to the other.
"""

from __future__ import annotations

import asyncio
import sys

import uvloop
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from protocol.messages import SUBPROTOCOL

TURN, ANSWER = 0x81, 0x82
"""What frames begin with that say that it is one's turn, and that do not."""


async def relay(port: int, answer_bytes: int = 0, turn_bytes: int = 0) -> None:
    """Run until killed."""
    told = bytes([ANSWER]) + bytes(max(0, answer_bytes - 1))
    turn = bytes([TURN]) + bytes(max(0, turn_bytes - 1))
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
                if answer_bytes:
                    await connection.send(told)
                    await other.send(turn)
                else:
                    await other.send(frame)
        except ConnectionClosed:
            pass

    options = {"compression": None, "subprotocols": [Subprotocol(SUBPROTOCOL)]}
    async with serve(answer, "127.0.0.1", port, **options) as server:  # type: ignore[arg-type]
        await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(relay(*map(int, sys.argv[1:])))
