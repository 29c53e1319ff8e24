"""The kept table of each game: a line for each bot, and what it scored against each other.

`server.store.aggregates.counting` adds to it, so reading takes no longer however many matches there were.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from arena.rating.glicko import Rating
from arena.rating.steps import Key, Known, Outcome, RatingStep
from arena.rating.words import WORDS
from arena.server.store import database
from arena.server.store.database import insert
from arena.server.store.finished import games_in
from arena.server.store.schema import crosses as crosses_table
from arena.server.store.schema import rating_bases
from arena.server.store.schema import standings as standings_table

BOTS_AT_ONCE = 100
"""Bots of which one query asks."""


class Standing(Struct, frozen=True, rename=WORDS):
    """A bot's line in the table of a game."""

    game: str
    bot: str
    rating: float
    deviation: float
    """The deviation as of the last rated match."""
    volatility: float
    matches: int
    """How many rated matches count; void ones do not."""
    wins: int
    draws: int
    losses: int
    forfeits: int
    """Matches lost by not coming, leaving, being late, or breaking the rules or the protocol."""
    crashes: int
    """Matches lost because the bot failed: an exception, no move of the game, a process that died."""
    last: str
    """When the last one finished."""


class Cross(Struct, frozen=True, rename=WORDS):
    """What a bot scored against another."""

    bot: str
    opponent: str
    wins: int
    draws: int
    losses: int


INACTIVE = timedelta(days=30)
"""Who has finished no rated match for so long is left out of the tables, and is back with the next one."""


def month_ago() -> str:
    """The time before which a bot's last rated match leaves it out of the tables."""
    return database.written(datetime.now(UTC) - INACTIVE)


async def standings(
    engine: AsyncEngine, game: str | None = None, *, most: int | None = None, since: str | None = None
) -> list[Standing]:
    """The bots with a rated match, by game, the highest rating first; of one game, or the best of all games.

    since: only those that have finished one at or after this time, as `database.now` writes it

    Counts nothing: `counting.refresh` does.
    """
    query = sa.select(*(standings_table.c[name] for name in Standing.__struct_fields__))
    if game is not None:
        query = query.where(standings_table.c.game == game)
    if since is not None:
        query = query.where(standings_table.c.last >= since)
    if most is not None:
        query = query.order_by(standings_table.c.game, standings_table.c.rating.desc()).limit(most)
    async with database.reading(engine) as connection:
        rows = (await connection.execute(query)).all()
    return ordered(Standing(*row) for row in rows)


async def standings_of(connection: AsyncConnection, bot: str) -> list[Standing]:
    """A bot's line in the table of each game that it is rated in."""
    return ordered(Standing(*row) for row in (await connection.execute(_STANDINGS_OF, {"of": bot})).all())


def ordered(found: Iterable[Standing]) -> list[Standing]:
    """By game, the highest rating first; equal ones by name."""
    return sorted(found, key=lambda each: (each.game, -each.rating, each.bot))


async def games(engine: AsyncEngine) -> list[str]:
    """The games in which some bot is rated."""
    async with database.reading(engine) as connection:
        return await games_in(connection, standings_table.c.game)


async def crosses(engine: AsyncEngine, game: str, bots: Iterable[str]) -> list[Cross]:
    """What these bots scored against each other in rated matches of a game."""
    names, table = sorted(set(bots)), crosses_table.c
    query = sa.select(table.bot, table.opponent, table.wins, table.draws, table.losses)
    query = query.where(table.game == game, table.bot.in_(names), table.opponent.in_(names))
    async with database.reading(engine) as connection:
        return [Cross(*row) for row in (await connection.execute(query)).all()]


async def ratings_of(engine: AsyncEngine, game: str, bots: Iterable[str]) -> dict[str, Rating]:
    """What is known of these bots in a game; who has not played yet is rated as new."""
    names = sorted(set(bots))
    async with database.reading(engine) as connection:
        found = await connection.run_sync(last_ratings, [(game, bot) for bot in names])
    return {bot: found[game, bot].after() if (game, bot) in found else Rating() for bot in names}


