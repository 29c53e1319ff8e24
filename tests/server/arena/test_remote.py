"""server.arena.remote: what a player of a match elsewhere says is lost by nobody's end, and its time is measured where it is."""

from __future__ import annotations

import asyncio
from time import monotonic_ns

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from arena.games.core import Player
from arena.match.events import BrokeProtocol, GotReady, Left, Moved, Opened, Resigned, Tell
from arena.match.referee import Referee
from arena.protocol.codes import Code
from arena.protocol.messages import Accepted, Error, Start, Turn
from arena.protocol.values import Clocks
from arena.server.arena.links import Link
from arena.server.arena.messages import ArenaMessage, Did, Overdue, Told, Waited
from arena.server.arena.remote import RemoteConnection, RemoteSeat
from arena.server.rooms.deadline_timer import ARRIVAL_TURNS
from arena.server.rooms.member import Member
from tests.server.arena.ends import Bot, End, alone, linked, told
from tests.server.matches import spec

MAXIE = Player.MAXIE
SECOND = 1_000_000_000


def turn(ply: int = 0) -> Turn:
    return Turn("m", ply, [0] * ply, Clocks(1, 1), 0)


def seat_of(end: End) -> tuple[RemoteSeat, Member, Bot]:
    bot = Bot(lag=7)
    member = Member("anna", connection=bot)
    member.enter(3, 1)
    return RemoteSeat(end.links, member, MAXIE, "m"), member, bot


async def turns_of_the_loop() -> None:
    """Let whatever waits for the next turns of the event loop happen."""
    for _ in range(2 * ARRIVAL_TURNS + 4):
        await asyncio.sleep(0)


# the connection


async def test_what_is_told_by_a_connection_to_another_server_names_the_connection_and_how_long_a_clock_has_run() -> (
    None
):
    end = alone()
    link = end.to("south")
    connection = RemoteConnection(end.links, link, "anna", 3)
    connection.tell(turn())
    connection.ask(turn(), 5)
    connection.dismiss(Code.REPLACED)
    assert told(link) == [Told("anna", 3, turn(), 0), Told("anna", 3, turn(), 5)]
    assert (connection.server, connection.lag) == ("south", 0)
    connection.heard(9)
    assert connection.lag == 9


async def test_whether_a_player_has_waited_is_asked_until_its_server_says_so_and_anew_with_the_next_turn() -> (
    None
):
    end = alone()
    link = end.to("south")
    connection = RemoteConnection(end.links, link, "anna", 3)
    asked = Overdue("m", MAXIE, 3, 4, SECOND)
    assert not connection.has_waited("m", MAXIE, 4, SECOND)
    assert not connection.has_waited("m", MAXIE, 4, SECOND)
    assert told(link) == [asked, asked]
    connection.waited("m", 4)
    assert connection.has_waited("m", MAXIE, 4, SECOND)
    assert not connection.has_waited("m", MAXIE, 6, SECOND)
    assert not connection.has_waited("n", MAXIE, 4, SECOND)
    connection.tell(turn(4))
    assert not connection.has_waited("m", MAXIE, 4, SECOND)


async def test_a_player_is_reached_while_its_server_is_heard_and_not_after_that_has_ended_or_begun_anew() -> (
    None
):
    async with linked("north", "south") as (north, _):
        (link,) = north.links.all
        connection = RemoteConnection(north.links, link, "anna", 3)
        before = connection.reachable
        north.links.follow({"south": 2})
        (later,) = north.links.all
        of_later = RemoteConnection(north.links, later, "anna", 3)  # of which nothing was heard
        assert (before, connection.reachable, of_later.reachable) == (True, False, False)


# the place in the match

STEPS = st.one_of(
    st.tuples(st.just("ready"), st.just(0)),
    st.tuples(st.just("moves"), st.integers(0, 3)),
    st.tuples(st.just("resigns"), st.just(0)),
    st.tuples(st.just("breaks"), st.just(0)),
    st.tuples(st.just("turn"), st.integers(0, 3)),
    st.tuples(st.just("accepted"), st.integers(0, 3)),
    st.tuples(st.just("refused"), st.integers(0, 3)),
    st.tuples(st.just("owner"), st.integers(0, 2)),
)


