"""Plays the matches of a schedule on a host with a fleet of bots, some of them at once.

There is no barrier: whenever a match can start, the first in the schedule whose two bots are free does.
A match of a bot that is lost is not played but lost (no_show). Every wait ends: a bot that does not come
up is lost after its bounded restarts, and a match has a wall deadline beyond all of its clocks.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

import anyio
import anyio.abc
import msgspec
from anyio.lowlevel import checkpoint

from games.core import AnyGame
from protocol.codes import EndReason
from protocol.messages import Players, Seat
from protocol.record import FORMAT, Record, Result
from protocol.timecontrol import TimeControl
from server.arena_api import MatchHost, MatchSpec
from server.fleet import BotRefused
from server.pairing import Backlog, Pair, Pairing
from server.standings import losers

LONG_MATCH = 1000
"""Plies that a match of a game without a ply limit may have, for the wall deadline."""


@dataclass(frozen=True)
class Terms:
    """What all matches of an event share."""

    event: str
    starts: Sequence[AnyGame]
    """The games on their setups; a pair names one by its place."""
    time_control: TimeControl
    margin_ms: int
    ready_ms: int
    threads: int
    slack_seconds: float = 60
    """Beyond what a match may last by its clocks, before the host is believed to have failed."""


class Bots(Protocol):
    """The bots of an event: `server.fleet.Fleet` starts them here, `server.visitors.Visitors` dial in."""

    def take(self, bot: str) -> str | None:
        """The name under which the bot is connected and free, now taken; None if it is not."""

    def release(self, name: str) -> None:
        """Give back a name that was taken and not used."""

    def give_back(self, bot: str, name: str, *, answered: bool | None) -> None:
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
        terms: Terms,
        concurrency: int,
        played: Callable[[Pairing, Record], None],
    ) -> None:
        self._host = host
        self._fleet = fleet
        self._terms = terms
        self._concurrency = concurrency
        self._played = played
        self._running = 0

    async def run(self, pairs: Iterable[Pair], enough: Callable[[], bool] = lambda: False) -> None:
        """Play all matches of `pairs`, or until `enough`; each is told to `played` once, when it ends.

        Cancelled, it drops the matches in play. Raises fleet.BotRefused.
        """
        backlog = Backlog(pairs)
        refused = None
        async with anyio.create_task_group() as tasks:
            while (backlog or self._running) and not enough():
                try:
                    self._fleet.check()
                except BotRefused as error:
                    refused = error  # raised outside the group, which would wrap it
                    break
                if self._start(backlog, tasks):
                    await checkpoint()
                else:
                    await self._fleet.changed()
            tasks.cancel_scope.cancel()
        if refused is not None:
            raise refused

    def _start(self, backlog: Backlog, tasks: anyio.abc.TaskGroup) -> bool:
        """Start what can start, at most one match of each two bots: whether there was any."""
        busy: set[str] = set()
        before = len(backlog)
        for pairing in backlog.heads():
            # Who is there wins against who is lost; who has yet to come must come first.
            bots = [bot for bot in (pairing.maxie, pairing.minnie) if not self._fleet.lost(bot)]
            if len(bots) == 2 and self._running >= self._concurrency:
                continue
            names = None if not busy.isdisjoint(bots) else self._take(bots, busy)
            if names is None:
                continue
            backlog.take(pairing)
            if len(bots) == 2:
                self._running += 1
                tasks.start_soon(self._play, pairing, names[0], names[1])
            else:
                for name in names:
                    self._fleet.release(name)
                self._played(pairing, self._forfeit(pairing))
        return len(backlog) < before

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

    async def _play(self, pairing: Pairing, maxie: str, minnie: str) -> None:
        terms = self._terms
        spec = MatchSpec(
            match=uuid.uuid4().hex,
            event=terms.event,
            game=terms.starts[pairing.pair.start],
            maxie=maxie,
            minnie=minnie,
            time_control=terms.time_control,
            margin_ms=terms.margin_ms,
            ready_ms=terms.ready_ms,
            threads=terms.threads,
        )
        limit = longest_seconds(spec) + terms.slack_seconds
        record = self._unplayed(
            pairing, Result(None, EndReason.SERVER_FAULT, f"not over after {limit:.0f} s")
        )
        with anyio.move_on_after(limit):
            record = await self._host.play(spec)
        # Twins play under names of their own; the record tells of the bot.
        record = msgspec.structs.replace(record, players=Players(pairing.maxie, pairing.minnie))
        self._running -= 1
        self._played(pairing, record)
        moves = len(record.moves)
        self._fleet.give_back(
            pairing.maxie, maxie, answered=_answered(record, pairing.maxie, (moves + 1) // 2)
        )
        self._fleet.give_back(pairing.minnie, minnie, answered=_answered(record, pairing.minnie, moves // 2))

    def _forfeit(self, pairing: Pairing) -> Record:
        """The record of a match that cannot be played, because a bot is lost."""
        lost = [bot for bot in (pairing.maxie, pairing.minnie) if self._fleet.lost(bot)]
        winner: Seat | None = None
        if len(lost) == 1:
            winner = "minnie" if lost[0] == pairing.maxie else "maxie"
        return self._unplayed(
            pairing, Result(winner, EndReason.NO_SHOW, f"{' and '.join(lost)} did not come")
        )

    def _unplayed(self, pairing: Pairing, result: Result) -> Record:
        game = self._terms.starts[pairing.pair.start]
        return Record(
            format=FORMAT,
            match=uuid.uuid4().hex,
            event=self._terms.event,
            game=game.name,
            setup=game.setup(),
            players=Players(pairing.maxie, pairing.minnie),
            time_control=str(self._terms.time_control),
            started=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            moves=[],
            result=result,
        )


def longest_seconds(spec: MatchSpec) -> float:
    """How long the match can last if its host keeps its clocks."""
    limit = spec.game.setup().get("ply_limit")
    plies = limit if isinstance(limit, int) else LONG_MATCH
    control = spec.time_control
    if control.per_move:
        clocks = plies * (control.base_ms + spec.margin_ms)
    else:
        clocks = 2 * control.base_ms + plies * (control.increment_ms + spec.margin_ms)
    return (spec.ready_ms + clocks) / 1000


def _answered(record: Record, bot: str, moves: int) -> bool | None:
    if moves:
        return True
    late = record.result.reason in {EndReason.TIMEOUT, EndReason.NO_SHOW} and bot in losers(record)
    return False if late else None
