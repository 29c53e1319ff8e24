"""The library: what the page asks of the store. Finished matches, tables, and what is known of a bot.

Every question is bounded: at most `MOST` matches are listed at a time, `LOOKED_AT` are looked through for
a bot, and `COUNTED` for an event. Records are decoded only as far as they are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio.lowlevel
import msgspec
import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncEngine

from protocol.messages import Players
from protocol.record import FORMAT, Record, Result
from rating.standings import Row, table
from rating.steps import Outcome
from server.store.database import reading
from server.store.ratings import Standing, refresh, standings
from server.store.schema import matches, rating_steps

MOST = 50
LOOKED_AT = 200
COUNTED = 20_000
CHUNK = 100
"""Records that are decoded before everybody else has a turn."""
MOST_EVENTS = 50
HISTORY = 500


class _Setup(Struct, frozen=True):
    map: str = ""


class Heading(Struct, frozen=True):
    """A finished match without its moves. Decoded from its record, and shown as it is."""

    match: str
    event: str
    game: str
    setup: _Setup
    players: Players
    time_control: str
    started: str
    moves: list[msgspec.Raw]
    result: Result


class Shown(Struct, frozen=True):
    """A finished match as a list shows it."""

    match: str
    event: str
    game: str
    map: str
    players: Players
    time_control: str
    finished: str
    plies: int
    result: Result


class Shelf(Struct, frozen=True):
    """A stretch of finished matches, the newest first; `next` is where the following one begins."""

    matches: list[Shown]
    next: str | None


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


class BotFile(Struct, frozen=True):
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
        """The record of a finished match, as one line of JSON."""
        query = sa.select(matches.c.record).where(matches.c.match == match)
        async with reading(self._engine) as connection:
            found: str | None = (await connection.execute(query)).scalar_one_or_none()
        return found

    async def shelf(self, before: tuple[str, str] | None, limit: int, bot: str, game: str) -> Shelf:
        """Finished matches, the newest first: those before a (finished, match), of a bot, of a game."""
        rows = await self._rows(before, min(limit, MOST) + 1, bot, game)
        shown = [_shown(row) for row in rows[:limit]]
        last = f"{shown[-1].finished}|{shown[-1].match}" if len(rows) > limit and shown else None
        return Shelf(shown, last)

    async def _rows(self, before: tuple[str, str] | None, limit: int, bot: str, game: str) -> Sequence[Any]:
        query = sa.select(matches.c.finished, matches.c.record).where(matches.c.finished.is_not(None))
        if before is not None:
            place = sa.tuple_(matches.c.finished, matches.c.match)
            query = query.where(place < sa.tuple_(*map(sa.literal, before)))
        if bot:
            query = query.where((matches.c.maxie == bot) | (matches.c.minnie == bot))
        if game:
            query = query.where(matches.c.game == game)
        query = query.order_by(matches.c.finished.desc(), matches.c.match.desc()).limit(limit)
        async with reading(self._engine) as connection:
            return (await connection.execute(query)).all()

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
        records = await self._light_records(event)
        if not records:
            return None
        bots = sorted({name for each in records for name in (each.players.maxie, each.players.minnie)})
        counts: dict[tuple[str, str], list[int]] = {}
        for each in records:
            maxie, minnie = each.players.maxie, each.players.minnie
            if each.result.reason.value == "server_fault":
                continue
            which = {"maxie": 0, None: 1, "minnie": 2}[each.result.winner]
            counts.setdefault((maxie, minnie), [0, 0, 0])[which] += 1
            counts.setdefault((minnie, maxie), [0, 0, 0])[2 - which] += 1
        rows = table(bots, records)
        return EventTable(event, rows, [Cross(*key, *three) for key, three in counts.items()], len(records))

    async def _light_records(self, event: str) -> list[Record]:
        query = sa.select(matches.c.record).where(matches.c.event == event, matches.c.record.is_not(None))
        query = query.order_by(matches.c.started, matches.c.match).limit(COUNTED)
        found: list[Record] = []
        async with reading(self._engine) as connection, connection.stream(query) as result:
            async for texts in result.scalars().partitions(CHUNK):
                found += [_light(_heading(text)) for text in texts]
                await anyio.lowlevel.checkpoint()
        return found

    async def bot(self, name: str) -> BotFile | None:
        """What is known of a bot; None where it has finished no match."""
        await refresh(self._engine)
        rows = await self._rows(None, LOOKED_AT, name, "")
        shown: list[Shown] = []
        for start in range(0, len(rows), CHUNK):
            shown += [_shown(row) for row in rows[start : start + CHUNK]]
            await anyio.lowlevel.checkpoint()
        column = rating_steps.c
        points = sa.select(column.game, column.finished, column.rating, column.deviation)
        points = points.where(column.bot == name).order_by(column.finished.desc()).limit(HISTORY)
        async with reading(self._engine) as connection:
            steps = (await connection.execute(points)).all()
        history: dict[str, list[Point]] = {}
        for step in reversed(steps):
            history.setdefault(step.game, []).append(Point(step.finished, step.rating, step.deviation))
        if not shown and not history:
            return None
        mine = [each for each in await standings(self._engine) if each.bot == name]
        return BotFile(name, mine, history, shown)


def _heading(text: str) -> Heading:
    return msgspec.json.decode(text, type=Heading)


def _shown(row: sa.Row[Any]) -> Shown:
    head = _heading(row.record)
    return Shown(
        head.match,
        head.event,
        head.game,
        head.setup.map,
        head.players,
        head.time_control,
        row.finished,
        len(head.moves),
        head.result,
    )


def _light(head: Heading) -> Record:
    """A record without its setup and moves, which no table needs."""
    return Record(
        format=FORMAT,
        match=head.match,
        event=head.event,
        game=head.game,
        setup={},
        players=head.players,
        time_control=head.time_control,
        started=head.started,
        moves=[],
        result=head.result,
    )
