"""Strangers who misuse a public server: each is cut off, and honest bots play on beside it."""

from __future__ import annotations

import asyncio

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidMessage, InvalidStatus

from arena.protocol.codes import EndReason
from arena.server.core.limits import ServerLimits
from arena.server.edge import admission
from arena.server.host import open_arena_server
from arena.server.settings import make_private_server_settings
from testkit.attackers import run_attackers
from testkit.players import RandomPlayer
from tests.server.matches import spec

LIMITS = ServerLimits(
    hello_seconds=2.0,
    connections=160,
    connections_per_address=40,
    # On a busy machine, even a flood has few messages a second.
    messages_per_second=1,
    cut_offs=4,
)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let those go at once that are refused, so that they come back often."""
    monkeypatch.setattr(admission, "REFUSED_CONNECTION_HOLD_SECONDS", 0)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("kind", ["slow-loris", "messages"])
async def test_a_horde_that_comes_back_is_cut_off_each_time_and_then_refused(kind: str) -> None:
    # an address is refused for half of the grace time, which is longer than a round of the horde
    settings = make_private_server_settings(limits=LIMITS, anyone=True, grace_seconds=60.0)
    async with open_arena_server(settings) as host, asyncio.TaskGroup() as tasks:
        players = [RandomPlayer(host.url, name) for name in ("anna", "bert")]
        playing = [tasks.create_task(player.run()) for player in players]
        horde = tasks.create_task(attack_until_refused(kind, host.url))
        records = [await host.shell.play_match(spec("anna", "bert"))]
        await horde
        records.append(await host.shell.play_match(spec("anna", "bert")))
        for task in playing:
            task.cancel()
    assert [player.welcome_count for player in players] == [1, 1]
    assert {record.result.reason for record in records} <= {EndReason.LINE, EndReason.BOARD_FULL}


async def attack_until_refused(kind: str, url: str) -> None:
    """Let eight clients of one address come back until they were cut off more often than once each, and are refused."""
    cut = 0
    while cut <= 8 or not await is_refused(url):
        cut += (await run_attackers(kind, url, "127.0.0.2", 8, 3.5)).lost_connection_count


async def is_refused(url: str) -> bool:
    try:
        async with connect(url, local_addr=("127.0.0.2", 0)):
            return False
    except InvalidStatus:  # an answer, though not to such a client
        return False
    except (InvalidMessage, OSError):
        return True
