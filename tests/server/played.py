"""Finished matches for tests, played by a referee and stored by a journal."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

import anyio
import sqlalchemy as sa
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.games.core import Player
from arena.match.referee import SEAT_BY_PLAYER, Referee
from arena.match.referee_events import (
    DeadlinePassed,
    MatchOpened,
    MoveReceived,
    PlayerReady,
    PlayerResigned,
    RefereeEvent,
    ServerFailed,
    TurnStarted,
)
from arena.protocol.codes import EndReason
from arena.protocol.record import RECORD_FORMAT, Record, Result
from arena.protocol.values import Players
from arena.server.core.effects import AppendMatchEvent, DurableEffect, SaveFinishedMatch, SaveNewMatch
from arena.server.core.event_state import EventState
from arena.server.store import schema
from arena.server.store.database import open_store
from arena.server.store.events import HOSTED_EVENT_KIND, make_event_row
from arena.server.store.journal.journal import open_journal
from tests.server.journals import STARTED
from tests.server.matches import terms

MAXIE_WINS, MINNIE_WINS, NOBODY_WINS = (0, 3, 1, 4, 2), (0, 2, 3, 4, 8, 6), (0, 4, 8, 1, 7, 6, 2, 5, 3)
"""Moves of tic-tac-toe: Maxie wins, Minnie wins, and the board is full without a winner."""

SECOND = 1_000_000_000


def events(moves: Sequence[int] = (), last: RefereeEvent | None = None) -> list[tuple[int, RefereeEvent]]:
    """Return the events of a match: both players get ready, the moves follow after 0.1 s each, and `last` ends the match."""
    at = 5 * SECOND
    happened: list[tuple[int, RefereeEvent]] = [(at, MatchOpened())]
    if not isinstance(last, DeadlinePassed):
        happened += [(at + 1, PlayerReady(player)) for player in Player]
    for ply, move in enumerate(moves):
        happened.append((at, TurnStarted(ply)))
        at += SECOND // 10
        happened.append((at, MoveReceived(list(Player)[ply % 2], ply, move)))
    if last is not None:
        happened.append((at + 60 * SECOND, last))
    return happened


NO_SHOW = DeadlinePassed()
RESIGNS = PlayerResigned(Player.MAXIE)
FAILS = ServerFailed("a test")

KINDS = (
    events(MAXIE_WINS),
    events(MINNIE_WINS),
    events(NOBODY_WINS),
    events((4,), RESIGNS),
    events((), NO_SHOW),
    events((4,), FAILS),
)
"""Events of six matches, each with another kind of end."""


async def store_match(
    engine: AsyncEngine,
    finished: str,
    happened: Sequence[tuple[int, RefereeEvent]],
    *,
    maxie: str = "anna",
    minnie: str = "bert",
    match: str = "",
    event: str = "test",
    time_control: str = "1+0.1",
    rated: bool = True,
    journaled: bool = True,
    once: bool = False,
) -> Record:
    """Play a match with these events, and store it with the end time `finished`. Return its record.

    journaled: False to store no events, as for an imported match
    once: True to let the journal decide whether a repeated match is rated; False to store `rated` as it is
    """
    agreed = replace(terms(time_control), match=match or uuid.uuid4().hex, players=Players(maxie, minnie))
    referee = Referee(agreed)
    effects: list[DurableEffect] = [SaveNewMatch(replace(agreed, event=event, rated=rated), STARTED)]
    for seq, (at, each) in enumerate(happened):
        referee.handle_event(each, at)
        if journaled:
            effects.append(AppendMatchEvent(agreed.match, seq, at, each, None))
    result = referee.result
    record = Record(
        RECORD_FORMAT,
        agreed.match,
        event,
        agreed.game.name,
        agreed.game.setup(),
        agreed.players,
        str(agreed.time_control),
        STARTED,
        referee.moves,
        Result(SEAT_BY_PLAYER[result.winner] if result.winner else None, result.reason, result.detail)
        if result
        else Result(None, EndReason.SERVER_FAULT, "the server stopped"),
    )
    # The server of the test may hold the lease on another name.
    async with open_journal(engine, "played") as journal:
        await journal.commit([*effects, SaveFinishedMatch(record, rated)])
    async with engine.begin() as connection:
        which = schema.matches.c.match == agreed.match
        change = {"finished": finished} if once else {"finished": finished, "rated": rated}
        await connection.execute(sa.update(schema.matches).where(which).values(change))
    return record


def day(number: int, second: int = 0) -> str:
    """Return noon plus `second` on a day of December 2025, in the format of the store."""
    return f"2025-12-{number:02}T12:00:{second:02}.000Z"


def store_matches_daily(database: str, *played: Sequence[tuple[int, RefereeEvent]], **how: Any) -> str:
    """Store a match per day, from a test without an event loop. Return the URL of the store.

    how   options of `store_match` for all these matches
    """

    async def fill() -> None:
        async with open_store(database) as engine:
            for number, happened in enumerate(played):
                await store_match(engine, day(1 + number), happened, **how)

    anyio.run(fill)
    return database


async def insert_event(engine: AsyncEngine, state: EventState) -> None:
    """Store an event (a tournament) of the server without a name."""
    row = make_event_row(state) | {"kind": HOSTED_EVENT_KIND, "server": "", "named": True}
    async with engine.begin() as connection:
        await connection.execute(sa.insert(schema.ladders).values(**row))
