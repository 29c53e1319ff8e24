"""Servers on one store are started, stopped, killed and disconnected in any order: acknowledged data stay."""

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

from arena.clock import MONOTONIC_CLOCK
from arena.match.referee_events import MatchOpened
from arena.processes.identity import ProcessIdentity, identify_this_process
from arena.protocol.record import format_record_line
from arena.server.core.effects import DurableEffect
from arena.server.store import lease, schema
from arena.server.store.database import create_or_migrate_store, open_engine
from arena.server.store.journal.changes import collect_journal_changes
from arena.server.store.journal.journal import Journal, JournalWriter, StoreUnavailable
from arena.server.store.journal.postgresql_writer import open_postgresql_writer
from arena.server.store.journal.reader import read_events_by_match
from arena.server.store.journal.sqlite_writer import open_sqlite_writer
from arena.server.store.lease import LeaseHeld, LeaseLost
from testkit.stored_records import load_event_records
from tests.properties import examples
from tests.server.journals import make_append_event, make_close_match, make_open_match
from tests.server.matches import record

ENDED_PROCESS = replace(identify_this_process(), start_ticks="1")
"""Identity of a process that counts as ended, so that others acquire its name at once, even if it still writes."""
MAX_STARTS = 6
"""Maximum number of processes started in a test: each keeps two of the engine's 15 connections to PostgreSQL until the end."""


@dataclass
class BrokenWriter:
    """Writer whose commits always raise an exception; they are stored nevertheless if `durable` is True."""

    writer: JournalWriter
    durable: bool

    async def commit(self, changes: object, held: object) -> None:
        if self.durable:
            await self.writer.commit(changes, held)  # type: ignore[arg-type]
        raise ConnectionError("the line is cut")


@dataclass
class ServerProcess:
    """Process of a server, which may have lost its lease without knowing it."""

    journal: Journal
    writer: JournalWriter
    open: dict[str, int] = field(default_factory=dict)
    """Number of events of each match in progress, by match."""


@dataclass
class ServerWorld:
    """Processes on one store, and the data whose commit was acknowledged."""

    engine: AsyncEngine
    stack: AsyncExitStack
    runs: list[ServerProcess] = field(default_factory=list)
    acknowledged_events: dict[str, dict[int, int]] = field(default_factory=dict)
    """Time of each acknowledged event, by match and number of the event."""
    time: int = 0
    """Time of the last event; each event has its own."""
    acknowledged: dict[str, str] = field(default_factory=dict)
    """Record of each match whose end was acknowledged."""
    seen: dict[str, str] = field(default_factory=dict)
    """Records of finished matches that the last check has found in the store, acknowledged or not."""
    matches: int = 0
    starts: int = 0

    async def start(self, name: str, process: ProcessIdentity) -> None:
        """Start a process that acquires the name, if it is free, and continues its matches. After MAX_STARTS, start none."""
        if self.starts == MAX_STARTS:
            return
        self.starts += 1
        writer: JournalWriter = await self.stack.enter_async_context(
            open_sqlite_writer(self.engine)
            if self.engine.dialect.name == "sqlite"
            else open_postgresql_writer(self.engine, 10, MONOTONIC_CLOCK)
        )
        try:
            held = await writer.run_in_transaction(
                partial(lease.try_acquire_lease, server_name=name, process=process)
            )
        except LeaseHeld:
            return
        run = ServerProcess(
            Journal(self.engine, writer, held, MONOTONIC_CLOCK, lambda _seconds: None), writer
        )
        await self._load(run)
        self.runs.append(run)

    async def _load(self, run: ServerProcess) -> None:
        found = (await run.journal.load_restart_state("test")).unfinished_matches
        run.open = {each.terms.match: len(each.match_events) for each in found}

    async def stop(self, number: int) -> None:
        """Stop a process, which releases its name if it still holds it."""
        if self.runs:
            await self.runs.pop(number % len(self.runs)).journal.release_lease()

    async def kill(self, number: int) -> None:
        """Kill a process."""
        if self.runs:
            self.runs.pop(number % len(self.runs))

    async def expire_leases(self) -> None:
        """Let all leases expire. Their holders keep running."""
        async with self.engine.begin() as connection:
            await connection.execute(sa.update(schema.servers).values(until=0.0))

    async def play(self, number: int, match_index: int, kind: str, outcome: str) -> None:
        """Commit the start, an event or the end of a match in a process. The commit may fail."""
        if self.runs:
            await self._play(self.runs[number % len(self.runs)], match_index, kind, outcome)

    async def play_at_once(self, first: int, second: int, match_index: int, kind: str) -> None:
        """Commit in two processes at the same time, perhaps to the same match."""
        both = {
            id(run): run
            for run in (self.runs[each % len(self.runs)] for each in (first, second) if self.runs)
        }
        async with anyio.create_task_group() as tasks:
            for run in both.values():
                tasks.start_soon(self._play, run, match_index, kind, "goes well")

    async def _play(self, run: ServerProcess, match_index: int, kind: str, outcome: str) -> None:
        effects: list[DurableEffect] = []
        if kind == "begin" or not run.open:
            self.matches += 1
            match = f"match {self.matches}"
            effects.append(make_open_match(match))
            run.open[match] = 0
        else:
            match = sorted(run.open)[match_index % len(run.open)]
        self.time += 1
        at, number = self.time, run.open[match] + 1
        effects.append(make_append_event(number, at=at, match=match))
        ended = record(match, winner="maxie" if run.journal.lease.fencing_token % 2 else "minnie")
        if kind == "end":
            effects.append(make_close_match(ended))
        try:
            if outcome.startswith("is cut off"):
                await self._break_commit(run, effects, outcome)
            await run.journal.commit(effects)
        except LeaseLost:
            self._remove(run)  # the process ends without an acknowledgement
            return
        except StoreUnavailable:
            # The process continues from the store, which may have events that were never acknowledged.
            before = run.journal.lease
            with suppress(LeaseLost):
                await self._load(run)
                if "late" in outcome:
                    await run.writer.commit(
                        collect_journal_changes(effects, before.server_name), before
                    )  # this late commit must be refused
            return
        if outcome == "is killed after the commit":
            self._remove(run)
            return
        run.open[match] = number
        acknowledged = self.acknowledged_events.setdefault(match, {})
        assert number not in acknowledged
        acknowledged[number] = at
        if kind == "end":
            del run.open[match]
            assert match not in self.acknowledged
            self.acknowledged[match] = format_record_line(ended)

    @staticmethod
    async def _break_commit(run: ServerProcess, effects: list[DurableEffect], outcome: str) -> None:
        """Let a commit raise an exception, though it may be durable. Raises StoreUnavailable if it is not to be repeated."""
        run.journal._writer = BrokenWriter(run.writer, "but durable" in outcome)  # type: ignore[assignment]
        try:
            await run.journal.commit(effects)
        except StoreUnavailable:
            if "for long" in outcome:
                raise
        finally:
            run.journal._writer = run.writer

    def _remove(self, run: ServerProcess) -> None:
        self.runs = [each for each in self.runs if each is not run]

    async def check(self) -> None:
        """Check that the store has all acknowledged data unchanged."""
        async with self.engine.connect() as connection:
            found = await read_events_by_match(connection, list(self.acknowledged_events))
            kept = await connection.execute(
                sa.select(schema.matches.c.match).where(schema.matches.c.finished.is_not(None))
            )
            over = set(kept.scalars())
        records = {
            each.match: format_record_line(each) for each in await load_event_records(self.engine, "test")
        }
        for match, acknowledged in self.acknowledged_events.items():
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
server_names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)


