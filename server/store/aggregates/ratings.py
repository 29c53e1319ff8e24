"""Stored ratings of each category: a row for each bot with its rating, and its score against each opponent.

A category is a set of rated matches for which bots have ratings of their own: all matches of a game in a season, or only
those on one map with one time control.

`server.store.aggregates.match_counting` adds each finished match to the tables. So reading a table takes equally long,
however many matches it counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from msgspec import Struct, field

from arena.rating.glicko import GlickoRating
from arena.rating.rater import CurrentRating, RatedOutcome, RatingCategory, RatingKey, RatingStep
from arena.rating.standings import COLUMN_NAME_BY_FIELD
from arena.server.store import database
from arena.server.store.aggregates.seasons import read_seasons, select_current_season_number
from arena.server.store.database import Engine, make_upsert
from arena.server.store.finished_matches import list_distinct_games
from arena.server.store.schema import crosses as crosses_table
from arena.server.store.schema import rating_bases
from arena.server.store.schema import seasons as seasons_table
from arena.server.store.schema import standings as standings_table


class RatingRow(Struct, frozen=True, rename=COLUMN_NAME_BY_FIELD):
    """Rating and results of a bot in a rating category (such as a game), as one row of the category's table."""

    game: str
    bot: str
    rating: float
    deviation: float
    """Rating deviation as of the last rated match."""
    volatility: float
    matches: int
    """Number of rated matches, without those ended by a fault of the server, which do not change the rating."""
    wins: int
    draws: int
    losses: int
    forfeits: int
    """Number of matches lost by absence, a lost connection, lack of time, or a breach of the rules or the protocol."""
    crashes: int
    """Number of matches lost by a failure of the bot: an exception, a value that is not a move, or a dead process."""
    last: str
    """End time of the last rated match, in the format of `database.format_current_time`."""

    @property
    def glicko(self) -> GlickoRating:
        """Rating, deviation and volatility as a Glicko-2 rating, for computations."""
        return GlickoRating(self.rating, self.deviation, self.volatility)


class CrossScore(Struct, frozen=True, rename=COLUMN_NAME_BY_FIELD):
    """Score of a bot against one opponent. A second CrossScore holds the opponent's score against the bot."""

    bot: str
    opponent: str
    wins: int
    draws: int
    losses: int


INACTIVITY_BEFORE_HIDING_BOT = timedelta(days=30)
"""Time without a rated match after which the tables that users see leave out a bot, until its next rated match."""


def compute_activity_cutoff_time() -> str:
    """Return the time that is INACTIVITY_BEFORE_HIDING_BOT ago, in the format of `database.format_current_time`.

    A bot whose last rated match ended before this time is inactive, and is left out of the tables that users see.
    """
    return database.format_current_time(-INACTIVITY_BEFORE_HIDING_BOT)


class RatingCategorySummary(Struct, frozen=True):
    """Rating category (a game, a map and a time control), with twice the number of its rated matches."""

    game: str
    map: str
    """Name of the map; empty for a game without maps."""
    time_control: str
    match_count: int = field(name="matches")
    """Twice the number of rated matches: each match is counted once for each of its two bots."""


async def load_rating_rows(
    engine: Engine,
    game: str | None = None,
    map: str = "",
    time_control: str = "",
    season: str = "",
    *,
    limit: int | None = None,
    active_since_time: str | None = None,
) -> list[RatingRow]:
    """Return the rows of all rated bots, sorted by game and descending rating.

    game: name of a game; None for all games
    map, time_control: only ratings from matches on this map with this time control; both empty for all matches
    season: name of a closed season; empty for the current one
    limit: maximum number of bots for each game, those with the highest ratings; None for all
    active_since_time: only bots that finished a rated match at or after this time, in the format of
        `database.format_current_time`

    The ratings do not include the newest finished matches until `match_counting.add_new_matches_to_aggregates` is called.
    """
    query = sa.select(*(standings_table.c[name] for name in RatingRow.__struct_fields__))
    query = query.where(*_make_column_conditions(standings_table, "map", "time_control", "season", "game"))
    if active_since_time is not None:
        query = query.where(standings_table.c.last >= active_since_time)
    if limit is not None:
        query = query.order_by(standings_table.c.rating.desc()).limit(limit)
    rows: list[Any] = []
    async with database.open_query_connection(engine) as connection:
        seasons = await connection.run_sync(read_seasons)
        for game_name in (
            await list_distinct_games(connection, standings_table.c.game) if game is None else [game]
        ):
            category = RatingCategory(
                game_name, map, time_control, seasons.get_season_number(game_name, season)
            )
            rows += (await connection.execute(query, category._asdict())).all()
    return sort_rating_rows(RatingRow(*tuple(row)) for row in rows)


