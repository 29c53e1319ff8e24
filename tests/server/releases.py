"""Stores as earlier releases wrote them, which `tests.server.store.golden` has made, and what is in them."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import asyncpg

from arena.match.events import Moved, Timed, from_journal
from arena.protocol.record import Record, from_line
from arena.server.store.database import file_of, make_engine

STORES = Path(__file__).parents[1] / "data" / "stores"


@dataclass(frozen=True)
class Release:
    """The store of one release, read without any code of the store's."""

    name: str

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """What the SQLite file answers."""
        return rows(STORES / f"{self.name}.sqlite", statement)

    @cached_property
    def secrets(self) -> dict[str, dict[str, str]]:
        """The tokens and the sessions' secrets by the bots' names."""
        found: dict[str, dict[str, str]] = json.loads(
            (STORES / f"{self.name}.json").read_text(encoding="utf-8")
        )
        return found

    def records(self) -> dict[str, Record]:
        """The records of the matches that are over."""
        found = self.rows("SELECT match, record FROM matches WHERE record IS NOT NULL")
        return {match: from_line(record) for match, record in found}

    def events(self) -> dict[str, list[Timed]]:
        """What happened in each match, in order."""
        found: dict[str, list[Timed]] = {}
        statement = "SELECT match, events.event FROM events JOIN matches USING (number) ORDER BY number, seq"
        for match, event in self.rows(statement):
            found.setdefault(match, []).extend(from_journal(event))
        return found

    def moves(self) -> dict[str, list[Any]]:
        """The moves that were acknowledged in each match."""
        return {
            match: [event.move for _, event in happened if isinstance(event, Moved)]
            for match, happened in self.events().items()
        }

    def ratings(self) -> dict[tuple[str, str], float]:
        """The rating of each bot in each game after its last match."""
        steps = self.rows("SELECT game, bot, rating FROM rating_steps ORDER BY finished, match")
        return {(game, bot): rating for game, bot, rating in steps}

    async def put(self, url: str) -> None:
        """Make an empty database this release's store."""
        file = file_of(url)
        if file is not None:
            shutil.copyfile(STORES / f"{self.name}.sqlite", file)
            return
        await execute(url, (STORES / f"{self.name}.sql").read_text(encoding="utf-8"))


def rows(file: Path, statement: str) -> list[tuple[Any, ...]]:
    """What an SQLite file answers."""
    with closing(sqlite3.connect(file)) as connection, connection:
        return connection.execute(statement).fetchall()


def everything(file: Path, leaving_out: Sequence[str] = ()) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table of an SQLite file."""
    tables = [name for (name,) in rows(file, "SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {
        name: sorted(rows(file, f"SELECT * FROM {name}"), key=repr)
        for name in tables
        if name not in leaving_out
    }


async def execute(url: str, script: str) -> None:
    """Execute statements on PostgreSQL."""
    address = make_engine(url).url
    connection = await asyncpg.connect(
        host=str(address.query["host"]), user=address.username, database=address.database
    )
    try:
        await connection.execute(script)
    finally:
        await connection.close()


RELEASES = [Release(file.stem) for file in sorted(STORES.glob("*.json"))]
