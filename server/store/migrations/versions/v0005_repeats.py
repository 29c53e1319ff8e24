"""A finished match that was rated keeps a digest of what was played, by which one that repeats it is found.

Matches from before have none: what repeats one of them is rated once more. The index of the table tells who has played of late.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the digest and its index, and put the last match into the index of the table."""
    op.add_column("matches", sa.Column("played", sa.LargeBinary, nullable=True))
    some = sa.text("played IS NOT NULL")
    op.create_index("ix_matches_played", "matches", ["played"], sqlite_where=some, postgresql_where=some)
    op.drop_index("ix_standings_rating", "standings")
    op.create_index("ix_standings_rating", "standings", ["game", "rating", "last"])
