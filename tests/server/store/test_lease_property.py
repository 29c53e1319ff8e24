"""Servers on one store, started, stopped, killed and frozen in any order: what was acknowledged is there for good."""

from __future__ import annotations

from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from functools import partial

import anyio
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.match.events import Opened
from arena.protocol.record import to_line
from arena.server.processes.identity import Process, this_process
from arena.server.store import arena, lease, schema
from arena.server.store.database import close, make_engine, prepare
from arena.server.store.journal.batch import Batch, write_batch
from arena.server.store.journal.journal import Journal
from arena.server.store.journal.reader import events_of_all, records_of
from arena.server.store.journal.recovery import unfinished
from arena.server.store.journal.rows import NotOpen, Rows
from arena.server.store.journal.writer import Writer, open_writer
from arena.server.store.lease import Lease, LeaseLost, NameHeld
from arena.server.store.packing import record_in
from tests.server.matches import record, terms

DEAD = replace(this_process(), started="1")
"""A process that counts as dead, so that its name is taken at once, whatever it still does."""


class Killed(Exception):
    """Ends a process in the middle of its transaction."""


@dataclass
class Run:
    """One process of a server, whether it knows that it is dead or not."""

    writer: Writer
    lease: Lease
    rows: Rows
    open: dict[str, int] = field(default_factory=dict)
    """Its matches in progress, and how many events each has."""


@dataclass
class World:
    """Any number of processes on one store, and what somebody was told."""

    engine: AsyncEngine
    stack: AsyncExitStack
    runs: list[Run] = field(default_factory=list)
    told: dict[str, dict[int, int]] = field(default_factory=dict)
    """When each event that was acknowledged happened, by its match and its number."""
    time: int = 0
    """No two events happen at the same time."""
    acknowledged: dict[str, str] = field(default_factory=dict)
    """The record of each match whose end was acknowledged."""
    seen: dict[str, str] = field(default_factory=dict)
    """The first record of each match that was in the store, acknowledged or not."""
    matches: int = 0

    async def start(self, name: str, process: Process) -> None:
        """A process takes the name where it can, and goes on with its matches."""
        writer = await self.stack.enter_async_context(open_writer(self.engine))
        try:
            held = await writer.write(partial(lease.take, name=name, process=process))
        except NameHeld:
            return
        found = await unfinished(self.engine, "test", name)
        matches = {each.terms.match: len(each.events) for each in found}
        self.runs.append(Run(writer, held, Rows(held), matches))

    async def stop(self, number: int) -> None:
        """A process stops, and gives its name back where it still has it."""
        if self.runs:
            run = self.runs.pop(number % len(self.runs))
            with suppress(LeaseLost):
                await run.writer.write(partial(lease.give_back, lease=run.lease))

    async def kill(self, number: int) -> None:
        """A process is gone, and says nothing."""
        if self.runs:
            self.runs.pop(number % len(self.runs))

    async def run_out(self) -> None:
        """All leases run out; their holders go on as if nothing were."""
        async with self.engine.begin() as connection:
            await connection.execute(sa.update(schema.servers).values(until=0.0))

    async def take_over(self, number: int, name: str) -> None:
        """A process takes the matches of a name over, where its holder's lease has run out, and goes on with them."""
        if not self.runs:
            return
        run = self.runs[number % len(self.runs)]
        async with self.engine.connect() as connection:
            query = sa.select(schema.servers.c.number).where(schema.servers.c.name == name)
            held = (await connection.execute(query)).scalar_one_or_none()
        if held is None or name == run.lease.name:
            return
        try:
            taken = await run.writer.write(partial(arena.take_over, lease=run.lease, dead=name, number=held))
        except LeaseLost:
            self._remove(run)
            return
        for each in await unfinished(self.engine, "test", run.lease.name):
            if each.terms.match in (taken or ()):
                run.open[each.terms.match] = len(each.events)

    async def play(self, number: int, which: int, what: str, how: str) -> None:
        """A process writes a new match, an event of one, or the end of one, and it goes well or not."""
        if self.runs:
            await self._play(self.runs[number % len(self.runs)], which, what, how)

    async def play_at_once(self, first: int, second: int, which: int, what: str) -> None:
        """Two processes write at the same time, perhaps the same match."""
        both = {
            id(run): run
            for run in (self.runs[each % len(self.runs)] for each in (first, second) if self.runs)
        }
        async with anyio.create_task_group() as tasks:
            for run in both.values():
                tasks.start_soon(self._play, run, which, what, "goes well")

    async def _play(self, run: Run, which: int, what: str, how: str) -> None:
        journal = Journal(self.engine, server=run.lease.name)
        if what == "begin" or not run.open:
            self.matches += 1
            match = f"match {self.matches}"
            journal.open_match(replace(terms(), match=match), "2026-11-20T12:00:00Z")
            run.open[match] = 0
        else:
            match = sorted(run.open)[which % len(run.open)]
        self.time += 1
        at, number = self.time, run.open[match] + 1
        batch = journal.append(match, number, at, Opened())
        if what == "end":
            batch = journal.close_match(record(match, winner="maxie" if run.lease.number % 2 else "minnie"))
        try:
            await run.writer.write(
                partial(self._commit, run, batch, killed=how == "is killed before the commit")
            )
            if how == "is not answered":
                # The commit was durable and failed all the same, as far as its process can tell.
                await run.writer.write(partial(self._commit, run, batch, again=True))
        except (LeaseLost, NotOpen, Killed):
            self._remove(run)  # it ends, and tells nobody
            return
        if how == "is killed after the commit":
            self._remove(run)
            return
        run.rows.written()
        run.open[match] = number
        acknowledged = self.told.setdefault(match, {})
        assert number not in acknowledged
        acknowledged[number] = at
        if what == "end":
            del run.open[match]
            assert match not in self.acknowledged
            self.acknowledged[match] = record_in(batch.closed[0]["packed"])

    def _remove(self, run: Run) -> None:
        self.runs = [each for each in self.runs if each is not run]

    @staticmethod
    def _commit(
        run: Run, batch: Batch, connection: sa.Connection, *, killed: bool = False, again: bool = False
    ) -> None:
        lease.require(connection, run.lease)
        write_batch(connection, batch, run.rows, run.lease, again=again)
        if killed:
            raise Killed

    async def check(self) -> None:
        """What was acknowledged is there; nobody has changed a record."""
        async with self.engine.connect() as connection:
            found = await events_of_all(connection, list(self.told))
            kept = await connection.execute(
                sa.select(schema.matches.c.match).where(schema.matches.c.finished.is_not(None))
            )
            over = set(kept.scalars())
        records = {each.match: to_line(each) for each in await records_of(self.engine, "test")}
        for match, acknowledged in self.told.items():
            kept_at = {number: at for number, (at, _) in enumerate(found[match], 1)}
            assert acknowledged.items() <= kept_at.items(), match
        assert set(records) == over
        assert self.seen.items() <= records.items()
        assert self.acknowledged.items() <= records.items()
        self.seen = records


