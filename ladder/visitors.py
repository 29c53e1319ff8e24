"""The bots of an event that dial in by themselves, from other machines or containers.

The same face as `ladder.fleet.Fleet` has for the runner; but nothing is started here and nothing can be
started again, so a bot that stays away, or answers nothing, is lost once its time is up.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio

from server.host import Host


class TooFew(Exception):
    """Not enough bots came: one line that says who did."""


@dataclass(frozen=True)
class DialIn:
    """Where bots dial in, and who is waited for. Seconds."""

    host: str
    port: int
    bots: int
    """At least so many must come."""
    wait: float = 60
    """How long they may take."""
    settle: float = 5
    """Once they are there: the ladder begins when nobody new has come for so long."""
    away: float = 30
    """A bot that is away for longer, once the ladder has begun, is lost."""
    silent_matches: int = 2
    """Matches in a row that a bot lost by its time, without a move; then it is lost."""


@dataclass
class Visitor:
    """What is known of a bot that came."""

    away_since: float | None = None
    silent: int = 0
    lost: bool = False
    playing: bool = False


@dataclass
class Visitors:
    """The bots that came, by name. Made by `gather`."""

    _host: Host
    _game: str
    _terms: DialIn
    _bots: dict[str, Visitor] = field(default_factory=dict)
    _event: anyio.Event = field(default_factory=anyio.Event)

    @property
    def names(self) -> list[str]:
        """Who came, in the order of their names: the order of arrival says nothing."""
        return sorted(self._bots)

    def take(self, bot: str) -> str | None:
        """The bot, now taken, if it is connected and free; else None."""
        visitor = self._bots[bot]
        if visitor.playing or visitor.lost or visitor.away_since is not None:
            return None
        visitor.playing = True
        return bot

    def release(self, name: str) -> None:
        """Give back a bot that was taken and not used."""
        self._bots[name].playing = False

    def give_back(
        self,
        bot: str,
        name: str,
        *,
        answered: bool | None,
        resigned: bool = False,  # noqa: ARG002 - its output is at its owner's
    ) -> None:
        """The match is over. `answered`: whether it made a move; None where that says nothing of it."""
        self.release(name)
        visitor = self._bots[bot]
        if answered is not None:
            visitor.silent = 0 if answered else visitor.silent + 1
        visitor.lost = visitor.lost or visitor.silent >= self._terms.silent_matches
        self._stir()

    def lost(self, bot: str) -> bool:
        """Whether the bot will never play again."""
        return self._bots[bot].lost

    async def changed(self) -> None:
        """Wait until somebody has become free, come back, or been lost."""
        await self._event.wait()

    def check(self) -> None:
        """Nothing is started here, so nothing was started wrongly."""

    def _stir(self) -> None:
        self._event.set()
        self._event = anyio.Event()

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """See who leaves and who comes back, for as long as the block lasts."""
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
            for name, visitor in self._bots.items():
                if name in here:
                    visitor.away_since = None
                elif visitor.away_since is None:
                    visitor.away_since = now
                elif now - visitor.away_since > self._terms.away:
                    visitor.lost = True
            self._stir()
            # Nobody is told when a bot leaves; its match, if it has one, ends by its own deadlines.
            with anyio.move_on_after(1):
                await self._host.lobby.wait_change()


async def gather(host: Host, game: str, terms: DialIn, names: Sequence[str] = ()) -> Visitors:
    """Wait for bots that play the game; with `names`, for just these. Raises TooFew."""
    if names:
        with anyio.move_on_after(terms.wait):
            while missing := set(names) - _here(host, game):
                await host.lobby.wait_change()
        if missing:
            raise TooFew(
                f"of the event's bots {', '.join(sorted(missing))} did not come within {terms.wait:g} s"
            )
        return Visitors(host, game, terms, {name: Visitor() for name in names})
    with anyio.move_on_after(terms.wait):
        while len(_here(host, game)) < terms.bots:
            await host.lobby.wait_change()
    here = _here(host, game)
    if len(here) < terms.bots:
        came = ", ".join(sorted(here)) or "none"
        raise TooFew(f"{len(here)} of {terms.bots} bots came within {terms.wait:g} s: {came}")
    with anyio.move_on_after(terms.wait):
        while await _somebody_new(host, game, here, terms.settle):
            here |= _here(host, game)
    return Visitors(host, game, terms, {name: Visitor() for name in here})


async def _somebody_new(host: Host, game: str, known: set[str], seconds: float) -> bool:
    with anyio.move_on_after(seconds):
        while _here(host, game) <= known:
            await host.lobby.wait_change()
        return True
    return False


def _here(host: Host, game: str) -> set[str]:
    return {member.name for member in host.lobby.players_of(game)}
