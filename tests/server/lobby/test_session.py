"""What a connection may do, and what it is told when it does something else."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import pytest
from websockets.exceptions import ConnectionClosed

from arena.protocol.codec import encode
from arena.protocol.codes import Code, EndReason
from arena.protocol.messages import Accepted, End, Error, Hello, Move, Ready, Resign, Start, Turn
from arena.server.host import Host, open_host
from arena.server.net.limits import HostLimits
from arena.server.settings import private
from arena.server.store import database
from tests.server.matches import spec
from tests.server.peer import Peer, dial, enter


async def refusal(peer: Peer) -> tuple[Error, int | None]:
    """The last words of the server and its close code."""
    error = await peer.hear(Error)
    with anyio.fail_after(5):
        with pytest.raises(ConnectionClosed):
            while True:
                await peer.connection.recv()
    return error, peer.connection.close_code


async def test_hello_is_answered_with_a_session_and_the_limits(host: Host) -> None:
    async with enter(host, "anna", matches=3) as anna:
        assert anna.welcome.name == "anna"
        assert anna.welcome.limits.matches == 3
        assert anna.welcome.limits.grace_ms == 400
        assert len(anna.welcome.session) >= 32


async def test_the_first_message_must_be_hello(host: Host) -> None:
    async with dial(host.url) as peer:
        await peer.say(Ready("x"))
        error, code = await refusal(peer)
        assert (error.code, error.fatal, code) == (Code.HELLO_FIRST, True, 1008)


async def test_what_is_unknown_as_the_first_message_is_told_of_hello(host: Host) -> None:
    async with dial(host.url) as peer:
        await peer.connection.send(b"\x81\xa4type\xa4noon")
        error, code = await refusal(peer)
        assert (error.code, error.fatal, code) == (Code.HELLO_FIRST, True, 1008)
        assert "noon" in error.detail


async def test_a_close_gives_the_reason_however_long_it_is_in_bytes(host: Host) -> None:
    name = "𝕬" * 64  # four bytes each, and a close frame has room for 123
    async with enter(host, name), dial(host.url) as peer:
        await peer.say(Hello(name, host.issue_token(name)))
        error, code = await refusal(peer)
        assert (error.code, code) == (Code.NAME_TAKEN, 1008)
        assert peer.connection.close_reason is not None
        assert peer.connection.close_reason.startswith("name_taken: ")


async def test_a_second_hello_is_refused_and_the_session_goes_on(host: Host) -> None:
    async with enter(host, "anna") as anna:
        await anna.say(Hello("anna"))
        error = await anna.hear(Error)
        assert (error.code, error.fatal) == (Code.HELLO_TWICE, False)
        await anna.connection.ping()


@pytest.mark.parametrize("token", ["", "guess"])
async def test_a_wrong_token_is_refused(host: Host, token: str) -> None:
    host.issue_token("anna")
    async with dial(host.url) as peer:
        await peer.say(Hello("anna", token))
        error, _ = await refusal(peer)
        assert error.code is Code.BAD_TOKEN
    assert host.lobby.connected() == []


@pytest.mark.parametrize("name", ["a\nb", " anna", "\x07"])
async def test_a_name_that_cannot_be_printed_is_refused(host: Host, name: str) -> None:
    async with dial(host.url) as peer:
        await peer.say(Hello(name))
        assert (await refusal(peer))[0].code is Code.BAD_NAME


async def test_a_name_is_taken_once_and_the_session_takes_it_over(host: Host) -> None:
    token = host.issue_token("anna")
    async with dial(host.url) as first, dial(host.url) as second, dial(host.url) as third:
        session = (await first.hello("anna", token)).session
        await second.say(Hello("anna", token))
        assert (await refusal(second))[0].code is Code.NAME_TAKEN
        await third.hello("anna", token, session)
        assert (await refusal(first))[0].code is Code.REPLACED
        await third.connection.ping()


@pytest.mark.parametrize(
    ("frame", "code", "closed"),
    [
        (b"\xc1garbage", Code.BAD_MESSAGE, 1007),
        (encode(Ready("x"))[:-1], Code.BAD_MESSAGE, 1007),
        ("text", Code.BAD_MESSAGE, 1007),
        (b"\x80", Code.BAD_MESSAGE, 1007),
    ],
)
async def test_a_frame_that_is_no_message_ends_the_connection_and_its_matches(
    host: Host, frame: bytes | str, code: Code, closed: int
) -> None:
    async with enter(host, "anna") as anna, enter(host, "bert") as bert, anyio.create_task_group() as tasks:
        tasks.start_soon(host.play, spec("anna", "bert"))
        for peer in (anna, bert):
            await peer.say(Ready((await peer.hear(Start)).match))
        await anna.hear(Turn)
        await anna.connection.send(frame)
        error, close_code = await refusal(anna)
        assert (error.code, close_code) == (code, closed)
        end = await bert.hear(End)
        assert (end.winner, end.reason) == ("minnie", EndReason.PROTOCOL_ERROR)


async def test_a_frame_over_the_limit_is_cut_off_and_loses(host: Host) -> None:
    async with enter(host, "anna") as anna, enter(host, "bert") as bert, anyio.create_task_group() as tasks:
        tasks.start_soon(host.play, spec("anna", "bert"))
        for peer in (anna, bert):
            await peer.say(Ready((await peer.hear(Start)).match))
        await anna.connection.send(b"x" * 20_000)
        end = await bert.hear(End)
        assert (end.winner, end.reason) == ("minnie", EndReason.PROTOCOL_ERROR)
        with pytest.raises(ConnectionClosed):
            while True:
                await anna.connection.recv()
        assert anna.connection.close_code == 1009


async def test_an_unknown_type_and_an_unknown_match_are_told_and_ignored(host: Host) -> None:
    async with enter(host, "anna") as anna:
        await anna.connection.send(b"\x81\xa4type\xa5dance")
        assert (await anna.hear(Error)).code is Code.UNKNOWN_TYPE
        await anna.say(Move("nowhere", 3, 1))
        error = await anna.hear(Error)
        assert (error.code, error.match, error.ply, error.fatal) == (Code.NO_SUCH_MATCH, "nowhere", 3, False)


async def test_a_match_that_is_over_is_told_as_such(host: Host) -> None:
    async with enter(host, "anna") as anna, enter(host, "bert") as bert, anyio.create_task_group() as tasks:
        tasks.start_soon(host.play, spec("anna", "bert"))
        match = (await anna.hear(Start)).match
        for peer in (anna, bert):
            await peer.say(Ready(match))
        await anna.hear(Turn)
        await anna.say(Move(match, 0, 99))
        assert (await anna.hear(End)).reason is EndReason.ILLEGAL_MOVE
        await anna.say(Move(match, 0, 0))
        assert (await anna.hear(Error)).code is Code.NO_SUCH_MATCH


@asynccontextmanager
async def deaf_bot(host: Host) -> AsyncIterator[Peer]:
    """A bot with little room for what it is sent, which has stopped reading."""
    with socket.socket() as small:
        small.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        small.connect(("127.0.0.1", int(host.url.rpartition(":")[2])))
        async with dial(host.url, sock=small) as deaf:
            await deaf.hello("deaf", host.issue_token("deaf"))
            deaf.connection.transport.pause_reading()
            yield deaf


async def ask_on(peer: Peer) -> None:
    """Ask for one more answer."""
    await peer.say(Move("m" * 64, 1_000_000, 1))
    await anyio.lowlevel.checkpoint()


async def test_a_client_that_never_reads_is_cut_off_and_others_go_on(host: Host) -> None:
    async with enter(host, "anna") as anna:
        async with deaf_bot(host) as deaf:
            with anyio.fail_after(20), pytest.raises((ConnectionClosed, OSError)):
                while True:
                    await ask_on(deaf)
        with anyio.fail_after(5):
            while host.lobby.member("deaf").connection is not None:
                await anyio.sleep(0.01)
        await anna.say(Hello("anna"))
        assert (await anna.hear(Error)).code is Code.HELLO_TWICE


async def test_a_client_that_reads_again_in_time_finds_why_it_was_cut_off(
    host: Host, caplog: pytest.LogCaptureFixture
) -> None:
    async with deaf_bot(host) as deaf:
        with anyio.fail_after(20):
            while "too slow" not in caplog.text:
                for _ in range(4):
                    await ask_on(deaf)
                # The server keeps up: one that has much under way when it is cut off finds its connection reset.
                await anyio.sleep(0.003)
        deaf.connection.transport.resume_reading()
        with anyio.fail_after(5), pytest.raises(ConnectionClosed):
            while True:
                await deaf.connection.recv()
        assert (deaf.connection.close_code, deaf.connection.close_reason) == (1008, Code.TOO_SLOW)


async def test_pings_are_answered_while_the_match_goes_on(host: Host) -> None:
    async with enter(host, "anna") as anna, enter(host, "bert") as bert, anyio.create_task_group() as tasks:
        tasks.start_soon(host.play, spec("anna", "bert"))
        match = (await anna.hear(Start)).match
        await (await anna.connection.ping())
        for peer in (anna, bert):
            await peer.say(Ready(match))
        await anna.hear(Turn)
        await anna.say(Move(match, 0, 0))
        await anna.hear(Accepted)
        await (await bert.connection.ping())
        tasks.cancel_scope.cancel()


async def test_what_a_room_has_no_space_for_waits_and_is_answered_in_order() -> None:
    async with (
        open_host(private(limits=HostLimits(inbox=1))) as host,
        enter(host, "anna") as anna,
        enter(host, "bert") as bert,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(host.play, spec("anna", "bert", "20+1"))
        for peer in (anna, bert):
            await peer.say(Ready((await peer.hear(Start)).match))
        match = (await anna.hear(Turn)).match
        plies = range(50, 60)
        async with database.exclusive(host.engine):  # the journal waits, and so does all that is told
            for ply in plies:
                await bert.say(Move(match, ply, 0))
                await anyio.sleep(0.002)  # mostly in deliveries of their own
        with anyio.fail_after(10):
            assert [(await bert.hear(Error)).ply for _ in plies] == list(plies)
        await anna.say(Resign(match))
        await bert.hear(End)
