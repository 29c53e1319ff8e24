"""Playing of a whole ladder: open a host and the event, and run `ladder.event_runner`.

Ctrl-C (or SIGTERM) stops it immediately: matches in play are dropped, finished ones are kept, and every bot
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
from arena.ladder.event import Ladder
from arena.ladder.event_runner import GRACE_MS, EventRunner, ProgressObserver
from arena.ladder.external_bots import ExternalBotSettings, TooFewBots, wait_without_playing
from arena.ladder.progress import progress_of
from arena.ladder.record_file import RecordFile
from arena.rating.sprt import Sprt
from arena.server.edge.addresses import LOOPBACK
from arena.server.host import CannotListen, Host, open_host
from arena.server.processes.bot_process import RestartPolicy
from arena.server.settings import private_settings
from arena.server.store.database import StoreError, now
from arena.server.store.ladder_lock import CannotResume
from arena.server.store.ladders import StoredLadder, claim, finish
from arena.server.web.live import EventProgress

RECORDS = "ARENA_RECORDS"
"""Environment variable with the folder for records if --record names no file; by default the current folder."""

DIAL_IN_GRACE_MS = 10_000
"""Time that a bot from elsewhere may be disconnected, in milliseconds."""


async def run_ladder(
    ladder: Ladder,
    watcher: ProgressObserver,
    *,
    database: str | None = None,
    enough: Callable[[], bool] = lambda: False,
    patience: RestartPolicy | None = None,
    dial_in: ExternalBotSettings | None = None,
    cluster: str | None = None,
    port: int = 0,
    opened: Callable[[str], None] = lambda _url: None,
    test: Sprt | None = None,
) -> None:
    """Play a ladder to its end, until `enough`, or until a signal stops it; `ladder` holds the results.

    database  URL of a store, in which an interrupted event is resumed; None for a temporary store
    dial_in   address for bots that connect by themselves; no bots are then started here
    cluster   address of a Dask scheduler whose workers play; None to play here
    port      port of the host's page and bots on this machine only; 0 for any free one
    opened    called with the host's URL: after started bots have connected, or before external bots connect
    test      sequential test shown on the page; `enough` ends the event by it

    Further signals change nothing: the remaining cleanup takes at most seconds. Raises bots.BotRefused,
    dial_in.TooFewBots, cluster.ClusterLost, host.CannotListen, store.database.StoreError,
    store.ladder_lock.CannotResume, ModuleNotFoundError without the extra `cluster`, and OSError for the record file.
    """
    problem: Exception | None = None
    async with anyio.create_task_group() as tasks:
        await tasks.start(_stop_on_signal, ladder, tasks.cancel_scope)
        try:
            async with (
                _open(ladder, dial_in, database, port, test) as host,
                _claim(ladder, watcher, host, database, dial_in) as stored,
            ):
                with RecordFile(_record_file(ladder, stored)) as file:
                    organiser = EventRunner(ladder, watcher, host, stored, file, enough, opened)
                    if dial_in is not None:
                        await organiser.play_external(dial_in)
                    elif cluster is not None:
                        await organiser.play_on_cluster(cluster, patience)
                    else:
                        await organiser.play_here(patience)
                    # Interrupted matches are removed from the store, so the host must not write to it any more.
                    await host.halt()
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
    ladder: Ladder,
    dial_in: ExternalBotSettings | None,
    database: str | None,
    port: int,
    test: Sprt | None,
) -> AbstractAsyncContextManager[Host]:
    # A unique name: one process plays an event, but many events and a server may share a store.
    name = f"{ladder.kind} {uuid.uuid4().hex[:12]}"

    def progress(event: str) -> EventProgress | None:
        return progress_of(ladder, test) if event == ladder.plan.event else None

    settings = private_settings(
        host=LOOPBACK if dial_in is None else dial_in.host,
        port=port if dial_in is None else dial_in.port,
        anyone=dial_in is not None,
        database=database,
        name=name,
        grace_seconds=(GRACE_MS if dial_in is None else DIAL_IN_GRACE_MS) / 1000,
        adjudication=ladder.plan.adjudication,
    )
    return open_host(settings, lasting=False, progress=progress)


@asynccontextmanager
async def _claim(
    ladder: Ladder,
    watcher: ProgressObserver,
    host: Host,
    database: str | None,
    dial_in: ExternalBotSettings | None,
) -> AsyncIterator[StoredLadder]:
    """Claim the event and yield it. If it is refused, first let external bots connect, so that they are told of the
    end.
    """
    async with AsyncExitStack() as stack:
        try:
            stored = await stack.enter_async_context(_event(ladder, host, database))
        except CannotResume:
            if dial_in is not None:
                watcher.notice(
                    f"nothing can be played: waiting for {dial_in.bots} bots at {host.url}, to tell them"
                )
                await wait_without_playing(host, ladder.plan.game, dial_in)
            raise
        yield stored


@asynccontextmanager
async def _event(ladder: Ladder, host: Host, database: str | None) -> AsyncIterator[StoredLadder]:
    """Claim the event, new or resumed, and yield it; in a temporary store it is always new."""
    auto = f"{ladder.kind}-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    if database is None:
        event = ladder.plan.event if ladder.named else auto
        ladder.set_name(event)
        yield StoredLadder(event, uuid.uuid4(), {}, now(), None, {})
        return
    name = ladder.plan.event if ladder.named else None
    async with claim(host.engine, ladder.kind, name, auto, ladder.identity()) as stored:
        ladder.set_name(stored.event)
        yield stored


def _record_file(ladder: Ladder, stored: StoredLadder) -> Path:
    """Return the file for finished matches: the ladder's own, or one named after the start of the event. Raises
    OSError.
    """
    if ladder.record is not None:
        return ladder.record
    began = datetime.fromisoformat(stored.started).astimezone()
    folder = Path(os.environ.get(RECORDS, ""))
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{ladder.kind}-{began:%Y%m%d-%H%M%S}.jsonl"
    ladder.set_record_file(file)
    return file


async def _stop_on_signal(
    ladder: Ladder, scope: anyio.CancelScope, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        task_status.started()
        async for _ in signals:
            ladder.stop()
            scope.cancel()
