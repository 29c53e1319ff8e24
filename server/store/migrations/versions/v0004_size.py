"""Finished matches are packed, their lists need no record, and what the page tells of many is kept.

All of it runs in one transaction. Matches are taken a few at a time, so it needs little memory however many there are;
their events are packed later, by the server, while it runs.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from time import monotonic
from typing import Any

import msgspec
import sqlalchemy as sa
from alembic import op

from arena.server.store.packing import pack_record

log = logging.getLogger("arena.schema")

revision = "0004"
down_revision = "0003"

CHUNK = 16
"""Matches that are held in memory at once: a record has a few kilobytes, and some megabytes at the most."""
TELL_SECONDS = 5.0
"""From one line about how far it is to the next."""

NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")

SHOWN = ("map", "time_control", "plies", "winner", "reason", "detail")

_matches = sa.table("matches", *(sa.column(name) for name in ("number", "record", *SHOWN)))
_records = sa.table("records", *(sa.column(name) for name in ("number", "packed", "whole")))


def upgrade() -> None:
    """Pack the records, and fill the new columns and tables from what is there."""
    connection = op.get_bind()
    for index in ("rated", "finished", "uncounted", "open", "event"):
        op.drop_index(f"ix_matches_{index}", "matches")
    for column in (
        sa.Column("arrival", NUMBER, nullable=True),
        sa.Column("map", sa.Text, nullable=True),
        sa.Column("time_control", sa.Text, nullable=True),
        sa.Column("plies", sa.Integer, nullable=True),
        sa.Column("winner", sa.String(8), nullable=True),
        sa.Column("reason", sa.String(32), nullable=True),
        sa.Column("detail", sa.Text, nullable=True),
    ):
        op.add_column("matches", column)
    op.create_table(
        "records",
        sa.Column("number", NUMBER, sa.ForeignKey("matches.number"), primary_key=True),
        sa.Column("packed", sa.LargeBinary, nullable=False),
        sa.Column("whole", sa.Boolean, nullable=False),
    )
    _pack(connection)
    op.drop_column("matches", "record")
    _order(connection)
    _create_indices()
    _create_tables()
    _fill_tables()


def _pack(connection: sa.Connection) -> None:
    total = connection.execute(sa.text("SELECT count(*) FROM matches WHERE record IS NOT NULL")).scalar_one()
    change = sa.update(_matches).where(_matches.c.number == sa.bindparam("which"))
    change = change.values({name: sa.bindparam(f"new_{name}") for name in SHOWN})
    done, tell = 0, monotonic() + TELL_SECONDS
    for rows in _finished(connection):
        connection.execute(change, [_shown(row) for row in rows])
        packed = [{"number": row.number, "packed": pack_record(row.record), "whole": False} for row in rows]
        connection.execute(sa.insert(_records), packed)
        done += len(rows)
        if monotonic() >= tell:
            tell = monotonic() + TELL_SECONDS
            log.warning(
                "bringing the store to schema 4: %s of %s matches are packed", f"{done:,}", f"{total:,}"
            )
    if total:
        log.warning("bringing the store to schema 4: all %s finished matches are packed", f"{total:,}")


def _finished(connection: sa.Connection) -> Iterator[list[Any]]:
    after = -1
    query = sa.select(_matches.c.number, _matches.c.record).where(
        _matches.c.record.is_not(None), _matches.c.number > sa.bindparam("after")
    )
    query = query.order_by(_matches.c.number).limit(CHUNK)
    while rows := list(connection.execute(query, {"after": after})):
        yield rows
        after = rows[-1].number


def _shown(row: sa.Row[Any]) -> dict[str, Any]:
    parts = msgspec.json.decode(row.record, type=dict[str, msgspec.Raw])
    setup, result = msgspec.json.decode(parts["setup"]), msgspec.json.decode(parts["result"])
    name = setup.get("map")
    texts = {
        "new_map": name[:128] if isinstance(name, str) else "",
        "new_time_control": msgspec.json.decode(parts["time_control"])[:64],
        "new_detail": result.get("detail", "")[:500],
    }
    # PostgreSQL keeps no NUL in a text.
    return {key: text.replace("\0", "\ufffd") for key, text in texts.items()} | {
        "which": row.number,
        "new_plies": len(msgspec.json.decode(parts["moves"], type=list[msgspec.Raw])),
        "new_winner": result["winner"],
        "new_reason": result["reason"],
    }


def _order(connection: sa.Connection) -> None:
    """Number the finished matches in the order in which ratings have counted them; what is not counted comes after."""
    op.execute(
        "UPDATE matches SET arrival = ranked.place FROM (SELECT number, row_number() OVER"
        " (ORDER BY CASE WHEN rated AND NOT counted THEN 1 ELSE 0 END, finished, match) AS place"
        " FROM matches WHERE finished IS NOT NULL) AS ranked WHERE ranked.number = matches.number"
    )
    if connection.dialect.name == "postgresql":
        op.execute(sa.schema.CreateSequence(sa.Sequence("matches_arrival")))
        op.execute(
            "SELECT setval('matches_arrival', coalesce(max(arrival), 1), max(arrival) IS NOT NULL) FROM matches"
        )
    # All but rated matches that are waiting were counted, or have nothing that counted until now.
    op.execute("UPDATE matches SET counted = true WHERE finished IS NOT NULL AND NOT rated AND NOT counted")


def _create_indices() -> None:
    for index, columns, condition in (
        ("finished", ["finished", "number"], "finished IS NOT NULL"),
        ("game", ["game", "finished", "number"], "finished IS NOT NULL"),
        ("maxie", ["maxie", "game", "finished", "number"], "finished IS NOT NULL"),
        ("minnie", ["minnie", "game", "finished", "number"], "finished IS NOT NULL"),
        ("event", ["event", "finished", "number"], "finished IS NOT NULL"),
        ("arrival", ["arrival"], "finished IS NOT NULL"),
        ("uncounted", ["arrival"], "finished IS NOT NULL AND NOT counted"),
        ("open", ["event", "started"], "finished IS NULL"),
    ):
        some = sa.text(condition)
        op.create_index(f"ix_matches_{index}", "matches", columns, sqlite_where=some, postgresql_where=some)
    some = sa.text("NOT whole")
    op.create_index("ix_records_not_whole", "records", ["number"], sqlite_where=some, postgresql_where=some)


def _rating() -> tuple[sa.Column[float], ...]:
    return tuple(sa.Column(name, sa.Double, nullable=False) for name in ("rating", "deviation", "volatility"))


def _counts(*names: str) -> tuple[sa.Column[int], ...]:
    return tuple(sa.Column(name, sa.BigInteger, nullable=False) for name in names)


def _key(name: str, length: int = 64) -> sa.Column[str]:
    return sa.Column(name, sa.String(length), primary_key=True)


def _create_tables() -> None:
    op.drop_index("ix_rating_steps_bot", "rating_steps")
    op.drop_index("ix_rating_steps_finished", "rating_steps")
    op.add_column("rating_steps", sa.Column("arrival", NUMBER, nullable=False, server_default="0"))
    op.execute(
        "UPDATE rating_steps SET arrival = matches.arrival FROM matches WHERE matches.match = rating_steps.match"
    )
    op.create_index("ix_rating_steps_bot", "rating_steps", ["bot", "arrival"])
    last = sa.Column("last", sa.String(32), nullable=False)
    counts = _counts("matches", "wins", "draws", "losses", "forfeits")
    op.create_table("standings", _key("game"), _key("bot"), *_rating(), *counts, last)
    op.create_index("ix_standings_rating", "standings", ["game", "rating"])
    op.create_index("ix_standings_bot", "standings", ["bot"])
    op.create_table(
        "crosses", _key("game"), _key("bot"), _key("opponent"), *_counts("wins", "draws", "losses")
    )
    op.create_table(
        "rating_bases",
        _key("game"),
        _key("bot"),
        *_rating(),
        sa.Column("last", sa.String(32), nullable=False),
    )
    op.create_table("event_totals", _key("event", 128), *_counts("matches"))
    op.create_table("event_bots", _key("event", 128), _key("bot"), *_counts("matches"))
    op.create_index("ix_event_bots_matches", "event_bots", ["event", "matches"])
    op.create_table(
        "event_scores",
        _key("event", 128),
        _key("maxie"),
        _key("minnie"),
        _key("winner", 8),
        _key("reason", 32),
        *_counts("matches"),
    )


def _fill_tables() -> None:
    def total(condition: str) -> str:
        return f"sum(CASE WHEN {condition} THEN 1 ELSE 0 END)"

    scores = ", ".join(total(f"outcome = '{each}'") for each in ("win", "draw", "loss"))
    latest = ", ".join(
        f"max(CASE WHEN back = 1 THEN {name} END)" for name in ("rating", "deviation", "volatility")
    )
    played = total("outcome <> 'none'")
    op.execute(
        "INSERT INTO standings (game, bot, rating, deviation, volatility, matches, wins, draws, losses, forfeits, last)"
        f" SELECT game, bot, {latest}, {played}, {scores}, {total('forfeit')},"
        " max(CASE WHEN back = 1 THEN finished END) FROM (SELECT *, row_number() OVER"
        " (PARTITION BY game, bot ORDER BY arrival DESC, seat DESC) AS back FROM rating_steps) AS steps GROUP BY game, bot"
    )
    mine = ", ".join(total(f"mine.outcome = '{each}'") for each in ("win", "draw", "loss"))
    op.execute(
        "INSERT INTO crosses (game, bot, opponent, wins, draws, losses)"
        f" SELECT mine.game, mine.bot, other.bot, {mine} FROM rating_steps AS mine JOIN rating_steps AS other"
        " ON other.match = mine.match AND other.seat <> mine.seat GROUP BY mine.game, mine.bot, other.bot"
    )
    op.execute(
        "INSERT INTO event_totals (event, matches) SELECT event, count(*) FROM matches WHERE counted GROUP BY event"
    )
    op.execute(
        "INSERT INTO event_bots (event, bot, matches) SELECT event, bot, count(*) FROM"
        " (SELECT event, maxie AS bot FROM matches WHERE counted"
        " UNION ALL SELECT event, minnie FROM matches WHERE counted) AS seats GROUP BY event, bot"
    )
    op.execute(
        "INSERT INTO event_scores (event, maxie, minnie, winner, reason, matches)"
        " SELECT event, maxie, minnie, coalesce(winner, ''), reason, count(*) FROM matches WHERE counted"
        " GROUP BY event, maxie, minnie, coalesce(winner, ''), reason"
    )
