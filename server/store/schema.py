"""The tables of the store.

A match is one row of `matches`, which has all that lists show of it. Everything that happened in it is in `events`,
in order, while it is in progress. When it is over its record is in `records`, and somewhat later all of it, compressed
(`server.store.compaction`). What the page tells of many matches is kept in tables of its own, which
`server.store.aggregates.counting` adds each finished match to. Many servers may share one PostgreSQL: ids are unique everywhere, a server writes only under the number
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


def _rating() -> tuple[sa.Column[float], ...]:
    """The columns of a rating.glicko.Rating."""
    return tuple(sa.Column(name, sa.Double, nullable=False) for name in ("rating", "deviation", "volatility"))


def _count(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=False)


matches = sa.Table(
    "matches",
    metadata,
    # By its number a match's events lie beside those of the others in play: by its id each is on a page of its own.
    sa.Column("number", NUMBER, primary_key=True),
    sa.Column("match", MATCH_ID, nullable=False, unique=True),
    sa.Column("event", sa.String(128), nullable=False),
    sa.Column("game", sa.String(64), nullable=False),
    sa.Column("maxie", sa.String(64), nullable=False),
    sa.Column("minnie", sa.String(64), nullable=False),
    sa.Column("terms", sa.Text, nullable=False),  # JSON; empty once they are in `records`
    sa.Column("started", sa.String(32), nullable=False),  # ISO 8601, UTC
    sa.Column("rated", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("finished", sa.String(32), nullable=True),  # as `database.now` writes it, once it is over
    sa.Column(
        "counted", sa.Boolean, nullable=False, server_default=sa.false()
    ),  # by server.store.aggregates.counting
    sa.Column(
        "server", sa.String(64), nullable=False, server_default=""
    ),  # who plays it, and goes on with it
    # These it gets at its end: its number in the order in which finished matches came in, and what lists show of it.
    sa.Column("arrival", NUMBER, nullable=True),
    sa.Column("map", sa.Text, nullable=True),  # empty where the game has none
    sa.Column("time_control", sa.Text, nullable=True),
    sa.Column("plies", sa.Integer, nullable=True),
    sa.Column("winner", sa.String(8), nullable=True),  # protocol.messages.Seat, or nobody
    sa.Column("reason", sa.String(32), nullable=True),  # protocol.codes.EndReason
    sa.Column("detail", sa.Text, nullable=True),
    sa.Column("played", sa.LargeBinary, nullable=True),  # of a rated match: server.store.aggregates.repeats
    sa.Column("opening", sa.String(16), nullable=True),  # server.store.search.openings: what it began with
)
_FINISHED = sa.text("finished IS NOT NULL")
for _name, _columns in {
    "finished": (matches.c.finished,),
    "game": (matches.c.game, matches.c.finished),
    "maxie": (matches.c.maxie, matches.c.game, matches.c.finished),
    "minnie": (matches.c.minnie, matches.c.game, matches.c.finished),
    "event": (matches.c.event, matches.c.finished),
    "pair": (matches.c.maxie, matches.c.minnie, matches.c.finished),
    "map": (matches.c.map, matches.c.finished),
    "opening": (matches.c.opening, matches.c.finished),
}.items():
    sa.Index(
        f"ix_matches_{_name}",
        *_columns,
        matches.c.number,
        sqlite_where=_FINISHED,
        postgresql_where=_FINISHED,
    )
sa.Index("ix_matches_arrival", matches.c.arrival, sqlite_where=_FINISHED, postgresql_where=_FINISHED)
_uncounted = sa.text("finished IS NOT NULL AND NOT counted")
UNCOUNTED = sa.Index(
    "ix_matches_uncounted", matches.c.arrival, sqlite_where=_uncounted, postgresql_where=_uncounted
)
_played = sa.text("played IS NOT NULL")
sa.Index("ix_matches_played", matches.c.played, sqlite_where=_played, postgresql_where=_played)
_open = sa.text("finished IS NULL")
sa.Index("ix_matches_open", matches.c.event, matches.c.started, sqlite_where=_open, postgresql_where=_open)

ARRIVAL = sa.Sequence("matches_arrival", metadata=metadata)
"""On PostgreSQL `matches.arrival` is from here; SQLite, which has one writer, takes the next number."""

records = sa.Table(  # server.store.packing: what is kept of a finished match
    "records",
    metadata,
    sa.Column("number", NUMBER, sa.ForeignKey("matches.number"), primary_key=True),
    sa.Column("packed", sa.LargeBinary, nullable=False),
    sa.Column("whole", sa.Boolean, nullable=False),  # whether terms and events are in it too
)
_not_whole = sa.text("NOT whole")
sa.Index("ix_records_not_whole", records.c.number, sqlite_where=_not_whole, postgresql_where=_not_whole)

events = sa.Table(  # server.store.journal.rows: of matches that are not whole in `records`
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
    sa.Column(
        "arena", sa.Boolean, nullable=False, server_default=sa.false()
    ),  # whether it is one of many of an arena
    sa.Column(
        "bus", sa.Double, nullable=False, server_default="0"
    ),  # until when it surely hears the others of it
)

presences = sa.Table(  # server.store.presences: where each bot of an arena is connected, or was
    "presences",
    metadata,
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("hash", sa.String(64), nullable=False),  # of its session's secret, as of a token
    sa.Column("entry", sa.BigInteger, nullable=False),  # the number of its latest connection; it grows
    sa.Column("session", sa.BigInteger, nullable=False),  # the entry with which its session began
    sa.Column("server", sa.String(64), nullable=False),  # empty where it is not connected
    sa.Column("number", sa.Integer, nullable=False),  # that of the server's lease
)

offices = sa.Table(  # server.store.arena: what one server of an arena does for all
    "offices",
    metadata,
    sa.Column("office", sa.String(32), primary_key=True),
    sa.Column("term", sa.Integer, nullable=False),  # grows with every holder
    sa.Column("server", sa.String(64), nullable=False),
    sa.Column("number", sa.Integer, nullable=False),  # that of the server's lease
    sa.Column("until", sa.Double, nullable=False),  # in seconds since 1970, by the database's clock
)

sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("server", sa.String(64), primary_key=True),  # the one that has let the bot in
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("hash", sa.String(64), nullable=False),  # of the session's secret, as of a token
)

rating_steps = sa.Table(  # server.store.aggregates.counting: two rows a rated match
    "rating_steps",
    metadata,
    sa.Column("match", MATCH_ID, sa.ForeignKey("matches.match"), primary_key=True),
    sa.Column("seat", sa.String(8), primary_key=True),
    sa.Column("game", sa.String(64), nullable=False),
    sa.Column("bot", sa.String(64), nullable=False),
    sa.Column("finished", sa.String(32), nullable=False),
    sa.Column("outcome", sa.String(8), nullable=False),  # rating.steps.Outcome
    sa.Column("forfeit", sa.Boolean, nullable=False),
    *_rating(),
    sa.Column("arrival", NUMBER, nullable=False, server_default="0"),  # that of the match
    sa.Column("crash", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Index("ix_rating_steps_bot", "bot", "arrival"),
)

# What follows stays right when matches are removed from the store.

standings = sa.Table(  # a bot's line in the table of a game
    "standings",
    metadata,
    sa.Column("game", sa.String(64), primary_key=True),
    sa.Column("bot", sa.String(64), primary_key=True),
    *_rating(),
    *(_count(name) for name in ("matches", "wins", "draws", "losses", "forfeits")),
    sa.Column("last", sa.String(32), nullable=False),  # when its last rated match finished
    sa.Column("crashes", sa.BigInteger, nullable=False, server_default="0"),
    sa.Index("ix_standings_rating", "game", "rating", "last"),
    sa.Index("ix_standings_bot", "bot"),
)

crosses = sa.Table(  # what a bot scored against another in rated matches
    "crosses",
    metadata,
    sa.Column("game", sa.String(64), primary_key=True),
    sa.Column("bot", sa.String(64), primary_key=True),
    sa.Column("opponent", sa.String(64), primary_key=True),
    *(_count(name) for name in ("wins", "draws", "losses")),
)

rating_bases = sa.Table(  # the ratings as of the last match that was removed, from which the others count on
    "rating_bases",
    metadata,
    sa.Column("game", sa.String(64), primary_key=True),
    sa.Column("bot", sa.String(64), primary_key=True),
    *_rating(),
    sa.Column("last", sa.String(32), nullable=False),
)

event_totals = sa.Table(  # how many finished matches of an event were counted
    "event_totals",
    metadata,
    sa.Column("event", sa.String(128), primary_key=True),
    _count("matches"),
)

event_bots = sa.Table(  # how many of these a bot played
    "event_bots",
    metadata,
    sa.Column("event", sa.String(128), primary_key=True),
    sa.Column("bot", sa.String(64), primary_key=True),
    _count("matches"),
    sa.Index("ix_event_bots_matches", "event", "matches"),
)

event_scores = sa.Table(  # how many of these two bots ended so
    "event_scores",
    metadata,
    sa.Column("event", sa.String(128), primary_key=True),
    sa.Column("maxie", sa.String(64), primary_key=True),
    sa.Column("minnie", sa.String(64), primary_key=True),
    sa.Column("winner", sa.String(8), primary_key=True),  # empty for nobody
    sa.Column("reason", sa.String(32), primary_key=True),
    _count("matches"),
)
