"""The bots of an event that dial in by themselves, from other machines or containers.

The runner uses them as it uses `ladder.fleet.Fleet` (ladder.bots.Bots). Nothing is started here and nothing
can be started again, so a bot that stays away, or answers nothing, is lost once its time is up.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import anyio

from arena.server.host import Host

ANOTHER_EVENT = "with Docker Compose, EVENT=NAME docker compose up begins another event"
"""The way on for whoever starts such a ladder in containers, where an event cannot go on."""


class TooFewBots(Exception):
    """Not enough bots came: one line that says who did."""


@dataclass(frozen=True)
class DialIn:
    """Where bots dial in, and how long they are waited for. Times are in seconds."""

    host: str
    port: int
    bots: int
    """How many must come at least."""
    wait: float = 60
    """How long these may take to come."""
    settle: float = 5
    """The ladder begins when enough bots are there and nobody new has come for so long."""
    away: float = 30
    """A bot that is away for longer, once the ladder has begun, is lost."""
    silent_matches: int = 2
    """A bot that loses so many matches in a row on time, without a move, is lost."""


@dataclass
class DialInBot:
    """What is known of one bot that came."""

    lost: bool = False
    """Whether it will never play again."""
    playing: bool = False
    _away_since: float | None = None
    _silent: int = 0

    @property
    def free(self) -> bool:
        """Whether it is connected and could begin a match."""
        return not (self.playing or self.lost or self._away_since is not None)

    def take(self) -> None:
        """Let it play."""
        self.playing = True

    def release(self) -> None:
        """Let it play no more."""
        self.playing = False

    def note_match(self, most: int, *, answered: bool) -> None:
        """Note whether it made a move in its last match; with `most` silent ones in a row it is lost."""
        self._silent = 0 if answered else self._silent + 1
        self.lost = self.lost or self._silent >= most

    def note_presence(self, now: float, most: float, *, here: bool) -> None:
        """Note whether it is connected at `now`; away for more than `most` seconds it is lost."""
        if here:
            self._away_since = None
        elif self._away_since is None:
            self._away_since = now
        else:
            self.lost = self.lost or now - self._away_since > most


@dataclass
class DialInBots:
    """All bots that came, by name. Made by `gather`."""

    _host: Host
    _game: str
    _dial_in: DialIn
    _bots: dict[str, DialInBot] = field(default_factory=dict)
    _event: anyio.Event = field(default_factory=anyio.Event)

    @property
    def names(self) -> list[str]:
        """Who came, in the order of their names: the order of arrival says nothing."""
        return sorted(self._bots)

    def take(self, bot: str) -> str | None:
        """The bot, now taken, if it is connected and free; else None."""
        known = self._bots[bot]
        if not known.free:
            return None
        known.take()
        return bot

    def release(self, name: str) -> None:
        """Give back a bot that was taken and not used."""
        self._bots[name].release()

    def give_back(
        self,
        bot: str,
        name: str,
        *,
        answered: bool | None,
        gave_up: str = "",  # noqa: ARG002  what it printed is at its owner's
    ) -> None:
        """The match is over. `answered`: whether it made a move; None where that says nothing of it."""
        self.release(name)
        if answered is not None:
            self._bots[bot].note_match(self._dial_in.silent_matches, answered=answered)
        self._stir()

    def asks(self, bot: str) -> int:
        """How many threads the bot says that it searches with; 0 where it has not said."""
        return self._host.lobby.asks(bot)

    def lost(self, bot: str) -> bool:
        """Whether the bot will never play again."""
        return self._bots[bot].lost

    async def changed(self) -> None:
        """Wait until a bot has become free, come back, or been lost."""
        await self._event.wait()

    def check(self) -> None:
        """Nothing is started here, so nothing was started wrongly."""

    def _stir(self) -> None:
        self._event.set()
        self._event = anyio.Event()

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Note which bots leave and which come back, for as long as the block lasts."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()

    async def _watch(self) -> None:
        while True:
            here = _here(self._host, self._game)
            now = anyio.current_time()
            for name, known in self._bots.items():
                known.note_presence(now, self._dial_in.away, here=name in here)
            self._stir()
            # Nobody is told when a bot leaves; its match, if it has one, ends by its own deadlines.
            with anyio.move_on_after(1):
                await self._host.lobby.wait_change()


async def gather(host: Host, game: str, dial_in: DialIn, names: Sequence[str] = ()) -> DialInBots:
    """Wait for bots that play the game; with `names`, for just these. Raises TooFewBots."""
    if names:
        with anyio.move_on_after(dial_in.wait):
            while missing := set(names) - _here(host, game):
                await host.lobby.wait_change()
        if missing:
            raise TooFewBots(
                f"of the event's bots {', '.join(sorted(missing))} did not come within {dial_in.wait:g} s:"
                f" let them come, or name another event with --event; {ANOTHER_EVENT}"
            )
        return DialInBots(host, game, dial_in, {name: DialInBot() for name in names})
    with anyio.move_on_after(dial_in.wait):
        while len(_here(host, game)) < dial_in.bots:
            await host.lobby.wait_change()
    here = _here(host, game)
    if len(here) < dial_in.bots:
        came = ", ".join(sorted(here)) or "none"
        raise TooFewBots(f"{len(here)} of {dial_in.bots} bots came within {dial_in.wait:g} s: {came}")
    with anyio.move_on_after(dial_in.wait):
        while await _somebody_new(host, game, here, dial_in.settle):
            here |= _here(host, game)
    return DialInBots(host, game, dial_in, {name: DialInBot() for name in here})


async def await_in_vain(host: Host, game: str, dial_in: DialIn) -> None:
    """Wait as `gather` does, where nothing will be played: who finds no server would look for it much longer."""
    with suppress(TooFewBots):  # whoever has come by then is told when the host closes
        await gather(host, game, dial_in)


async def _somebody_new(host: Host, game: str, before: set[str], seconds: float) -> bool:
    with anyio.move_on_after(seconds):
        while _here(host, game) <= before:
            await host.lobby.wait_change()
        return True
    return False


def _here(host: Host, game: str) -> set[str]:
    return {member.name for member in host.lobby.players_of(game)}
