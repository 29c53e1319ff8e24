"""Tables of the store.

A match is one row of `matches`, with all columns that lists of matches show. While the match is in progress, its events (moves,
clocks and so on) are rows of `events`. At its end, its record is added to `records`, and some seconds later
`server.store.match_packing` compresses its events and terms (players, game and clocks) into this row of `records`.

Ratings and results of many matches are in separate tables, which `server.store.aggregates.match_counting` updates with
each finished match.

In the names of tables and columns, `event` has two meanings: the rows of `events` are events of a match, and a column
`event` of any other table is the name of a tournament, a ladder, or the open pool.

Several servers, each with its own name, may share one PostgreSQL database. Ids of matches are globally unique. A server writes
only under the fencing token of its lease (`server.store.lease`). All other code that reads before it writes uses
`database.open_exclusive_transaction` or `database.lock_store_exclusively`.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

metadata = sa.MetaData()

MATCH_ID_TYPE = sa.String(64).with_variant(sa.String(64, collation="C"), "postgresql")
"""Column type of match ids, which are sorted by their bytes on both kinds of database."""
LAST_UNICODE_CHARACTER = "\U0010ffff"
"""Character after all characters of match ids: ids that begin with PREFIX are less than PREFIX + LAST_UNICODE_CHARACTER."""

about = sa.Table(  # one row
    "about",
    metadata,
    sa.Column("schema_version", sa.Integer, nullable=False),
    sa.Column("program", sa.String(64), nullable=False),  # program that created or migrated the store
)

ROW_NUMBER_TYPE = sa.BigInteger().with_variant(sa.Integer, "sqlite")
"""Column type of row numbers. SQLite assigns numbers to new rows only in a column of exactly the type INTEGER."""


def _make_rating_columns() -> tuple[sa.Column[float], ...]:
    """Return new columns for a Glicko-2 rating: the fields of `rating.glicko.GlickoRating`."""
    return tuple(sa.Column(name, sa.Double, nullable=False) for name in ("rating", "deviation", "volatility"))


def _make_rating_category_columns() -> tuple[sa.Column[Any], ...]:
    """Return new columns, part of a primary key, for the fields of `rating.rater.RatingCategory`: game, map and so on."""
    return (
        sa.Column("game", sa.String(64), primary_key=True),
        sa.Column("season", sa.Integer, primary_key=True, server_default="1"),
        sa.Column("map", sa.String(128), primary_key=True, server_default=""),
        sa.Column("time_control", sa.String(64), primary_key=True, server_default=""),
    )


def _make_count_column(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=False)


matches = sa.Table(
    "matches",
    metadata,
    # Events are keyed by this number, so the events of current matches share database pages. Keyed by the match's id,
    # the events of each match would be in a page of their own.
    sa.Column("number", ROW_NUMBER_TYPE, primary_key=True),
    sa.Column("match", MATCH_ID_TYPE, nullable=False, unique=True),
    sa.Column("event", sa.String(128), nullable=False),
    sa.Column("game", sa.String(64), nullable=False),
    sa.Column("maxie", sa.String(64), nullable=False),
    sa.Column("minnie", sa.String(64), nullable=False),
    sa.Column("terms", sa.Text, nullable=False),  # match.terms as JSON; empty once `records` has them
    sa.Column("started", sa.String(32), nullable=False),  # ISO 8601, UTC
    sa.Column("rated", sa.Boolean, nullable=False, server_default=sa.false()),
    # End time in the format of `database.format_current_time`; null until the end.
    sa.Column("finished", sa.String(32), nullable=True),
    # True once server.store.aggregates.match_counting has counted the match.
    sa.Column("counted", sa.Boolean, nullable=False, server_default=sa.false()),
    # Name of the server that plays the match, and resumes it after a restart.
    sa.Column("server", sa.String(64), nullable=False, server_default=""),
    # This and all following columns are set at the end of the match. `arrival` numbers the finished matches in the
    # order in which the store received them.
    sa.Column("arrival", ROW_NUMBER_TYPE, nullable=True),
    sa.Column("map", sa.Text, nullable=True),  # empty if the game has none
    sa.Column("time_control", sa.Text, nullable=True),
    sa.Column("plies", sa.Integer, nullable=True),
    sa.Column("winner", sa.String(8), nullable=True),  # protocol.values.Seat; null if nobody won
    sa.Column("reason", sa.String(32), nullable=True),  # protocol.codes.EndReason
    sa.Column("detail", sa.Text, nullable=True),
    # Hash from server.store.finished_matches.compute_match_digest, for a rated match.
    sa.Column("played", sa.LargeBinary, nullable=True),
    sa.Column("opening", sa.String(16), nullable=True),  # server.store.finished_matches.make_opening_key
)


def _add_partial_index(name: str, condition: str, *columns: sa.Column[Any]) -> sa.Index:
    """Return a new index, added to the table of `columns`, on the rows for which the SQL text `condition` is true."""
    where = sa.text(condition)
    return sa.Index(name, *columns, sqlite_where=where, postgresql_where=where)


_FINISHED_MATCH_CONDITION = "finished IS NOT NULL"
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
    _add_partial_index(f"ix_matches_{_name}", _FINISHED_MATCH_CONDITION, *_columns, matches.c.number)
_add_partial_index("ix_matches_arrival", _FINISHED_MATCH_CONDITION, matches.c.arrival)
UNCOUNTED_MATCHES_INDEX = _add_partial_index(
    "ix_matches_uncounted", "finished IS NOT NULL AND NOT counted", matches.c.arrival
)
_add_partial_index("ix_matches_played", "played IS NOT NULL", matches.c.played)
_add_partial_index("ix_matches_open", "finished IS NULL", matches.c.event, matches.c.started)

ARRIVAL_SEQUENCE = sa.Sequence("matches_arrival", metadata=metadata)
"""PostgreSQL sequence of arrival numbers (`matches.arrival`), in the order in which the store received finished matches.

