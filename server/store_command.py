"""What commands that work on a store share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import anyio
import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.asyncio import AsyncEngine

from console import Failure
from server.store import StoreError, open_store

DATABASE = "sqlite:///arena.db"
"""The store where none is named: that of `arena serve`."""

T = TypeVar("T")


def in_store(db: str | None, work: Callable[[AsyncEngine], Awaitable[T]], *, make: bool = False) -> T:
    """What `work` returns for a store that is open while it runs. Raises Failure in one line.

    make: whether an SQLite file that is not there is made; else a mistyped name would show an empty store
    """
    url = db or DATABASE
    if not make:
        _check_there(url)

    async def main() -> T:
        async with open_store(url) as engine:
            return await work(engine)

    try:
        return anyio.run(main)
    except StoreError as error:
        raise Failure(str(error)) from None


def _check_there(url: str) -> None:
    try:
        parsed = sa.make_url(url)
    except ArgumentError:
        return  # the store says what is wrong with it
    if parsed.get_backend_name() == "sqlite" and parsed.database and not Path(parsed.database).exists():
        raise Failure(
            f"there is no database {parsed.database}: name one with --db, or let `arena serve` make it"
        )
