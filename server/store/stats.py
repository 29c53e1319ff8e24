"""How much a store holds, and how the room of what was removed is given back."""

from __future__ import annotations

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from arena.server.store import lease
from arena.server.store.compaction import compact
from arena.server.store.database import StoreError, close, patient_twin
from arena.server.store.schema import matches, metadata, records


class Stats(Struct, frozen=True):
    """What is in a store."""

    matches: int
    """Finished matches that are kept."""
    in_progress: int
    packed: int
    """Finished matches of which the journal is packed too."""
    oldest: str | None
    """When the first of them finished, and `newest` the last."""
    newest: str | None
    bytes: int
    """The size of the whole store, with what is free in it."""
    free: int
    """Bytes of SQLite's file that will be used again; 0 for PostgreSQL, which does not tell."""
    bytes_a_match: float | None
    """What is not free, by the finished matches."""
    tables: dict[str, int] | None
    """Bytes by table, with its indices; None where this SQLite was built without telling."""


async def stats(engine: AsyncEngine) -> Stats:
    """Count what is in the store. Takes as long as reading all of it."""
    finished = matches.c.finished.is_not(None)
    query = sa.select(
        sa.func.count(), sa.func.min(matches.c.finished), sa.func.max(matches.c.finished)
    ).where(finished)
    async with engine.connect() as connection:
        count, oldest, newest = (await connection.execute(query)).one()
        going_on = await connection.scalar(sa.select(sa.func.count()).where(~finished))
        packed = await connection.scalar(sa.select(sa.func.count()).where(records.c.whole))
        sqlite = engine.dialect.name == "sqlite"
        size, free = await (_file_size if sqlite else _database_size)(connection)
        tables = await (_file_tables if sqlite else _database_tables)(connection)
    return Stats(
        matches=count,
        in_progress=going_on or 0,
        packed=packed or 0,
        oldest=oldest,
        newest=newest,
        bytes=size,
        free=free,
        bytes_a_match=(size - free) / count if count else None,
        tables=tables,
    )


async def vacuum(engine: AsyncEngine) -> int:
    """Pack every finished match, give the room of what was removed back, and return how many bytes that was.

    Raises StoreError where a server runs on the store: it would stand still meanwhile.
    """
    async with engine.connect() as connection:
        held = await connection.run_sync(lease.held)
    if held:
        raise StoreError(f"{lease.shown(held[0])} is running on the store: stop it first")
    sqlite = engine.dialect.name == "sqlite"
    size_of = _file_size if sqlite else _database_size
    async with engine.connect() as connection:
        before, _ = await size_of(connection)
    await compact(engine)
    statements = (
        ("VACUUM", "ANALYZE", "PRAGMA wal_checkpoint(TRUNCATE)") if sqlite else ("VACUUM (FULL, ANALYZE)",)
    )
    waiting = patient_twin(engine)
    try:
        async with waiting.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
            for statement in statements:
                await connection.exec_driver_sql(statement)
            after, _ = await size_of(connection)
    finally:
        await close(waiting)
    return before - after


async def _file_size(connection: AsyncConnection) -> tuple[int, int]:
    pages, free, size = [
        (await connection.exec_driver_sql(f"PRAGMA {name}")).scalar_one()
        for name in ("page_count", "freelist_count", "page_size")
    ]
    return pages * size, free * size


async def _database_size(connection: AsyncConnection) -> tuple[int, int]:
    size = await connection.exec_driver_sql("SELECT pg_database_size(current_database())")
    return size.scalar_one(), 0


async def _file_tables(connection: AsyncConnection) -> dict[str, int] | None:
    options = (await connection.exec_driver_sql("PRAGMA compile_options")).scalars().all()
    if "ENABLE_DBSTAT_VTAB" not in options:
        return None
    # Pages are counted and not their bytes, of which SQLite loses count at 4 GB a table.
    query = (
        "SELECT known.tbl_name AS name, sum(used.pageno) AS pages FROM dbstat AS used JOIN sqlite_schema AS known"
        " ON known.name = used.name WHERE used.aggregate = TRUE GROUP BY known.tbl_name ORDER BY 2 DESC"
    )
    size = (await connection.exec_driver_sql("PRAGMA page_size")).scalar_one()
    return {row.name: row.pages * size for row in (await connection.exec_driver_sql(query)).all()}


async def _database_tables(connection: AsyncConnection) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for name in sorted(metadata.tables):
        size = sa.func.pg_total_relation_size(sa.func.to_regclass(name))
        sizes[name] = (await connection.execute(sa.select(size))).scalar_one()
    return dict(sorted(sizes.items(), key=lambda each: -each[1]))
