from __future__ import annotations

import msgspec
import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.protocol.codes import EndReason
from arena.protocol.record import Record, RecordedMove, Result, format_record_line
from arena.protocol.values import Players
from arena.server.store import finished_matches
from arena.server.store.aggregates.match_counting import add_new_matches_to_aggregates
from arena.server.store.aggregates.ratings import load_rating_rows
from arena.server.store.database import open_store
from arena.server.store.finished_matches import (
    PLIES_IN_OPENING_KEY,
    compute_match_digest,
    find_record,
    load_record_line,
    make_match_end_values,
    make_opening_key,
)
from arena.server.store.match_search import SearchFilter, search_matches
from arena.server.store.schema import matches
from tests.server.matches import record
from tests.server.played import MAXIE_WINS, MINNIE_WINS, day, events, store_match


async def test_the_summary_of_a_match_agrees_with_its_record(engine: AsyncEngine) -> None:
    stored = await store_match(engine, day(1), events(MINNIE_WINS))
    (shown,) = (await search_matches(engine, SearchFilter(), 5)).matches
    assert await load_record_line(engine, stored.match) == format_record_line(stored)
    assert await load_record_line(engine, "another") is None
    assert (shown.match, shown.event, shown.game, shown.players) == (
        stored.match,
        "test",
        "tictactoe",
        stored.players,
    )
    assert (shown.end_time, shown.ply_count, shown.result) == (day(1), len(stored.moves), stored.result)
    assert (shown.map, shown.time_control) == ("", stored.time_control)


def test_long_text_is_truncated_and_nul_replaced() -> None:
    plain_record = record(game="riskless")
    long = Record(
        **{name: getattr(plain_record, name) for name in Record.__struct_fields__}
        | {"setup": {"map": "m\0" * 200}, "result": Result(None, EndReason.BOARD_FULL, "x" * 5000)}
    )
    shown = make_match_end_values(long)
    assert len(shown["map"]) == finished_matches.MAX_TEXT_LENGTH_BY_COLUMN["map"]
    assert "\0" not in shown["map"]
    assert len(shown["detail"]) == finished_matches.MAX_TEXT_LENGTH_BY_COLUMN["detail"]
    assert (
        make_match_end_values(
            Record(**{**{n: getattr(plain_record, n) for n in Record.__struct_fields__}, "setup": {"map": 7}})
        )["map"]
        == ""
    )


async def test_a_record_is_found_by_a_unique_prefix_of_its_id(
    engine: AsyncEngine,
) -> None:
    one, two = [
        format_record_line(await store_match(engine, day(1), events(MAXIE_WINS), match=match))
        for match in ("0123a" + "0" * 27, "0123b" + "0" * 27)
    ]
    assert await find_record(engine, "0123a" + "0" * 27) == (one, True)
    assert await find_record(engine, "0123a") == (one, False)
    assert await find_record(engine, "0123b") == (two, False)
    assert await find_record(engine, "0123") == (None, False), "two ids have this prefix"
    assert await find_record(engine, "0124") == (None, False)
    assert await find_record(engine, "012") == (None, True), "the prefix is too short"


PLAYED = msgspec.structs.replace(record(), moves=[RecordedMove(cell, 1.0) for cell in (4, 0, 8)])


def test_times_and_ids_do_not_change_the_digest() -> None:
    slower = [msgspec.structs.replace(each, ms=99.0) for each in PLAYED.moves]
    assert compute_match_digest(
        msgspec.structs.replace(PLAYED, moves=slower, match="another")
    ) == compute_match_digest(PLAYED)


@pytest.mark.parametrize(
    "other",
    [
        msgspec.structs.replace(PLAYED, moves=PLAYED.moves[:2]),
        msgspec.structs.replace(PLAYED, players=Players(PLAYED.players.minnie, PLAYED.players.maxie)),
        msgspec.structs.replace(PLAYED, players=Players(PLAYED.players.maxie, "cleo")),
        msgspec.structs.replace(PLAYED, setup={"map": "another"}),
        msgspec.structs.replace(PLAYED, result=Result("minnie", EndReason.CRASH)),
    ],
    ids=["moves", "seats", "bots", "setup", "end"],
)
def test_a_different_match_has_a_different_digest(other: Record) -> None:
    assert compute_match_digest(other) != compute_match_digest(PLAYED)


async def test_a_repeated_match_is_not_rated_even_after_a_restart(
    database: str,
) -> None:
    async with open_store(database) as engine:
        await store_match(engine, day(1), events(MAXIE_WINS), once=True)
        await store_match(engine, day(2), events(MAXIE_WINS), maxie="bert", minnie="anna", once=True)
        await store_match(engine, day(3), events(MINNIE_WINS), once=True)
        await store_match(engine, day(4), events(MAXIE_WINS), once=True)
    async with open_store(database) as engine:
        await store_match(engine, day(5), events(MAXIE_WINS), once=True)
        await add_new_matches_to_aggregates(engine)
        assert {each.bot: each.matches for each in await load_rating_rows(engine)} == {"anna": 3, "bert": 3}
        async with engine.connect() as connection:
            rated = (
                await connection.execute(sa.select(matches.c.rated).order_by(matches.c.arrival))
            ).scalars()
            assert list(rated) == [True, True, True, False, False]


MOVES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)).map(list), max_size=12)


@given(MOVES, MOVES, st.integers(0, 6))
def test_the_opening_key_depends_on_game_map_and_first_moves(
    a: list[list[int]], b: list[list[int]], opened: int
) -> None:
    count = opened or PLIES_IN_OPENING_KEY
    keys = [make_opening_key("riskless", {"map": "m2"}, moves, opened) for moves in (a, b)]
    for moves, key in zip((a, b), keys, strict=True):
        assert (key is None) == (len(moves) < count)
        if key is not None:
            assert len(key) == 16
            assert key == make_opening_key(
                "riskless", {"map": "m2", "armies_to_win": 7}, moves[:count], opened
            )
            assert key != make_opening_key("riskless", {"map": "usa"}, moves, opened)
            assert key != make_opening_key("other", {"map": "m2"}, moves, opened)
    if None not in keys:
        assert (keys[0] == keys[1]) == (a[:count] == b[:count])
