"""What is kept of matches in progress: nothing is lost, doubled or out of order, whatever fails in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from match.events import Event, Opened, Timed, TurnLeft, from_journal, to_journal
from protocol.record import to_line
from server.store import schema
from server.store.database import exclusive, now, open_store
from server.store.journal.batches import MOVED_AT_ONCE, Batches, Line, NotOpen, forget, sweep
from server.store.journal.journal import CLOSE_MATCH, INSERT_MATCH
from server.store.journal.reader import events_of, events_of_all
from tests.server.matches import record

SERVERS = ("north", "south")


def opening(match: str, server: str) -> dict[str, object]:
    row: dict[str, object] = dict.fromkeys(("event", "game", "maxie", "minnie", "terms", "started"), "x")
    return row | {"match": match, "server": server, "rated": False}


def closing(match: str) -> dict[str, str]:
    return {"which": match, "record": to_line(record(match)), "at": now()}


def line(match: str, seq: int, event: Event | None = None) -> Line:
    return match, seq, to_journal(seq, event or TurnLeft(seq))


def happened(first: int, last: int) -> list[Timed]:
    return [(seq, TurnLeft(seq)) for seq in range(first, last + 1)]


async def write(
    engine: AsyncEngine,
    batches: Batches,
    server: str,
    *,
    opened: list[str] | None = None,
    lines: list[Line] | None = None,
    closed: list[str] | None = None,
    goes: str = "well",
) -> None:
    """One transaction of a journal; it `goes` well, it fails, or it is durable and nobody is told."""

    def work(connection: sa.Connection) -> None:
        if opened:
            connection.execute(INSERT_MATCH, [opening(match, server) for match in opened])
        batches.write(connection, opened or [], lines or [], closed or [])
        if closed:
            connection.execute(CLOSE_MATCH, [closing(match) for match in closed])

    async with engine.connect() as connection:
        await connection.run_sync(work)
        if goes == "fails":
            await connection.rollback()
        else:
            await connection.commit()
    if goes != "well":
        batches.drop()


async def exclusively(engine: AsyncEngine, work: Callable[..., None], *given: object) -> None:
    async with exclusive(engine) as connection:
        await connection.run_sync(work, *given)


async def count(engine: AsyncEngine, table: sa.Table) -> int:
    async with engine.connect() as connection:
        return (await connection.execute(sa.select(sa.func.count()).select_from(table))).scalar_one()


# one thing after the other


async def test_a_match_that_is_over_is_one_row_and_leaves_no_batch(database: str) -> None:
    async with open_store(database) as engine:
        batches = Batches("")
        await write(engine, batches, "", opened=["a"], lines=[line("a", 1)])
        for seq in range(2, 20):
            await write(engine, batches, "", lines=[line("a", seq)])
        assert (await count(engine, schema.batches), await count(engine, schema.events)) == (19, 0)
        await write(engine, batches, "", lines=[line("a", 20)], closed=["a"])
        async with engine.connect() as connection:
            (row,) = (await connection.execute(sa.select(schema.events))).all()
        assert (row.match, row.seq, row.at) == ("a", 20, 20)
        assert await events_of(engine, "a") == happened(1, 20)
        assert await count(engine, schema.batches) == 0


async def test_a_match_that_goes_on_for_long_is_moved_piece_by_piece(database: str) -> None:
    async with open_store(database) as engine:
        batches = Batches("", most=1000, look=4)
        await write(engine, batches, "", opened=["long", "idle"], lines=[line("idle", 1)])
        most = 0
        for seq in range(1, 101):
            await write(engine, batches, "", lines=[line("long", seq)])
            most = max(most, await count(engine, schema.batches))
        assert most < 20
        assert await events_of(engine, "long") == happened(1, 100)
        assert await events_of(engine, "idle") == happened(1, 1)
        await write(engine, batches, "", closed=["idle", "long"])
        assert await events_of(engine, "long") == happened(1, 100)
        async with engine.connect() as connection:
            rows = (await connection.execute(sa.select(schema.events))).all()
        assert 5 < len(rows) < 50
        # and none of it twice
        assert sum(len(from_journal(row.at, row.event)) for row in rows) == 101


async def test_of_many_long_matches_a_commit_moves_some(database: str) -> None:
    many = [f"m{number}" for number in range(2 * MOVED_AT_ONCE + 1)]
    async with open_store(database) as engine:
        batches = Batches("", most=1, look=1)
        await write(engine, batches, "", opened=many, lines=[line(match, 1) for match in many])
        moved = []
        await write(engine, batches, "", opened=["busy"])
        for seq in range(1, 5):
            await write(engine, batches, "", lines=[line("busy", seq)])
            async with engine.connect() as connection:
                rows = (await connection.execute(sa.select(schema.events.c.match))).scalars().all()
            moved.append(len([match for match in rows if match != "busy"]))
        assert moved == [MOVED_AT_ONCE, 2 * MOVED_AT_ONCE, len(many), len(many)]
        assert await events_of(engine, "busy") == happened(1, 4)


async def test_a_match_of_a_run_before_is_taken_over_by_what_happens_next(database: str) -> None:
    async with open_store(database) as engine:
        for run in range(3):
            batches, first = Batches("north"), 1 + 5 * run
            if run == 0:
                await write(engine, batches, "north", opened=["a", "b"], lines=[line("b", 1)])
            for seq in range(first, first + 5):
                assert await events_of(engine, "a") == happened(1, seq - 1)
                await write(engine, batches, "north", lines=[line("a", seq)])
        assert await count(engine, schema.events) == 2
        await write(engine, batches, "north", closed=["a", "b"])
        assert await events_of(engine, "a") == happened(1, 15)
        assert await events_of(engine, "b") == happened(1, 1)
        assert await count(engine, schema.batches) == 11
        await exclusively(engine, sweep)
        assert await count(engine, schema.batches) == 0


async def test_a_run_that_takes_over_and_is_killed_as_well_changes_nothing(database: str) -> None:
    async with open_store(database) as engine:
        first = Batches("")
        await write(engine, first, "", opened=["a"], lines=[line("a", 1), line("a", 2)])
        await write(engine, Batches(""), "", lines=[line("a", 3)], goes="fails")
        assert await events_of(engine, "a") == happened(1, 2)
        await write(engine, Batches(""), "", lines=[line("a", 3)], goes="untold")
        assert await events_of(engine, "a") == happened(1, 3)
        third = Batches("")
        await write(engine, third, "", lines=[line("a", 4)])
        await write(engine, third, "", closed=["a"])
        assert await events_of(engine, "a") == happened(1, 4)


async def test_what_a_killed_run_brings_in_late_gives_way_to_what_was_told(database: str) -> None:
    """Of a commit that was under way nobody was told, and who goes on with the match may not have seen it."""
    async with open_store(database) as engine:
        killed, next_one = Batches(""), Batches("")
        await write(engine, killed, "", opened=["a"], lines=[line("a", 1)])
        await write(engine, killed, "", lines=[line("a", 2, Opened())])
        await write(engine, next_one, "", lines=[line("a", 2)])
        await write(engine, next_one, "", lines=[line("a", 3)], closed=["a"])
        assert await events_of(engine, "a") == happened(1, 3)


async def test_a_match_that_an_older_program_began_goes_on(database: str) -> None:
    rows = {
        1: '{"type":"opened"}',
        3: '[2,{"type":"turn_left","ply":0},{"type":"moved","player":"maxie","ply":0,"move":4}]',
    }
    async with open_store(database) as engine:
        async with engine.begin() as connection:
            await connection.execute(INSERT_MATCH, [opening("old", "")])
            insert = [
                {"match": "old", "seq": seq, "at": 10 * seq, "event": text} for seq, text in rows.items()
            ]
            await connection.execute(sa.insert(schema.events), insert)
        before = await events_of(engine, "old")
        assert [at for at, _ in before] == [10, 2, 30]
        batches = Batches("")
        await write(engine, batches, "", lines=[line("old", 4), line("old", 5)])
        assert await events_of(engine, "old") == before + happened(4, 5)
        await write(engine, batches, "", closed=["old"])
        assert await events_of(engine, "old") == before + happened(4, 5)
        assert await count(engine, schema.events) == 3


@pytest.mark.parametrize("match", ["never", "over", "of the south", 'with "quotes"'])
async def test_an_event_of_a_match_that_is_not_in_progress_here_is_refused(database: str, match: str) -> None:
    async with open_store(database) as engine:
        await write(engine, Batches("south"), "south", opened=["of the south"])
        batches = Batches("north")
        await write(engine, batches, "north", opened=["over", "well"], closed=["over"])
        with pytest.raises(NotOpen, match=f"no match '{match}' is in progress on this server"):
            await write(engine, batches, "north", lines=[line("well", 1), line(match, 1)])
        batches.drop()
        assert await events_of(engine, "well") == []


async def test_a_sweep_leaves_what_is_needed_of_all_servers(database: str) -> None:
    async with open_store(database) as engine:
        north, south = Batches("north"), Batches("south")
        await write(engine, north, "north", opened=["n", "over"], lines=[line("n", 1), line("over", 1)])
        await write(engine, south, "south", opened=["s"], lines=[line("s", 1)])
        await write(engine, north, "north", lines=[line("over", 2)], closed=["over"])
        await exclusively(engine, sweep)
        assert await count(engine, schema.batches) == 2
        assert await events_of(engine, "n") == await events_of(engine, "s") == happened(1, 1)
        await write(engine, south, "south", lines=[line("s", 2)])
        assert await events_of(engine, "s") == happened(1, 2)


async def test_a_match_that_is_taken_out_may_begin_again_with_the_same_id(database: str) -> None:
    async with open_store(database) as engine:
        before = Batches("")
        await write(engine, before, "", opened=["a", "b"], lines=[line("a", 1), line("b", 1)])
        await write(engine, before, "", lines=[line("a", 2, Opened())])
        await exclusively(engine, take_out, "a")
        assert (await events_of(engine, "a"), await events_of(engine, "b")) == ([], happened(1, 1))
        assert await count(engine, schema.batches) == 1
        await write(engine, Batches(""), "", opened=["a"], lines=[line("a", 1)])
        assert await events_of(engine, "a") == happened(1, 1)
        # whoever has played it before knows nothing of that, and cannot spoil anything
        await write(engine, before, "", lines=[line("b", 2)])
        await exclusively(engine, take_out, "a")
        await write(engine, before, "", closed=["b"])
        assert (await events_of(engine, "a"), await events_of(engine, "b")) == ([], happened(1, 2))
        await write(engine, before, "", opened=["a", "c"], lines=[line("c", 1)])
        for seq in (1, 2):
            await write(engine, before, "", lines=[line("a", seq)])
        await write(engine, before, "", closed=["c"])
        assert await events_of(engine, "a") == happened(1, 2)
        await write(engine, before, "", closed=["a"])
        assert await events_of(engine, "a") == happened(1, 2)


async def test_whoever_played_a_match_that_is_taken_out_may_end_it(database: str) -> None:
    async with open_store(database) as engine:
        batches = Batches("", most=1)
        await write(engine, batches, "", opened=["a", "b"], lines=[line("a", 1), line("b", 1)])
        await exclusively(engine, take_out, "a")
        for seq in (2, 3):
            await write(engine, batches, "", lines=[line("a", seq), line("b", seq)])
        await write(engine, batches, "", closed=["a", "b"])
        assert (await events_of(engine, "a"), await events_of(engine, "b")) == ([], happened(1, 3))


def take_out(connection: sa.Connection, match: str) -> None:
    forget(connection, {match})
    connection.execute(sa.delete(schema.events).where(schema.events.c.match == match))
    connection.execute(sa.delete(schema.matches).where(schema.matches.c.match == match))


# anything after anything


@dataclass
class Modelled:
    """A match as the model has it."""

    server: str
    durable: int = 0
    """Events that its journal was told are durable."""
    untold: int = 0
    """Events after these that may be durable all the same, all or none, until it is closed."""
    state: str = "new"
    """new, open, void (its journal failed it; it can only be closed), over"""


@dataclass
class World:
    """Two servers on one store, and a plain model of what must be in it."""

    engine: AsyncEngine
    runs: dict[str, Batches]
    matches: dict[str, Modelled] = field(default_factory=dict)

    async def begin(self, server: str) -> None:
        """A server's first run, or its next after it was killed: void matches go on as well, as they are found."""
        self.runs[server] = Batches(server, most=400, look=2)
        found = await self.check()
        for match, each in self.matches.items():
            if each.server == server and each.state == "void":
                each.state = "open"
                each.durable, each.untold = len(found.get(match, [])), 0

    async def commit(self, server: str, wanted: list[tuple[int, int, bool]], goes: str) -> None:
        """`wanted`: of some of its four matches, how many events come, and whether it is closed."""
        opened, lines, closed = [], [], []
        came: dict[str, int] = {}
        for number, some, end in wanted:
            match = f"{server} {number}"
            each = self.matches.setdefault(match, Modelled(server))
            if each.state == "over" or match in came:
                continue
            if each.state == "new":
                opened.append(match)
            came[match] = some if each.state != "void" else 0
            lines += [line(match, each.durable + 1 + count) for count in range(came[match])]
            if end or each.state == "void":
                closed.append(match)
        await write(
            self.engine, self.runs[server], server, opened=opened, lines=lines, closed=closed, goes=goes
        )
        for match, some in came.items():
            each = self.matches[match]
            if goes == "well":
                each.durable, each.untold = each.durable + some, 0
                each.state = "over" if match in closed else "open"
            elif goes == "untold":
                self._untold(each, some, match in closed)
            elif each.state == "open" and (some or match in closed):
                each.state = "void"

    def _untold(self, each: Modelled, some: int, closed: bool) -> None:
        if closed:  # with its end in the store, all that came with that is in it
            each.durable, each.untold, each.state = each.durable + some, 0, "over"
        else:
            each.untold += some
            each.state = "void"

    async def check(self) -> dict[str, list[Timed]]:
        async with self.engine.connect() as connection:
            found = await events_of_all(connection, list(self.matches))
        for match, each in self.matches.items():
            right = [happened(1, each.durable), happened(1, each.durable + each.untold)]
            assert found.get(match, []) in right, (match, each)
        return found


