from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from arena.clock import MONOTONIC
from arena.server.edge.edge import Edge
from arena.server.loop_lag import LoopLag
from arena.server.metrics import Metrics
from benchmarks.kit.load import open_connection
from benchmarks.relay import ANSWER, HOST, RELAY_LIMITS, TURN, NullCore, RelayPairs, RelayStore

TOLD, ASKED = bytes([ANSWER]) + b"told", bytes([TURN]) + b"asked for a move"


@pytest.mark.parametrize("stores", [False, True])
async def test_a_frame_is_answered_and_the_other_of_the_pair_is_asked_for_the_next(
    stores: bool, tmp_path: Path
) -> None:
    file = tmp_path / "relay.db"
    store = RelayStore(str(file)) if stores else None
    metrics = Metrics()
    lag = LoopLag(MONOTONIC, metrics.loop_seconds.observe)
    async with Edge(1, NullCore(), RELAY_LIMITS, metrics=metrics, program="relay", lag=lag) as edge:
        edge.make_session = RelayPairs(TOLD, ASKED, store).make_session
        _, port = await edge.listen(HOST, 0)
        url = f"ws://{HOST}:{port}"
        async with open_connection(url) as first, open_connection(url) as second, open_connection(url):
            with anyio.fail_after(500):
                assert await first.recv() == ASKED
                for number, (mover, other) in enumerate(
                    ((first, second), (second, first), (first, second)), start=1
                ):
                    await mover.send(b"a move")
                    assert await mover.recv() == TOLD
                    assert not stores or count_rows(file) == number
                    assert await other.recv() == ASKED
    if store is not None:
        store.close()


def count_rows(file: Path) -> int:
    with closing(sqlite3.connect(file)) as connection:
        count: int = connection.execute("SELECT count(*) FROM rows").fetchone()[0]
    return count
