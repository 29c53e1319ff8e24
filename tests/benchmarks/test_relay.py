from __future__ import annotations

import anyio

from arena.server.edge.edge import Edge
from arena.server.metrics import Metrics
from benchmarks.kit.load import open_connection
from benchmarks.relay import ANSWER, HOST, LIMITS, TURN, NullCore, RelayPairs

TOLD, ASKED = bytes([ANSWER]) + b"told", bytes([TURN]) + b"asked for a move"


async def test_a_frame_is_answered_and_the_other_of_the_pair_is_asked_for_the_next() -> None:
    async with Edge(1, NullCore(), LIMITS, metrics=Metrics(), program="relay") as edge:
        edge.session = RelayPairs(TOLD, ASKED).make_session
        _, port = await edge.listen(HOST, 0)
        url = f"ws://{HOST}:{port}"
        async with open_connection(url) as first, open_connection(url) as second, open_connection(url):
            with anyio.fail_after(500):
                assert await first.recv() == ASKED
                for mover, other in ((first, second), (second, first), (first, second)):
                    await mover.send(b"a move")
                    assert await mover.recv() == TOLD
                    assert await other.recv() == ASKED
