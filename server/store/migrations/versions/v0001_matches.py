"""Matches and their events: the schema of stores that are older than the migrations."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    about = op.create_table("about", sa.Column("schema_version", sa.Integer, nullable=False))
    op.bulk_insert(about, [{"schema_version": 1}])
    op.create_table(
        "matches",
        sa.Column("match", sa.String(64), primary_key=True),
        sa.Column("event", sa.String(128), nullable=False),
        sa.Column("game", sa.String(64), nullable=False),
        sa.Column("maxie", sa.String(64), nullable=False),
        sa.Column("minnie", sa.String(64), nullable=False),
        sa.Column("terms", sa.Text, nullable=False),
        sa.Column("started", sa.String(32), nullable=False),
        sa.Column("record", sa.Text, nullable=True),
    )
    op.create_index("ix_matches_event", "matches", ["event"])
    op.create_table(
        "events",
        sa.Column("match", sa.String(64), sa.ForeignKey("matches.match"), primary_key=True),
        sa.Column("seq", sa.Integer, primary_key=True),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("event", sa.Text, nullable=False),
    )