class Model:
    """What is not answered, told in another way: by all that was said and heard, from the beginning."""

    def __init__(self) -> None:
        self.ready: GotReady | None = None
        self.last: Resigned | BrokeProtocol | None = None
        self.asked: int | None = None
        self.move: Moved | None = None

    @property
    def unanswered(self) -> list[object]:
        return [each for each in (self.ready, self.move, self.last) if each is not None]


@given(st.lists(STEPS, max_size=20))
def test_whoever_has_the_match_next_is_told_all_that_was_not_answered(  # noqa: C901  one branch for each step
    steps: list[tuple[str, int]],
) -> None:
    async def run() -> None:  # noqa: C901
        end = alone()
        owners: list[Link | None] = [None, end.to("south"), end.to("west")]
        seat, _, bot = seat_of(end)
        model, owner, heard = Model(), owners[0], 0
        for what, number in steps:
            expected: list[ArenaMessage] = []
            said: GotReady | Moved | Resigned | BrokeProtocol | None = None
            match what:
                case "ready":
                    said = model.ready = GotReady(MAXIE)
                case "moves":
                    said = Moved(MAXIE, number, number)
                    asked = model.asked in (None, number)
                    if asked and (model.move is None or model.move.ply != number):
                        model.move = said
                case "resigns":
                    said = model.last = Resigned(MAXIE)
                case "breaks":
                    said = model.last = BrokeProtocol(MAXIE, "no message")
                case "turn":
                    if model.move is not None and model.move.ply == number:
                        expected.append(Did("m", 3, model.move, 0, 7))  # answered, and the answer was lost
                    else:
                        model.asked, model.move, heard = number, None, heard + 1
                    seat.tell(turn(number), 0)
                case "accepted" | "refused":
                    answer = Accepted("m", number, 1.0, 1)
                    refusal = Error(Code.ILLEGAL_MOVE, "no", "m", number)
                    seat.tell(answer if what == "accepted" else refusal, 0)
                    heard += 1
                    if model.move is not None and model.move.ply <= number:
                        model.move = None
                case "owner":
                    owner = owners[number]
                    expected += [Did("m", 3, each, 0, 7) for each in model.unanswered]  # type: ignore[arg-type]
                    seat.owned_by(owner)
            if said is not None:
                expected.append(Did("m", 3, said, 0, 7))
                assert seat.take(said, 0)
            for each in owners:
                if each is not None:
                    assert told(each) == (expected if each is owner else [])
            assert seat.unanswered == model.unanswered
            assert len(bot.heard) == heard
            assert not seat.full

    asyncio.run(run())


@given(st.integers(0, 10 * SECOND), st.integers(0, SECOND))
def test_a_move_takes_from_the_leaving_of_the_turn_to_its_arrival_and_what_ran_before_counts(
    thought: int, ran: int
) -> None:
    async def run() -> None:
        end = alone()
        seat, _, _ = seat_of(end)
        link = end.to("south")
        seat.owned_by(link)
        before = monotonic_ns()
        seat.tell(turn(2), ran)
        after = monotonic_ns()
        arrived = after + thought
        seat.take(Moved(MAXIE, 2, 0), arrived)
        (did,) = told(link)
        assert isinstance(did, Did)
        assert arrived - after + ran <= did.spent <= arrived - before + ran

    asyncio.run(run())


async def test_who_has_left_and_come_back_is_told_by_other_means() -> None:
    end = alone()
    seat, member, bot = seat_of(end)
    link = end.to("south")
    seat.owned_by(link)
    seat.take(GotReady(MAXIE), 0)
    told(link)
    seat.take(Left(MAXIE), 0)
    assert told(link) == []
    member.connect(RemoteConnection(end.links, link, "anna", 4))
    assert bot.dismissed == [Code.REPLACED]
    seat.owned_by(link)
    assert told(link) == []  # its own server says again what was not answered
    assert not seat.is_of(3)


