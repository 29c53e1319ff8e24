"""A whole ladder: opens a host, starts the bots, plays the schedule, keeps the records.

Ctrl-C (or SIGTERM) stops it at once: matches in play are dropped, finished ones are kept, and every bot
is ended before `run_ladder` returns.
"""

from __future__ import annotations

import signal
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol
from uuid import UUID

import anyio
from anyio.abc import TaskStatus

from games.core import AnyGame
from games.riskless import Riskless
from ladder.cluster import ClusterLost, ClusterRunner, open_cluster
from ladder.cores import Pinning, cores, cores_for_bots
from ladder.file import BotPlan, LadderPlan
from ladder.fleet import BotRefused, Fleet, open_fleet
from ladder.formats import make_format
from ladder.openings import NoOpenings, Openings
from ladder.record_file import RecordFile
from ladder.runner import Bots, EventTerms, Runner, named
from ladder.schedule import Schedule
from ladder.visitors import DialIn, TooFew, gather
from protocol.record import Record
from rating.pairing import Pairing
from server.host import CannotListen, Host, open_host
from server.processes.bot_process import Patience
from server.store.database import StoreError, now
from server.store.ladders import CannotResume, Kept, claimed, digest, finish, set_bots

READY_MS = 30_000
"""How long a bot may prepare a match; compiling a search for the first time takes seconds."""

GRACE_MS = 2_000
"""On one machine a connection that breaks is a bot that crashed: its opponent need not wait long."""

CLUSTER_SECONDS = 10
"""How long a cluster's scheduler may take to answer."""

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
    record: Path | None = None
    """Where finished matches go: appended, a line each. None: a file named after the beginning of the event."""
    kind: str = "ladder"
    openings: Openings = field(default_factory=NoOpenings)
    named: bool = True
    """Whether the event has a name of its own; else the last one without a name goes on."""
    schedule: Schedule | None = None
    played: list[tuple[Pairing, Record]] = field(default_factory=list)
    resumed: int = 0
    """How many of those had been played when it began."""
    stopped: bool = False
    """Whether it was stopped before its end."""

    def __post_init__(self) -> None:
        if self.plan.bots:
            self.begin(uuid.uuid4())

    def enrol(self, names: Sequence[str]) -> None:
        """Let the bots of these names play: where the plan has none, before the first match."""
        self.plan = replace(self.plan, bots=tuple(BotPlan(name) for name in names))

    def begin(self, event: UUID, done: Mapping[str, Record] | None = None) -> list[Record]:
        """Make the schedule, less what is done (by match id): the records of what was void and tried again."""
        plan = self.plan
        format = make_format(plan.format, self.bots, plan.rounds, len(self.starts), plan.seed)
        self.schedule = Schedule(event, format)
        self.played, again = self.schedule.resume(done or {})
        self.played = [(pairing, named(pairing, record)) for pairing, record in self.played]
        self.resumed = len(self.played)
        return again

    @property
    def bots(self) -> list[str]:
        return [bot.name for bot in self.plan.bots]

    @property
    def records(self) -> list[Record]:
        return [record for _, record in self.played]

    @property
    def weight(self) -> int:
        """The most threads that one of the bots declares."""
        return max((bot.threads for bot in self.plan.bots), default=1)

    @property
    def concurrency(self) -> int:
        """How many matches are played at once, as far as no bot takes more than one thread."""
        wanted = self.plan.concurrency or len(self.cores)
        return wanted if self.matches is None else max(1, min(wanted, self.matches))

    @property
    def cores(self) -> list[int]:
        """Those that bots think on."""
        return cores_for_bots() if self.plan.pin else cores()

    @property
    def matches(self) -> int | None:
        """How many are to be played in all, as far as is known; None where there is no end."""
        return self.schedule.matches if self.schedule is not None else 0

    def identity(self) -> dict[str, Any]:
        """What must be the same when the event goes on: by the words in which a person speaks of it."""
        plan = self.plan
        listed = plan.openings if isinstance(plan.openings, int) else digest(plan.openings.read_text())
        return {
            "game": plan.game,
            "maps": [Path(name).name for name in plan.maps] if plan.game == Riskless.name else [],
            "setups": [digest(start.setup()) for start in self.starts],
            "bots": {bot.name: bot.what for bot in plan.bots},
            "format": plan.format,
            "rounds": plan.rounds,
            "time control": str(plan.time_control),
            "margin": plan.margin_ms,
            "openings": listed,
            "adjudication": str(plan.adjudication) if plan.adjudication else None,
            "seed": plan.seed,
        }


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
) -> None:
    """Play a ladder to its end, until `enough`, or until a signal stops it; `ladder` holds what was played.

    port     of the host's own page and bots, on this machine alone; 0 for any free one
    opened   told where the host listens, when the bots that it starts are there; who dials in is told already

    In a database of one's own it goes on where it was, however it was stopped. A second signal changes
    nothing: what is left to do is bounded to seconds. With `dial_in` no bot is started, and those play
    that dial in; with `cluster`, the address of a Dask scheduler, its workers play. Raises fleet.BotRefused,
    visitors.TooFew, cluster.ClusterLost, host.CannotListen, store.StoreError, ladder_store.CannotResume, and
    OSError for the record file.
    """
    problem: Exception | None = None
    async with anyio.create_task_group() as tasks:
        await tasks.start(_stop_on_signal, ladder, tasks.cancel_scope)
        try:
            async with _open(dial_in, database, port) as host, _event(ladder, host, database) as kept:
                play = _Play(ladder, watcher, enough, ready_ms, opened)
                await play.run(host, kept, patience, dial_in, cluster)
        except (BotRefused, TooFew, ClusterLost, CannotListen, CannotResume, StoreError, OSError) as error:
            problem = error  # raised outside the group, which would wrap it
        tasks.cancel_scope.cancel()
    if problem is not None:
        raise problem


