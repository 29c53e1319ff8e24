"""Keepalive: who is pinged when, what is learned of it, and that a peer which has gone silent is given up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import pairwise

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosedError
from websockets.typing import Subprotocol

from arena.protocol.messages import SUBPROTOCOL
from arena.server.host import open_host
from arena.server.net.admission import Admission
from arena.server.net.keepalive import (
    PAUSE_SECONDS,
    PING_SECONDS,
    PINGS_A_TURN,
    PONG_SECONDS,
    Keepalive,
    OpenPings,
)
from tests.server.peer import Peer


class Noting:
    """A connection that notes when it was to ping."""

    def __init__(self) -> None:
        self.pings: list[float] = []
        self.now = 0.0

    def ping(self) -> None:
        self.pings.append(self.now)


@given(st.lists(st.floats(0, 30), max_size=40), st.data())
def test_each_pings_every_few_seconds_and_never_many_at_once(came: list[float], data: st.DataObject) -> None:
    keepalive, connections, now = Keepalive(), {}, 0.0
    waiting = sorted(came)
    gone: set[Noting] = set()
    while now < 100:
        while waiting and waiting[0] <= now:
            connection = Noting()
            connections[connection] = waiting.pop(0)
            keepalive.add(connection, now)
        if connections and data.draw(st.integers(0, 20)) == 0:
            connection = data.draw(st.sampled_from(list(connections)))
            keepalive.remove(connection)
            gone.add(connection)
        for connection in connections:
            connection.now = now
        before = Counter({connection: len(connection.pings) for connection in connections})
        pause = keepalive.step(now)
        pinged = [connection for connection in connections if len(connection.pings) > before[connection]]
        assert len(pinged) <= PINGS_A_TURN
        assert not gone & set(pinged)
        assert 0 < pause <= PING_SECONDS + 1e-6
        # somebody may come before that
        now = min(now + pause, waiting[0]) if waiting and waiting[0] > now else now + pause
    late = PAUSE_SECONDS * (len(came) / PINGS_A_TURN + 1)
    for connection, since in connections.items():
        times = [since, *connection.pings]
        gaps = [after - before for before, after in pairwise(times)]
        assert all(PING_SECONDS - 1e-6 <= gap <= PING_SECONDS + late + 1e-6 for gap in gaps)
        assert connection in gone or len(connection.pings) >= (100 - since) // (PING_SECONDS + late) - 1


@given(
    st.lists(st.tuples(st.integers(0, 10**9), st.sampled_from(["ping", "pong", "stray"])), max_size=30),
    st.data(),
)
def test_the_lag_is_the_least_of_the_recent_times_from_a_ping_to_its_pong(
    steps: list[tuple[int, str]], data: st.DataObject
) -> None:
    pings, now, took = OpenPings(), 0, []
    open_pings: list[tuple[bytes, int]] = []
    for pause, what in steps:
        now += pause
        if what == "ping":
            open_pings.append((pings.new(now), now))
        elif what == "pong" and open_pings:
            at = data.draw(st.integers(0, len(open_pings) - 1))
            payload, sent = open_pings[at]
            pings.answered(payload, now)
            took.append(now - sent)
            del open_pings[: at + 1]  # a pong answers what was sent before its ping too
        else:
            pings.answered(b"nobody asked", now)
        assert pings.lag == min(took[-8:], default=0)
        assert pings.overdue(now) == bool(open_pings and now - open_pings[0][1] >= PONG_SECONDS * 1e9)


def pinging(ping_seconds: float, pong_seconds: float = PONG_SECONDS) -> Callable[..., Admission]:
    """The admission of a server that pings so often, and waits so long for an answer."""

    return partial(Admission, keepalive=Keepalive(ping_seconds=ping_seconds, pong_seconds=pong_seconds))


async def test_a_ping_tells_the_lag() -> None:
    async with (
        open_host(admission=pinging(0.01)) as host,
        connect(host.url, subprotocols=[Subprotocol(SUBPROTOCOL)], compression=None) as connection,
    ):
        await Peer(connection).hello("anna", host.issue_token("anna"))
        member = host.lobby.find("anna")
        assert member is not None
        with anyio.fail_after(10):
            while not member.lag:
                await anyio.sleep(0.01)


async def test_who_does_not_answer_is_given_up() -> None:
    async with (
        open_host(admission=pinging(0.01, 0.05)) as host,
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
