"""Servers on one store, started, stopped, killed, frozen and cut off in any order: acknowledged data stays."""

from __future__ import annotations

from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from functools import partial

import anyio
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.clock import MONOTONIC
from arena.match.referee_events import MatchOpened
from arena.processes.identity import ProcessIdentity, identify_this_process
from arena.protocol.record import to_line
from arena.server.core.effects import DurableEffect
from arena.server.store import lease, schema
from arena.server.store.database import close_engine, make_engine, prepare_store
from arena.server.store.journal.changes import collect_changes
from arena.server.store.journal.journal import Journal, JournalWriter, StoreUnavailable
from arena.server.store.journal.postgresql_writer import open_postgresql_writer
from arena.server.store.journal.reader import load_events_by_match
from arena.server.store.journal.sqlite_writer import open_sqlite_writer
from arena.server.store.lease import LeaseHeld, LeaseLost
from testkit.stored import load_records
from tests.properties import examples
from tests.server.journals import ends, happens, opens
from tests.server.matches import record

DEAD = replace(identify_this_process(), started="1")
"""A process that counts as dead, so that its name is taken at once, whatever it still does."""


@dataclass
class CutOff:
    """A writer whose commits are durable or not, and fail in any case."""

    writer: JournalWriter
    durable: bool

    async def commit(self, changes: object, held: object) -> None:
        if self.durable:
            await self.writer.commit(changes, held)  # type: ignore[arg-type]
        raise ConnectionError("the line is cut")


@dataclass
class Run:
    """Process of a server, which may have lost its lease without knowing it."""

    journal: Journal
    writer: JournalWriter
    open: dict[str, int] = field(default_factory=dict)
    """Its matches in progress, and how many events each has."""


@dataclass
class World:
    """Any number of processes on one store, and what somebody was told."""

    engine: AsyncEngine
    stack: AsyncExitStack
    runs: list[Run] = field(default_factory=list)
    told: dict[str, dict[int, int]] = field(default_factory=dict)
    """Time of each acknowledged event, by its match and number."""
    time: int = 0
    """No two events happen at the same time."""
    acknowledged: dict[str, str] = field(default_factory=dict)
    """The record of each match whose end was acknowledged."""
    seen: dict[str, str] = field(default_factory=dict)
    """The first record of each match that was in the store, acknowledged or not."""
    matches: int = 0

    async def start(self, name: str, process: ProcessIdentity) -> None:
        """Let a process take the name if it is free, and continue its matches."""
        writer: JournalWriter = await self.stack.enter_async_context(
            open_sqlite_writer(self.engine)
            if self.engine.dialect.name == "sqlite"
            else open_postgresql_writer(self.engine, 10, MONOTONIC)
        )
        try:
            held = await writer.write(partial(lease.try_acquire, name=name, process=process))
        except LeaseHeld:
            return
        run = Run(Journal(self.engine, writer, held, MONOTONIC, lambda _seconds: None), writer)
        await self._load(run)
        self.runs.append(run)

    async def _load(self, run: Run) -> None:
        found = (await run.journal.load("test")).matches
        run.open = {each.terms.match: len(each.events) for each in found}

    async def stop(self, number: int) -> None:
        """Stop a process, which gives its name back if it still has it."""
        if self.runs:
            await self.runs.pop(number % len(self.runs)).journal.release()

    async def kill(self, number: int) -> None:
        """Kill a process."""
        if self.runs:
            self.runs.pop(number % len(self.runs))

    async def run_out(self) -> None:
        """Let all leases expire; their holders continue."""
        async with self.engine.begin() as connection:
            await connection.execute(sa.update(schema.servers).values(until=0.0))

    async def play(self, number: int, which: int, what: str, how: str) -> None:
        """Commit a new match, an event of one, or the end of one, in a process. It may fail."""
        if self.runs:
            await self._play(self.runs[number % len(self.runs)], which, what, how)

    async def play_at_once(self, first: int, second: int, which: int, what: str) -> None:
        """Commit from two processes at the same time, perhaps the same match."""
        both = {
            id(run): run
            for run in (self.runs[each % len(self.runs)] for each in (first, second) if self.runs)
        }
        async with anyio.create_task_group() as tasks:
            for run in both.values():
                tasks.start_soon(self._play, run, which, what, "goes well")

    async def _play(self, run: Run, which: int, what: str, how: str) -> None:
        effects: list[DurableEffect] = []
        if what == "begin" or not run.open:
            self.matches += 1
            match = f"match {self.matches}"
            effects.append(opens(match))
            run.open[match] = 0
        else:
            match = sorted(run.open)[which % len(run.open)]
        self.time += 1
        at, number = self.time, run.open[match] + 1
        effects.append(happens(number, at=at, match=match))
        ended = record(match, winner="maxie" if run.journal.lease.number % 2 else "minnie")
        if what == "end":
            effects.append(ends(ended))
        try:
            if how.startswith("is cut off"):
                await self._cut_off(run, effects, how)
            await run.journal.commit(effects)
        except LeaseLost:
            self._remove(run)  # it ends, and tells nobody
            return
        except StoreUnavailable:
            # Patience is over: a new core goes on with what is in the store, which may be what nobody was told.
            before = run.journal.lease
            with suppress(LeaseLost):
                await self._load(run)
                if "late" in how:
                    await run.writer.commit(
                        collect_changes(effects, before.name), before
                    )  # it must be refused
            return
        if how == "is killed after the commit":
            self._remove(run)
            return
        run.open[match] = number
        acknowledged = self.told.setdefault(match, {})
        assert number not in acknowledged
        acknowledged[number] = at
        if what == "end":
            del run.open[match]
            assert match not in self.acknowledged
            self.acknowledged[match] = to_line(ended)

    @staticmethod
    async def _cut_off(run: Run, effects: list[DurableEffect], how: str) -> None:
        """Fail to commit, perhaps only as far as can be seen. Raises StoreUnavailable where it is not tried again."""
        run.journal._writer = CutOff(run.writer, "but durable" in how)  # type: ignore[assignment]
        try:
            await run.journal.commit(effects)
        except StoreUnavailable:
            if "for long" in how:
                raise
        finally:
            run.journal._writer = run.writer

    def _remove(self, run: Run) -> None:
        self.runs = [each for each in self.runs if each is not run]

    async def check(self) -> None:
        """Check that the store has all acknowledged data unchanged."""
        async with self.engine.connect() as connection:
            found = await load_events_by_match(connection, list(self.told))
            kept = await connection.execute(
                sa.select(schema.matches.c.match).where(schema.matches.c.finished.is_not(None))
            )
            over = set(kept.scalars())
        records = {each.match: to_line(each) for each in await load_records(self.engine, "test")}
        for match, acknowledged in self.told.items():
            kept_at = {number: at for number, (at, _) in enumerate(found[match], 1)}
            assert acknowledged.items() <= kept_at.items(), match
            assert [type(event) for _, event in found[match]] == [MatchOpened] * len(found[match])
        assert set(records) == over
        assert self.seen.items() <= records.items()
        assert self.acknowledged.items() <= records.items()
        self.seen = records


