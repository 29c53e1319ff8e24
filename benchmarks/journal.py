"""What the journal costs for each move, from its append until it is durable; writes benchmarks/SERVER.md.

    python -m benchmarks.journal [--moves 3000] [--rounds 3]

Matches of 90 moves begin and end all the time, and each commit holds one move of every match in play. SQLite is
a file of this machine, and PostgreSQL a server of the benchmark's own on the same disk, where there is one; both
wait for the disk at each commit. CPU time is that of each thread, and on PostgreSQL of the database's process.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import sqlalchemy as sa
import uvloop

from arena.games.core import Player
from arena.maps.setup import make_setup
from arena.match.events import Moved, TurnLeft
from arena.match.terms import Terms
from arena.protocol.codes import EndReason
from arena.protocol.record import FORMAT, Record, Result
from arena.protocol.timecontrol import TimeControl
from arena.protocol.values import Players, Thinking
from arena.server.store import database
from arena.server.store.journal.batch import Batch
from arena.server.store.journal.journal import Journal
from benchmarks.kit.measure import Section
from benchmarks.kit.results import measured_on, write_server
from testkit.parts import postgresql_folder
from tests.server.databases import running_postgresql

PLIES = 90
MOVES_A_COMMIT = (1, 30, 400)
"""Ten bots that search bring about one move a commit, a few hundred 30, and 500 matches flat out 400."""

GAME = make_setup("riskless", "path4")
ENDS = Result("maxie", EndReason.ARMIES)
STARTED = "2026-11-20T12:00:00Z"
EVENT = "test"


@dataclass
class Play:
    """A match in progress."""

    match: str
    ply: int = 0

    def append_next(self, journal: Journal) -> Batch:
        """Tell the journal of the next move."""
        ply, self.ply = self.ply, self.ply + 1
        thinking = Thinking(value=1.5, depth=6, nodes=12_345)
        moved = Moved(list(Player)[ply % 2], ply, [ply % 40, 17], thinking)
        turn = 10**14, TurnLeft(ply, 250_000)
        return journal.append(self.match, 2 * self.ply, 10**14 + ply, moved, turn)


def terms_of(match: str) -> Terms:
    """The terms under which all matches are played."""
    return Terms(
        match=match,
        event=EVENT,
        game=GAME,
        players=Players("anna", "bert"),
        time_control=TimeControl.parse("60+1"),
        margin_ms=100,
        ready_ms=1000,
        grace_ms=1000,
    )


def record_of(match: str) -> Record:
    """The record of a match that is over, without its moves, which cost the same in whatever form events are."""
    terms = terms_of(match)
    return Record(
        FORMAT, match, EVENT, GAME.name, {}, terms.players, str(terms.time_control), STARTED, [], ENDS
    )


@dataclass
class Costs:
    """What commits have taken: seconds of wall time each, and of CPU time of the loop and of the writer in all."""

    waits: list[float] = field(default_factory=list)
    loop: float = 0.0
    writer: float = 0.0


class Meter:
    """Measures commits of one journal."""

    def __init__(self, journal: Journal, writer_cpu: Callable[[], float]) -> None:
        """writer_cpu: the CPU time so far, in seconds, of what writes to the database."""
        self._journal = journal
        self._writer_cpu = writer_cpu

    async def commit(self, costs: Costs, add: Callable[[], Batch]) -> None:
        """Add to the journal, and wait until that is durable."""
        done = asyncio.get_running_loop().create_future()
        loop, writer, began = time.thread_time(), self._writer_cpu(), time.perf_counter()
        batch = add()
        batch.then.append(lambda _error: done.set_result(time.perf_counter()))
        durable: float = await done
        costs.waits.append(durable - began)
        costs.loop += time.thread_time() - loop
        costs.writer += self._writer_cpu() - writer
        await self._journal.durable(batch)


@dataclass
class Outcome:
    """One run."""

    moves: int
    playing: Costs
    ending: Costs
    stored: int
    """Bytes of the store at the end."""

    def cells(self) -> list[float]:
        """Milliseconds of a commit's wait, p50 and p99; µs of CPU a move; bytes a move; the same of a match's end."""
        waits = sorted(self.playing.waits)
        ends = len(self.ending.waits)
        return [
            1e3 * waits[len(waits) // 2],
            1e3 * waits[len(waits) * 99 // 100],
            1e6 * self.playing.loop / self.moves,
            1e6 * self.playing.writer / self.moves,
            self.stored / self.moves,
            1e3 * statistics.median(self.ending.waits),
            1e6 * self.ending.loop / ends,
            1e6 * self.ending.writer / ends,
        ]


async def played(url: str, at_once: int, moves: int) -> Outcome:
    """About so many moves, `at_once` in a commit, with the beginnings and ends of their matches."""
    engine = database.make_engine(url)
    await database.prepare(engine)
    journal = Journal(engine)
    running = asyncio.create_task(journal.run())
    # They are at all stages, so that they end one after the other.
    plays = [Play(uuid.uuid4().hex, number * PLIES // at_once) for number in range(at_once)]
    for play in plays:
        journal.open_match(terms_of(play.match), STARTED)
    await journal.drain()
    meter = Meter(journal, await _writer_cpu(journal, engine))
    playing, ending = Costs(), Costs()
    commits = max(PLIES, moves // at_once)
    for _ in range(commits):
        await meter.commit(playing, lambda: [play.append_next(journal) for play in plays][-1])
        for number, play in enumerate(plays):
            if play.ply >= PLIES:
                await meter.commit(ending, lambda match=play.match: journal.close_match(record_of(match)))  # type: ignore[misc]
                plays[number] = Play(uuid.uuid4().hex)
                await journal.durable(journal.open_match(terms_of(plays[number].match), STARTED))
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    stored = await _stored(engine)
    await database.close(engine)
    return Outcome(commits * at_once, playing, ending, stored)


async def _writer_cpu(journal: Journal, engine: database.Engine) -> Callable[[], float]:
    """What tells the CPU time of the journal's thread, or of the process of PostgreSQL that serves it."""
    if engine.dialect.name == "sqlite":
        (thread,) = (each for each in threading.enumerate() if each.name.startswith("arena-writer"))
        clock = time.pthread_getcpuclockid(thread.ident or 0)
        return lambda: time.clock_gettime(clock)
    process = await journal.write(lambda each: each.execute(sa.select(sa.func.pg_backend_pid())).scalar_one())
    schedstat = Path(f"/proc/{process}/schedstat")
    return lambda: int(schedstat.read_text(encoding="ascii").split()[0]) / 1e9