On SQLite, which has a single writer, the next number is the maximum in the table plus one.
"""

records = sa.Table(  # packed data of finished matches: server.store.packing
    "records",
    metadata,
    sa.Column("number", ROW_NUMBER_TYPE, sa.ForeignKey("matches.number"), primary_key=True),
    sa.Column("packed", sa.LargeBinary, nullable=False),
    sa.Column("whole", sa.Boolean, nullable=False),  # true if terms and events are included
)
_add_partial_index("ix_records_not_whole", "NOT whole", records.c.number)

events = sa.Table(  # events of matches not fully packed in `records`: server.store.journal.changes
    "events",
    metadata,
    sa.Column("number", ROW_NUMBER_TYPE, sa.ForeignKey("matches.number"), primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True),  # number of the last event in the row
    sa.Column("event", sa.Text, nullable=False),  # match.referee_events.encode_journal_row: JSON
)

ladders = sa.Table(  # plans of ladders and events, needed to resume them: server.store.ladders
    "ladders",
    metadata,
    sa.Column("event", sa.String(128), primary_key=True),
    sa.Column("uid", sa.String(32), nullable=False),  # unique id, from which its match ids are derived
    # Kind of the event: `ladder` or `match` if a command plays it, `event` if a server does.
    sa.Column("kind", sa.String(16), nullable=False),
    # True if the user chose the event's name; otherwise it is generated.
    sa.Column("named", sa.Boolean, nullable=False),
    sa.Column("plan", sa.Text, nullable=False),  # JSON
    sa.Column("started", sa.String(32), nullable=False),
    sa.Column("finished", sa.String(32), nullable=True),
    # Server that plays the ladder or event; empty for ladders begun by older versions.
    sa.Column("server", sa.String(64), nullable=False, server_default=""),
)

requests = sa.Table(  # requests of the host, the person who runs the server, to the running server: server.store.requests
    "requests",
    metadata,
    sa.Column("number", ROW_NUMBER_TYPE, primary_key=True),
    sa.Column("server", sa.String(64), nullable=False),
    sa.Column("request", sa.Text, nullable=False),  # JSON: server.core.inputs.StoredRequest
    sa.Column("answer", sa.Text, nullable=True),
    sa.Column("done", sa.Boolean, nullable=True),  # false if it was refused
    sqlite_autoincrement=True,  # never reuse a number: servers remember those they have handled
)

tokens = sa.Table(
    "tokens",
    metadata,
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("hash", sa.String(64), nullable=False),  # SHA-256 of the token, in hexadecimal
    sa.Column("role", sa.String(16), nullable=False),  # protocol.values.Role
    sa.Column("owner", sa.String(64), nullable=False),  # owner of the bot: the name itself, or a person
    sa.Column("created", sa.String(32), nullable=False),
    sa.Column("rotated", sa.String(32), nullable=True),
    sa.Column("revoked", sa.String(32), nullable=True),
)

invitations = sa.Table(  # codes for registering names: server.store.invitations
    "invitations",
    metadata,
    sa.Column("hash", sa.String(64), primary_key=True),  # SHA-256 of the code
    sa.Column("owner", sa.String(64), nullable=False),
    sa.Column("bots", sa.Integer, nullable=False),  # maximum number of bots
    sa.Column("expires", sa.String(32), nullable=False),  # in the format of `database.format_current_time`
)

directives = sa.Table(  # bans, kicks and notices of the host, for all servers: server.store.directives
    "directives",
    metadata,
    sa.Column("kind", sa.String(8), primary_key=True),  # server.store.directives.DirectiveKind
    sa.Column("subject", sa.String(64), primary_key=True),  # a name or a network; empty for a notice
    sa.Column("text", sa.Text, nullable=False),  # the reason of a ban, or the notice
    # End time in the format of `database.format_current_time`; empty if the directive does not end.
    sa.Column("until", sa.String(32), nullable=False),
)

servers = sa.Table(  # leases: server.store.lease
    "servers",
    metadata,
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("number", sa.Integer, nullable=False),  # fencing token, which increases with every holder
    # Process that holds the lease: the four fields of a processes.identity.ProcessIdentity.
    sa.Column("host", sa.String(255), nullable=False),
    sa.Column("pid", sa.Integer, nullable=False),
    sa.Column("place", sa.String(128), nullable=False),
    sa.Column("started", sa.String(32), nullable=False),
    # Times of acquisition, last renewal and expiry, in seconds since 1970 by the database's clock.
    sa.Column("since", sa.Double, nullable=False),
    sa.Column("renewed", sa.Double, nullable=False),
    sa.Column("until", sa.Double, nullable=False),
)

sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("server", sa.String(64), primary_key=True),  # server that accepted the bot
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("hash", sa.String(64), nullable=False),  # SHA-256 of the session's secret
    # number of the last match that began before the session
    sa.Column("since", ROW_NUMBER_TYPE, nullable=False),
)

addresses = sa.Table(  # days on which a bot played from an address: server.store.address_uses
    "addresses",
    metadata,
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("day", sa.String(10), primary_key=True),  # ISO 8601, UTC
    sa.Column("hash", sa.String(64), primary_key=True),  # HMAC-SHA256, in hexadecimal
)

rating_steps = sa.Table(  # two rows per rated match and category: server.store.aggregates.match_counting
    "rating_steps",
    metadata,
    sa.Column("match", MATCH_ID_TYPE, sa.ForeignKey("matches.match"), primary_key=True),
    sa.Column("seat", sa.String(8), primary_key=True),
    *_make_rating_category_columns(),
    sa.Column("bot", sa.String(64), nullable=False),
    sa.Column("finished", sa.String(32), nullable=False),
    sa.Column("outcome", sa.String(8), nullable=False),  # rating.rater.RatedOutcome
    sa.Column("forfeit", sa.Boolean, nullable=False),
    *_make_rating_columns(),
    sa.Column("arrival", ROW_NUMBER_TYPE, nullable=False, server_default="0"),  # arrival number of the match
    sa.Column("crash", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Index("ix_rating_steps_bot", "bot", "arrival"),
)

# The following tables do not refer to rows of `matches`, so they remain correct when matches are removed.

standings = sa.Table(  # a bot's rating and number of results in a category
    "standings",
    metadata,
    *_make_rating_category_columns(),
    sa.Column("bot", sa.String(64), primary_key=True),
    *_make_rating_columns(),
    *(_make_count_column(name) for name in ("matches", "wins", "draws", "losses", "forfeits")),
    sa.Column("last", sa.String(32), nullable=False),  # end of its last rated match
    sa.Column("crashes", sa.BigInteger, nullable=False, server_default="0"),
    sa.Index("ix_standings_rating", "game", "season", "map", "time_control", "rating", "last"),
    sa.Index("ix_standings_bot", "bot"),
)

seasons = sa.Table(  # closed seasons; the running one of a game has the next number
    "seasons",
    metadata,
    sa.Column("game", sa.String(64), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("name", sa.String(64), nullable=False),
    sa.Column("closed", sa.String(32), nullable=False),  # in the format of `database.format_current_time`
    sa.UniqueConstraint("game", "name"),
)

crosses = sa.Table(  # score of a bot against another in rated matches of a category
    "crosses",
    metadata,
    *_make_rating_category_columns(),
    sa.Column("bot", sa.String(64), primary_key=True),
    sa.Column("opponent", sa.String(64), primary_key=True),
    *(_make_count_column(name) for name in ("wins", "draws", "losses")),
)

rating_bases = sa.Table(  # ratings as of the last removed match, for recomputing later ones
    "rating_bases",
    metadata,
    *_make_rating_category_columns(),
    sa.Column("bot", sa.String(64), primary_key=True),
    *_make_rating_columns(),
    sa.Column("last", sa.String(32), nullable=False),
)

event_totals = sa.Table(  # number of counted matches of an event
    "event_totals",
    metadata,
    sa.Column("event", sa.String(128), primary_key=True),
    _make_count_column("matches"),
)

event_bots = sa.Table(  # number of counted matches by event and bot
    "event_bots",
    metadata,
    sa.Column("event", sa.String(128), primary_key=True),
    sa.Column("bot", sa.String(64), primary_key=True),
    _make_count_column("matches"),
    sa.Index("ix_event_bots_matches", "event", "matches"),
)

event_scores = sa.Table(  # number of counted matches by event, players and result
    "event_scores",
    metadata,
    sa.Column("event", sa.String(128), primary_key=True),
    sa.Column("maxie", sa.String(64), primary_key=True),
    sa.Column("minnie", sa.String(64), primary_key=True),
    sa.Column("winner", sa.String(8), primary_key=True),  # empty if nobody won
    sa.Column("reason", sa.String(32), primary_key=True),
    _make_count_column("matches"),
)
