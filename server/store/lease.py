"""Lease on the name of a server, so that only one process at a time writes the matches of that server.

A process that acquires a name gets a fencing token, one higher than the previous holder's. The holder renews its
lease while it runs, and releases it when it stops. Every transaction of the journal checks the token in the store
and locks it until the commit. A holder that was wrongly taken for dead can therefore write nothing more.

Stored times come from the database: from the clock of PostgreSQL's machine, or with SQLite from this machine's clock.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any, NamedTuple

import sqlalchemy as sa

from arena.clock import TimeSource
from arena.processes.identity import ProcessIdentity, has_ended, identify_this_process
from arena.server.store.database import TransactionRunner, format_database_session_name, make_insert
from arena.server.store.errors import StoreError, describe_store_failure
from arena.server.store.migrations import require_current_schema
from arena.server.store.schema import servers

log = logging.getLogger("arena.lease")

DEFAULT_LEASE_SECONDS = 10.0
"""Default time for which a lease is valid without renewal, in seconds."""
RENEWALS_PER_LEASE_DURATION = 3
"""Number of renewals within the duration of a lease, so that one failed renewal is harmless."""
ACQUISITION_RETRY_PAUSE_SECONDS = 0.25
"""Pause between two attempts to acquire a server's name, which only one process can hold at a time, in seconds."""


class Lease(NamedTuple):
    """Lease of this process on the name of a server, whose matches only the holder may write."""

    server_name: str
    fencing_token: int
    """Number of this acquisition of the name. Each acquisition gets the next higher number."""
    valid_seconds: float = DEFAULT_LEASE_SECONDS
    """Time for which the lease is valid without renewal, in seconds."""
    acquired_at_unix_seconds: float = 0.0
    """Time at which this process acquired the name, by the database's clock, in seconds since 1970.

    The time differs for every holder, so it identifies this lease together with the token.
    """


class LeaseRenewal(NamedTuple):
    """Renewal of a lease on a server's name. No two renewals are equal."""

    fencing_token: int
    renewed_at_unix_seconds: float
    """Time of the renewal, by the database's clock, in seconds since 1970."""


