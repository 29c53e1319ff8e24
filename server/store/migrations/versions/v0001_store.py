"""The whole schema of the first release."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

# Ids are in the order of their bytes on both databases.
MATCH_ID = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")
# SQLite counts by itself in a column of exactly this type.
NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Make the tables."""
    about = op.create_table("about", sa.Column("schema_version", sa.Integer, nullable=False))
    op.bulk_insert(about, [{"schema_version": 1}])
    _create_matches()
    op.create_table(
        "events",
        sa.Column("number", NUMBER, sa.ForeignKey("matches.number"), primary_key=True),
        sa.Column("seq", sa.Integer, primary_key=True),
        sa.Column("event", sa.Text, nullable=False),
    )
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
    _create_rating_steps()


def _create_matches() -> None:
    op.create_table(
        "matches",
        sa.Column("number", NUMBER, primary_key=True),
        sa.Column("match", MATCH_ID, nullable=False, unique=True),
        sa.Column("event", sa.String(128), nullable=False),
        sa.Column("game", sa.String(64), nullable=False),
        sa.Column("maxie", sa.String(64), nullable=False),
        sa.Column("minnie", sa.String(64), nullable=False),
        sa.Column("terms", sa.Text, nullable=False),
        sa.Column("started", sa.String(32), nullable=False),
        sa.Column("record", sa.Text, nullable=True),
        sa.Column("rated", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("finished", sa.String(32), nullable=True),
        sa.Column("counted", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("server", sa.String(64), nullable=False, server_default=""),
    )
    op.create_index("ix_matches_event", "matches", ["event"])
    in_order = ["finished", "match"]
    for index, columns, condition in (
        ("ix_matches_rated", in_order, "rated AND finished IS NOT NULL"),
        ("ix_matches_finished", in_order, "finished IS NOT NULL"),
        ("ix_matches_uncounted", in_order, "rated AND finished IS NOT NULL AND NOT counted"),
        ("ix_matches_open", ["started"], "record IS NULL"),
    ):
        some = sa.text(condition)
        op.create_index(index, "matches", columns, sqlite_where=some, postgresql_where=some)


def _create_rating_steps() -> None:
    op.create_table(
        "rating_steps",
        sa.Column("match", MATCH_ID, sa.ForeignKey("matches.match"), primary_key=True),
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
