"""Runner of a ladder (local tournament): it plays the matches of a schedule on a server, several in parallel.

Rounds do not wait for each other: whenever bots are free, the first match in the schedule between free bots starts. A match
that a fault of the server makes void is played again, a few times. A bot that drops out, because it does not start even after
some restarts, forfeits its matches, with the reason `no_show`. Each match has a time limit in addition to its clocks, so no
wait is endless.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Protocol

import anyio
import anyio.abc
import msgspec
from anyio.lowlevel import checkpoint

from arena.games.core import Player
from arena.ladder import event_terms
from arena.ladder.bot_pool import BotConnectionPool
from arena.ladder.event_terms import (
    EventTerms,
    compute_max_match_seconds,
    make_unplayed_record,
    make_void_record,
)
from arena.ladder.pinning import CorePinning
from arena.ladder.threads import ThreadAllocation
from arena.match.replay import has_player_moved
from arena.match.terms import MatchTerms, SearchThreadLimits
from arena.processes.tasks import open_background_tasks
from arena.protocol.codes import EndReason
from arena.protocol.record import Record, Result
from arena.protocol.values import Players, Seat
from arena.rating.pairing import Pairing
from arena.rating.schedule import Schedule

MAX_STARTS_AHEAD_OF_DELAYED_MATCH = 8
"""Maximum number of matches that may start ahead of an earlier match of the schedule that waits for free threads."""

LOSS_VERB_BY_END_REASON = {EndReason.RESIGNATION: "resigned", EndReason.CRASH: "crashed"}
"""Verb in the report about a bot that lost a match by resigning or crashing, by the end reason of the match.

