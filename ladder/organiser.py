"""Gets the bots of a ladder together and plays its schedule: here, with bots that dial in, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import anyio

from arena.games.catalogue import KNOWN
from arena.ladder.bots import BotRefused, Bots
from arena.ladder.cluster import ClusterRunner, open_cluster
from arena.ladder.cores import Pinning
from arena.ladder.dial_in import DialIn, gather
from arena.ladder.event import Ladder
from arena.ladder.event_terms import EventTerms
from arena.ladder.fleet import Fleet, open_fleet
from arena.ladder.plan import odds_of
from arena.ladder.record_file import RecordFile
from arena.ladder.runner import Runner
from arena.ladder.schedule import Schedule
from arena.protocol.record import Record
from arena.rating.pairing import Pairing
from arena.server.host import Host
from arena.server.processes.bot_process import Patience
from arena.server.store.ladders import StoredLadder, set_bots

GRACE_MS = 2_000
"""How long a bot may take to come back, in milliseconds. On one machine a connection that breaks is a bot
that crashed: its opponent need not wait long."""

CLUSTER_SECONDS = 10
"""How long a cluster's scheduler may take to answer."""


class Watcher(Protocol):
    """Who wants to know how a ladder goes."""

    def played(self, ladder: Ladder, record: Record) -> None:
        """A match has ended; the ladder counts it already."""

    def notice(self, text: str) -> None:
        """A bot crashed, hung or was lost: a line that names it, and below it what it printed last."""


class Organiser:
    """One run of a ladder on a host. Raises what `ladder.play.run_ladder` says."""

    def __init__(
        self,
        ladder: Ladder,
        watcher: Watcher,
        host: Host,
        stored: StoredLadder,
        file: RecordFile,
        enough: Callable[[], bool],
        ready_ms: int,
        opened: Callable[[str], None],
    ) -> None:
        self._ladder = ladder
        self._watcher = watcher
        self._host = host
        self._stored = stored
        self._file = file
        self._enough = enough
        self._ready_ms = ready_ms
        self._opened = opened

    async def play_here(self, patience: Patience | None) -> None:
        """Start the bots of the plan on this machine and let them play."""
        ladder = self._ladder
        schedule = self._resume()
        if self._over(schedule):
            return
        refused = None
        async with open_fleet(
            self._host,
            ladder.plan.bots,
            twins=ladder.threads.twins,
            folder=ladder.plan.folder,
            patience=patience,
            games=KNOWN.specs(),
            notice=self._watcher.notice,
        ) as fleet:
            try:
                await fleet.settle()
                self._opened(self._host.url)
                await self._run(schedule, fleet)
            except BotRefused as error:
                refused = error  # raised outside the fleet's task group, which would wrap it
        if refused is not None:
            raise refused

    async def play_who_dials_in(self, dial_in: DialIn) -> None:
        """Wait for bots that dial in, and let them play."""
        host, stored = self._host, self._stored
        self._opened(host.url)
        before = list(stored.plan.get("bots", ()))
        awaited = ", ".join(before) if before else f"{dial_in.bots} bots or more"
        self._watcher.notice(f"waiting for {awaited} at {host.url}")
        bots = await gather(host, self._ladder.plan.game, dial_in, before)
        self._ladder.enrol(bots.names)
        if stored.plan and not before:
            await set_bots(host.engine, stored.event, bots.names)
        schedule = self._resume()
        async with bots.watched():
            await self._run(schedule, bots)

    async def play_on_cluster(self, address: str, patience: Patience | None) -> None:
        """Let the workers of the cluster with this scheduler start the bots of the plan and play."""
        plan = self._ladder.plan
        schedule = self._resume()
        if self._over(schedule):
            return
        async with open_cluster(address, CLUSTER_SECONDS) as client:
            self._opened(self._host.url)
            runner = ClusterRunner(
                client,
                self._host,
                self._terms(),
                {bot.name: bot for bot in plan.bots},
                self._played,
                again=self._again,
                notice=self._watcher.notice,
                concurrency=plan.concurrency,
                folder=plan.folder,
                grace_ms=GRACE_MS,
                patience=patience,
                seconds_left=self._seconds_left(),
            )
            await runner.run(schedule, self._enough)

    def _resume(self) -> Schedule:
        """What is left to be played, once the file of finished matches has all that the store has."""
        ladder, stored = self._ladder, self._stored
        again = ladder.begin(stored.uid, stored.done)
        if ladder.schedule is None:
            raise ValueError("a ladder that has begun has a schedule")
        # A kill may have come between the store and the file.
        self._file.complete([*again, *ladder.records])
        if ladder.resumed:
            of = f" of {ladder.matches}" if ladder.matches is not None else ""
            self._watcher.notice(
                f"event {stored.event} goes on: {ladder.resumed}{of} matches were played before"
            )
        return ladder.schedule

    def _over(self, schedule: Schedule) -> bool:
        """Whether nothing is left to be played."""
        return not schedule or self._enough() or self._stored.seconds >= self._ladder.plan.seconds

    async def _run(self, schedule: Schedule, bots: Bots) -> None:
        runner = Runner(
            self._host,
            bots,
            self._terms(),
            replace(self._ladder.threads, here=isinstance(bots, Fleet)),
            self._played,
            again=self._again,
            seconds_left=self._seconds_left(),
            **self._pinning(bots),
        )
        await runner.run(schedule, self._enough)

    def _seconds_left(self) -> Callable[[], float]:
        end = anyio.current_time() + self._ladder.plan.seconds - self._stored.seconds
        return lambda: end - anyio.current_time()

    def _pinning(self, bots: Bots) -> dict[str, Any]:
        ladder = self._ladder
        if not ladder.plan.pin or not isinstance(bots, Fleet):
            return {}
        return {"held": Pinning(ladder.cores, ladder.threads.load, bots.process_of).held}

    def _terms(self) -> EventTerms:
        ladder = self._ladder
        return EventTerms(
            event=ladder.plan.event,
            starts=ladder.starts,
            time_control=ladder.plan.time_control,
            odds=odds_of(ladder.plan.bots),
            margin_ms=ladder.plan.margin_ms,
            ready_ms=self._ready_ms,
            openings=ladder.openings,
            adjudication=ladder.plan.adjudication,
        )

    def _played(self, pairing: Pairing, finished: Record) -> None:
        self._file.write(finished)
        self._ladder.add(pairing, finished)
        self._watcher.played(self._ladder, finished)

    def _again(self, pairing: Pairing, void: Record) -> None:
        self._file.write(void)
        why = void.result.detail
        self._watcher.notice(f"{pairing.maxie} against {pairing.minnie} is void, and played again: {why}")
