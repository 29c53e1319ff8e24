"""Servers hold their names by leases, and sessions belong to a server."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the table of leases, and give each session to the servers whose bots may return with it."""
    op.create_table(
        "servers",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("host", sa.String(255), nullable=False),
        sa.Column("pid", sa.Integer, nullable=False),
        sa.Column("place", sa.String(128), nullable=False),
        sa.Column("started", sa.String(32), nullable=False),
        sa.Column("since", sa.Double, nullable=False),
        sa.Column("renewed", sa.Double, nullable=False),
        sa.Column("until", sa.Double, nullable=False),
    )
    op.create_table(
        "sessions_of_servers",
        sa.Column("server", sa.String(64), primary_key=True),
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("hash", sa.String(64), nullable=False),
    )
    # Which server let a bot in was not kept: it is one of those that have a match of the bot's in progress.
    op.execute(
        "INSERT INTO sessions_of_servers (server, name, hash)"
        " SELECT DISTINCT matches.server, sessions.name, sessions.hash FROM sessions JOIN matches"
        " ON matches.record IS NULL AND sessions.name IN (matches.maxie, matches.minnie)"
    )
    op.drop_table("sessions")
    op.rename_table("sessions_of_servers", "sessions")
