"""Sessions: the hello, the limits on messages, and the timing of answers to turns."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from arena.protocol.codec import encode_message
from arena.protocol.codes import EndReason, ErrorCode
from arena.protocol.messages import (
    Accepted,
    Browse,
    ClientMessage,
    End,
    Error,
    Hello,
    Move,
    Ping,
    Pong,
    Ready,
    Resign,
    Standing,
    Start,
    Turn,
    Watch,
    Welcome,
)
from arena.protocol.timecontrol import TimeControl
from arena.protocol.values import Players
from arena.server.core.effects import CloseClient, SendToClient
from arena.server.core.inputs import (
    EDGE_NUMBER_SHIFT_BITS,
    ClientDisconnected,
    EdgeResynced,
    MessageReceived,
    TurnSent,
)
from arena.server.core.limits import ServerLimits
from arena.server.edge.message_costs import MESSAGE_COSTS_US
from arena.server.edge.session import ADMISSION_TIMEOUT_SECONDS
from arena.server.ports import AdmissionRequest
from tests.server.edge.rig import (
    ADDRESS,
    CLOCKS,
    OTHER_ADDRESS,
    SECRET,
    MemoryTransport,
    Peer,
    Rig,
    encode_client_frame,
    make_turn,
    make_welcome,
    open_rig,
    open_rig_with_client,
)
from tests.virtual import virtual

MS = 1_000_000
START = Start("m", "tictactoe", {}, "maxie", Players("anna", "bert"), TimeControl.parse("1+0"), 0, 1000)


def accepted(ply: int = 0) -> Accepted:
    return Accepted("m", ply, 1.0, 1000)


async def settle() -> None:
    """Wait for a short virtual time, until all work in progress is done."""
    await asyncio.sleep(0.05)


def messages(arena: Rig) -> Sequence[ClientMessage]:
    """Return the clients' messages that the core has received."""
    return [received.message for received in arena.core.list_received(MessageReceived)]


# hello


@virtual
async def test_a_hello_requests_admission_from_the_core() -> None:
    async with open_rig() as arena:
        anna = await arena.connect()
        anna.send(Hello("anna", "token", matches=3))
        welcome = await anna.receive(Welcome)
        assert (welcome.name, welcome.session) == ("anna", SECRET)
        [request] = arena.core.list_received(AdmissionRequest)
        assert (request.hello.name, request.hello.token, request.address) == ("anna", "token", ADDRESS)
        assert request.client_number >> EDGE_NUMBER_SHIFT_BITS == arena.edge.number


@virtual
async def test_client_numbers_are_never_reused() -> None:
    async with open_rig() as arena:
        numbers = []
        for _ in range(3):
            peer, client = await arena.admit_client()
            peer.transport.reset()
            await settle()
            numbers.append(client)
        assert len(set(numbers)) == 3
        assert [gone.client_number for gone in arena.core.list_received(ClientDisconnected)] == numbers


@pytest.mark.parametrize("first", [Ready("x"), Ping(), b"\x81\xa4type\xa4noon"])
@virtual
async def test_the_first_message_must_be_hello(first: ClientMessage | bytes) -> None:
    async with open_rig() as arena:
        peer = await arena.connect()
        peer.send(first)
        error, code = await peer.wait_refused()
        assert (error.code, error.fatal, code) == (ErrorCode.HELLO_FIRST, True, 1008)
        assert not arena.core.received, "the core gets no message about a client without a hello"


@virtual
async def test_a_hello_must_arrive_in_time() -> None:
    async with open_rig(ServerLimits(hello_seconds=2.0)) as arena:
        peer = await arena.connect()
        error, code = await peer.wait_refused()
        assert (error.code, error.detail, code) == (
            ErrorCode.HELLO_FIRST,
            "no hello arrived within 2 s",
            1008,
        )


@virtual
async def test_messages_after_the_hello_wait_for_the_welcome() -> None:
    async with open_rig() as arena:
        arena.core.welcomes = False
        peer = await arena.connect()
        peer.send(Hello("anna"), Ready("a"), Ready("b"))
        await asyncio.sleep(5)
        assert not arena.core.list_received(MessageReceived)
        client = arena.core.get_last(AdmissionRequest).client_number
        arena.core.deliver(SendToClient(client, make_welcome(Hello("anna"))))
        await asyncio.sleep(1)
        assert messages(arena) == [Ready("a"), Ready("b")]


