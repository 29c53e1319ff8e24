"""Which rated matches are counted, so that the next to count is found at once; and whose match each is."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the columns and the index, and note what is counted already."""
    op.add_column("matches", sa.Column("counted", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("matches", sa.Column("server", sa.String(64), nullable=False, server_default=""))
    op.execute(sa.text("UPDATE matches SET counted = TRUE WHERE match IN (SELECT match FROM rating_steps)"))
    uncounted = sa.text("rated AND finished IS NOT NULL AND NOT counted")
    op.create_index(
        "ix_matches_uncounted",
        "matches",
        ["finished", "match"],
        sqlite_where=uncounted,
        postgresql_where=uncounted,
    )
