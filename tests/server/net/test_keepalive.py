"""The pulse: who is pinged when, and that a peer which has gone silent is given up."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosedError
from websockets.typing import Subprotocol

from protocol.messages import SUBPROTOCOL
from server.host import open_host
from server.net.keepalive import AT_ONCE, PAUSE, PING_SECONDS, Keepalive
from tests.server.peer import Peer


class Heart:
    """Counts its beats."""

    def __init__(self) -> None:
        self.beats: list[float] = []
        self.now = 0.0

    def beat(self) -> None:
        self.beats.append(self.now)


@given(st.lists(st.floats(0, 30), max_size=40), st.data())
def test_each_beats_every_few_seconds_and_never_many_at_once(came: list[float], data: st.DataObject) -> None:
    keepalive, hearts, now = Keepalive(), {}, 0.0
    waiting = sorted(came)
    gone: set[Heart] = set()
    while now < 100:
        while waiting and waiting[0] <= now:
            heart = Heart()
            hearts[heart] = waiting.pop(0)
            keepalive.add(heart, now)
        if hearts and data.draw(st.integers(0, 20)) == 0:
            heart = data.draw(st.sampled_from(list(hearts)))
            keepalive.remove(heart)
            gone.add(heart)
        for heart in hearts:
            heart.now = now
        before = Counter({heart: len(heart.beats) for heart in hearts})
        pause = keepalive.step(now)
        beaten = [heart for heart in hearts if len(heart.beats) > before[heart]]
        assert len(beaten) <= AT_ONCE
        assert not gone & set(beaten)
        assert 0 < pause <= PING_SECONDS + 1e-6
        # somebody may come before that
        now = min(now + pause, waiting[0]) if waiting and waiting[0] > now else now + pause
    late = PAUSE * (len(came) / AT_ONCE + 1)
    for heart, since in hearts.items():
        times = [since, *heart.beats]
        gaps = [after - before for before, after in pairwise(times)]
        assert all(PING_SECONDS - 1e-6 <= gap <= PING_SECONDS + late + 1e-6 for gap in gaps)
        assert heart in gone or len(heart.beats) >= (100 - since) // (PING_SECONDS + late) - 1


async def test_a_ping_tells_the_lag(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.net.keepalive.PING_SECONDS", 0.01)
    async with (
        open_host() as host,
        connect(host.url, subprotocols=[Subprotocol(SUBPROTOCOL)], compression=None) as connection,
    ):
        await Peer(connection).hello("anna", host.issue_token("anna"))
        member = host.lobby.find("anna")
        assert member is not None
        with anyio.fail_after(10):
            while not member.lag:
                await anyio.sleep(0.01)


async def test_who_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.net.keepalive.PING_SECONDS", 0.01)
    monkeypatch.setattr("server.net.connection.PONG_SECONDS", 0.05)
    async with (
        open_host() as host,
        connect(host.url, subprotocols=[Subprotocol(SUBPROTOCOL)], compression=None) as connection,
    ):
        await Peer(connection).hello("anna", host.issue_token("anna"))
        # its pings stay unread, as on a line that was cut
        connection.transport.pause_reading()
        with anyio.fail_after(10):
            while host.lobby.connected():
                await anyio.sleep(0.01)
        connection.transport.resume_reading()
        with pytest.raises(ConnectionClosedError, match="keepalive ping timeout"):
            while True:
                await connection.recv()
