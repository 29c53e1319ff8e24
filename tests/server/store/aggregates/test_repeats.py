"""server.store.aggregates.repeats: rated matches that repeat an earlier one of the same two bots count nothing."""

from __future__ import annotations

import msgspec
import pytest
import sqlalchemy as sa

from arena.protocol.codes import EndReason
from arena.protocol.record import Record, RecordedMove, Result
from arena.protocol.values import Players
from arena.server.store.aggregates.match_counting import count_new_matches
from arena.server.store.aggregates.standings import load_standings
from arena.server.store.database import open_store
from arena.server.store.finished_matches import compute_match_digest
from arena.server.store.schema import matches
from tests.server.matches import record
from tests.server.played import MAXIE_WINS, MINNIE_WINS, day, events, keep

PLAYED = msgspec.structs.replace(record(), moves=[RecordedMove(cell, 1.0) for cell in (4, 0, 8)])


def test_times_and_what_was_thought_make_no_other_match() -> None:
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
def test_another_match_has_another_digest(other: Record) -> None:
    assert compute_match_digest(other) != compute_match_digest(PLAYED)


async def test_the_second_of_two_equal_matches_is_not_rated_and_stays_so_after_a_restart(
    database: str,
) -> None:
    async with open_store(database) as engine:
        await keep(engine, day(1), events(MAXIE_WINS), once=True)
        await keep(engine, day(2), events(MAXIE_WINS), maxie="bert", minnie="anna", once=True)
        await keep(engine, day(3), events(MINNIE_WINS), once=True)
        await keep(engine, day(4), events(MAXIE_WINS), once=True)
    async with open_store(database) as engine:
        await keep(engine, day(5), events(MAXIE_WINS), once=True)
        await count_new_matches(engine)
        assert {each.bot: each.matches for each in await load_standings(engine)} == {"anna": 3, "bert": 3}
        async with engine.connect() as connection:
            rated = (
                await connection.execute(sa.select(matches.c.rated).order_by(matches.c.arrival))
            ).scalars()
            assert list(rated) == [True, True, True, False, False]
