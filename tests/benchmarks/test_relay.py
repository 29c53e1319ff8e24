from __future__ import annotations

import anyio

from arena.server.edge.edge import Edge
from arena.server.metrics import Metrics
from benchmarks.kit.load import line_to
from benchmarks.relay import ANSWER, HOST, LIMITS, TURN, Nobody, Pairs

TOLD, ASKED = bytes([ANSWER]) + b"told", bytes([TURN]) + b"asked for a move"


async def test_a_frame_is_answered_and_the_other_of_the_pair_is_asked_for_the_next() -> None:
    async with Edge(1, Nobody(), LIMITS, metrics=Metrics(), program="relay") as edge:
        edge.session = Pairs(TOLD, ASKED).session
        _, port = await edge.listen(HOST, 0)
        url = f"ws://{HOST}:{port}"
        async with line_to(url) as first, line_to(url) as second, line_to(url):
            with anyio.fail_after(500):
                assert await first.recv() == ASKED
                for mover, other in ((first, second), (second, first), (first, second)):
                    await mover.send(b"a move")
                    assert await mover.recv() == TOLD
                    assert await other.recv() == ASKED
