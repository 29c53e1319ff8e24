"""Storage of the events that a server plays: tournaments that are announced beforehand.

An event is a row of the table `ladders`, like a ladder of `arena ladder`. The row contains the event's plan and state.
The event's results are in the rows of its matches.
"""

from __future__ import annotations

from typing import Any

import msgspec
import sqlalchemy as sa
from msgspec import Struct, field
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.match.terms import decode_game_hook, encode_game_hook
from arena.protocol.messages import EventPhase
from arena.server.core.calendar import format_unix_time_as_utc
from arena.server.core.event_state import EventPlan, EventState, StoredEvent
from arena.server.store import database
from arena.server.store.database import Engine
from arena.server.store.finished_matches import read_finished_matches_of_event
from arena.server.store.schema import ladders

HOSTED_EVENT_KIND = "event"
"""Value of the column `ladders.kind` for events (tournaments) that a server plays.

In rows for the ladders of `arena ladder`, the column has other values.
"""


class _EventPlanColumn(Struct):
    """Part of the JSON in the column `ladders.plan` that a server needs to resume an event (a tournament): its state."""

    state: EventState


_encode_plan = msgspec.json.Encoder(enc_hook=encode_game_hook).encode
"""Function that encodes the plan of an event (tournament), with its games, as JSON for the column `ladders.plan`."""
_decode_event_plan_column = msgspec.json.Decoder(_EventPlanColumn, dec_hook=decode_game_hook).decode
"""Function that decodes the column `ladders.plan` of an event (tournament)."""


def make_event_row(state: EventState) -> dict[str, Any]:
    """Return the values of an event's row in the table `ladders`, by column name.

    The column `plan` is a JSON object, whose key `state` holds the whole state. The other keys are the same as in the plan
    of a ladder (`arena ladder`), so that the same code can read both plans.
    """
    plan = state.plan
    setups = [start.game.setup() for start in plan.games]
    columns = {
        "game": plan.game,
        "maps": [str(setup["map"]) for setup in setups if "map" in setup],
        "setups": setups,
        "bots": dict.fromkeys(state.entered_bots, ""),
        "format": plan.format_name,
        "rounds": plan.round_count,
        "time control": str(plan.games[0].time_control),
        "seed": plan.seed,
        "changes": state.roster_changes,
        "state": state,
    }
    return {
        "event": plan.event_name,
        "uid": plan.event_uid,
        "plan": _encode_plan(columns).decode(),
        "started": format_unix_time_as_utc(plan.start_unix_s),
        "finished": database.format_current_time() if state.has_ended else None,
    }


def parse_event_state(stored_plan: str) -> EventState:
    """Return the state of an event (tournament) from `stored_plan`, the JSON in the event's row of the table `ladders`."""
    return _decode_event_plan_column(stored_plan).state


async def read_unfinished_events_of_server(
    connection: AsyncConnection, server_name: str
) -> list[StoredEvent]:
    """Return the unfinished events (tournaments) of a server, with their results, the earliest event first."""
    is_open_event = (
        (ladders.c.kind == HOSTED_EVENT_KIND)
        & (ladders.c.server == server_name)
        & ladders.c.finished.is_(None)
    )
    rows = (
        await connection.execute(sa.select(ladders).where(is_open_event).order_by(ladders.c.started))
    ).all()
    return [
        StoredEvent(parse_event_state(row.plan), await read_finished_matches_of_event(connection, row.event))
        for row in rows
    ]


async def find_event_state(engine: Engine, event_name: str) -> EventState | None:
    """Return the tournament called `event_name`, or one tournament of the series of this name; None if there is neither.

    Of a series, return the latest tournament that has begun, or the latest announced one if none has begun.
    """
    states = [
        state
        for state in await list_events(engine)
        if event_name in (state.plan.event_name, state.plan.series_name)
    ]
    begun = [state for state in states if state.has_begun or state.phase == "over"]
    return next(reversed(begun or states), None)


