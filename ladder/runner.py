"""Plays the matches of a schedule on a host with the bots of an event, some of them at once.

There is no barrier: whenever a match can start, the first in the schedule whose two bots are free does.
A match that a fault of the server made void is played again, a few times. A match of a bot that is lost
is not played but lost (no_show). Every wait ends: a bot that does not come up is lost after its bounded
restarts, and a match has a wall deadline beyond all of its clocks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

import anyio
import anyio.abc
import msgspec
from anyio.lowlevel import checkpoint

from arena.games.core import Player
from arena.ladder.bots import BotRefused, Bots
from arena.ladder.event_terms import EventTerms, longest_seconds
from arena.ladder.threads import Threads
from arena.match.terms import Terms, ThreadLimits
from arena.protocol.codes import EndReason
from arena.protocol.record import Record, Result
from arena.protocol.values import Players, Seat
from arena.rating.pairing import Pairing
from arena.rating.standings import answered

MOST_OVERTAKING = 8
"""How many matches may begin before one that is due and waits for more threads than are free: it must not wait for ever."""

GAVE_UP = {EndReason.RESIGNATION: "resigned", EndReason.CRASH: "crashed"}
"""The ends that a bot says itself, and has printed something about, as a rule."""


class MatchHost(Protocol):
    """What plays single matches, and knows nothing of schedules and tables: `server.host.Host`."""

    async def play(self, terms: Terms) -> Record:
        """Play one match to its end. Always returns, within the deadlines of `terms` and of the host.

        A player who is not there loses as `no_show`; a fault of the host ends the match as
        `server_fault`, which is void. A host refuses nothing here: every failure is in the result.
        """
        ...

    async def keep(self, terms: Terms, record: Record) -> None:
        """Put the record of a match that was never begun into the store."""
        ...


class Matches(Protocol):
    """What is to be played: `ladder.schedule.Schedule`, or a part of one."""

    def __len__(self) -> int: ...

    def heads(self) -> list[Pairing]:
        """The matches that may be begun, in order."""

    def id_of(self, pairing: Pairing) -> str:
        """The id of the match in which a pairing is to be played now."""

    def take(self, head: Pairing) -> None:
        """One of the heads is begun."""

    def ended(self, pairing: Pairing, record: Record) -> bool:
        """A match is over: whether that is its end, or it is to be played again."""


class Runner:
    """One event in play."""

    def __init__(
        self,
        host: MatchHost,
        bots: Bots,
        terms: EventTerms,
        threads: Threads,
        played: Callable[[Pairing, Record], None],
        *,
        again: Callable[[Pairing, Record], None] = lambda _pairing, _record: None,
        seconds_left: Callable[[], float] = lambda: math.inf,
        held: Callable[[Sequence[str], int], AbstractContextManager[None]] = lambda _names, _threads: (
            nullcontext()
        ),
    ) -> None:
        """threads       how many the bots may search with, and what the matches in play may weigh together
        played        told of each match at its end, once
        again         told of each void match that is to be played again
        seconds_left  no match begins when there are none left
        held          entered with the bots of each match and its threads, for as long as it is played
        """
        self._host = host
        self._bots = bots
        self._terms = terms
        self._threads = threads
        self._played = played
        self._again = again
        self._seconds_left = seconds_left
        self._held = held
        self._running = 0
        self._load = 0
        self._waiting: Pairing | None = None
        """The first match for whose threads there was no room, until it begins."""
        self._overtaken = 0
        """How many matches have begun since then."""

    async def run(self, schedule: Matches, enough: Callable[[], bool] = lambda: False) -> None:
        """Play all matches of the schedule, or until `enough`.

        Cancelled, it drops the matches in play. Raises bots.BotRefused.
        """
        refused = None
        async with anyio.create_task_group() as tasks:
            while not enough():
                left = self._seconds_left()
                if not self._running and (left <= 0 or not schedule):
                    break
                try:
                    self._bots.check()
                except BotRefused as error:
                    refused = error  # raised outside the group, which would wrap it
                    break
                if left > 0 and await self._start(schedule, tasks):
                    await checkpoint()
                else:
                    with anyio.move_on_after(left if left > 0 else math.inf):
                        await self._bots.changed()
            tasks.cancel_scope.cancel()
        if refused is not None:
            raise refused

    async def _start(self, schedule: Matches, tasks: anyio.abc.TaskGroup) -> bool:
        """Start the matches that can start, at most one of each two bots. Returns whether there was any."""
        busy: set[str] = set()
        started = False
        for pairing in schedule.heads():
            # Who is there wins against who is lost; who has yet to come must come first.
            bots = [bot for bot in (pairing.maxie, pairing.minnie) if not self._bots.lost(bot)]
            weight = self._threads.weight(pairing.maxie, pairing.minnie, self._bots.asks)
            if len(bots) == 2 and self._running and self._load + weight > self._threads.capacity:
                self._waiting = self._waiting or pairing
                if self._overtaken >= MOST_OVERTAKING:
                    break
                continue
            names = None if not busy.isdisjoint(bots) else self._take(bots, busy)
            if names is None:
                continue
            match = schedule.id_of(pairing)
            schedule.take(pairing)
            started = True
            if len(bots) == 2:
                self._note_begun(pairing)
                self._running += 1
                self._load += weight
                terms = self._terms.of_match(match, pairing, names[0], names[1], self._limits(pairing))
                tasks.start_soon(self._play, schedule, pairing, terms, weight)
            else:
                for name in names:
                    self._bots.release(name)
                record = self._forfeit(match, pairing)
                await self._host.keep(
                    self._terms.of_match(
                        match, pairing, pairing.maxie, pairing.minnie, self._limits(pairing)
                    ),
                    record,
                )
                self._settle(schedule, pairing, record)
        return started

    def _note_begun(self, pairing: Pairing) -> None:
        """Count what begins before a match that waits for more threads than are free."""
        if pairing == self._waiting:
            self._waiting, self._overtaken = None, 0
        elif self._waiting is not None:
            self._overtaken += 1

    def _limits(self, pairing: Pairing) -> ThreadLimits:
        return self._threads.limits(pairing.maxie, pairing.minnie, self._bots.asks)

    def _take(self, bots: Sequence[str], busy: set[str]) -> list[str] | None:
        """The name of a free process of each bot; None where one has none, and that bot joins `busy`."""
        names: list[str] = []
        for bot in bots:
            name = self._bots.take(bot)
            if name is None:
                busy.add(bot)
                for taken in names:
                    self._bots.release(taken)
                return None
            names.append(name)
        return names

    async def _play(self, schedule: Matches, pairing: Pairing, terms: Terms, weight: int) -> None:
        limit = longest_seconds(terms) + self._terms.slack_seconds
        record = self._terms.unplayed(
            terms.match, pairing, Result(None, EndReason.SERVER_FAULT, f"not over after {limit:.0f} s")
        )
        with (
            anyio.move_on_after(limit),
            self._held((terms.players.maxie, terms.players.minnie), terms.needed_threads),
        ):
            record = await self._host.play(terms)
        self._running -= 1
        self._load -= weight
        self._settle(schedule, pairing, record)
        for seat, bot, name in (
            (Player.MAXIE, pairing.maxie, terms.players.maxie),
            (Player.MINNIE, pairing.minnie, terms.players.minnie),
        ):
            gave_up = "" if record.result.winner == seat.value else GAVE_UP.get(record.result.reason, "")
            self._bots.give_back(bot, name, answered=answered(record, seat, bot), gave_up=gave_up)

    def _settle(self, schedule: Matches, pairing: Pairing, record: Record) -> None:
        record = named(pairing, record)
        if schedule.ended(pairing, record):
            self._played(pairing, record)
        else:
            self._again(pairing, record)

    def _forfeit(self, match: str, pairing: Pairing) -> Record:
        """The record of a match that cannot be played, because a bot is lost."""
        lost = [bot for bot in (pairing.maxie, pairing.minnie) if self._bots.lost(bot)]
        winner: Seat | None = None
        if len(lost) == 1:
            winner = "minnie" if lost[0] == pairing.maxie else "maxie"
        result = Result(winner, EndReason.NO_SHOW, f"{' and '.join(lost)} did not come")
        return self._terms.unplayed(match, pairing, result)


def named(pairing: Pairing, record: Record) -> Record:
    """The record with the bots' names: twins play under names of their own."""
    return msgspec.structs.replace(record, players=Players(pairing.maxie, pairing.minnie))
