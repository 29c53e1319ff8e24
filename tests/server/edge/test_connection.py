"""A connection: reading, pausing, and its end."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode

from arena.protocol.codec import encode
from arena.protocol.codes import Code
from arena.protocol.messages import Error, Hello, Move, Ping, Pong, Ready, Turn, Watch, Welcome
from arena.server.core.effects import CloseClient
from arena.server.core.inputs import ClientDisconnected, MessageReceived
from arena.server.core.limits import HostLimits
from arena.server.edge.connection import CLOSE_SECONDS, MAX_AFTER_CLOSE_BYTES, MAX_UNSENT_BYTES, SLICE_BYTES
from arena.server.edge.edge import READ_BYTES
from arena.server.edge.pings import PING_SECONDS, PONG_SECONDS
from arena.server.edge.session import CONTROL_BURST, FRAGMENT_BURST, MAX_QUEUED_MESSAGES
from arena.server.ports import AdmissionRequest
from tests.properties import examples
from tests.server.edge.rig import ELSEWHERE, HERE, Peer, entered, masked, rig, turn
from tests.virtual import virtual

MS = 1_000_000


def control(opcode: Opcode, data: bytes = b"") -> bytes:
    return Frame(opcode, data).serialize(mask=True)


def fragment(data: bytes = b"", *, first: bool = False, last: bool = False) -> bytes:
    return Frame(Opcode.BINARY if first else Opcode.CONT, data, fin=last).serialize(mask=True)


# reading


@virtual
async def test_a_message_larger_than_one_read_arrives_whole() -> None:
    maps = [f"map {number} {'x' * 50}" for number in range(60)]
    async with rig() as arena:
        peer = await arena.connect()
        peer.say(Hello("anna", maps=maps))
        await peer.hear(Welcome)
        assert arena.core.last(AdmissionRequest).hello.maps == maps
        assert max(peer.wire.reads) == READ_BYTES


@virtual
async def test_newcomers_wait_in_rotation_and_a_players_move_meets_few_of_them() -> None:
    async with entered() as (arena, anna, client):
        crowd = [Peer(arena.edge, ELSEWHERE) for _ in range(50)]
        openings = [asyncio.create_task(each.open()) for each in crowd]
        await asyncio.sleep(0.01)
        for number in range(10):
            arena.send(client, turn(2 * number))
            anna.say(Move("m", 2 * number, 1))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert len(arena.core.all(MessageReceived)) == number + 1, "it is given at once"
        assert not all(each.done() for each in openings)
        await asyncio.gather(*openings)


@virtual
async def test_messages_of_a_crowd_wait_in_the_queue_and_a_players_move_does_not() -> None:
    async with entered() as (arena, anna, client):
        crowd = [(await arena.enter(f"eve {number}", ELSEWHERE))[0] for number in range(20)]
        await asyncio.sleep(1)
        arena.send(client, turn())
        for each in crowd:
            each.say(Watch("m"))
        anna.say(Move("m", 0, 1))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        count = arena.edge.metrics.messages
        assert (count[Move], count[Watch]) == (1, 0)
        await asyncio.sleep(1)
        assert count[Watch] == 20


@virtual
async def test_a_slice_parses_a_few_messages_of_a_piece() -> None:
    async with entered() as (arena, anna, _):
        await asyncio.sleep(1)  # the rest after the slice of the hello
        anna.say(*[Watch("m") for _ in range(30)])
        count = arena.edge.metrics.messages
        while not count[Watch]:
            await asyncio.sleep(0)
        assert count[Watch] == SLICE_BYTES // len(masked(Watch("m"))) < 30
        await asyncio.sleep(1)
        assert count[Watch] == 30


@virtual
async def test_beyond_its_share_an_address_waits_in_the_queue_and_no_other_does() -> None:
    async with rig(HostLimits(moves_per_second=10)) as arena:
        many, client = await arena.enter("many", ELSEWHERE)
        anna, other = await arena.enter()
        for ply in range(50):
            arena.send(client, turn(ply))
            many.say(Move("m", ply, 1))
            await asyncio.sleep(0.0001)
        count = len(arena.core.all(MessageReceived))
        assert 8 <= count < 35
        arena.send(other, turn())
        anna.say(Move("m", 0, 1))
        await asyncio.sleep(0.0001)
        assert len(arena.core.all(MessageReceived)) == count + 1
        await asyncio.sleep(1)
        assert len(arena.core.all(MessageReceived)) == 51, "all of it comes"


@virtual
async def test_a_move_that_waits_in_the_queue_is_stamped_with_its_arrival() -> None:
    async with entered(HostLimits(moves_per_second=1)) as (arena, anna, client):
        anna.wire.arrive(20 * control(Opcode.PONG))
        await asyncio.sleep(0.001)
        other = await arena.connect(ELSEWHERE)
        other.say(Hello("bert"))
        await asyncio.sleep(0.001)
        arena.send(client, turn())
        anna.say(Move("m", 0, 1))
        await asyncio.sleep(1)
        said = arena.core.last(MessageReceived)
        assert said.elapsed_ns is not None
        assert said.elapsed_ns < 1 * MS


@virtual
async def test_a_connection_with_too_many_waiting_messages_is_read_once_more_and_then_paused() -> None:
    limits = HostLimits(messages_per_second=100_000, work_ms_per_second=10**6, moves_per_second=10**6)
    async with entered(limits) as (arena, anna, _):
        before, size = sum(anna.wire.reads), len(masked(Watch("m")))
        anna.say(*[Watch("m") for _ in range(2000)])
        await asyncio.sleep(0.1)
        assert sum(anna.wire.reads) - before <= (MAX_QUEUED_MESSAGES + 20) * size + 2 * READ_BYTES
        assert anna.wire.paused
        await asyncio.sleep(100)
        assert len(arena.core.all(MessageReceived)) == 2000


@virtual
async def test_a_flood_of_pings_is_reset_and_is_a_fault() -> None:
    async with entered(HostLimits(cut_offs=1)) as (arena, anna, client):
        anna.wire.arrive((CONTROL_BURST + 1) * control(Opcode.PING))
        await anna.wire.lost.wait()
        assert arena.core.all(ClientDisconnected) == [ClientDisconnected(client, "too many control frames")]
        assert not arena.edge.admission.admit(HERE)


@virtual
async def test_pings_within_the_limit_are_answered() -> None:
    async with entered() as (_, anna, _):
        for number in range(30):
            anna.wire.arrive(control(Opcode.PING, b"%d" % number))
            await asyncio.sleep(0.2)
        pongs = [bytes(each.data) for each in anna.frames if each.opcode is Opcode.PONG]
        assert pongs == [b"%d" % number for number in range(30)]


@virtual
async def test_a_message_in_too_many_fragments_is_reset() -> None:
    async with entered() as (arena, anna, client):
        anna.wire.arrive(fragment(first=True) + 2 * FRAGMENT_BURST * fragment())
        await anna.wire.lost.wait()
        assert arena.core.all(ClientDisconnected) == [ClientDisconnected(client, "too many fragments")]


messages = st.lists(
    st.builds(Watch, st.text("ab", min_size=1, max_size=40)) | st.builds(Ready, st.just("m")), max_size=12
)


@examples(20)
@given(messages, st.lists(st.integers(1, 600), max_size=8), st.booleans())
def test_however_a_stream_is_cut_its_messages_are_given_in_order(
    sent: list[Watch | Ready], cuts: list[int], in_fragments: bool
) -> None:
    @virtual
    async def talk() -> None:
        async with entered() as (arena, anna, _):
            stream = b""
            for each in sent:
                data = encode(each)
                whole = fragment(data[:3], first=True) + fragment() + fragment(data[3:], last=True)
                stream += whole if in_fragments else masked(each)
            for start, end in pairwise(
                [0, *sorted(each for each in cuts if each < len(stream)), len(stream)]
            ):
                anna.wire.arrive(stream[start:end])
                await asyncio.sleep(0.001)
            await asyncio.sleep(5)
            assert [said.message for said in arena.core.all(MessageReceived)] == sent

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
async def test_a_breach_of_the_websocket_protocol_is_closed_as_rfc_6455_says_and_is_a_fault(
    bad: bytes, code: int
) -> None:
    async with entered(HostLimits(cut_offs=1)) as (arena, anna, client):
        anna.say(Ping())
        anna.wire.arrive(bad)
        anna.say(Ping())
        await asyncio.sleep(0.1)
        anna.finish()
        assert (await anna.closed())[0] == code
        [gone] = arena.core.all(ClientDisconnected)
        assert gone.client == client
        assert gone.fault
        assert len(arena.core.all(MessageReceived)) <= 1
        assert not arena.edge.admission.admit(HERE)


# the end


@pytest.mark.parametrize("code", [1000, 1002])
@virtual
async def test_a_client_that_closes_is_answered_and_gone_at_once_without_fault_whatever_its_reason(
    code: int,
) -> None:
    async with entered(HostLimits(cut_offs=1)) as (arena, anna, client):
        assert anna.library is not None
        anna.library.send_close(code, "done")
        anna.wire.arrive(b"".join(anna.library.data_to_send()))
        await asyncio.sleep(0.01)
        assert arena.core.all(ClientDisconnected) == [ClientDisconnected(client)]
        anna.wire.arrive_eof()
        assert (await anna.closed())[0] == code
        assert arena.edge.admission.admit(HERE)
        assert len(arena.core.all(ClientDisconnected)) == 1


@virtual
async def test_a_peer_that_never_answers_the_close_is_reset_in_time() -> None:
    async with entered() as (_, anna, _):
        anna.reading = False
        anna.say(b"\xc1")
        await asyncio.sleep(CLOSE_SECONDS / 2)
        assert not anna.wire.lost.is_set()
        await asyncio.sleep(CLOSE_SECONDS)
        assert anna.wire.lost.is_set()


@virtual
async def test_after_the_close_frame_little_is_read() -> None:
    async with entered() as (arena, anna, _):
        anna.reading = False
        anna.say(b"\xc1", *[Ping() for _ in range(10_000)])
        await asyncio.sleep(CLOSE_SECONDS / 2)
        assert sum(anna.wire.reads) < 2 * MAX_AFTER_CLOSE_BYTES
        assert not arena.core.all(MessageReceived)


@pytest.mark.parametrize("eof", [True, False])
@virtual
async def test_half_of_a_connection_is_closed_where_that_is_possible(eof: bool) -> None:
    async with rig() as arena:
        peer = Peer(arena.edge, eof=eof)
        await peer.open()
        peer.say(b"\xc1")
        await peer.hear(Error)
        assert peer.library is not None
        peer.wire.arrive(b"".join(peer.library.data_to_send()))
        await asyncio.sleep(0.01)
        assert peer.wire.ended == eof
        assert peer.wire.closing == (not eof)


@virtual
async def test_a_peer_that_answers_no_pings_is_given_up() -> None:
    async with entered(HostLimits(cut_offs=1)) as (arena, anna, client):
        anna.reading = False
        await asyncio.sleep(PING_SECONDS + PONG_SECONDS + PING_SECONDS + 1)
        assert arena.core.all(ClientDisconnected) == [ClientDisconnected(client)]
        anna.wire.reset()
        assert arena.edge.admission.admit(HERE), "its line is broken, and it did no wrong"


# writing


@virtual
async def test_a_client_that_never_reads_is_cut_off_within_bounds_and_others_go_on() -> None:
    async with rig() as arena:
        deaf, client = await arena.enter("deaf")
        anna, other = await arena.enter()
        deaf.reading = False
        sent = 0
        while not arena.core.all(ClientDisconnected):
            arena.send(client, turn(1000, f"{sent}"))
            sent += 1
            assert sent < 10_000
        assert MAX_UNSENT_BYTES < len(deaf.wire.outbound) < MAX_UNSENT_BYTES + 4096
        arena.send(client, Pong())
        arena.send(other, Pong())
        await anna.hear(Pong)
        await asyncio.sleep(CLOSE_SECONDS + 1)
        assert deaf.wire.closing


@virtual
async def test_one_message_larger_than_the_bound_reaches_a_client_that_reads() -> None:
    async with entered() as (arena, anna, client):
        anna.reading = False
        arena.send(client, turn(3 * MAX_UNSENT_BYTES))
        anna.read()
        assert (await anna.hear(Turn)).ply == 3 * MAX_UNSENT_BYTES


# admission


@virtual
async def test_one_connection_too_many_from_an_address_is_refused_and_the_others_go_on() -> None:
    async with entered(HostLimits(connections=4, connections_per_address=1)) as (arena, anna, client):
        stranger = Peer(arena.edge, HERE)
        stranger.wire.arrive(b"GET / HTTP/1.1\r\n\r\n")
        await asyncio.sleep(0.5)
        assert stranger.wire.inbound, "it is not read"
        assert not stranger.wire.lost.is_set()
        await asyncio.sleep(1)
        assert stranger.wire.lost.is_set()
        arena.send(client, Pong())
        await anna.hear(Pong)
        await arena.connect(ELSEWHERE)


@virtual
async def test_behind_a_trusted_proxy_each_client_counts_by_itself() -> None:
    async with rig(HostLimits(connections=8, connections_per_address=1, cut_offs=1), proxies=[HERE]) as arena:
        first = await arena.connect(X_Forwarded_For="203.0.113.1")
        await arena.connect(X_Forwarded_For="203.0.113.1, 203.0.113.2")
        assert (await Peer(arena.edge).open(X_Forwarded_For="203.0.113.1")).status_code == 429
        await arena.connect(X_Forwarded_For="not an address")
        first.say(Hello("anna"))
        await first.hear(Welcome)
        assert arena.core.last(AdmissionRequest).address == "203.0.113.1"
        first.say(b"\xc1")
        await first.refused()
        assert (await Peer(arena.edge).open(X_Forwarded_For="203.0.113.1")).status_code == 429, "cut off"
        assert (await Peer(arena.edge).open(X_Forwarded_For="203.0.113.3")).status_code == 101


@virtual
async def test_a_forwarded_address_is_ignored_unless_it_comes_from_a_proxy() -> None:
    async with rig() as arena:
        peer = await arena.connect(X_Forwarded_For="203.0.113.1")
        peer.say(Hello("anna"))
        await peer.hear(Welcome)
        assert arena.core.last(AdmissionRequest).address == HERE


@virtual
async def test_a_place_is_free_again_when_its_connection_has_ended() -> None:
    async with rig(HostLimits(connections_per_address=1)) as arena:
        for _ in range(5):
            peer = await arena.connect()
            peer.wire.reset()
            await peer.wire.lost.wait()
        assert not arena.edge.admission.open_counts
        assert not arena.edge.connections


@virtual
async def test_disconnections_of_honest_bots_do_not_count_as_cut_off() -> None:
    async with rig(HostLimits(cut_offs=1)) as arena:
        for code in (Code.REPLACED, Code.NAME_TAKEN, Code.SHUTTING_DOWN):
            peer, client = await arena.enter()
            arena.core.deliver(CloseClient(client, code, code.meaning))
            await peer.refused()
        peer, _ = await arena.enter()
        peer.wire.reset()
        await peer.wire.lost.wait()
        await arena.enter()
