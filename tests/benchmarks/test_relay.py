from __future__ import annotations

from contextlib import ExitStack

import anyio

from arena.clock import MONOTONIC_CLOCK
from arena.server.edge.edge import Edge
from arena.server.loop_lag import EventLoopLag
from arena.server.metrics import Metrics
from benchmarks.kit.client import open_client
from benchmarks.relay import (
    ANSWER_FIRST_BYTE,
    RELAY_HOST,
    RELAY_LIMITS,
    TURN_FIRST_BYTE,
    NullCore,
    RelayPairs,
)

TOLD, ASKED = bytes([ANSWER_FIRST_BYTE]) + b"told", bytes([TURN_FIRST_BYTE]) + b"asked for a move"


async def test_a_frame_is_answered_and_the_other_of_the_pair_is_asked_for_the_next() -> None:
    metrics = Metrics()
    loop_lag = EventLoopLag(MONOTONIC_CLOCK, metrics.loop_lag_seconds.observe)
    async with Edge(
        1, NullCore(), RELAY_LIMITS, metrics=metrics, server_program="relay", loop_lag=loop_lag
    ) as edge:
        edge.make_session = RelayPairs(TOLD, ASKED).make_session
        _, port = await edge.start_listening(RELAY_HOST, 0)
        url = f"ws://{RELAY_HOST}:{port}"
        first, second, _ = clients = [await open_client(url) for _ in range(3)]
        with ExitStack() as stack:
            for client in clients:
                stack.callback(client.close)
            with anyio.fail_after(500):
                assert await first.receive_payload() == ASKED
                for mover, other in ((first, second), (second, first), (first, second)):
                    await mover.send_payload(b"a move")
                    assert await mover.receive_payload() == TOLD
                    assert await other.receive_payload() == ASKED
