"""The room: one event at a time through referee and journal, and an end that always comes."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import anyio
import pytest
import sqlalchemy as sa
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.games.catalogue import make_game
from arena.games.core import Player
from arena.match.events import Event, GotReady, Moved, Opened, Resigned, Returned, TurnLeft
from arena.match.referee import Referee
from arena.match.replay import verify
from arena.match.terms import Terms
from arena.protocol.adjudication import DEFAULT_RULES
from arena.protocol.codes import Code, EndReason
from arena.protocol.messages import Accepted, End, ServerMessage, Start, Turn
from arena.protocol.values import Thinking
from arena.server.net.limits import INBOX
from arena.server.net.loop_watch import LoopWatch
from arena.server.rooms.member import Member
from arena.server.rooms.room import KEEP_AGAIN_SECONDS, Room
from arena.server.store.database import open_store
from arena.server.store.journal.journal import Journal
from arena.server.store.journal.reader import events_of, records_of
from arena.server.store.journal.recovery import Unfinished, unfinished
from tests.server.matches import game_of, terms

Message = TypeVar("Message", bound=ServerMessage)


@dataclass(eq=False)
class FakeConnection:
    """Where a bot hears: what it was told, in order."""

    told: list[ServerMessage] = field(default_factory=list)
    lag: int = 0

    def tell(self, message: ServerMessage) -> None:
        self.told.append(message)

    def dismiss(self, code: Code) -> None:
        assert code is Code.REPLACED

    def of(self, kind: type[Message]) -> list[Message]:
        return [each for each in self.told if isinstance(each, kind)]


PATIENT = terms("60+1", ready=60_000, grace=30_000)
"""Of a match in which nothing falls due: none of these tests is about time, and each may have a tenth of a core."""


@asynccontextmanager
async def journal_of(engine: AsyncEngine) -> AsyncIterator[Journal]:
    journal = Journal(engine)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(journal.run)
        yield journal
        tasks.cancel_scope.cancel()


def make_room(
    journal: Journal,
    given: Terms,
    unfinished: Unfinished | None = None,
    *,
    keep_again: Sequence[float] = KEEP_AGAIN_SECONDS,
) -> tuple[Room, dict[Player, FakeConnection]]:
    connections = {player: FakeConnection() for player in Player}
    members = {
        player: Member(str(player), connection=connection) for player, connection in connections.items()
    }
    return Room(
        given, members, journal, LoopWatch(), unfinished=unfinished, keep_again=keep_again
    ), connections


async def post(room: Room, event: Event, at: int) -> bool:
    """Hand over an event as a session does: not before the room has space."""
    await room.has_space()
    return room.take(event, at)


async def opened(room: Room, connection: FakeConnection) -> None:
    while not connection.of(Start):
        await anyio.sleep(0.001)


async def playing(room: Room, maxie: FakeConnection) -> None:
    """Both players are ready, and Maxie has been asked for her first move."""
    await opened(room, maxie)
    for player in Player:
        assert await post(room, GotReady(player), 1)
    while not maxie.of(Turn):
        await anyio.sleep(0.001)


async def test_a_move_is_in_the_journal_before_anybody_is_told(database: str) -> None:
    async with open_store(database) as engine, journal_of(engine) as journal:
        room, connections = make_room(journal, PATIENT)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(room.run)
            await playing(room, connections[Player.MAXIE])
            assert await post(room, Moved(Player.MAXIE, 0, 4, None), 2)
            assert not connections[Player.MAXIE].of(Accepted), "told before it was written"
            while not connections[Player.MAXIE].of(Accepted):
                await anyio.sleep(0.001)
            kept = [event for _, event in await events_of(engine, room.terms.match)]
            assert kept[-1] == Moved(Player.MAXIE, 0, 4, None)
            assert await post(room, Resigned(Player.MINNIE), 3)
    assert connections[Player.MAXIE].of(End) == connections[Player.MINNIE].of(End)
    assert room.record().result.reason is EndReason.RESIGNATION


async def test_what_comes_while_one_is_written_is_taken_in_order(database: str) -> None:
    async with open_store(database) as engine, journal_of(engine) as journal:
        room, connections = make_room(journal, PATIENT)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(room.run)
            await opened(room, connections[Player.MAXIE])
            for player in Player:
                await post(room, GotReady(player), 1)
            # All at once, and none of them waits for the one before.
            for ply, move in enumerate((0, 3, 1, 4, 2)):
                await post(room, Moved((Player.MAXIE, Player.MINNIE)[ply % 2], ply, move, None), 2)
    assert [each.move for each in room.record().moves] == [0, 3, 1, 4, 2]
    assert room.record().result.reason is EndReason.LINE
    assert not await post(room, Resigned(Player.MAXIE), 3), "a room that is over takes nothing"


async def test_who_floods_a_room_waits(database: str) -> None:
    async with open_store(database) as engine:
        journal = Journal(engine)  # that does not run yet: the first event stays on its way
        room, connections = make_room(journal, PATIENT)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(room.run)
            await anyio.wait_all_tasks_blocked()
            for _ in range(INBOX):
                assert not room.full
                await post(room, GotReady(Player.MAXIE), 1)
            assert room.full
            with anyio.move_on_after(0.01) as waiting:
                await post(room, GotReady(Player.MAXIE), 1)
            assert waiting.cancelled_caught
            tasks.start_soon(journal.run)
            with anyio.fail_after(10):
                await post(room, Resigned(Player.MAXIE), 2)
                while not connections[Player.MINNIE].of(End):
                    await anyio.sleep(0.001)
            tasks.cancel_scope.cancel()


async def test_what_cannot_be_written_is_told_to_nobody_and_voids_the_match(tmp_path: Path) -> None:
    async with (
        open_store(f"sqlite:///{tmp_path / 'arena.db'}") as engine,
        journal_of(engine) as journal,
    ):
        room, connections = make_room(journal, PATIENT)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(room.run)
            await opened(room, connections[Player.MAXIE])
            async with engine.begin() as connection:
                refusal = "BEGIN SELECT RAISE(ABORT, 'the disk is full'); END"
                await connection.execute(sa.text(f"CREATE TRIGGER full BEFORE INSERT ON events {refusal}"))
            await post(room, GotReady(Player.MAXIE), 1)
    assert room.record().result.reason is EndReason.SERVER_FAULT
    assert [each.reason for connection in connections.values() for each in connection.of(End)] == [
        EndReason.SERVER_FAULT
    ] * 2


async def test_a_record_is_kept_as_soon_as_the_store_is_back(tmp_path: Path) -> None:
    async with (
        open_store(f"sqlite:///{tmp_path / 'arena.db'}") as engine,
        journal_of(engine) as journal,
    ):
        room, connections = make_room(journal, PATIENT, keep_again=(0.01,) * 1000)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(room.run)
            await opened(room, connections[Player.MAXIE])
            async with engine.begin() as connection:
                refusal = "BEGIN SELECT RAISE(ABORT, 'the disk is full'); END"
                await connection.execute(sa.text(f"CREATE TRIGGER full BEFORE UPDATE ON matches {refusal}"))
            await post(room, Resigned(Player.MAXIE), 1)
            with anyio.fail_after(10):
                while not connections[Player.MAXIE].of(End):
                    await anyio.sleep(0.001)
            await anyio.sleep(0.05)  # some tries
            async with engine.begin() as connection:
                await connection.execute(sa.text("DROP TRIGGER full"))
        kept = await records_of(engine, room.terms.event)
    assert [record.result.reason for record in kept] == [EndReason.RESIGNATION]


@pytest.mark.parametrize("ended", [False, True])
async def test_a_match_goes_on_where_its_journal_ends(database: str, *, ended: bool) -> None:
    """`ended`: the server was killed between a match's last event and its record."""
    given = PATIENT
    async with open_store(database) as engine, journal_of(engine) as journal:
        journal.open_match(given, "2026-11-20T12:00:00Z")
        events: list[Event] = [Opened(), GotReady(Player.MAXIE), GotReady(Player.MINNIE), TurnLeft(0)]
        if ended:
            events.append(Resigned(Player.MAXIE))
        for seq, event in enumerate(events, 1):
            journal.append(given.match, seq, seq, event)
        await journal.drain()
        [past] = await unfinished(engine, "test")
        room, connections = make_room(journal, given, past)
        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(room.run)
                if not ended:
                    await anyio.wait_all_tasks_blocked()
                    await post(room, Resigned(Player.MAXIE), 10)
        # Of an end that was told by a server that is gone, too: in an arena its players may be on others.
        told = [[(end.winner, end.reason) for end in each.of(End)] for each in connections.values()]
        assert told == [[("minnie", EndReason.RESIGNATION)]] * 2
        assert room.record().result.reason is EndReason.RESIGNATION
        assert not await unfinished(engine, "test")


