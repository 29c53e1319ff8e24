"""Bots of an event that connect by themselves, from other machines or containers.

The runner uses them in the same way as `ladder.bot_processes.BotProcesses` (ladder.bots.Bots). Nothing is started or restarted here, so
a bot that stays away or never answers is lost when its time is up.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import anyio

from arena.clock import MONOTONIC, Clock
from arena.server.host import Host

ANOTHER_EVENT = "with Docker Compose, EVENT=NAME docker compose up begins another event"
"""Advice for hosts that start such a ladder in containers, if an event cannot be resumed."""


LEAST = 2
"""Minimum number of bots to begin with after the wait."""


class TooFewBots(Exception):
    """Raised when too few bots connected; the message is one line that names those that did."""


@dataclass(frozen=True)
class ExternalBotSettings:
    """Address for external bots, and waiting times in seconds."""

    host: str
    port: int
    bots: int
    """Minimum number of bots."""
    wait: float = 60
    """Time to wait for the bots, in seconds."""
    settle: float = 5
    """Time without a new bot, in seconds, after which the ladder begins if enough bots are connected."""
    away: float = 30
    """Time of absence, in seconds, after which a bot is lost once the ladder has begun."""
    silent_matches: int = 2
    """Number of consecutive matches lost on time without a move, after which a bot is given up."""


@dataclass
class ExternalBot:
    """State of a connected bot."""

    lost: bool = False
    """True if the bot will never play again."""
    playing: bool = False
    _away_since: float | None = None
    _silent: int = 0

    @property
    def free(self) -> bool:
        """Return True if the bot is connected and can begin a match."""
        return not (self.playing or self.lost or self._away_since is not None)

    def reserve(self) -> None:
        """Mark the bot as playing."""
        self.playing = True

    def release(self) -> None:
        """Mark the bot as not playing."""
        self.playing = False

    def record_match(self, most: int, *, answered: bool) -> None:
        """Record whether the bot made a move in its last match. After `most` silent matches in a row it is lost."""
        self._silent = 0 if answered else self._silent + 1
        self.lost = self.lost or self._silent >= most

    def record_presence(self, now: float, most: float, *, here: bool) -> None:
        """Record whether the bot is connected at `now`. After `most` seconds without a connection it is lost."""
        if here:
            self._away_since = None
        elif self._away_since is None:
            self._away_since = now
        else:
            self.lost = self.lost or now - self._away_since > most


@dataclass
class ExternalBots:
    """All bots that connected, by name. Made by `gather`."""

    _host: Host
    _game: str
    _dial_in: ExternalBotSettings
    _bots: dict[str, ExternalBot] = field(default_factory=dict)
    _event: anyio.Event = field(default_factory=anyio.Event)
    _clock: Clock = MONOTONIC
    missed: str = ""
    """Missing bots in one clause; empty if all came."""

    @property
    def names(self) -> list[str]:
        """Return the connected bots sorted by name, since their order of arrival has no meaning."""
        return sorted(self._bots)

    def reserve(self, bot: str) -> str | None:
        """Reserve the bot and return its name, or None if it is not connected and free."""
        each = self._bots[bot]
        if not each.free:
            return None
        each.reserve()
        return bot

    def release(self, name: str) -> None:
        """Release a reserved bot that was not used."""
        self._bots[name].release()

    def finish_match(
        self,
        bot: str,
        name: str,
        *,
        answered: bool | None,
        gave_up: str = "",  # noqa: ARG002  the bot's output is on its owner's machine
    ) -> None:
        """Release the bot after a match. `answered` is True if it made a move, None if it never had a turn."""
        self.release(name)
        if answered is not None:
            self._bots[bot].record_match(self._dial_in.silent_matches, answered=answered)
        self._wake()

    def announced_threads(self, bot: str) -> int:
        """Return the number of search threads that the bot announced; 0 if none."""
        return self._host.threads_of(bot)

    def is_lost(self, bot: str) -> bool:
        """Return True if the bot will never play again."""
        return self._bots[bot].lost

    async def wait_changed(self) -> None:
        """Wait until a bot becomes free, returns, or is lost."""
        await self._event.wait()

    def check(self) -> None:
        """Do nothing, because the bots are not started by this process."""

    def _wake(self) -> None:
        self._event.set()
        self._event = anyio.Event()

    @asynccontextmanager
    async def track_presence(self) -> AsyncIterator[None]:
        """Track which bots leave and return, for the duration of the block."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()

    async def _watch(self) -> None:
        while True:
            here = _connected_bots(self._host, self._game)
            now = self._clock.now()
            for name, bot in self._bots.items():
                bot.record_presence(now, self._dial_in.away, here=name in here)
            self._wake()
            # There is no event when a bot leaves; its match, if it has one, ends by its own deadlines.
            with anyio.move_on_after(1):
                await self._host.wait_change()


async def gather(
    host: Host, game: str, dial_in: ExternalBotSettings, names: Sequence[str] = (), clock: Clock = MONOTONIC
) -> ExternalBots:
    """Wait for bots that play `game`; with `names`, only for these.

    After the wait the event begins with the connected bots, if there are at least two. Raises TooFewBots.
    """
    here: set[str] = set()
    with anyio.move_on_after(dial_in.wait):
        while not (here >= set(names) if names else len(here) >= dial_in.bots):
            here = await _next(host, game, here)
    with anyio.move_on_after(dial_in.wait):
        while (
            not names
            and len(here) >= dial_in.bots
            and (more := await _new_bots(host, game, here, dial_in.settle))
        ):
            here |= more
    here |= _connected_bots(host, game)
    missed = ""
    if names:
        here &= set(names)
        if away := set(names) - here:
            missed = f"of the event's bots {', '.join(sorted(away))} did not come within {dial_in.wait:g} s"
    elif len(here) < dial_in.bots:
        missed = f"{len(here)} of {dial_in.bots} bots came within {dial_in.wait:g} s"
    if len(here) < LEAST:
        came = ", ".join(sorted(here)) or "none"
        way_on = f"let them come, or name another event with --event; {ANOTHER_EVENT}" if names else came
        raise TooFewBots(f"{missed}: {way_on}")
    bots = {name: ExternalBot() for name in names or here}
    for name, bot in bots.items():
        bot.record_presence(clock.now(), dial_in.away, here=name in here)
    return ExternalBots(host, game, dial_in, bots, _clock=clock, missed=missed)


async def wait_without_playing(host: Host, game: str, dial_in: ExternalBotSettings) -> None:
    """Wait for bots as `gather` does, although nothing will be played.

    Bots that find a server learn that the event is over; without one they would keep trying to connect.
    """
    with suppress(TooFewBots):  # connected bots are told when the host closes
        await gather(host, game, dial_in)


async def _next(host: Host, game: str, before: set[str]) -> set[str]:
    """Wait until the connected bots differ from `before`, and return them."""
    while (here := _connected_bots(host, game)) == before:
        await host.wait_change()
    return here


async def _new_bots(host: Host, game: str, before: set[str], seconds: float) -> set[str]:
    """Return newly connected bots that are not in `before`; empty if none connects within `seconds`."""
    with anyio.move_on_after(seconds):
        while not (new := _connected_bots(host, game) - before):
            await host.wait_change()
        return new
    return set()


def _connected_bots(host: Host, game: str) -> set[str]:
    return host.players_of(game)
