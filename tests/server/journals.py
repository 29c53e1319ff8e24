"""Effects of the core for a journal to commit, and leases of other processes."""

from __future__ import annotations

import sqlalchemy as sa
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.match.referee_events import MatchOpened, RefereeEvent, TurnStarted
from arena.match.terms import MatchTerms
from arena.processes.identity import ProcessIdentity, identify_this_process
from arena.protocol.record import Record
from arena.server.core.effects import AppendMatchEvent, SaveFinishedMatch, SaveNewMatch
from arena.server.store import lease, schema
from arena.server.store.lease import DEFAULT_LEASE_SECONDS, Lease
from tests.server.matches import terms

MATCH = "m" * 32
STARTED = "2026-11-20T12:00:00Z"
ELSEWHERE = replace(identify_this_process(), host="elsewhere", boot_and_namespace_ids="another machine")
"""Identity of a process on another machine, so that nobody here knows whether the process has ended."""


def make_open_match(
    match: str = MATCH, given: MatchTerms | None = None, *, event: str = "test", rated: bool = False
) -> SaveNewMatch:
    """Return the effect that starts a match."""
    return SaveNewMatch(replace(given or terms(), match=match, event=event, rated=rated), STARTED)


def make_append_event(
    seq: int,
    event: RefereeEvent | None = None,
    *,
    match: str = MATCH,
    at: int | None = None,
    turn: tuple[int, TurnStarted] | None = None,
) -> AppendMatchEvent:
    """Return the effect that appends an event to a match, by default MatchOpened at the time `seq`."""
    return AppendMatchEvent(match, seq, seq if at is None else at, event or MatchOpened(), turn)


def make_close_match(record: Record, *, rated: bool = False) -> SaveFinishedMatch:
    """Return the effect that ends a match."""
    return SaveFinishedMatch(record, rated)


async def take_lease(engine: AsyncEngine, name: str = "", process: ProcessIdentity = ELSEWHERE) -> Lease:
    """Acquire the lease on a name for a process that never renews it."""
    async with engine.begin() as connection:
        return await connection.run_sync(
            lambda each: lease.try_acquire_lease(each, server_name=name, process=process)
        )


async def expire_leases(engine: AsyncEngine) -> None:
    """Let all leases expire, as if DEFAULT_LEASE_SECONDS had passed."""
    async with engine.begin() as connection:
        column = schema.servers.c.until
        await connection.execute(sa.update(schema.servers).values(until=column - DEFAULT_LEASE_SECONDS))