numbers = st.integers(0, 3)
whats = st.sampled_from(["event"] * 4 + ["begin", "end"])
hows = st.sampled_from(
    ["goes well"] * 6 + ["is killed before the commit", "is killed after the commit", "is not answered"]
)
all_names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)


def steps(names: list[str]) -> st.SearchStrategy[list[tuple[object, ...]]]:
    """What happens on a store on which servers of these names run: they play most of the time, and are taken over often."""
    start = st.tuples(st.just("start"), st.sampled_from(names), st.sampled_from([DEAD, DEAD, this_process()]))
    play = st.tuples(st.just("play"), numbers, numbers, whats, hows)
    at_once = st.tuples(st.just("play_at_once"), numbers, numbers, numbers, whats)
    rest = st.one_of(
        st.tuples(st.just("take_over"), numbers, st.sampled_from(names)),
        st.tuples(st.just("take_over"), numbers, st.sampled_from(names)),
        st.tuples(st.just("stop"), numbers),
        st.tuples(st.just("kill"), numbers),
        st.tuples(st.just("run_out")),
        st.tuples(st.just("check")),
    )
    # Two processes with one match begin, of which the second has taken the name over.
    taken = ("start", names[0], DEAD)
    first = [taken, ("play", 0, 0, "begin", "goes well"), taken]
    more = st.lists(st.one_of(start, play, play, play, at_once, rest), min_size=5, max_size=30)
    return more.map(lambda then: [*first, *then])


@given(st.lists(all_names, min_size=1, max_size=2, unique=True).flatmap(steps))
@settings(
    max_examples=settings().max_examples // 6, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@pytest.mark.timeout(600)
async def test_whatever_servers_do_what_was_acknowledged_stays(
    database: str, todo: list[tuple[object, ...]]
) -> None:
    engine = make_engine(database, lasting=False)
    try:
        await prepare(engine)
        async with engine.begin() as connection:
            for table in reversed(schema.metadata.sorted_tables):
                if table is not schema.about:
                    await connection.execute(sa.delete(table))
        async with AsyncExitStack() as stack:
            world = World(engine, stack)
            for what, *arguments in todo:
                with anyio.fail_after(20):
                    await getattr(world, str(what))(*arguments)
            await world.check()
    finally:
        await close(engine)


def test_a_record_of_another_winner_is_another_line() -> None:
    """What the test above relies on: two processes that end one match would end it differently."""
    assert to_line(record("m", winner="maxie")) != to_line(record("m", winner="minnie"))
