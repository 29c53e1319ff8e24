"""Distribution of a ladder's pairs of matches to the workers of a running Dask cluster (needs the extra `cluster`).

A worker plays a pair on a server of its own (ladder.dask_worker) and returns the records. The process of the ladder checks
each record against the rules, and is the only process that writes to the store. If a worker dies, the cluster gives the
worker's pair to another worker. If no worker completes a pair, its matches are void: they do not count, and are played again.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.abc

from arena.clock import MONOTONIC_CLOCK
from arena.games.catalogue import CATALOGUE
from arena.ladder import event_terms
from arena.ladder.bot_pool import BotNotStarted
from arena.ladder.dask_worker import PairJob, PairResult, play_pair
from arena.ladder.event_terms import EventTerms, compute_max_match_seconds, make_void_record
from arena.ladder.plan import LadderPlan
from arena.ladder.runner import MatchHost
from arena.ladder.threads import ThreadAllocation
from arena.match.replay import verify_record
from arena.match.terms import MatchTerms, encode_terms
from arena.processes.bot_process import RestartPolicy
from arena.processes.tasks import open_background_tasks
from arena.protocol.record import BadRecord, Record, parse_record_line
from arena.rating.pairing import Pairing
from arena.rating.schedule import Schedule

if TYPE_CHECKING:
    from distributed import Client

WORKER_CHECK_INTERVAL_SECONDS = 2.0
"""Interval, in seconds, at which the cluster's workers are counted while the ladder waits for a pair of matches to end."""

MAX_SECONDS_WITHOUT_WORKER = 60
"""Maximum number of seconds that an event waits for a new worker if the cluster has none. Then the event ends with an error."""

MAX_WORKERS_TRIED_PER_PAIR = 4
"""Maximum number of workers that try to play the same pair of matches one after another, because the earlier workers died.

The number is 1 plus Dask's default of 3 for `allowed-failures`, which does not count the first worker.
"""


class DaskClusterUnavailable(Exception):
    """Raised when the Dask cluster has no scheduler that answers, or no worker. The message is one line with the reason."""


@asynccontextmanager
async def open_dask_client(scheduler_address: str, timeout_seconds: float) -> AsyncIterator[Client]:
    """Connect to the Dask scheduler at `scheduler_address` for the duration of the `with` block.

    timeout_seconds  maximum number of seconds to wait for the scheduler's answer

    Raises DaskClusterUnavailable if no scheduler answers.
    """
    from distributed import Client  # noqa: PLC0415  an extra, and slow to import

    client = Client(scheduler_address, asynchronous=True, set_as_default=False, timeout=timeout_seconds)
    try:
        try:
            await client
        except (OSError, ValueError) as error:
            reason = str(error).splitlines()[0]
            raise DaskClusterUnavailable(
                f"no Dask scheduler answers at {scheduler_address}: {reason}"
            ) from None
        yield client
    finally:
        with anyio.move_on_after(5, shield=True):
            await client.close()


