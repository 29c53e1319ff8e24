from __future__ import annotations

import anyio

from arena.server.net.admission import Admission
from arena.server.net.limits import PRIVATE
from arena.server.net.server import Server
from benchmarks.kit.load import line_to
from benchmarks.relay import ANSWER, HOST, TURN, Pairs, no_page

TOLD, ASKED = bytes([ANSWER]) + b"told", bytes([TURN]) + b"asked for a move"


async def test_a_frame_is_answered_and_the_other_of_the_pair_is_asked_for_the_next() -> None:
    pairs = Pairs(TOLD, ASKED)
    async with anyio.create_task_group() as tasks:
        async with Server(Admission(PRIVATE, ()), no_page, pairs.receiver, tasks, program="relay") as server:
            _, port = await server.listen(HOST, 0, None)
            url = f"ws://{HOST}:{port}"
            async with line_to(url) as first, line_to(url) as second, line_to(url):
                with anyio.fail_after(30):
                    assert await first.recv() == ASKED
                    for mover, other in ((first, second), (second, first), (first, second)):
                        await mover.send(b"a move")
                        assert await mover.recv() == TOLD
                        assert await other.recv() == ASKED
        tasks.cancel_scope.cancel()