def last_ratings(connection: sa.Connection, keys: Iterable[Key]) -> dict[Key, Known]:
    """The rating of each of these bots that has one, and when its last rated match finished."""
    found: dict[Key, Known] = {}
    names: dict[str, list[str]] = {}
    for game, bot in sorted(keys):
        names.setdefault(game, []).append(bot)
    for game, bots in names.items():
        for start in range(0, len(bots), BOTS_AT_ONCE):
            some = {"of": game, "these": bots[start : start + BOTS_AT_ONCE]}
            for row in connection.execute(_LAST, some):
                found[row.game, row.bot] = known_of(row)
    return found


def known_of(row: sa.Row[Any]) -> Known:
    """The rating in a row of `standings` or `rating_bases`."""
    return Known(row.rating, row.deviation, row.volatility, row.last)


def add_steps(connection: sa.Connection, steps: Iterable[RatingStep]) -> None:
    """Add these steps, which come two by two and in the order of their matches, to the tables of their games."""
    lines: dict[Key, dict[str, Any]] = {}
    pairs: dict[tuple[str, str, str], dict[str, Any]] = {}
    both = iter(steps)
    for maxie, minnie in zip(both, both, strict=True):
        for step, other in ((maxie, minnie), (minnie, maxie)):
            scored = {name: int(step.outcome is outcome) for name, outcome in _SCORES.items()}
            line = lines.setdefault((step.game, step.bot), dict.fromkeys(_COUNTS, 0))
            for name, count in scored.items():
                line[name] += count
            line["matches"] += step.outcome is not Outcome.NONE
            line["forfeits"] += step.forfeit
            line["crashes"] += step.crash
            after = {"rating": step.rating, "deviation": step.deviation, "volatility": step.volatility}
            line |= {"game": step.game, "bot": step.bot, **after, "last": step.finished}
            key = (step.game, step.bot, other.bot)
            pair = pairs.setdefault(key, dict(zip(_PAIR, key, strict=True)) | dict.fromkeys(_SCORES, 0))
            for name, count in scored.items():
                pair[name] += count
    if lines:
        kind = connection.dialect.name
        # In one order everywhere, so that no two transactions ever wait for each other.
        connection.execute(adding(kind, standings_table, _COUNTS), [lines[key] for key in sorted(lines)])
        connection.execute(adding(kind, crosses_table, tuple(_SCORES)), [pairs[key] for key in sorted(pairs)])


def keep_bases(connection: sa.Connection, bases: Mapping[Key, Known]) -> None:
    """Keep these ratings as those from which the matches that are left in the store count on."""
    rows = [
        {"game": game, "bot": bot, "last": known.finished}
        | {name: getattr(known, name) for name in ("rating", "deviation", "volatility")}
        for (game, bot), known in sorted(bases.items())
    ]
    if rows:
        connection.execute(database.insert_or_update(connection.dialect.name, rating_bases), rows)


def bases(connection: sa.Connection) -> dict[Key, Known]:
    """The ratings from which the matches in the store count on; empty where none was ever removed."""
    return {(row.game, row.bot): known_of(row) for row in connection.execute(sa.select(rating_bases))}


_STANDINGS_OF = sa.select(*(standings_table.c[name] for name in Standing.__struct_fields__)).where(
    standings_table.c.bot == sa.bindparam("of")
)
_SCORES = {"wins": Outcome.WIN, "draws": Outcome.DRAW, "losses": Outcome.LOSS}
_COUNTS = ("matches", *_SCORES, "forfeits", "crashes")
_PAIR = ("game", "bot", "opponent")
_LAST = sa.select(standings_table).where(
    standings_table.c.game == sa.bindparam("of"),
    standings_table.c.bot.in_(sa.bindparam("these", expanding=True)),
)


@lru_cache(maxsize=16)
def adding(kind: str, table: sa.Table, counts: tuple[str, ...]) -> sa.Insert:
    """An insert that adds the counts to those of a row that is there, and puts its other columns in their place."""
    statement = insert(kind, table)
    keys = {column.name for column in table.primary_key}
    changes = {
        name: table.c[name] + value if name in counts else value
        for name, value in statement.excluded.items()
        if name not in keys
    }
    return statement.on_conflict_do_update(index_elements=sorted(keys), set_=changes)
