"""Finished matches in the order of finishing, rated or not: what the page lists."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the index."""
    finished = sa.text("finished IS NOT NULL")
    op.create_index(
        "ix_matches_finished",
        "matches",
        ["finished", "match"],
        sqlite_where=finished,
        postgresql_where=finished,
    )
