from __future__ import annotations

import re
import socket
import sqlite3
from pathlib import Path

import pytest
import sqlalchemy as sa

from arena.server.store import schema, sqlite
from arena.server.store.database import make_blocking_engine, open_store
from arena.server.store.errors import describe_database_error, is_transient_error


async def test_an_error_of_postgresql_is_described_without_driver_names(postgresql_database: str) -> None:
    async with open_store(postgresql_database) as engine:
        async with engine.connect() as connection:
            await connection.exec_driver_sql("SET default_transaction_read_only = on")
            await connection.commit()
            with pytest.raises(sa.exc.DBAPIError) as refused:
                await connection.execute(sa.delete(schema.tokens))
        description = describe_database_error(refused.value)
        assert description is not None
        assert re.fullmatch(
            r"cannot execute DELETE in a read-only transaction: name the primary .*", description
        )
        async with engine.connect() as connection:
            with pytest.raises(sa.exc.DBAPIError) as mistaken:
                await connection.exec_driver_sql("SELECT nothing")
        assert describe_database_error(mistaken.value) == 'column "nothing" does not exist'


@pytest.mark.parametrize(
    ("error", "description"),
    [
        (socket.gaierror(-2, "Name or service not known"), "the host in the URL is unknown: check its name"),
        (TimeoutError(), "the database does not answer in time: check that it runs"),
        (TimeoutError("the store took too long"), "the store took too long"),
        (ConnectionRefusedError(111, "Connect call failed"), "the database does not answer: check that"),
        (
            FileNotFoundError(2, "No such file or directory", "/proc/arena.db"),
            "No such file or directory: check the path, and that this user may write there",
        ),
        (ConnectionError("the line is cut"), "the line is cut"),
        (sqlite3.ProgrammingError("two\nlines"), "two"),
    ],
)
def test_the_reason_for_an_error_is_one_line(error: Exception, description: str) -> None:
    reason = str(describe_database_error(error))
    assert reason.startswith(description)
    assert "\n" not in reason


async def test_a_blocking_transaction_locks_the_file_from_its_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "ENABLE_BUSY_WAIT_SQL", sqlite.DISABLE_BUSY_WAIT_SQL)
    async with open_store(f"sqlite:///{tmp_path / 'arena.db'}") as engine:
        twin, other = make_blocking_engine(engine), make_blocking_engine(engine)
        try:
            with twin.begin(), other.connect() as second:
                with pytest.raises(sa.exc.OperationalError, match="locked") as refused:
                    second.begin()
                assert is_transient_error(refused.value)
        finally:
            twin.dispose()
            other.dispose()
