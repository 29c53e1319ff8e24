from __future__ import annotations

import msgspec
import pytest
import sqlalchemy as sa
from msgspec.structs import asdict, replace
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.protocol.codes import EndReason
from arena.protocol.record import (
    MAX_RECORD_BYTES,
    BadRecord,
    Record,
    RecordedMove,
    Result,
    format_record_line,
    parse_record_line,
)
from arena.protocol.values import Players, Thinking
from arena.server.store import archive, schema
from arena.server.store.aggregates.match_counting import add_new_matches_to_aggregates
from arena.server.store.aggregates.rating_verification import verify_ratings
from arena.server.store.aggregates.ratings import load_rating_rows
from arena.server.store.archive import ArchivedMatch, ImportResult, export_archive_lines, parse_archive_line
from arena.server.store.database import open_store
from testkit.stored_records import import_record_lines, load_event_records
from tests.server.matches import record
from tests.server.played import FAILS, MAXIE_WINS, MINNIE_WINS, NO_SHOW, RESIGNS, day, events, store_match


async def export_all(engine: AsyncEngine, event: str | None = None) -> list[bytes]:
    return [line.encode() async for line in export_archive_lines(engine, event)]


def encode_line(kept: Record) -> bytes:
    return format_record_line(kept).encode()


async def fill_store(engine: AsyncEngine) -> list[Record]:
    kinds = [events(MAXIE_WINS), events((4,), RESIGNS), events((), NO_SHOW), events((4,), FAILS)]
    return [
        await store_match(
            engine, day(9 - number), kind, rated=number != 1, event="one" if number else "other"
        )
        for number, kind in enumerate(kinds)
    ]


async def test_export_and_import_keep_records_and_ratings(engine: AsyncEngine, other_database: str) -> None:
    async with open_store(other_database) as other:
        records = await fill_store(engine)
        lines = await export_all(engine)
        assert [parse_record_line(each) for each in lines] == records
        assert await import_record_lines(other, lines, counts_rated_matches=True) == ImportResult(
            added_count=4
        )
        assert await export_all(other) == lines
        assert await load_event_records(other, "other") == records[:1]
        for each in (engine, other):
            await add_new_matches_to_aggregates(each)
        assert await load_rating_rows(other) == await load_rating_rows(engine) != []
        assert (await verify_ratings(other)).imported_match_count == 3


async def test_matches_of_one_event_are_exported_without_those_in_progress(
    engine: AsyncEngine,
) -> None:
    records = await fill_store(engine)
    await store_match(engine, day(20), events((4,)))
    change = sa.update(schema.matches).where(schema.matches.c.finished == day(20))
    async with engine.begin() as connection:
        await connection.execute(change.values(finished=None, arrival=None))
    assert len(await export_all(engine)) == 4
    assert [parse_record_line(each) for each in await export_all(engine, "other")] == records[:1]


async def test_imported_matches_are_unrated_unless_the_host_trusts_the_file(engine: AsyncEngine) -> None:
    forged = [
        record(f"{number:032}", maxie="me", winner="maxie", reason=EndReason.LINE, moves=MAXIE_WINS)
        for number in range(61)
    ]
    lines = [msgspec.json.encode(ArchivedMatch(**asdict(each), rated=True)) for each in forged]
    assert (await import_record_lines(engine, lines)).added_count == 61
    assert await add_new_matches_to_aggregates(engine) == 0
    assert await load_rating_rows(engine) == []
    assert (await import_record_lines(engine, lines, counts_rated_matches=True)).unchanged_count == 61
    assert await add_new_matches_to_aggregates(engine) == 0


async def test_importing_twice_changes_nothing(engine: AsyncEngine) -> None:
    lines = [
        encode_line(record("a" * 32)),
        encode_line(record("b" * 32)),
        b"\n",
        encode_line(record("a" * 32)),
    ]
    assert await import_record_lines(engine, lines) == ImportResult(added_count=2, unchanged_count=1)
    before = await export_all(engine)
    assert await import_record_lines(engine, lines) == ImportResult(added_count=0, unchanged_count=3)
    assert await export_all(engine) == before


async def test_lines_of_several_transactions_are_all_imported(engine: AsyncEngine) -> None:
    lines = [
        encode_line(record(f"{number:032}"))
        for number in range(2 * archive.IMPORTED_MATCHES_PER_TRANSACTION + 5)
    ]
    counts = await import_record_lines(engine, [*lines, lines[0]])
    assert (counts.added_count, counts.unchanged_count, counts.reason_by_rejected_line) == (len(lines), 1, {})


