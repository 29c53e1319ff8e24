"""Empty databases of each kind, for benchmarks that fill them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from testkit.parts import postgresql_folder
from tests.server.databases import running_postgresql

NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
"""What each kind of store is called, by the name of its scheme."""


@contextmanager
def database(store: str) -> Iterator[str]:
    """The URL of an empty database of this kind, which is gone afterwards. Raises RuntimeError where there is none."""
    if store == "sqlite":
        with tempfile.TemporaryDirectory(prefix="arena-store-") as folder:
            yield f"sqlite:///{folder}/arena.db"
        return
    binaries = postgresql_folder()
    if binaries is None:
        raise RuntimeError("there is no PostgreSQL on this machine: leave it out with --stores sqlite")
    with running_postgresql(binaries, lasting=True) as postgresql:
        yield postgresql.new_database()