class LeaseHeld(StoreError):
    """Raised when another process holds the lease on a server's name; the message has its process id and start time."""

    def __init__(self, server_name: str, row: sa.Row[Any]) -> None:
        """Make the error for a server's row of the table `servers`, which also has the database's time in a column `at`."""
        self.valid_seconds = min(max(row.until - row.renewed, 0.0), DEFAULT_LEASE_SECONDS)
        """Time for which the holder's lease is valid after each renewal, in seconds; at most DEFAULT_LEASE_SECONDS."""
        start_time = datetime.fromtimestamp(row.since, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        super().__init__(
            f"{describe_server(server_name)} is running on this store already: on {row.host}, process {row.pid}, since {start_time};"
            f" the name is free when that process stops, or {self.valid_seconds:.3g} s after it was killed on another machine"
        )
        self.server_name = server_name
        self.last_renewal = LeaseRenewal(row.number, row.renewed)
        self.seconds_left = min(max(row.until - row.at, 0.0), self.valid_seconds)
        """Time until the lease expires, in seconds."""


class LeaseLost(StoreError):
    """Raised when another process has acquired the lease on this server's name, so that this process must not write."""

    def __init__(self, lease: Lease) -> None:
        super().__init__(
            f"{describe_server(lease.server_name)} has been taken over by another process, because this one did not renew its lease"
            f" within {lease.valid_seconds:g} s; its matches continue there"
        )


def describe_server(server_name: str) -> str:
    """Return a server's name as messages show it: `the server 'NAME'`, or `the server without a name`."""
    return f"the server {server_name!r}" if server_name else "the server without a name"


async def acquire_lease(
    run_in_transaction: TransactionRunner,
    server_name: str,
    *,
    valid_seconds: float,
    is_standby: bool,
    clock: TimeSource,
) -> Lease:
    """Acquire the lease on a server's name. Wait while the previous holder may still be running.

    run_in_transaction: function that runs an operation in a transaction
    server_name: name of the server; empty for the server without a name
    valid_seconds: time for which the lease is valid without renewal
    is_standby: True for a standby, which waits even for a running holder; False to raise LeaseHeld once the holder has
        renewed its lease, which shows within seconds that the holder is running

    The wait ends when the holder releases the name, is known to have ended, or lets its lease expire without renewal.
    """
    try_to_acquire = partial(
        try_acquire_lease,
        server_name=server_name,
        process=identify_this_process(),
        valid_seconds=valid_seconds,
    )
    first_refusal: LeaseHeld | None = None
    first_refusal_time = clock.now()
    while True:
        # The database's clock may jump, so the time without a renewal is measured here.
        expired_renewal = (
            first_refusal.last_renewal
            if first_refusal is not None and clock.now() - first_refusal_time >= first_refusal.valid_seconds
            else None
        )
        try:
            return await run_in_transaction(partial(try_to_acquire, expired_renewal=expired_renewal))
        except LeaseHeld as refusal:
            if first_refusal is None:
                log.warning(
                    "%s; waiting %s",
                    refusal,
                    "to take over"
                    if is_standby
                    else f"{refusal.seconds_left:.0f} s for it to be renewed, or to run out",
                )
            elif refusal.last_renewal != first_refusal.last_renewal and not is_standby:
                raise
            if first_refusal is None or refusal.last_renewal != first_refusal.last_renewal:
                first_refusal, first_refusal_time = refusal, clock.now()
            check_time = clock.now()
            await clock.sleep(min(ACQUISITION_RETRY_PAUSE_SECONDS, refusal.seconds_left + 0.01))
            if (
                clock.now() - check_time
                > ACQUISITION_RETRY_PAUSE_SECONDS + refusal.valid_seconds / RENEWALS_PER_LEASE_DURATION
            ):
                # This process was suspended, and so may the holder have been: give it time to renew.
                first_refusal_time = clock.now()
                await clock.sleep(refusal.valid_seconds / RENEWALS_PER_LEASE_DURATION)


def try_acquire_lease(
    connection: sa.Connection,
    *,
    server_name: str,
    process: ProcessIdentity,
    expired_renewal: LeaseRenewal | None = None,
    valid_seconds: float = DEFAULT_LEASE_SECONDS,
) -> Lease:
    """Acquire the lease on a name for `process`, in the caller's transaction.

    expired_renewal: last renewal of a lease that the caller knows to be expired, even if the times in the store do not say so
    valid_seconds: time for which the new lease is valid without renewal

    Raises LeaseHeld if another lease is valid and its holder is not known to have ended, and migrations.UnknownSchema if
    the store was migrated to another schema version since the caller opened it.
    """
    dialect = connection.dialect.name
    query, named = _build_server_query(dialect), {"server_name": server_name}
    # Read without a lock first, so that a holder that commits does not wait for observers.
    row = connection.execute(query, named).one_or_none()
    if row is None:
        no_holder = {
            "host": "",
            "pid": 0,
            "place": "",
            "started": "",
            "since": 0.0,
            "renewed": 0.0,
            "until": 0.0,
        }
        connection.execute(
            make_insert(dialect, servers).on_conflict_do_nothing(),
            {"name": server_name, "number": 0, **no_holder},
        )
    else:
        _require_free_server_name(row, expired_renewal)
        if dialect == "postgresql" and row.until:
            _end_sessions_of_holder(connection, row)
    row = connection.execute(query.with_for_update(), named).one()
    _require_free_server_name(row, expired_renewal)
    now = build_database_time_expression(dialect)
    values = {
        "number": row.number + 1,
        "host": process.host,
        "pid": process.pid,
        "place": process.boot_and_namespace_ids,
        "started": process.start_ticks,
        "since": now,
        "renewed": now,
        "until": now + valid_seconds,
    }
    is_named = servers.c.name == server_name
    # Waits for the end of a migration or a restore, whose result the next query sees.
    connection.execute(sa.update(servers).where(is_named).values(values))
    require_current_schema(connection)
    acquisition_time = connection.execute(sa.select(servers.c.since).where(is_named)).scalar_one()
    return Lease(server_name, row.number + 1, valid_seconds, acquisition_time)


def reacquire_lease(connection: sa.Connection, lease: Lease) -> Lease:
    """Replace this process's lease by one with the next fencing token, so that writes under the old token fail.

    If the outcome of the transaction is unknown, call the function again with the same lease. Raises LeaseLost if
    another process holds the name.
    """
    new_lease = lease._replace(fencing_token=lease.fencing_token + 1)
    try:
        renew_lease(connection, new_lease)
    except LeaseLost:
        now = build_database_time_expression(connection.dialect.name)
        _update_lease(
            connection,
            lease,
            {"number": new_lease.fencing_token, "renewed": now, "until": now + lease.valid_seconds},
        )
    return new_lease


def renew_lease(connection: sa.Connection, lease: Lease) -> None:
    """Renew the lease, in the caller's transaction. Raises LeaseLost if another process has acquired the lease."""
    now = build_database_time_expression(connection.dialect.name)
    _update_lease(connection, lease, {"renewed": now, "until": now + lease.valid_seconds})


def release_lease(connection: sa.Connection, lease: Lease) -> None:
    """Release the server name of `lease`, so that another process can acquire the name immediately.

    Raises LeaseLost if another process has acquired it already.
    """
    _update_lease(connection, lease, {"until": 0.0})


def require_held_lease(connection: sa.Connection, lease: Lease) -> None:
    """Raise LeaseLost unless the lease is held, and keep others from acquiring it until the end of the transaction."""
    if (
        connection.execute(
            _SELECT_HELD_LEASE, {"server_name": lease.server_name, "fencing_token": lease.fencing_token}
        ).first()
        is None
    ):
        raise LeaseLost(lease)


def read_running_servers(connection: sa.Connection) -> list[sa.Row[Any]]:
    """Return the rows of the servers that hold a valid lease, by name, except those whose process is known to have ended.

    Each row has the columns of `servers`, and the database's time as `at`.
    """
    now = build_database_time_expression(connection.dialect.name)
    query = sa.select(servers, now.label("at")).where(servers.c.until > now).order_by(servers.c.name)
    return [row for row in connection.execute(query) if not has_ended(_read_holder_process(row))]


def require_no_running_server(connection: sa.Connection) -> None:
    """Raise LeaseHeld if a running server uses the store."""
    running_servers = read_running_servers(connection)
    if running_servers:
        raise LeaseHeld(running_servers[0].name, running_servers[0])


def lock_out_servers(connection: sa.Connection) -> None:
    """Raise LeaseHeld if a running server uses the store. Otherwise keep new servers out until the transaction ends.

    On SQLite, call `database.lock_store_exclusively` first in the transaction: its lock is what keeps servers away.
    """
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"LOCK TABLE {servers.name} IN SHARE ROW EXCLUSIVE MODE")
    require_no_running_server(connection)