@virtual
async def test_a_client_refused_by_the_core_gets_the_reason() -> None:
    async with open_rig() as arena:
        peer, client = await arena.request_admission(Hello("anna"))
        arena.core.deliver(CloseClient(client, ErrorCode.BAD_TOKEN, "this is not the token of 'anna'"))
        error, code = await peer.wait_refused()
        assert (error.code, error.fatal, code) == (ErrorCode.BAD_TOKEN, True, 1008)
        await settle()
        assert arena.core.list_received(ClientDisconnected) == [ClientDisconnected(client)]


@virtual
async def test_a_client_is_disconnected_if_the_core_does_not_answer_its_hello() -> None:
    async with open_rig() as arena:
        peer, _ = await arena.request_admission(Hello("anna"))
        await asyncio.sleep(ADMISSION_TIMEOUT_SECONDS + 1)
        error, code = await peer.wait_refused()
        assert (error.code, code) == (ErrorCode.SHUTTING_DOWN, 1001)
        assert len(arena.core.list_received(ClientDisconnected)) == 1


@virtual
async def test_a_client_that_disconnects_before_its_welcome_is_reported_once() -> None:
    async with open_rig() as arena:
        peer, client = await arena.request_admission(Hello("anna"))
        peer.transport.reset()
        await settle()
        assert len(arena.core.list_received(ClientDisconnected)) == 1
        arena.core.deliver(CloseClient(client, ErrorCode.BAD_TOKEN, ""))
        assert len(arena.core.list_received(ClientDisconnected)) == 1


# closing


@pytest.mark.parametrize(
    ("code", "close_code"),
    [
        (ErrorCode.REPLACED, 1008),
        (ErrorCode.SHUTTING_DOWN, 1001),
        (ErrorCode.EVENT_OVER, 1000),
        (ErrorCode.BAD_TOKEN, 1008),
    ],
)
@virtual
async def test_the_core_can_close_a_client(code: ErrorCode, close_code: int) -> None:
    async with open_rig_with_client() as (arena, anna, client):
        arena.core.deliver(CloseClient(client, code, code.meaning))
        error, found = await anna.wait_refused()
        assert (error.code, error.detail, error.fatal, found) == (code, code.meaning, True, close_code)
        assert arena.core.list_received(ClientDisconnected) == [ClientDisconnected(client)]
        anna.send(Ping())
        arena.send(client, Pong())
        await settle()
        assert not arena.core.list_received(MessageReceived)


@virtual
async def test_a_long_reason_is_cut_to_fit_the_close_frame() -> None:
    async with open_rig_with_client() as (arena, anna, client):
        arena.core.deliver(CloseClient(client, ErrorCode.NAME_TAKEN, 100 * "𝕬"))
        await anna.receive(Error)
        anna.answer_close()
        code, reason = await anna.wait_closed()
        assert code == 1008
        assert reason.startswith("name_taken: 𝕬")
        assert len(reason.encode()) <= 123


@pytest.mark.parametrize(
    ("frame", "code", "closed"),
    [
        (b"\xc1garbage", ErrorCode.BAD_MESSAGE, 1007),
        (encode_message(Ready("x"))[:-1], ErrorCode.BAD_MESSAGE, 1007),
        ("text", ErrorCode.BAD_MESSAGE, 1007),
        (b"\x80", ErrorCode.BAD_MESSAGE, 1007),
        (encode_message(Ready("x")) + b"\xc0", ErrorCode.BAD_MESSAGE, 1007),
    ],
)
@virtual
async def test_an_invalid_frame_ends_the_connection_as_a_fault(
    frame: bytes | str, code: ErrorCode, closed: int
) -> None:
    async with open_rig_with_client() as (arena, anna, client):
        anna.send(frame)
        error, close_code = await anna.wait_refused()
        assert (error.code, close_code) == (code, closed)
        assert ("it begins 'text'" if frame == "text" else " bytes begin ") in error.detail
        assert arena.core.list_received(ClientDisconnected) == [ClientDisconnected(client, error.detail)]


@virtual
async def test_a_message_of_unknown_type_is_answered_with_an_error() -> None:
    async with open_rig_with_client() as (arena, anna, _):
        anna.send(b"\x81\xa4type\xa5dance")
        error = await anna.receive(Error)
        assert (error.code, error.fatal) == (ErrorCode.UNKNOWN_TYPE, False)
        anna.send(Ping())
        await settle()
        assert messages(arena) == [Ping()]


# turns


