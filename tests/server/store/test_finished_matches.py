from __future__ import annotations

from sqlalchemy.ext.asyncio import AsyncEngine

from arena.protocol.codes import EndReason
from arena.protocol.record import Record, Result, to_line
from arena.server.store import finished_matches
from arena.server.store.finished_matches import (
    find_record,
    load_record,
    make_summary_columns,
)
from arena.server.store.match_search import SearchFilter, search_matches
from tests.server.matches import record
from tests.server.played import MAXIE_WINS, MINNIE_WINS, day, events, keep


async def test_the_summary_of_a_match_agrees_with_its_record(engine: AsyncEngine) -> None:
    stored = await keep(engine, day(1), events(MINNIE_WINS))
    (shown,) = (await search_matches(engine, SearchFilter(), 5)).matches
    assert await load_record(engine, stored.match) == to_line(stored)
    assert await load_record(engine, "another") is None
    assert (shown.match, shown.event, shown.game, shown.players) == (
        stored.match,
        "test",
        "tictactoe",
        stored.players,
    )
    assert (shown.finished, shown.plies, shown.result) == (day(1), len(stored.moves), stored.result)
    assert (shown.map, shown.time_control) == ("", stored.time_control)


def test_text_that_is_too_long_or_not_storable_is_cut() -> None:
    plain_record = record(game="riskless")
    long = Record(
        **{name: getattr(plain_record, name) for name in Record.__struct_fields__}
        | {"setup": {"map": "m\0" * 200}, "result": Result(None, EndReason.BOARD_FULL, "x" * 5000)}
    )
    shown = make_summary_columns(long)
    assert len(shown["map"]) == finished_matches.MAX_TEXT_LENGTHS["map"]
    assert "\0" not in shown["map"]
    assert len(shown["detail"]) == finished_matches.MAX_TEXT_LENGTHS["detail"]
    assert (
        make_summary_columns(
            Record(**{**{n: getattr(plain_record, n) for n in Record.__struct_fields__}, "setup": {"map": 7}})
        )["map"]
        == ""
    )


async def test_a_record_is_found_by_the_beginning_of_its_id_if_no_other_id_begins_so(
    engine: AsyncEngine,
) -> None:
    one, two = [
        to_line(await keep(engine, day(1), events(MAXIE_WINS), match=match))
        for match in ("0123a" + "0" * 27, "0123b" + "0" * 27)
    ]
    assert await find_record(engine, "0123a" + "0" * 27) == (one, True)
    assert await find_record(engine, "0123a") == (one, False)
    assert await find_record(engine, "0123b") == (two, False)
    assert await find_record(engine, "0123") == (None, False), "two ids begin so"
    assert await find_record(engine, "0124") == (None, False)
    assert await find_record(engine, "012") == (None, True), "too short"
