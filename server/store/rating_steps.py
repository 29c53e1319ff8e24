"""The ratings of a store: counted match by match, each once, and kept as the steps from match to match.

`rating_steps` holds what the matches so far have made of each bot. Servers that share a database tell the
end of a match by their own clocks, so one may come in late, before others that are counted: the steps
after it are then dropped and counted again. Whoever counts does it in short transactions, one at a time
over all servers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import chain, repeat
from typing import Any

import anyio.lowlevel
import msgspec
import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from rating.glicko import Rating
from rating.steps import Ended, Key, Outcome, Rater, RatingStep
from server.store import database
from server.store.schema import matches, rating_steps

CHUNK = 8
"""Matches that are counted in one transaction: on SQLite the journal waits for it, and it takes a millisecond."""
BOTS_AT_ONCE = 2 * CHUNK
"""Bots whose last steps are asked for in one statement: SQLAlchemy takes longer for each than the database does."""


_decoder = msgspec.json.Decoder(Ended)
"""Decodes what counts of a record; the moves, nearly all of it, are passed over."""

Place = tuple[str, str]
"""A match's place in the order in which ratings count: when it finished, and its id."""


class Standing(Struct, frozen=True):
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
    last: str
    """When the last one finished."""


Steps = list[RatingStep]
Write = Callable[[Callable[[sa.Connection], Steps]], Awaitable[Steps]]
"""Something that does work in a transaction."""


async def refresh(
    engine: AsyncEngine, write: Write | None = None, told: Callable[[RatingStep], None] = lambda _step: None
) -> int:
    """Count every finished rated match that is not counted yet, and return how many these were.

    write: counts in a transaction of a connection that is open already, as the journal's is
    told: is told of each step, in order
    """
    total = 0
    while steps := await (write(_count_alone) if write else _count_in_turn(engine)):
        total += len(steps) // 2
        for step in steps:
            told(step)
        await anyio.lowlevel.checkpoint()
    return total


async def _count_in_turn(engine: AsyncEngine) -> Steps:
    async with database.exclusive(engine) as connection:
        return await connection.run_sync(_count_some)


def _count_alone(connection: sa.Connection) -> Steps:
    database.keep_others_out(connection)
    return _count_some(connection)


def _count_some(connection: sa.Connection) -> Steps:
    """Count some matches, in a transaction beside which nobody counts. Returns two steps for each."""
    first = connection.execute(FIRST_UNCOUNTED).one_or_none()
    if first is None:
        return []
    since = {"at": first.finished, "which": first.match}
    if connection.execute(_DROP_AFTER, since).rowcount:
        connection.execute(_COUNT_AGAIN_AFTER, since)
    rows = connection.execute(SOME_SINCE, since).all()
    ended = [(_decoder.decode(row.record), row.finished) for row in rows]
    rater = Rater(_last_steps(connection, _bots(match for match, _ in ended)))
    steps = [step for match, finished in ended for step in rater.count(match, finished)]
    connection.execute(_KEEP, [_row(step) for step in steps])
    ids = [{"which": row.match} for row in rows]
    connection.execute(_COUNT, ids)
    return steps


def _place(table: sa.Table) -> sa.Tuple:
    return sa.tuple_(table.c.finished, table.c.match)


# The conditions of the partial indices, word by word: SQLAlchemy's `rated = 1` is not `rated` to SQLite, which then
# looks through all matches that ever finished.
_RATED = sa.text("matches.rated AND matches.finished IS NOT NULL")
_UNCOUNTED = sa.text("matches.rated AND matches.finished IS NOT NULL AND NOT matches.counted")
_IN_ORDER = sa.select(matches).where(_RATED).order_by(matches.c.finished, matches.c.match)
FIRST_UNCOUNTED = (
    sa.select(matches.c.finished, matches.c.match)
    .where(_UNCOUNTED)
    .order_by(matches.c.finished, matches.c.match)
    .limit(1)
)
# These statements are made once: to make one takes SQLAlchemy longer than to execute it, and the journal waits meanwhile.
_SINCE = sa.tuple_(sa.bindparam("at", type_=sa.String), sa.bindparam("which", type_=sa.String))
_DROP_AFTER = sa.delete(rating_steps).where(_place(rating_steps) > _SINCE)
_COUNT_AGAIN_AFTER = (
    sa.update(matches).where(_RATED, _place(matches) > _SINCE, matches.c.counted).values(counted=False)
)
SOME_SINCE = _IN_ORDER.where(_place(matches) >= _SINCE).limit(CHUNK)
_KEY = ("game", "bot")