@virtual
async def test_the_time_of_a_move_is_measured_from_writing_the_turn_to_its_arrival() -> None:
    async with open_rig_with_client() as (arena, anna, client):
        arena.core.deliver(SendToClient(client, make_turn(), clock_ran_ns=30 * MS))
        assert (await anna.receive(Turn)).ply == 0
        sent = arena.core.get_last(TurnSent)
        assert (sent.client_number, sent.match_id, sent.ply) == (client, "m", 0)
        await asyncio.sleep(0.5)
        anna.send(Move("m", 0, 4))
        await settle()
        received = arena.core.get_last(MessageReceived)
        assert (received.message, received.elapsed_ns, received.arrived_ns - sent.sent_ns) == (
            Move("m", 0, 4),
            530 * MS,
            500 * MS,
        )


@pytest.mark.parametrize("begun", [1, 5, 20])
@virtual
async def test_a_move_arrives_with_the_last_byte_of_its_frame(begun: int) -> None:
    async with open_rig_with_client() as (arena, anna, client):
        arena.send(client, make_turn())
        frame = encode_client_frame(Move("m", 0, 4))
        anna.transport.feed_data(frame[:begun])
        await asyncio.sleep(2)
        assert not arena.core.list_received(MessageReceived)
        assert not arena.core.list_received(ClientDisconnected)
        assert [type(each) for each in anna.take_messages()] == [Turn]
        anna.transport.feed_data(frame[begun:])
        await settle()
        received = arena.core.get_last(MessageReceived)
        assert (received.message, received.elapsed_ns) == (Move("m", 0, 4), 2000 * MS)


@virtual
async def test_a_stall_of_the_edge_is_not_charged_to_the_player() -> None:
    async with open_rig_with_client() as (arena, anna, client):
        arena.send(client, make_turn())
        await asyncio.sleep(0.2)
        asyncio.get_running_loop().advance(3.0)  # type: ignore[attr-defined]
        anna.send(Move("m", 0, 4))
        await settle()
        received = arena.core.get_last(MessageReceived)
        assert 150 * MS <= (received.elapsed_ns or 0) <= 250 * MS


@virtual
async def test_only_the_first_answer_to_each_turn_is_timed() -> None:
    async with open_rig_with_client() as (arena, anna, client):
        arena.send(client, make_turn(0, "a"))
        await asyncio.sleep(0.1)
        arena.send(client, make_turn(6, "b"))
        await asyncio.sleep(0.1)
        anna.send(Move("b", 6, 1), Move("a", 0, 1), Move("a", 0, 1), Move("b", 5, 1), Move("c", 0, 1))
        await settle()
        moves = [each for each in arena.core.list_received(MessageReceived) if isinstance(each.message, Move)]
        spent = [(each.message.match, each.message.ply, each.elapsed_ns) for each in moves]  # type: ignore[union-attr]
        assert spent == [
            ("b", 6, 100 * MS),
            ("a", 0, 200 * MS),
            ("a", 0, None),
            ("b", 5, None),
            ("c", 0, None),
        ]


@virtual
async def test_an_unconfirmed_answer_is_sent_again_to_a_new_core() -> None:
    async with open_rig_with_client() as (arena, anna, client):
        arena.send(client, make_turn())
        await asyncio.sleep(0.25)
        anna.send(Move("m", 0, 4))
        await settle()
        anna.take_messages()
        arena.core.received.clear()
        arena.send(client, START, make_turn())
        await settle()
        assert [type(each) for each in anna.take_messages()] == [Start], "an answered turn is not sent again"
        [received] = arena.core.received
        assert isinstance(received, MessageReceived)
        assert (received.message, received.elapsed_ns) == (Move("m", 0, 4), 250 * MS)
        arena.send(client, accepted(), make_turn(2))
        assert arena.core.get_last(TurnSent).ply == 2


@virtual
async def test_a_move_in_transit_at_the_end_of_its_match_is_dropped() -> None:
    async with open_rig_with_client() as (arena, anna, client):
        arena.send(client, make_turn(), End("m", None, EndReason.PROTOCOL_ERROR, "", [], CLOCKS))
        anna.send(Move("m", 0, 4), Move("m", 0, 4))
        await settle()
        assert [received.elapsed_ns for received in arena.core.list_received(MessageReceived)] == [None], (
            "only the second move reaches the core, which answers that the match is over"
        )


@pytest.mark.parametrize("reply", [accepted(), Error(ErrorCode.OUT_OF_TURN, "", "m", 0)])
@virtual
async def test_an_answer_is_kept_until_the_core_accepts_or_rejects_it(reply: Accepted | Error) -> None:
    async with open_rig_with_client() as (arena, anna, client):
        arena.send(client, make_turn())
        anna.send(Move("m", 0, 4))
        await settle()
        arena.send(client, reply)
        arena.core.received.clear()
        arena.send(client, make_turn())
        await settle()
        assert [type(each) for each in arena.core.received] == [TurnSent]
        assert [type(each) for each in anna.take_messages()][-1] is Turn