def begins() -> Start:
    """That the match of the seat begins."""
    return next(
        each.message
        for each in Referee(structs.replace(spec("anna", "bert"), match="m")).handle(Opened(), 0)
        if isinstance(each, Tell) and isinstance(each.message, Start)
    )


async def test_a_player_has_been_told_that_its_match_begins_by_the_connection_that_it_has_now() -> None:
    end = alone()
    seat, member, _ = seat_of(end)
    seat.owned_by(end.to("south"))
    known = [seat.introduced(MAXIE)]
    seat.tell(begins(), 0)
    known.append(seat.introduced(MAXIE))
    member.connect(Bot())
    known.append(seat.introduced(MAXIE))
    assert known == [False, True, False]


async def test_that_a_player_was_ready_is_said_again_only_as_long_as_it_has_its_session() -> None:
    end = alone()
    seat, member, _ = seat_of(end)
    seat.take(GotReady(MAXIE), 0)
    assert seat.unanswered == [GotReady(MAXIE)]
    member.enter(4, 4)
    link = end.to("south")
    seat.owned_by(link)
    assert seat.unanswered == []
    assert told(link) == []


async def test_an_owner_is_told_that_a_player_is_not_ready_only_by_who_has_told_it_that_the_match_begins() -> (
    None
):
    end = alone()
    seat, member, _ = seat_of(end)
    link = end.to("south")
    seat.owned_by(link)
    asked = Overdue("m", MAXIE, 3, 0, 0)
    seat.overdue(asked, link)
    await turns_of_the_loop()
    assert told(link) == []
    seat.tell(begins(), 0)
    seat.overdue(Overdue("m", MAXIE, 3, 0, 60 * SECOND), link)
    await turns_of_the_loop()
    assert told(link) == [], "it has more time than that"
    seat.overdue(asked, link)
    await turns_of_the_loop()
    assert told(link) == [Waited("m", MAXIE, 3, 0)]
    seat.overdue(asked, link)
    seat.take(GotReady(MAXIE), 0)  # it was on its way
    await turns_of_the_loop()
    assert told(link) == [Did("m", 3, GotReady(MAXIE), 0, 7)]
    member.connect(Bot())
    seat.overdue(asked, link)
    await turns_of_the_loop()
    assert told(link) == []


async def test_an_owner_is_told_that_the_time_is_over_only_where_no_move_has_come() -> None:
    end = alone()
    seat, _, _ = seat_of(end)
    link = end.to("south")
    seat.owned_by(link)
    seat.tell(turn(2), SECOND)
    asked = Overdue("m", MAXIE, 3, 2, SECOND)  # it has run as long already
    seat.overdue(asked, link)
    await turns_of_the_loop()
    assert told(link) == [Waited("m", MAXIE, 3, 2)]
    seat.overdue(Overdue("m", MAXIE, 3, 0, SECOND), link)  # of another turn
    seat.overdue(asked, end.to("west"))  # of a server that has not the room
    await turns_of_the_loop()
    assert told(link) == []
    seat.overdue(asked, link)
    move = Moved(MAXIE, 2, 5)
    seat.take(move, 0)  # it was on its way
    await turns_of_the_loop()
    assert told(link) == [Did("m", 3, move, 0, 7)]


async def test_whether_a_time_is_over_is_said_of_the_turn_that_was_asked_about() -> None:
    end = alone()
    seat, _, _ = seat_of(end)
    link = end.to("south")
    seat.owned_by(link)
    seat.tell(turn(2), SECOND)
    seat.overdue(Overdue("m", MAXIE, 3, 2, SECOND), link)
    seat.tell(turn(2), 0)  # the turn begins anew
    await turns_of_the_loop()
    assert told(link) == []