def _last_step(number: int) -> sa.Subquery:
    of = (rating_steps.c[name] == sa.bindparam(f"{name}{number}") for name in _KEY)
    latest = rating_steps.c.finished.desc(), rating_steps.c.match.desc()
    return sa.select(rating_steps).where(*of).order_by(*latest).limit(1).subquery()


LAST_STEPS = sa.union_all(*(sa.select(_last_step(number)) for number in range(BOTS_AT_ONCE)))
_KEEP = sa.insert(rating_steps)
_COUNT = sa.update(matches).where(matches.c.match == sa.bindparam("which")).values(counted=True)


async def rated_matches(
    connection: AsyncConnection, most: int, *, after: Place | None = None
) -> Sequence[sa.Row[Any]]:
    """The finished rated matches in their order, `after` a place."""
    query = _IN_ORDER.limit(most)
    if after is not None:
        query = query.where(_place(matches) > sa.tuple_(*map(sa.literal, after)))
    return (await connection.execute(query)).all()


def _bots(ended: Iterable[Ended]) -> set[Key]:
    return {(match.game, bot) for match in ended for bot in (match.players.maxie, match.players.minnie)}


async def last_steps(connection: AsyncConnection, bots: Iterable[Key]) -> dict[Key, RatingStep]:
    """The last step of each of these bots that has one."""
    return await connection.run_sync(_last_steps, bots)


def _last_steps(connection: sa.Connection, bots: Iterable[Key]) -> dict[Key, RatingStep]:
    found: dict[Key, RatingStep] = {}
    keys = list(bots)
    for first in range(0, len(keys), BOTS_AT_ONCE):
        part = keys[first : first + BOTS_AT_ONCE]
        # One statement for any number of bots, so that it is made once.
        asked = chain(part, repeat(part[-1], BOTS_AT_ONCE - len(part)))
        which = {
            f"{name}{n}": value for n, key in enumerate(asked) for name, value in zip(_KEY, key, strict=True)
        }
        steps = map(step_of, connection.execute(LAST_STEPS, which))
        found.update(((step.game, step.bot), step) for step in steps)
    return found


def step_of(row: sa.Row[Any]) -> RatingStep:
    """The step in a row of `rating_steps`."""
    fields = {name: getattr(row, name) for name in RatingStep.__struct_fields__}
    return RatingStep(**{**fields, "outcome": Outcome(row.outcome)})


def _row(step: RatingStep) -> dict[str, Any]:
    return {name: getattr(step, name) for name in RatingStep.__struct_fields__}


async def ratings_of(engine: AsyncEngine, game: str, bots: Iterable[str]) -> dict[str, Rating]:
    """What is known of these bots in a game; who has not played yet is rated as new."""
    names = sorted(set(bots))
    async with database.reading(engine) as connection:
        last = await last_steps(connection, ((game, bot) for bot in names))
    return {bot: last[game, bot].after() if (game, bot) in last else Rating() for bot in names}


async def standings(engine: AsyncEngine, game: str | None = None) -> list[Standing]:
    """Every bot with a rated match, by game, the highest rating first. Counts nothing: `refresh` does."""
    column = rating_steps.c
    key = (column.game, column.bot)
    backwards = sa.func.row_number().over(
        partition_by=key, order_by=(column.finished.desc(), column.match.desc())
    )
    ranked = sa.select(rating_steps, backwards.label("back"))
    if game is not None:
        ranked = ranked.where(column.game == game)
    inner = ranked.subquery()

    def count(condition: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
        return sa.func.sum(sa.case((condition, 1), else_=0))

    def last(name: str) -> sa.ColumnElement[Any]:
        return sa.func.max(sa.case((inner.c.back == 1, inner.c[name]))).label(name)

    query = sa.select(
        inner.c.game,
        inner.c.bot,
        last("rating"),
        last("deviation"),
        last("volatility"),
        count(inner.c.outcome != Outcome.NONE.value).label("matches"),
        count(inner.c.outcome == Outcome.WIN.value).label("wins"),
        count(inner.c.outcome == Outcome.DRAW.value).label("draws"),
        count(inner.c.outcome == Outcome.LOSS.value).label("losses"),
        count(inner.c.forfeit).label("forfeits"),
        last("finished"),
    ).group_by(inner.c.game, inner.c.bot)
    async with database.reading(engine) as connection:
        rows = (await connection.execute(query)).all()
    return ordered(Standing(*row) for row in rows)


def ordered(found: Iterable[Standing]) -> list[Standing]:
    """By game, the highest rating first; equal ones by name."""
    return sorted(found, key=lambda each: (each.game, -each.rating, each.bot))
