"""Updater of the ratings and tables in the store after each match. It sends each changed rating to the core.

It also tells the core when the host has closed a season.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from anyio.lowlevel import checkpoint

from arena.clock import TimeSource
from arena.rating.glicko import Rating
from arena.rating.rater import RatingStep
from arena.server.core.effects import MatchFinished
from arena.server.core.inputs import RatingChanged, SeasonClosed
from arena.server.store import database
from arena.server.store.aggregates.match_counting import count_new_matches
from arena.server.store.aggregates.seasons import read_seasons
from arena.server.store.database import Engine, StoreError
from arena.server.store.journal.journal import Journal

if TYPE_CHECKING:
    from arena.server.shell.shell import Shell

log = logging.getLogger("arena.ratings")

PAUSE_SECONDS = 1.0
"""Interval between updates, and between checks for closed seasons, in seconds.

Matches that finish close together are counted in one update.
"""


class RatingUpdater:
    """Updater of ratings and tables after the matches of one server. It works only while `run` runs."""

    def __init__(self, engine: Engine, journal: Journal, shell: Shell, clock: TimeSource) -> None:
        self._engine = engine
        self._journal = journal
        self._shell = shell
        self._clock = clock
        self._is_due = True
        self._seasons: dict[str, int] = {}
        """Number of the season whose ratings the core has, by game, from 1. A game in its first season has no entry."""
        shell.add_effect_handler(MatchFinished, lambda _finished: self.schedule_update())

    def schedule_update(self) -> None:
        """Let `run` update the ratings and tables within `PAUSE_SECONDS`, because a match has finished."""
        self._is_due = True

    async def run(self) -> None:
        """Count all uncounted matches in the ratings and tables, now and after each further match, until cancelled."""
        has_loaded_seasons = False
        while True:
            is_due, self._is_due = self._is_due, False
            try:
                async with database.convert_database_errors(self._engine):
                    stored_seasons = await read_seasons(self._engine)
                    seasons = {
                        season.game: stored_seasons.get_season_number(season.game)
                        for season in stored_seasons.closed
                    }
                    if not has_loaded_seasons:  # bots connect with ratings of the running season
                        has_loaded_seasons, self._seasons = True, seasons
                    for game, number in seasons.items():
                        self._report_closed_season(game, number)
                    if is_due:
                        await count_new_matches(self._engine, self._journal.write, self._send_rating)
            except StoreError as error:
                await checkpoint()  # raises if the server is stopping, which closes the store
                if is_due:
                    log.warning("cannot update the ratings now: %s", error)
                    self._is_due = True
            await self._clock.sleep(PAUSE_SECONDS)

    def _report_closed_season(self, game: str, season: int) -> None:
        if season > self._seasons.get(game, 1):
            self._seasons[game] = season
            self._shell.submit(SeasonClosed(game))

    def _send_rating(self, step: RatingStep) -> None:
        self._report_closed_season(step.game, step.season)
        if not step.time_control:
            self._shell.submit(RatingChanged(step.game, step.bot, Rating(step.rating, step.deviation)))
