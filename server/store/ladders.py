"""Ladders in the store: their plans (bots, games, rounds, time controls) and their results.

A ladder is a competition that one command runs from start to end. If the process of a ladder is killed, the bots
end too. So when the ladder is resumed, its unfinished matches are removed and played again.

Only one process plays a ladder at a time. The ladder is stored with the name of this process's server, and the process must
hold the lease on that name to store matches. Once another process has claimed the ladder, the first can change neither the
ladder nor its matches.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.clock import MONOTONIC_CLOCK
from arena.protocol.record import Record, parse_record_line
from arena.server.store import database, schema
from arena.server.store.database import Engine
from arena.server.store.errors import StoreError
from arena.server.store.finished_matches import IS_FINISHED_MATCH
from arena.server.store.lease import (
    DEFAULT_LEASE_SECONDS,
    LeaseHeld,
    LeaseLost,
    acquire_lease,
    release_lease,
)
from arena.server.store.packing import unpack_record

LadderSettings = Mapping[str, Any]
"""Settings of a ladder as JSON data, by name. A ladder can be resumed only with equal settings.

If the resumption is refused, the error message has the names of the settings that differ.
"""


class CannotResumeLadder(Exception):
    """Raised when a ladder cannot be started or resumed; the message is a one-line reason."""


@dataclass(frozen=True)
class StoredLadder:
    """Stored ladder, with the records of its finished matches."""

    event: str
    """Name of the ladder."""
    uid: UUID
    """Unique id, from which the ids of the ladder's matches are derived."""
    plan: dict[str, Any]
    started: str
    """Start time, in the format of `database.format_current_time`."""
    records: dict[str, Record]
    """Records of the finished matches by id, in order of finishing."""
    played_seconds: float = 0.0
    """Total time during which at least one of the finished matches was in progress, in seconds."""


async def claim_ladder(
    engine: Engine,
    server_name: str,
    ladder_kind: str,
    event_name: str | None,
    default_name: str,
    plan: LadderSettings,
) -> StoredLadder:
    """Begin or resume a ladder, so that only the server called `server_name` plays it.

    server_name: name of this process's server, unique to this run; the process must hold the lease on this name
    ladder_kind: command that plays the ladder: `ladder` or `match`
    event_name: name that the user chose for the ladder; None to resume the last unfinished ladder of this kind without a
        chosen name, or to begin a new ladder
    default_name: name of a new ladder if `event_name` is None
    plan: settings of the ladder, which must equal the stored ones if it is resumed

    The unfinished matches of a killed ladder are removed. Raises CannotResumeLadder if the plan differs from the stored one,
    or if another process plays the ladder. Waits up to DEFAULT_LEASE_SECONDS to learn whether that process still runs.
    """
    requested = json.loads(json.dumps(plan))
    row = await _find_ladder_row(engine, ladder_kind, event_name)
    table = schema.ladders
    claim: sa.Insert | sa.Update
    if row is None:
        name = event_name or default_name
        values = {
            "event": name,
            "uid": uuid4().hex,
            "kind": ladder_kind,
            "named": event_name is not None,
            "plan": json.dumps(requested),
            "started": database.format_current_time(),
            "server": server_name,
        }
        claim = database.make_insert(engine.dialect.name, table).on_conflict_do_nothing().values(values)
    else:
        name = row.event
        _require_same_plan(name, json.loads(row.plan), requested, is_named=event_name is not None)
        if row.server:  # empty if an older version began the ladder
            await _revoke_lease_of_server(engine, row.server, name)
        is_unchanged = (table.c.event == name) & (table.c.server == row.server)
        claim = sa.update(table).where(is_unchanged).values(server=server_name)
    async with database.open_exclusive_transaction(engine) as connection:
        # No row changes if another process has claimed the ladder meanwhile.
        if (await connection.execute(claim)).rowcount != 1:
            raise _make_already_playing_error(name)
        await _discard_unfinished_matches(connection, name)
    return await _load_ladder(engine, name)


