"""What the journal costs for each move, against a row of `events` for each; writes benchmarks/SERVER.md.

    python -m benchmarks.journal [--commits 2000] [--rounds 3]

Matches of 90 moves begin and end all the time, and each commit holds one move of every match in play. The
file need not survive a loss of power, so that the disk does not count; CPU time is that of each thread.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import threading
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa
import uvloop

from benchmarks.measure import Section
from benchmarks.results import measured_on, write_server
from games.core import Player
from maps.setup import make_setup
from match.events import Moved, TurnLeft, joined, to_journal
from match.terms import Terms
from protocol.codes import EndReason
from protocol.messages import Players, Thinking
from protocol.record import FORMAT, Record, Result
from protocol.timecontrol import TimeControl
from server.store import database, schema
from server.store.journal.journal import INSERT_MATCH, Journal

PLIES = 90
AT_ONCE = (1, 30, 390)
"""Moves in a commit; the last is what 500 matches flat out bring."""

GAME = make_setup("riskless", "path4")
ENDS = Result("maxie", EndReason.ARMIES)
STARTED = "2026-11-20T12:00:00Z"
EVENT = "test"


@dataclass
class Play:
    """A match in progress."""

    match: str
    ply: int = 0

    def next(self) -> tuple[int, int, Moved, tuple[int, TurnLeft]]:
        """The next move as the journal is told of it."""
        ply, self.ply = self.ply, self.ply + 1
        thinking = Thinking(value=1.5, depth=6, nodes=12_345)
        moved = Moved(list(Player)[ply % 2], ply, [ply % 40, 17], thinking)
        return 2 * self.ply, 10**14 + ply, moved, (10**14, TurnLeft(ply, 250_000))


@dataclass
class Cost:
    """Of a move: microseconds of CPU, and bytes."""

    thread: float
    loop: float
    written: float


def terms_of(match: str) -> Terms:
    """On which all are played."""
    return Terms(
        match=match,
        event="journal",
        game=GAME,
        players=Players("anna", "bert"),
        time_control=TimeControl.parse("60+1"),
        margin_ms=100,
        ready_ms=1000,
        grace_ms=1000,
    )


def begun(at_once: int) -> list[Play]:
    """Matches at all stages, so that they end one after the other."""
    return [Play(uuid.uuid4().hex, number * PLIES // at_once) for number in range(at_once)]


async def journaled(at_once: int, commits: int, folder: Path) -> Cost:
    """So many commits of so many moves each, as a server makes them; with the beginnings and ends of matches."""
    engine = database.make_engine(f"sqlite:///{folder / 'journaled.db'}", lasting=False)
    await database.prepare(engine)
    journal = Journal(engine)
    running = asyncio.create_task(journal.run())
    plays = begun(at_once)
    for play in plays:
        journal.open_match(terms_of(play.match), STARTED)
    await journal.drain()
    (thread,) = (each for each in threading.enumerate() if each.name.startswith("arena-writer"))
    clock = time.pthread_getcpuclockid(thread.ident or 0)
    spent, told, wrote = time.clock_gettime(clock), 0.0, written()
    for _ in range(commits):
        before = time.thread_time()
        for play in plays:
            seq, at, event, turn = play.next()
            journal.append(play.match, seq, at, event, turn)
        told += time.thread_time() - before
        for number, play in enumerate(plays):
            if play.ply >= PLIES:
                terms = terms_of(play.match)
                record = Record(
                    FORMAT,
                    play.match,
                    EVENT,
                    GAME.name,
                    {},
                    terms.players,
                    str(terms.time_control),
                    STARTED,
                    [],
                    ENDS,
                )
                journal.close_match(record)
                plays[number] = Play(uuid.uuid4().hex)
                journal.open_match(terms_of(plays[number].match), STARTED)
        await journal.drain()
    moves = commits * at_once
    cost = Cost(
        1e6 * (time.clock_gettime(clock) - spent) / moves, 1e6 * told / moves, (written() - wrote) / moves
    )
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await database.close(engine)
    return cost


def a_row_a_move(at_once: int, commits: int, folder: Path) -> Cost:
    """The same moves, each as a row of `events`, by the driver alone; no matches begin and end meanwhile."""
    engine = database.make_engine(f"sqlite:///{folder / 'rows.db'}", lasting=False)
    asyncio.run(database.prepare(engine))
    twin = database.blocking_twin(engine)
    plays = begun(at_once)
    row = dict.fromkeys(("event", "game", "maxie", "minnie", "terms", "started", "server"), "") | {
        "rated": False
    }
    with twin.connect() as connection:
        insert = str(sa.insert(schema.events).compile(dialect=twin.dialect))
        connection.execute(INSERT_MATCH, [row | {"match": play.match} for play in plays])
        connection.commit()
        spent, wrote = 0.0, written()
        for _ in range(commits):
            rows = []
            for play in plays:
                seq, at, event, turn = play.next()
                rows.append((play.match, seq, at, joined([to_journal(at, event, turn)])))
            before = time.thread_time()
            with connection.begin():
                connection.exec_driver_sql(insert, rows)
            spent += time.thread_time() - before
    twin.dispose()
    moves = commits * at_once
    return Cost(1e6 * spent / moves, 0.0, (written() - wrote) / moves)


def written() -> int:
    """Bytes that this process has written to anything."""
    lines = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith("wchar:")).split()[1])


def measured(commits: int, rounds: int) -> Section:
    """All rounds, as a section."""
    rows = []
    for at_once in AT_ONCE:
        ours, theirs = [], []
        some = max(PLIES, commits if at_once < 100 else commits // 4)
        for _ in range(rounds):
            with tempfile.TemporaryDirectory(prefix="arena-journal-") as folder:
                ours.append(uvloop.run(journaled(at_once, some, Path(folder))))
                theirs.append(a_row_a_move(at_once, some, Path(folder)))
        fewer = [row.written / own.written for own, row in zip(ours, theirs, strict=True)]
        rows.append(
            [
                str(at_once),
                f"{statistics.median(each.thread for each in ours):.1f}",
                f"{statistics.median(each.thread for each in theirs):.1f}",
                f"{statistics.median(each.loop for each in ours):.1f}",
                f"{statistics.median(each.written for each in ours):,.0f}",
                f"{statistics.median(each.written for each in theirs):,.0f}",
                f"{statistics.median(fewer):.1f} ({min(fewer):.1f} to {max(fewer):.1f}) ×",
            ]
        )
        print(*rows[-1], flush=True)
    return Section(
        "The journal, for each move",
        f"{commits:,} commits, a quarter of them where they are large; medians of {rounds} rounds. Times are of CPU, "
        "in microseconds. Matches begin and end all the time, which is in the journal's figures; a row of `events` "
        "for each move, by the driver alone and without their beginnings and ends, is what SQLite takes for an index.",
        (
            "moves a commit",
            "journal's thread",
            "a row a move",
            "event loop",
            "bytes written",
            "a row a move",
            "fewer bytes",
        ),
        rows,
    )


def main() -> None:
    """Measure, print, and write the section."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument("--commits", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with measured_on("python -m benchmarks.journal") as note:
        section = measured(given.commits, given.rounds)
    text = f"{section.markdown()}\n\n{note()}"
    print(text)
    if given.commits >= parser.get_default("commits"):
        write_server("journal", text)


if __name__ == "__main__":
    main()