class DaskRunner:
    """Runner of one event on a Dask cluster, in place of `ladder.runner.MatchRunner` on one machine."""

    def __init__(
        self,
        client: Client,
        host: MatchHost,
        terms: EventTerms,
        plan: LadderPlan,
        on_result: Callable[[Pairing, Record], None],
        *,
        on_void_match: Callable[[Pairing, Record], None],
        on_notice: Callable[[str], None],
        restart_policy: RestartPolicy,
        compute_seconds_left: Callable[[], float] = lambda: math.inf,
    ) -> None:
        """Create a runner.

        client                connection to the cluster's scheduler
        host                  server that stores the records
        terms                 terms shared by all matches
        plan                  plan of the event, with its bots
        on_result             called once for each match that is over and will not be played again
        on_void_match         called for each void match that will be played again
        on_notice             called with each message about a bot, such as a report of a crash
        restart_policy        limits for the bots' processes on a worker
        compute_seconds_left  returns the seconds left for the event; at 0, no further pair begins
        """
        self._client = client
        self._host = host
        self._terms = terms
        self._bot_plans = {bot.name: bot for bot in plan.bots}
        # A bot whose plan sets no number of threads has one, because other pairs may run on the same machine.
        self._thread_allocation = ThreadAllocation(plan.bots, core_count=1, fixed_concurrency=1)
        self._on_result = on_result
        self._on_void_match = on_void_match
        self._on_notice = on_notice
        self._concurrency = plan.concurrency
        """Maximum number of pairs in parallel; 0 for one per thread of the workers."""
        self._bot_folder = str((plan.bot_folder or Path()).resolve())
        self._restart_policy = restart_policy
        self._compute_seconds_left = compute_seconds_left
        self._running_pair_count = 0
        self._changed = anyio.Event()
        self._fatal_error: BotNotStarted | DaskClusterUnavailable | None = None
        """Error that stops the event; None if there is none.

        Such an error drops the matches in play, which are played again if the event is resumed.
        """

    async def run(self, schedule: Schedule, should_stop: Callable[[], bool] = lambda: False) -> None:
        """Play the matches of the schedule until all are played or `should_stop` returns True.

        Cancellation drops the matches in play. Raises BotNotStarted if a bot cannot be started, and DaskClusterUnavailable
        if the cluster has no worker for MAX_SECONDS_WITHOUT_WORKER, or the scheduler is lost.
        """
        no_workers_since: float | None = None
        async with open_background_tasks() as tasks:
            while not should_stop():
                if self._fatal_error is not None:
                    raise self._fatal_error
                seconds = self._compute_seconds_left()
                if not self._running_pair_count and (seconds <= 0 or not schedule):
                    break
                threads = await self._count_worker_threads()
                no_workers_since = None if threads else no_workers_since or MONOTONIC_CLOCK.now()
                if (
                    no_workers_since is not None
                    and MONOTONIC_CLOCK.now() - no_workers_since > MAX_SECONDS_WITHOUT_WORKER
                ):
                    raise DaskClusterUnavailable(
                        f"the cluster has had no worker for {MAX_SECONDS_WITHOUT_WORKER:g} s: start workers, and run the command again"
                    )
                while seconds > 0 and self._running_pair_count < (min(self._concurrency, threads) or threads):
                    pairings = start_next_pair(schedule)
                    if not pairings:
                        break
                    self._running_pair_count += 1
                    tasks.start_soon(self._play_pair, schedule, pairings)
                with anyio.move_on_after(min(max(seconds, 0) or math.inf, WORKER_CHECK_INTERVAL_SECONDS)):
                    await self._changed.wait()
                self._changed = anyio.Event()

    async def _count_worker_threads(self) -> int:
        """Return the number of threads of all workers of the cluster. Each thread plays one pair of matches at a time."""
        try:
            return sum((await self._client.nthreads()).values())
        except OSError as error:
            self._stop_with_error(error)
            return 0

    def _stop_with_error(self, error: Exception) -> None:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        self._fatal_error = self._fatal_error or DaskClusterUnavailable(
            f"the Dask scheduler has gone: {reason}"
        )
        self._changed.set()

    async def _play_pair(self, schedule: Schedule, pairings: list[tuple[str, Pairing]]) -> None:
        terms_by_match_id = {
            match: self._terms.make_match_terms(
                match, pairing, self._thread_allocation.make_thread_limits(pairing.maxie, pairing.minnie)
            )
            for match, pairing in pairings
        }
        max_seconds = MAX_WORKERS_TRIED_PER_PAIR * (
            self._restart_policy.first_match_wait_seconds
            + sum(map(compute_max_match_seconds, terms_by_match_id.values()))
            + event_terms.MATCH_TIME_LIMIT_MARGIN_SECONDS
        )
        pair_result, reason = PairResult(), f"no worker completed the pair within {max_seconds:.0f} s"
        with anyio.move_on_after(max_seconds):
            pair_result, reason = await self._run_pair_job(
                self._make_pair_job(list(terms_by_match_id.values()))
            )
        if self._fatal_error is not None:
            return
        for text in pair_result.notices:
            self._on_notice(text)
        record_lines = dict(zip(terms_by_match_id, pair_result.record_lines, strict=False))
        for match, pairing in pairings:
            match_terms = terms_by_match_id[match]
            record = make_void_record(match_terms, reason)
            if match in record_lines:
                try:
                    record = parse_worker_record(record_lines[match], match_terms)
                except BadRecord as error:
                    record = make_void_record(match_terms, f"the worker's record is invalid: {error}")
            await self._host.store_record(match_terms, record)
            if schedule.record_result(pairing, record):
                self._on_result(pairing, record)
            else:
                self._on_void_match(pairing, record)
        self._running_pair_count -= 1
        self._changed.set()

    def _make_pair_job(self, terms_of_matches: Sequence[MatchTerms]) -> PairJob:
        game, players = terms_of_matches[0].game, terms_of_matches[0].players
        return PairJob(
            encoded_terms=tuple(map(encode_terms, terms_of_matches)),
            game_specs=tuple(CATALOGUE.list_file_game_specs()),
            rules_digest=CATALOGUE.get_rules_digest(game),
            bots=(self._bot_plans[players.maxie], self._bot_plans[players.minnie]),
            bot_folder=self._bot_folder,
            restart_policy=self._restart_policy,
        )

    async def _run_pair_job(self, job: PairJob) -> tuple[PairResult, str]:
        """Let a worker play a pair of matches. Return the worker's result, and the reason why matches are missing from the
        result.

        If no worker completes the pair, the result is empty. A match that is missing from the result is void (it does not
        count), and the match's record gives the reason.
        """
        # A new key for each attempt: the cluster must not answer with the result of an earlier attempt.
        future = self._client.submit(play_pair, job, key=f"arena-pair-{uuid.uuid4().hex}", pure=False)
        try:
            pair_result: PairResult = await future.result()
        except BotNotStarted as error:
            self._fatal_error = error
            self._changed.set()
            return PairResult(), str(error)
        except CancelledError as error:
            # Only the client itself cancels the future, when the client loses its scheduler.
            self._stop_with_error(error)
            return PairResult(), str(error)
        except Exception as error:  # noqa: BLE001  any error on another machine makes the pair void, with the reason
            reason = (str(error).splitlines() or [""])[0]
            return PairResult(), f"the cluster did not play the match: {type(error).__name__}: {reason}"
        return pair_result, "the worker was stopped before the match"


