"""What is compared with bare `websockets`, and that the echo stands behind the server's own limits."""

from __future__ import annotations

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

from arena.protocol.messages import SUBPROTOCOL
from arena.server.host import open_host
from benchmarks.autobahn import BARE, DEFAULT, SAME, Echo, Outcome, section

OK = ("OK", "OK")
NOT_STRICT = ("NON-STRICT", "OK")
FAILED = ("FAILED", "OK")
UNCLEAN = ("OK", "UNCLEAN")

OUTCOME = Outcome(
    {
        BARE: {"10.1.1": OK, "2.1": FAILED, "2.2": OK, "2.3": OK, "2.4": OK},
        SAME: {"10.1.1": OK, "2.1": FAILED, "2.2": NOT_STRICT, "2.3": UNCLEAN, "2.4": OK},
        DEFAULT: {"10.1.1": FAILED, "2.1": OK, "2.2": FAILED, "2.3": OK},
    },
    {DEFAULT: {"10.1.1": 1009, "2.1": 1009, "2.2": 1002}},
)


def test_a_failure_counts_where_bare_websockets_has_none() -> None:
    assert OUTCOME.cases == ["2.1", "2.2", "2.3", "2.4", "10.1.1"]
    assert OUTCOME.fails(SAME) == ["2.1", "2.3"]
    assert OUTCOME.worse(SAME) == ["2.3"]
    assert OUTCOME.otherwise(SAME) == ["2.2"]
    assert OUTCOME.worse(DEFAULT) == ["2.2", "2.4", "10.1.1"], "a case that was not tried has not passed"
    assert OUTCOME.otherwise(DEFAULT) == ["2.1"]


def test_only_a_failure_that_was_closed_with_1009_is_one_for_the_size_of_a_message() -> None:
    assert OUTCOME.too_big(DEFAULT) == ["10.1.1"]
    assert OUTCOME.too_big(SAME) == []


def test_the_section_tells_the_cases() -> None:
    text = section(OUTCOME, "1.2").markdown()
    assert "| 2.1, 2.3 | 2.3 | 2.2 |" in text
    # 2.2 failed by another code, and 2.4 was not tried.
    assert "*Found:* 3 of 5, 1 of them closed with 1009" in text
    assert text.endswith("with messages to 1 MiB 1 that bare `websockets` does not.")


async def test_the_echo_is_behind_the_servers_own_limits() -> None:
    async with open_host(receiver=Echo) as host:
        async with connect(host.url, subprotocols=[Subprotocol(SUBPROTOCOL)]) as connection:
            for said in ("text", b"bytes"):
                await connection.send(said)
                assert await connection.recv() == said
        with pytest.raises(InvalidStatus):
            async with connect(host.url):
                pass
