"""What commands that work on a store share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from arena.console import Failure
from arena.server.store.database import Engine, StoreError, file_of, open_store
from arena.server.store.upgrade import make_ready

DATABASE = "sqlite:///arena.db"
"""The store where none is named, which is that of `arena serve`."""

T = TypeVar("T")


def in_store(db: str | None, work: Callable[[Engine], Awaitable[T]], *, make: bool = False) -> T:
    """What `work` returns for a store that is open while it runs. Raises Failure in one line.

    make: whether an SQLite file that is not there is made; else a mistyped name would show an empty store
    """
    url = db or DATABASE
    if not make:
        check_there(url)

    async def main() -> T:
        async with open_store(url, make_ready) as engine:
            return await work(engine)

    try:
        return anyio.run(main)
    except StoreError as error:
        raise Failure(str(error)) from None


def check_there(url: str) -> None:
    """Raises Failure for an SQLite store whose file is not there."""
    file = file_of(url)
    if file is not None and not file.exists():
        raise Failure(f"there is no database {file}: name one with --db, or let `arena serve` make it")
