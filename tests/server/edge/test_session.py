"""A session: its hello, its limits, the turns that it answers, and what it is told when it does something else."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from arena.protocol.codec import encode
from arena.protocol.codes import Code, EndReason
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
from arena.server.core.inputs import EDGE_SHIFT, ClientDisconnected, EdgeResynced, MessageReceived, TurnSent
from arena.server.core.limits import HostLimits
from arena.server.edge.message_costs import MESSAGE_COSTS, OUT_OF_PLACE_COSTS
from arena.server.edge.session import ADMISSION_SECONDS
from arena.server.ports import AdmissionRequest
from tests.server.edge.rig import (
    CLOCKS,
    ELSEWHERE,
    HERE,
    SECRET,
    Peer,
    Rig,
    Wire,
    entered,
    masked,
    rig,
    turn,
    welcome,
)
from tests.virtual import virtual

MS = 1_000_000
START = Start("m", "tictactoe", {}, "maxie", Players("anna", "bert"), TimeControl.parse("1+0"), 0, 1000)


def accepted(ply: int = 0) -> Accepted:
    return Accepted("m", ply, 1.0, 1000)


async def settle() -> None:
    """Let all happen that happens soon."""
    await asyncio.sleep(0.05)


def messages(arena: Rig) -> Sequence[ClientMessage]:
    """Return the messages that the core was given."""
    return [said.message for said in arena.core.all(MessageReceived)]


# hello


@virtual
async def test_a_hello_knocks_and_the_welcome_comes_from_the_core() -> None:
    async with rig() as arena:
        anna = await arena.connect()
        anna.say(Hello("anna", "token", matches=3))
        welcome = await anna.hear(Welcome)
        assert (welcome.name, welcome.session) == ("anna", SECRET)
        [request] = arena.core.all(AdmissionRequest)
        assert (request.hello.name, request.hello.token, request.address) == ("anna", "token", HERE)
        assert request.client >> EDGE_SHIFT == arena.edge.number


@virtual
async def test_each_client_has_a_number_of_its_own_and_none_is_used_twice() -> None:
    async with rig() as arena:
        numbers = []
        for _ in range(3):
            peer, client = await arena.enter()
            peer.wire.reset()
            await settle()
            numbers.append(client)
        assert len(set(numbers)) == 3
        assert [gone.client for gone in arena.core.all(ClientDisconnected)] == numbers


@pytest.mark.parametrize("first", [Ready("x"), Ping(), b"\x81\xa4type\xa4noon"])
@virtual
async def test_the_first_message_must_be_hello(first: ClientMessage | bytes) -> None:
    async with rig() as arena:
        peer = await arena.connect()
        peer.say(first)
        error, code = await peer.refused()
        assert (error.code, error.fatal, code) == (Code.HELLO_FIRST, True, 1008)
        assert not arena.core.given, "the core hears nothing of who never said hello"


@virtual
async def test_a_hello_must_come_in_time() -> None:
    async with rig(HostLimits(hello_seconds=2.0)) as arena:
        peer = await arena.connect()
        error, code = await peer.refused()
        assert (error.code, error.detail, code) == (Code.HELLO_FIRST, "no hello arrived within 2 s", 1008)


@virtual
async def test_messages_after_a_hello_wait_for_the_welcome() -> None:
    async with rig() as arena:
        arena.core.welcomes = False
        peer = await arena.connect()
        peer.say(Hello("anna"), Ready("a"), Ready("b"))
        await asyncio.sleep(5)
        assert not arena.core.all(MessageReceived)
        client = arena.core.last(AdmissionRequest).client
        arena.core.deliver(SendToClient(client, welcome(Hello("anna"))))
        await asyncio.sleep(1)
        assert messages(arena) == [Ready("a"), Ready("b")]


@virtual
async def test_a_client_refused_by_the_core_gets_the_reason_and_leaves_once() -> None:
    async with rig() as arena:
        peer, client = await arena.knock(Hello("anna"))
        arena.core.deliver(CloseClient(client, Code.BAD_TOKEN, "this is not the token of 'anna'"))
        error, code = await peer.refused()
        assert (error.code, error.fatal, code) == (Code.BAD_TOKEN, True, 1008)
        await settle()
        assert arena.core.all(ClientDisconnected) == [ClientDisconnected(client)]


@virtual
async def test_a_core_that_answers_no_hello_for_long_sends_the_client_away() -> None:
    async with rig() as arena:
        peer, _ = await arena.knock(Hello("anna"))
        await asyncio.sleep(ADMISSION_SECONDS + 1)
        error, code = await peer.refused()
        assert (error.code, code) == (Code.SHUTTING_DOWN, 1001)
        assert len(arena.core.all(ClientDisconnected)) == 1


@virtual
async def test_a_client_that_goes_before_its_welcome_is_gone() -> None:
    async with rig() as arena:
        peer, client = await arena.knock(Hello("anna"))
        peer.wire.reset()
        await settle()
        assert len(arena.core.all(ClientDisconnected)) == 1
        arena.core.deliver(CloseClient(client, Code.BAD_TOKEN, ""))
        assert len(arena.core.all(ClientDisconnected)) == 1


# closing


@pytest.mark.parametrize(
    ("code", "close_code"),
    [(Code.REPLACED, 1008), (Code.SHUTTING_DOWN, 1001), (Code.EVENT_OVER, 1000), (Code.BAD_TOKEN, 1008)],
)
@virtual
async def test_the_core_closes_a_client(code: Code, close_code: int) -> None:
    async with entered() as (arena, anna, client):
        arena.core.deliver(CloseClient(client, code, code.meaning))
        error, found = await anna.refused()
        assert (error.code, error.detail, error.fatal, found) == (code, code.meaning, True, close_code)
        assert arena.core.all(ClientDisconnected) == [ClientDisconnected(client)]
        anna.say(Ping())
        arena.send(client, Pong())
        await settle()
        assert not arena.core.all(MessageReceived)


@virtual
async def test_a_close_gives_the_reason_however_long_it_is_in_bytes() -> None:
    async with entered() as (arena, anna, client):
        arena.core.deliver(CloseClient(client, Code.NAME_TAKEN, 100 * "𝕬"))
        await anna.hear(Error)
        anna.finish()
        code, reason = await anna.closed()
        assert code == 1008
        assert reason.startswith("name_taken: 𝕬")
        assert len(reason.encode()) <= 123


@pytest.mark.parametrize(
    ("frame", "code", "closed"),
    [
        (b"\xc1garbage", Code.BAD_MESSAGE, 1007),
        (encode(Ready("x"))[:-1], Code.BAD_MESSAGE, 1007),
        ("text", Code.BAD_MESSAGE, 1007),
        (b"\x80", Code.BAD_MESSAGE, 1007),
        (encode(Ready("x")) + b"\xc0", Code.BAD_MESSAGE, 1007),
    ],
)
@virtual
async def test_a_frame_that_is_no_message_ends_the_connection_and_is_a_fault(
    frame: bytes | str, code: Code, closed: int
) -> None:
    async with entered() as (arena, anna, client):
        anna.say(frame)
        error, close_code = await anna.refused()
        assert (error.code, close_code) == (code, closed)
        assert ("it begins 'text'" if frame == "text" else " bytes begin ") in error.detail
        assert arena.core.all(ClientDisconnected) == [ClientDisconnected(client, error.detail)]


@virtual
async def test_an_unknown_type_is_told_and_ignored() -> None:
    async with entered() as (arena, anna, _):
        anna.say(b"\x81\xa4type\xa5dance")
        error = await anna.hear(Error)
        assert (error.code, error.fatal) == (Code.UNKNOWN_TYPE, False)
        anna.say(Ping())
        await settle()
        assert messages(arena) == [Ping()]


# turns


@virtual
async def test_a_move_is_timed_from_the_writing_of_its_turn_to_its_arrival() -> None:
    async with entered() as (arena, anna, client):
        arena.core.deliver(SendToClient(client, turn(), clock_ran_ns=30 * MS))
        assert (await anna.hear(Turn)).ply == 0
        sent = arena.core.last(TurnSent)
        assert (sent.client, sent.match, sent.ply) == (client, "m", 0)
        await asyncio.sleep(0.5)
        anna.say(Move("m", 0, 4))
        await settle()
        said = arena.core.last(MessageReceived)
        assert (said.message, said.elapsed_ns, said.at - sent.at) == (Move("m", 0, 4), 530 * MS, 500 * MS)


@pytest.mark.parametrize("begun", [1, 5, 20])
@virtual
async def test_a_move_whose_frame_is_not_whole_has_not_come(begun: int) -> None:
    async with entered() as (arena, anna, client):
        arena.send(client, turn())
        frame = masked(Move("m", 0, 4))
        anna.wire.arrive(frame[:begun])
        await asyncio.sleep(2)
        assert not arena.core.all(MessageReceived)
        assert not arena.core.all(ClientDisconnected)
        assert [type(each) for each in anna.heard()] == [Turn]
        anna.wire.arrive(frame[begun:])
        await settle()
        said = arena.core.last(MessageReceived)
        assert (said.message, said.elapsed_ns) == (Move("m", 0, 4), 2000 * MS)


@virtual
async def test_nobody_pays_for_the_time_in_which_the_edge_stood_still() -> None:
    async with entered() as (arena, anna, client):
        arena.send(client, turn())
        await asyncio.sleep(0.2)
        asyncio.get_running_loop().advance(3.0)  # type: ignore[attr-defined]
        anna.say(Move("m", 0, 4))
        await settle()
        said = arena.core.last(MessageReceived)
        assert 150 * MS <= (said.elapsed_ns or 0) <= 250 * MS


@virtual
async def test_each_turn_of_each_match_is_timed_by_itself_and_only_its_first_answer() -> None:
    async with entered() as (arena, anna, client):
        arena.send(client, turn(0, "a"))
        await asyncio.sleep(0.1)
        arena.send(client, turn(6, "b"))
        await asyncio.sleep(0.1)
        anna.say(Move("b", 6, 1), Move("a", 0, 1), Move("a", 0, 1), Move("b", 5, 1), Move("c", 0, 1))
        await settle()
        moves = [each for each in arena.core.all(MessageReceived) if isinstance(each.message, Move)]
        spent = [(each.message.match, each.message.ply, each.elapsed_ns) for each in moves]  # type: ignore[union-attr]
        assert spent == [
            ("b", 6, 100 * MS),
            ("a", 0, 200 * MS),
            ("a", 0, None),
            ("b", 5, None),
            ("c", 0, None),
        ]


@virtual
async def test_a_new_core_is_given_the_answer_that_the_old_one_has_not_spoken_of() -> None:
    async with entered() as (arena, anna, client):
        arena.send(client, turn())
        await asyncio.sleep(0.25)
        anna.say(Move("m", 0, 4))
        await settle()
        anna.heard()
        arena.core.given.clear()
        arena.send(client, START, turn())
        await settle()
        assert [type(each) for each in anna.heard()] == [Start], "it has answered that turn"
        [said] = arena.core.given
        assert isinstance(said, MessageReceived)
        assert (said.message, said.elapsed_ns) == (Move("m", 0, 4), 250 * MS)
        arena.send(client, accepted(), turn(2))
        assert arena.core.last(TurnSent).ply == 2


@virtual
async def test_a_move_that_crosses_with_the_end_of_its_match_is_dropped_once() -> None:
    async with entered() as (arena, anna, client):
        arena.send(client, turn(), End("m", None, EndReason.PROTOCOL_ERROR, "", [], CLOCKS))
        anna.say(Move("m", 0, 4), Move("m", 0, 4))
        await settle()
        assert [said.elapsed_ns for said in arena.core.all(MessageReceived)] == [None], (
            "the second is told that it is over"
        )


@pytest.mark.parametrize("told", [accepted(), Error(Code.OUT_OF_TURN, "", "m", 0)])
@virtual
async def test_an_answer_is_kept_until_the_core_has_spoken_of_it(told: Accepted | Error) -> None:
    async with entered() as (arena, anna, client):
        arena.send(client, turn())
        anna.say(Move("m", 0, 4))
        await settle()
        arena.send(client, told)
        arena.core.given.clear()
        arena.send(client, turn())
        await settle()
        assert [type(each) for each in arena.core.given] == [TurnSent]
        assert [type(each) for each in anna.heard()][-1] is Turn


@virtual
async def test_a_turn_that_is_sent_again_without_an_answer_is_timed_anew() -> None:
    async with entered() as (arena, anna, client):
        arena.send(client, turn())
        await asyncio.sleep(0.25)
        arena.core.deliver(SendToClient(client, turn(), clock_ran_ns=100 * MS))
        await asyncio.sleep(0.25)
        anna.say(Move("m", 0, 4))
        await settle()
        assert arena.core.last(MessageReceived).elapsed_ns == 350 * MS


@virtual
async def test_the_time_from_arrival_to_announcement_is_measured() -> None:
    async with entered() as (arena, anna, client):
        arena.send(client, turn())
        anna.say(Move("m", 0, 4))
        await settle()
        arena.send(client, accepted(), accepted())
        page = arena.edge.metrics.render().decode()
        assert "arena_move_seconds_count 1.0" in page
        assert 'arena_messages_total{type="move"} 1.0' in page


# limits


@virtual
async def test_as_many_messages_at_once_as_are_allowed_are_each_given_in_order() -> None:
    async with entered(HostLimits(messages_per_second=25)) as (arena, anna, _):
        requests = [Watch(f"match {number}") for number in range(100)]
        anna.say(*requests)
        await asyncio.sleep(5)
        assert messages(arena) == requests


@virtual
async def test_more_than_is_allowed_is_a_fault_and_next_to_nothing_is_handled() -> None:
    limits = HostLimits(messages_per_second=5, cut_offs=1)
    async with entered(limits) as (arena, anna, client):
        anna.say(*[Ping() for _ in range(200)])
        error, code = await anna.refused()
        assert (error.code, error.detail, code) == (
            Code.RATE_LIMITED,
            "too many messages: at most 5 a second are allowed",
            1008,
        )
        assert len(messages(arena)) < 3
        assert arena.core.all(ClientDisconnected) == [ClientDisconnected(client, error.detail)]
        assert not arena.edge.admission.admit(HERE), "it counts as cut off"


@virtual
async def test_messages_of_a_player_about_its_matches_are_free_and_all_others_cost_what_the_table_says() -> (
    None
):
    async with entered() as (arena, anna, client):
        requests: list[float] = []

        def ask(address: str, cost: float, now: float) -> float:
            requests.append(cost)
            return 0.0

        arena.edge.work_budget.try_spend = ask  # type: ignore[method-assign]
        arena.send(client, START, turn())
        anna.say(Ready("m"), Move("m", 0, 1), Move("m", 0, 1), Resign("m"))
        await settle()
        assert not requests
        assert len(messages(arena)) == 4
        arena.send(client, End("m", "maxie", EndReason.RESIGNATION, "", [], CLOCKS))
        anna.say(Ready("m"), Move("m", 0, 1), Resign("m"), Hello("anna"), Browse(), Watch("x"))
        await asyncio.sleep(1)
        places = OUT_OF_PLACE_COSTS
        assert requests == [
            *(places[each] for each in (Ready, Move, Resign, Hello)),
            *(MESSAGE_COSTS[each] for each in (Browse, Watch)),
        ]


@virtual
async def test_an_address_without_work_left_is_refused_and_goes_on() -> None:
    async with entered(HostLimits(work_ms_per_second=1)) as (arena, anna, _):
        anna.say(*[Watch("m") for _ in range(11)])
        error = await anna.hear(Error)
        assert (error.code, error.match, error.fatal) == (Code.RATE_LIMITED, "m", False)
        assert "try again in" in error.detail
        await asyncio.sleep(0.5)
        assert len(messages(arena)) == 10
        bert, _ = await arena.enter("bert", ELSEWHERE)
        bert.say(Watch("m"))
        await settle()
        assert len(messages(arena)) == 11, "it takes nothing from others"


@virtual
async def test_the_servers_own_bots_pay_for_nothing() -> None:
    async with rig(HostLimits(work_ms_per_second=1), unlimited_names={"house"}) as arena:
        house, _ = await arena.enter("house")
        house.say(*[Watch("m") for _ in range(50)])
        await asyncio.sleep(0.1)
        assert len(messages(arena)) == 50
        eve, _ = await arena.enter("house", role="spectator")
        eve.say(*[Watch("m") for _ in range(50)])
        assert (await eve.hear(Error)).code is Code.RATE_LIMITED


@virtual
async def test_a_move_waits_for_no_request_of_others_or_of_its_player() -> None:
    async with entered() as (arena, anna, client):
        arena.send(client, turn())
        anna.say(*[Watch("m") for _ in range(20)], Move("m", 0, 4))
        await asyncio.sleep(0.0001)
        assert messages(arena)[-1] == Move("m", 0, 4)
        assert len(messages(arena)) < 3
        await asyncio.sleep(1)
        assert messages(arena)[-1] == Watch("m")


@virtual
async def test_a_last_move_counts_though_the_connection_ends_right_behind_it() -> None:
    for end in (Peer.finish, lambda peer: peer.wire.reset(), lambda peer: peer.wire.arrive_eof()):
        async with entered() as (arena, anna, client):
            arena.send(client, turn())
            anna.say(Watch("x"), Move("m", 0, 4))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            end(anna)
            await settle()
            assert Move("m", 0, 4) in messages(arena)


@pytest.mark.parametrize("end", [Wire.reset, Wire.arrive_eof])
@virtual
async def test_unparsed_messages_of_a_client_that_has_closed_are_dropped_unless_it_is_to_move(
    end: Callable[[Wire], None],
) -> None:
    limits = HostLimits(messages_per_second=10_000, moves_per_second=1, work_ms_per_second=10**6)
    async with rig(limits) as arena:
        [eve, _], [anna, player], [bert, opponent] = [
            await arena.enter(name) for name in ("eve", "anna", "bert")
        ]
        arena.send(opponent, START)
        arena.send(player, turn(1))
        for each in (eve, anna, bert):
            each.say(*[Watch("x") for _ in range(500)], *[Ready("m") for _ in range(500)], Move("m", 1, 4))
            end(each.wire)
        await asyncio.sleep(3)
        assert not arena.edge.connections
        assert len(arena.core.all(ClientDisconnected)) == 3
        assert Move("m", 1, 4) in messages(arena)
        assert len(messages(arena)) < 100
        assert sum(arena.edge.metrics.messages.values()) < 1200, "only the player's messages were parsed"


def test_the_wire_is_traced_without_secrets(caplog: pytest.LogCaptureFixture) -> None:
    @virtual
    async def talk() -> None:
        async with rig() as arena:
            anna = await arena.connect()
            anna.say(Hello("anna", "hush, a token"))
            await anna.hear(Welcome)
            anna.say(Ping())
            await settle()

    with caplog.at_level(logging.DEBUG, "arena.wire"):
        talk()
    lines = [record.getMessage() for record in caplog.records if record.name == "arena.wire"]
    assert [line[:12] for line in lines[:3]] == ["> ? Hello(na", "< anna Welco", "> anna Ping("]
    assert SECRET not in caplog.text
    assert "hush" not in caplog.text


@virtual
async def test_a_new_core_is_told_how_many_matches_a_bot_takes_yet() -> None:
    async with rig() as arena:
        hello = Hello("anna", matches=2, quota=3)
        _, client = await arena.knock(hello)
        # A match that comes with the welcome is one that the bot counts already.
        arena.send(client, welcome(hello), replace(START, match="m0"))
        await settle()
        arena.send(client, replace(START, match="m1"), replace(START, match="m1"))
        arena.edge.resync()
        assert [each.hello.quota for each in arena.core.last(EdgeResynced).clients] == [2]
        arena.send(client, Standing("finishing", "takes no more matches", 0))
        arena.edge.resync()
        assert [each.hello.quota for each in arena.core.last(EdgeResynced).clients] == [0]
        arena.send(client, Standing("waiting", "in the pool", None))
        arena.edge.resync()
        assert [each.hello.quota for each in arena.core.last(EdgeResynced).clients] == [UNSET]


@virtual
async def test_each_start_deserves_a_ready_however_often_a_match_is_told_again() -> None:
    async with entered(HostLimits(messages_per_second=1)) as (arena, anna, client):
        for _ in range(20):
            arena.send(client, START, turn(0))
        await settle()
        anna.say(*[Ready("m")] * 20)
        await settle()
        assert messages(arena) == [Ready("m")] * 20
        anna.say(*[Ready("m")] * 6)
        error, _ = await anna.refused()
        assert error.code is Code.RATE_LIMITED
