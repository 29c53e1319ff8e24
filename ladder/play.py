"""Plays a whole ladder: opens a host and the event, and lets `ladder.organiser` play it.

Ctrl-C (or SIGTERM) stops it at once: matches in play are dropped, finished ones are kept, and every bot
is ended before `run_ladder` returns.
"""

from __future__ import annotations

import os
import signal
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from datetime import datetime
from pathlib import Path

import anyio
from anyio.abc import TaskStatus

from arena.ladder.bots import BotRefused
from arena.ladder.cluster import ClusterLost
from arena.ladder.dial_in import DialIn, TooFewBots, await_in_vain
from arena.ladder.event import Ladder
from arena.ladder.organiser import GRACE_MS, Organiser, Watcher
from arena.ladder.progress import progress_of
from arena.ladder.record_file import RecordFile
from arena.rating.sprt import Sprt
from arena.server.host import CannotListen, Host, open_host
from arena.server.processes.bot_process import Patience
from arena.server.settings import private
from arena.server.store.database import StoreError, now
from arena.server.store.ladder_lock import CannotResume
from arena.server.store.ladders import StoredLadder, claimed, finish
from arena.server.web.progress import EventProgress

READY_MS = 30_000
"""How long a bot may prepare a match, in milliseconds; compiling a search for the first time takes seconds."""

RECORDS = "ARENA_RECORDS"
"""The variable that names the folder of matches for which no --record names a file; unset: the present one."""

DIAL_IN_GRACE_MS = 10_000
"""How long a bot that dials in may stay away, in milliseconds: it may lose its connection without a crash."""


async def run_ladder(
    ladder: Ladder,
    watcher: Watcher,
    *,
    database: str | None = None,
    enough: Callable[[], bool] = lambda: False,
    patience: Patience | None = None,
    ready_ms: int = READY_MS,
    dial_in: DialIn | None = None,
    cluster: str | None = None,
    port: int = 0,
    opened: Callable[[str], None] = lambda _url: None,
    test: Sprt | None = None,
) -> None:
    """Play a ladder to its end, until `enough`, or until a signal stops it; `ladder` holds what was played.

    database  URL of a store; an event that is in it goes on where it was, however it was stopped. None:
              a store that is thrown away
    dial_in   where bots dial in: no bot is then started, and those play that come
    cluster   the address of a Dask scheduler whose workers play; None: the matches are played here
    port      of the host's own page and bots, on this machine alone; 0 for any free one
    opened    told where the host listens: once the bots are there that it starts, or before any has dialled in
    test      the sequential test that the page shows; `enough` says when it ends the event

    A second signal changes nothing: what is left to do is bounded to seconds. Raises bots.BotRefused,
    dial_in.TooFewBots, cluster.ClusterLost, host.CannotListen, store.database.StoreError,
    store.ladder_lock.CannotResume, ModuleNotFoundError without the extra `cluster`, and OSError for the record file.
    """
    problem: Exception | None = None
    async with anyio.create_task_group() as tasks:
        await tasks.start(_stop_on_signal, ladder, tasks.cancel_scope)
        try:
            async with (
                _open(ladder, dial_in, database, port, test) as host,
                _claimed(ladder, watcher, host, database, dial_in) as stored,
            ):
                with RecordFile(_record_file(ladder, stored)) as file:
                    organiser = Organiser(ladder, watcher, host, stored, file, enough, ready_ms, opened)
                    if dial_in is not None:
                        await organiser.play_who_dials_in(dial_in)
                    elif cluster is not None:
                        await organiser.play_on_cluster(cluster, patience)
                    else:
                        await organiser.play_here(patience)
                    # What was cut off is taken out of the store: nothing of it may come in afterwards.
                    await host.journal.drain()
                    await finish(host.engine, stored.event)
        except (
            BotRefused,
            TooFewBots,
            ClusterLost,
            CannotListen,
            CannotResume,
            StoreError,
            ModuleNotFoundError,
            OSError,
        ) as error:
            problem = error  # raised outside the group, which would wrap it
        tasks.cancel_scope.cancel()
    if problem is not None:
        raise problem


def _open(
    ladder: Ladder, dial_in: DialIn | None, database: str | None, port: int, test: Sprt | None
) -> AbstractAsyncContextManager[Host]:
    # One process at a time plays an event, and many events may be played on one store beside a server.
    name = f"{ladder.kind} {uuid.uuid4().hex[:12]}"

    def progress(event: str) -> EventProgress | None:
        return progress_of(ladder, test) if event == ladder.plan.event else None

    grace_ms, rules = GRACE_MS if dial_in is None else DIAL_IN_GRACE_MS, ladder.plan.adjudication
    settings = private(
        port=port, database=database, name=name, grace_seconds=grace_ms / 1000, adjudication=rules
    )
    if dial_in is not None:
        settings.server.host, settings.server.port, settings.server.anyone = dial_in.host, dial_in.port, True
    return open_host(settings, lasting=False, progress=progress)


@asynccontextmanager
async def _claimed(
    ladder: Ladder, watcher: Watcher, host: Host, database: str | None, dial_in: DialIn | None
) -> AsyncIterator[StoredLadder]:
    """The event. Where it is refused, bots that dial in are let in first, so that they are told that the host ends."""
    async with AsyncExitStack() as stack:
        try:
            stored = await stack.enter_async_context(_event(ladder, host, database))
        except CannotResume:
            if dial_in is not None:
                watcher.notice(
                    f"nothing can be played: waiting for {dial_in.bots} bots at {host.url}, to send them home"
                )
                await await_in_vain(host, ladder.plan.game, dial_in)
            raise
        yield stored


@asynccontextmanager
async def _event(ladder: Ladder, host: Host, database: str | None) -> AsyncIterator[StoredLadder]:
    """The event, new or gone on with; in a store that is thrown away it is always new."""
    auto = f"{ladder.kind}-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    if database is None:
        event = ladder.plan.event if ladder.named else auto
        ladder.call(event)
        yield StoredLadder(event, uuid.uuid4(), {}, now(), None, {})
        return
    name = ladder.plan.event if ladder.named else None
    async with claimed(host.engine, ladder.kind, name, auto, ladder.identity()) as stored:
        ladder.call(stored.event)
        yield stored


def _record_file(ladder: Ladder, stored: StoredLadder) -> Path:
    """The file for finished matches: the ladder's own, or one named after the event's beginning. Raises OSError."""
    if ladder.record is not None:
        return ladder.record
    began = datetime.fromisoformat(stored.started).astimezone()
    folder = Path(os.environ.get(RECORDS, ""))
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{ladder.kind}-{began:%Y%m%d-%H%M%S}.jsonl"
    ladder.write_to(file)
    return file


async def _stop_on_signal(
    ladder: Ladder, scope: anyio.CancelScope, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        task_status.started()
        async for _ in signals:
            ladder.stop()
            scope.cancel()