@virtual
async def test_the_time_of_a_repeated_turn_is_measured_anew() -> None:
    async with open_rig_with_client() as (arena, anna, client):
        arena.send(client, make_turn())
        await asyncio.sleep(0.25)
        arena.core.deliver(SendToClient(client, make_turn(), clock_ran_ns=100 * MS))
        await asyncio.sleep(0.25)
        anna.send(Move("m", 0, 4))
        await settle()
        assert arena.core.get_last(MessageReceived).elapsed_ns == 350 * MS


@virtual
async def test_the_metrics_have_the_time_from_arrival_to_acceptance() -> None:
    async with open_rig_with_client() as (arena, anna, client):
        arena.send(client, make_turn())
        anna.send(Move("m", 0, 4))
        await settle()
        arena.send(client, accepted(), accepted())
        page = arena.edge.metrics.render_prometheus_text().decode()
        assert "arena_move_seconds_count 1.0" in page
        assert 'arena_messages_total{type="move"} 1.0' in page


# limits


@virtual
async def test_an_allowed_burst_of_messages_is_handled_in_order() -> None:
    async with open_rig_with_client(ServerLimits(messages_per_second=25)) as (arena, anna, _):
        requests = [Watch(f"match {number}") for number in range(100)]
        anna.send(*requests)
        await asyncio.sleep(5)
        assert messages(arena) == requests


@virtual
async def test_too_many_messages_are_a_fault_and_hardly_any_is_handled() -> None:
    limits = ServerLimits(messages_per_second=5, cut_offs=1)
    async with open_rig_with_client(limits) as (arena, anna, client):
        anna.send(*[Ping() for _ in range(200)])
        error, code = await anna.wait_refused()
        assert (error.code, error.detail, code) == (
            ErrorCode.RATE_LIMITED,
            "too many messages: at most 5 a second are allowed",
            1008,
        )
        assert len(messages(arena)) < 3
        assert arena.core.list_received(ClientDisconnected) == [ClientDisconnected(client, error.detail)]
        assert not arena.edge.admission.try_admit_connection(ADDRESS), "the connection counts as misbehaving"


@virtual
async def test_messages_about_own_matches_are_free_and_all_others_have_their_cost() -> None:
    async with open_rig_with_client() as (arena, anna, client):
        requests: list[float] = []

        def ask(address: str, cost_us: float, now_seconds: float) -> float:
            requests.append(cost_us)
            return 0.0

        arena.edge.work_budget.charge_or_compute_wait_seconds = ask  # type: ignore[method-assign]
        arena.send(client, START, make_turn())
        anna.send(Ready("m"), Move("m", 0, 1), Move("m", 0, 1), Resign("m"))
        await settle()
        assert not requests
        assert len(messages(arena)) == 4
        arena.send(client, End("m", "maxie", EndReason.RESIGNATION, "", [], CLOCKS))
        anna.send(Ready("m"), Move("m", 0, 1), Resign("m"), Hello("anna"), Browse(), Watch("x"))
        await asyncio.sleep(1)
        assert requests == [MESSAGE_COSTS_US[each] for each in (Ready, Move, Resign, Hello, Browse, Watch)]


@virtual
async def test_messages_beyond_the_work_budget_are_refused_without_disconnection() -> None:
    async with open_rig_with_client(ServerLimits(work_ms_per_second=1)) as (arena, anna, _):
        anna.send(*[Watch("m") for _ in range(11)])
        error = await anna.receive(Error)
        assert (error.code, error.match, error.fatal) == (ErrorCode.RATE_LIMITED, "m", False)
        assert "try again in" in error.detail
        await asyncio.sleep(0.5)
        assert len(messages(arena)) == 10
        bert, _ = await arena.admit_client("bert", OTHER_ADDRESS)
        bert.send(Watch("m"))
        await settle()
        assert len(messages(arena)) == 11, "other addresses keep their budgets"


@virtual
async def test_the_servers_own_bots_have_no_limits() -> None:
    async with open_rig(ServerLimits(work_ms_per_second=1), rate_exempt_names={"house"}) as arena:
        house, _ = await arena.admit_client("house")
        house.send(*[Watch("m") for _ in range(50)])
        await asyncio.sleep(0.1)
        assert len(messages(arena)) == 50
        eve, _ = await arena.admit_client("house", role="spectator")
        eve.send(*[Watch("m") for _ in range(50)])
        assert (await eve.receive(Error)).code is ErrorCode.RATE_LIMITED


