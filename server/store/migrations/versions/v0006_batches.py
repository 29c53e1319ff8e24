"""What happened in matches in progress, a row a commit; a finished match is then one row of `events`."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the table. What `events` holds stays as it is, also of matches in progress, which go on in batches."""
    op.create_table(
        "batches",
        sa.Column("run", sa.String(32), primary_key=True),
        sa.Column("number", sa.BigInteger, primary_key=True),
        sa.Column("server", sa.String(64), nullable=False),
        sa.Column("events", sa.Text, nullable=False),
        sqlite_with_rowid=False,
    )
