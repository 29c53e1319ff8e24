"""A whole ladder: opens a host, starts the bots, plays the schedule, keeps the records.

Ctrl-C (or SIGTERM) stops it at once: matches in play are dropped, finished ones are kept, and every bot
is ended before `run_ladder` returns.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

import anyio
from anyio.abc import TaskStatus

from games.core import AnyGame
from protocol.record import Record, to_line
from server.botprocess import Patience
from server.fleet import BotRefused, open_fleet
from server.host import CannotListen, Host, open_host
from server.ladder_file import BotPlan, LadderPlan
from server.pairing import Pair, Pairing, round_robin
from server.runner import Bots, Runner, Terms
from server.store import StoreError
from server.visitors import DialIn, TooFew, gather

READY_MS = 30_000
"""How long a bot may prepare a match; compiling a search for the first time takes seconds."""

GRACE_MS = 2_000
"""On one machine a connection that breaks is a bot that crashed: its opponent need not wait long."""

VISITOR_GRACE_MS = 10_000
"""A bot on another machine may lose its connection without having crashed."""


class Watcher(Protocol):
    """Who wants to know how a ladder goes."""

    def played(self, ladder: Ladder, record: Record) -> None:
        """A match has ended; the ladder counts it already."""

    def notice(self, text: str) -> None:
        """A bot crashed, hung or was lost: a line that names it, and below it what it printed last."""


@dataclass
class Ladder:
    """A ladder's plan and what has been played of it."""

    plan: LadderPlan
    starts: Sequence[AnyGame]
    record: Path
    """Where finished matches go: appended, a line each."""
    pairs: tuple[Pair, ...] = ()
    played: list[tuple[Pairing, Record]] = field(default_factory=list)
    stopped: bool = False
    """Whether it was stopped before its end."""

    def __post_init__(self) -> None:
        if self.plan.bots:
            self._schedule()

    def enrol(self, names: Sequence[str]) -> None:
        """Let the bots of these names play: where the plan has none, before the first match."""
        self.plan = replace(self.plan, bots=tuple(BotPlan(name) for name in names))
        self._schedule()

    def _schedule(self) -> None:
        self.pairs = round_robin(self.bots, self.plan.rounds, len(self.starts), self.plan.seed)

    @property
    def bots(self) -> list[str]:
        return [bot.name for bot in self.plan.bots]

    @property
    def records(self) -> list[Record]:
        return [record for _, record in self.played]

    @property
    def concurrency(self) -> int:
        """How many matches are played at once."""
        return min(self.plan.concurrency or cores(), self.matches)

    @property
    def matches(self) -> int:
        """How many are to be played in all."""
        return 2 * len(self.pairs)


def cores() -> int:
    """How many this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        return os.cpu_count() or 1


class RecordFile:
    """Finished matches, one line each, in the file as soon as they are told: appended, never rewritten."""

    def __init__(self, path: Path) -> None:
        self._path = path
        # Unbuffered: a line is one write, so that a killed ladder leaves whole lines.
        self._file = path.open("ab", buffering=0)

    def write(self, record: Record) -> None:
        self._file.write(to_line(record).encode() + b"\n")

    def close(self) -> None:
        """Close the file; one with nothing in it goes again."""
        empty = self._file.tell() == 0
        self._file.close()
        if empty:
            self._path.unlink(missing_ok=True)


async def run_ladder(
    ladder: Ladder,
    watcher: Watcher,
    *,
    database: str | None = None,
    enough: Callable[[], bool] = lambda: False,
    patience: Patience | None = None,
    ready_ms: int = READY_MS,
    dial_in: DialIn | None = None,
) -> None:
    """Play a ladder to its end, until `enough`, or until a signal stops it; `ladder` holds what was played.

    A second signal changes nothing: what is left to do is bounded to seconds.
    With `dial_in` no bot is started, and those play that dial in. Raises fleet.BotRefused,
    visitors.TooFew, host.CannotListen, store.StoreError, and OSError for the record file.
    """
    file = RecordFile(ladder.record)

    def played(pairing: Pairing, finished: Record) -> None:
        file.write(finished)
        ladder.played.append((pairing, finished))
        watcher.played(ladder, finished)

    async def run(host: Host, bots: Bots) -> None:
        await Runner(host, bots, _terms(ladder, ready_ms), ladder.concurrency, played).run(
            ladder.pairs, enough
        )

    refused: BotRefused | TooFew | None = None
    unfit: Exception | None = None
    try:
        async with anyio.create_task_group() as tasks:
            await tasks.start(_stop_on_signal, ladder, tasks.cancel_scope)
            try:
                async with _open(dial_in, database) as host:
                    refused = await _play(ladder, host, watcher, patience, dial_in, run)
            except (CannotListen, StoreError) as error:
                unfit = error  # raised outside the group, which would wrap it
            tasks.cancel_scope.cancel()
    finally:
        file.close()
    problem = refused or unfit
    if problem is not None:
        raise problem


def _open(dial_in: DialIn | None, database: str | None) -> AbstractAsyncContextManager[Host]:
    if dial_in is None:
        return open_host(database=database, grace_ms=GRACE_MS)
    return open_host(
        host=dial_in.host, port=dial_in.port, database=database, grace_ms=VISITOR_GRACE_MS, anyone=True
    )


def _terms(ladder: Ladder, ready_ms: int) -> Terms:
    return Terms(
        event=ladder.plan.event,
        starts=ladder.starts,
        time_control=ladder.plan.time_control,
        margin_ms=ladder.plan.margin_ms,
        ready_ms=ready_ms,
        threads=max(1, cores() // ladder.concurrency),
    )


async def _play(
    ladder: Ladder,
    host: Host,
    watcher: Watcher,
    patience: Patience | None,
    dial_in: DialIn | None,
    run: Callable[[Host, Bots], Awaitable[None]],
) -> BotRefused | TooFew | None:
    """Get the bots together and `run`. What is wrong with them is returned: a task group would wrap it."""
    plan = ladder.plan
    if dial_in is not None:
        watcher.notice(f"waiting for {dial_in.bots} bots or more at {host.url}")
        try:
            visitors = await gather(host, plan.game, dial_in)
        except TooFew as few:
            return few
        ladder.enrol(visitors.names)
        async with visitors.watched():
            await run(host, visitors)
        return None
    # So many that `concurrency` matches find bots to play them.
    twins = -(-2 * ladder.concurrency // len(plan.bots))
    async with open_fleet(
        host, plan.bots, twins=twins, folder=plan.folder, patience=patience, notice=watcher.notice
    ) as fleet:
        try:
            await fleet.settle()
            await run(host, fleet)
        except BotRefused as refused:
            return refused
    return None


async def _stop_on_signal(
    ladder: Ladder, scope: anyio.CancelScope, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        task_status.started()
        async for _ in signals:
            ladder.stopped = True
            scope.cancel()
