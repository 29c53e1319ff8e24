"""Finished matches are found by both players, by map and by opening.

The openings of those that are there are read from their records, a few at a time.
"""

from __future__ import annotations

import logging
from time import monotonic

import msgspec
import sqlalchemy as sa
from alembic import op

from arena.server.store.packing import record_in
from arena.server.store.search.openings import FIRST_PLIES, opening_key

log = logging.getLogger("arena.schema")

revision = "0006"
down_revision = "0005"

CHUNK = 100
"""Matches that are held in memory at once."""
TELL_SECONDS = 5.0
"""From one line about how far it is to the next."""

_matches = sa.table("matches", sa.column("number"), sa.column("opening"))
_records = sa.table("records", sa.column("number"), sa.column("packed"))


def upgrade() -> None:
    """Add the column and its index, and those of pairs and maps."""
    op.add_column("matches", sa.Column("opening", sa.String(16), nullable=True))
    _fill(op.get_bind())
    some = sa.text("finished IS NOT NULL")
    for name, columns in {
        "pair": ["maxie", "minnie"],
        "map": ["map"],
        "opening": ["opening"],
    }.items():
        op.create_index(
            f"ix_matches_{name}",
            "matches",
            [*columns, "finished", "number"],
            sqlite_where=some,
            postgresql_where=some,
        )


def _fill(connection: sa.Connection) -> None:
    change = sa.update(_matches).where(_matches.c.number == sa.bindparam("which"))
    change = change.values(opening=sa.bindparam("new_opening"))
    query = sa.select(_records.c.number, _records.c.packed).where(_records.c.number > sa.bindparam("after"))
    query = query.order_by(_records.c.number).limit(CHUNK)
    after, done, tell = -1, 0, monotonic() + TELL_SECONDS
    while rows := list(connection.execute(query, {"after": after})):
        connection.execute(
            change, [{"which": row.number, "new_opening": _opening(record_in(row.packed))} for row in rows]
        )
        after, done = rows[-1].number, done + len(rows)
        if monotonic() >= tell:
            tell = monotonic() + TELL_SECONDS
            log.warning("bringing the store to schema 6: the openings of %s matches are read", f"{done:,}")


def _opening(line: str) -> str | None:
    parts = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    moves = msgspec.json.decode(parts["moves"], type=list[dict[str, msgspec.Raw]])
    opened = sum(bytes(each.get("opening", b"false")) == b"true" for each in moves)
    played = [msgspec.json.decode(each["move"]) for each in moves[: opened or FIRST_PLIES]]
    return opening_key(
        msgspec.json.decode(parts["game"]), msgspec.json.decode(parts["setup"]), played, opened
    )
