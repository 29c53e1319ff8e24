"""A connection: large deliveries come in small pieces, and an address that must be cut off too often is refused."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Any

import anyio
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidMessage, InvalidStatus
from websockets.frames import Frame, Opcode
from websockets.typing import Subprotocol

from arena.protocol.codec import encode
from arena.protocol.codes import Code, EndReason
from arena.protocol.messages import SUBPROTOCOL, Error, Hello, Unwatch, Watch
from arena.server.host import Host, open_host
from arena.server.net.admission import Admission
from arena.server.net.arrivals import PIECE_BYTES
from arena.server.net.limits import HostLimits
from arena.server.settings import private
from tests.e2e.test_misbehaving import PLENTY, spec
from tests.peers.honest import honest
from tests.server.peer import Peer, enter

ELSEWHERE = "127.0.0.2"


@asynccontextmanager
async def plain(host: Host, source: str = "127.0.0.1", **headers: str) -> AsyncIterator[ClientConnection]:
    """A connection that has shaken hands, from an address, and that says what a test wants."""
    named: Any = {key.replace("_", "-"): value for key, value in headers.items()}
    async with connect(
        host.url,
        subprotocols=[Subprotocol(SUBPROTOCOL)],
        compression=None,
        local_addr=(source, 0),
        additional_headers=named,
    ) as connection:
        yield connection


async def misbehave(host: Host, source: str = "127.0.0.1", **headers: str) -> None:
    """Be cut off for what is no message."""
    async with plain(host, source, **headers) as connection:
        await connection.send(b"\xc1")
        with pytest.raises(ConnectionClosed), anyio.fail_after(10):
            while True:
                await connection.recv()


async def test_what_is_larger_than_a_piece_comes_in_whole(host: Host) -> None:
    maps = [f"map {number} {'x' * 50}" for number in range(60)]
    hello = encode(Hello("anna", maps=maps))
    assert len(hello) > 4 * PIECE_BYTES
    async with plain(host) as connection:
        peer = Peer(connection)
        await peer.hello("anna", host.issue_token("anna"), maps=maps)
        member = host.lobby.find("anna")
        assert member is not None
        assert member.takes.maps == set(maps)


async def test_many_messages_in_one_delivery_are_each_answered_in_order(host: Host) -> None:
    async with enter(host, "anna") as anna:
        count = 20 * PIECE_BYTES // len(encode(Watch("match 100")))
        frames = [
            Frame(Opcode.BINARY, encode(Watch(f"match {number}"))).serialize(mask=True)
            for number in range(count)
        ]
        anna.connection.transport.write(b"".join(frames))
        for number in range(count):
            told = await anna.hear(Error)
            assert (told.code, told.match) == (Code.NO_SUCH_MATCH, f"match {number}")
        await anna.say(Unwatch("none"))
        await anna.say(Watch("after"))
        assert (await anna.hear(Error)).match == "after", "it reads on"


def watches(count: int) -> bytes:
    """So many messages, each of which is answered with an error that names its number."""
    frames = (Frame(Opcode.BINARY, encode(Watch(f"match {number}"))) for number in range(count))
    return b"".join(frame.serialize(mask=True) for frame in frames)


async def test_as_many_messages_at_once_as_are_allowed_are_each_answered() -> None:
    limits = HostLimits()
    async with open_host(private(limits=limits)) as host, enter(host, "anna") as anna:
        count = limits.message_burst - 1  # the hello was one
        anna.connection.transport.write(watches(count))
        for number in range(count):
            told = await anna.hear(Error)
            assert (told.code, told.match) == (Code.NO_SUCH_MATCH, f"match {number}")


async def test_of_more_than_is_allowed_next_to_nothing_is_handled_and_the_reason_is_told() -> None:
    limits = HostLimits()
    async with open_host(private(limits=limits)) as host, enter(host, "anna") as anna:
        anna.connection.transport.write(watches(2 * limits.message_burst))
        answered = 0
        while (told := await anna.hear(Error)).code is Code.NO_SUCH_MATCH:
            answered += 1
        assert told.code is Code.RATE_LIMITED
        assert told.fatal
        assert answered < limits.message_burst // 2


async def test_who_goes_is_gone_however_much_it_has_asked_for(caplog: pytest.LogCaptureFixture) -> None:
    """What is dear waits for turns, a hundred of them for a second; nobody waits for what the last of them would tell."""
    caplog.set_level(logging.INFO, "arena.dispatch")
    async with open_host(private(limits=HostLimits(message_burst=10_000))) as host, plain(host) as eve:
        await Peer(eve).hello("eve", host.issue_token("eve"))
        eve.transport.write(watches(300))
        eve.transport.write_eof()
        with anyio.fail_after(1.5):
            while "gone" not in caplog.messages:
                await anyio.sleep(0.01)


async def test_what_is_asked_for_waits_in_no_queue() -> None:
    limits = HostLimits(messages_per_second=0.001, message_burst=3)
    async with (
        open_host(private(limits=limits), admission=partial(Admission, flood_pause_seconds=3600)) as host,
        enter(host, "eve") as eve,
        honest(host.url, "anna", host.issue_token("anna")),
        honest(host.url, "bert", host.issue_token("bert")),
    ):
        for number in range(
            2
        ):  # one is parsed at once; the other waits for an hour, and so would all after it
            await eve.say(Watch(f"match {number}"))
        assert (await eve.hear(Error)).match == "match 0"
        with anyio.fail_after(20):
            record = await host.play(spec("anna", "bert", PLENTY))
        assert record.result.reason is EndReason.LINE


async def test_an_address_of_which_much_is_due_waits_for_turns_and_no_other_does() -> None:
    limits = HostLimits(moves_per_second=2)
    impatient = partial(Admission, quick_pause_seconds=3600)
    async with (
        open_host(private(limits=limits), admission=impatient) as host,
        plain(host) as first,
        plain(host, ELSEWHERE) as second,
    ):
        anna, dora = Peer(first), Peer(second)
        for name, peer in (("anna", anna), ("dora", dora)):
            await peer.hello(name, host.issue_token(name))
        answered = []
        with anyio.move_on_after(1):
            for number in range(10):
                await anna.say(Watch(f"match {number}"))
                answered.append((await anna.hear(Error)).match)
        # Some are parsed at once, one is at its turn at once, and the next one waits for an hour.
        assert 2 < len(answered) < 10
        for number in range(2):
            await dora.say(Watch(f"match {number}"))
            assert (await dora.hear(Error)).match == f"match {number}"
        first.transport.abort()


async def test_a_flood_counts_as_cut_off_at_once_not_when_its_connection_is_over() -> None:
    async with open_host(private(limits=HostLimits(cut_offs=1))) as host, plain(host) as flooder:
        await Peer(flooder).hello("anna", host.issue_token("anna"))
        flooder.transport.pause_reading()  # and so it never answers that it is closed
        flooder.transport.write(watches(1000))
        with anyio.fail_after(10):
            while True:
                try:
                    async with plain(host):
                        await anyio.sleep(0.01)
                except (InvalidMessage, OSError):
                    break
        assert host.lobby.connected(), "the flooder's connection is not over"
        flooder.transport.abort()


async def test_an_address_that_must_be_cut_off_too_often_is_refused_and_nobody_else() -> None:
    async with open_host(private(limits=HostLimits(cut_offs=3))) as host, AsyncExitStack() as stack:
        anna = await stack.enter_async_context(enter(host, "anna"))
        for _ in range(3):
            await misbehave(host)
        with pytest.raises((InvalidMessage, OSError)):
            await stack.enter_async_context(plain(host))
        await stack.enter_async_context(plain(host, ELSEWHERE))
        await anna.say(Watch("who is inside stays"))
        await anna.hear(Error)


async def test_a_handshake_that_never_ends_counts_as_cut_off() -> None:
    async with open_host(private(limits=HostLimits(cut_offs=1, hello_seconds=0.2))) as host:
        port = int(host.url.rpartition(":")[2])
        for said in (b"", b"GET / HTTP/1.1\r\n"):
            async with plain(host):
                pass  # not refused: what never said a word counts for nothing
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(said)
            assert await asyncio.wait_for(reader.read(), 10) == b""
            writer.close()
        with pytest.raises((InvalidMessage, OSError)):
            async with plain(host):
                pass


async def test_a_handshake_that_goes_on_byte_by_byte_is_cut_off_as_early_as_a_silent_one() -> None:
    async with open_host(private(limits=HostLimits(hello_seconds=0.3))) as host:
        port = int(host.url.rpartition(":")[2])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        ended = asyncio.create_task(reader.read())
        sent = 0
        with anyio.fail_after(10):
            while not ended.done():
                with suppress(ConnectionError):
                    writer.write(b"a")
                    await writer.drain()
                sent += 1
                await asyncio.sleep(0.01)
        with suppress(ConnectionError):
            assert ended.result() == b""
        assert sent > 3, "it was cut off at once"
        writer.close()


async def test_what_honest_bots_do_does_not_count_as_cut_off() -> None:
    async with open_host(private(limits=HostLimits(cut_offs=1))) as host:
        token = host.issue_token("anna")
        async with plain(host) as first:
            session = (await Peer(first).hello("anna", token)).session
            async with plain(host) as other:
                await other.send(encode(Hello("anna", token)))
                with pytest.raises(ConnectionClosed, match=Code.NAME_TAKEN):
                    while True:
                        await other.recv()
            async with plain(host) as again:
                await Peer(again).hello("anna", token, session)
                with pytest.raises(ConnectionClosed, match=Code.REPLACED):
                    while True:
                        await first.recv()
        async with plain(host) as dropped:
            dropped.transport.abort()
        async with plain(host) as last:
            await Peer(last).hello("bert", host.issue_token("bert"))


async def test_behind_a_proxy_the_client_is_refused_and_not_the_proxy() -> None:
    async with open_host(private(limits=HostLimits(cut_offs=1), proxies=["127.0.0.0/8"])) as host:
        await misbehave(host, X_Forwarded_For="198.51.100.1")
        with pytest.raises(InvalidStatus):
            async with plain(host, X_Forwarded_For="198.51.100.1"):
                pass
        async with plain(host, X_Forwarded_For="198.51.100.2"):
            pass
