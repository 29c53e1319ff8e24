"""What is compared with bare `websockets`, and that the echo stands behind the server's own limits."""

from __future__ import annotations

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

from arena.protocol.messages import SUBPROTOCOL
from arena.server.host import open_host
from benchmarks.autobahn import ARENA, BARE, Echo, Outcome

OK = ("OK", "OK")
NOT_STRICT = ("NON-STRICT", "OK")
FAILED = ("FAILED", "OK")
UNCLEAN = ("OK", "UNCLEAN")

OUTCOME = Outcome(
    {
        BARE: {"10.1.1": OK, "2.1": FAILED, "2.2": OK, "2.3": OK, "2.4": OK},
        ARENA: {"10.1.1": OK, "2.1": FAILED, "2.2": NOT_STRICT, "2.3": UNCLEAN},
    }
)


def test_a_failure_counts_where_bare_websockets_has_none() -> None:
    assert OUTCOME.cases == ["2.1", "2.2", "2.3", "2.4", "10.1.1"]
    assert OUTCOME.fails(ARENA) == ["2.1", "2.3", "2.4"], "a case that was not tried has not passed"
    assert OUTCOME.worse(ARENA) == ["2.3", "2.4"]


async def test_the_echo_is_behind_the_servers_own_limits() -> None:
    async with open_host(receiver=Echo) as host:
        async with connect(host.url, subprotocols=[Subprotocol(SUBPROTOCOL)]) as connection:
            for said in ("text", b"bytes"):
                await connection.send(said)
                assert await connection.recv() == said
        with pytest.raises(InvalidStatus):
            async with connect(host.url):
                pass
