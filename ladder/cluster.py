"""Hands the pairs of a ladder to the workers of a Dask cluster that runs already (the extra `cluster`).

A worker plays a pair on a host of its own (ladder.cluster_worker) and answers with the records. Each is held
against the rules here, and this process alone puts it into the store. A pair whose worker died is given to
another by the cluster itself; one that was lost for good is void, and so begun again like any void match.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.abc
import msgspec

from arena.games.catalogue import KNOWN
from arena.ladder.bots import BotRefused
from arena.ladder.cluster_worker import PairDone, PairJob, play_pair, told_threads
from arena.ladder.event_terms import EventTerms, longest_seconds
from arena.ladder.plan import BotPlan
from arena.ladder.runner import MatchHost
from arena.ladder.schedule import Schedule
from arena.match.replay import verify
from arena.match.terms import Terms, to_json
from arena.protocol.codes import EndReason
from arena.protocol.record import BadRecord, Record, Result, from_line
from arena.rating.pairing import Pairing
from arena.server.processes.bot_process import Patience

if TYPE_CHECKING:
    from distributed import Client

LOOK_SECONDS = 2.0
"""How often the workers are counted while nothing else happens."""

WORKERS_TRIED = 4
"""How many workers get a pair one after the other when they die: the first, and the cluster's `allowed-failures`."""


class ClusterLost(Exception):
    """There is no cluster to play on: one line that says where it was looked for, and what was missing."""


@asynccontextmanager
async def open_cluster(address: str, seconds: float) -> AsyncIterator[Client]:
    """A connection to the scheduler at `address`, for as long as the block lasts. Raises ClusterLost.

    seconds   how long the scheduler may take to answer
    """
    from distributed import Client  # noqa: PLC0415  an extra, and slow to import

    client = Client(address, asynchronous=True, set_as_default=False, timeout=seconds)
    try:
        try:
            await client
        except (OSError, ValueError) as error:
            why = str(error).splitlines()[0]
            raise ClusterLost(f"no Dask scheduler answers at {address}: {why}") from None
        yield client
    finally:
        with anyio.move_on_after(5, shield=True):
            await client.close()