async def load_rating_rows_of_bot(engine: Engine, bot_name: str) -> list[RatingRow]:
    """Return a bot's row in the table of each game in which it is rated, in the current season."""
    rows = await database.fetch(engine, _SELECT_RATING_ROWS_OF_BOT, {"bot_name": bot_name})
    return sort_rating_rows(RatingRow(*row) for row in rows)


def sort_rating_rows(rows: Iterable[RatingRow]) -> list[RatingRow]:
    """Return the rows sorted by game, then by descending rating, then by name."""
    return sorted(rows, key=lambda row: (row.game, -row.rating, row.bot))


async def count_forfeits(engine: Engine, bot_names: Iterable[str]) -> dict[str, int]:
    """Return the number of rated matches that each bot has forfeited, in all games and seasons together.

    Bots without a rating are left out.
    """
    forfeits: dict[str, int] = {}
    query = sa.select(standings_table.c.bot, sa.func.sum(standings_table.c.forfeits)).where(
        _IS_RATING_OF_WHOLE_GAME
    )
    query = query.group_by(standings_table.c.bot)
    for chunk in database.split_into_chunks(bot_names):
        rows = await database.fetch(engine, query.where(standings_table.c.bot.in_(chunk)))
        forfeits |= {bot: int(count) for bot, count in rows}
    return forfeits


async def list_rating_categories(
    engine: Engine, limit: int, season: str = "", *, active_since_time: str | None = None
) -> list[RatingCategorySummary]:
    """Return up to `limit` categories (a game, a map and a time control), those with the most rated matches first.

    season: name of a closed season; empty for the current one of each game
    active_since_time: count only bots that finished a rated match at or after this time, in the format of
        `database.format_current_time`
    """
    columns = standings_table.c
    matches = sa.func.sum(columns.matches)
    query = sa.select(columns.game, columns.map, columns.time_control, matches).where(
        columns.time_control != ""
    )
    query = query.where(columns.season == _select_season_number(season))
    if active_since_time is not None:
        query = query.where(columns.last >= active_since_time)
    query = query.group_by(columns.game, columns.map, columns.time_control)
    query = query.order_by(matches.desc(), columns.game, columns.map, columns.time_control).limit(limit)
    rows = await database.fetch(engine, query)
    return [RatingCategorySummary(row.game, row.map, row.time_control, int(row[3])) for row in rows]


async def load_cross_scores(
    engine: Engine, category: RatingCategory, bot_names: Iterable[str]
) -> list[CrossScore]:
    """Return the score of each of these bots against each of the others, in rated matches of a category (such as a game).

    Pairs without a rated match are left out.
    """
    names, table = sorted(set(bot_names)), crosses_table.c
    query = sa.select(table.bot, table.opponent, table.wins, table.draws, table.losses)
    query = query.where(*_make_column_conditions(crosses_table, *RatingCategory._fields))
    query = query.where(table.bot.in_(names), table.opponent.in_(names))
    return [CrossScore(*row) for row in await database.fetch(engine, query, category._asdict())]


def read_current_ratings(
    connection: sa.Connection, keys: Iterable[RatingKey]
) -> dict[RatingKey, CurrentRating]:
    """Return the stored ratings of bots, each with the end time of the bot's last rated match.

    keys: pairs of a rating category (such as a game) and the name of a bot; pairs without a rating are left out of the result
    """
    ratings: dict[RatingKey, CurrentRating] = {}
    bots_by_category: dict[RatingCategory, list[str]] = {}
    for category, bot in sorted(keys):
        bots_by_category.setdefault(category, []).append(bot)
    for category, bots in bots_by_category.items():
        for chunk in database.split_into_chunks(bots):
            parameters = {**category._asdict(), "bot_names": chunk}
            for row in connection.execute(_SELECT_CURRENT_RATINGS, parameters):
                ratings[category, row.bot] = make_current_rating_from_row(row)
    return ratings


def make_rating_key_from_row(row: sa.Row[Any]) -> RatingKey:
    """Return the rating category (such as a game) and the bot in a row of `standings`, `rating_bases` or `rating_steps`."""
    return RatingCategory(row.game, row.map, row.time_control, row.season), row.bot


def make_current_rating_from_row(row: sa.Row[Any]) -> CurrentRating:
    """Return the rating in a row of `standings` (current ratings) or `rating_bases` (ratings after removed matches)."""
    return CurrentRating(row.rating, row.deviation, row.volatility, row.last)