async def test_a_room_that_goes_on_counts_the_positions_of_the_whole_match(database: str) -> None:
    """A position that came up twice before the server was killed, once of it in the opening, ends the match at once."""
    circle = [[0, 1], [3, 2], [1, 0], [2, 3]]
    board = game_of("riskless")
    still = {
        **board.setup(),
        "territory_cap": 1,
        "armies_to_win": 4,
        "start": [["maxie", 1], None, None, ["minnie", 1]],
    }
    game = make_game("riskless", still)
    given = replace(PATIENT, game=game, opening=(circle[0], circle[1]), adjudication=DEFAULT_RULES)
    moves = [*circle[2:], *(circle * 10)]
    played = Referee(given)
    events: list[Event] = [Opened(), GotReady(Player.MAXIE), GotReady(Player.MINNIE)]
    for event in events:
        played.handle(event, 1)
    for move in moves:
        moved = Moved(played.mover, played.ply, move)
        played.handle(moved, 1)
        if played.over:
            break
        events.append(moved)
    async with open_store(database) as engine, journal_of(engine) as journal:
        journal.open_match(given, "2026-11-20T12:00:00Z")
        for seq, event in enumerate(events, 1):
            journal.append(given.match, seq, seq, event)
        await journal.drain()
        [past] = await unfinished(engine, "test")
        room, connections = make_room(journal, given, past)
        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(room.run)
                await anyio.wait_all_tasks_blocked()
                ply = room.referee.ply
                await post(room, Moved(room.referee.mover, ply, move), 10)
        record = room.record()
        assert record.result.by_repetition
        assert record.adjudication == DEFAULT_RULES
        assert [end.detail for each in connections.values() for end in each.of(End)] == [
            record.result.detail
        ] * 2
        assert len(verify(record).positions) == len(events) - 3 + len(given.opening) + 2
        assert [kept.result for kept in await records_of(engine, "test")] == [record.result]


