"""Tokens, session secrets, rated matches in order of finishing, and the steps of their ratings."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add what accounts and ratings need."""
    op.add_column("matches", sa.Column("rated", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("matches", sa.Column("finished", sa.String(32), nullable=True))
    _estimate_finished()
    rated = sa.text("rated AND finished IS NOT NULL")
    op.create_index(
        "ix_matches_rated", "matches", ["finished", "match"], sqlite_where=rated, postgresql_where=rated
    )
    unfinished = sa.text("record IS NULL")
    op.create_index(
        "ix_matches_open", "matches", ["started"], sqlite_where=unfinished, postgresql_where=unfinished
    )
    if op.get_bind().dialect.name == "postgresql":
        # Ids in the order of their bytes, as everywhere else, and not in that of some language.
        for table in ("matches", "events"):
            op.execute(f'ALTER TABLE {table} ALTER COLUMN match TYPE VARCHAR(64) COLLATE "C"')
    op.create_table(
        "tokens",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("rotated", sa.String(32), nullable=True),
        sa.Column("revoked", sa.String(32), nullable=True),
    )
    op.create_table(
        "sessions",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("hash", sa.String(64), nullable=False),
    )
    _create_steps()


def _create_steps() -> None:
    match = sa.String(64)
    if op.get_bind().dialect.name == "postgresql":
        match = sa.String(64, collation="C")
    op.create_table(
        "rating_steps",
        sa.Column("match", match, sa.ForeignKey("matches.match"), primary_key=True),
        sa.Column("seat", sa.String(8), primary_key=True),
        sa.Column("game", sa.String(64), nullable=False),
        sa.Column("bot", sa.String(64), nullable=False),
        sa.Column("finished", sa.String(32), nullable=False),
        sa.Column("outcome", sa.String(8), nullable=False),
        sa.Column("forfeit", sa.Boolean, nullable=False),
        sa.Column("rating", sa.Double, nullable=False),
        sa.Column("deviation", sa.Double, nullable=False),
        sa.Column("volatility", sa.Double, nullable=False),
    )
    op.create_index("ix_rating_steps_bot", "rating_steps", ["game", "bot", "finished", "match"])
    op.create_index("ix_rating_steps_finished", "rating_steps", ["finished", "match"])


def _estimate_finished() -> None:
    """Schema 1 did not keep when a match ended: no earlier than its start and the time of its moves."""
    connection = op.get_bind()
    matches = sa.table(
        "matches", *(sa.column(name, sa.String) for name in ("match", "started", "record", "finished"))
    )
    rows = connection.execute(
        sa.select(matches.c.match, matches.c.started, matches.c.record).where(matches.c.record.is_not(None))
    ).all()
    ends = []
    for match, started, record in rows:
        ms = sum(each["ms"] for each in json.loads(record)["moves"])
        end = datetime.fromisoformat(started) + timedelta(milliseconds=ms)
        ends.append({"which": match, "finished": end.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"})
    if ends:
        change = sa.update(matches).where(matches.c.match == sa.bindparam("which"))
        connection.execute(change.values(finished=sa.bindparam("finished")), ends)
