"""What a ladder was begun with, so that it can go on after it was stopped."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the table of ladders."""
    op.create_table(
        "ladders",
        sa.Column("event", sa.String(128), primary_key=True),
        sa.Column("uid", sa.String(32), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("named", sa.Boolean, nullable=False),
        sa.Column("plan", sa.Text, nullable=False),
        sa.Column("started", sa.String(32), nullable=False),
        sa.Column("finished", sa.String(32), nullable=True),
    )
