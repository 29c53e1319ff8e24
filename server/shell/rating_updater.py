"""Update of the ratings and the tables of results in the store after each match.

The updater reports each changed rating to the core, and each season that the server's operator has closed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena.rating.glicko import GlickoRating
from arena.rating.rater import RatingStep
from arena.server.core.effects import SaveFinishedMatch
from arena.server.core.inputs import RatingChanged, SeasonClosed
from arena.server.store.aggregates.match_counting import add_new_matches_to_aggregates
from arena.server.store.aggregates.seasons import load_seasons
from arena.server.store.database import Engine

if TYPE_CHECKING:
    from arena.server.shell.shell import Shell


class RatingUpdater:
    """Updater of the stored ratings and tables of results. Each call of `update_ratings` counts newly finished matches."""

    def __init__(self, db_engine: Engine, shell: Shell) -> None:
        self._db_engine = db_engine
        self._shell = shell
        self._has_uncounted_matches = True
        self._has_loaded_seasons = False
        self._season_numbers: dict[str, int] = {}
        """Number of each game's season, as last reported to the server's core. A game in its first season, 1, has no entry."""
        shell.add_effect_handler(SaveFinishedMatch, self.schedule_rating_update)

    def schedule_rating_update(self, _finished: SaveFinishedMatch) -> None:
        """Let the next `update_ratings` count a finished match. The argument is ignored, because the store has the match."""
        self._has_uncounted_matches = True

    async def update_ratings(self) -> None:
        """Count the matches finished since the last call in ratings and tables, and report closed seasons to the server's core.

        Raises any database error. The next call then counts the matches.
        """
        stored_seasons = await load_seasons(self._db_engine)
        seasons = {
            season.game: stored_seasons.get_season_number(season.game)
            for season in stored_seasons.closed_seasons
        }
        if not self._has_loaded_seasons:  # bots connect with ratings of the running season
            self._has_loaded_seasons, self._season_numbers = True, seasons
        for game, number in seasons.items():
            self._report_season_if_new(game, number)
        if self._has_uncounted_matches:
            self._has_uncounted_matches = False
            try:
                await add_new_matches_to_aggregates(self._db_engine, self._submit_rating_change)
            except Exception:
                self._has_uncounted_matches = True
                raise

    def _report_season_if_new(self, game_name: str, season_number: int) -> None:
        if season_number > self._season_numbers.get(game_name, 1):
            self._season_numbers[game_name] = season_number
            self._shell.submit(SeasonClosed(game_name))

    def _submit_rating_change(self, step: RatingStep) -> None:
        self._report_season_if_new(step.game, step.season)
        if not step.time_control:
            self._shell.submit(RatingChanged(step.game, step.bot, GlickoRating(step.rating, step.deviation)))
