"""Playing of a whole ladder: open a server and the event, and run `ladder.event_runner`.

Ctrl-C or SIGTERM stops the ladder: matches in play are dropped, finished ones are kept, and all bots are ended before
`run_ladder` returns.
"""

from __future__ import annotations

import os
import signal
import uuid
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from datetime import datetime
from pathlib import Path

import anyio
from anyio.abc import TaskStatus

from arena.ladder.event_runner import GRACE_MS, EventRunner, ProgressObserver
from arena.ladder.external_bots import ExternalBotSettings, wait_without_playing
from arena.ladder.ladder import Ladder
from arena.ladder.progress import ladder_progress
from arena.ladder.record_file import RecordFile
from arena.server.edge.addresses import LOOPBACK
from arena.server.host import Host, open_host
from arena.server.processes.bot_process import RestartPolicy
from arena.server.processes.tasks import open_background_tasks
from arena.server.settings import private_host_settings
from arena.server.store.database import current_timestamp
from arena.server.store.ladder_lock import CannotResume
from arena.server.store.ladders import StoredLadder, claim_ladder, finish_ladder
from arena.server.web.event_progress import EventProgress

RECORDS_VARIABLE = "ARENA_RECORDS"
"""Environment variable that names the folder for records if `--record` is not given.

Without the variable, records go to the current folder.
"""

EXTERNAL_GRACE_MS = 10_000
"""Milliseconds that a disconnected external bot has to return."""


async def run_ladder(
    ladder: Ladder,
    observer: ProgressObserver,
    *,
    database: str | None = None,
    restart_policy: RestartPolicy | None = None,
    external: ExternalBotSettings | None = None,
    cluster: str | None = None,
    port: int = 0,
) -> None:
    """Play a ladder to its end, until its test is decided, or until a signal; `ladder` then holds the results.

    observer        is told of the address, of finished matches and of problems
    database        URL of a store, in which an interrupted event is resumed; None for a temporary store
    restart_policy  limits for the bots' processes, such as the number of restarts; None for the default limits
    external        settings for bots that connect by themselves; None to start the bots of the plan
    cluster         address of a Dask scheduler whose workers play; None to play on this machine
    port            port of the web page on this machine, if `external` is None; 0 for any free port

    After the first signal, further signals are ignored: the cleanup takes a few seconds at most. Raises
    bot_pool.BotRefused, external_bots.TooFewBots, dask_runner.ClusterUnavailable, server.host.CannotListen,
    server.store.database.StoreError, server.store.ladder_lock.CannotResume, ModuleNotFoundError without the extra
    `cluster`, and OSError for the record file.
    """
    async with open_background_tasks() as tasks:
        await tasks.start(_stop_on_signal, ladder, tasks.cancel_scope)
        async with (
            _open_server(ladder, external, database, port) as host,
            _claim_or_notify_bots(ladder, observer, host, database, external) as stored_ladder,
        ):
            with RecordFile(_record_file(ladder, stored_ladder)) as file:
                runner = EventRunner(ladder, observer, host, stored_ladder, file)
                if external is not None:
                    await runner.play_external(external)
                elif cluster is not None:
                    await runner.play_on_cluster(cluster, restart_policy)
                else:
                    await runner.play_on_this_machine(restart_policy)
                # Interrupted matches are removed from the store, so the host must not write to it any more.
                await host.halt()
                await finish_ladder(host.engine, stored_ladder.event)


def _open_server(
    ladder: Ladder,
    external: ExternalBotSettings | None,
    database: str | None,
    port: int,
) -> AbstractAsyncContextManager[Host]:
    # A unique name: one process plays an event, but many events and a server may share a store.
    name = f"{ladder.kind} {uuid.uuid4().hex[:12]}"

    def progress(event: str) -> EventProgress | None:
        return ladder_progress(ladder) if event == ladder.plan.event else None

    settings = private_host_settings(
        host=LOOPBACK if external is None else external.host,
        port=port if external is None else external.port,
        anyone=external is not None,
        database=database,
        name=name,
        grace_seconds=(GRACE_MS if external is None else EXTERNAL_GRACE_MS) / 1000,
        adjudication=ladder.plan.adjudication,
    )
    return open_host(settings, will_restart=False, progress=progress)


@asynccontextmanager
async def _claim_or_notify_bots(
    ladder: Ladder,
    observer: ProgressObserver,
    host: Host,
    database: str | None,
    external: ExternalBotSettings | None,
) -> AsyncIterator[StoredLadder]:
    """Claim the event, so that no other process plays it, and yield it.

    If that fails, first let external bots connect, to tell them that the event is over. Raises CannotResume.
    """
    async with AsyncExitStack() as stack:
        try:
            stored_ladder = await stack.enter_async_context(_claim_event(ladder, host, database))
        except CannotResume:
            if external is not None:
                observer.show_notice(
                    f"the event cannot be resumed: waiting at {host.url} to tell {external.min_bots} bots so"
                )
                await wait_without_playing(host, ladder.plan.game, external)
            raise
        yield stored_ladder


@asynccontextmanager
async def _claim_event(ladder: Ladder, host: Host, database: str | None) -> AsyncIterator[StoredLadder]:
    """Claim a new or a resumed event, so that no other process plays it, and yield it.

    Without a database the event is always new.
    """
    auto = f"{ladder.kind}-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    if database is None:
        event = ladder.plan.event if ladder.is_named else auto
        ladder.set_name(event)
        yield StoredLadder(event, uuid.uuid4(), {}, current_timestamp(), None, {})
        return
    name = ladder.plan.event if ladder.is_named else None
    async with claim_ladder(host.engine, ladder.kind, name, auto, ladder.identity()) as stored_ladder:
        ladder.set_name(stored_ladder.event)
        yield stored_ladder


def _record_file(ladder: Ladder, stored_ladder: StoredLadder) -> Path:
    """Return the file for finished matches: the ladder's `record`, or a file named after the start of the event.

    Raises OSError if the folder of the file cannot be created.
    """
    if ladder.record is not None:
        return ladder.record
    began = datetime.fromisoformat(stored_ladder.started).astimezone()
    folder = Path(os.environ.get(RECORDS_VARIABLE, ""))
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
