from __future__ import annotations

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.server.store.errors import StoreError
from arena.server.store.journal.journal import open_journal
from arena.server.store.match_packing import pack_finished_matches
from arena.server.store.stats import load_store_stats, vacuum_store_and_get_freed_bytes
from tests.server.played import MAXIE_WINS, day, events, store_match


async def test_an_empty_store_has_no_oldest_match_and_no_bytes_per_match(engine: AsyncEngine) -> None:
    counts = await load_store_stats(engine)
    assert (counts.finished_match_count, counts.current_match_count, counts.packed_match_count) == (0, 0, 0)
    assert (counts.oldest_end_time, counts.newest_end_time, counts.bytes_per_match) == (None, None, None)
    assert counts.total_bytes > 0


async def test_matches_are_counted_and_a_vacuum_packs_them(engine: AsyncEngine) -> None:
    for number in range(3):
        await store_match(engine, day(1 + number), events(MAXIE_WINS))
    before = await load_store_stats(engine)
    assert (
        before.finished_match_count,
        before.packed_match_count,
        before.oldest_end_time,
        before.newest_end_time,
    ) == (3, 0, day(1), day(3))
    await vacuum_store_and_get_freed_bytes(engine)
    after = await load_store_stats(engine)
    assert (after.finished_match_count, after.packed_match_count, after.free_bytes) == (3, 3, 0)
    assert after.bytes_by_table is not None
    assert after.bytes_by_table["records"] > 0
    if engine.dialect.name == "sqlite":
        # Pages of the database's own tables are not reported.
        assert 0 < after.total_bytes - sum(after.bytes_by_table.values()) <= 5 * 4096
    assert await pack_finished_matches(engine) == 0


async def test_a_store_in_use_is_not_vacuumed(engine: AsyncEngine) -> None:
    async with open_journal(engine, "north"):
        with pytest.raises(StoreError, match="'north' is running on this store already"):
            await vacuum_store_and_get_freed_bytes(engine)
