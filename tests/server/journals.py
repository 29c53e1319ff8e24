"""Effects of the core and holders of a lease, as helpers for tests."""

from __future__ import annotations

import sqlalchemy as sa
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.match.referee_events import MatchOpened, RefereeEvent, TurnStarted
from arena.match.terms import Terms
from arena.processes.identity import ProcessIdentity, identify_this_process
from arena.protocol.record import Record
from arena.server.core.effects import AppendEvent, CloseMatch, OpenMatch
from arena.server.store import lease, schema
from arena.server.store.lease import LEASE_SECONDS, Lease
from tests.server.matches import terms

MATCH = "m" * 32
STARTED = "2026-11-20T12:00:00Z"
ELSEWHERE = replace(identify_this_process(), host="elsewhere", place="another machine")
"""A process of another machine: nobody can see from here whether it has ended."""


def opens(
    match: str = MATCH, given: Terms | None = None, *, event: str = "test", rated: bool = False
) -> OpenMatch:
    return OpenMatch(replace(given or terms(), match=match, event=event, rated=rated), STARTED)


def happens(
    seq: int,
    event: RefereeEvent | None = None,
    *,
    match: str = MATCH,
    at: int | None = None,
    turn: tuple[int, TurnStarted] | None = None,
) -> AppendEvent:
    return AppendEvent(match, seq, seq if at is None else at, event or MatchOpened(), turn)


def ends(record: Record, *, rated: bool = False) -> CloseMatch:
    return CloseMatch(record, rated)


async def take_lease(engine: AsyncEngine, name: str = "", process: ProcessIdentity = ELSEWHERE) -> Lease:
    """Take a name for a process that will never renew its lease."""
    async with engine.begin() as connection:
        return await connection.run_sync(lambda each: lease.try_acquire(each, name=name, process=process))


async def run_out(engine: AsyncEngine) -> None:
    """Let as much time pass for all leases as they last."""
    async with engine.begin() as connection:
        column = schema.servers.c.until
        await connection.execute(sa.update(schema.servers).values(until=column - LEASE_SECONDS))
