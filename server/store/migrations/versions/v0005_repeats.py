"""A finished match that was rated keeps a digest of what was played, by which one that repeats it is found.

Matches from before have none: what repeats one of them is rated once more. The index of the table tells who has played of late.
Crashes are counted apart from forfeits.
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
    _count_crashes()


def _count_crashes() -> None:
    op.add_column("rating_steps", sa.Column("crash", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("standings", sa.Column("crashes", sa.BigInteger, nullable=False, server_default="0"))
    op.execute(
        "UPDATE rating_steps SET crash = true, forfeit = false WHERE forfeit AND EXISTS (SELECT 1 FROM matches"
        " WHERE matches.match = rating_steps.match AND matches.reason = 'crash')"
    )
    crashed = (
        "(SELECT count(*) FROM rating_steps WHERE crash AND rating_steps.game = standings.game"
        " AND rating_steps.bot = standings.bot)"
    )
    op.execute(f"UPDATE standings SET crashes = {crashed}, forfeits = forfeits - {crashed}")
