"""Empty databases of each kind, for benchmarks that fill them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from testkit.parts import find_postgresql_folder
from tests.server.databases import running_postgresql

NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
"""Name of each kind of store, by URL scheme."""


@contextmanager
def create_database(store: str) -> Iterator[str]:
    """Create an empty database of this kind (a key of NAMES), and drop it at the end of the block.

    Raises RuntimeError if the kind is unavailable.
    """
    if store == "sqlite":
        with tempfile.TemporaryDirectory(prefix="arena-store-") as folder:
            yield f"sqlite:///{folder}/arena.db"
        return
    binaries = find_postgresql_folder()
    if binaries is None:
        raise RuntimeError("there is no PostgreSQL on this machine: leave it out with --stores sqlite")
    with running_postgresql(binaries, lasting=True) as postgresql:
        yield postgresql.new_database()
