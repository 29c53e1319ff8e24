"""Open a store for a command."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from arena.console import CommandError
from arena.server.store.database import Engine, StoreError, open_store, sqlite_file

DATABASE = "sqlite:///arena.db"
"""Default database URL, also of `arena serve`."""

T = TypeVar("T")


def in_store(db: str | None, work: Callable[[Engine], Awaitable[T]], *, make: bool = False) -> T:
    """Open the store, run `work` on it, and return its result. Raises CommandError with a one-line message.

    make: True to create a missing SQLite file; False protects against mistyped names
    """
    url = db or DATABASE
    if not make:
        require_file(url)

    async def main() -> T:
        async with open_store(url) as engine:
            return await work(engine)

    try:
        return anyio.run(main)
    except StoreError as error:
        raise CommandError(str(error)) from None


def require_file(url: str) -> None:
    """Raise CommandError if the file of an SQLite store does not exist."""
    file = sqlite_file(url)
    if file is not None and not file.exists():
        raise CommandError(
            f"database {file} does not exist: name one with --db, or let `arena serve` create it"
        )