def _open(dial_in: DialIn | None, database: str | None, port: int) -> AbstractAsyncContextManager[Host]:
    if dial_in is None:
        return open_host(port=port, database=database, grace_ms=GRACE_MS)
    return open_host(
        host=dial_in.host, port=dial_in.port, database=database, grace_ms=VISITOR_GRACE_MS, anyone=True
    )


@asynccontextmanager
async def _event(ladder: Ladder, host: Host, database: str | None) -> AsyncIterator[Kept]:
    """The event, new or gone on with; in a store that is thrown away it is always new."""
    auto = f"{ladder.kind}-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    if database is None:
        event = ladder.plan.event if ladder.named else auto
        ladder.plan = replace(ladder.plan, event=event)
        yield Kept(event, uuid.uuid4(), {}, now(), None, {})
        return
    name = ladder.plan.event if ladder.named else None
    async with claimed(host.engine, ladder.kind, name, auto, ladder.identity()) as kept:
        ladder.plan = replace(ladder.plan, event=kept.event)
        yield kept


class _Play:
    """One run of a ladder."""

    def __init__(
        self,
        ladder: Ladder,
        watcher: Watcher,
        enough: Callable[[], bool],
        ready_ms: int,
        opened: Callable[[str], None],
    ) -> None:
        self._ladder = ladder
        self._watcher = watcher
        self._enough = enough
        self._ready_ms = ready_ms
        self._opened = opened

    async def run(
        self,
        host: Host,
        kept: Kept,
        patience: Patience | None,
        dial_in: DialIn | None,
        cluster: str | None,
    ) -> None:
        """Get the bots together, and play. Raises what `run_ladder` raises."""
        ladder = self._ladder
        if ladder.record is None:
            stamp = datetime.fromisoformat(kept.started).astimezone()
            ladder.record = Path(f"{ladder.kind}-{stamp:%Y%m%d-%H%M%S}.jsonl")
        with RecordFile(ladder.record) as self._file:
            if dial_in is not None:
                await self._with_visitors(host, kept, dial_in)
            elif cluster is not None:
                await self._with_cluster(host, kept, patience, cluster)
            else:
                await self._with_fleet(host, kept, patience)
            # What was cut off is taken out of the store: nothing of it may come in afterwards.
            await host.journal.drain()
            await finish(host.engine, kept.event)

    async def _with_visitors(self, host: Host, kept: Kept, dial_in: DialIn) -> None:
        ladder, before = self._ladder, list(kept.plan.get("bots", ()))
        awaited = f"{', '.join(before)}" if before else f"{dial_in.bots} bots or more"
        self._watcher.notice(f"waiting for {awaited} at {host.url}")
        visitors = await gather(host, ladder.plan.game, dial_in, before)
        ladder.enrol(visitors.names)
        if kept.plan and not before:
            await set_bots(host.engine, kept.event, visitors.names)
        self._resume(kept)
        async with visitors.watched():
            await self._matches(host, visitors, kept)

    async def _with_fleet(self, host: Host, kept: Kept, patience: Patience | None) -> None:
        ladder = self._ladder
        self._resume(kept)
        if self._over(kept):
            return
        # So many that `concurrency` matches find bots to play them.
        twins = -(-2 * ladder.concurrency // len(ladder.bots))
        refused = None
        async with open_fleet(
            host,
            ladder.plan.bots,
            twins=twins,
            folder=ladder.plan.folder,
            patience=patience,
            notice=self._watcher.notice,
        ) as fleet:
            try:
                await fleet.settle()
                self._opened(host.url)
                await self._matches(host, fleet, kept)
            except BotRefused as error:
                refused = error  # raised outside the fleet's task group, which would wrap it
        if refused is not None:
            raise refused

    async def _with_cluster(self, host: Host, kept: Kept, patience: Patience | None, address: str) -> None:
        ladder, plan = self._ladder, self._ladder.plan
        self._resume(kept)
        if ladder.schedule is None or self._over(kept):
            return
        async with open_cluster(address, CLUSTER_SECONDS) as client:
            self._opened(host.url)
            runner = ClusterRunner(
                client,
                host,
                # How many cores a worker has, it alone knows.
                replace(self._terms(), threads=1),
                {bot.name: bot for bot in plan.bots},
                self._played,
                again=self._again,
                notice=self._watcher.notice,
                concurrency=plan.concurrency,
                folder=plan.folder,
                grace_ms=GRACE_MS,
                patience=patience,
                seconds_left=self._seconds_left(kept),
            )
            await runner.run(ladder.schedule, self._enough)

    def _resume(self, kept: Kept) -> None:
        ladder = self._ladder
        again = ladder.begin(kept.uid, kept.done)
        # A kill may have come between the store and the file.
        self._file.complete([*again, *ladder.records])
        if ladder.resumed:
            of = f" of {ladder.matches}" if ladder.matches is not None else ""
            self._watcher.notice(
                f"event {kept.event} goes on: {ladder.resumed}{of} matches were played before"
            )

    def _over(self, kept: Kept) -> bool:
        """Whether nothing is left to be played."""
        left = len(self._ladder.schedule or ())
        return not left or self._enough() or kept.seconds >= self._ladder.plan.seconds

    async def _matches(self, host: Host, bots: Bots, kept: Kept) -> None:
        ladder = self._ladder
        if ladder.schedule is None:
            raise ValueError("a ladder without bots has no schedule")
        runner = Runner(
            host,
            bots,
            self._terms(),
            ladder.concurrency,
            self._played,
            again=self._again,
            seconds_left=self._seconds_left(kept),
            **self._pinning(bots),
        )
        await runner.run(ladder.schedule, self._enough)

    def _seconds_left(self, kept: Kept) -> Callable[[], float]:
        end = anyio.current_time() + self._ladder.plan.seconds - kept.seconds
        return lambda: end - anyio.current_time()

    def _pinning(self, bots: Bots) -> dict[str, Any]:
        ladder = self._ladder
        if not ladder.plan.pin or not isinstance(bots, Fleet):
            return {}
        most = max(ladder.concurrency, ladder.weight)
        return {"held": Pinning(ladder.cores, most, bots.process_of).held}

    def _terms(self) -> EventTerms:
        ladder = self._ladder
        by_hand = ladder.plan.concurrency > 0
        return EventTerms(
            event=ladder.plan.event,
            starts=ladder.starts,
            time_control=ladder.plan.time_control,
            margin_ms=ladder.plan.margin_ms,
            ready_ms=self._ready_ms,
            # Where bots say how many they use, nobody is invited to use more than that.
            threads=max(1, len(ladder.cores) // ladder.concurrency) if ladder.weight == 1 or by_hand else 1,
            openings=ladder.openings,
            adjudication=ladder.plan.adjudication,
            weights={} if by_hand else {bot.name: bot.threads for bot in ladder.plan.bots},
        )

    def _played(self, pairing: Pairing, finished: Record) -> None:
        self._file.write(finished)
        self._ladder.played.append((pairing, finished))
        self._watcher.played(self._ladder, finished)

    def _again(self, pairing: Pairing, void: Record) -> None:
        self._file.write(void)
        why = void.result.detail
        self._watcher.notice(f"{pairing.maxie} against {pairing.minnie} is void, and played again: {why}")


async def _stop_on_signal(
    ladder: Ladder, scope: anyio.CancelScope, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        task_status.started()
        async for _ in signals:
            ladder.stopped = True
            scope.cancel()