def start_next_pair(schedule: Schedule) -> list[tuple[str, Pairing]]:
    """Mark the next match of the schedule, and the other match of its pair, as started. Return both as (match id, pairing).

    The list has only one match if the other match of the pair is already played, and is empty if no match can start.
    """
    pairs: list[tuple[str, Pairing]] = []
    while next_pairings := [
        pairing
        for pairing in schedule.list_startable_pairings()
        if not pairs or pairing.pair == pairs[0][1].pair
    ]:
        pairs.append((schedule.make_next_match_id(next_pairings[0]), next_pairings[0]))
        schedule.mark_started(next_pairings[0])
    return pairs


def parse_worker_record(record_line: str, terms: MatchTerms) -> Record:
    """Parse and return a record from a worker.

    Raises BadRecord if the record is not of the match with these terms, or breaks the rules of the game.
    """
    record = parse_record_line(record_line)
    expected = {
        "match": terms.match,
        "event": terms.event,
        "game": terms.game.name,
        "setup": terms.game.setup(),
        "players": terms.players,
        "time_control": str(terms.time_control),
        "time_odds": terms.time_odds,
        "adjudication": terms.adjudication,
        "rules": CATALOGUE.get_rules_digest(terms.game),
    }
    for name, value in expected.items():
        if (actual := getattr(record, name)) != value:
            raise BadRecord(
                f"the record says {actual!r:.80} for `{name}`, but the match was planned with {value!r:.80}"
            )
    opening = tuple(move.move for move in record.moves if move.opening)
    if record.moves and list(opening) != list(terms.opening):
        raise BadRecord("the record does not begin with the opening of the match")
    verify_record(record)
    return record
