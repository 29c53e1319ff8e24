"""Seasons: when the season of a game is closed, the game's ratings and tables start anew.

A closed season is a row of the table `seasons`, with a name. Every stored rating has the number of its season, so
closing a season moves no data: later matches count in the season with the next number, and the ratings of earlier
seasons stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from msgspec import Struct, field

from arena.server.store import database
from arena.server.store.database import Engine
from arena.server.store.schema import seasons


class ClosedSeason(Struct, frozen=True):
    """Closed season of a game. The store keeps the final ratings and tables of the season."""

    game: str
    name: str
    closing_time: str = field(name="closed")
    """Time at which the season was closed, in the format of `database.format_current_time`."""


class SeasonHistory:
    """All closed seasons of all games, sorted by game, then by the time of closing.

    `NAME in seasons` is True if any game has a closed season of this name.
    """

    def __init__(self, closed_seasons: Sequence[ClosedSeason]) -> None:
        self.closed_seasons = closed_seasons

    def __contains__(self, name: object) -> bool:
        return any(season.name == name for season in self.closed_seasons)

    def list_seasons_latest_first(self) -> list[ClosedSeason]:
        """Return the closed seasons of all games, the most recently closed one first."""
        return sorted(self.closed_seasons, key=lambda season: season.closing_time, reverse=True)

    def list_closed_season_names(self, game: str) -> list[str]:
        """Return the names of the closed seasons of a game, the earliest season first."""
        return [season.name for season in self.closed_seasons if season.game == game]

    def get_season_number(self, game: str, season_name: str = "") -> int:
        """Return the number of a season of a game: 1 for the first season, 0 if the game has no season of this name.

        season_name: name of a closed season; empty for the current season
        """
        names = self.list_closed_season_names(game)
        if not season_name:
            return len(names) + 1
        return names.index(season_name) + 1 if season_name in names else 0


def read_seasons(connection: sa.Connection) -> SeasonHistory:
    """Return all closed seasons, read in the caller's transaction."""
    return SeasonHistory([ClosedSeason(*row) for row in connection.execute(_SELECT_CLOSED_SEASONS)])


async def load_seasons(engine: Engine) -> SeasonHistory:
    """Return all closed seasons, read through a new connection."""
    async with database.open_query_connection(engine) as connection:
        return await connection.run_sync(read_seasons)


def select_current_season_number(game: sa.ColumnElement[str]) -> sa.ScalarSelect[int]:
    """Return an SQL expression for the number of a game's current season. `game` is the column that names the game."""
    latest = sa.select(sa.func.coalesce(sa.func.max(seasons.c.number), 0) + 1)
    return latest.where(seasons.c.game == game).scalar_subquery()


_SELECT_CLOSED_SEASONS = sa.select(seasons.c.game, seasons.c.name, seasons.c.closed).order_by(
    seasons.c.game, seasons.c.number
)