async def _stored(engine: database.Engine) -> int:
    async with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            size = sa.text("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
        else:
            size = sa.text("SELECT pg_total_relation_size('events') + pg_total_relation_size('matches')")
        return int((await connection.execute(size)).scalar_one())


@contextmanager
def new_databases() -> Iterator[dict[str, Callable[[], str]]]:
    """What makes the URL of an empty database, by its kind; PostgreSQL only where it is installed."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="arena-journal-")))
        made: dict[str, Callable[[], str]] = {"SQLite": lambda: f"sqlite:///{folder / uuid.uuid4().hex}.db"}
        binaries = postgresql_folder()
        if binaries is not None:
            made["PostgreSQL"] = stack.enter_context(running_postgresql(binaries, lasting=True)).new_database
        yield made


def spread(values: Sequence[float]) -> str:
    """The median, with the least and the greatest."""
    median, least, greatest = (
        f"{each:.1f}" if each < 100 else f"{each:,.0f}"
        for each in (statistics.median(values), min(values), max(values))
    )
    return median if least == greatest else f"{median} ({least} to {greatest})"


def measured(moves: int, rounds: int) -> Section:
    """All rounds, as a section."""
    rows = []
    with new_databases() as kinds:
        for kind, new_database in kinds.items():
            for at_once in MOVES_A_COMMIT:
                runs = [uvloop.run(played(new_database(), at_once, moves)).cells() for _ in range(rounds)]
                rows.append([kind, str(at_once), *map(spread, zip(*runs, strict=True))])
                print(*rows[-1], flush=True)
    return Section(
        "The journal, for each move",
        f"{moves:,} moves, or {PLIES} commits where that is more; medians of {rounds} rounds, with the least and the "
        "greatest. *Wait* is from the append to the answer that it is durable. CPU is in microseconds: of the event "
        "loop, and of the journal's thread (SQLite) or the database's process (PostgreSQL). The store holds the "
        "matches and their events, a row for each move.",
        (
            "database",
            "moves a commit",
            "wait p50 ms",
            "p99 ms",
            "loop a move",
            "writer a move",
            "bytes a move",
            "end of a match: wait p50 ms",
            "loop",
            "writer",
        ),
        rows,
    )


def main() -> None:
    """Measure, print, and write the section."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument("--moves", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with measured_on("python -m benchmarks.journal") as note:
        section = measured(given.moves, given.rounds)
    text = f"{section.markdown()}\n\n{note()}"
    print(text)
    if given.moves >= parser.get_default("moves"):
        write_server("journal", text)


if __name__ == "__main__":
    main()
