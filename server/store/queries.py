"""What the page asks of the store: finished matches, ratings, tables of events, and what is known of a bot.

Every question is bounded: at most `MOST_LISTED` matches are listed at a time, `MOST_OF_BOT` are looked through for
a bot, and `MOST_OF_EVENT` for the table of an event.
"""

from __future__ import annotations

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncEngine

from protocol.codes import EndReason
from rating.standings import Row, table
from rating.steps import Outcome
from server.store import finished
from server.store.database import reading
from server.store.finished import MatchList, Place, Shown
from server.store.rating_steps import Standing, refresh, standings
from server.store.schema import matches, rating_steps

MOST_LISTED = 50
MOST_OF_BOT = 200
MOST_OF_EVENT = 20_000
MOST_EVENTS = 50
MOST_POINTS = 500
"""Points of a bot's history, in all games together: the latest ones."""


class Event(Struct, frozen=True):
    """An event and how many matches of it are in the store."""

    event: str
    matches: int


class Cross(Struct, frozen=True):
    """What a bot scored against another."""

    bot: str
    opponent: str
    wins: int
    draws: int
    losses: int


class Rated(Struct, frozen=True):
    """The ratings of every game, and who beat whom."""

    standings: list[Standing]
    crosses: dict[str, list[Cross]]
    events: list[Event]


class EventTable(Struct, frozen=True):
    """The table of one event. `counted` is how many of its matches it rests on."""

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

    async def match_list(self, before: Place | None, limit: int, bot: str, game: str) -> MatchList:
        """Finished matches, the newest first: those before a place, of a bot, of a game."""
        limit = min(limit, MOST_LISTED)
        return await finished.match_list(self._engine, limit, before=before, bot=bot, game=game)

    async def rated(self) -> Rated:
        """The ratings of all games, counted up to now."""
        await refresh(self._engine)
        found = await standings(self._engine)
        crosses = {game: await self._crosses(game) for game in sorted({each.game for each in found})}
        return Rated(found, crosses, await self._events())

    async def _crosses(self, game: str) -> list[Cross]:
        mine, other = rating_steps.alias("mine"), rating_steps.alias("other")
        query = (
            sa.select(
                mine.c.bot,
                other.c.bot,
                *(
                    sa.func.sum(sa.case((mine.c.outcome == each.value, 1), else_=0))
                    for each in (Outcome.WIN, Outcome.DRAW, Outcome.LOSS)
                ),
            )
            .join(other, (other.c.match == mine.c.match) & (other.c.seat != mine.c.seat))
            .where(mine.c.game == game)
            .group_by(mine.c.bot, other.c.bot)
        )
        async with reading(self._engine) as connection:
            return [Cross(*row) for row in (await connection.execute(query)).all()]

    async def _events(self) -> list[Event]:
        count = sa.func.count()
        query = sa.select(matches.c.event, count).group_by(matches.c.event).order_by(matches.c.event.desc())
        async with reading(self._engine) as connection:
            return [Event(*row) for row in (await connection.execute(query.limit(MOST_EVENTS))).all()]

    async def event(self, event: str) -> EventTable | None:
        """The table of an event, by the finished matches of it that come first; None where it has none."""
        records = await finished.records_without_moves(self._engine, event, MOST_OF_EVENT)
        if not records:
            return None
        bots = sorted({name for each in records for name in (each.players.maxie, each.players.minnie)})
        counts: dict[tuple[str, str], list[int]] = {}
        for each in records:
            maxie, minnie = each.players.maxie, each.players.minnie
            if each.result.reason is EndReason.SERVER_FAULT:
                continue
            which = {"maxie": 0, None: 1, "minnie": 2}[each.result.winner]
            counts.setdefault((maxie, minnie), [0, 0, 0])[which] += 1
            counts.setdefault((minnie, maxie), [0, 0, 0])[2 - which] += 1
        rows = table(bots, records)
        return EventTable(event, rows, [Cross(*key, *three) for key, three in counts.items()], len(records))

    async def bot(self, name: str) -> BotSummary | None:
        """What is known of a bot; None where it has finished no match."""
        await refresh(self._engine)
        shown = await finished.latest_of(self._engine, name, MOST_OF_BOT)
        history = await self._history(name)
        if not shown and not history:
            return None
        mine = [each for each in await standings(self._engine) if each.bot == name]
        return BotSummary(name, mine, history, shown)

    async def _history(self, bot: str) -> dict[str, list[Point]]:
        """A bot's latest ratings by game, the oldest first."""
        column = rating_steps.c
        query = sa.select(column.game, column.finished, column.rating, column.deviation)
        query = query.where(column.bot == bot).order_by(column.finished.desc()).limit(MOST_POINTS)
        async with reading(self._engine) as connection:
            steps = (await connection.execute(query)).all()
        history: dict[str, list[Point]] = {}
        for step in reversed(steps):
            history.setdefault(step.game, []).append(Point(step.finished, step.rating, step.deviation))
        return history
