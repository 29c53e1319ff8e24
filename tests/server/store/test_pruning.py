from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.server.store import pruning, schema
from arena.server.store.aggregates.match_counting import add_new_matches_to_aggregates
from arena.server.store.aggregates.rating_verification import verify_ratings
from arena.server.store.aggregates.ratings import load_rating_rows
from arena.server.store.database import format_current_time, open_store, redirect_transactions
from arena.server.store.directives import issue_directive
from arena.server.store.errors import OperationRefused
from arena.server.store.invitations import create_invitations
from arena.server.store.journal.journal import open_journal
from arena.server.store.ladders import claim_ladder, finish_ladder
from arena.server.store.match_packing import pack_finished_matches
from arena.server.store.match_search import SearchFilter, search_matches
from arena.server.store.pruning import BadRetention, Retention, apply_retention, prune_matches
from arena.server.store.queries import load_event_table, load_rating_tables
from testkit.stored_records import import_record_lines
from tests.server.played import MAXIE_WINS, MINNIE_WINS, NOBODY_WINS, day, events, store_match

KINDS = (MAXIE_WINS, MINNIE_WINS, NOBODY_WINS)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("90d", Retention(max_age_days=90)),
        ("1000000", Retention(max_matches=1_000_000)),
        ("0", Retention(max_matches=0)),
    ],
)
def test_a_retention_rule_is_parsed(text: str, found: Retention) -> None:
    assert Retention.parse(text) == found


@pytest.mark.parametrize(
    "text", ["", "d", "-1", "0d", "1.5d", "90 d", "90h", "1e6", "9" * 20, "99999d", "\u096fd"]
)
def test_an_invalid_retention_rule_is_refused(text: str) -> None:
    with pytest.raises(BadRetention, match="90d"):
        Retention.parse(text)


@pytest.mark.parametrize("packed", [False, True])
async def test_the_oldest_matches_are_removed_and_ratings_and_tables_stay(
    engine: AsyncEngine, *, packed: bool
) -> None:
    matches = [
        await store_match(
            engine, day(1 + number), events(KINDS[number % 3]), maxie=("anna", "carl")[number % 2]
        )
        for number in range(8)
    ]
    await add_new_matches_to_aggregates(engine)
    if packed:
        await pack_finished_matches(engine)
    before = (
        await load_rating_rows(engine),
        await load_rating_tables(engine),
        await load_event_table(engine, "test"),
    )
    assert await prune_matches(engine, Retention(max_matches=3)) == 5
    assert (
        await load_rating_rows(engine),
        await load_rating_tables(engine),
        await load_event_table(engine, "test"),
    ) == before
    shown = await search_matches(engine, SearchFilter(), 50)
    assert [each.match for each in shown.matches] == [each.match for each in matches[:4:-1]]
    assert (await verify_ratings(engine)).match_count == 3
    await store_match(engine, day(20), events(MAXIE_WINS))
    await add_new_matches_to_aggregates(engine)
    assert (await verify_ratings(engine)).match_count == 4
    assert await prune_matches(engine, Retention(max_matches=0)) == 4
    assert (await verify_ratings(engine)).match_count == 0
    async with engine.connect() as connection:
        for table in (schema.matches, schema.records, schema.events, schema.rating_steps):
            assert not (await connection.execute(sa.select(table))).all()


async def test_later_ratings_do_not_depend_on_removed_matches(
    engine: AsyncEngine, other_database: str
) -> None:
    async with open_store(other_database) as other:
        for number in range(9):
            for each in (engine, other):
                await store_match(each, day(1 + number), events(KINDS[number % 3]), match=f"{number:032}")
                await add_new_matches_to_aggregates(each)
            await prune_matches(engine, Retention(max_matches=2))
        assert await load_rating_rows(engine) == await load_rating_rows(other)


