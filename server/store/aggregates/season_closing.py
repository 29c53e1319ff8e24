"""Close the current season of a game, so that the game's ratings start from their initial values."""

from __future__ import annotations

import sqlalchemy as sa

from arena.server.store import database, errors
from arena.server.store.aggregates.match_counting import (
    COUNTED_MATCHES_PER_TRANSACTION_WITHOUT_SERVER,
    add_match_batch_to_aggregates,
)
from arena.server.store.aggregates.seasons import read_seasons
from arena.server.store.schema import seasons, standings


def close_season(connection: sa.Connection, season_name: str, game_name: str | None = None) -> list[str]:
    """Close the current season of a game or of all games, in the caller's transaction.

    season_name: name for the closed season
    game_name: name of the game; None for all games with rated matches in their current season

    All matches that have finished so far count in the closed season. Return the sorted names of the games whose season was
    closed. Raises errors.OperationRefused, and closes nothing, if no match was rated in the season, or if one of the games
    already has a season of this name.
    """
    while add_match_batch_to_aggregates(connection, COUNTED_MATCHES_PER_TRANSACTION_WITHOUT_SERVER)[0]:
        pass
    known_seasons = read_seasons(connection)
    columns = standings.c
    # A game has rated matches in its current season if it has standings of that season.
    query = sa.select(columns.game, sa.func.max(columns.season)).group_by(columns.game).order_by(columns.game)
    rated_games = [
        row.game for row in connection.execute(query) if row[1] == known_seasons.get_season_number(row.game)
    ]
    games = [rated_game for rated_game in rated_games if game_name in (None, rated_game)]
    if not games:
        raise errors.OperationRefused(
            f"no match{f' of {game_name}' if game_name else ''} was rated in this season, so it cannot be closed"
        )
    for closed_game in games:
        if known_seasons.get_season_number(closed_game, season_name):
            raise errors.OperationRefused(
                f"{closed_game} already has a closed season called {season_name!r:.80}: choose another name"
            )
    rows = [
        {
            "game": closed_game,
            "number": known_seasons.get_season_number(closed_game),
            "name": season_name,
            "closed": database.format_current_time(),
        }
        for closed_game in games
    ]
    connection.execute(sa.insert(seasons), rows)
    return games