@cache
def build_database_time_expression(dialect: str) -> sa.ColumnElement[float]:
    """Return an SQL expression for the database's current time, in seconds since 1970.

    dialect: `postgresql` or `sqlite`
    """
    if dialect == "postgresql":
        return sa.cast(sa.extract("epoch", sa.func.clock_timestamp()), sa.Double)
    return (sa.func.julianday("now", type_=sa.Double) - 2440587.5) * 86400.0


@cache
def _build_server_query(dialect: str) -> sa.Select[Any]:
    """Return the query for the row of the server whose name is the parameter `server_name`, with the database's time as `at`.

    The query is cached, because each standby runs it four times a second.

    dialect: `postgresql` or `sqlite`
    """
    named = servers.c.name == sa.bindparam("server_name")
    return sa.select(servers, build_database_time_expression(dialect).label("at")).where(named)


_END_POSTGRESQL_SESSIONS = sa.text("""
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE application_name = :session_name AND pid <> pg_backend_pid()
    AND datname = current_database() AND usename = current_user
    AND EXISTS (SELECT FROM servers WHERE name = :name AND number = :number AND renewed = :renewed)
""")
"""Statement that ends all sessions of a lease's former holder, unless the holder has renewed the lease meanwhile."""

# The query is built once, because it runs in every transaction.
_SELECT_HELD_LEASE = (
    sa.select(servers.c.number)
    .where(servers.c.name == sa.bindparam("server_name"), servers.c.number == sa.bindparam("fencing_token"))
    .with_for_update(read=True)
)


def _update_lease(connection: sa.Connection, lease: Lease, new_values: dict[str, Any]) -> None:
    """Set `new_values`, by column, in the row of `lease` in the table `servers`.

    Raises LeaseLost if another process has acquired the lease.
    """
    condition = (servers.c.name == lease.server_name) & (servers.c.number == lease.fencing_token)
    condition &= servers.c.since == lease.acquired_at_unix_seconds
    if connection.execute(sa.update(servers).where(condition).values(new_values)).rowcount != 1:
        raise LeaseLost(lease)


def _end_sessions_of_holder(connection: sa.Connection, server_row: sa.Row[Any]) -> None:
    """End the PostgreSQL sessions of the process that holds the expired lease of `server_row`.

    A process that has lost its network or hangs in a transaction would otherwise keep `server_row` locked. A failure, such as
    a missing permission of the database's user, is only logged: the process then keeps its locks longer.
    """
    parameters = {
        "session_name": format_database_session_name(_read_holder_process(server_row)),
        "name": server_row.name,
        "number": server_row.number,
        "renewed": server_row.renewed,
    }
    try:
        with connection.begin_nested():
            connection.execute(_END_POSTGRESQL_SESSIONS, parameters)
    except sa.exc.ProgrammingError as error:
        log.warning(
            "cannot end the database sessions of the previous process: %s", describe_store_failure(error)
        )


def _require_free_server_name(server_row: sa.Row[Any], expired_renewal: LeaseRenewal | None) -> None:
    if (
        LeaseRenewal(server_row.number, server_row.renewed) != expired_renewal
        and server_row.at < server_row.until
        and not has_ended(_read_holder_process(server_row))
    ):
        raise LeaseHeld(server_row.name, server_row)


def _read_holder_process(row: sa.Row[Any]) -> ProcessIdentity:
    return ProcessIdentity(row.host, row.pid, row.place, row.started)
