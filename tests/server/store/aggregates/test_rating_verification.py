from __future__ import annotations

import pytest
import sqlalchemy as sa
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.match.referee_events import MoveReceived, decode_journal_row, encode_journal_row
from arena.protocol.codes import EndReason
from arena.protocol.record import Record, Result, format_record_line
from arena.server.store import schema
from arena.server.store.aggregates import rating_verification
from arena.server.store.aggregates.match_counting import add_new_matches_to_aggregates
from arena.server.store.aggregates.rating_verification import RatingsMismatch, verify_ratings
from arena.server.store.packing import pack_record
from tests.server.played import KINDS, MAXIE_WINS, day, events, store_match


async def fill_store(engine: AsyncEngine) -> list[Record]:
    """Store and count a match with each kind of end, one per day, and return their records."""
    # The server stopped during the last match, so its journal has no end, and its record says that it is void.
    kinds = [*KINDS, events((4, 4)), events((4,))]
    records = [
        await store_match(engine, day(1 + number), kind, match=f"{number:032}")
        for number, kind in enumerate(kinds)
    ]
    await add_new_matches_to_aggregates(engine)
    return records


async def test_an_uncounted_match_is_left_out(engine: AsyncEngine) -> None:
    records = await fill_store(engine)
    await store_match(engine, day(2, second=5), events(MAXIE_WINS))
    assert (await verify_ratings(engine)).match_count == len(records)
    await add_new_matches_to_aggregates(engine)
    assert (await verify_ratings(engine)).match_count == len(records) + 1


async def test_matches_of_several_queries_are_all_recomputed(
    engine: AsyncEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(10):
        await store_match(engine, day(1), events(MAXIE_WINS), match=f"{number:032}")
    await add_new_matches_to_aggregates(engine)
    for at_once in (3, 5, 10, 11):
        monkeypatch.setattr(rating_verification, "VERIFIED_MATCHES_PER_QUERY", at_once)
        assert (await verify_ratings(engine)).match_count == 10


async def test_an_imported_match_is_replayed_from_its_record(engine: AsyncEngine) -> None:
    await fill_store(engine)
    await store_match(engine, day(20), events(MAXIE_WINS), journaled=False)
    await add_new_matches_to_aggregates(engine)
    assert (await verify_ratings(engine)).imported_match_count == 1
    bad = await store_match(engine, day(21), events(MAXIE_WINS), journaled=False)
    await add_new_matches_to_aggregates(engine)
    await _write_record(engine, replace(bad, moves=bad.moves[:-1]))
    with pytest.raises(RatingsMismatch, match=f"match {bad.match} cannot be replayed.*is not over after"):
        await verify_ratings(engine)


async def _write_record(engine: AsyncEngine, record: Record) -> None:
    number = sa.select(schema.matches.c.number).where(schema.matches.c.match == record.match)
    change = sa.update(schema.records).where(schema.records.c.number == number.scalar_subquery())
    async with engine.begin() as connection:
        await connection.execute(change.values(packed=pack_record(format_record_line(record))))


async def test_a_record_that_contradicts_its_journal_is_named(engine: AsyncEngine) -> None:
    records = await fill_store(engine)
    # Only the earlier of two changed records is named.
    for record in (records[3], records[1]):
        await _write_record(engine, replace(record, result=Result(None, EndReason.BOARD_FULL)))
    with pytest.raises(
        RatingsMismatch, match=f"match {records[1].match}: the journal says that minnie wins \\(line\\)"
    ):
        await verify_ratings(engine)


async def test_a_match_with_a_changed_event_is_named(engine: AsyncEngine) -> None:
    record = (await fill_store(engine))[2]
    mine = sa.select(schema.matches.c.number).where(schema.matches.c.match == record.match)
    which = schema.events.c.number == mine.scalar_subquery()
    async with engine.begin() as connection:
        for row in (await connection.execute(sa.select(schema.events).where(which))).all():
            for at, event in decode_journal_row(row.event):
                if isinstance(event, MoveReceived) and event.ply == 8:
                    text = encode_journal_row(at, replace(event, move=0))
                    other = which & (schema.events.c.seq == row.seq)
                    changed = sa.update(schema.events).where(other).values(event=text)
                    await connection.execute(changed)
    with pytest.raises(
        RatingsMismatch, match=f"match {record.match}: the journal says that maxie|minnie wins \\(illegal"
    ):
        await verify_ratings(engine)


STEPS, TABLE = schema.rating_steps, schema.standings
ONE_STEP = (STEPS.c.match == f"{3:032}") & (STEPS.c.seat == "minnie")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        *(
            (
                sa.update(STEPS).where(ONE_STEP).values({column: STEPS.c[column] * 1.000001}),
                f"match {3:032}: the recomputed rating of bert is .* but the stored one is",
            )
            for column in ("rating", "deviation", "volatility")
        ),
        (sa.delete(STEPS).where(ONE_STEP), "but the stored one is missing"),
        (
            sa.update(TABLE).where(TABLE.c.bot == "anna", TABLE.c.time_control == "").values(rating=1234),
            r"^anna in tictactoe: the recomputed rating is .*, but the stored one is 1234\.0000 ± ",
        ),
    ],
    ids=["rating", "deviation", "volatility", "lost", "table"],
)
async def test_a_changed_or_lost_rating_is_named(
    engine: AsyncEngine, change: sa.Executable, why: str
) -> None:
    await fill_store(engine)
    async with engine.begin() as connection:
        await connection.execute(change)
    with pytest.raises(RatingsMismatch, match=why):
        await verify_ratings(engine)
