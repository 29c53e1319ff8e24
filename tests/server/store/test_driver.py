from __future__ import annotations

import pytest
import sqlalchemy as sa

from server.store.database import blocking_twin, open_store
from server.store.driver import execute_many, first_row


async def test_a_statement_of_the_drivers_finds_and_writes_the_same_on_both_ways(database: str) -> None:
    """Through the engine's own connection, and through one whose calls block."""
    async with open_store(database) as engine:
        if engine.dialect.name != "sqlite":
            async with engine.begin() as connection:
                assert await connection.run_sync(lambda each: first_row(each, "SELECT 1 + $1::int", [2])) == (
                    3,
                )
            return
        twin = blocking_twin(engine)
        try:
            with twin.begin() as blocking:
                assert first_row(blocking, "SELECT 1 + ?", [2]) == (3,)
                assert first_row(blocking, "SELECT 1 WHERE 0") is None
                execute_many(blocking, "CREATE TABLE numbers (n INTEGER PRIMARY KEY)", [()])
                execute_many(blocking, "INSERT INTO numbers VALUES (?)", [(n,) for n in range(5)])
            async with engine.begin() as connection:
                found = await connection.run_sync(
                    lambda each: first_row(each, "SELECT sum(n) FROM numbers", [])
                )
                assert found == (10,)
            with pytest.raises(sa.exc.IntegrityError), twin.begin() as blocking:
                execute_many(blocking, "INSERT INTO numbers VALUES (?)", [(7,), (1,)])
            with pytest.raises(sa.exc.OperationalError, match="no such table"), twin.begin() as blocking:
                first_row(blocking, "SELECT * FROM nowhere")
            with twin.begin() as blocking:
                assert first_row(blocking, "SELECT count(*) FROM numbers") == (5,)
        finally:
            twin.dispose()
