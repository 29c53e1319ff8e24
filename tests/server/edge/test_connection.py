"""Connections: reading, writing, closing, and limits."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode

from arena.protocol.codec import encode_message
from arena.protocol.codes import ErrorCode
from arena.protocol.messages import Error, Hello, Move, Ping, Pong, Ready, Turn, Watch, Welcome
from arena.server.core.effects import CloseClient
from arena.server.core.inputs import ClientDisconnected, MessageReceived
from arena.server.core.limits import ServerLimits
from arena.server.edge.connection import (
    BYTES_PARSED_PER_WORK_SLICE,
    MAX_BYTES_READ_AFTER_CLOSE,
    SLOW_PEER_MAX_UNSENT_BYTES,
    WEBSOCKET_CLOSE_TIMEOUT_SECONDS,
)
from arena.server.edge.edge import MAX_READ_CHUNK_BYTES
from arena.server.edge.pings import PING_INTERVAL_SECONDS, PONG_TIMEOUT_SECONDS
from arena.server.edge.session import (
    MAX_CONTROL_FRAMES_IN_BURST,
    MAX_MESSAGE_FRAGMENTS_IN_BURST,
    MAX_MESSAGES_IN_FAIR_QUEUE,
)
from arena.server.ports import AdmissionRequest
from tests.properties import examples
from tests.server.edge.rig import (
    ADDRESS,
    OTHER_ADDRESS,
    Peer,
    encode_client_frame,
    make_turn,
    open_rig,
    open_rig_with_client,
)
from tests.virtual import virtual

MS = 1_000_000


def control(opcode: Opcode, data: bytes = b"") -> bytes:
    return Frame(opcode, data).serialize(mask=True)


def fragment(data: bytes = b"", *, first: bool = False, last: bool = False) -> bytes:
    return Frame(Opcode.BINARY if first else Opcode.CONT, data, fin=last).serialize(mask=True)


# reading


@virtual
async def test_a_message_larger_than_one_chunk_is_received_completely() -> None:
    maps = [f"map {number} {'x' * 50}" for number in range(60)]
    async with open_rig() as arena:
        peer = await arena.connect()
        peer.send(Hello("anna", maps=maps))
        await peer.receive(Welcome)
        assert arena.core.get_last(AdmissionRequest).hello.maps == maps
        assert max(peer.transport.reads) == MAX_READ_CHUNK_BYTES


@virtual
async def test_new_connections_do_not_delay_a_players_move() -> None:
    async with open_rig_with_client() as (arena, anna, client):
        crowd = [Peer(arena.edge, OTHER_ADDRESS) for _ in range(50)]
        openings = [asyncio.create_task(each.open_websocket()) for each in crowd]
        await asyncio.sleep(0.01)
        for number in range(10):
            arena.send(client, make_turn(2 * number))
            anna.send(Move("m", 2 * number, 1))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert len(arena.core.list_received(MessageReceived)) == number + 1, (
                "the move reaches the core immediately"
            )
        assert not all(each.done() for each in openings)
        await asyncio.gather(*openings)


@virtual
async def test_messages_of_spectators_wait_in_the_fair_queue_but_moves_do_not() -> None:
    async with open_rig_with_client() as (arena, anna, client):
        crowd = [(await arena.admit_client(f"eve {number}", OTHER_ADDRESS))[0] for number in range(20)]
        await asyncio.sleep(1)
        arena.send(client, make_turn())
        for each in crowd:
            each.send(Watch("m"))
        anna.send(Move("m", 0, 1))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        count = arena.edge.metrics.message_counts
        assert (count[Move], count[Watch]) == (1, 0)
        await asyncio.sleep(1)
        assert count[Watch] == 20


@virtual
async def test_a_slice_parses_only_a_few_messages() -> None:
    async with open_rig_with_client() as (arena, anna, _):
        await asyncio.sleep(1)  # the pause after the slice of the hello
        anna.send(*[Watch("m") for _ in range(30)])
        count = arena.edge.metrics.message_counts
        while not count[Watch]:
            await asyncio.sleep(0)
        assert count[Watch] == BYTES_PARSED_PER_WORK_SLICE // len(encode_client_frame(Watch("m"))) < 30
        await asyncio.sleep(1)
        assert count[Watch] == 30


@virtual
async def test_only_the_address_that_exceeds_its_rate_waits_in_the_fair_queue() -> None:
    async with open_rig(ServerLimits(moves_per_second=10)) as arena:
        many, client = await arena.admit_client("many", OTHER_ADDRESS)
        anna, other = await arena.admit_client()
        for ply in range(50):
            arena.send(client, make_turn(ply))
            many.send(Move("m", ply, 1))
            await asyncio.sleep(0.0001)
        count = len(arena.core.list_received(MessageReceived))
        assert 8 <= count < 35
        arena.send(other, make_turn())
        anna.send(Move("m", 0, 1))
        await asyncio.sleep(0.0001)
        assert len(arena.core.list_received(MessageReceived)) == count + 1
        await asyncio.sleep(1)
        assert len(arena.core.list_received(MessageReceived)) == 51, "all moves are handled in the end"


@virtual
async def test_a_move_that_waits_in_the_queue_keeps_its_arrival_time() -> None:
    async with open_rig_with_client(ServerLimits(moves_per_second=1)) as (arena, anna, client):
        anna.transport.feed_data(20 * control(Opcode.PONG))
        await asyncio.sleep(0.001)
        other = await arena.connect(OTHER_ADDRESS)
        other.send(Hello("bert"))
        await asyncio.sleep(0.001)
        arena.send(client, make_turn())
        anna.send(Move("m", 0, 1))
        await asyncio.sleep(1)
        received = arena.core.get_last(MessageReceived)
        assert received.elapsed_ns is not None
        assert received.elapsed_ns < 1 * MS


@virtual
async def test_reading_is_paused_while_too_many_messages_wait() -> None:
    limits = ServerLimits(messages_per_second=100_000, work_ms_per_second=10**6, moves_per_second=10**6)
    async with open_rig_with_client(limits) as (arena, anna, _):
        before, size = sum(anna.transport.reads), len(encode_client_frame(Watch("m")))
        anna.send(*[Watch("m") for _ in range(2000)])
        await asyncio.sleep(0.1)
        assert (
            sum(anna.transport.reads) - before
            <= (MAX_MESSAGES_IN_FAIR_QUEUE + 20) * size + 2 * MAX_READ_CHUNK_BYTES
        )
        assert anna.transport.paused
        await asyncio.sleep(100)
        assert len(arena.core.list_received(MessageReceived)) == 2000


@virtual
async def test_a_flood_of_pings_resets_the_connection_as_a_fault() -> None:
    async with open_rig_with_client(ServerLimits(cut_offs=1)) as (arena, anna, client):
        anna.transport.feed_data((MAX_CONTROL_FRAMES_IN_BURST + 1) * control(Opcode.PING))
        await anna.transport.lost.wait()
        assert arena.core.list_received(ClientDisconnected) == [
            ClientDisconnected(client, "too many control frames")
        ]
        assert not arena.edge.admission.try_admit_connection(ADDRESS)


@virtual
async def test_pings_within_the_limit_are_answered() -> None:
    async with open_rig_with_client() as (_, anna, _):
        for number in range(30):
            anna.transport.feed_data(control(Opcode.PING, b"%d" % number))
            await asyncio.sleep(0.2)
        pongs = [bytes(each.data) for each in anna.frames if each.opcode is Opcode.PONG]
        assert pongs == [b"%d" % number for number in range(30)]


@virtual
async def test_too_many_fragments_reset_the_connection() -> None:
    async with open_rig_with_client() as (arena, anna, client):
        anna.transport.feed_data(fragment(first=True) + 2 * MAX_MESSAGE_FRAGMENTS_IN_BURST * fragment())
        await anna.transport.lost.wait()
        assert arena.core.list_received(ClientDisconnected) == [
            ClientDisconnected(client, "too many fragments")
        ]


messages = st.lists(
    st.builds(Watch, st.text("ab", min_size=1, max_size=40)) | st.builds(Ready, st.just("m")), max_size=12
)


@examples(20)
@given(messages, st.lists(st.integers(1, 600), max_size=8), st.booleans())
def test_messages_are_received_in_order_in_chunks_of_any_size(
    sent: list[Watch | Ready], cuts: list[int], in_fragments: bool
) -> None:
    @virtual
    async def talk() -> None:
        async with open_rig_with_client() as (arena, anna, _):
            stream = b""
            for each in sent:
                data = encode_message(each)
                whole = fragment(data[:3], first=True) + fragment() + fragment(data[3:], last=True)
                stream += whole if in_fragments else encode_client_frame(each)
            for start, end in pairwise(
                [0, *sorted(each for each in cuts if each < len(stream)), len(stream)]
            ):
                anna.transport.feed_data(stream[start:end])
                await asyncio.sleep(0.001)
            await asyncio.sleep(5)
            assert [received.message for received in arena.core.list_received(MessageReceived)] == sent

    talk()


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (Frame(Opcode.BINARY, b"x").serialize(mask=False), 1002),
        (b"\xc2\x80" + bytes(4), 1002),
        (b"\x83\x80" + bytes(4), 1002),
        (fragment(b"x"), 1002),
        (b"\x82\xfe" + (20_000).to_bytes(2, "big") + bytes(4), 1009),
    ],
    ids=["not masked", "reserved bit", "reserved opcode", "no first fragment", "too large"],
)
@virtual
async def test_a_violation_of_rfc_6455_closes_the_connection_as_a_fault(bad: bytes, code: int) -> None:
    async with open_rig_with_client(ServerLimits(cut_offs=1)) as (arena, anna, client):
        anna.send(Ping())
        anna.transport.feed_data(bad)
        anna.send(Ping())
        await asyncio.sleep(0.1)
        anna.answer_close()
        assert (await anna.wait_closed())[0] == code
        [gone] = arena.core.list_received(ClientDisconnected)
        assert gone.client_number == client
        assert gone.fault
        assert len(arena.core.list_received(MessageReceived)) <= 1
        assert not arena.edge.admission.try_admit_connection(ADDRESS)


# the end


@pytest.mark.parametrize("code", [1000, 1002])
@virtual
async def test_a_close_frame_is_answered_and_disconnects_without_fault(
    code: int,
) -> None:
    async with open_rig_with_client(ServerLimits(cut_offs=1)) as (arena, anna, client):
        assert anna.library is not None
        anna.library.send_close(code, "done")
        anna.transport.feed_data(b"".join(anna.library.data_to_send()))
        await asyncio.sleep(0.01)
        assert arena.core.list_received(ClientDisconnected) == [ClientDisconnected(client)]
        anna.transport.feed_eof()
        assert (await anna.wait_closed())[0] == code
        assert arena.edge.admission.try_admit_connection(ADDRESS)
        assert len(arena.core.list_received(ClientDisconnected)) == 1


@virtual
async def test_a_peer_that_does_not_answer_the_close_frame_is_reset() -> None:
    async with open_rig_with_client() as (_, anna, _):
        anna.is_reading = False
        anna.send(b"\xc1")
        await asyncio.sleep(WEBSOCKET_CLOSE_TIMEOUT_SECONDS / 2)
        assert not anna.transport.lost.is_set()
        await asyncio.sleep(WEBSOCKET_CLOSE_TIMEOUT_SECONDS)
        assert anna.transport.lost.is_set()


@virtual
async def test_little_is_read_after_the_close_frame() -> None:
    async with open_rig_with_client() as (arena, anna, _):
        anna.is_reading = False
        anna.send(b"\xc1", *[Ping() for _ in range(10_000)])
        await asyncio.sleep(WEBSOCKET_CLOSE_TIMEOUT_SECONDS / 2)
        assert sum(anna.transport.reads) < 2 * MAX_BYTES_READ_AFTER_CLOSE
        assert not arena.core.list_received(MessageReceived)


@pytest.mark.parametrize("eof", [True, False])
@virtual
async def test_a_connection_ends_its_stream_first_if_the_transport_can(eof: bool) -> None:
    async with open_rig() as arena:
        peer = Peer(arena.edge, eof=eof)
        await peer.open_websocket()
        peer.send(b"\xc1")
        await peer.receive(Error)
        assert peer.library is not None
        peer.transport.feed_data(b"".join(peer.library.data_to_send()))
        await asyncio.sleep(0.01)
        assert peer.transport.ended == eof
        assert peer.transport.closing == (not eof)


@virtual
async def test_a_peer_that_answers_no_pings_is_disconnected_without_fault() -> None:
    async with open_rig_with_client(ServerLimits(cut_offs=1)) as (arena, anna, client):
        anna.is_reading = False
        await asyncio.sleep(PING_INTERVAL_SECONDS + PONG_TIMEOUT_SECONDS + PING_INTERVAL_SECONDS + 1)
        assert arena.core.list_received(ClientDisconnected) == [ClientDisconnected(client)]
        anna.transport.reset()
        assert arena.edge.admission.try_admit_connection(ADDRESS), "a broken connection is no misbehaviour"


# writing


@virtual
async def test_a_client_that_never_reads_is_disconnected_alone() -> None:
    async with open_rig() as arena:
        deaf, client = await arena.admit_client("deaf")
        anna, other = await arena.admit_client()
        deaf.is_reading = False
        sent = 0
        while not arena.core.list_received(ClientDisconnected):
            arena.send(client, make_turn(1000, f"{sent}"))
            sent += 1
            assert sent < 10_000
        assert SLOW_PEER_MAX_UNSENT_BYTES < len(deaf.transport.outbound) < SLOW_PEER_MAX_UNSENT_BYTES + 4096
        arena.send(client, Pong())
        arena.send(other, Pong())
        await anna.receive(Pong)
        await asyncio.sleep(WEBSOCKET_CLOSE_TIMEOUT_SECONDS + 1)
        assert deaf.transport.closing


@virtual
async def test_a_message_larger_than_the_write_limit_reaches_a_client_that_reads() -> None:
    async with open_rig_with_client() as (arena, anna, client):
        anna.is_reading = False
        arena.send(client, make_turn(3 * SLOW_PEER_MAX_UNSENT_BYTES))
        anna.resume_reading()
        assert (await anna.receive(Turn)).ply == 3 * SLOW_PEER_MAX_UNSENT_BYTES


# admission


@virtual
async def test_a_connection_beyond_the_limit_of_its_address_is_refused_alone() -> None:
    async with open_rig_with_client(ServerLimits(connections=4, connections_per_address=1)) as (
        arena,
        anna,
        client,
    ):
        stranger = Peer(arena.edge, ADDRESS)
        stranger.transport.feed_data(b"GET / HTTP/1.1\r\n\r\n")
        await asyncio.sleep(0.5)
        assert stranger.transport.inbound, "a refused connection is not read"
        assert not stranger.transport.lost.is_set()
        await asyncio.sleep(1)
        assert stranger.transport.lost.is_set()
        arena.send(client, Pong())
        await anna.receive(Pong)
        await arena.connect(OTHER_ADDRESS)


@virtual
async def test_clients_behind_a_trusted_proxy_are_counted_by_their_own_addresses() -> None:
    async with open_rig(
        ServerLimits(connections=8, connections_per_address=1, cut_offs=1), proxies=[ADDRESS]
    ) as arena:
        first = await arena.connect(X_Forwarded_For="203.0.113.1")
        await arena.connect(X_Forwarded_For="203.0.113.1, 203.0.113.2")
        assert (await Peer(arena.edge).open_websocket(X_Forwarded_For="203.0.113.1")).status_code == 429
        await arena.connect(X_Forwarded_For="not an address")
        first.send(Hello("anna"))
        await first.receive(Welcome)
        assert arena.core.get_last(AdmissionRequest).address == "203.0.113.1"
        first.send(b"\xc1")
        await first.wait_refused()
        assert (await Peer(arena.edge).open_websocket(X_Forwarded_For="203.0.113.1")).status_code == 429, (
            "the address has misbehaved"
        )
        assert (await Peer(arena.edge).open_websocket(X_Forwarded_For="203.0.113.3")).status_code == 101


@virtual
async def test_a_forwarded_address_is_ignored_unless_it_comes_from_a_proxy() -> None:
    async with open_rig() as arena:
        peer = await arena.connect(X_Forwarded_For="203.0.113.1")
        peer.send(Hello("anna"))
        await peer.receive(Welcome)
        assert arena.core.get_last(AdmissionRequest).address == ADDRESS


@virtual
async def test_an_ended_connection_no_longer_counts() -> None:
    async with open_rig(ServerLimits(connections_per_address=1)) as arena:
        for _ in range(5):
            peer = await arena.connect()
            peer.transport.reset()
            await peer.transport.lost.wait()
        assert not arena.edge.admission.open_connection_counts
        assert not arena.edge.connections


@virtual
async def test_orderly_disconnections_do_not_count_as_misbehaviour() -> None:
    async with open_rig(ServerLimits(cut_offs=1)) as arena:
        for code in (ErrorCode.REPLACED, ErrorCode.NAME_TAKEN, ErrorCode.SHUTTING_DOWN):
            peer, client = await arena.admit_client()
            arena.core.deliver(CloseClient(client, code, code.meaning))
            await peer.wait_refused()
        peer, _ = await arena.admit_client()
        peer.transport.reset()
        await peer.transport.lost.wait()
        await arena.admit_client()
