"""The ratings of a store at hand, for a matchmaker that cannot wait for a database."""

from __future__ import annotations

import logging

import anyio
from anyio.lowlevel import checkpoint
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.protocol.messages import LiveMatch
from arena.protocol.record import Record
from arena.rating.glicko import Rating
from arena.rating.steps import Key, RatingStep
from arena.server.store import database
from arena.server.store.aggregates.counting import Write, refresh
from arena.server.store.aggregates.standings import ratings_of, standings
from arena.server.store.database import StoreError

log = logging.getLogger("arena.ratings")

PAUSE_SECONDS = 1.0
"""The time from one count to the next: matches that finish together are counted together."""

NEW = Rating()


class RatingCounter:
    """What each bot is rated, as of the last count. `run` must be under way for it to follow the matches."""

    def __init__(self, engine: AsyncEngine, write: Write | None = None) -> None:
        self._engine = engine
        self._write = write
        self._ratings: dict[Key, Rating] = {}
        self._finished: dict[str, tuple[Key, Key]] = {}
        """Whose matches have finished since the last count, by match."""
        self._counted: set[str] = set()
        """The matches of the last count: a match may be counted before it is noted."""
        self._work = anyio.Event()

    def rating(self, game: str, bot: str) -> float:
        """A bot's rating in a game; a bot that has not been counted yet is rated as new."""
        return self._ratings.get((game, bot), NEW).rating

    def note(self, record: Record, *, rated: bool) -> None:
        """A match has finished, and is in the store."""
        game, players = record.game, record.players
        if rated:
            self._finished[record.match] = (game, players.maxie), (game, players.minnie)
        self._work.set()

    def note_elsewhere(self, live: LiveMatch) -> None:
        """A match of another server has finished, and is in the store."""
        if live.rated:
            self._finished[live.match] = (live.game, live.players.maxie), (live.game, live.players.minnie)
            self._work.set()

    async def run(self) -> None:
        """Count what is not counted, and again whenever a match has finished, until cancelled."""
        loaded = False
        while True:
            self._work = anyio.Event()
            finished, self._finished = self._finished, {}
            try:
                async with database.usable(self._engine):
                    if not loaded:
                        await self._load()
                        loaded = True
                    await self._follow(finished)
            except StoreError as error:
                await checkpoint()  # a server that stops closes its store, and nobody waits for anything
                # Matches go on; what was not counted now is counted the next time.
                log.warning("the ratings wait: %s", error)
                self._finished |= finished
                self._work.set()
            await anyio.sleep(PAUSE_SECONDS)
            await self._work.wait()

    async def _load(self) -> None:
        for each in await standings(self._engine):
            self._ratings[each.game, each.bot] = Rating(each.rating, each.deviation, each.volatility)

    async def _follow(self, finished: dict[str, tuple[Key, Key]]) -> None:
        before, self._counted = self._counted, set()
        fresh: set[Key] = set()

        def follow(step: RatingStep) -> None:
            self._counted.add(step.match)
            fresh.add((step.game, step.bot))
            self._ratings[step.game, step.bot] = step.after()

        await refresh(self._engine, self._write, follow)
        # Another server may have counted some of them meanwhile.
        known = before | self._counted
        elsewhere = {key for match, keys in finished.items() if match not in known for key in keys} - fresh
        for game in {game for game, _ in elsewhere}:
            bots = [bot for each, bot in elsewhere if each == game]
            for bot, rating in (await ratings_of(self._engine, game, bots)).items():
                self._ratings[game, bot] = rating
