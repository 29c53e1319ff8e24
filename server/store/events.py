"""Store the events of a server, and the host's requests to a running server.

An event is a row of `ladders`, like an event of `arena ladder`. The row contains the event's plan and state. Its
results are in the rows of its matches.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import msgspec
import sqlalchemy as sa
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from arena.clock import MONOTONIC
from arena.match.terms import decode_game, encode_game
from arena.protocol.messages import EventPhase
from arena.server.core.calendar import format_utc
from arena.server.core.event_state import EventPlan, EventState, StoredEvent
from arena.server.core.inputs import ControlEvent, FindClient, HostCommand, HostRequest
from arena.server.store import database
from arena.server.store.aggregates.standings import load_bot_standings
from arena.server.store.lease import load_held_names
from arena.server.store.schema import ladders, matches, requests

EVENT = "event"
"""Value of `ladders.kind` for events that a server plays."""


class _Plan(Struct):
    """Part of a stored plan that a server needs to resume the event."""

    state: EventState


_encode = msgspec.json.Encoder(enc_hook=encode_game).encode
_plan = msgspec.json.Decoder(_Plan, dec_hook=decode_game).decode
_request: msgspec.json.Decoder[HostRequest] = msgspec.json.Decoder(HostRequest, dec_hook=decode_game)


def event_row(state: EventState) -> dict[str, Any]:
    """Return the row of an event. The plan in the row has the keys of an `arena ladder` plan, and one for the state."""
    plan = state.plan
    setups = [start.game.setup() for start in plan.starts]
    columns = {
        "game": plan.game,
        "maps": [str(setup["map"]) for setup in setups if "map" in setup],
        "setups": setups,
        "bots": dict.fromkeys(state.bots, ""),
        "format": plan.format,
        "rounds": plan.rounds,
        "time control": str(plan.starts[0].time_control),
        "seed": plan.seed,
        "changes": state.changes,
        "state": state,
    }
    return {
        "event": plan.event,
        "uid": plan.uid,
        "plan": _encode(columns).decode(),
        "started": format_utc(plan.begins),
        "finished": database.current_timestamp() if state.has_ended else None,
    }


def parse_state(plan: str) -> EventState:
    """Return the state of an event from the plan in its row."""
    return _plan(plan).state


async def load_events(connection: AsyncConnection, server: str) -> list[StoredEvent]:
    """Return the unfinished events of a server, with their results."""
    is_open_event = (ladders.c.kind == EVENT) & (ladders.c.server == server) & ladders.c.finished.is_(None)
    rows = (
        await connection.execute(sa.select(ladders).where(is_open_event).order_by(ladders.c.started))
    ).all()
    return [StoredEvent(parse_state(row.plan), await _load_results(connection, row.event)) for row in rows]


async def _load_results(
    connection: AsyncConnection, event: str
) -> list[tuple[str, str, str, str | None, str]]:
    table = matches.c
    query = sa.select(table.match, table.maxie, table.minnie, table.winner, table.reason)
    query = query.where(table.event == event, table.finished.is_not(None))
    rows = (await connection.execute(query.order_by(table.finished, table.number))).all()
    return [(row.match, row.maxie, row.minnie, row.winner, row.reason) for row in rows]


async def find_event(engine: AsyncEngine, name: str) -> StoredEvent | None:
    """Return the event called `name`, or an event of the series called `name`; None if there is neither.

    Of a series, return the latest event that has begun; if none has, the latest announced one.
    """
    states = [state for state in await list_events(engine) if name in (state.plan.event, state.plan.series)]
    if not states:
        return None
    state = ([each for each in states if each.has_begun or each.phase == "over"] or states)[-1]
    async with database.open_query_connection(engine) as connection:
        return StoredEvent(state, await _load_results(connection, state.plan.event))


async def list_events(engine: AsyncEngine) -> list[EventState]:
    """Return every event of every server, the earliest first."""
    query = sa.select(ladders.c.plan).where(ladders.c.kind == EVENT).order_by(ladders.c.started)
    async with database.open_query_connection(engine) as connection:
        return [parse_state(text) for text in (await connection.execute(query)).scalars()]


class EntriesPlan(Struct):
    """Plan of an event, without its games."""

    event: str
    begins: int
    closes: int
    invited: tuple[str, ...] = ()


class Entries(Struct):
    """Entries of an event: an `EventState` without the games, whose decoding takes long."""

    plan: EntriesPlan
    phase: EventPhase
    bots: tuple[str, ...]
    withdrawn: tuple[str, ...]
    excluded: tuple[str, ...]
    server: str = ""
    """Name of the server that plays the event."""


class _PlanWithEntries(Struct):
    state: Entries


_entries = msgspec.json.Decoder(_PlanWithEntries).decode


async def load_unfinished_entries(engine: AsyncEngine) -> list[Entries]:
    """Return the entries of all unfinished events, the earliest event first."""
    table = ladders.c
    query = sa.select(table.server, table.plan).where(table.kind == EVENT, table.finished.is_(None))
    async with database.open_query_connection(engine) as connection:
        rows = (await connection.execute(query.order_by(table.started))).all()
    return [replace(_entries(row.plan).state, server=row.server) for row in rows]


MAX_EVENTS = 500
"""Maximum number of events that `list_events_since` returns."""


async def list_events_since(engine: AsyncEngine, time: str) -> list[EventState]:
    """Return the events that are unfinished or started at or after `time`, in order of their start.

    At most `MAX_EVENTS` are returned, the latest ones.
    """
    table = ladders.c
    lately = (table.kind == EVENT) & (table.finished.is_(None) | (table.started >= time))
    query = sa.select(table.plan).where(lately).order_by(table.started.desc()).limit(MAX_EVENTS)
    async with database.open_query_connection(engine) as connection:
        return [parse_state(text) for text in (await connection.execute(query)).scalars()][::-1]


async def find_name_conflict(engine: AsyncEngine, plan: EventPlan) -> str | None:
    """Return the event or series that has the name of a new event or of its series; None if both names are free.

    An event and a series must not share a name, because commands accept the name of either. The name of a series is
    free again when all its events are over.
    """
    query = sa.select(ladders.c.event).where(ladders.c.event.in_((plan.event, plan.series)))
    async with database.open_query_connection(engine) as connection:
        name = (await connection.execute(query)).scalar()
    if name is not None:
        return f"an event called {name}"
    for state in await list_events(engine):
        series = state.plan.series
        if series and (series == plan.event or (series == plan.series and not state.has_ended)):
            return f"a series called {series}"
    return None


# requests of the host


ANSWER_SECONDS = 5.0
"""Time to wait for a server's answer, in seconds."""
FIRST_POLL_SECONDS = 0.05
"""Time before the first check for an answer, in seconds. Each later pause is twice as long, up to a second."""


