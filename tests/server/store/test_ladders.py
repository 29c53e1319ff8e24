import asyncio
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.server.store.database import open_exclusive_transaction, open_store
from arena.server.store.errors import StoreError
from arena.server.store.journal.journal import open_journal
from arena.server.store.journal.reader import load_events_of_match
from arena.server.store.ladders import (
    CannotResumeLadder,
    StoredLadder,
    claim_ladder,
    find_stored_event_plan,
    finish_ladder,
    store_bots_in_plan,
)
from arena.server.store.lease import LeaseLost
from arena.server.store.schema import servers
from tests.server.journals import make_append_event, make_open_match

PLAN: dict[str, Any] = {"rounds": 2, "bots": {"a": "greedy", "b": "random"}}


def make_url(folder: Path) -> str:
    return f"sqlite:///{folder / 'arena.db'}"


async def claim(
    engine: AsyncEngine,
    name: str | None,
    plan: dict[str, Any] = PLAN,
    *,
    default: str = "auto",
    kind: str = "ladder",
    server: str = "one",
) -> StoredLadder:
    return await claim_ladder(engine, server, kind, name, default, plan)


async def test_the_last_unnamed_ladder_is_resumed_until_it_is_finished(tmp_path: Path) -> None:
    async with open_store(make_url(tmp_path)) as engine:
        first = await claim(engine, None, default="ladder-1")
        assert first.event == "ladder-1"
        again = await claim(engine, None, default="ladder-2")
        assert (again.event, again.uid) == ("ladder-1", first.uid)
        other = await claim(engine, None, kind="match")
        assert other.uid != first.uid, "another command does not resume this ladder"
        await finish_ladder(engine, "ladder-1", "one")
        new = await claim(engine, None, default="ladder-2")
        assert new.event == "ladder-2"
        kept = await find_stored_event_plan(engine, "ladder-1")
        assert kept is not None
        assert kept.finished is not None
        assert await find_stored_event_plan(engine, "none") is None


async def test_a_ladder_in_play_is_refused_to_others(engine: AsyncEngine) -> None:
    async with open_journal(engine, "one", lease_seconds=0.3):
        await claim(engine, "spring")
        with pytest.raises(CannotResumeLadder, match="event spring is being played by another process"):
            await claim(engine, "spring", server="two")
        assert (await claim(engine, "autumn", server="two")).event == "autumn"
    assert (await claim(engine, "spring", server="two")).plan == PLAN


async def test_a_frozen_process_cannot_play_on_after_its_ladder_was_resumed(engine: AsyncEngine) -> None:
    async with open_journal(engine, "one") as frozen:
        await claim(engine, "spring")
        async with open_exclusive_transaction(engine) as connection:
            expired = {"until": 0.0, "renewed": 0.0}
            await connection.execute(sa.update(servers).values(expired))
        await claim(engine, "spring", server="two")
        with pytest.raises(LeaseLost):
            await frozen.commit([make_open_match("m" * 32, event="spring")])
        with pytest.raises(StoreError, match="event spring is now played by another process"):
            await finish_ladder(engine, "spring", "one")
        with pytest.raises(StoreError, match="event spring is now played by another process"):
            await store_bots_in_plan(engine, "spring", "one", ["c", "d"])
    stored = await find_stored_event_plan(engine, "spring")
    assert stored is not None
    assert (stored.plan, stored.finished) == (PLAN, None)


@pytest.mark.parametrize("is_stored", [False, True])
async def test_one_of_two_processes_that_begin_or_resume_a_ladder_at_once_plays_it(
    engine: AsyncEngine, is_stored: bool
) -> None:
    if is_stored:
        await claim(engine, "spring", server="earlier")
    async with open_journal(engine, "one"), open_journal(engine, "two"):
        claims = [claim(engine, "spring", server=server) for server in ("one", "two")]
        results = await asyncio.gather(*claims, return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["CannotResumeLadder", "StoredLadder"]


async def test_differences_between_two_plans_are_named(tmp_path: Path) -> None:
    async with open_store(make_url(tmp_path)) as engine:
        await claim(engine, None, default="ladder-1")
        other = {"rounds": 2, "bots": {"b": "random", "a": "greedy"}}
        with pytest.raises(CannotResumeLadder) as refused:
            await claim(engine, None, other)
        assert str(refused.value) == (
            "event ladder-1 was started with different settings: bots was a = greedy, b = random, now b = random, a = greedy;"
            " finish it with its first settings, or start another event with --event"
        )


async def test_a_bot_whose_file_was_edited_is_named(tmp_path: Path) -> None:
    plan = {**PLAN, "files": {"a": "3a55ec3dcd0a", "b": "51d2c93fd5fa"}}
    async with open_store(make_url(tmp_path)) as engine:
        await claim(engine, "spring", plan)
        edited = {**PLAN, "files": {"a": "3a55ec3dcd0a", "b": "3950782c3d00"}}
        with pytest.raises(
            CannotResumeLadder,
            match=r"^event spring was started with different settings: files edited since: b; give it another name$",
        ):
            await claim(engine, "spring", edited)


async def test_bots_that_connect_later_are_stored_in_the_plan(tmp_path: Path) -> None:
    plan = {"rounds": 2, "bots": {}}
    async with open_store(make_url(tmp_path)) as engine:
        await claim(engine, "spring", plan)
        await store_bots_in_plan(engine, "spring", "one", ["a", "b"])
        assert list((await claim(engine, "spring", plan)).plan["bots"]) == ["a", "b"]


async def test_unfinished_matches_of_a_killed_ladder_are_removed(
    engine: AsyncEngine,
) -> None:
    for number in (1, 2):
        await claim(engine, "spring")
        async with open_journal(engine) as journal:
            for match, event in (("m" * 32, "spring"), ("other", "serve")):
                assert [at for at, _ in await load_events_of_match(engine, match)] == (
                    [1, 2] if number == 2 and event == "serve" else []
                )
                if event == "spring" or number == 1:
                    await journal.commit(
                        [
                            make_open_match(match, event=event),
                            *(make_append_event(seq, at=number * seq, match=match) for seq in (1, 2)),
                        ]
                    )
            assert [at for at, _ in await load_events_of_match(engine, "m" * 32)] == [number, 2 * number]
    async with open_journal(engine) as journal:
        await journal.commit([make_append_event(3, match="other")])
    await finish_ladder(engine, "spring", "one")
    assert [at for at, _ in await load_events_of_match(engine, "other")] == [1, 2, 3]
