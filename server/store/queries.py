"""What the page asks of the store: finished matches, ratings, tables of events, and what is known of a bot.

Every question reads rows of which there are few: from an index in its order, or from a table that is kept. None reads
what grows with the number of matches.
"""

from __future__ import annotations

from collections.abc import Collection

import anyio.to_thread
import sqlalchemy as sa
from msgspec import Struct, structs
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from arena.protocol.codes import EndReason
from arena.protocol.values import Players
from arena.rating.standings import Row, table_of_scores
from arena.server.store import finished
from arena.server.store.aggregates import standings
from arena.server.store.aggregates.event_tables import (
    Event,
    EventScores,
    counted_in,
    event_scores_of,
    events_with_matches,
    is_going_on,
)
from arena.server.store.aggregates.standings import Cross, Standing
from arena.server.store.database import reading
from arena.server.store.finished import MatchList, Place, Shown
from arena.server.store.ladders import LadderPlanned, planned
from arena.server.store.schema import rating_steps
from arena.server.store.search import searching
from arena.server.store.search.searching import Score, Wanted

MOST_LISTED = 50
MOST_OF_BOT = 100
MOST_EVENTS = 50
MOST_STANDINGS = 500
"""Bots in the table of a game: the best ones."""
MOST_CROSSED = 40
"""Bots of which is told what each scored against each other: no page has room for more."""
MOST_POINTS = 200
"""Points of a bot's history, in all games together: the latest ones."""


class Rated(Struct, frozen=True):
    """The ratings of every game, and who beat whom."""

    standings: list[Standing]
    crosses: dict[str, list[Cross]]
    events: list[Event]


class EventTable(Struct, frozen=True):
    """The table of one event. `counted` is how many matches of it have been counted."""

    event: str
    rows: list[Row]
    crosses: list[Cross]
    counted: int


class Point(Struct, frozen=True):
    """A bot's rating after a match."""

    finished: str
    rating: float
    deviation: float


class BotSummary(Struct, frozen=True):
    """What the store knows of a bot. `matches` are its latest."""

    bot: str
    standings: list[Standing]
    history: dict[str, list[Point]]
    matches: list[Shown]