async def test_nothing_is_removed_if_the_archive_cannot_be_written(
    engine: AsyncEngine, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    await store_match(engine, day(1), events(MAXIE_WINS))
    await add_new_matches_to_aggregates(engine)
    with pytest.raises(OperationRefused, match="cannot write into"):
        await prune_matches(engine, Retention(max_matches=0, archive_folder=tmp_path / "file" / "folder"))
    assert len((await search_matches(engine, SearchFilter(), 5)).matches) == 1


async def test_an_interrupted_prune_loses_nothing(
    engine: AsyncEngine, other_database: str, tmp_path: Path
) -> None:
    matches = [
        await store_match(engine, day(1 + number), events(KINDS[number % 3]), rated=number % 4 != 0)
        for number in range(pruning.REMOVED_MATCHES_PER_TRANSACTION + 5)
    ]
    await add_new_matches_to_aggregates(engine)

    async def write(operation: Callable[[sa.Connection], Any]) -> Any:
        async with engine.begin() as connection:
            await connection.run_sync(operation)
        raise ConnectionError("killed")

    with pytest.raises(ConnectionError):
        await prune_matches(
            redirect_transactions(engine, write), Retention(max_matches=0, archive_folder=tmp_path)
        )
    assert len((await search_matches(engine, SearchFilter(), 50)).matches) == 5
    assert await prune_matches(engine, Retention(max_matches=0, archive_folder=tmp_path)) == 5
    texts = [gzip.decompress(file.read_bytes()) for file in sorted(tmp_path.glob("*.gz"))]
    lines = [line for text in texts for line in text.splitlines()]
    async with open_store(other_database) as other:
        assert (await import_record_lines(other, lines, counts_rated_matches=True)).added_count == len(
            matches
        )
        await add_new_matches_to_aggregates(other)
        assert await load_rating_rows(other) == await load_rating_rows(engine) != []
        shown = await search_matches(other, SearchFilter(), 500)
    assert [each.match for each in shown.matches] == [each.match for each in reversed(matches)]


async def test_retention_by_days_keeps_the_first_recent_match_and_all_after_it(engine: AsyncEngine) -> None:
    for finished in (day(1), "9999-01-01T00:00:00.000Z", day(2), format_current_time(), day(3)):
        await store_match(engine, finished, events(MAXIE_WINS))
    await add_new_matches_to_aggregates(engine)
    assert await prune_matches(engine, Retention(max_age_days=1)) == 3
    assert await prune_matches(engine, Retention(max_age_days=1)) == 0


async def test_uncounted_matches_and_matches_of_an_unfinished_ladder_are_kept(engine: AsyncEngine) -> None:
    await claim_ladder(engine, "elsewhere", "ladder", "cup", "auto", {"bots": []})
    cup = await store_match(engine, day(1), events(MAXIE_WINS), event="cup", rated=False)
    await store_match(engine, day(2), events(MAXIE_WINS))
    assert await prune_matches(engine, Retention(max_matches=0)) == 0
    await add_new_matches_to_aggregates(engine)
    await store_match(engine, day(3), events(MAXIE_WINS))
    assert await prune_matches(engine, Retention(max_matches=0)) == 1
    await add_new_matches_to_aggregates(engine)
    assert await prune_matches(engine, Retention(max_matches=0)) == 1
    assert [each.match for each in (await search_matches(engine, SearchFilter(), 5)).matches] == [cup.match]
    await finish_ladder(engine, "cup", "elsewhere")
    with anyio.fail_after(500):
        assert await prune_matches(engine, Retention(max_matches=0)) == 1


async def test_removed_matches_are_logged(engine: AsyncEngine, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    for number in range(3):
        await store_match(engine, day(1 + number), events(MAXIE_WINS))
    await add_new_matches_to_aggregates(engine)
    async with open_journal(engine) as journal:
        await apply_retention(journal.engine, Retention(max_matches=1))
    async with engine.connect() as connection:
        assert len((await connection.execute(sa.select(schema.matches))).all()) == 1
    assert "2 finished matches were removed from the store" in caplog.text


async def test_an_unwritable_archive_is_logged_and_nothing_is_removed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    async with open_store(f"sqlite:///{tmp_path / 'arena.db'}") as engine:
        await store_match(engine, day(1), events(MAXIE_WINS))
        await add_new_matches_to_aggregates(engine)
        async with open_journal(engine) as journal:
            retention = Retention(max_matches=0, archive_folder=tmp_path / "file" / "old")
            await apply_retention(journal.engine, retention)
        assert "finished matches stay in the store" in caplog.text
        async with engine.connect() as connection:
            assert len((await connection.execute(sa.select(schema.matches))).all()) == 1


async def test_bans_and_invitations_are_deleted_once_they_have_ended(engine: AsyncEngine) -> None:
    for name, seconds in (("bert", 3600), ("carl", float("inf")), ("anna", -1)):
        await issue_directive(engine, "name", name, "enough", seconds)
        if seconds <= 3600:
            await create_invitations(engine, [name], 1, seconds)
    async with open_journal(engine) as journal:
        await apply_retention(journal.engine, None)
    async with engine.connect() as connection:
        banned = (await connection.execute(sa.select(schema.directives.c.subject))).scalars().all()
        invited = (await connection.execute(sa.select(schema.invitations.c.owner))).scalars().all()
    assert (sorted(banned), list(invited)) == (["bert", "carl"], ["bert"])