servers = st.sampled_from(SERVERS)
ends = st.sampled_from([False, False, False, True])
wanted = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), ends), min_size=1, max_size=4)
outcomes = st.sampled_from(["well"] * 8 + ["fails", "untold"])
steps = st.lists(
    st.one_of(
        st.tuples(st.just("commit"), servers, wanted, outcomes),
        st.tuples(st.just("commit"), servers, wanted, outcomes),
        st.tuples(st.just("commit"), servers, wanted, outcomes),
        st.tuples(st.just("restart"), servers),
        st.tuples(st.just("sweep")),
    ),
    min_size=8,
    max_size=30,
)


@given(steps)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_whatever_happens_each_match_is_what_was_durable_of_it(
    database: str, todo: list[tuple[str, ...]]
) -> None:
    async with open_store(database) as engine:
        async with engine.begin() as connection:
            await empty(connection)
        world = World(engine, {})
        for server in SERVERS:
            await world.begin(server)
        for what, *given in todo:
            if what == "commit":
                await world.commit(*given)  # type: ignore[arg-type]
            elif what == "restart":
                await world.begin(*given)
            else:
                await exclusively(engine, sweep)
            await world.check()
        for server in SERVERS:
            await world.begin(server)
            await world.commit(server, [(number, 0, True) for number in range(4)], "well")
        await world.check()
        await exclusively(engine, sweep)
        assert await count(engine, schema.batches) == 0


async def empty(connection: AsyncConnection) -> None:
    for table in (schema.batches, schema.events, schema.matches):
        await connection.execute(sa.delete(table))
