"""Read-only access to a store that another process writes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import sqlalchemy as sa
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

from arena.server.store.database import Engine, close_engine, make_engine


@asynccontextmanager
async def open_readonly(url: str) -> AsyncIterator[Engine]:
    """Open a prepared store for the block, with connections that cannot write to it.

    Raises StoreError if it cannot be used.
    """
    engine = make_engine(url)
    sqlite = engine.dialect.name == "sqlite"
    refuse_writes = "PRAGMA query_only=ON" if sqlite else "SET default_transaction_read_only = on"

    @sa.event.listens_for(engine.sync_engine, "connect")
    def _read_only(connection: DBAPIConnection, _record: ConnectionPoolEntry) -> None:
        cursor = connection.cursor()
        cursor.execute(refuse_writes)
        cursor.close()
        connection.commit()

    try:
        yield engine
    finally:
        await close_engine(engine)