def add_rating_steps(connection: sa.Connection, steps: Iterable[RatingStep]) -> None:
    """Add rating steps (changes of ratings) to the tables `standings` and `crosses`, in the caller's transaction.

    steps: changes of ratings by matches, in order of the matches; the two steps of a match in a category are adjacent,
        that of the first player (Maxie) first
    """
    rows_by_key: dict[RatingKey, dict[str, Any]] = {}
    pairs: dict[tuple[RatingCategory, str, str], dict[str, Any]] = {}
    step_iterator = iter(steps)
    for maxie, minnie in zip(step_iterator, step_iterator, strict=True):
        for step, opponent_step in ((maxie, minnie), (minnie, maxie)):
            outcome_counts = {
                name: int(step.outcome is outcome) for name, outcome in _OUTCOME_BY_COUNT_COLUMN.items()
            }
            counts = rows_by_key.setdefault((step.category, step.bot), dict.fromkeys(_MATCH_COUNT_COLUMNS, 0))
            for name, count in outcome_counts.items():
                counts[name] += count
            counts["matches"] += step.outcome is not RatedOutcome.NONE
            counts["forfeits"] += step.forfeit
            counts["crashes"] += step.crash
            rating_values = {
                "rating": step.rating,
                "deviation": step.deviation,
                "volatility": step.volatility,
            }
            row = step.category._asdict() | {"bot": step.bot}
            counts |= {**row, **rating_values, "last": step.finished}
            key = (step.category, step.bot, opponent_step.bot)
            pair = pairs.setdefault(
                key, {**row, "opponent": opponent_step.bot} | dict.fromkeys(_OUTCOME_BY_COUNT_COLUMN, 0)
            )
            for name, count in outcome_counts.items():
                pair[name] += count
    if rows_by_key:
        dialect = connection.dialect.name
        # A fixed order prevents deadlocks between transactions.
        connection.execute(
            make_upsert(dialect, standings_table, _MATCH_COUNT_COLUMNS),
            [rows_by_key[key] for key in sorted(rows_by_key)],
        )
        connection.execute(
            make_upsert(dialect, crosses_table, tuple(_OUTCOME_BY_COUNT_COLUMN)),
            [pairs[key] for key in sorted(pairs)],
        )


def store_ratings_after_pruning(
    connection: sa.Connection, base_ratings: Mapping[RatingKey, CurrentRating]
) -> None:
    """Store base ratings: for each bot, its rating after the last match that is being removed from the store.

    `rating_verification.verify_ratings` starts from these ratings. The earlier base rating of a bot in a category is replaced.
    """
    rows = [
        category._asdict()
        | {"bot": bot, "last": base.finished}
        | {name: getattr(base, name) for name in ("rating", "deviation", "volatility")}
        for (category, bot), base in sorted(base_ratings.items())
    ]
    if rows:
        connection.execute(make_upsert(connection.dialect.name, rating_bases), rows)


def read_ratings_after_pruning(connection: sa.Connection) -> dict[RatingKey, CurrentRating]:
    """Return the base ratings: by bot and category, the rating after the last match that was removed from the store.

    The dictionary is empty if no rated match was ever removed.
    """
    return {
        make_rating_key_from_row(row): make_current_rating_from_row(row)
        for row in connection.execute(sa.select(rating_bases))
    }


def _make_column_conditions(table: sa.Table, *column_names: str) -> list[sa.ColumnElement[bool]]:
    """Return a condition for each of the columns `column_names`: the column equals the query's parameter of the same name."""
    return [table.c[name] == sa.bindparam(name) for name in column_names]


def _select_season_number(season: str) -> sa.ScalarSelect[int]:
    """Return a subquery for the number of a season. The game is the one in the enclosing query's row of `standings`.

    Seasons with the same name can have different numbers in different games.

    season: name of a closed season; empty for the current one
    """
    if not season:
        return select_current_season_number(standings_table.c.game)
    condition = (seasons_table.c.game == standings_table.c.game) & (seasons_table.c.name == season)
    return sa.select(seasons_table.c.number).where(condition).scalar_subquery()


_IS_RATING_OF_WHOLE_GAME = standings_table.c.time_control == ""
_SELECT_RATING_ROWS_OF_BOT = sa.select(
    *(standings_table.c[name] for name in RatingRow.__struct_fields__)
).where(
    standings_table.c.bot == sa.bindparam("bot_name"),
    _IS_RATING_OF_WHOLE_GAME,
    standings_table.c.season == _select_season_number(""),
)
_OUTCOME_BY_COUNT_COLUMN = {"wins": RatedOutcome.WIN, "draws": RatedOutcome.DRAW, "losses": RatedOutcome.LOSS}
_MATCH_COUNT_COLUMNS = ("matches", *_OUTCOME_BY_COUNT_COLUMN, "forfeits", "crashes")
_SELECT_CURRENT_RATINGS = sa.select(standings_table).where(
    *_make_column_conditions(standings_table, *RatingCategory._fields),
    standings_table.c.bot.in_(sa.bindparam("bot_names", expanding=True)),
)
