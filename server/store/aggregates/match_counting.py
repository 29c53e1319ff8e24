"""Count finished matches in the ratings and in the tables of games and events.

A rated match counts in two categories:

- its game
- its game on its map with its time control

In each category, the match adds a result to the tables, and a rating step (a new rating) for each of its bots. Every
match, rated or not, is also added to the table of its event.

Each match is counted once, in the order in which the store received the results. So a match that arrives late, or has a
wrong time, is counted when it arrives, and no earlier match is counted again. Counting runs in short transactions, one
at a time across all servers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import anyio.lowlevel
import sqlalchemy as sa
from msgspec.structs import asdict

from arena.rating.rater import Rater, RatingStep, make_rating_categories
from arena.server.store import database
from arena.server.store.aggregates import event_tables, ratings
from arena.server.store.aggregates.event_tables import EventMatchResult
from arena.server.store.aggregates.seasons import read_seasons
from arena.server.store.database import Engine
from arena.server.store.finished_matches import make_finished_match_from_row
from arena.server.store.schema import matches, rating_steps

COUNTED_MATCHES_PER_TRANSACTION = 8
"""Number of matches added to ratings and tables in one transaction of a running server.

The number is small, because on SQLite the server cannot store moves during the transaction, which takes some ms.
"""
COUNTED_MATCHES_PER_TRANSACTION_WITHOUT_SERVER = 200
"""Number of matches added to ratings and tables in one transaction of a process that is not a server.

The number is large, because such a process has no moves to store that would be delayed.
"""


async def add_new_matches_to_aggregates(
    engine: Engine, report_step: Callable[[RatingStep], None] = lambda _step: None
) -> int:
    """Add the new finished matches to the ratings and tables, and return the number of rated matches among them.

    report_step: function that is called with each rating step (change of a bot's rating by a match), in order, after
        the commit of the transaction that stores the step
    """
    total_count = 0
    max_matches = (
        COUNTED_MATCHES_PER_TRANSACTION
        if database.has_redirected_transactions(engine)
        else COUNTED_MATCHES_PER_TRANSACTION_WITHOUT_SERVER
    )
    while True:
        count, steps = await database.run_in_transaction(
            engine, partial(add_match_batch_to_aggregates, max_matches=max_matches)
        )
        if not count:
            return total_count
        total_count += len({step.match for step in steps})
        for step in steps:
            report_step(step)
        await anyio.lowlevel.checkpoint()


def add_match_batch_to_aggregates(
    connection: sa.Connection, max_matches: int
) -> tuple[int, list[RatingStep]]:
    """Add up to `max_matches` new finished matches to the ratings and tables, in the caller's transaction.

    Return the number of added matches, and the resulting changes of ratings in order of the matches. A number of 0 means
    that the ratings and tables already include all finished matches.

    Until the transaction ends, no other transaction can add matches to the ratings or store the end of a match.
    """
    database.lock_store_exclusively(connection)
    rows = connection.execute(SELECT_UNCOUNTED_MATCHES, {"max_matches": max_matches}).all()
    if not rows:
        return 0, []
    rated = [row for row in rows if row.rated]
    seasons = read_seasons(connection)
    categories_by_match = {
        row.match: make_rating_categories(
            row.game, row.map, row.time_control, seasons.get_season_number(row.game)
        )
        for row in rated
    }
    keys = {
        (category, bot)
        for row in rated
        for category in categories_by_match[row.match]
        for bot in (row.maxie, row.minnie)
    }
    rater = Rater(ratings.read_current_ratings(connection, keys))
    steps: list[RatingStep] = []
    inserts: list[dict[str, Any]] = []
    for row in rated:
        for category in categories_by_match[row.match]:
            match_steps = rater.rate_match(make_finished_match_from_row(row), row.finished, category)
            steps += match_steps
            inserts += [asdict(step) | {"arrival": row.arrival} for step in match_steps]
    if inserts:
        connection.execute(_INSERT_RATING_STEP, inserts)
        ratings.add_rating_steps(connection, steps)
    event_tables.add_event_results(
        connection,
        [EventMatchResult(row.event, row.maxie, row.minnie, row.winner or "", row.reason) for row in rows],
    )
    connection.execute(_MARK_MATCH_AS_COUNTED, [{"match_number": row.number} for row in rows])
    return len(rows), steps


# The condition must equal the condition of the partial index literally. With SQLAlchemy's `counted = 0`, SQLite would
# scan all finished matches. These statements are built once, because SQLAlchemy takes longer to build one than to
# execute it, and the journal waits meanwhile.
SELECT_UNCOUNTED_MATCHES = (
    sa.select(
        *(
            matches.c[name]
            for name in (
                "number",
                "arrival",
                "match",
                "event",
                "game",
                "map",
                "time_control",
                "maxie",
                "minnie",
                "rated",
                "finished",
                "winner",
                "reason",
            )
        )
    )
    .where(sa.text("matches.finished IS NOT NULL AND NOT matches.counted"))
    .order_by(matches.c.arrival)
    .limit(sa.bindparam("max_matches", type_=sa.Integer))
)
_INSERT_RATING_STEP = sa.insert(rating_steps)
_MARK_MATCH_AS_COUNTED = (
    sa.update(matches).where(matches.c.number == sa.bindparam("match_number")).values(counted=sa.true())
)
