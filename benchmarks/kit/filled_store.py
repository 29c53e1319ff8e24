"""Empty databases of each kind, and stores with very many finished matches.

The database itself generates these matches from a few samples, because inserting them one by one would take too long.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import sqlalchemy as sa
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from arena.match.terms import encode_terms
from arena.protocol.record import format_record_line
from arena.protocol.values import Players
from arena.server.store import schema
from arena.server.store.database import create_or_migrate_store, make_engine
from arena.server.store.packing import PackableMatch, pack_match
from testkit.sample_match import make_sample_match, make_terms_json
from testkit.tools import find_postgresql_folder
from tests.server.databases import running_postgresql

STORE_KIND_TITLES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
"""Name of each kind of store for reports, by URL scheme."""
BOT_COUNT = 40
"""Number of bots in the generated matches. In one match in ten, a guest plays against a bot."""
OPENING_COUNT = 200
"""Number of different openings among the generated matches."""
EVENT_NAME, LADDER_COUNT = "serve", 200
"""Events of the generated matches: four in five matches belong to EVENT_NAME.

The others are divided among LADDER_COUNT ladders, with the names `ladder 0`, `ladder 1` ….
"""
PLIES_PER_MATCH = 100
"""Number of plies of each generated match."""
SAMPLE_RECORD_COUNT = 16
"""Number of different match records. Every generated match has a copy of one of these records."""
MATCHES_PER_STATEMENT = 50_000
"""Number of matches that one SQL statement inserts."""
MATCH_INTERVAL_SECONDS = 20
"""Seconds from the end of one generated match to the end of the next, by the times in the store."""


@contextmanager
def create_database(store_kind: str) -> Iterator[str]:
    """Create an empty database, yield its URL, and delete the database at the end of the `with` block.

    store_kind: `sqlite` or `postgresql`. Raises RuntimeError if this machine has no PostgreSQL.
    """
    if store_kind == "sqlite":
        with tempfile.TemporaryDirectory(prefix="arena-store-") as folder:
            yield f"sqlite:///{folder}/arena.db"
        return
    binaries = find_postgresql_folder()
    if binaries is None:
        raise RuntimeError("there is no PostgreSQL on this machine: install it, with its program initdb")
    with running_postgresql(binaries, lasting=True) as postgresql:
        yield postgresql.new_database()


async def create_filled_store(database_url: str, match_count: int) -> None:
    """Create a store with `match_count` finished matches, their compressed event logs, and the ratings and totals.

    database_url: URL of an empty database
    """
    engine = make_engine(database_url, is_durable=False)
    try:
        await create_or_migrate_store(engine)
        await fill_store(engine, match_count)
    finally:
        await engine.dispose()


async def fill_store(engine: AsyncEngine, match_count: int) -> None:
    """Insert `match_count` finished matches into an empty store, with their compressed event logs, their ratings and totals.

    One match in ten is an unrated match of a guest. All matches copy the record and event log of one of a few samples.
    """
    kind = engine.dialect.name
    sample_rows = []
    for seed in range(SAMPLE_RECORD_COUNT):
        match = make_sample_match(PLIES_PER_MATCH, seed)
        match_data = PackableMatch(
            format_record_line(match.record), make_terms_json(match), match.journal_rows
        )
        sample_rows.append({"place": seed, "packed": pack_match(match_data)})
    async with engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        if kind == "sqlite":
            # The store need not survive a crash.
            await connection.exec_driver_sql("PRAGMA journal_mode=OFF")
        table = f"CREATE TEMPORARY TABLE samples (place INTEGER PRIMARY KEY, packed {_BLOB_TYPE_SQL[kind]})"
        await connection.execute(sa.text(table))
        await connection.execute(sa.text("INSERT INTO samples VALUES (:place, :packed)"), sample_rows)
        first = int(time.time()) - MATCH_INTERVAL_SECONDS * match_count
        for low in range(1, match_count + 1, MATCHES_PER_STATEMENT):
            variables = {"low": low, "high": min(low + MATCHES_PER_STATEMENT - 1, match_count)}
            await connection.execute(sa.text(_make_insert_matches_sql(kind)), variables | {"first": first})
            for statement in (_INSERT_RECORDS_SQL, *_INSERT_RATING_STEPS_SQL):
                await connection.execute(sa.text(statement), variables)
        for statement in _INSERT_AGGREGATES_SQL:
            await connection.execute(sa.text(statement))
        await _advance_id_sequences(connection)
        # On a store that has grown over months, PostgreSQL has done this by itself for almost all rows.
        await connection.exec_driver_sql("ANALYZE" if kind == "sqlite" else "VACUUM ANALYZE")
        if kind == "sqlite":
            await connection.exec_driver_sql("PRAGMA journal_mode=WAL")


async def give_matches_own_records(engine: AsyncEngine, match_ids: Sequence[str]) -> None:
    """Give each of the matches `match_ids` a record of its own, with its id and players, in place of the shared sample."""
    columns = schema.matches.c
    query = sa.select(columns.number, columns.match, columns.event, columns.maxie, columns.minnie)
    async with engine.begin() as connection:
        for row in (await connection.execute(query.where(columns.match.in_(match_ids)))).all():
            sample = make_sample_match(PLIES_PER_MATCH, row.number % SAMPLE_RECORD_COUNT)
            players = Players(row.maxie, row.minnie)
            fields = {"match": row.match, "event": row.event, "players": players}
            terms, record = replace(sample.terms, **fields), replace(sample.record, **fields)
            packed = pack_match(
                PackableMatch(format_record_line(record), encode_terms(terms), sample.journal_rows)
            )
            change = sa.update(schema.records).where(schema.records.c.number == row.number)
            await connection.execute(change.values(packed=packed))


_BLOB_TYPE_SQL = {"sqlite": "BLOB", "postgresql": "BYTEA"}
_MATCH_ID_SQL = {"sqlite": "lower(hex(randomblob(16)))", "postgresql": "md5(i::text)"}
_MOVES_DIGEST_SQL = {"sqlite": "randomblob(16)", "postgresql": "decode(md5(i::text), 'hex')"}
_MATCH_TIME_SQL = {
    "sqlite": f"strftime('%Y-%m-%dT%H:%M:%S.000Z', :first + i * {MATCH_INTERVAL_SECONDS}, 'unixepoch')",
    "postgresql": f"to_char(to_timestamp(:first + i * {MATCH_INTERVAL_SECONDS}) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\".000Z\"')",
}


def _make_insert_matches_sql(dialect: str) -> str:
    maxie = f"CASE WHEN i % 10 = 0 THEN 'guest ' || (i / 30) ELSE 'bot ' || (i % {BOT_COUNT}) END"
    minnie = f"'bot ' || ((i % {BOT_COUNT} + 1 + i % {BOT_COUNT - 1}) % {BOT_COUNT})"
    return (
        "INSERT INTO matches (number, match, event, game, maxie, minnie, terms, started, rated, finished, counted,"
        " server, arrival, map, time_control, plies, winner, reason, detail, played, opening)"
        " WITH RECURSIVE series (i) AS (SELECT CAST(:low AS INTEGER) UNION ALL SELECT i + 1 FROM series WHERE i < :high)"
        f" SELECT i, {_MATCH_ID_SQL[dialect]}, CASE WHEN i % 5 = 1 THEN 'ladder ' || (i % {LADDER_COUNT}) ELSE '{EVENT_NAME}' END,"
        f" CASE WHEN i % 7 = 0 THEN 'tictactoe' ELSE 'riskless' END, {maxie}, {minnie}, '', {_MATCH_TIME_SQL[dialect]}, i % 10 <> 0,"
        f" {_MATCH_TIME_SQL[dialect]}, true, '', i, 'm2', '10+0.1', {PLIES_PER_MATCH},"
        " CASE i % 3 WHEN 0 THEN 'maxie' WHEN 1 THEN 'minnie' END,"
        " CASE i % 3 WHEN 2 THEN 'ply_limit' ELSE 'armies' END, '',"
        f" CASE WHEN i % 10 <> 0 THEN {_MOVES_DIGEST_SQL[dialect]} END, CAST(i % {OPENING_COUNT} AS VARCHAR(16)) FROM series"
    )


def _make_insert_rating_steps_sql(seat: str) -> str:
    won = f"CASE WHEN winner IS NULL THEN 'draw' WHEN winner = '{seat}' THEN 'win' ELSE 'loss' END"
    return (
        "INSERT INTO rating_steps (match, seat, game, bot, finished, outcome, forfeit, rating, deviation, volatility, arrival)"
        f" SELECT match, '{seat}', game, {seat}, finished, {won}, false, 1400 + number % 200, 60, 0.06, arrival"
        " FROM matches WHERE rated AND number BETWEEN :low AND :high"
    )


_INSERT_RATING_STEPS_SQL = (_make_insert_rating_steps_sql("maxie"), _make_insert_rating_steps_sql("minnie"))
_INSERT_RECORDS_SQL = (
    "INSERT INTO records (number, packed, whole) SELECT number, samples.packed, true FROM matches"
    f" JOIN samples ON place = number % {SAMPLE_RECORD_COUNT} WHERE number BETWEEN :low AND :high"
)


def _make_scores_query_sql(seat: str, other_seat: str) -> str:
    won = f"CASE WHEN winner IS NULL THEN 0 WHEN winner = '{seat}' THEN 1 ELSE -1 END"
    return f"SELECT game, {seat} AS bot, {other_seat} AS opponent, {won} AS score, finished FROM matches WHERE rated"


_SCORED_MATCHES_SQL = f"({_make_scores_query_sql('maxie', 'minnie')} UNION ALL {_make_scores_query_sql('minnie', 'maxie')}) AS scored"
_SCORE_COUNTS_SQL = ", ".join(f"sum(CASE WHEN score = {score} THEN 1 ELSE 0 END)" for score in (1, 0, -1))
_INSERT_AGGREGATES_SQL = (
    (
        "INSERT INTO standings (game, bot, rating, deviation, volatility, matches, wins, draws, losses, forfeits, last)"
        f" SELECT game, bot, 1500, 60, 0.06, count(*), {_SCORE_COUNTS_SQL}, 0, max(finished) FROM {_SCORED_MATCHES_SQL} GROUP BY game, bot"
    ),
    (
        "INSERT INTO crosses (game, bot, opponent, wins, draws, losses)"
        f" SELECT game, bot, opponent, {_SCORE_COUNTS_SQL} FROM {_SCORED_MATCHES_SQL} GROUP BY game, bot, opponent"
    ),
    "INSERT INTO event_totals (event, matches) SELECT event, count(*) FROM matches GROUP BY event",
    (
        "INSERT INTO event_bots (event, bot, matches) SELECT event, bot, count(*) FROM (SELECT event, maxie AS bot FROM"
        " matches UNION ALL SELECT event, minnie FROM matches) AS seats GROUP BY event, bot"
    ),
    (
        "INSERT INTO event_scores (event, maxie, minnie, winner, reason, matches) SELECT event, maxie, minnie,"
        " coalesce(winner, ''), reason, count(*) FROM matches GROUP BY event, maxie, minnie, coalesce(winner, ''), reason"
    ),
)


async def _advance_id_sequences(connection: AsyncConnection) -> None:
    if connection.dialect.name != "postgresql":
        return
    for statement in (
        "SELECT setval(pg_get_serial_sequence('matches', 'number'), max(number)) FROM matches",
        f"SELECT setval('{schema.ARRIVAL_SEQUENCE.name}', max(arrival)) FROM matches",
    ):
        await connection.execute(sa.text(statement))
