"""`arena ratings`: show the ratings of bots in a store, computed from its rated matches."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from msgspec import to_builtins

from arena.console import (
    CommandError,
    DatabaseOption,
    JsonOption,
    Justify,
    UsageError,
    err,
    print_table_or_write_json,
    register_game,
)
from arena.server.commands.store_access import DEFAULT_DATABASE_URL, run_on_store
from arena.server.store.aggregates.match_counting import add_new_matches_to_aggregates
from arena.server.store.aggregates.rating_verification import RatingsMismatch, VerifiedRatings, verify_ratings
from arena.server.store.aggregates.ratings import RatingRow, compute_activity_cutoff_time, load_rating_rows
from arena.server.store.database import Engine

JUSTIFICATION_BY_COLUMN: dict[str, Justify] = {
    "#": "right",
    "game": "left",
    "bot": "left",
    "rating": "right",
    "matches": "right",
    "won": "right",
    "drawn": "right",
    "lost": "right",
    "forfeits": "right",
    "crash": "right",
}


GameOption = Annotated[
    str | None,
    typer.Option("--game", metavar="GAME", help="Show only ratings in this game; default: all games."),
]


def ratings(
    game: GameOption = None,
    map_: Annotated[
        str,
        typer.Option(
            "--map",
            metavar="MAP",
            help="Show only the ratings on this map; requires --tc.",
            show_default=False,
        ),
    ] = "",
    tc: Annotated[
        str,
        typer.Option(
            "--tc",
            metavar="TC",
            help="Show ratings for this time control only; default: all.",
            show_default=False,
        ),
    ] = "",
    verifies_ratings: Annotated[
        bool,
        typer.Option(
            "--recompute",
            help="Recompute all ratings from the journal and report differences, without changing anything.",
        ),
    ] = False,
    all_: Annotated[
        bool, typer.Option("--all", help="Include bots without a rated match in the last 30 days.")
    ] = False,
    db: DatabaseOption = DEFAULT_DATABASE_URL,
    json: JsonOption = None,
) -> None:
    """Show the Glicko-2 ratings of all bots.

    With 95 % confidence, a bot's strength differs from its rating by at most the number after ±.
    docs/ratings.md explains how ratings are computed, and how a match counts that ends by a forfeit or a crash. --json
    also has the deviation and the volatility.

    Example: arena ratings --game riskless --db sqlite:///arena.db

    Example: arena ratings --game riskless --map italy --tc 10+0.1
    """
    name = None if game is None else register_game(game)
    if map_ and not tc:
        raise UsageError("--map: give --tc too, because a rating on a map is for one time control")

    async def load_ratings(engine: Engine) -> tuple[list[RatingRow], VerifiedRatings | None]:
        await add_new_matches_to_aggregates(engine)
        try:
            verified = await verify_ratings(engine) if verifies_ratings else None
        except RatingsMismatch as error:
            raise CommandError(
                f"the stored ratings could not be reproduced from the journal: {error}"
            ) from None
        return await load_rating_rows(
            engine, name, map_, tc, active_since_time=None if all_ else compute_activity_cutoff_time()
        ), verified

    rows, verified = run_on_store(db, load_ratings)
    print_ratings(rows, json)
    if verified is not None:
        imported = (
            f"; {verified.imported_match_count} were imported and have no journal: their records were replayed"
            if verified.imported_match_count
            else ""
        )
        err.print(
            f"recomputed from {verified.match_count} matches of the journal, with the same result{imported}"
        )


def print_ratings(rating_rows: list[RatingRow], json: Path | None) -> None:
    """Print ratings as a table, or write them as JSON to the file `json` if it is given."""
    ratings_json = [to_builtins(row) | {"provisional": row.glicko.is_provisional} for row in rating_rows]
    print_table_or_write_json(
        ratings_json, json, JUSTIFICATION_BY_COLUMN, _make_rating_table_rows(rating_rows)
    )


def _make_rating_table_rows(rating_rows: list[RatingRow]) -> list[list[str]]:
    ranks: dict[str, int] = {}
    rows = []
    for row in rating_rows:
        ranks[row.game] = ranks.get(row.game, 0) + 1
        numbers = (row.matches, row.wins, row.draws, row.losses, row.forfeits, row.crashes)
        rows.append([str(ranks[row.game]), row.game, row.bot, str(row.glicko), *map(str, numbers)])
    return rows