class RequestAnswer(Struct, frozen=True):
    """Answer of a server to a request that a host made with `arena event`, and True if the request was carried out."""

    text: str
    done: bool


class StoreChange(Protocol):
    """Change of the store that the page process has prepared."""

    def apply(self, connection: sa.Connection) -> bool:
        """Make the change in the caller's transaction, and return True.

        If the store has changed since, change nothing and return False.
        """
        ...


class NewRequest(Struct, frozen=True, tag="request"):
    """Request to the server that plays an event."""

    server: str
    request: ControlEvent


def _store_request(connection: sa.Connection, server: str, request: HostRequest) -> int:
    """Store a request to a server, and return its number."""
    values = {"server": server, "request": _encode(request).decode(), "answer": None, "done": None}
    key = connection.execute(sa.insert(requests), values).inserted_primary_key
    return int(key[0]) if key is not None else 0


async def send_request(engine: AsyncEngine, server: str, request: HostRequest) -> RequestAnswer | None:
    """Send a request to a server, and return the answer; None if none comes within `ANSWER_SECONDS`."""
    async with engine.begin() as connection:
        number = await connection.run_sync(_store_request, server, request)
    reply = await _wait_for_answer(engine, number)
    if reply is not None:
        async with engine.begin() as connection:
            await connection.execute(_DELETE_REQUEST, {"of": number})
    return reply


async def _wait_for_answer(engine: AsyncEngine, number: int) -> RequestAnswer | None:
    until, pause = MONOTONIC.now() + ANSWER_SECONDS, FIRST_POLL_SECONDS
    while MONOTONIC.now() < until:
        await MONOTONIC.sleep(pause)
        pause = min(2 * pause, 1.0)
        async with database.open_query_connection(engine) as connection:
            row = (await connection.execute(_REPLY, {"of": number})).one_or_none()
        if row is not None and row.answer is not None:
            return RequestAnswer(row.answer, bool(row.done))
    return None


def make_change_maker(engine: AsyncEngine) -> MakeChange:
    """Return a `MakeChange` for a process without a core."""
    write = database.transaction_writer(engine)

    async def make_change(change: PreparedChange) -> bool | RequestAnswer:
        if isinstance(change, NewRequest):
            return await require_answer(engine, change)
        return await write(change.apply)

    return make_change


async def require_answer(engine: AsyncEngine, new_request: NewRequest) -> RequestAnswer:
    """Send a request through the store, and return its answer. Raises TimeoutError if no server answers in time."""
    reply = await send_request(engine, new_request.server, new_request.request)
    if reply is None:
        raise TimeoutError
    return reply


async def is_connected(engine: AsyncEngine, name: str) -> bool | None:
    """Return True if a client of this name is connected to a server on the store; None if a server does not answer."""
    async with database.open_query_connection(engine) as connection:
        servers = await connection.run_sync(load_held_names)
    replies = [await send_request(engine, server, FindClient(name)) for server in servers]
    if any(reply is not None and reply.done for reply in replies):
        return True
    return None if None in replies else False


PreparedChange = StoreChange | NewRequest
MakeChange = Callable[[PreparedChange], Awaitable[bool | RequestAnswer]]
"""Function that makes a prepared change, or passes on a request and returns its answer. Raises TimeoutError."""
_REPLY = sa.select(requests.c.answer, requests.c.done).where(requests.c.number == sa.bindparam("of"))
_DELETE_REQUEST = sa.delete(requests).where(requests.c.number == sa.bindparam("of"))


async def make_entry_request(engine: AsyncEngine, event: str, bot: str) -> ControlEvent:
    """Return the request to enter a bot in an event, with the bot's stored ratings."""
    async with database.open_query_connection(engine) as connection:
        rated = await load_bot_standings(connection, bot)
    return ControlEvent(event, "enter", bot, {each.game: each.rating for each in rated})


async def load_pending_requests(engine: AsyncEngine, server: str) -> list[HostCommand]:
    """Return the unanswered requests to a server, the earliest first."""
    query = sa.select(requests.c.number, requests.c.request)
    query = query.where(requests.c.server == server, requests.c.answer.is_(None)).order_by(requests.c.number)
    async with database.open_query_connection(engine) as connection:
        rows = (await connection.execute(query)).all()
    return [HostCommand(row.number, _request.decode(row.request)) for row in rows]
