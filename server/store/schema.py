"""The tables of the store.

A match is one row of `matches`, and its record is kept beside it when it is over. Everything that happened
in it is in `events`, in order. Nothing of a match is ever changed but what it gets at its end, so a reader needs
no lock. Many servers may share one PostgreSQL: ids are unique everywhere, a server writes only under the number
of its lease (`server.store.lease`), and whatever else reads before it writes does so under `database.exclusive`.
"""

from __future__ import annotations

import sqlalchemy as sa

metadata = sa.MetaData()

MATCH_ID = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")
"""Ids are in the order of their bytes on both databases."""

about = sa.Table(  # one row
    "about",
    metadata,
    sa.Column("schema_version", sa.Integer, nullable=False),
    sa.Column(
        "program", sa.String(64), nullable=True
    ),  # who made the store this version's; unknown before it was kept
)

NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
"""SQLite counts by itself in a column of exactly this type."""

matches = sa.Table(
    "matches",
    metadata,
    # By its number a match's events lie beside those of the others in play: by its id each is on a page of its own.
    sa.Column("number", NUMBER, primary_key=True),
    sa.Column("match", MATCH_ID, nullable=False, unique=True),
    sa.Column("event", sa.String(128), nullable=False, index=True),
    sa.Column("game", sa.String(64), nullable=False),
    sa.Column("maxie", sa.String(64), nullable=False),
    sa.Column("minnie", sa.String(64), nullable=False),
    sa.Column("terms", sa.Text, nullable=False),  # JSON: setup, time control, margin, limits
    sa.Column("started", sa.String(32), nullable=False),  # ISO 8601, UTC
    sa.Column("record", sa.Text, nullable=True),  # arena-record/1, once it is over
    sa.Column("rated", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("finished", sa.String(32), nullable=True),  # as `database.now` writes it, once it is over
    sa.Column(
        "counted", sa.Boolean, nullable=False, server_default=sa.false()
    ),  # whether its steps are in rating_steps
    sa.Column(
        "server", sa.String(64), nullable=False, server_default=""
    ),  # who plays it, and goes on with it
)
_rated = sa.text("rated AND finished IS NOT NULL")
sa.Index(
    "ix_matches_rated", matches.c.finished, matches.c.match, sqlite_where=_rated, postgresql_where=_rated
)
_finished = sa.text("finished IS NOT NULL")
sa.Index(
    "ix_matches_finished",
    matches.c.finished,
    matches.c.match,
    sqlite_where=_finished,
    postgresql_where=_finished,
)
_uncounted = sa.text("rated AND finished IS NOT NULL AND NOT counted")
sa.Index(
    "ix_matches_uncounted",
    matches.c.finished,
    matches.c.match,
    sqlite_where=_uncounted,
    postgresql_where=_uncounted,
)
_open = sa.text("record IS NULL")
sa.Index("ix_matches_open", matches.c.started, sqlite_where=_open, postgresql_where=_open)

events = sa.Table(  # server.store.journal.rows
    "events",
    metadata,
    sa.Column("number", NUMBER, sa.ForeignKey("matches.number"), primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True),  # the number of the last event in it
    sa.Column("event", sa.Text, nullable=False),  # match.events.to_journal: JSON
)

ladders = sa.Table(  # server.store.ladders: what an event was begun with, so that it can go on
    "ladders",
    metadata,
    sa.Column("event", sa.String(128), primary_key=True),
    sa.Column("uid", sa.String(32), nullable=False),  # from which its matches have their ids
    sa.Column("kind", sa.String(16), nullable=False),  # the command: ladder or match
    sa.Column(
        "named", sa.Boolean, nullable=False
    ),  # whether a person named it; else it is called after its beginning
    sa.Column("plan", sa.Text, nullable=False),  # JSON
    sa.Column("started", sa.String(32), nullable=False),
    sa.Column("finished", sa.String(32), nullable=True),
)

tokens = sa.Table(
    "tokens",
    metadata,
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("hash", sa.String(64), nullable=False),  # of the token: SHA-256 in hexadecimal
    sa.Column("role", sa.String(16), nullable=False),  # protocol.messages.Role
    sa.Column("created", sa.String(32), nullable=False),
    sa.Column("rotated", sa.String(32), nullable=True),
    sa.Column("revoked", sa.String(32), nullable=True),
)

servers = sa.Table(  # server.store.lease: who writes under a name
    "servers",
    metadata,
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("number", sa.Integer, nullable=False),  # grows with every holder
    sa.Column("host", sa.String(255), nullable=False),  # the holder, as server.processes.identity knows it
    sa.Column("pid", sa.Integer, nullable=False),
    sa.Column("place", sa.String(128), nullable=False),
    sa.Column("started", sa.String(32), nullable=False),
    sa.Column(
        "since", sa.Double, nullable=False
    ),  # these three in seconds since 1970, by the database's clock
    sa.Column("renewed", sa.Double, nullable=False),
    sa.Column("until", sa.Double, nullable=False),
)

sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("server", sa.String(64), primary_key=True),  # the one that has let the bot in
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("hash", sa.String(64), nullable=False),  # of the session's secret, as of a token
)

rating_steps = sa.Table(  # what server.store.rating_steps has counted: two rows a match
    "rating_steps",
    metadata,
    sa.Column("match", MATCH_ID, sa.ForeignKey("matches.match"), primary_key=True),
    sa.Column("seat", sa.String(8), primary_key=True),
    sa.Column("game", sa.String(64), nullable=False),
    sa.Column("bot", sa.String(64), nullable=False),
    sa.Column("finished", sa.String(32), nullable=False),
    sa.Column("outcome", sa.String(8), nullable=False),  # rating.steps.Outcome
    sa.Column("forfeit", sa.Boolean, nullable=False),
    sa.Column("rating", sa.Double, nullable=False),  # these three after the match
    sa.Column("deviation", sa.Double, nullable=False),
    sa.Column("volatility", sa.Double, nullable=False),
    sa.Index("ix_rating_steps_bot", "game", "bot", "finished", "match"),
    sa.Index("ix_rating_steps_finished", "finished", "match"),
)
