"""server.store.sqlite: the switch of a file to a write-ahead log."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, Self

import pytest

from arena.server.store.sqlite import _change_to_wal

switch: Any = _change_to_wal
"""The driver's own connections and cursors have all that it uses, though SQLAlchemy's types ask for more."""


def test_a_file_that_another_connection_uses_is_switched_as_soon_as_it_is_free(tmp_path: Path) -> None:
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


def test_a_file_that_cannot_be_switched_is_an_error_at_once(tmp_path: Path) -> None:
    path = tmp_path / "arena.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE one (name)")
    with (
        closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection,
        pytest.raises(sqlite3.OperationalError, match="readonly"),
    ):
        switch(connection, connection.cursor())