async def test_bad_lines_are_reported_and_the_others_imported(engine: AsyncEngine) -> None:
    await import_record_lines(engine, [encode_line(record("known"))])
    running = await store_match(engine, day(1), events((4,)), match="running")
    async with engine.begin() as connection:
        change = sa.update(schema.matches).where(schema.matches.c.match == "running")
        await connection.execute(change.values(finished=None, arrival=None))
        await connection.execute(sa.delete(schema.records).where(schema.records.c.number > 1))
    counts = await import_record_lines(
        engine,
        [
            b"{}",
            encode_line(record("good")),
            encode_line(replace(record("known"), event="changed")),
            encode_line(running),
            encode_line(record("liar", moves=MAXIE_WINS, winner="minnie", reason=EndReason.LINE)),
        ],
    )
    assert counts.added_count == 1
    assert {number: why for number, why in counts.reason_by_rejected_line.items() if number > 1} == {
        3: "match known is already in the store, with a different record",
        4: "match running is in progress in this store",
        5: "match liar: the record says that minnie wins (line), but its moves say that maxie wins (line)",
    }
    assert counts.reason_by_rejected_line[1].startswith("not a record: ")


def test_a_missing_end_time_is_computed_from_the_moves() -> None:
    slow = replace(record(), moves=[RecordedMove(4, 61_500.0)], started="2026-11-20T12:00:00Z")
    assert parse_archive_line(encode_line(slow)).finished == "2026-11-20T12:01:01.500Z"
    assert parse_archive_line(encode_line(slow)).rated is False


_GOOD = record("good", moves=MINNIE_WINS, winner="minnie", reason=EndReason.LINE)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"match": "a\0b"}, "`match` must be"),
        ({"match": ""}, "`match` must be"),
        ({"match": "m" * 65}, "`match` must be"),
        ({"event": "e" * 129}, "`event` must be at most 128"),
        ({"event": "line\nbreak"}, "`event` must be at most 128 printable characters, not .line"),
        ({"game": "g" * 65}, "`game` must be 1 to 64"),
        ({"game": "chess"}, "no game is called"),
        ({"players": Players("anna", " bert")}, "player's name"),
        ({"players": Players("anna", "b" * 65)}, "player's name"),
        ({"started": "yesterday"}, "`started` must be a time in UTC"),
        ({"started": "2026-11-20T25:00:00Z"}, "`started` must be a time in UTC"),
        ({"started": "2026-11-20T12:00:00+01:00"}, "`started` must be a time in UTC"),
        ({"finished": "2026-11-20T12:00:00Z"}, "`finished` must be a time in UTC"),
        (
            {"finished": "9999-11-20T12:00:00.000Z"},
            r"`finished` \(9999-\S+\) is more than 24 hours in the future",
        ),
        ({"finished": "2019-12-31T23:59:59.999Z"}, r"`finished` \(2019-\S+\) is before 2020"),
        ({"started": "2019-12-31T23:59:59Z"}, r"`started` \(2019-\S+\) is before 2020"),
        ({"started": "9999-12-31T23:59:59Z"}, r"`started` \(9999-\S+\) is more than 24 hours in the future"),
        (
            {"moves": [RecordedMove(each, 1e12) for each in MINNIE_WINS]},
            r"the end of its moves \(\S+\) is more than 24 hours in the future",
        ),
        (
            {"moves": [RecordedMove(each, 1e300) for each in MINNIE_WINS]},
            "the times of its moves put its end after the year 9999",
        ),
        ({"time_control": "1 hour"}, "not a time control"),
        ({"result": Result("maxie", EndReason.LINE)}, "its moves say that minnie wins"),
        ({"format": "arena-record/2"}, "not a record"),
    ],
)
def test_records_that_cannot_be_stored_or_break_the_rules_are_refused(
    change: dict[str, object], why: str
) -> None:
    whole = ArchivedMatch(**{**asdict(_GOOD), **change})
    with pytest.raises(BadRecord, match=why):
        parse_archive_line(msgspec.json.encode(whole))


@pytest.mark.parametrize("junk", [b"\xff\xfe", b"[" * 100_000, b'{"match": "\\ud800"}', b"null"])
def test_a_line_that_is_not_a_json_record_is_refused(junk: bytes) -> None:
    with pytest.raises(BadRecord, match="not a record"):
        parse_archive_line(junk)


def test_invalid_moves_in_the_lines_of_a_record_are_left_out() -> None:
    long_record = record("long", moves=[4, 0])
    lines = [Thinking(depth=2, line=["x" * 10_000]), Thinking(depth=1, line=[0, "x"])]
    moves = [replace(move, thinking=each) for move, each in zip(long_record.moves, lines, strict=True)]
    archived = parse_archive_line(encode_line(replace(long_record, moves=moves)))
    assert [move.thinking for move in archived.moves] == [Thinking(depth=2), Thinking(depth=1, line=[0])]


def test_a_line_longer_than_any_record_is_refused() -> None:
    with pytest.raises(BadRecord, match="too long for a record"):
        parse_archive_line(encode_line(record("long")) + b" " * MAX_RECORD_BYTES)
