import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, Self

import pytest

from arena.server.store.sqlite import _switch_to_wal

switch: Any = _switch_to_wal
"""Function under test, as Any: the driver's connections and cursors suffice, but its types are SQLAlchemy's."""


def test_the_switch_to_wal_is_repeated_until_the_file_is_free(tmp_path: Path) -> None:
    path = tmp_path / "arena.db"
    with closing(sqlite3.connect(path)) as holder, closing(sqlite3.connect(path, timeout=0)) as connection:
        holder.execute("BEGIN EXCLUSIVE")
        refusals: list[str] = []

        class Cursor(sqlite3.Cursor):
            def execute(self, *words: Any) -> Self:
                try:
                    return super().execute(*words)
                except sqlite3.OperationalError as error:
                    refusals.append(str(error))
                    if len(refusals) == 2:
                        holder.rollback()
                    raise

        switch(connection, connection.cursor(Cursor))
        assert refusals == ["database is locked"] * 2
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_file_that_cannot_be_switched_raises_at_once(tmp_path: Path) -> None:
    path = tmp_path / "arena.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE one (name)")
    with (
        closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection,
        pytest.raises(sqlite3.OperationalError, match="readonly"),
    ):
        switch(connection, connection.cursor())