async def test_what_strangers_say_of_their_moves_is_bounded_before_it_is_kept_or_shown(database: str) -> None:
    cut: list[int] = []
    async with open_store(database) as engine, journal_of(engine) as journal:
        given = PATIENT
        lines = {player: FakeConnection() for player in Player}
        members = {player: Member(str(player), connection=line) for player, line in lines.items()}
        room = Room(given, members, journal, LoopWatch(), cut=cut.append)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(room.run)
            await opened(room, lines[Player.MAXIE])
            for player in Player:
                await post(room, GotReady(player), 1)
            line = [4, 0, {"no": "move"}, "x" * 10_000]
            await post(room, Moved(Player.MAXIE, 0, 4, Thinking(depth=2, line=line)), 2)
            while room.referee.ply < 1:
                await anyio.sleep(0.001)
            await post(room, Resigned(Player.MINNIE), 3)
        assert room.view().moves[0].thinking == Thinking(depth=2, line=[4, 0])
        kept = [event for _, event in await events_of(engine, given.match) if isinstance(event, Moved)]
    assert [event.thinking for event in kept] == [Thinking(depth=2, line=[4, 0])]
    assert cut == [2]


async def test_who_comes_back_while_its_turn_is_being_written_is_asked_once(database: str) -> None:
    """A bot that chooses anew for each turn would else answer the second one with another move."""
    async with open_store(database) as engine, journal_of(engine) as journal:
        room, connections = make_room(journal, PATIENT)
        again = FakeConnection()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(room.run)
            await playing(room, connections[Player.MAXIE])
            # The move's commit is under way when the opponent, whose turn comes with it, is back.
            assert await post(room, Moved(Player.MAXIE, 0, 4, None), 2)
            room.players[Player.MINNIE].disconnect()
            room.players[Player.MINNIE].connect(again)
            assert await post(room, Returned(Player.MINNIE), 3)
            while not again.of(Turn):
                await anyio.sleep(0.001)
            assert [type(message) for message in again.told] == [Start, Turn]
            assert again.of(Turn)[0].moves == [4]
            assert await post(room, Moved(Player.MINNIE, 1, 0, None), 4)
            while not again.of(Accepted):
                await anyio.sleep(0.001)
            assert len(connections[Player.MAXIE].of(Turn)) == 2
            assert await post(room, Resigned(Player.MINNIE), 5)
    assert [type(message) for message in again.told] == [Start, Turn, Accepted, End]


async def test_who_comes_back_while_the_end_is_being_written_is_told_of_it(database: str) -> None:
    async with open_store(database) as engine, journal_of(engine) as journal:
        room, connections = make_room(journal, PATIENT)
        again = FakeConnection()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(room.run)
            await opened(room, connections[Player.MAXIE])
            assert await post(room, Resigned(Player.MAXIE), 1)
            room.players[Player.MINNIE].connect(again)
            await post(room, Returned(Player.MINNIE), 2)
    assert again.told[-1] == connections[Player.MAXIE].of(End)[0]
    assert len(again.of(End)) == 1
