from __future__ import annotations

import sqlalchemy as sa

from arena.match.referee_events import MoveReceived
from arena.server.store.aggregates.match_counting import add_new_matches_to_aggregates
from arena.server.store.database import open_store
from arena.server.store.finished_matches import load_record_line
from arena.server.store.journal.reader import load_events_of_match
from arena.server.store.match_search import SearchFilter, search_matches
from arena.server.store.queries import load_event_table, load_rating_tables
from arena.server.store.schema import event_totals
from arena.server.web.match_log import load_match_log
from benchmarks.kit.filled_store import (
    BOT_COUNT,
    EVENT_NAME,
    PLIES_PER_MATCH,
    fill_store,
    give_matches_own_records,
)
from tests.server.played import MAXIE_WINS, day, events, store_match

COUNT = 700


async def test_a_store_that_was_filled_is_one_that_a_server_could_have_written(database: str) -> None:
    async with open_store(database) as engine:
        await fill_store(engine, COUNT)
        async with engine.connect() as connection:
            total = await connection.scalar(sa.select(sa.func.sum(event_totals.c.matches)))
        assert total == COUNT
        shown = (await search_matches(engine, SearchFilter(), 50)).matches
        assert len(shown) == 50
        happened = await load_events_of_match(engine, shown[0].match)
        assert (
            sum(isinstance(event, MoveReceived) for _, event in happened)
            == PLIES_PER_MATCH
            == shown[0].ply_count
        )
        assert await load_record_line(engine, shown[0].match)
        name = shown[1].match
        await give_matches_own_records(engine, [name])
        log = await load_match_log(engine, name[:16])
        assert (log.match, log.maxie) == (name, shown[1].players.maxie)
        assert sum(step.ply is not None for step in log.timeline_entries) == PLIES_PER_MATCH
        assert f'"match":"{name}"' in (await load_record_line(engine, name) or "")
        tables = await load_rating_tables(engine)
        assert len({each.bot for each in tables.rating_rows}) == BOT_COUNT
        assert sum(each.matches for each in tables.rating_rows) == 2 * (COUNT - COUNT // 10)
        assert await load_event_table(engine, EVENT_NAME)
        # What is counted afterwards goes on from there.
        assert await add_new_matches_to_aggregates(engine) == 0
        await store_match(engine, day(1), events(MAXIE_WINS), maxie="bot 1", minnie="bot 2")
        assert await add_new_matches_to_aggregates(engine) == 1
