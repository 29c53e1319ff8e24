"""Servers on one store, started, stopped, killed and frozen in any order: what was acknowledged is there for good."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

import anyio
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncEngine

from match.events import Opened
from protocol.record import to_line
from server.processes.identity import this_process
from server.store import lease, schema
from server.store.database import close, make_engine, prepare
from server.store.journal.batch import Batch, write_batch
from server.store.journal.journal import Journal
from server.store.journal.reader import events_of_all
from server.store.journal.recovery import unfinished
from server.store.journal.rows import NotOpen, Rows
from server.store.journal.writer import Writer, open_writer
from server.store.lease import Lease, LeaseLost, NameHeld
from tests.server.matches import record, terms

NAMES = ("", "north")


@dataclass
class Run:
    """One process of a server, whether it knows that it is dead or not."""

    lease: Lease
    rows: Rows
    open: dict[str, int] = field(default_factory=dict)
    """Its matches in progress, and how many events each has."""


@dataclass
class World:
    """Any number of processes on one store, and what somebody was told."""

    engine: AsyncEngine
    writer: Writer
    runs: list[Run] = field(default_factory=list)
    told: dict[str, int] = field(default_factory=dict)
    """The number of the last event of each match that was acknowledged."""
    records: dict[str, str] = field(default_factory=dict)
    """The first record of each match that was acknowledged."""
    matches: int = 0

    async def start(self, name: str) -> None:
        """A process takes the name where it can, and goes on with its matches."""
        try:
            held = await self.writer.write(partial(lease.take, name=name, process=this_process()))
        except NameHeld:
            return
        found = await unfinished(self.engine, "test", name)
        self.runs.append(Run(held, Rows(held), {each.terms.match: len(each.events) for each in found}))

    async def stop(self, number: int) -> None:
        """A process stops, and gives its name back where it still has it."""
        if self.runs:
            run = self.runs.pop(number % len(self.runs))
            with suppress(LeaseLost):
                await self.writer.write(partial(lease.give_back, lease=run.lease))

    async def run_out(self) -> None:
        """All leases run out; their holders go on as if nothing were."""
        async with self.engine.begin() as connection:
            await connection.execute(sa.update(schema.servers).values(until=0.0))

    async def play(self, number: int, which: int, what: str) -> None:
        """A process writes: a new match, an event of one, or the end of one."""
        if not self.runs:
            return
        run = self.runs[number % len(self.runs)]
        journal = Journal(self.engine, server=run.lease.name)
        match = ""
        if what == "begin" or not run.open:
            self.matches += 1
            match = f"match {self.matches}"
            journal.open_match(replace(terms(), match=match), "2026-11-20T12:00:00Z")
            run.open[match] = 0
        else:
            match = sorted(run.open)[which % len(run.open)]
        batch = journal.append(match, run.open[match] + 1, run.open[match] + 1, Opened())
        if what == "end":
            batch = journal.close_match(record(match, winner="maxie" if run.lease.number % 2 else "minnie"))
        try:
            await self.writer.write(partial(self._commit, run, batch))
        except (LeaseLost, NotOpen):
            self.runs.remove(run)  # it ends, and tells nobody
            return
        run.rows.written()
        run.open[match] += 1
        self.told[match] = run.open[match]
        if what == "end":
            del run.open[match]
            assert match not in self.records
            self.records[match] = batch.closed[0]["given_record"]

    @staticmethod
    def _commit(run: Run, batch: Batch, connection: sa.Connection) -> None:
        lease.require(connection, run.lease)
        write_batch(connection, batch, run.rows, run.lease)

    async def check(self) -> None:
        """What was acknowledged is there; nobody has changed a record."""
        async with self.engine.connect() as connection:
            found = await events_of_all(connection, list(self.told))
            rows = (await connection.execute(sa.select(schema.matches))).all()
        for match, last in self.told.items():
            assert [at for at, _ in found[match]] == list(range(1, last + 1)), match
        assert {row.match: row.record for row in rows if row.record is not None} == self.records


names = st.sampled_from(NAMES)
numbers = st.integers(0, 3)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("start"), names),
        st.tuples(st.just("play"), numbers, numbers, st.sampled_from(["begin", "event", "event", "end"])),
        st.tuples(st.just("play"), numbers, numbers, st.sampled_from(["begin", "event", "event", "end"])),
        st.tuples(st.just("stop"), numbers),
        st.tuples(st.just("run_out")),
    ),
    min_size=10,
    max_size=40,
)


@given(steps)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_whatever_servers_do_what_was_acknowledged_stays(
    database: str, todo: list[tuple[object, ...]]
) -> None:
    engine = make_engine(database, lasting=False)
    try:
        await prepare(engine)
        async with engine.begin() as connection:
            for table in (schema.events, schema.matches, schema.servers):
                await connection.execute(sa.delete(table))
        async with open_writer(engine) as writer:
            world = World(engine, writer)
            for what, *arguments in todo:
                with anyio.fail_after(20):
                    await getattr(world, str(what))(*arguments)
            await world.check()
    finally:
        await close(engine)


def test_a_record_of_another_winner_is_another_line() -> None:
    """What the test above relies on: two processes that end one match would end it differently."""
    assert to_line(record("m", winner="maxie")) != to_line(record("m", winner="minnie"))