async def list_events(engine: Engine) -> list[EventState]:
    """Return every event (tournament) of every server on the store, including those that are over, the earliest first."""
    query = sa.select(ladders.c.plan).where(ladders.c.kind == HOSTED_EVENT_KIND).order_by(ladders.c.started)
    return [parse_event_state(text) for text in (await database.fetch(engine, query)).scalars()]


class UnfinishedEventPlan(Struct):
    """Part of the stored plan of an event, a tournament (`server.core.event_state.EventPlan`).

    The plan's games (maps, time controls and openings) are left out, because decoding them takes long.
    """

    event: str
    """Name of the event (tournament)."""
    start_unix_s: int = field(name="begins")
    """Start of the tournament, as Unix time in seconds."""
    closing_unix_s: int = field(name="closes")
    """Time from which on no bot can enter the tournament, as Unix time in seconds."""
    invited_bots: tuple[str, ...] = field(name="invited", default=())
    """Names of the bots that may enter; empty if all bots may."""


class UnfinishedEvent(Struct):
    """Event (tournament) that is not over: its plan without the games, and its entries. Part of a stored `EventState`."""

    plan: UnfinishedEventPlan
    phase: EventPhase
    entered_bots: tuple[str, ...] = field(name="bots")
    """Names of the bots that have entered, including those that have withdrawn since."""
    withdrawn_bots: tuple[str, ...] = field(name="withdrawn")
    """Bots that are listed in `entered_bots`, but take no further part, because they left or were removed."""
    excluded_bots: tuple[str, ...] = field(name="excluded")
    """Bots that the host (the person who runs the server) or their owner has withdrawn. Only these two can enter them again."""
    server: str = ""
    """Name of the server that plays the tournament; empty for the server without a name."""


class _PlanWithUnfinishedEvent(Struct):
    """Part of the JSON in the column `ladders.plan` that `list_unfinished_events` needs: the event without its games."""

    state: UnfinishedEvent


_decode_plan_with_unfinished_event = msgspec.json.Decoder(_PlanWithUnfinishedEvent).decode
"""Function that decodes the column `ladders.plan` of an unfinished event (tournament), without its games."""


async def list_unfinished_events(engine: Engine) -> list[UnfinishedEvent]:
    """Return the unfinished events (tournaments) of every server on the store, with their entries, the earliest event first."""
    table = ladders.c
    query = sa.select(table.server, table.plan).where(
        table.kind == HOSTED_EVENT_KIND, table.finished.is_(None)
    )
    rows = await database.fetch(engine, query.order_by(table.started))
    return [replace(_decode_plan_with_unfinished_event(row.plan).state, server=row.server) for row in rows]


MAX_RECENT_EVENTS = 500
"""Maximum number of events (tournaments) that `list_recent_events` returns."""


async def list_recent_events(engine: Engine, since_time: str) -> list[EventState]:
    """Return the events (tournaments) that are unfinished or started at or after `since_time`, in order of their start.

    since_time: time in the format of `database.format_current_time`

    At most MAX_RECENT_EVENTS are returned, those with the latest starts.
    """
    table = ladders.c
    is_recent = (table.kind == HOSTED_EVENT_KIND) & (table.finished.is_(None) | (table.started >= since_time))
    query = sa.select(table.plan).where(is_recent).order_by(table.started.desc()).limit(MAX_RECENT_EVENTS)
    return [parse_event_state(text) for text in (await database.fetch(engine, query)).scalars()][::-1]


async def find_event_name_conflict(engine: Engine, plan: EventPlan) -> str | None:
    """Return the event or series whose name a new event would share, in words such as `a series called cup`; None if none.

    plan: plan of the new event

    An event and a series must not share a name, because commands accept the name of either. A new series may take the
    name of an earlier one whose events are all over.
    """
    query = sa.select(ladders.c.event).where(ladders.c.event.in_((plan.event_name, plan.series_name)))
    name = (await database.fetch(engine, query)).scalar()
    if name is not None:
        return f"an event called {name}"
    for state in await list_events(engine):
        series = state.plan.series_name
        if series and (series == plan.event_name or (series == plan.series_name and not state.has_ended)):
            return f"a series called {series}"
    return None