The report shows the bot's last output, because a bot that resigns or crashes has usually printed the cause.
"""


class MatchHost(Protocol):
    """Interface for playing and storing single matches, implemented by `server.shell.shell.Shell`."""

    async def play_match(self, terms: MatchTerms) -> Record:
        """Play one match to its end, and return its record.

        The method raises no errors: an absent player loses with the reason `no_show`, and a fault of the server makes the
        match void, with the reason `server_fault`. The match begins once both bots have capacity for another match. From then
        on, the deadlines in `terms` limit the duration of the match. Cancellation withdraws a match that has not begun.
        """
        ...

    async def store_record(self, terms: MatchTerms, record: Record) -> None:
        """Store the record of a match that this server did not play."""
        ...


class MatchRunner:
    """Runner that plays the matches of one ladder (local tournament) on this machine."""

    def __init__(
        self,
        host: MatchHost,
        bots: BotConnectionPool,
        terms: EventTerms,
        thread_allocation: ThreadAllocation,
        on_result: Callable[[Pairing, Record], None],
        *,
        on_void_match: Callable[[Pairing, Record], None] = lambda _pairing, _record: None,
        compute_seconds_left: Callable[[], float] = lambda: math.inf,
        pinning: CorePinning | None = None,
    ) -> None:
        """Create a runner.

        host                  server that plays and stores the matches
        bots                  bots of the event
        terms                 terms shared by all matches
        thread_allocation     allocation of threads to the bots and matches
        on_result             called once for each match that is over and will not be played again
        on_void_match         called for each void match that will be played again
        compute_seconds_left  returns the seconds left for the event; at 0, no further match begins
        pinning               assignment of cores to the matches in play; None to pin no bots
        """
        self._host = host
        self._bots = bots
        self._terms = terms
        self._thread_allocation = replace(
            thread_allocation, get_reported_thread_count=bots.get_reported_thread_count
        )
        self._on_result = on_result
        self._on_void_match = on_void_match
        self._compute_seconds_left = compute_seconds_left
        self._pinning = pinning
        self._running_match_count = 0
        self._running_load = 0
        self._delayed_pairing: Pairing | None = None
        """Earliest match that could not start because too few threads were free; None if there is none."""
        self._starts_ahead_count = 0
        """Number of later matches that started before `_delayed_pairing`."""

    async def run(self, schedule: Schedule, should_stop: Callable[[], bool] = lambda: False) -> None:
        """Play the matches of the schedule until all are played or `should_stop` returns True.

        Cancellation drops the matches in play. Raises BotNotStarted if a bot cannot be started.
        """
        async with open_background_tasks() as tasks:
            while not should_stop():
                seconds = self._compute_seconds_left()
                if not self._running_match_count and (seconds <= 0 or not schedule):
                    break
                self._bots.raise_if_bot_not_started()
                if seconds > 0 and await self._start_matches(schedule, tasks):
                    await checkpoint()
                else:
                    with anyio.move_on_after(seconds if seconds > 0 else math.inf):
                        await self._bots.wait_for_bot_change()

    async def _start_matches(self, schedule: Schedule, tasks: anyio.abc.TaskGroup) -> bool:
        """Start the matches whose bots and threads are free. Return True if any was started."""
        any_started = False
        for pairing in schedule.list_startable_pairings():
            # A bot that dropped out forfeits, and its opponent must be connected to win.
            bots = [bot for bot in (pairing.maxie, pairing.minnie) if not self._bots.has_dropped_out(bot)]
            match_load = self._thread_allocation.compute_match_load(pairing.maxie, pairing.minnie)
            if (
                len(bots) == 2
                and self._running_match_count
                and self._running_load + match_load > self._thread_allocation.max_running_load
            ):
                self._delayed_pairing = self._delayed_pairing or pairing
                if self._starts_ahead_count >= MAX_STARTS_AHEAD_OF_DELAYED_MATCH:
                    break
                continue
            names = reserve_connections(self._bots, bots)
            if names is None:
                continue
            match = schedule.make_next_match_id(pairing)
            schedule.mark_started(pairing)
            any_started = True
            if len(bots) == 2:
                self._count_start_ahead(pairing)
                self._running_match_count += 1
                self._running_load += match_load
                terms = self._terms.make_match_terms(
                    match, pairing, self._make_thread_limits(pairing), Players(*names)
                )
                tasks.start_soon(self._play_match, schedule, pairing, terms, match_load)
            else:
                for name in names:
                    self._bots.release_connection(name)
                terms = self._terms.make_match_terms(match, pairing, self._make_thread_limits(pairing))
                record = make_forfeit_record(terms, self._bots)
                await self._host.store_record(terms, record)
                self._record_result(schedule, pairing, record)
        return any_started

    def _count_start_ahead(self, pairing: Pairing) -> None:
        """Count `pairing` as a match that starts ahead of the delayed match `_delayed_pairing`. End the count if it is the
        delayed match.

        After MAX_STARTS_AHEAD_OF_DELAYED_MATCH matches, no further match starts ahead of the delayed match.
        """
        if pairing == self._delayed_pairing:
            self._delayed_pairing, self._starts_ahead_count = None, 0
        elif self._delayed_pairing is not None:
            self._starts_ahead_count += 1

    def _make_thread_limits(self, pairing: Pairing) -> SearchThreadLimits:
        return self._thread_allocation.make_thread_limits(pairing.maxie, pairing.minnie)

    async def _play_match(
        self, schedule: Schedule, pairing: Pairing, terms: MatchTerms, match_load: int
    ) -> None:
        with self._pin_bots_during_match(terms):
            record = await play_match_with_time_limit(terms, self._host)
        self._running_match_count -= 1
        self._running_load -= match_load
        self._record_result(schedule, pairing, record)
        report_match_to_pool(record, self._bots, Players(pairing.maxie, pairing.minnie))

    def _pin_bots_during_match(self, terms: MatchTerms) -> AbstractContextManager[None]:
        if self._pinning is None:
            return nullcontext()
        return self._pinning.pin_bots_during_match(
            (terms.players.maxie, terms.players.minnie), terms.search_threads_needed
        )

    def _record_result(self, schedule: Schedule, pairing: Pairing, record: Record) -> None:
        record = replace_connection_names(pairing, record)
        if schedule.record_result(pairing, record):
            self._on_result(pairing, record)
        else:
            self._on_void_match(pairing, record)


def reserve_connections(pool: BotConnectionPool, bots: Sequence[str]) -> list[str] | None:
    """Reserve a free connection of each bot, and return the names of the connections.

    If a bot has no free connection, reserve nothing and return None.
    """
    connection_names: list[str] = []
    for bot in bots:
        name = pool.reserve_connection(bot)
        if name is None:
            for connection_name in connection_names:
                pool.release_connection(connection_name)
            return None
        connection_names.append(name)
    return connection_names


async def play_match_with_time_limit(terms: MatchTerms, host: MatchHost) -> Record:
    """Play a match on the server `host`, and return its record. A match that exceeds its time limit is stopped, and is void."""
    max_seconds = compute_max_match_seconds(terms) + event_terms.MATCH_TIME_LIMIT_MARGIN_SECONDS
    void_record = make_void_record(terms, f"the match was not over after {max_seconds:.0f} s")
    with anyio.move_on_after(max_seconds):
        return await host.play_match(terms)
    return void_record


def make_forfeit_record(terms: MatchTerms, pool: BotConnectionPool) -> Record:
    """Return the record of a match that a bot forfeits because it dropped out; no winner if both bots dropped out."""
    players = terms.players
    absent_bots = [bot for bot in (players.maxie, players.minnie) if pool.has_dropped_out(bot)]
    winner: Seat | None = None
    if len(absent_bots) == 1:
        winner = "minnie" if absent_bots[0] == players.maxie else "maxie"
    reason = f"{' and '.join(absent_bots)} did not connect in time, or took no more matches"
    return make_unplayed_record(terms, Result(winner, EndReason.NO_SHOW, reason))


def report_match_to_pool(record: Record, pool: BotConnectionPool, bots: Players) -> None:
    """Release the connections of a match in `pool`, and report whether each bot moved, and how a bot lost (such as `crashed`).

    bots  names of the bots; `record.players` has the names of their connections
    """
    for seat, bot, name in (
        (Player.MAXIE, bots.maxie, record.players.maxie),
        (Player.MINNIE, bots.minnie, record.players.minnie),
    ):
        loss_cause = (
            ""
            if record.result.winner == seat.value
            else LOSS_VERB_BY_END_REASON.get(record.result.reason, "")
        )
        pool.finish_match(bot, name, made_move=has_player_moved(record, seat), loss_cause=loss_cause)


def replace_connection_names(pairing: Pairing, record: Record) -> Record:
    """Return the record with the names of the bots in place of the names of their connections: `greedy` instead of
    `greedy#2`.
    """
    return msgspec.structs.replace(record, players=Players(pairing.maxie, pairing.minnie))
