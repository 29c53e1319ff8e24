"""The events of matches in progress: none is lost, doubled or out of order, whatever fails in between."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from arena.match.events import Event, Opened, Timed, TurnLeft, to_journal
from arena.server.store import schema
from arena.server.store.database import close, insert_or_update, make_engine, open_store, prepare
from arena.server.store.journal.batch import OPEN_MATCH, close_match
from arena.server.store.journal.batch import closing as closing_of
from arena.server.store.journal.reader import events_of, events_of_all
from arena.server.store.journal.rows import EventRow, NotOpen, Rows
from arena.server.store.lease import Lease, LeaseLost, parameters
from tests.properties import examples
from tests.server.matches import record

SERVERS = ("north", "south")


def run_of(server: str) -> Rows:
    """A run of a server: all of them have one lease, as a transaction of an older one may come in late."""
    return Rows(Lease(server, 1))


def hold(connection: sa.Connection, server: str) -> None:
    nobody = {"host": "", "pid": 0, "place": "", "started": "", "since": 0.0, "renewed": 0.0, "until": 0.0}
    insert = insert_or_update(connection.dialect.name, schema.servers)
    connection.execute(insert, {"name": server, "number": 1, **nobody})


def opening(match: str, server: str) -> dict[str, object]:
    names = ("event", "game", "maxie", "minnie", "terms", "started")
    row: dict[str, object] = {f"given_{name}": "x" for name in names}
    return row | {"given_match": match, "given_rated": False} | parameters(Lease(server, 1))


def closing(match: str, server: str) -> dict[str, object]:
    return closing_of(record(match)) | parameters(Lease(server, 1))


def row(match: str, seq: int, event: Event | None = None) -> EventRow:
    return EventRow(seq, to_journal(seq, event or TurnLeft(seq)), match)


def row_of_two(match: str, seq: int) -> EventRow:
    """A turn and the event that ends it, which is number `seq`."""
    return EventRow(seq, to_journal(seq, TurnLeft(seq), (seq - 1, TurnLeft(seq - 1))), match)


def happened(first: int, last: int) -> list[Timed]:
    return [(seq, TurnLeft(seq)) for seq in range(first, last + 1)]


async def write(
    engine: AsyncEngine,
    run: Rows,
    server: str,
    *,
    opened: list[str] | None = None,
    rows: list[EventRow] | None = None,
    closed: list[str] | None = None,
    goes: str = "well",
) -> None:
    """One transaction of a journal; it `goes` well, it fails, or it is durable and nobody is told."""

    def work(connection: sa.Connection) -> None:
        hold(connection, server)
        if opened:
            connection.execute(OPEN_MATCH, [opening(match, server) for match in opened])
        if not opened and not closed and rows and run.may_append(rows):
            run.append(connection, rows)
        else:
            run.write(connection, opened or [], rows or [], closed or [])
        if closed:
            connection.execute(
                close_match(connection.dialect.name), [closing(match, server) for match in closed]
            )

    async with engine.connect() as connection:
        await connection.run_sync(work)
        if goes == "fails":
            await connection.rollback()
        else:
            await connection.commit()
    if goes == "well":
        run.written()


async def count(engine: AsyncEngine, table: sa.Table) -> int:
    async with engine.connect() as connection:
        return (await connection.execute(sa.select(sa.func.count()).select_from(table))).scalar_one()


# one thing after the other


async def test_each_event_is_a_row_and_a_turn_is_in_that_of_what_ended_it(database: str) -> None:
    async with open_store(database) as engine:
        run = run_of("")
        await write(engine, run, "", opened=["a"], rows=[row("a", 1)])
        for seq in range(3, 21, 2):
            await write(engine, run, "", rows=[row_of_two("a", seq)])
        await write(engine, run, "", rows=[row("a", 20)], closed=["a"])
        assert await events_of(engine, "a") == happened(1, 20)
        assert await count(engine, schema.events) == 11


async def test_a_match_of_a_run_before_is_taken_over_by_what_happens_next(database: str) -> None:
    async with open_store(database) as engine:
        for number in range(3):
            run, first = run_of("north"), 1 + 5 * number
            if number == 0:
                await write(engine, run, "north", opened=["a", "b"], rows=[row("b", 1)])
            for seq in range(first, first + 5):
                assert await events_of(engine, "a") == happened(1, seq - 1)
                await write(engine, run, "north", rows=[row("a", seq)])
        await write(engine, run, "north", closed=["a", "b"])
        assert await events_of(engine, "a") == happened(1, 15)
        assert await events_of(engine, "b") == happened(1, 1)


async def test_a_run_that_takes_over_and_is_killed_as_well_changes_nothing(database: str) -> None:
    async with open_store(database) as engine:
        first = run_of("")
        await write(engine, first, "", opened=["a"], rows=[row("a", 1), row("a", 2)])
        await write(engine, run_of(""), "", rows=[row("a", 3)], goes="fails")
        assert await events_of(engine, "a") == happened(1, 2)
        await write(engine, run_of(""), "", rows=[row("a", 3)], goes="untold")
        assert await events_of(engine, "a") == happened(1, 3)
        third = run_of("")
        await write(engine, third, "", rows=[row("a", 4)])
        await write(engine, third, "", closed=["a"])
        assert await events_of(engine, "a") == happened(1, 4)


@pytest.mark.parametrize("late", [1, 3], ids=["as many as the next run writes", "more than that"])
async def test_what_a_killed_run_brings_in_late_gives_way_to_what_was_told(database: str, late: int) -> None:
    """Of a commit that was under way nobody was told, and who goes on with the match may not have seen it."""
    async with open_store(database) as engine:
        killed, next_one = run_of(""), run_of("")
        await write(engine, killed, "", opened=["a"], rows=[row("a", 1)])
        await write(engine, killed, "", rows=[row("a", 2 + number, Opened()) for number in range(late)])
        await write(engine, next_one, "", rows=[row_of_two("a", 3)])
        await write(engine, next_one, "", closed=["a"])
        assert await events_of(engine, "a") == happened(1, 3)


async def test_what_was_durable_and_told_to_nobody_is_not_in_a_match_that_goes_on(database: str) -> None:
    async with open_store(database) as engine:
        run = run_of("")
        await write(engine, run, "", opened=["a", "b"], rows=[row("a", 1), row("b", 1)])
        await write(engine, run, "", rows=[row_of_two("a", 3), row("b", 2)], closed=["b"], goes="untold")
        await write(engine, run, "", rows=[row("a", 2)], goes="fails")
        assert await events_of(engine, "a") == happened(1, 3)
        await write(engine, run, "", closed=["a"])
        # What came with the end of a match is in it, as the end is.
        assert (await events_of(engine, "a"), await events_of(engine, "b")) == (
            happened(1, 1),
            happened(1, 2),
        )


@pytest.mark.parametrize("before", ["fails", "untold"])
async def test_a_match_whose_end_nobody_was_told_of_keeps_all_its_events(database: str, before: str) -> None:
    async with open_store(database) as engine:
        run = run_of("")
        await write(engine, run, "", opened=["a", "b"])
        await write(engine, run, "", rows=[row("a", 1), row("b", 1)], goes=before)
        await write(engine, run, "", rows=[row("a", 1), row("a", 2)], closed=["a"], goes="untold")
        await write(engine, run, "", rows=[row("b", 1)])
        assert await events_of(engine, "a") == happened(1, 2)
        assert await events_of(engine, "b") == happened(1, 1)


@pytest.mark.parametrize("match", ["never", "over", "of the south", 'with "quotes"'])
async def test_an_event_of_a_match_that_is_not_in_progress_here_is_refused(database: str, match: str) -> None:
    async with open_store(database) as engine:
        await write(engine, run_of("south"), "south", opened=["of the south"])
        run = run_of("north")
        await write(engine, run, "north", opened=["over", "well"], closed=["over"])
        with pytest.raises(NotOpen, match=f"no match '{match}' is in progress on this server"):
            await write(engine, run, "north", rows=[row("well", 1), row(match, 1)])
        assert await events_of(engine, "well") == []


async def test_a_match_that_is_taken_out_may_begin_again_with_the_same_id(database: str) -> None:
    async with open_store(database) as engine:
        run = run_of("")
        await write(engine, run, "", opened=["a", "b"], rows=[row("a", 1), row("b", 1)])
        await write(engine, run, "", rows=[row("a", 2, Opened())])
        await take_out(engine, "a")
        assert (await events_of(engine, "a"), await events_of(engine, "b")) == ([], happened(1, 1))
        await write(engine, run_of(""), "", opened=["a"], rows=[row("a", 1)])
        # Whoever has played it before goes on with the other one, and cannot spoil anything.
        await write(engine, run, "", rows=[row("b", 2)], closed=["b"])
        assert (await events_of(engine, "a"), await events_of(engine, "b")) == (
            happened(1, 1),
            happened(1, 2),
        )


async def test_whoever_played_a_match_that_is_taken_out_may_write_and_end_it(database: str) -> None:
    async with open_store(database) as engine:
        run = run_of("")
        await write(engine, run, "", opened=["a", "b"], rows=[row("a", 1), row("b", 1)])
        await take_out(engine, "a")
        for seq in (2, 3):
            await write(engine, run, "", rows=[row("a", seq), row("b", seq)])
        await write(engine, run, "", closed=["a", "b"])
        assert (await events_of(engine, "a"), await events_of(engine, "b")) == ([], happened(1, 3))


async def test_under_a_lease_that_is_lost_nothing_is_appended(database: str) -> None:
    async with open_store(database) as engine:
        run = run_of("")
        await write(engine, run, "", opened=["a"], rows=[row("a", 1)])
        async with engine.begin() as connection:
            await connection.run_sync(lambda each: run.append(each, [row("a", 2)]))
            run.written()
            await connection.execute(sa.update(schema.servers).values(number=2))
            with pytest.raises(LeaseLost):
                await connection.run_sync(lambda each: run.append(each, [row("a", 3)]))
        assert await events_of(engine, "a") == happened(1, 2)


async def take_out(engine: AsyncEngine, match: str) -> None:
    async with engine.begin() as connection:
        numbers = sa.select(schema.matches.c.number).where(schema.matches.c.match == match)
        await connection.execute(sa.delete(schema.events).where(schema.events.c.number.in_(numbers)))
        await connection.execute(sa.delete(schema.matches).where(schema.matches.c.match == match))


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
    runs: dict[str, Rows]
    matches: dict[str, Modelled] = field(default_factory=dict)

    async def begin(self, server: str) -> None:
        """A server's first run, or its next after it was killed: void matches go on as well, as they are found."""
        self.runs[server] = run_of(server)
        found = await self.check()
        for match, each in self.matches.items():
            if each.server == server and each.state == "void":
                each.state = "open"
                each.durable, each.untold = len(found.get(match, [])), 0

    async def commit(self, server: str, wanted: list[tuple[int, int, bool]], goes: str) -> None:
        """`wanted`: of some of its four matches, how many events come, and whether it is closed."""
        opened, rows, closed = [], [], []
        came: dict[str, int] = {}
        for number, some, end in wanted:
            match = f"{server} {number}"
            each = self.matches.setdefault(match, Modelled(server))
            if each.state == "over" or match in came:
                continue
            if each.state == "new":
                opened.append(match)
            came[match] = some if each.state != "void" else 0
            rows += [row(match, each.durable + 1 + count) for count in range(came[match])]
            if end or each.state == "void":
                closed.append(match)
        await write(
            self.engine, self.runs[server], server, opened=opened, rows=rows, closed=closed, goes=goes
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
    ),
    min_size=8,
    max_size=20,
)


@given(steps)
@settings(examples(60, 8), suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_whatever_happens_each_match_is_what_was_durable_of_it(
    database: str, todo: list[tuple[str, ...]]
) -> None:
    async with thrown_away(database) as engine:
        async with engine.begin() as connection:
            await empty(connection)
        world = World(engine, {})
        for server in SERVERS:
            await world.begin(server)
        for what, *given in todo:
            if what == "commit":
                await world.commit(*given)  # type: ignore[arg-type]
            else:
                await world.begin(*given)
            await world.check()
        for server in SERVERS:
            await world.begin(server)
            await world.commit(server, [(number, 0, True) for number in range(4)], "well")
        await world.check()


@asynccontextmanager
async def thrown_away(database: str) -> AsyncIterator[AsyncEngine]:
    """A store that need not survive a loss of power: many commits, and none waits for the disk."""
    engine = make_engine(database, lasting=False)
    try:
        await prepare(engine)
        yield engine
    finally:
        await close(engine)


async def empty(connection: AsyncConnection) -> None:
    for table in (schema.events, schema.records, schema.matches):
        await connection.execute(sa.delete(table))