def steps(names: list[str]) -> st.SearchStrategy[list[tuple[object, ...]]]:
    """Generate steps of servers with these names: mostly commits, and often another process acquires a name."""
    start = st.tuples(
        st.just("start"),
        st.sampled_from(names),
        st.sampled_from([ENDED_PROCESS, ENDED_PROCESS, identify_this_process()]),
    )
    play = st.tuples(st.just("play"), numbers, numbers, whats, hows)
    at_once = st.tuples(st.just("play_at_once"), numbers, numbers, numbers, whats)
    rest = st.one_of(
        st.tuples(st.just("stop"), numbers),
        st.tuples(st.just("kill"), numbers),
        st.tuples(st.just("expire_leases")),
        st.tuples(st.just("check")),
    )
    # At first, two processes play the same match, because the first does not know that the second has its name.
    taken, first_plays = ("start", names[0], ENDED_PROCESS), ("play", 0, 0, "event", "goes well")
    first = [
        taken,
        ("play", 0, 0, "begin", "goes well"),
        taken,
        ("play", 1, 0, "event", "goes well"),
        first_plays,
    ]
    more = st.lists(st.one_of(start, play, play, play, at_once, rest), min_size=5, max_size=30)
    return more.map(lambda then: [*first, *then])


@given(st.lists(server_names, min_size=1, max_size=2, unique=True).flatmap(steps))
@settings(
    max_examples=examples(33, 3).max_examples, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
async def test_acknowledged_data_stay_whatever_the_servers_do(
    database: str, todo: list[tuple[object, ...]]
) -> None:
    async with open_engine(database, is_durable=False) as engine:
        await create_or_migrate_store(engine)
        async with engine.begin() as connection:
            for table in reversed(schema.metadata.sorted_tables):
                if table is not schema.about:
                    await connection.execute(sa.delete(table))
        async with AsyncExitStack() as stack:
            world = ServerWorld(engine, stack)
            for kind, *arguments in todo:
                with anyio.fail_after(500):
                    await getattr(world, str(kind))(*arguments)
            await world.check()


def test_records_with_different_winners_differ() -> None:
    """The test above relies on this: two processes that end the same match store different records."""
    assert format_record_line(record("m", winner="maxie")) != format_record_line(record("m", winner="minnie"))