async def _revoke_lease_of_server(engine: Engine, server_name: str, event_name: str) -> None:
    """Take the lease from the server that played a ladder, so that a frozen process of that server can no longer write.

    Raises CannotResumeLadder if the server still runs and renews its lease.
    """
    run_in_transaction = partial(database.run_in_transaction, engine)
    try:
        lease = await acquire_lease(
            run_in_transaction,
            server_name,
            valid_seconds=DEFAULT_LEASE_SECONDS,
            is_standby=False,
            clock=MONOTONIC_CLOCK,
        )
        await run_in_transaction(partial(release_lease, lease=lease))
    except (LeaseHeld, LeaseLost):
        raise _make_already_playing_error(event_name) from None


def _make_already_playing_error(event_name: str) -> CannotResumeLadder:
    return CannotResumeLadder(
        f"event {event_name} is being played by another process: wait until that process ends"
    )


async def store_bots_in_plan(engine: Engine, event_name: str, server_name: str, bot_names: list[str]) -> None:
    """Store `bot_names` in the plan of a ladder whose bots were not known before they connected.

    Raises StoreError if a server other than the one called `server_name` has claimed the ladder.
    """
    async with database.open_exclusive_transaction(engine) as connection:
        query = sa.select(schema.ladders.c.plan).where(schema.ladders.c.event == event_name)
        stored_plan = (await connection.execute(query)).scalar_one()
        plan = json.dumps({**json.loads(stored_plan), "bots": dict.fromkeys(bot_names, "")})
        await _update_ladder(connection, event_name, server_name, {"plan": plan})


async def finish_ladder(engine: Engine, event_name: str, server_name: str) -> None:
    """Mark a ladder as finished, and remove its unfinished matches.

    Raises StoreError if a server other than the one called `server_name` has claimed the ladder.
    """
    async with database.open_exclusive_transaction(engine) as connection:
        finished = sa.func.coalesce(schema.ladders.c.finished, database.format_current_time())
        await _update_ladder(connection, event_name, server_name, {"finished": finished})
        await _discard_unfinished_matches(connection, event_name)


async def _update_ladder(
    connection: AsyncConnection, event_name: str, server_name: str, new_values: Mapping[str, Any]
) -> None:
    table = schema.ladders
    is_claimed = (table.c.event == event_name) & (table.c.server == server_name)
    if (await connection.execute(sa.update(table).where(is_claimed).values(new_values))).rowcount != 1:
        raise StoreError(f"event {event_name} is now played by another process, which has resumed it")


async def _load_ladder(engine: Engine, event_name: str) -> StoredLadder:
    query = sa.select(schema.ladders).where(schema.ladders.c.event == event_name)
    matches, records = schema.matches, schema.records
    ladder = (await database.fetch(engine, query)).one()
    finished_query = sa.select(matches.c.match, records.c.packed, matches.c.finished)
    finished_query = finished_query.where(matches.c.event == event_name, IS_FINISHED_MATCH)
    finished_query = finished_query.join(records, records.c.number == matches.c.number)
    finished_query = finished_query.order_by(matches.c.finished, matches.c.number)
    rows = (await database.fetch(engine, finished_query)).all()
    records_by_match = {row.match: parse_record_line(unpack_record(row.packed)) for row in rows}
    spans = [
        (_parse_unix_seconds(records_by_match[row.match].started), _parse_unix_seconds(row.finished))
        for row in rows
    ]
    return StoredLadder(
        event_name,
        UUID(ladder.uid),
        json.loads(ladder.plan),
        ladder.started,
        records_by_match,
        _compute_union_seconds(spans),
    )


@dataclass(frozen=True)
class StoredEventPlan:
    """Plan (bots, games, rounds, time controls) of a ladder, or of an event (tournament) that a server plays, as stored."""

    uid: str
    """Unique id, in hexadecimal, from which the ids of the matches are derived."""
    kind: str
    """Name of the command that plays the ladder, `ladder` or `match`; `event` for an event that a server plays."""
    plan: dict[str, Any]
    """Plan as decoded JSON: bots, games, rounds, time controls and other settings."""
    finished: str | None
    """End time, in the format of `database.format_current_time`; None if the ladder or tournament is unfinished."""


