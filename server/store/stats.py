"""Size and contents of a store, and the return of its free space to the file system."""

from __future__ import annotations

from typing import Any, NamedTuple

import sqlalchemy as sa
from msgspec import Struct, field
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.server.store import lease
from arena.server.store.database import Engine
from arena.server.store.finished_matches import IS_FINISHED_MATCH
from arena.server.store.match_packing import pack_finished_matches
from arena.server.store.schema import matches, metadata, records

VACUUM_TIMEOUT_SECONDS = 7 * 86_400.0
"""Maximum time for a vacuum of a PostgreSQL database, in seconds. The usual limit for a command is too short."""


class StoreStats(Struct, frozen=True):
    """Size and contents of a store."""

    finished_match_count: int = field(name="matches")
    """Number of finished matches in the store."""
    current_match_count: int = field(name="in_progress")
    """Number of matches in progress."""
    packed_match_count: int = field(name="packed")
    """Number of finished matches that are fully packed (compressed): the record, the terms and the events."""
    oldest_end_time: str | None = field(name="oldest")
    """End time of the earliest finished match, in ISO 8601; None if there is none."""
    newest_end_time: str | None = field(name="newest")
    """End time of the latest finished match, in ISO 8601; None if there is none."""
    total_bytes: int = field(name="bytes")
    """Size of the whole store in bytes, including free space."""
    free_bytes: int = field(name="free")
    """Free bytes in the SQLite file, which SQLite reuses; 0 for PostgreSQL, which does not report them."""
    bytes_per_match: float | None = field(name="bytes_a_match")
    """Size of the store without its free space, in bytes, per finished match; None without finished matches."""
    bytes_by_table: dict[str, int] | None = field(name="tables")
    """Size of each table with its indices, in bytes, by table; None if this build of SQLite does not report sizes."""


async def load_store_stats(engine: Engine) -> StoreStats:
    """Return the size and contents of a store, read from whole tables, which takes long on a large store."""
    query = sa.select(
        sa.func.count(), sa.func.min(matches.c.finished), sa.func.max(matches.c.finished)
    ).where(IS_FINISHED_MATCH)
    async with engine.connect() as connection:
        count, oldest, newest = (await connection.execute(query)).one()
        in_progress = await connection.scalar(sa.select(sa.func.count()).where(~IS_FINISHED_MATCH))
        packed = await connection.scalar(sa.select(sa.func.count()).where(records.c.whole))
        size, free = await _measure_store_size(connection)
        tables = await _measure_table_bytes(connection)
    return StoreStats(
        finished_match_count=count,
        current_match_count=in_progress or 0,
        packed_match_count=packed or 0,
        oldest_end_time=oldest,
        newest_end_time=newest,
        total_bytes=size,
        free_bytes=free,
        bytes_per_match=(size - free) / count if count else None,
        bytes_by_table=tables,
    )


async def vacuum_store_and_get_freed_bytes(engine: Engine) -> int:
    """Pack every finished match, and give the store's free space back to the file system.

    Return the number of bytes freed. Raises LeaseHeld if a server runs on the store, because the vacuum would block the server.
    """
    async with engine.connect() as connection:
        await connection.run_sync(lease.require_no_running_server)
        size_before = (await _measure_store_size(connection)).total_bytes
    await pack_finished_matches(engine)
    async with engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        if engine.dialect.name == "sqlite":
            for statement in ("VACUUM", "ANALYZE", "PRAGMA wal_checkpoint(TRUNCATE)"):
                await connection.exec_driver_sql(statement)
        else:
            driver: Any = (await connection.get_raw_connection()).driver_connection
            await driver.execute("VACUUM (FULL, ANALYZE)", timeout=VACUUM_TIMEOUT_SECONDS)
        size_after = (await _measure_store_size(connection)).total_bytes
    return size_before - size_after


class _StoreSize(NamedTuple):
    """Size of the store with its free space, and this free space, in bytes.

    Free space is the part of the SQLite file that SQLite will reuse; 0 for PostgreSQL, which does not report it.
    """

    total_bytes: int
    free_bytes: int


async def _measure_store_size(connection: AsyncConnection) -> _StoreSize:
    if connection.dialect.name == "postgresql":
        size = await connection.exec_driver_sql("SELECT pg_database_size(current_database())")
        return _StoreSize(size.scalar_one(), 0)
    pages, free_pages, page_bytes = [
        (await connection.exec_driver_sql(f"PRAGMA {name}")).scalar_one()
        for name in ("page_count", "freelist_count", "page_size")
    ]
    return _StoreSize(pages * page_bytes, free_pages * page_bytes)


async def _measure_table_bytes(connection: AsyncConnection) -> dict[str, int] | None:
    """Return the size of each table with its indices, in bytes; None if this build of SQLite does not report sizes."""
    if connection.dialect.name == "postgresql":
        sizes: dict[str, int] = {}
        for name in metadata.tables:
            table_bytes = sa.func.pg_total_relation_size(sa.func.to_regclass(name))
            sizes[name] = (await connection.execute(sa.select(table_bytes))).scalar_one()
        return dict(sorted(sizes.items(), key=lambda item: -item[1]))
    options = (await connection.exec_driver_sql("PRAGMA compile_options")).scalars().all()
    if "ENABLE_DBSTAT_VTAB" not in options:
        return None
    # Count pages, because SQLite's count of bytes overflows at 4 GB per table.
    query = (
        "SELECT known.tbl_name AS name, sum(used.pageno) AS pages FROM dbstat AS used JOIN sqlite_schema AS known"
        " ON known.name = used.name WHERE used.aggregate = TRUE GROUP BY known.tbl_name ORDER BY 2 DESC"
    )
    size = (await connection.exec_driver_sql("PRAGMA page_size")).scalar_one()
    return {row.name: row.pages * size for row in (await connection.exec_driver_sql(query)).all()}
