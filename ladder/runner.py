"""Plays the matches of a schedule on a host with a fleet of bots, some of them at once.

There is no barrier: whenever a match can start, the first in the schedule whose two bots are free does.
A match that a fault of the server made void is played again, a few times. A match of a bot that is lost is not played but lost (no_show). Every wait ends: a bot that does not come
up is lost after its bounded restarts, and a match has a wall deadline beyond all of its clocks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

import anyio
import anyio.abc
import msgspec
from anyio.lowlevel import checkpoint

from games.core import AnyGame, Player
from ladder.fleet import BotRefused
from ladder.match_host import MatchHost
from ladder.openings import NoOpenings, Openings
from match.terms import Terms
from protocol.adjudication import Adjudication
from protocol.codes import EndReason
from protocol.messages import Players, Seat
from protocol.record import FORMAT, Record, Result
from protocol.timecontrol import TimeControl
from rating.pairing import Pairing
from rating.standings import answered

LONG_MATCH = 1000
"""Plies that a match of a game without a ply limit may have, for the wall deadline."""


@dataclass(frozen=True)
class EventTerms:
    """What all matches of an event share."""

    event: str
    starts: Sequence[AnyGame]
    """The games on their setups; a pair names one by its place."""
    time_control: TimeControl
    margin_ms: int
    ready_ms: int
    threads: int
    openings: Openings = field(default_factory=NoOpenings)
    adjudication: Adjudication | None = None
    weights: Mapping[str, int] = field(default_factory=dict)
    """Threads that bots declare, where that is more than one; a match weighs as much as the greater of its two."""
    slack_seconds: float = 60
    """Beyond what a match may last by its clocks, before the host is believed to have failed."""

    def of_match(self, match: str, pairing: Pairing, maxie: str, minnie: str, weight: int) -> Terms:
        """A match of the event, between bots that are connected under these names."""
        return Terms(
            match=match,
            event=self.event,
            game=self.starts[pairing.pair.start],
            players=Players(maxie, minnie),
            time_control=self.time_control,
            margin_ms=self.margin_ms,
            ready_ms=self.ready_ms,
            threads=max(weight, self.threads),
            opening=self.openings.of(pairing.pair.round, pairing.pair.start),
            adjudication=self.adjudication,
        )

    def unplayed(self, match: str, pairing: Pairing, result: Result) -> Record:
        """The record of a match without moves."""
        game = self.starts[pairing.pair.start]
        return Record(
            format=FORMAT,
            match=match,
            event=self.event,
            game=game.name,
            setup=game.setup(),
            players=Players(pairing.maxie, pairing.minnie),
            time_control=str(self.time_control),
            started=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            moves=[],
            result=result,
            adjudication=self.adjudication,
        )


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


class Bots(Protocol):
    """The bots of an event: `ladder.fleet.Fleet` starts them here, `ladder.visitors.Visitors` dial in."""

    def take(self, bot: str) -> str | None:
        """The name under which the bot is connected and free, now taken; None if it is not."""

    def release(self, name: str) -> None:
        """Give back a name that was taken and not used."""

    def give_back(self, bot: str, name: str, *, answered: bool | None, resigned: bool = False) -> None:
        """The match is over. `answered`: whether it made a move; None where that says nothing of it."""

    def lost(self, bot: str) -> bool:
        """Whether the bot will never play again."""

    async def changed(self) -> None:
        """Wait until somebody has become free, come up, or been lost."""

    def check(self) -> None:
        """Raises BotRefused when a bot was started wrongly: then a ladder makes no sense."""


class Runner:
    """One event in play."""

    def __init__(
        self,
        host: MatchHost,
        fleet: Bots,
        terms: EventTerms,
        concurrency: int,
        played: Callable[[Pairing, Record], None],
        *,
        again: Callable[[Pairing, Record], None] = lambda _pairing, _record: None,
        seconds_left: Callable[[], float] = lambda: math.inf,
        held: Callable[[Sequence[str], int], AbstractContextManager[None]] = lambda _names, _threads: (
            nullcontext()
        ),
    ) -> None:
        """concurrency   what matches in play may weigh together; one may always be in play
        played        told of each match at its end, once
        again         told of each void match that is to be played again
        seconds_left  no match begins when there are none left
        held          entered with the bots of each match and its threads, for as long as it is played
        """
        self._host = host
        self._fleet = fleet
        self._terms = terms
        self._concurrency = concurrency
        self._played = played
        self._again = again
        self._seconds_left = seconds_left
        self._held = held
        self._running = 0
        self._load = 0

    async def run(self, schedule: Matches, enough: Callable[[], bool] = lambda: False) -> None:
        """Play all matches of the schedule, or until `enough`.

        Cancelled, it drops the matches in play. Raises fleet.BotRefused.
        """
        refused = None
        async with anyio.create_task_group() as tasks:
            while not enough():
                left = self._seconds_left()
                if not self._running and (left <= 0 or not schedule):
                    break
                try:
                    self._fleet.check()
                except BotRefused as error:
                    refused = error  # raised outside the group, which would wrap it
                    break
                if left > 0 and await self._start(schedule, tasks):
                    await checkpoint()
                else:
                    with anyio.move_on_after(left if left > 0 else math.inf):
                        await self._fleet.changed()
            tasks.cancel_scope.cancel()
        if refused is not None:
            raise refused

    async def _start(self, schedule: Matches, tasks: anyio.abc.TaskGroup) -> bool:
        """Start what can start, at most one match of each two bots: whether there was any."""
        busy: set[str] = set()
        started = False
        for pairing in schedule.heads():
            # Who is there wins against who is lost; who has yet to come must come first.
            bots = [bot for bot in (pairing.maxie, pairing.minnie) if not self._fleet.lost(bot)]
            weight = max(self._terms.weights.get(bot, 1) for bot in (pairing.maxie, pairing.minnie))
            if len(bots) == 2 and self._running and self._load + weight > self._concurrency:
                continue
            names = None if not busy.isdisjoint(bots) else self._take(bots, busy)
            if names is None:
                continue
            match = schedule.id_of(pairing)
            schedule.take(pairing)
            started = True
            if len(bots) == 2:
                self._running += 1
                self._load += weight
                terms = self._terms.of_match(match, pairing, names[0], names[1], weight)
                tasks.start_soon(self._play, schedule, pairing, terms, weight)
            else:
                for name in names:
                    self._fleet.release(name)
                record = self._forfeit(match, pairing)
                await self._host.keep(
                    self._terms.of_match(match, pairing, pairing.maxie, pairing.minnie, weight), record
                )
                self._settle(schedule, pairing, record)
        return started

    def _take(self, bots: Sequence[str], busy: set[str]) -> list[str] | None:
        """A process of each bot, or None, and who has none joins the busy."""
        names: list[str] = []
        for bot in bots:
            name = self._fleet.take(bot)
            if name is None:
                busy.add(bot)
                for taken in names:
                    self._fleet.release(taken)
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
            self._held((terms.players.maxie, terms.players.minnie), terms.threads),
        ):
            record = await self._host.play(terms)
        self._running -= 1
        self._load -= weight
        self._settle(schedule, pairing, record)
        for seat, bot, name in (
            (Player.MAXIE, pairing.maxie, terms.players.maxie),
            (Player.MINNIE, pairing.minnie, terms.players.minnie),
        ):
            gave_up = record.result.reason is EndReason.RESIGNATION and record.result.winner != seat.value
            self._fleet.give_back(bot, name, answered=answered(record, seat, bot), resigned=gave_up)

    def _settle(self, schedule: Matches, pairing: Pairing, record: Record) -> None:
        record = named(pairing, record)
        if schedule.ended(pairing, record):
            self._played(pairing, record)
        else:
            self._again(pairing, record)

    def _forfeit(self, match: str, pairing: Pairing) -> Record:
        """The record of a match that cannot be played, because a bot is lost."""
        lost = [bot for bot in (pairing.maxie, pairing.minnie) if self._fleet.lost(bot)]
        winner: Seat | None = None
        if len(lost) == 1:
            winner = "minnie" if lost[0] == pairing.maxie else "maxie"
        result = Result(winner, EndReason.NO_SHOW, f"{' and '.join(lost)} did not come")
        return self._terms.unplayed(match, pairing, result)


def named(pairing: Pairing, record: Record) -> Record:
    """The record with the bots' names: twins play under names of their own."""
    return msgspec.structs.replace(record, players=Players(pairing.maxie, pairing.minnie))


def longest_seconds(terms: Terms) -> float:
    """How long the match can last if its host keeps its clocks."""
    limit = terms.game.setup().get("ply_limit")
    plies = limit if isinstance(limit, int) else LONG_MATCH
    control = terms.time_control
    if control.per_move:
        clocks = plies * (control.base_ms + terms.margin_ms)
    else:
        clocks = 2 * control.base_ms + plies * (control.increment_ms + terms.margin_ms)
    return (terms.ready_ms + clocks) / 1000
