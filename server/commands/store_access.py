"""Functions with which commands open the store (database), run an operation on it, and check names."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from arena import user_paths
from arena.console import CommandError, UsageError
from arena.server.store.database import Engine, open_store, parse_sqlite_path
from arena.server.store.errors import OperationRefused, StoreError
from arena.server.store.tokens import TokenError, require_valid_name

DEFAULT_DATABASE_URL = "sqlite:///arena.db"
"""Default database URL of all commands that use a store, also of `arena serve`."""

T = TypeVar("T")


def run_on_store(
    db: str | None, operation: Callable[[Engine], Awaitable[T]], *, creates_missing_file: bool = False
) -> T:
    """Open the store, run `operation` on it, and return its result.

    Raises CommandError if the store cannot be used, or if `operation` raises OperationRefused.

    db                    URL of the database; None or empty for `DEFAULT_DATABASE_URL`
    creates_missing_file  True to create a missing SQLite file; False to reject it, because its name may be mistyped
    """
    url = db or DEFAULT_DATABASE_URL
    if not creates_missing_file:
        require_existing_sqlite_file(url)

    async def open_store_and_run() -> T:
        async with open_store(url) as engine:
            return await operation(engine)

    try:
        return anyio.run(open_store_and_run)
    except (StoreError, OperationRefused) as error:
        raise CommandError(str(error)) from None


def require_valid_name_argument(name: str) -> None:
    """Raise UsageError unless `name` is a valid name of a bot, an owner or a season."""
    try:
        require_valid_name(name)
    except TokenError as error:
        raise UsageError(str(error)) from None


def make_unknown_event_error(event_name: str) -> CommandError:
    """Return the error for an event (tournament or ladder) without finished matches, perhaps because its name is mistyped."""
    return CommandError(
        f"event {event_name!r:.80} does not exist, or has no finished matches: check its name"
    )


def require_existing_sqlite_file(database_url: str) -> None:
    """Raise CommandError if `database_url` names an SQLite file that does not exist."""
    file = parse_sqlite_path(database_url)
    if file is not None and not user_paths.exists(file):
        raise CommandError(
            f"database {file} does not exist: name one with --db, or let `arena serve` create it"
        )