async def find_stored_event_plan(engine: Engine, event_name: str) -> StoredEventPlan | None:
    """Return the plan of the ladder or tournament called `event_name`; None if the store has neither."""
    table = schema.ladders.c
    columns = table.uid, table.kind, table.plan, table.finished
    query = sa.select(*columns).where(table.event == event_name)
    row = (await database.fetch(engine, query)).one_or_none()
    if row is None:
        return None
    return StoredEventPlan(row.uid, row.kind, json.loads(row.plan), row.finished)


def _parse_unix_seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def _compute_union_seconds(spans: list[tuple[float, float]]) -> float:
    """Return the total length of the union of `spans`, in seconds.

    spans: pairs of a start and an end, in seconds; they may overlap
    """
    covered_seconds, covered_until = 0.0, float("-inf")
    for start, end in sorted(spans):
        covered_seconds += max(0.0, end - max(start, covered_until))
        covered_until = max(covered_until, end)
    return covered_seconds


async def _find_ladder_row(engine: Engine, ladder_kind: str, event_name: str | None) -> sa.Row[Any] | None:
    """Return the row of the ladder that `claim_ladder` must resume; None if it must begin a new ladder.

    ladder_kind, event_name: arguments of `claim_ladder`
    """
    table = schema.ladders
    if event_name is not None:
        is_wanted = table.c.event == event_name
    else:
        is_wanted = (table.c.kind == ladder_kind) & ~table.c.named & table.c.finished.is_(None)
    query = sa.select(table).where(is_wanted).order_by(table.c.started.desc()).limit(1)
    return (await database.fetch(engine, query)).one_or_none()


def _require_same_plan(
    event_name: str, stored_plan: LadderSettings, requested_plan: LadderSettings, *, is_named: bool
) -> None:
    """Raise CannotResumeLadder unless the plans have equal settings. Bots that are unknown until they connect are not compared.

    is_named: True if the user chose the ladder's name; the error then suggests another name
    """
    compared_keys = [
        key
        for key in (*stored_plan, *requested_plan)
        if not (key == "bots" and not requested_plan.get("bots"))
    ]
    different_keys = [
        key
        for key in dict.fromkeys(compared_keys)
        if json.dumps(stored_plan.get(key)) != json.dumps(requested_plan.get(key))
    ]
    if not different_keys:
        return
    differences = ", ".join(
        _describe_plan_difference(key, stored_plan.get(key), requested_plan.get(key))
        for key in different_keys
    )
    hint = (
        "give it another name"
        if is_named
        else "finish it with its first settings, or start another event with --event"
    )
    raise CannotResumeLadder(f"event {event_name} was started with different settings: {differences}; {hint}")


def _describe_plan_difference(plan_key: str, stored_value: Any, requested_value: Any) -> str:
    if plan_key == "files":  # digests of the bots' files, which say nothing to people
        stored_digests, requested_digests = stored_value or {}, requested_value or {}
        edited_bots = [
            bot
            for bot in stored_digests | requested_digests
            if stored_digests.get(bot) != requested_digests.get(bot)
        ]
        return f"files edited since: {', '.join(edited_bots)}"
    return f"{plan_key} was {_format_plan_value(stored_value)}, now {_format_plan_value(requested_value)}"


def _format_plan_value(value: object) -> str:
    if isinstance(value, dict):
        value = [f"{key} = {setting}" if setting else key for key, setting in value.items()]
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)


async def _discard_unfinished_matches(connection: AsyncConnection, event_name: str) -> None:
    matches = schema.matches
    is_unfinished_match = (matches.c.event == event_name) & matches.c.finished.is_(None)
    numbers = sa.select(matches.c.number).where(is_unfinished_match)
    # A replayed match has the same id, so no event of the first attempt may remain.
    await connection.execute(sa.delete(schema.events).where(schema.events.c.number.in_(numbers)))
    await connection.execute(sa.delete(matches).where(is_unfinished_match))
