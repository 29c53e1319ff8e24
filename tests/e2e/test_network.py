"""A server and its bots, and what breaks on the way between them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from arena.protocol.codes import EndReason
from arena.server.host import open_arena_server
from arena.server.settings import make_private_server_settings
from testkit.forwarder import ForwarderProcess
from testkit.players import RandomPlayer
from testkit.tools import skip_without
from tests.e2e.cable import Cable, CableUnavailable, open_cable
from tests.server.matches import spec

PLAYED = {EndReason.LINE, EndReason.BOARD_FULL}


@pytest.fixture
def cable(tmp_path: Path) -> Iterator[Cable]:
    try:
        with open_cable(tmp_path) as made:
            yield made
    except CableUnavailable as why:
        skip_without("namespaces", str(why))


def test_packets_that_are_lost_for_a_second_cost_no_match(cable: Cable) -> None:
    cable.start_server_and_bots("60+1", 6, 0.1)
    before = len(cable.wait_for_matches(3))
    cable.cut_line()
    time.sleep(1)
    cable.restore_line()
    assert {each.result.reason for each in cable.wait_for_matches(before + 6)} <= PLAYED


def test_a_storm_of_bots_that_were_all_reset_comes_back_and_plays_on(cable: Cable) -> None:
    cable.start_server_and_bots("60+1", 40, 0.3)
    cable.wait_for_matches(20)
    for _ in range(3):
        cable.reset_connections()
        time.sleep(0.3)
    if not cable.wait_for_log(": reconnected from", 40):
        skip_without("namespaces", "this kernel does not reset connections for ss -K")
    before = len(cable.list_records())
    played = cable.wait_for_matches(before + 40)
    assert {each.result.reason for each in played} <= PLAYED
    assert len({each.match for each in played}) == len(played)


async def test_bots_of_half_open_connections_come_back_and_play_on() -> None:
    async with (
        asyncio.timeout(500),
        open_arena_server(make_private_server_settings(anyone=True, grace_seconds=120.0)) as host,
        asyncio.TaskGroup() as tasks,
    ):
        port = urlsplit(host.url).port
        assert port is not None
        forwarder = await asyncio.to_thread(ForwarderProcess, port)
        try:
            url = f"ws://127.0.0.1:{forwarder.port}"
            bots = [RandomPlayer(url, name, lambda: 0.3) for name in ("anna", "bert", "carl", "dora")]
            playing = [tasks.create_task(bot.run()) for bot in bots]
            matches = [
                tasks.create_task(host.shell.play_match(spec(maxie, minnie)))
                for maxie, minnie in (("anna", "bert"), ("carl", "dora"))
            ]
            while not all(bot.started_match_ids for bot in bots):
                await asyncio.sleep(0.01)
            assert await asyncio.to_thread(forwarder.send_command, "vanish") == 4, (
                "the server is told of nothing"
            )
            while not all(bot.welcome_count >= 2 for bot in bots):
                await asyncio.sleep(0.01)
            records = [await match for match in matches]
            for task in playing:
                task.cancel()
        finally:
            await asyncio.to_thread(forwarder.close)
    assert {record.result.reason for record in records} <= PLAYED