class ClusterRunner:
    """One event in play on a cluster: what `ladder.runner.Runner` is on one machine."""

    def __init__(
        self,
        client: Client,
        host: MatchHost,
        terms: EventTerms,
        bots: Mapping[str, BotPlan],
        played: Callable[[Pairing, Record], None],
        *,
        again: Callable[[Pairing, Record], None],
        notice: Callable[[str], None],
        concurrency: int = 0,
        folder: Path | None = None,
        grace_ms: int,
        patience: Patience | None = None,
        seconds_left: Callable[[], float] = lambda: math.inf,
        wait: float = 60,
    ) -> None:
        """concurrency   pairs at once; 0: one for each thread of the workers
        folder         where the bots' files are; None: here
        wait           how many seconds the cluster may be without any worker

        The other arguments are those of ladder.runner.Runner.
        """
        self._client = client
        self._host = host
        self._terms = terms
        self._bots = bots
        self._played = played
        self._again = again
        self._notice = notice
        self._concurrency = concurrency
        self._folder = str((folder or Path()).resolve())
        self._grace_ms = grace_ms
        self._patience = patience or Patience()
        self._seconds_left = seconds_left
        self._wait = wait
        self._running = 0
        self._changed = anyio.Event()
        self._problem: BotRefused | ClusterLost | None = None
        """Why the event cannot go on. The matches in play are then not settled, and are played when it is resumed."""

    async def run(self, schedule: Schedule, enough: Callable[[], bool] = lambda: False) -> None:
        """Play all matches of the schedule, or until `enough`. Raises BotRefused, ClusterLost."""
        alone_since: float | None = None
        async with anyio.create_task_group() as tasks:
            while not enough() and self._problem is None:
                left = self._seconds_left()
                if not self._running and (left <= 0 or not schedule):
                    break
                threads = await self._threads()
                alone_since = None if threads else alone_since or anyio.current_time()
                if alone_since is not None and anyio.current_time() - alone_since > self._wait:
                    self._problem = ClusterLost(f"the cluster has had no worker for {self._wait:g} s")
                    break
                while left > 0 and self._running < (min(self._concurrency, threads) or threads):
                    pairings = next_pair(schedule)
                    if not pairings:
                        break
                    self._running += 1
                    tasks.start_soon(self._play, schedule, pairings)
                with anyio.move_on_after(min(max(left, 0) or math.inf, LOOK_SECONDS)):
                    await self._changed.wait()
                self._changed = anyio.Event()
            tasks.cancel_scope.cancel()
        if self._problem is not None:
            raise self._problem  # outside the group, which would wrap it

    async def _threads(self) -> int:
        """How many threads all workers have: each plays one pair at a time."""
        try:
            return sum((await self._client.nthreads()).values())
        except OSError as error:
            self._lose(error)
            return 0

    def _lose(self, error: Exception) -> None:
        why = (str(error).splitlines() or [type(error).__name__])[0]
        self._problem = self._problem or ClusterLost(f"the Dask scheduler has gone: {why}")
        self._changed.set()

    async def _play(self, schedule: Schedule, pairings: list[tuple[str, Pairing]]) -> None:
        terms = self._terms
        threads = told_threads([self._bots[bot] for bot in (pairings[0][1].maxie, pairings[0][1].minnie)])
        each_terms = {
            match: terms.of_match(
                match,
                pairing,
                pairing.maxie,
                pairing.minnie,
                threads.limits(pairing.maxie, pairing.minnie, _unheard),
            )
            for match, pairing in pairings
        }
        limit = WORKERS_TRIED * (
            self._patience.settle + sum(map(longest_seconds, each_terms.values())) + terms.slack_seconds
        )
        done, why = PairDone(), f"no worker was done with it after {limit:.0f} s"
        with anyio.move_on_after(limit):
            done, why = await self._asked(self._job(pairings, each_terms))
        if self._problem is not None:
            return
        for text in done.notices:
            self._notice(text)
        answers = dict(zip(each_terms, done.records, strict=False))
        for match, pairing in pairings:
            record = self._unplayed(match, pairing, why)
            if match in answers:
                try:
                    record = checked(answers[match], each_terms[match])
                except BadRecord as error:
                    record = self._unplayed(match, pairing, f"a worker's record is wrong: {error}")
            await self._host.keep(each_terms[match], record)
            if schedule.ended(pairing, record):
                self._played(pairing, record)
            else:
                self._again(pairing, record)
        self._running -= 1
        self._changed.set()

    def _unplayed(self, match: str, pairing: Pairing, why: str) -> Record:
        return self._terms.unplayed(match, pairing, Result(None, EndReason.SERVER_FAULT, why))

    def _job(self, pairings: list[tuple[str, Pairing]], each_terms: Mapping[str, Terms]) -> PairJob:
        terms = each_terms[pairings[0][0]]
        pair = pairings[0][1].pair
        return PairJob(
            terms=to_json(msgspec.structs.replace(terms, grace_ms=self._grace_ms)),
            games=tuple(KNOWN.specs()),
            rules=KNOWN.rules(terms.game),
            matches=tuple(pairings),
            bots=(self._bots[pair.first], self._bots[pair.second]),
            folder=self._folder,
            patience=self._patience,
        )

    async def _asked(self, job: PairJob) -> tuple[PairDone, str]:
        """What a worker answers to a job; where none does, an empty answer and the reason."""
        # The key is new each time: the cluster must not answer with what it has done for an earlier try.
        future = self._client.submit(play_pair, job, key=f"arena-pair-{uuid.uuid4().hex}", pure=False)
        try:
            done: PairDone = await future.result()
        except BotRefused as refused:
            self._problem = refused
            self._changed.set()
            return PairDone(), str(refused)
        except CancelledError as error:
            # Nobody cancels it but the client itself, when it loses its scheduler.
            self._lose(error)
            return PairDone(), str(error)
        except Exception as error:  # noqa: BLE001  whatever went wrong on another machine: the pair is void, with the reason
            why = str(error).splitlines() or [""]
            return PairDone(), f"the cluster did not play it: {type(error).__name__}: {why[0]}"
        return done, "the worker was stopped before it"


def _unheard(_bot: str) -> int:
    """How many threads a bot asks for that is started elsewhere: nothing is heard of it."""
    return 0


def next_pair(schedule: Schedule) -> list[tuple[str, Pairing]]:
    """The first match that can start, now taken, and with it the other one of its pair, if that is left too."""
    taken: list[tuple[str, Pairing]] = []
    while heads := [each for each in schedule.heads() if not taken or each.pair == taken[0][1].pair]:
        taken.append((schedule.id_of(heads[0]), heads[0]))
        schedule.take(heads[0])
    return taken


def checked(line: str, terms: Terms) -> Record:
    """The record in a worker's answer. Raises BadRecord where it is not of this match, or not by the rules."""
    record = from_line(line)
    wanted = {
        "match": terms.match,
        "event": terms.event,
        "game": terms.game.name,
        "setup": terms.game.setup(),
        "players": terms.players,
        "time_control": str(terms.time_control),
        "time_odds": terms.time_odds,
        "adjudication": terms.adjudication,
        "rules": KNOWN.rules(terms.game),
    }
    for name, value in wanted.items():
        if getattr(record, name) != value:
            raise BadRecord(f"its {name} is not that of the match")
    opening = tuple(each.move for each in record.moves if each.opening)
    if record.moves and list(opening) != list(terms.opening):
        raise BadRecord("it does not begin with the opening")
    verify(record)
    return record