class Queries:
    """Answers from one store."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def record(self, match: str) -> str | None:
        """The record of a finished match, as one line of JSON; None where there is no such match."""
        return await finished.record_of(self._engine, match)

    async def playing(self, match: str) -> Players | None:
        """Who plays a match that is not over, on whichever server; None where there is no such match in the store."""
        return await finished.players_of_open(self._engine, match)

    async def match_list(self, before: Place | None, limit: int, bot: str, game: str) -> MatchList:
        """Finished matches, the newest first: those before a place, of a bot, of a game."""
        limit = min(limit, MOST_LISTED)
        return await finished.match_list(self._engine, limit, before=before, bot=bot, game=game)

    async def shown(self, match: str) -> Shown | None:
        """A finished match as lists show it; None where there is no such match."""
        return await finished.shown_match(self._engine, match)

    async def standings_of(self, bot: str) -> list[Standing]:
        """A bot's line in the table of each game in which it is rated."""
        async with reading(self._engine) as connection:
            return await standings.standings_of(connection, bot)

    async def counted(self, event: str) -> int | None:
        """How many finished matches of an event have been counted; None where it has none."""
        return await counted_in(self._engine, event)

    async def planned(self, event: str) -> LadderPlanned | None:
        """What a ladder was begun with; None where there is none of this name."""
        return await planned(self._engine, event)

    async def matches_of(self, event: str, before: Place | None, limit: int) -> MatchList:
        """Finished matches of an event, the newest first: those before a place."""
        return await finished.match_list(self._engine, min(limit, MOST_LISTED), before=before, event=event)

    async def search(self, wanted: Wanted, before: Place | None, limit: int) -> MatchList:
        """Finished matches that fit, the newest first: those before a place."""
        return await searching.search(self._engine, wanted, min(limit, MOST_LISTED), before)

    async def opening_of(self, match: str) -> str | None:
        """The key of a finished match's opening; None where it has none."""
        return await searching.opening_of(self._engine, match)

    async def scores(self, bot: str, opponent: str) -> list[Score]:
        """What a bot has scored against another in rated matches, by game."""
        return await searching.scores(self._engine, bot, opponent)

    async def rated(self) -> Rated:
        """The ratings of all games, as they were counted last."""
        found: list[Standing] = []
        crosses: dict[str, list[Cross]] = {}
        for game in await standings.games(self._engine):
            rows = await standings.standings(
                self._engine, game, most=MOST_STANDINGS, since=standings.month_ago()
            )
            best = [row.bot for row in rows[:MOST_CROSSED]]
            crosses[game] = await standings.crosses(self._engine, game, best)
            found += rows
        return Rated(found, crosses, await events_with_matches(self._engine, MOST_EVENTS))

    async def event(self, event: str, bots: Collection[str] | None = None) -> EventTable | None:
        """The table of an event, of the bots that have played most of its matches; empty as long as its first matches are in progress.

        None for an event without matches.

        bots  those of a ladder, where it is known that it is one; None: as the store has its plan
        """
        found = await event_scores_of(self._engine, event)
        if found is None:
            return EventTable(event, [], [], 0) if await is_going_on(self._engine, event) else None
        if bots is None:
            ladder = await planned(self._engine, event)
            bots = () if ladder is None else ladder.plan.get("bots", ())
        found = _without_twins(found, bots)
        # The ratings of many bots take a while, and matches go on meanwhile.
        rows = await anyio.to_thread.run_sync(table_of_scores, found.bots, found.scores)
        return EventTable(
            event, rows, _crosses(found, {row.bot for row in rows[:MOST_CROSSED]}), found.counted
        )

    async def bot(self, name: str) -> BotSummary | None:
        """What is known of a bot; None where it has finished no match."""
        async with reading(self._engine) as connection:
            shown = await finished.latest_of(connection, name, MOST_OF_BOT)
            mine = await standings.standings_of(connection, name)
            if not shown and not mine:
                return None
            return BotSummary(name, mine, await _history(connection, name), shown)


async def _history(connection: AsyncConnection, bot: str) -> dict[str, list[Point]]:
    """A bot's latest ratings by game, the oldest first."""
    history: dict[str, list[Point]] = {}
    for step in reversed((await connection.execute(_HISTORY, {"of": bot})).all()):
        history.setdefault(step.game, []).append(Point(step.finished, step.rating, step.deviation))
    return history


_HISTORY = (
    sa.select(*(rating_steps.c[name] for name in ("game", "finished", "rating", "deviation")))
    .where(rating_steps.c.bot == sa.bindparam("of"))
    .order_by(rating_steps.c.arrival.desc())
    .limit(MOST_POINTS)
)


def _without_twins(found: EventScores, bots: Collection[str]) -> EventScores:
    """The scores with those of a bot's further processes, which play as `NAME#2` and so on, counted as the bot's own."""

    def own(name: str) -> str:
        bot, mark, number = name.rpartition("#")
        return bot if mark and number.isdecimal() and bot in bots else name

    scores = [
        (structs.replace(ended, players=Players(own(ended.players.maxie), own(ended.players.minnie))), times)
        for ended, times in found.scores
    ]
    return EventScores(found.counted, sorted({own(bot) for bot in found.bots}), scores)


def _crosses(found: EventScores, bots: set[str]) -> list[Cross]:
    counts: dict[tuple[str, str], list[int]] = {}
    for ended, times in found.scores:
        maxie, minnie = ended.players.maxie, ended.players.minnie
        if ended.result.reason is EndReason.SERVER_FAULT or not {maxie, minnie} <= bots:
            continue
        which = {"maxie": 0, None: 1, "minnie": 2}[ended.result.winner]
        counts.setdefault((maxie, minnie), [0, 0, 0])[which] += times
        counts.setdefault((minnie, maxie), [0, 0, 0])[2 - which] += times
    return [Cross(*key, *three) for key, three in counts.items()]