numbers = st.integers(0, 3)
whats = st.sampled_from(["event"] * 4 + ["begin", "end"])
hows = st.sampled_from(
    ["goes well"] * 6
    + ["is killed after the commit"]
    + [f"is cut off{durable}{long}" for durable in ("", ", but durable") for long in ("", ", for long")]
    + ["is cut off for long, and comes late"]
)
all_names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)


def steps(names: list[str]) -> st.SearchStrategy[list[tuple[object, ...]]]:
    """Generate steps of servers of these names on one store: they play most of the time, and are taken over
    often.
    """
    start = st.tuples(
        st.just("start"), st.sampled_from(names), st.sampled_from([DEAD, DEAD, identify_this_process()])
    )
    play = st.tuples(st.just("play"), numbers, numbers, whats, hows)
    at_once = st.tuples(st.just("play_at_once"), numbers, numbers, numbers, whats)
    rest = st.one_of(
        st.tuples(st.just("stop"), numbers),
        st.tuples(st.just("kill"), numbers),
        st.tuples(st.just("run_out")),
        st.tuples(st.just("check")),
    )
    # Two processes with one match begin, of which the second has taken the name over, and the first one does not know.
    taken, first_plays = ("start", names[0], DEAD), ("play", 0, 0, "event", "goes well")
    first = [
        taken,
        ("play", 0, 0, "begin", "goes well"),
        taken,
        ("play", 1, 0, "event", "goes well"),
        first_plays,
    ]
    more = st.lists(st.one_of(start, play, play, play, at_once, rest), min_size=5, max_size=30)
    return more.map(lambda then: [*first, *then])


@given(st.lists(all_names, min_size=1, max_size=2, unique=True).flatmap(steps))
@settings(
    max_examples=examples(33, 3).max_examples, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
async def test_whatever_servers_do_what_was_acknowledged_stays(
    database: str, todo: list[tuple[object, ...]]
) -> None:
    engine = make_engine(database, durable=False)
    try:
        await prepare_store(engine)
        async with engine.begin() as connection:
            for table in reversed(schema.metadata.sorted_tables):
                if table is not schema.about:
                    await connection.execute(sa.delete(table))
        async with AsyncExitStack() as stack:
            world = World(engine, stack)
            for what, *arguments in todo:
                with anyio.fail_after(500):
                    await getattr(world, str(what))(*arguments)
            await world.check()
    finally:
        await close_engine(engine)


def test_a_record_of_another_winner_is_another_line() -> None:
    """The test above relies on this: two processes that end one match would end it differently."""
    assert to_line(record("m", winner="maxie")) != to_line(record("m", winner="minnie"))