@virtual
async def test_a_move_does_not_wait_for_requests_of_its_player() -> None:
    async with open_rig_with_client() as (arena, anna, client):
        arena.send(client, make_turn())
        anna.send(*[Watch("m") for _ in range(20)], Move("m", 0, 4))
        await asyncio.sleep(0.0001)
        assert messages(arena)[-1] == Move("m", 0, 4)
        assert len(messages(arena)) < 3
        await asyncio.sleep(1)
        assert messages(arena)[-1] == Watch("m")


@virtual
async def test_a_move_counts_if_the_connection_ends_right_after_it() -> None:
    for end in (
        Peer.answer_close,
        lambda peer: peer.transport.reset(),
        lambda peer: peer.transport.feed_eof(),
    ):
        async with open_rig_with_client() as (arena, anna, client):
            arena.send(client, make_turn())
            anna.send(Watch("x"), Move("m", 0, 4))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            end(anna)
            await settle()
            assert Move("m", 0, 4) in messages(arena)


@pytest.mark.parametrize("end", [MemoryTransport.reset, MemoryTransport.feed_eof])
@virtual
async def test_unparsed_messages_of_a_disconnected_client_are_dropped_unless_a_move_is_due(
    end: Callable[[MemoryTransport], None],
) -> None:
    limits = ServerLimits(messages_per_second=10_000, moves_per_second=1, work_ms_per_second=10**6)
    async with open_rig(limits) as arena:
        [eve, _], [anna, player], [bert, opponent] = [
            await arena.admit_client(name) for name in ("eve", "anna", "bert")
        ]
        arena.send(opponent, START)
        arena.send(player, make_turn(1))
        for each in (eve, anna, bert):
            each.send(*[Watch("x") for _ in range(500)], *[Ready("m") for _ in range(500)], Move("m", 1, 4))
            end(each.transport)
        await asyncio.sleep(3)
        assert not arena.edge.connections
        assert len(arena.core.list_received(ClientDisconnected)) == 3
        assert Move("m", 1, 4) in messages(arena)
        assert len(messages(arena)) < 100
        assert sum(arena.edge.metrics.message_counts.values()) < 1200, (
            "only the player's messages were parsed"
        )


def test_the_message_log_contains_no_secrets(caplog: pytest.LogCaptureFixture) -> None:
    @virtual
    async def talk() -> None:
        async with open_rig() as arena:
            anna = await arena.connect()
            anna.send(Hello("anna", "hush, a token"))
            await anna.receive(Welcome)
            anna.send(Ping())
            await settle()

    with caplog.at_level(logging.DEBUG, "arena.wire"):
        talk()
    lines = [record.getMessage() for record in caplog.records if record.name == "arena.wire"]
    assert [line[:12] for line in lines[:3]] == ["> ? Hello(na", "< anna Welco", "> anna Ping("]
    assert SECRET not in caplog.text
    assert "hush" not in caplog.text


@virtual
async def test_a_resync_reports_the_remaining_quota_of_a_bot() -> None:
    async with open_rig() as arena:
        hello = Hello("anna", matches=2, quota=3)
        _, client = await arena.request_admission(hello)
        # The bot's quota already counts a match whose start comes with the welcome.
        arena.send(client, make_welcome(hello), replace(START, match="m0"))
        await settle()
        arena.send(client, replace(START, match="m1"), replace(START, match="m1"))
        arena.edge.resync_with_core()
        assert [each.hello.quota for each in arena.core.get_last(EdgeResynced).clients] == [2]
        arena.send(client, Standing("finishing", "takes no more matches", 0))
        arena.edge.resync_with_core()
        assert [each.hello.quota for each in arena.core.get_last(EdgeResynced).clients] == [0]
        arena.send(client, Standing("waiting", "in the pool", None))
        arena.edge.resync_with_core()
        assert [each.hello.quota for each in arena.core.get_last(EdgeResynced).clients] == [UNSET]


@virtual
async def test_a_ready_for_each_repeated_start_is_free() -> None:
    async with open_rig_with_client(ServerLimits(messages_per_second=1)) as (arena, anna, client):
        for _ in range(20):
            arena.send(client, START, make_turn(0))
        await settle()
        anna.send(*[Ready("m")] * 20)
        await settle()
        assert messages(arena) == [Ready("m")] * 20
        anna.send(*[Ready("m")] * 6)
        error, _ = await anna.wait_refused()
        assert error.code is ErrorCode.RATE_LIMITED
