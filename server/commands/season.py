"""`arena season`: close a season, and show the tables of closed ones."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from arena.console import (
    CommandError,
    DatabaseOption,
    JsonOption,
    err,
    print_table_or_write_json,
    register_game,
)
from arena.server.commands.ratings import GameOption, print_ratings
from arena.server.commands.store_access import DEFAULT_DATABASE_URL, require_valid_name_argument, run_on_store
from arena.server.store.aggregates.match_counting import add_new_matches_to_aggregates
from arena.server.store.aggregates.ratings import RatingRow, load_rating_rows
from arena.server.store.aggregates.season_closing import close_season
from arena.server.store.aggregates.seasons import load_seasons
from arena.server.store.database import Engine, run_in_transaction

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of the season.")]


def close(name: NameArgument, game: GameOption = None, db: DatabaseOption = DEFAULT_DATABASE_URL) -> None:
    """Freeze all ratings and tables of results under a name, and start a new season.

    Every finished match counts in the closed season. Tokens, owners, matches and events stay. A running server
    begins the new season within a second.

    Example: arena season close spring-2026

    Example: arena season close spring-2026 --game riskless
    """
    require_valid_name_argument(name)
    registered_game = None if game is None else register_game(game)

    async def close_running_season(engine: Engine) -> list[str]:
        # Counting first, in short transactions, spares a running server the wait for one long transaction.
        await add_new_matches_to_aggregates(engine)
        return await run_in_transaction(
            engine, partial(close_season, season_name=name, game_name=registered_game)
        )

    games = run_on_store(db, close_running_season)
    err.print(f"season {name} of {', '.join(games)} is closed, and a new one has begun")


def list_(db: DatabaseOption = DEFAULT_DATABASE_URL, json: JsonOption = None) -> None:
    """List the closed seasons, the latest first.

    Example: arena season list
    """
    seasons = run_on_store(db, load_seasons).list_seasons_latest_first()
    rows = [[season.name, season.game, season.closing_time] for season in seasons]
    print_table_or_write_json(seasons, json, dict.fromkeys(("season", "game", "closed"), "left"), rows)


def show(
    name: NameArgument,
    game: GameOption = None,
    db: DatabaseOption = DEFAULT_DATABASE_URL,
    json: JsonOption = None,
) -> None:
    """Show the final ratings of a closed season.

    Example: arena season show spring-2026 --game riskless
    """
    registered_game = None if game is None else register_game(game)

    async def load_final_ratings(engine: Engine) -> list[RatingRow]:
        if name not in await load_seasons(engine):
            raise CommandError(f"no season is called {name!r:.80}: `arena season list` shows all")
        return await load_rating_rows(engine, registered_game, season=name)

    print_ratings(run_on_store(db, load_final_ratings), json)


SUBCOMMAND_FUNCTIONS = (close, list_, show)
