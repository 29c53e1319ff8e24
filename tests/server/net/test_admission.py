"""Admission: who is counted as whom, how many may come, and what floods below the messages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import anyio
import anyio.abc
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidMessage, InvalidStatus
from websockets.frames import Frame, Opcode
from websockets.typing import Subprotocol

from arena.protocol.messages import SUBPROTOCOL, Browse, Listing
from arena.server.host import Host, open_host
from arena.server.net.admission import Admission
from arena.server.net.arrivals import CONTROL_BURST, MOST_FRAGMENTS
from arena.server.net.limits import HostLimits
from arena.server.net.queue import PAUSE_SECONDS, PLAY_PAUSE_SECONDS
from arena.server.settings import private
from tests.server.peer import dial, enter


def admission(*proxies: str, **limits: int) -> Admission:
    return Admission(HostLimits(**limits), proxies)


def test_connections_are_counted_in_all_and_by_address_and_given_back() -> None:
    guard = admission(connections=3, connections_per_address=2)
    assert [guard.let_in("10.0.0.1") for _ in range(3)] == [True, True, False]
    assert guard.let_in("10.0.0.2")
    assert not guard.let_in("10.0.0.3"), "three in all"
    guard.leave("10.0.0.1")
    assert guard.let_in("10.0.0.3")
    for address in ("10.0.0.1", "10.0.0.2", "10.0.0.3"):
        guard.leave(address)
    assert not guard.open, "nothing is kept of who has left"


def test_connections_wait_for_more_requests_where_there_are_few_in_all_and_of_their_address() -> None:
    guard = admission("10.9.0.0/16", connections=8, connections_per_address=4)
    for address, room in (
        ("10.0.0.1", True),
        ("10.0.0.1", True),
        ("10.0.0.1", False),
        ("10.9.0.1", True),
        ("10.9.0.1", False),
    ):
        assert guard.let_in(address, proxied=guard.trusts(address))
        assert guard.has_room(address) == room
    guard.leave("10.9.0.1")
    assert guard.has_room("10.9.0.1"), "a proxy is bounded by the total only"
    guard.close()
    assert not guard.has_room("10.9.0.1")


def test_who_has_one_address_of_a_network_of_version_6_has_them_all() -> None:
    guard = admission(connections_per_address=1)
    assert guard.let_in("2001:db8::1")
    assert not guard.let_in("2001:db8::2")
    assert guard.let_in("2001:db8:0:1::1")
    guard.leave("2001:db8::2")
    assert guard.let_in("2001:db8::3")


def test_the_moves_of_one_address_count_together_as_long_as_it_is_connected() -> None:
    guard = Admission(HostLimits(moves_per_second=1), ())
    for address in ("10.0.0.1", "10.0.0.1", "10.0.0.2"):
        assert guard.let_in(address)
    assert guard.moves("10.0.0.1") is guard.moves("10.0.0.1")
    assert guard.moves("10.0.0.1") is not guard.moves("10.0.0.2")
    before = guard.moves("10.0.0.1")
    guard.leave("10.0.0.1")
    assert guard.moves("10.0.0.1") is before
    guard.leave("10.0.0.1")
    assert guard.let_in("10.0.0.1")
    assert guard.moves("10.0.0.1") is not before


def test_a_proxy_is_bounded_by_the_total_only() -> None:
    guard = admission("10.0.0.0/8", connections=3, connections_per_address=1)
    assert guard.trusts("10.1.2.3")
    assert not guard.trusts("11.0.0.1")
    assert not guard.trusts("local")
    assert [guard.let_in("10.0.0.1", proxied=True) for _ in range(4)] == [True, True, True, False]


def test_newcomers_wait_longer_where_somebody_plays() -> None:
    guard = admission()
    assert guard.newcomers_pause() == PAUSE_SECONDS
    guard.answered()
    guard.answered()
    assert guard.newcomers_pause() == PLAY_PAUSE_SECONDS
    assert guard.newcomers_pause() == PAUSE_SECONDS, "nobody has made a move since"


def test_a_server_that_stops_lets_nobody_in() -> None:
    guard = admission()
    guard.close()
    assert not guard.let_in("10.0.0.1")


@asynccontextmanager
async def raw(host: Host, **headers: str) -> AsyncIterator[ClientConnection]:
    options: Any = {"additional_headers": {key.replace("_", "-"): value for key, value in headers.items()}}
    async with connect(
        host.url, subprotocols=[Subprotocol(SUBPROTOCOL)], compression=None, ping_interval=None, **options
    ) as connection:
        yield connection


async def test_one_connection_too_many_from_an_address_is_cut_and_the_others_go_on() -> None:
    async with (
        open_host(private(limits=HostLimits(connections_per_address=2))) as host,
        AsyncExitStack() as stack,
    ):
        anna = await stack.enter_async_context(enter(host, "anna"))
        await stack.enter_async_context(enter(host, "bert"))
        with pytest.raises((InvalidMessage, OSError)):
            await stack.enter_async_context(raw(host))
        await anna.say(Browse())
        assert {each.name for each in (await anna.hear(Listing)).bots} == {"anna", "bert"}


async def ended(stranger: anyio.abc.SocketStream) -> None:
    """The connection is ended without a word."""
    with anyio.fail_after(5), pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
        await stranger.receive()


async def test_who_is_refused_waits_without_being_read_until_there_are_too_many() -> None:
    patient = partial(Admission, held=1, held_seconds=3600)
    async with AsyncExitStack() as outside:
        async with open_host(
            private(limits=HostLimits(connections_per_address=1)), admission=patient
        ) as host:
            await outside.enter_async_context(raw(host))
            port = urlsplit(host.url).port or 0
            one, other = [
                await outside.enter_async_context(await anyio.connect_tcp("127.0.0.1", port))
                for _ in range(2)
            ]
            await one.send(b"GET / HTTP/1.1\r\n\r\n")
            await ended(other)
            with anyio.move_on_after(0.05) as held:
                await one.receive()
            assert held.cancelled_caught
        await ended(one)


async def test_who_is_refused_is_let_go_after_a_while() -> None:
    impatient = partial(Admission, held_seconds=0.01)
    async with (
        open_host(private(limits=HostLimits(connections_per_address=1)), admission=impatient) as host,
        raw(host),
        await anyio.connect_tcp("127.0.0.1", urlsplit(host.url).port or 0) as stranger,
    ):
        await ended(stranger)


async def test_behind_a_trusted_proxy_each_client_counts_by_itself() -> None:
    limits = HostLimits(connections_per_address=1)
    async with (
        open_host(private(limits=limits, proxies=["127.0.0.0/8"])) as host,
        raw(host, X_Forwarded_For="198.51.100.1"),
        raw(host, X_Forwarded_For="198.51.100.1, 198.51.100.2"),
    ):
        with pytest.raises(InvalidStatus) as refused:
            async with raw(host, X_Forwarded_For="203.0.113.9, 198.51.100.1"):
                pass
        assert refused.value.response.status_code == 429
        async with raw(host, X_Forwarded_For="not an address"):
            pass


async def test_what_a_stranger_says_of_its_address_is_not_believed() -> None:
    async with (
        open_host(private(limits=HostLimits(connections_per_address=1))) as host,
        raw(host, X_Forwarded_For="198.51.100.1"),
    ):
        with pytest.raises((InvalidMessage, OSError)):
            async with raw(host, X_Forwarded_For="198.51.100.2"):
                pass


async def test_a_place_is_free_again_when_its_connection_has_ended() -> None:
    async with open_host(private(limits=HostLimits(connections_per_address=1))) as host:
        for _ in range(5):
            async with dial(host.url):
                pass
            await _eventually_open(host)


async def _eventually_open(host: Host) -> None:
    with anyio.fail_after(10):
        while True:
            try:
                async with dial(host.url):
                    return
            except (InvalidMessage, OSError):
                await anyio.sleep(0.01)


async def test_a_flood_of_pings_is_cut_off(host: Host) -> None:
    async with raw(host) as connection:
        with pytest.raises(ConnectionClosed), anyio.fail_after(20):
            for number in range(50 * CONTROL_BURST):
                await connection.ping(str(number))
            await connection.recv()


async def test_a_message_in_too_many_pieces_is_cut_off(host: Host) -> None:
    async with raw(host) as connection:
        with pytest.raises(ConnectionClosed), anyio.fail_after(20):
            for number in range(2 * MOST_FRAGMENTS):
                frame = Frame(Opcode.CONT if number else Opcode.BINARY, b"", fin=False)
                connection.transport.write(frame.serialize(mask=True))
            await connection.recv()


async def test_a_message_in_a_few_pieces_is_one(host: Host) -> None:
    async with enter(host, "anna") as anna:
        await anna.connection.send([b"\x81\xa4", b"type", b"", b"\xa6browse"])
        assert [each.name for each in (await anna.hear(Listing)).bots] == ["anna"]
