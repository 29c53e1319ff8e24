"""Many servers are one arena: they know of each other, of where each bot is, and of who matches them all."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add what the servers of an arena have in common."""
    op.add_column("servers", sa.Column("arena", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("servers", sa.Column("bus", sa.Double, nullable=False, server_default="0"))
    op.create_table(
        "presences",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("entry", sa.BigInteger, nullable=False),
        sa.Column("session", sa.BigInteger, nullable=False),
        sa.Column("server", sa.String(64), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
    )
    op.create_table(
        "offices",
        sa.Column("office", sa.String(32), primary_key=True),
        sa.Column("term", sa.Integer, nullable=False),
        sa.Column("server", sa.String(64), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("until", sa.Double, nullable=False),
    )
